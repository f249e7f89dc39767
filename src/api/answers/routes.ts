import { lazily } from '../../core/lazy.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { answers, answersQuery } from './members.ts';

/** Loaded at its first request: most processes never need it. */
const verifier = lazily(() => import('../../evidence/answers/gather.ts'));

const getAnswers = route({
  method: 'get',
  path: '/answers',
  tag: 'Core',
  operationId: 'get_answers',
  summary: 'Commands that were answered positively, and whether the device has done them',
  description:
    'Commands and answers are taken from the messages as they went over the wire, so those of Modbus, DNP3 and IEEE 2030.5 must be ' +
    'recorded (`POST modbus/messages`, `dnp3/messages`, `csip/messages`); those of OCPP always are. Each value that a command asked ' +
    'for is compared with the registers without faults, or with the state of a charging station where no register has it. Nothing ' +
    'of it counts as a request or as an occasion of a fault.',
  query: answersQuery,
  reply: answers.schema,
  problems: ['shortage'],
  async handle(ctx, { query: { device: index, protocol = null, since = 0, done: only } }) {
    const { answersOf } = await verifier();
    const device = selectedDevice(ctx, index);
    const verdicts = answersOf(ctx, device, { sinceMs: since, protocol });
    const listed = verdicts.judged.filter(({ done }) => only === undefined || done === only);
    return replyInPieces(answers.reply({ ...verdicts, device, listed }, ctx));
  },
});

export const answersRoutes: readonly Route[] = [getAnswers];
