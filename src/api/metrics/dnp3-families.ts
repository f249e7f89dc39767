/** Outstations of DNP3, all together. */
import type { Dnp3Counters } from '../../contract/dnp3.ts';
import type { Family } from './family.ts';
import { single } from './family.ts';

const counter = (name: string, help: string, member: keyof Dnp3Counters): Family =>
  single('counter', `derbench_dnp3_${name}_total`, help, ({ ctx }) => ctx.dnp3.totals[member]);

export const dnp3Families: readonly Family[] = [
  counter('connections', 'Connections of masters that were accepted.', 'connections'),
  counter('refused_connections', 'Connections of masters that were refused.', 'refusedConnections'),
  counter('handshake_failures', 'TLS handshakes of masters that failed.', 'handshakeFailures'),
  counter('frames_in', 'Link frames of masters.', 'framesIn'),
  counter('frames_out', 'Link frames to masters.', 'framesOut'),
  counter('bad_frames', 'Link frames that were dropped: checksum, length.', 'badFrames'),
  counter('requests', 'Requests of masters.', 'requests'),
  counter('responses', 'Responses, by fragments.', 'responses'),
  counter('unsolicited', 'Unsolicited responses.', 'unsolicited'),
  counter('refusals', 'Requests answered with a bit of IIN2.', 'refusals'),
  counter('controls_done', 'Controls that were carried out.', 'controlsDone'),
  counter('controls_refused', 'Controls that were refused.', 'controlsRefused'),
  counter('events', 'Events, for each master.', 'events'),
  counter('events_lost', 'Events that full buffers have cost.', 'eventsLost'),
  counter('confirm_timeouts', 'Confirms that did not come in time.', 'confirmTimeouts'),
];
