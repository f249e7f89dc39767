import { get } from '../../api/call';
import { useLive } from '../../store/live';
import { sentenceOf } from './sentence';

/** One sentence: why the power of a device is what it is. @param device index of the device */
export function WhyLine({ device }: { readonly device: number }) {
  const trace = useLive(get('grid-support/trace', { query: { device, limit: 0 } })).data;
  const controls = useLive(get('controls', { query: { device } })).data;
  if (!trace) return <p class="muted">No reason known yet.</p>;
  return <p class="why">{sentenceOf(trace.now, controls)}</p>;
}
