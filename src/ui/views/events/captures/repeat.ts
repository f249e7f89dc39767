/** The disturbance of a capture as a call. */
import type { Call } from '../../../api/call';
import type { Capture } from './verdict-words';

/** The call that makes the first disturbance again; null: nothing that can be repeated. */
export function repeatCall({ triggers }: Pick<Capture, 'triggers'>): Call | null {
  const repeat = triggers.find((trigger) => trigger.repeat !== null)?.repeat;
  return repeat ? { method: 'POST', address: `/api/sim${repeat.path}`, body: repeat.body } : null;
}
