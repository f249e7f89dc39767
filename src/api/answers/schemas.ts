import { memo } from '../../core/memo.ts';
import { deviceIndex, deviceParam, exampleTime, flagParam, isoParam, isoTime } from '../common/schemas.ts';
import { writerSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';
import { answerCauses, answerProtocols } from './model.ts';
import type { AnswerCause } from './model.ts';

const protocolEnum = z.enum(answerProtocols);

export const answersQuery = z.strictObject({
  device: deviceParam.optional(),
  protocol: protocolEnum.optional().openapi({ description: 'Only commands of this protocol.' }),
  done: flagParam('done', 'Only commands that are done, or that are not; counts are of all.').optional(),
  since: isoParam('since', 'Only commands that came at this wall time or later.').optional(),
});

const count = (description: string) => z.int().min(0).openapi({ description });
const valueSchema = z.union([z.number(), z.string(), z.boolean(), z.null()]);

const toldSchema = memo(() =>
  z
    .strictObject({
      name: z.string().openapi({ description: 'Point, output, mode, key: `704.WMaxLimPct`, `AO87`.' }),
      value: valueSchema.openapi({ description: 'As the command had it; null: it has none.' }),
      unit: z.string().nullable().openapi({ description: 'Null: it has none.' }),
    })
    .openapi('ToldValue'),
);

const foundSchema = memo(() =>
  z
    .strictObject({
      place: z.string().openapi({ description: 'Register, `704.WMaxLimPct`, or part of the state of a station.' }),
      value: valueSchema.openapi({ description: 'What is there now, in the unit of the command.' }),
      acts_by: valueSchema.optional().openapi({
        description: 'Only where a fault keeps the write from the device: the value by which it acts.',
      }),
      changed_by: writerSchema.nullable().openapi({ description: 'Last writer; null: none is known.' }),
    })
    .openapi('FoundValue'),
);

const answerSchema = memo(() =>
  z
    .strictObject({
      protocol: protocolEnum.openapi({ description: 'By which the command came.' }),
      peer: z.string().openapi({ description: 'Sender of the command, as messages name it.' }),
      message_id: z.int().nullable().openapi({ description: 'Message with the command; null: it was read earlier.' }),
      answer_id: z.int().openapi({ description: 'Message with the answer.' }),
      wall_time: isoTime.openapi({ description: 'Wall time of the answer.' }),
      sim_time: isoTime.openapi({ description: 'Simulated time of the answer.' }),
      command: z.string().openapi({ description: '`write multiple registers`, `SetChargingProfile`.' }),
      answer: z.string().openapi({ description: '`success`, `Accepted`, `Response 2 (started)`.' }),
      told: toldSchema().openapi({ description: 'What the peer asked for, and was told that it is so.' }),
      found: foundSchema().nullable().openapi({ description: 'What the device has of it; null: nothing shows it.' }),
      done: z.boolean().nullable().openapi({
        description: 'Whether the device has it; null: nothing is owed any more, or nothing shows it.',
      }),
      cause: z.enum(answerCauses).openapi({ description: 'Why.' }),
      faults: z
        .array(
          z.strictObject({
            id: z.int().openapi({ description: 'Number of the fault.' }),
            kind: z.string().openapi({ description: 'Kind of the fault.' }),
            active: z.boolean().openapi({ description: 'False: it has ended since.' }),
          }),
        )
        .openapi({ description: 'Faults that explain what is not done.' }),
      explanation: z.string().nullable().openapi({ description: 'In a sentence; null: it is done to the digit.' }),
    })
    .openapi('AnsweredCommand'),
);

const causeShape = {
  done: count('The device has it.'),
  rounding: count('The device has it but for a step of the encoding.'),
  superseded: count('A later command or writer has changed it.'),
  expired: count('Its time is over: a reversion, the end of an event, profile or reservation.'),
  not_done: count('The device does not have it, and nothing but a fault explains it.'),
  unknown: count('Nothing in registers or state shows it.'),
} satisfies Record<AnswerCause, z.ZodType>;

export const answersSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      done: z.boolean().openapi({ description: 'No answered command is `not_done`.' }),
      count: count('Commands, one for each value.'),
      causes: z.strictObject(causeShape).openapi({ description: 'Commands by cause.' }),
      protocols: z
        .array(
          z.strictObject({
            protocol: protocolEnum.openapi({ description: 'The protocol.' }),
            recorded: z.boolean().openapi({ description: 'Whether its commands to the device are recorded.' }),
            reason: z.string().nullable().openapi({ description: 'Why they are not; null: they are.' }),
          }),
        )
        .openapi({ description: 'How each protocol takes part.' }),
      answers: z
        .array(answerSchema())
        .openapi({ description: 'In the order of the answers; with `done` those alone.' }),
    })
    .openapi('Answers'),
);

export type AnswersReply = z.output<ReturnType<typeof answersSchema>>;

export const exampleAnswers = {
  device_index: 0,
  done: false,
  count: 1,
  causes: { done: 0, rounding: 0, superseded: 0, expired: 0, not_done: 1, unknown: 0 },
  protocols: answerProtocols.map((protocol) => {
    const recorded = protocol === 'modbus';
    return { protocol, recorded, reason: recorded ? null : 'switched off' };
  }),
  answers: [
    {
      protocol: 'modbus',
      peer: '127.0.0.1:40312',
      message_id: 5,
      answer_id: 6,
      wall_time: exampleTime,
      sim_time: exampleTime,
      command: 'write multiple registers',
      answer: 'success',
      told: { name: '704.WMaxLimPct', value: 50, unit: 'Pct' },
      found: { place: '704.WMaxLimPct', value: 100, changed_by: null },
      done: false,
      cause: 'not_done',
      faults: [{ id: 1, kind: 'ignore_write', active: true }],
      explanation:
        'Modbus master 127.0.0.1:40312 wrote 704.WMaxLimPct = 50 at 12:00:00 UTC and was answered with success; ' +
        "the register has 100: fault 'ignore_write' (1) is on.",
    },
  ],
};
