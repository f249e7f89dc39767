/** Answered commands: operations, and members of replies. */
import type { Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { Answers, Participation } from '../evidence/answers/gather.ts';
import type { Judged, Explanation } from '../evidence/answers/judge.ts';
import { answerCauses, answerProtocols } from '../evidence/answers/model.ts';
import type { AnswerCause, Claim, ActualValue } from '../evidence/answers/model.ts';
import { count, flag, integer, list, member, members, nested, text, time, word } from './common/members.ts';
import { deviceIndex, deviceParam, flagParam, isoParam } from './common/schemas.ts';
import { writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import { listInPieces, replyInPieces } from './http/streaming.ts';
import { lazily } from '../core/lazy.ts';
import { selectedDevice } from './common/device-replies.ts';
import type { RouteContext } from './http/context.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

interface Context {
  readonly plant: Pick<Plant, 'dateMs'>;
}

const answersQuery = z.strictObject({
  device: deviceParam.optional(),
  protocol: z.enum(answerProtocols).optional().openapi({ description: 'Only commands of this protocol.' }),
  done: flagParam('done', 'Only commands that are done (true) or not done (false); the counts include all.').optional(),
  since: isoParam('since', 'Only commands that came at this wall time or later.').optional(),
});

const protocol = word(answerProtocols);
const value = member(() => z.union([z.number(), z.string(), z.boolean(), z.null()]));

const claimedValue = members<Claim>()('ToldValue', () => ({
  name: text('Point, output, mode, key: `704.WMaxLimPct`, `AO87`.'),
  value: value('Value in the command; null: none.'),
  unit: text.orNull('Unit of the value; null: none.'),
}));

const actualValue = members<ActualValue, Context>()('FoundValue', () => ({
  place: text('Register, `704.WMaxLimPct`, or part of the state of a station.'),
  value: value('Present value, in the unit of the command.'),
  acts_by: value.optional(
    'Only where a fault keeps the write from the device: the value that the device follows.',
    ({ followed }) => followed,
  ),
  changed_by: writer.orNull('Last writer; null: unknown.', (of) => of.writer),
}));

const fault = members<Explanation>()(null, () => ({
  id: integer('Number of the fault.', (of) => of.fault.facts.id),
  kind: text('Kind of the fault.', (of) => of.fault.facts.kind.kind),
  active: flag('False: the fault has ended since.', ({ isOn }) => isOn),
}));

const answer = members<Judged, Context>()('AnsweredCommand', () => ({
  protocol: protocol('Protocol of the command.', ({ exchange }) => exchange.protocol),
  peer: text('Sender of the command, as messages name it.', ({ exchange }) => exchange.peer),
  message_id: integer.orNull(
    'Id of the message with the command; null: the message is not in the journal.',
    ({ exchange }) => exchange.messageId,
  ),
  answer_id: integer('Id of the message with the answer.', ({ exchange }) => exchange.answerId),
  wall_time: time('Wall time of the answer.', ({ exchange }) => exchange.answeredWallMs),
  sim_time: time('Simulated time of the answer.', ({ exchange }, { plant }: Context) => plant.dateMs(exchange.at)),
  command: text('`write multiple registers`, `SetChargingProfile`.', ({ exchange }) => exchange.command),
  answer: text('`success`, `Accepted`, `Response 2 (started)`.', ({ exchange }) => exchange.answer),
  told: nested(claimedValue)('Value that the peer asked for, and that the answer confirmed.', ({ claim }) => claim),
  found: nested(actualValue).orNull('Value that the device has; null: nothing shows it.', ({ claim }) => claim.actual),
  done: flag.orNull('True if the device has it; null: `cause` is `superseded`, `expired` or `unknown`.'),
  cause: word(answerCauses)('Why.'),
  faults: list(fault)('Faults that explain what is not done.', ({ explanations }) => explanations),
  explanation: text.orNull('In a sentence; null: it is done to the digit.'),
}));

const causes = members<Answers['counts']>()(
  null,
  () =>
    ({
      done: count('The device has the value.'),
      rounding: count('The device has the value but for a step of the encoding.'),
      superseded: count('A later command or writer has changed the value.'),
      expired: count('The time of the command is over: a reversion, the end of an event, profile or reservation.'),
      not_done: count(
        'The device does not have the value, and nothing but a fault explains this.',
        (of: Answers['counts']) => of.not_done,
      ),
      unknown: count('Nothing in registers or state shows the value.'),
    }) satisfies Record<AnswerCause, unknown>,
);

const participation = members<Participation>()(null, () => ({
  protocol: protocol('The protocol.'),
  recorded: flag('True if its commands to the device are recorded.'),
  reason: text.orNull('Why they are not; null: they are.'),
}));

interface Listed extends Answers {
  readonly device: Device;
  readonly selected: readonly Judged[];
}

const answers = members<Listed, Context>()('Answers', () => ({
  device_index: member(() => deviceIndex)(({ device }) => device.index),
  done: flag('No answered command is `not_done`.', ({ counts }) => counts.not_done === 0),
  count: count('Commands, one for each value.', ({ judged }) => judged.length),
  causes: nested(causes)('Commands by cause.', ({ counts }) => counts),
  protocols: list(participation)('How each protocol takes part.'),
  answers: listInPieces(answer)(
    'In the order of the answers; with `done` only those selected.',
    ({ selected }) => selected,
  ),
}));

/** Loaded at its first request: most processes never need it. */
const verifier = lazily(() => import('../evidence/answers/gather.ts'));

/** Answered commands of a device and what is not known of them, in the members of REST. */
export async function judgedAnswers(ctx: RouteContext, device: Device) {
  const { answersOf } = await verifier();
  const { judged, protocols } = answersOf(ctx, device, { sinceMs: 0, protocol: null });
  return {
    answers: judged.map((one) => answer.reply(one, ctx)),
    protocols: protocols.map((one) => participation.reply(one)),
  };
}

export const answerSchema = answer.schema;

export const answersRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/answers',
    tag: 'Core',
    operationId: 'get_answers',
    summary: 'Commands that were answered positively, and whether the device has done them',
    description:
      'Commands and answers are taken from the messages as they went over the wire, so those of Modbus, DNP3 and IEEE 2030.5 must be ' +
      'recorded (`POST modbus/messages`, `dnp3/messages`, `csip/messages`); those of OCPP always are. Each value that a command asked ' +
      'for is compared with the registers without faults, or with the state of a charging station where no register has it. The ' +
      'comparison does not count as a request or as an occasion of a fault.',
    query: answersQuery,
    reply: answers.schema,
    problems: ['shortage'],
    async handle(ctx, { query: { device: index, protocol = null, since = 0, done: only } }) {
      const { answersOf } = await verifier();
      const device = selectedDevice(ctx, index);
      const verdicts = answersOf(ctx, device, { sinceMs: since, protocol });
      const selected = verdicts.judged.filter(({ done }) => only === undefined || done === only);
      return replyInPieces(answers.reply({ ...verdicts, device, selected }, ctx));
    },
  }),
];
