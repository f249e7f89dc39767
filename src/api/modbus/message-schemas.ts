import { memo } from '../../core/memo.ts';
import { commNames } from '../../core/adapter.ts';
import { defaultModbusEntries } from '../../core/wire/modbus-tap.ts';
import { modbusMessageKinds, noAnswerReasons } from '../../core/wire/modbus-messages.ts';
import { wireDirections } from '../../core/wire/wire-log.ts';
import { z } from '../description/zod.ts';
import { afterIdParam, deviceParam, exampleTime, integerParam, isoTime, newestParam } from '../common/schemas.ts';
import { asSetNow, exampleWriter, writerSchema } from '../common/writer-schemas.ts';

export const defaultMessageLimit = 100;
const maxMessageLimit = 1000;
const maxKept = 10_000;
const maxRegister = 65_535;
const maxPeer = 200;

export const messagesQuery = z.strictObject({
  limit: newestParam(maxMessageLimit, defaultMessageLimit).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only messages with a higher id.' }),
  device: deviceParam
    .optional()
    .openapi({ description: 'Only messages of the device of this index, and broadcasts; default all messages.' }),
  function: integerParam('function', 1, 127, 'Only requests of this function code, with their answers.').optional(),
  address: integerParam(
    'address',
    0,
    maxRegister,
    'Only requests whose registers cover this PDU address, with their answers.',
  ).optional(),
  peer: z
    .string()
    .min(1)
    .max(maxPeer)
    .openapi({
      param: { name: 'peer' },
      description:
        'Only messages from and to this peer, as `address:port` or as an address with any port; at most ' +
        `${maxPeer} characters.`,
    })
    .optional(),
  direction: z
    .enum(wireDirections)
    .openapi({ param: { name: 'direction' }, description: '`in`: received; `out`: sent. Default both.' })
    .optional(),
});
export type MessagesQuery = z.output<typeof messagesQuery>;

/** Values by the name of their point. */
const valuesSchema = memo(() =>
  z
    .record(z.string(), z.union([z.number(), z.string(), z.null()]))
    .openapi({ description: 'Number in the unit of the point, symbol or text; null: not implemented.' }),
);

/** What the frame of a message says. */
const frameMembers = memo(() => ({
  transaction_id: z
    .int()
    .min(0)
    .max(65_535)
    .nullable()
    .openapi({ description: 'Of the header; null: an RTU frame, or not whole.' }),
  unit_id: z
    .int()
    .min(0)
    .max(255)
    .nullable()
    .openapi({ description: 'Unit id, or address on a line; null: not whole.' }),
  function: z
    .int()
    .min(0)
    .max(255)
    .nullable()
    .openapi({ description: 'Function code without the bit of exceptions; null: not whole.' }),
  function_name: z.string().nullable().openapi({ description: 'Name of the function; null: unknown.' }),
  address: z
    .int()
    .min(0)
    .max(maxRegister)
    .nullable()
    .openapi({ description: 'PDU address of the first register of the request; null: it names none.' }),
  count: z
    .int()
    .min(0)
    .max(65_535)
    .nullable()
    .openapi({ description: 'Registers that the request names; null: it names none.' }),
  points: z
    .array(z.string())
    .nullable()
    .openapi({
      description:
        'Points that the registers of a request belong to, also in part: model and path, or names of the proxy map. ' +
        'Null in answers, and where registers have no names.',
    }),
  ignored: z
    .array(z.string())
    .nullable()
    .openapi({
      description:
        'Those of the `points` of a write that it leaves as they are, although it is acknowledged: read-only and ' +
        'unimplemented points of the models 101 to 199, constants of the proxy map, and a point of which the fault ' +
        '`lenient_writes` has dropped a part. The first two also in a write that is refused for something else. Null in ' +
        'other messages, and where registers have no names.',
    }),
}));

const messageSchema = memo(() =>
  z
    .strictObject({
      id: z.int().min(1).openapi({ description: 'Rises by one with each message since the start, kept or not.' }),
      exchange_id: z.int().min(1).openapi({ description: 'Id of the request that the message is, or belongs to.' }),
      wall_time: isoTime.openapi({ description: 'Wall time at which it came in or was sent.' }),
      sim_time: isoTime.openapi({ description: `Simulated time of it. ${asSetNow}` }),
      interface: z.enum(commNames).openapi({ description: 'Where it went, as in `comm_status`.' }),
      direction: z.enum(wireDirections).openapi({ description: '`in`: received by the simulator; `out`: sent by it.' }),
      kind: z.enum(modbusMessageKinds).openapi({
        description:
          '`answer`: octets that went in answer to a request, an exception among them; a fault may send several, or pieces. ' +
          '`no_answer`: nothing went, or came. `foreign`: a frame on a line that is for, or from, another device; or one to the ' +
          'built-in SunSpec client whose transaction id is that of none of its last 16 requests.',
      }),
      peer: z.string().openapi({ description: '`address:port` of the other end, or the path of the serial line.' }),
      device_index: z
        .int()
        .min(0)
        .nullable()
        .openapi({ description: 'The device that was asked; null: none, several, or a device of somebody else.' }),
      whole: z
        .boolean()
        .nullable()
        .openapi({ description: 'Whether the octets are one frame with the right length and CRC; null: no octets.' }),
      ...frameMembers(),
      values: valuesSchema().nullable().openapi({
        description:
          'Values that a request writes, or an answer to a read carries, of points that lie whole in it. Null where there are none.',
      }),
      exception_code: z.int().min(0).max(255).nullable().openapi({ description: 'Of an exception; null: none.' }),
      exception_name: z.string().nullable().openapi({ description: 'Name of the exception; null: none, or unknown.' }),
      no_answer: z
        .enum(noAnswerReasons)
        .nullable()
        .openapi({
          description:
            'Why there was no answer. `broadcast`: no device answers; `suppressed`: a fault, or the device is off; ' +
            '`connection_ended`: before it could leave, or came; `no_answer_in_time`: none came to the built-in SunSpec client ' +
            'within its time limit or before its next request (a late one follows as `answer`). Null for other kinds.',
        }),
      duration_ms: z
        .number()
        .min(0)
        .nullable()
        .openapi({ description: 'Wall time from the request to this message, ms; null for requests.' }),
      raw: z
        .string()
        .openapi({ description: 'The octets as they went, header and checksum included, in hexadecimal digits.' }),
    })
    .openapi('ModbusMessage'),
);

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(messageSchema().shape);

export type MessageReply = z.output<ReturnType<typeof messageSchema>>;

const recorderMembers = {
  enabled: z.boolean().openapi({ description: 'Whether messages are kept now.' }),
  entries: z.int().min(1).max(maxKept).openapi({ description: 'Messages that can be kept; then the oldest go.' }),
  kept: z.int().min(0).openapi({ description: 'Messages kept now.' }),
  dropped: z.int().min(0).openapi({ description: 'Messages that had to go for others since the start.' }),
  last_id: z.int().min(0).openapi({ description: 'Id of the last message, kept or not; 0: there was none.' }),
  changed_by: writerSchema.nullable().openapi({ description: 'Last writer of these settings; null: as started.' }),
};

export const messagesSchema = memo(() =>
  z
    .strictObject({
      ...recorderMembers,
      messages: z.array(messageSchema()).openapi({ description: 'Oldest first.' }),
    })
    .openapi('ModbusMessages'),
);

export const recorderSchema = z.strictObject(recorderMembers).openapi('ModbusRecorder');

export const recorderBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z
        .boolean()
        .openapi({ description: 'Whether messages are kept from now on. Off: those that are kept stay.' }),
      entries: z
        .int()
        .min(1)
        .max(maxKept)
        .optional()
        .openapi({
          description:
            `Messages that can be kept, 1 to ${maxKept}, and 4 MiB of octets; at the start ` +
            `${defaultModbusEntries}. Default unchanged.`,
        }),
      clear: z
        .boolean()
        .optional()
        .openapi({ description: 'True: forgets the messages that are kept. Default false.' }),
    })
    .openapi('ModbusRecorderRequest'),
);

export const exampleRecorder = {
  enabled: true,
  entries: 1000,
  kept: 2,
  dropped: 0,
  last_id: 2,
  changed_by: exampleWriter,
};

const exampleRequest = {
  id: 1,
  exchange_id: 1,
  wall_time: exampleTime,
  sim_time: exampleTime,
  interface: 'modbus_tcp' as const,
  direction: 'in' as const,
  kind: 'request' as const,
  peer: '127.0.0.1:50124',
  device_index: 0,
  whole: true,
  transaction_id: 7,
  unit_id: 1,
  function: 16,
  function_name: 'write multiple registers',
  address: 40310,
  count: 2,
  points: ['704.WMaxLimPctEna', '704.WMaxLimPct'],
  ignored: [],
  values: { '704.WMaxLimPctEna': 'ENABLED', '704.WMaxLimPct': 50 },
  exception_code: null,
  exception_name: null,
  no_answer: null,
  duration_ms: null,
  raw: '00070000000b01109d7600020400011388',
};

export const exampleMessages = {
  ...exampleRecorder,
  messages: [
    exampleRequest,
    {
      ...exampleRequest,
      id: 2,
      direction: 'out' as const,
      kind: 'answer' as const,
      points: null,
      ignored: null,
      values: null,
      duration_ms: 0.21,
      raw: '00070000000601109d760002',
    },
  ],
};
