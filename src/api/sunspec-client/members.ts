/** The SunSpec client and the device that it polls: members of replies and requests. */
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import {
  chainEnds,
  clientStates,
  clientTransports,
  remoteMetricNames,
  transactionIds,
} from '../../contract/sunspec-client.ts';
import type {
  ClientStatus,
  ClientTarget,
  FoundModel,
  GroupReading,
  ModelReading,
  PointReading,
  PolledModel,
  PollStatus,
  RawWriteOutcome,
  RemoteMetrics,
  RemoteSample,
  SerialLine,
  WriteOutcome,
  WriteRequest,
  WrittenPoint,
} from '../../contract/sunspec-client.ts';
import { memo } from '../../core/lazy.ts';
import { flag, integer, list, member, members, nested, number, text, time, word } from '../common/members.ts';
import { flagParam, integerParam, isoParam, isoTime, quantity } from '../common/schemas.ts';
import { pem } from '../common/pem.ts';
import { z } from '../description/zod.ts';
import { historyQuerySchema, inBothForms, secondsParam } from '../history/routes.ts';

const register = z.int().min(0).max(65_535);
const registers = list(member(() => register)());
const modelId = z.int().min(1).max(65_535).openapi({ description: 'SunSpec model id.' });
const modelIndex = z
  .int()
  .min(0)
  .max(255)
  .openapi({ description: 'Index among models of the same id, from 0; default 0.' });
const notes = list(text())('Deviations from the standard, in words.');

const serialSchema = memo(() =>
  z
    .strictObject({
      path: z
        .string()
        .min(1)
        .max(200)
        .openapi({
          description:
            'Name of the line: `/dev/ttyS0`, `/dev/ttyUSB0`, `/dev/ttyACM0`, `/dev/ttyAMA0`, ' +
            '`/dev/serial/by-id/...`, `COM3`; with the flag `--client_pty yes` also `/dev/pts/3`.',
        }),
      baud: z.int().min(300).max(921_600).optional().openapi({ description: 'Default 9600.' }),
      parity: z.enum(['N', 'E', 'O']).optional().openapi({ description: 'None, even or odd. Default `N`.' }),
      stop_bits: z
        .union([z.literal(1), z.literal(2)])
        .optional()
        .openapi({ type: 'integer', enum: [1, 2], description: 'Default 1.' }),
    })
    .openapi('ClientSerialLine'),
);

const serial = nested<SerialLine, z.output<ReturnType<typeof serialSchema>>, unknown>({
  schema: serialSchema,
  reply: ({ path, baud, parity, stopBits }) => ({ path, baud, parity, stop_bits: stopBits }),
});

const onNet = (target: ClientTarget) => (target.transport === 'rtu' ? null : target);

const target = members<ClientTarget>()(
  'ClientTarget',
  () => ({
    transport: word(clientTransports)('Modbus TCP, Modbus TCP in TLS, or RTU on a serial line.'),
    host: text.orNull('Null on a serial line.', (of) => onNet(of)?.host),
    port: integer.orNull('Null on a serial line.', (of) => onNet(of)?.port),
    serial: serial.orNull((of) => (of.transport === 'rtu' ? of.serial : null)),
    unit_id: integer('Unit identifier.'),
    timeout_s: number('Time limit of the connection and of each answer.', ({ timeoutMs }) => timeoutMs / 1000),
    base_address: integer.orNull('Base address as requested; null: searched.'),
    transaction_id: word(transactionIds).orNull(
      'Ids that answers may have; null on a serial line.',
      (of) => onNet(of)?.transactionIds,
    ),
  }),
  { description: 'Without certificates and keys.' },
);

const place = members<FoundModel>()('ClientModelPlace', () => ({
  id: member(() => modelId)(),
  index: member(() => modelIndex)(),
  name: text.orNull('Null for a model without a definition here; its registers are shown raw.'),
  label: text.orNull(),
  address: integer('Protocol address of the ID register.'),
  length: integer('The L register.'),
}));

export const chain = members<Pick<ClientStatus, 'discovery'>>()('ClientModels', () => ({
  base_address: integer.orNull('Address of the marker; null: not found.', ({ discovery }) => discovery?.baseAddress),
  chain_end: word(chainEnds).orNull(
    'How the chain ends: `end_model` as the standard says, `zeros` with model 0, `missing_length` with an end model whose L ' +
      'cannot be read, `exception` where the device refuses a read, `limit` where the chain would leave the address space. ' +
      'Null before a scan.',
    ({ discovery }) => discovery?.end,
  ),
  notes: list(text())('Deviations from the standard, in words.', ({ discovery }) => discovery?.notes ?? []),
  models: list(place)('Models of the chain, in order.', ({ discovery }) => discovery?.models ?? []),
}));

const polled = members<PolledModel>()('ClientPolledModel', () => ({
  id: member(() => modelId)(),
  index: member(() => modelIndex)(),
  read_at: time.orNull('Wall time of the last reading; null: never.'),
  error: text.orNull('Why the last round could not read the model; null: no error.'),
}));

/** ms, shown as s to three digits */
const seconds = nested({ schema: () => z.number(), reply: (ms: number) => Math.round(ms) / 1000 });

export const poll = members<PollStatus>()('ClientPoll', () => ({
  enabled: flag(),
  interval_s: number(
    'Time from one round to the next, s. Rounds never overlap.',
    ({ intervalMs }) => intervalMs / 1000,
  ),
  models: list(member(() => modelId)()).orNull('Models read in a round; null: the models needed for the summary.'),
  polled: list(polled)('The models of the last round.'),
  rounds: integer('Rounds started.'),
  failed_rounds: integer('Rounds in which a model could not be read.'),
  late_rounds: integer('Intervals without a round because an earlier round took longer.'),
  last_poll: time.orNull('Wall time at which the last round ended.', ({ lastMs }) => lastMs),
  last_duration_s: seconds.orNull('How long the last round took.', ({ lastDurationMs }) => lastDurationMs),
  retry_in_s: seconds.orNull(
    'Time until the next attempt to connect; null: none is planned.',
    ({ retryInMs }) => retryInMs,
  ),
}));

const metricDescriptions: Readonly<Record<(typeof remoteMetricNames)[number], string>> = {
  power_kw: '701.W or W of 101 to 113; positive = injected.',
  reactive_power_kvar: '701.Var or VAr of 101 to 113; positive = injected.',
  apparent_power_kva: '701.VA or VA of 101 to 113.',
  voltage_ll_v: '701.LLV or PPVphAB.',
  voltage_ln_v: '701.LNV or PhVphA.',
  current_a: '701.A or A of 101 to 113.',
  frequency_hz: '701.Hz or Hz of 101 to 113.',
  power_factor: '701.PF or PF of 101 to 113, in percent there.',
  dc_power_kw: '714.DCW, DCW of 101 to 113, or the sum of the inputs of 160.',
  dc_voltage_v: '714.Prt[0].DCV, DCV of 101 to 113, or that of the first input of 160.',
  dc_current_a: '714.DCA, DCA of 101 to 113, or that of the first input of 160.',
  state_of_charge_pct: '713.SoC, 802.SoC or 124.ChaState.',
  soc_reserve_min_pct: '802.SoCRsvMin or 124.MinRsvPct.',
  soc_reserve_max_pct: '802.SocRsvMax.',
  soc_min_pct: '802.SoCMin.',
  soc_max_pct: '802.SoCMax.',
};

const stateSchemas = {
  service_state: z.enum(serviceStates).nullable().openapi({ description: '701.St.' }),
  inverter_state: z.enum(inverterStates).nullable().openapi({ description: '701.InvSt or St of 101 to 113.' }),
  connection_state: z.enum(connectionStates).nullable().openapi({ description: '701.ConnSt or 122.ECPConn.' }),
};

const numberSchemas = Object.fromEntries(
  remoteMetricNames.map((name) => [name, quantity(metricDescriptions[name])]),
) as Record<(typeof remoteMetricNames)[number], ReturnType<typeof quantity>>;

const summarySchema = memo(() =>
  z
    .strictObject({
      ...numberSchemas,
      ...stateSchemas,
      timestamp: isoTime.openapi({ description: 'Wall time at which the round ended.' }),
    })
    .openapi('ClientSummary', {
      description: 'Metrics of the last round of polling; null for what the device does not have.',
    }),
);

const summary = nested<RemoteSample, RemoteMetrics & { readonly timestamp: string }, unknown>({
  schema: summarySchema,
  reply: ({ metrics, atMs }) => ({ ...metrics, timestamp: new Date(atMs).toISOString() }),
});

const identity = members<NonNullable<ClientStatus['identity']>>()(
  'ClientIdentity',
  () => ({
    manufacturer: text.orNull(),
    model: text.orNull(),
    version: text.orNull('1.Vr.'),
    serial_number: text.orNull(),
  }),
  { description: 'Model 1 of the device.' },
);

const counters = members<ClientStatus['counters']>()(
  'ClientCounters',
  () => ({
    requests: integer('Requests sent, including repeated ones.'),
    answers: integer('Answers to requests, including exceptions.'),
    errors: integer('Requests and connections that failed.'),
    timeouts: integer('Errors because of a missing answer.'),
    exceptions: integer('Errors because of an exception from the device.'),
    connections: integer('Connections made.'),
  }),
  { description: 'Since the start of the simulator.' },
);

export const status = members<ClientStatus>()('ClientStatus', () => ({
  enabled: flag('True if a device is set by `connect`.', (of) => of.target !== null),
  state: word(clientStates)(
    '`error`: no map was found, or the connection is lost; while polling, the client reconnects (`poll.retry_in_s`), otherwise ' +
      'the next request does.',
  ),
  target: nested(target).orNull(),
  endpoint: text.orNull(),
  identity: nested(identity).orNull(),
  ...chain.members(),
  poll: nested(poll)(),
  counters: nested(counters)(),
  last_error: text.orNull('Last error, in words.'),
  last_error_at: time.orNull('Wall time of the last error.', ({ lastErrorMs }) => lastErrorMs),
  last_poll: time.orNull('Wall time at which the last round of polling ended.', (of) => of.poll.lastMs),
  summary: summary.orNull('Null before the first round.', ({ sample }) => sample),
}));

const valueSchema = memo(() =>
  z
    .union([z.number(), z.string()])
    .nullable()
    .openapi({
      type: ['number', 'string', 'null'],
      description:
        'Engineering value; the number of an enumeration or a bit field; text of a string, and of a number beyond 2^53; ' +
        'null when not implemented or not readable.',
    }),
);

const point = members<PointReading>()('ClientPoint', () => ({
  name: text('Path inside the model, 0-based: `Crv[0].Pt[1].V`.'),
  label: text(),
  type: text('SunSpec type of the point.'),
  address: integer(),
  size: integer('Number of registers.'),
  raw: registers.orNull('Registers of the point; null when the device refuses to be read here.'),
  value: member(valueSchema)(),
  scale_factor: integer.orNull(
    'Current power of ten from the device; null if the point has none or the device gives none.',
  ),
  unit: text.orNull(),
  symbol: member(() => z.string().nullable()).optional(
    'Only on enumerations: name of the value; null for an unknown number.',
  ),
  bits: list(text()).optional('Only on bit fields: names of the set bits, `BIT_9` for one without a name.'),
  implemented: flag(),
  access: word(['R', 'RW'])('By the definition; the device may refuse.'),
  note: text.optional('Why there is no value, or an unusual property of the point.'),
}));

/** Names of the requested points; absent: all. */
interface Names {
  readonly names?: ReadonlySet<string> | undefined;
}

const selectedPoints = (points: readonly PointReading[], { names }: Names) =>
  names ? points.filter(({ name }) => names.has(name)) : points;

const group = members<GroupReading, Names>()(null, () => ({
  name: text('Path of one repetition, 0-based: `Crv[0].Pt[1]`.', ({ path }) => path),
  points: list(point)('Points of the repetition.', ({ points }, names) => selectedPoints(points, names)),
}));

export const model = members<ModelReading, Names>()('ClientModel', () => ({
  ...place.members(),
  points: list(point)('Points of the model itself.', ({ points }, names) => selectedPoints(points, names)),
  groups: list(group)('Repetitions of all groups, in the order of the registers.', ({ groups }, context) =>
    context.names ? groups.filter(({ points }) => selectedPoints(points, context).length > 0) : groups,
  ),
  registers: registers.orNull('All registers from ID on, of a model without a definition here; else null.'),
  expected_length: integer.orNull(
    'L by the definition and the counts; null if L is right or the right value is unknown.',
  ),
  notes,
  read_at: time('Wall time of the reading.'),
}));

interface Registers {
  readonly address: number;
  readonly registers: readonly number[];
}

export const registersRead = members<Registers>()('ClientRegisters', () => ({
  address: integer(),
  registers: registers('As they were read.'),
}));

export const readReplySchema = memo(() =>
  z
    .union([model.schema(), registersRead.schema()])
    .openapi({ description: 'The model with the requested points, or `ClientRegisters`.' }),
);

const request = members<WriteRequest>()(null, () => ({
  function: member(() => z.union([z.literal(6), z.literal(16)]).openapi({ type: 'integer', enum: [6, 16] }))(
    'Function code.',
    ({ functionCode }) => functionCode,
  ),
  address: integer(),
  count: integer('Number of registers.'),
}));
const requests = list(request)('Requests accepted by the device, in order.');

const writtenPoint = members<WrittenPoint>()(null, () => ({
  name: text('Path inside the model, 0-based.'),
  written: member(valueSchema)('Value of the registers that were written: rounded to a step of the register.'),
  raw_written: registers('Registers that were written.'),
  match: flag('True if it reads back as it was written.'),
  read_back: nested(point)(),
}));

export const pointsWritten = members<WriteOutcome>()('ClientPointsWritten', () => ({
  model: nested(place)(),
  match: flag('True if every point reads back as it was written.'),
  points: list(writtenPoint)(),
  requests,
}));

export const registersWritten = members<RawWriteOutcome>()('ClientRegistersWritten', () => ({
  address: integer(),
  match: flag('True if every register reads back as it was written.'),
  registers: registers('As they were written.'),
  read_back: registers.orNull('Null: the device refuses to be read here.'),
  requests,
}));

export const writeReplySchema = memo(() =>
  z
    .union([pointsWritten.schema(), registersWritten.schema()])
    .openapi({ description: '`ClientPointsWritten` or `ClientRegistersWritten`, as requested.' }),
);

const tlsSchema = memo(() =>
  z
    .strictObject({
      cert: pem('Certificate of this client'),
      key: pem('Private key of the certificate, not encrypted'),
      root_cert: pem('Root certificates for the certificate of the device'),
      check_hostname: z
        .boolean()
        .optional()
        .openapi({ description: 'True: the certificate must match `host`. Default true.' }),
    })
    .openapi('ClientTls', { description: 'Kept in memory until the next connect or disconnect, and shown nowhere.' }),
);

export const connectSchema = memo(() =>
  z
    .strictObject({
      host: z
        .string()
        .regex(/^[\w.:%-]{1,253}$/, {
          error: ({ input }) =>
            String(input).startsWith('[')
              ? 'must be an IPv6 address without brackets, such as ::1'
              : 'must be a host name or an IP address, up to 253 characters',
        })
        .optional()
        .openapi({
          description:
            'Name or IP address; required except for `rtu`. Link-local, metadata and multicast addresses are refused.',
        }),
      port: z.int().min(1).max(65_535).optional().openapi({ description: 'Default 502, with `tls` 802.' }),
      device: z
        .int()
        .min(0)
        .optional()
        .openapi({
          description:
            'Index of a device of this simulator: its Modbus TCP port takes the place of `host` and `port`, and ' +
            'its unit id is the default. Not with `rtu`.',
        }),
      unit_id: z.int().min(0).max(255).optional().openapi({ description: 'Default 1; with `rtu` 1 to 247.' }),
      transport: z.enum(clientTransports).optional().openapi({ description: 'Default `tcp`.' }),
      serial: serialSchema().optional(),
      tls: tlsSchema().optional(),
      timeout_s: z
        .number()
        .min(0.1)
        .max(30)
        .optional()
        .openapi({ description: 'Time limit of the connection and of each answer; a read is tried twice. Default 2.' }),
      base_address: z
        .int()
        .min(0)
        .max(65_533)
        .optional()
        .openapi({ description: 'Address of the marker. Default: the first of 40000, 50000 and 0 that has it.' }),
      transaction_id: z
        .enum(transactionIds)
        .optional()
        .openapi({
          description:
            '`strict`: an answer has the transaction id of its request. `zero`: it may also have 0, which some devices always ' +
            'send; unit id, function and length must fit in any case, and the client reconnects after a time-out, because nothing ' +
            'else distinguishes a late answer from the next one. Not with `rtu`. Default `strict`.',
        }),
    })
    .openapi('ClientConnectRequest'),
);

export type ConnectRequest = z.output<ReturnType<typeof connectSchema>>;

const pollIds = z.array(modelId).min(1).max(64);

export const pollRequestSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().optional(),
      interval_s: z.number().min(0.2).max(3600).optional().openapi({ description: 'Default 1.5.' }),
      models: pollIds.nullable().optional().openapi({ description: 'Null: the models needed for the summary.' }),
    })
    .openapi('ClientPollRequest', { description: 'Absent members are not changed.' }),
);

export const modelParamsSchema = z.strictObject({ model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.') });
export const modelQuerySchema = z.strictObject({
  index: integerParam('index', 0, 255, 'Index among models of the same id, from 0; default 0.').optional(),
  refresh: flagParam(
    'refresh',
    'True: reads the device. Otherwise the answer is the last reading, if there is one.',
  ).optional(),
});

const registersReadSchema = memo(() =>
  z
    .strictObject({
      address: register.openapi({ description: 'Protocol address of the first register.' }),
      count: z.int().min(1).max(1000).openapi({ description: 'Registers; more than 125 take several requests.' }),
    })
    .openapi('ClientRegistersReadRequest'),
);

const pointsReadSchema = memo(() =>
  z
    .strictObject({
      model: modelId,
      index: modelIndex.optional(),
      points: z
        .array(z.string().max(200))
        .min(1)
        .max(1000)
        .optional()
        .openapi({ description: 'Paths of points, 0-based; default: all. The whole model is always read.' }),
    })
    .openapi('ClientPointsReadRequest'),
);

export const readRequestSchema = memo(() =>
  z
    .union([pointsReadSchema(), registersReadSchema()])
    .openapi('ClientReadRequest', { description: 'Points of a model, or registers.' }),
);

const pointsWriteSchema = memo(() =>
  z
    .strictObject({
      model: modelId,
      index: modelIndex.optional(),
      points: z
        .record(
          z.string().max(200),
          z
            .union([z.number(), z.string().max(1000)], { error: 'must be a number, a text or null' })
            .nullable()
            .openapi({
              type: ['number', 'string', 'null'],
              description: 'Null marks a point of a stored curve (`Crv[..].Pt[..]`) as not in use.',
            }),
        )
        .refine((points) => Object.keys(points).length > 0, { error: 'at least one point is required' })
        .openapi({
          description: 'Values by point path, in engineering units; enumerations by name or number.',
          minProperties: 1,
        }),
    })
    .openapi('ClientPointsWriteRequest'),
);

const registersWriteSchema = memo(() =>
  z
    .strictObject({
      address: register.openapi({ description: 'Protocol address of the first register.' }),
      registers: z.array(register).min(1).max(123).openapi({ description: 'Raw values to write.' }),
    })
    .openapi('ClientRegistersWriteRequest'),
);

export const writeRequestSchema = memo(() =>
  z
    .union([pointsWriteSchema(), registersWriteSchema()])
    .openapi('ClientWriteRequest', { description: 'Points of a model, or registers.' }),
);

export const clientHistoryQuerySchema = historyQuerySchema.omit({ device: true }).extend({
  seconds: secondsParam('Samples of this many last seconds of wall time.').optional(),
  since: isoParam('since', 'Wall time of the first sample, inclusive. Default: the oldest sample kept.').optional(),
  until: isoParam('until', 'Wall time after the last sample, exclusive. Default: no bound.').optional(),
});

export const clientHistorySchema = memo(() => {
  const arrival = isoTime.openapi({ description: 'Wall time at which the round ended.' });
  return inBothForms({
    name: 'ClientHistory',
    prefix: 'Client',
    head: {
      endpoint: z.string().nullable().openapi({ description: 'Device of the samples; null before one was found.' }),
      unit_id: z.int().nullable().openapi({ description: 'Unit id of that device.' }),
      interval_s: z.number().openapi({ description: 'Current interval of polling, s.' }),
      capacity: z.int().openapi({ description: 'Maximum number of samples; the oldest are dropped.' }),
      metrics: z.array(z.string()).openapi({ description: 'Names of the metrics, in the order of the answer.' }),
      count: z.int().openapi({ description: 'Number of samples.' }),
      truncated: z.boolean().openapi({ description: 'The requested time had more samples.' }),
    },
    times: {
      timestamp: arrival,
      wall_time: arrival,
      tick: z.int().min(1).openapi({ description: 'Number of the round of polling.' }),
    },
    metrics: { ...numberSchemas, ...stateSchemas },
    order: 'Oldest first.',
  });
});
