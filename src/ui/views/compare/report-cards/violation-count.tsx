import { get } from '../../../api/call';
import { useLive } from '../../../store/live';

/** Polling interval of the number of violations in the list of views, ms. */
const countPaceMs = 10_000;

/** Number of rules of standards that peers have broken; nothing without any. */
export function ViolationCount() {
  const peers = useLive(get('findings/peers'), countPaceMs).data?.peers ?? [];
  const count = peers.reduce((sum, { summary }) => sum + summary.violation.broken, 0);
  if (count === 0) return null;
  return (
    <span class="badge">
      {count}
      <span class="visually-hidden"> {count === 1 ? 'violation' : 'violations'}</span>
    </span>
  );
}
