import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import {
  chainEnds,
  clientStates,
  clientTransports,
  remoteMetricNames,
  transactionIds,
} from '../../contract/sunspec-client.ts';
import { z } from '../description/zod.ts';
import { flagParam, integerParam, isoParam, isoTime, quantity } from '../common/schemas.ts';
import { historyQuerySchema, secondsParam } from '../history/schemas.ts';

const register = z.int().min(0).max(65_535);
const modelId = z.int().min(1).max(65_535).openapi({ description: 'SunSpec model id.' });
const modelIndex = z
  .int()
  .min(0)
  .max(255)
  .openapi({ description: 'Which of several models of the same id, from 0; default 0.' });
const notes = z.array(z.string()).openapi({ description: 'What is not as it should be, in words.' });

/** Characters of a chain of certificates. */
export const longestPem = 32_768;

const pem = (description: string) =>
  z
    .string()
    .min(1)
    .max(longestPem)
    .openapi({ description: `${description}, as PEM text; never a path.` });

const tlsSchema = z
  .strictObject({
    cert: pem('Certificate of this client'),
    key: pem('Private key of it, not encrypted'),
    root_cert: pem('Certificates from which that of the device must descend'),
    check_hostname: z
      .boolean()
      .optional()
      .openapi({ description: 'Whether the certificate must be of the host that was named. Default true.' }),
  })
  .openapi('ClientTls', { description: 'Kept in memory until the next connect or disconnect, and shown nowhere.' });

const serialSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .max(200)
      .openapi({ description: 'Name of the line: `/dev/ttyUSB0`, `/dev/pts/3`, `COM3`.' }),
    baud: z.int().min(300).max(921_600).optional().openapi({ description: 'Default 9600.' }),
    parity: z.enum(['N', 'E', 'O']).optional().openapi({ description: 'None, even or odd. Default `N`.' }),
    stop_bits: z
      .union([z.literal(1), z.literal(2)])
      .optional()
      .openapi({ type: 'integer', enum: [1, 2], description: 'Default 1.' }),
  })
  .openapi('ClientSerialLine');

export const connectSchema = z
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
          'Name or IP address; needed but for `rtu`. Link-local, metadata and multicast addresses are refused.',
      }),
    port: z.int().min(1).max(65_535).optional().openapi({ description: 'Default 502, with `tls` 802.' }),
    unit_id: z.int().min(0).max(255).optional().openapi({ description: 'Default 1; with `rtu` 1 to 247.' }),
    transport: z.enum(clientTransports).optional().openapi({ description: 'Default `tcp`.' }),
    serial: serialSchema.optional(),
    tls: tlsSchema.optional(),
    timeout_s: z
      .number()
      .min(0.1)
      .max(30)
      .optional()
      .openapi({ description: 'For the connection and for each answer; a read is tried twice. Default 2.' }),
    base_address: z
      .int()
      .min(0)
      .max(65_533)
      .optional()
      .openapi({ description: 'Where the marker is. Default: the first of 40000, 50000 and 0 that has it.' }),
    transaction_id: z
      .enum(transactionIds)
      .optional()
      .openapi({
        description:
          '`strict`: an answer has the transaction id of its request. `zero`: it may have 0 as well, as some devices always ' +
          'send; unit id, function and length must fit in any case, and the connection is made anew after silence, since nothing else ' +
          'tells a late answer from the next one. Not with `rtu`. Default `strict`.',
      }),
  })
  .openapi('ClientConnectRequest');

const targetSchema = z
  .strictObject({
    transport: z
      .enum(clientTransports)
      .openapi({ description: 'Modbus TCP, Modbus TCP in TLS, or RTU on a serial line.' }),
    host: z.string().nullable().openapi({ description: 'Null on a serial line.' }),
    port: z.int().nullable().openapi({ description: 'Null on a serial line.' }),
    serial: serialSchema.nullable(),
    unit_id: z.int().openapi({ description: 'Unit identifier.' }),
    timeout_s: z.number().openapi({ description: 'For the connection and for each answer.' }),
    base_address: z.int().nullable().openapi({ description: 'As asked for; null: searched for.' }),
    transaction_id: z
      .enum(transactionIds)
      .nullable()
      .openapi({ description: 'Which ids answers may have; null on a serial line.' }),
  })
  .openapi('ClientTarget', { description: 'Without certificates and keys.' });

const foundModelSchema = z
  .strictObject({
    id: modelId,
    index: modelIndex,
    name: z
      .string()
      .nullable()
      .openapi({ description: 'Null for a model without a definition here; its registers are shown raw.' }),
    label: z.string().nullable(),
    address: z.int().openapi({ description: 'Protocol address of the ID register.' }),
    length: z.int().openapi({ description: 'The L register.' }),
  })
  .openapi('ClientModelPlace');

const chainMembers = {
  base_address: z.int().nullable().openapi({ description: 'Where the marker is; null while none was found.' }),
  chain_end: z
    .enum(chainEnds)
    .nullable()
    .openapi({
      description:
        'How the chain ends: `end_model` as it should, `zeros` with model 0, `missing_length` with an end model whose L cannot ' +
        'be read, `exception` where the device refuses to be read, `limit` where it would lead out of the address space. Null before a scan.',
    }),
  notes,
  models: z.array(foundModelSchema).openapi({ description: 'Models of the chain, in order.' }),
};

export const chainSchema = z.strictObject(chainMembers).openapi('ClientModels');

const polledSchema = z
  .strictObject({
    id: modelId,
    index: modelIndex,
    read_at: isoTime.nullable().openapi({ description: 'Wall time at which it was read last; null: never.' }),
    error: z.string().nullable().openapi({ description: 'Why the last round could not read it; null: it could.' }),
  })
  .openapi('ClientPolledModel');

const pollIds = z.array(modelId).min(1).max(64);

export const pollSchema = z
  .strictObject({
    enabled: z.boolean(),
    interval_s: z.number().openapi({ description: 'From one round to the next. Rounds never overlap.' }),
    models: z
      .array(modelId)
      .nullable()
      .openapi({ description: 'What is read in a round; null: the models from which the summary is made.' }),
    polled: z.array(polledSchema).openapi({ description: 'The models of the last round.' }),
    rounds: z.int().openapi({ description: 'Rounds that were begun.' }),
    failed_rounds: z.int().openapi({ description: 'Rounds in which a model could not be read.' }),
    late_rounds: z.int().openapi({ description: 'Intervals that had no round of their own, because one took longer.' }),
    last_poll: isoTime.nullable().openapi({ description: 'Wall time at which the last round ended.' }),
    last_duration_s: z.number().nullable().openapi({ description: 'How long the last round took.' }),
    retry_in_s: z
      .number()
      .nullable()
      .openapi({ description: 'Time to the next attempt to connect; null while it is connected.' }),
  })
  .openapi('ClientPoll');

export const pollRequestSchema = z
  .strictObject({
    enabled: z.boolean().optional(),
    interval_s: z.number().min(0.2).max(3600).optional().openapi({ description: 'Default 1.5.' }),
    models: pollIds.nullable().optional().openapi({ description: 'Null: the models from which the summary is made.' }),
  })
  .openapi('ClientPollRequest', { description: 'What is left out stays as it is.' });

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

const summarySchema = z
  .strictObject({
    ...numberSchemas,
    ...stateSchemas,
    timestamp: isoTime.openapi({ description: 'Wall time at which the round ended.' }),
  })
  .openapi('ClientSummary', {
    description: 'Metrics of the last round of polling; null for what the device does not have.',
  });

const identitySchema = z
  .strictObject({
    manufacturer: z.string().nullable(),
    model: z.string().nullable(),
    version: z.string().nullable().openapi({ description: '1.Vr.' }),
    serial_number: z.string().nullable(),
  })
  .openapi('ClientIdentity', { description: 'Model 1 of the device.' });

const countersSchema = z
  .strictObject({
    requests: z.int().openapi({ description: 'Requests sent, repeated ones among them.' }),
    answers: z.int().openapi({ description: 'Answers that belong to a request, exceptions among them.' }),
    errors: z.int().openapi({ description: 'Requests and connections that failed.' }),
    timeouts: z.int().openapi({ description: 'Of the errors those without an answer in time.' }),
    exceptions: z.int().openapi({ description: 'Of the errors those that the device answered with an exception.' }),
    connections: z.int().openapi({ description: 'Connections made.' }),
  })
  .openapi('ClientCounters', { description: 'Since the start of the simulator.' });

export const clientStatusSchema = z
  .strictObject({
    enabled: z.boolean().openapi({ description: 'Whether there is a device to which it was told to connect.' }),
    state: z.enum(clientStates).openapi({
      description:
        '`error`: no map was found, or the connection is lost; while it is polled, attempts follow (`poll.retry_in_s`), else the ' +
        'next request makes a new one.',
    }),
    target: targetSchema.nullable(),
    endpoint: z.string().nullable(),
    identity: identitySchema.nullable(),
    ...chainMembers,
    poll: pollSchema,
    counters: countersSchema,
    last_error: z.string().nullable().openapi({ description: 'What went wrong last, in words.' }),
    last_error_at: isoTime.nullable().openapi({ description: 'Wall time of it.' }),
    last_poll: isoTime.nullable().openapi({ description: 'Wall time at which the last round of polling ended.' }),
    summary: summarySchema.nullable().openapi({ description: 'Null before the first round.' }),
  })
  .openapi('ClientStatus');

const valueSchema = z
  .union([z.number(), z.string()])
  .nullable()
  .openapi({
    type: ['number', 'string', 'null'],
    description:
      'Engineering value; the number of an enumeration or a bit field; text of a string, and of a number beyond 2^53; ' +
      'null when not implemented or not readable.',
  });

const pointSchema = z
  .strictObject({
    name: z.string().openapi({ description: 'Path inside the model, 0-based: `Crv[0].Pt[1].V`.' }),
    label: z.string(),
    type: z.string().openapi({ description: 'SunSpec type of the point.' }),
    address: z.int(),
    size: z.int().openapi({ description: 'Registers.' }),
    raw: z
      .array(register)
      .nullable()
      .openapi({ description: 'Registers of the point; null when the device refuses to be read here.' }),
    value: valueSchema,
    scale_factor: z
      .int()
      .nullable()
      .openapi({ description: 'Power of ten that the device gives now; null without, and where it gives none.' }),
    unit: z.string().nullable(),
    symbol: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'Only on enumerations: name of the value; null for a number without.' }),
    bits: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Only on bit fields: names of the bits that are set, `BIT_9` for one without.' }),
    implemented: z.boolean(),
    access: z.enum(['R', 'RW']).openapi({ description: 'By the definition; the device may refuse.' }),
    note: z.string().optional().openapi({ description: 'Why there is no value, or what is odd about it.' }),
  })
  .openapi('ClientPoint');

export const modelSchema = z
  .strictObject({
    ...foundModelSchema.shape,
    points: z.array(pointSchema).openapi({ description: 'Points of the model itself.' }),
    groups: z
      .array(
        z.strictObject({
          name: z.string().openapi({ description: 'Path of one repetition, 0-based: `Crv[0].Pt[1]`.' }),
          points: z.array(pointSchema).openapi({ description: 'Its own points.' }),
        }),
      )
      .openapi({ description: 'Repetitions of all groups, in the order of the registers.' }),
    registers: z
      .array(register)
      .nullable()
      .openapi({ description: 'All registers from ID on, of a model without a definition here; else null.' }),
    expected_length: z.int().nullable().openapi({
      description: 'What L should be by the definition and the counts; null when it is that, or nobody knows.',
    }),
    notes,
    read_at: isoTime.openapi({ description: 'Wall time at which it was read.' }),
  })
  .openapi('ClientModel');

export const modelParamsSchema = z.strictObject({ model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.') });
export const modelQuerySchema = z.strictObject({
  index: integerParam('index', 0, 255, 'Which of several models of the same id, from 0; default 0.').optional(),
  refresh: flagParam(
    'refresh',
    'Reads the device in any case; without it, what was read last, if that is known.',
  ).optional(),
});

const registersReadSchema = z
  .strictObject({
    address: register.openapi({ description: 'Protocol address of the first register.' }),
    count: z.int().min(1).max(1000).openapi({ description: 'Registers; more than 125 take several requests.' }),
  })
  .openapi('ClientRegistersReadRequest');

const pointsReadSchema = z
  .strictObject({
    model: modelId,
    index: modelIndex.optional(),
    points: z
      .array(z.string().max(200))
      .min(1)
      .max(1000)
      .optional()
      .openapi({ description: 'Paths of points, 0-based; default: all. The whole model is read in any case.' }),
  })
  .openapi('ClientPointsReadRequest');

export const readRequestSchema = z
  .union([pointsReadSchema, registersReadSchema])
  .openapi('ClientReadRequest', { description: 'Points of a model, or registers.' });

const registersSchema = z
  .strictObject({
    address: z.int(),
    registers: z.array(register).openapi({ description: 'As they were read.' }),
  })
  .openapi('ClientRegisters');

export const readReplySchema = z
  .union([modelSchema, registersSchema])
  .openapi({ description: 'The model with the points asked for, or `ClientRegisters`.' });

const pointsWriteSchema = z
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
  .openapi('ClientPointsWriteRequest');

const registersWriteSchema = z
  .strictObject({
    address: register.openapi({ description: 'Protocol address of the first register.' }),
    registers: z.array(register).min(1).max(123).openapi({ description: 'What is written, as it is.' }),
  })
  .openapi('ClientRegistersWriteRequest');

export const writeRequestSchema = z
  .union([pointsWriteSchema, registersWriteSchema])
  .openapi('ClientWriteRequest', { description: 'Points of a model, or registers.' });

const requestsSchema = z
  .array(
    z.strictObject({
      function: z
        .union([z.literal(6), z.literal(16)])
        .openapi({ type: 'integer', enum: [6, 16], description: 'Function code.' }),
      address: z.int(),
      count: z.int().openapi({ description: 'Registers.' }),
    }),
  )
  .openapi({ description: 'Requests that the device has taken, in order.' });

const pointsWrittenSchema = z
  .strictObject({
    model: foundModelSchema,
    match: z.boolean().openapi({ description: 'Whether every point reads back as it was written.' }),
    points: z.array(
      z.strictObject({
        name: z.string().openapi({ description: 'Path inside the model, 0-based.' }),
        written: valueSchema.openapi({
          description: 'Value of the registers that were written: rounded to a step of the register.',
        }),
        raw_written: z.array(register).openapi({ description: 'Registers that were written.' }),
        match: z.boolean().openapi({ description: 'Whether it reads back as it was written.' }),
        read_back: pointSchema,
      }),
    ),
    requests: requestsSchema,
  })
  .openapi('ClientPointsWritten');

const registersWrittenSchema = z
  .strictObject({
    address: z.int(),
    match: z.boolean().openapi({ description: 'Whether every register reads back as it was written.' }),
    registers: z.array(register).openapi({ description: 'As they were written.' }),
    read_back: z.array(register).nullable().openapi({ description: 'Null: the device refuses to be read here.' }),
    requests: requestsSchema,
  })
  .openapi('ClientRegistersWritten');

export const writeReplySchema = z
  .union([pointsWrittenSchema, registersWrittenSchema])
  .openapi({ description: '`ClientPointsWritten` or `ClientRegistersWritten`, as asked.' });

export const clientHistoryQuerySchema = historyQuerySchema.omit({ device: true }).extend({
  seconds: secondsParam('Samples of the last so many seconds of wall time.').optional(),
  since: isoParam('since', 'Wall time of the first sample, inclusive. Default: the oldest that is kept.').optional(),
  until: isoParam('until', 'Wall time behind the last sample, exclusive. Default: the newest.').optional(),
});

const historyMembers = {
  endpoint: z
    .string()
    .nullable()
    .openapi({ description: 'The device that the samples are of; null before one was found.' }),
  unit_id: z.int().nullable().openapi({ description: 'Of that device.' }),
  interval_s: z.number().openapi({ description: 'From one round of polling to the next, as set now.' }),
  capacity: z.int().openapi({ description: 'Samples that are kept; the oldest go.' }),
  metrics: z.array(z.string()).openapi({ description: 'Names of the metrics, in the order of the answer.' }),
  count: z.int().openapi({ description: 'Number of samples.' }),
  truncated: z.boolean().openapi({ description: 'The time asked for had more samples.' }),
};

const tick = z.int().min(1).openapi({ description: 'Number of the round of polling.' });
const arrival = isoTime.openapi({ description: 'Wall time at which the round ended.' });
const metricSchemas: Readonly<Record<string, z.ZodType>> = { ...numberSchemas, ...stateSchemas };

function mapped<T>(make: (schema: z.ZodType) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(metricSchemas).map(([name, schema]) => [name, make(schema)]));
}

const clientSamplesSchema = z
  .strictObject({
    ...historyMembers,
    samples: z
      .array(
        z
          .strictObject({ timestamp: arrival, wall_time: arrival, tick, ...mapped((schema) => schema.optional()) })
          .openapi('ClientSample'),
      )
      .openapi({ description: 'Oldest first.' }),
  })
  .openapi('ClientHistory');
const clientColumnsSchema = z
  .strictObject({
    ...historyMembers,
    columns: z
      .strictObject({
        timestamp: z.array(arrival),
        wall_time: z.array(arrival),
        tick: z.array(tick),
        ...mapped((schema) => z.array(schema).optional()),
      })
      .openapi('ClientColumns', { description: 'One array per metric that was asked for, all of the same length.' }),
  })
  .openapi('ClientHistoryInColumns');

export const clientHistorySchema = z
  .union([clientSamplesSchema, clientColumnsSchema])
  .openapi({ description: '`ClientHistory`; with `format=columns` `ClientHistoryInColumns`.' });

export type ClientStatusReply = z.output<typeof clientStatusSchema>;
export type ClientModelReply = z.output<typeof modelSchema>;
export type ClientPointReply = z.output<typeof pointSchema>;
export type ClientPollReply = z.output<typeof pollSchema>;
export type ClientHistoryReply = z.output<typeof clientHistorySchema>;
export type ConnectRequest = z.output<typeof connectSchema>;
