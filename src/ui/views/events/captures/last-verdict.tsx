/** The newest disturbance of a device in the words of its capture. */
import { get } from '../../../api/call';
import { useLive } from '../../../store/live';
import { captureHref, capturesCall } from './announce';
import { VerdictChip } from './verdict-words';
import type { Verdict } from './verdict-words';

interface Last {
  readonly id: number;
  readonly title: string;
  readonly verdict: Verdict;
}

/** The verdict of the newest capture; null: there is none, or it did not concern the device. */
export function useLastVerdict(device: number | undefined): Last | null {
  const newest = useLive(device === undefined ? null : capturesCall, 'change').data?.captures[0];
  const { data } = useLive(
    newest === undefined ? null : get('captures/{id}', { params: { id: newest.id } }),
    newest?.state === 'recording' ? 'tick' : 'once',
  );
  const verdict = data?.verdicts.find(({ device_index: index }) => index === device);
  if (data === undefined || verdict === undefined || verdict.verdict === 'not_concerned') return null;
  return { id: data.id, title: data.title, verdict };
}

export function LastVerdict({ last: { id, title, verdict } }: { readonly last: Last }) {
  return (
    <span data-test="last-verdict">
      <a href={captureHref(id)}>{title}</a>: <VerdictChip of={verdict.verdict} /> {verdict.reason}
    </span>
  );
}
