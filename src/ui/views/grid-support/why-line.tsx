import { get } from '../../api/call';
import { useLive } from '../../store/live';
import { show, timeOfDay } from '../../look/format';
import { useOverview } from '../../store/site';
import { sentenceOf } from './sentence';

/** The forced mode of a battery, which overrides all set-points. null: none, or another kind of device. */
function useForced(device: number): string | null {
  const kind = useOverview()?.devices.find(({ device_index }) => device_index === device)?.asset_type;
  const bank = useLive(kind === 'battery' ? get('controls/battery', { query: { device } }) : null).data;
  if (bank === undefined || bank.control !== 'forced') return null;
  const by = bank.forced_by;
  const writer = by === null ? '' : `, by ${by.source} at ${timeOfDay(by.changed_at)}`;
  return `the battery is forced to ${bank.requested_mode} with ${show(bank.clamped_power_kw, 'activePower')} at its DC terminals${writer}`;
}

/** One sentence that explains the power of a device. @param device index of the device */
export function WhyLine({ device }: { readonly device: number }) {
  const trace = useLive(get('grid-support/trace', { query: { device, limit: 0 } })).data;
  const controls = useLive(get('controls', { query: { device } })).data;
  const forced = useForced(device);
  if (!trace) return <p class="muted">No reason known yet.</p>;
  const { active_power_kw: power, active_decided_by: by } = trace.now;
  const forces = forced !== null && by === 'source';
  return <p class="why">{forces ? `${show(power, 'activePower')}: ${forced}` : sentenceOf(trace.now, controls)}</p>;
}
