import { memo } from '../../core/memo.ts';
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import {
  chainEnds,
  clientStates,
  clientTransports,
  remoteMetricNames,
  transactionIds,
} from '../../contract/sunspec-client.ts';
import { z } from '../description/zod.ts';
import { isoTime, quantity } from '../common/schemas.ts';
import { foundModelSchema, modelId, modelIndex, notes } from './model-schemas.ts';

/** Characters of a chain of certificates. */
export const maxPemLength = 32_768;

const pem = (description: string) =>
  z
    .string()
    .min(1)
    .max(maxPemLength)
    .openapi({ description: `${description}, as PEM text; never a path.` });

const tlsSchema = memo(() =>
  z
    .strictObject({
      cert: pem('Certificate of this client'),
      key: pem('Its private key, not encrypted'),
      root_cert: pem('Root certificates for the certificate of the device'),
      check_hostname: z
        .boolean()
        .optional()
        .openapi({ description: 'Whether the certificate must match `host`. Default true.' }),
    })
    .openapi('ClientTls', { description: 'Kept in memory until the next connect or disconnect, and shown nowhere.' }),
);

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
        .openapi({ description: 'Where the marker is. Default: the first of 40000, 50000 and 0 that has it.' }),
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

const targetSchema = memo(() =>
  z
    .strictObject({
      transport: z
        .enum(clientTransports)
        .openapi({ description: 'Modbus TCP, Modbus TCP in TLS, or RTU on a serial line.' }),
      host: z.string().nullable().openapi({ description: 'Null on a serial line.' }),
      port: z.int().nullable().openapi({ description: 'Null on a serial line.' }),
      serial: serialSchema().nullable(),
      unit_id: z.int().openapi({ description: 'Unit identifier.' }),
      timeout_s: z.number().openapi({ description: 'Time limit of the connection and of each answer.' }),
      base_address: z.int().nullable().openapi({ description: 'As requested; null: searched.' }),
      transaction_id: z
        .enum(transactionIds)
        .nullable()
        .openapi({ description: 'Which ids answers may have; null on a serial line.' }),
    })
    .openapi('ClientTarget', { description: 'Without certificates and keys.' }),
);

const chainMembers = {
  base_address: z.int().nullable().openapi({ description: 'Where the marker is; null while none was found.' }),
  chain_end: z
    .enum(chainEnds)
    .nullable()
    .openapi({
      description:
        'How the chain ends: `end_model` as the standard says, `zeros` with model 0, `missing_length` with an end model whose L ' +
        'cannot be read, `exception` where the device refuses a read, `limit` where it would leave the address space. Null before a scan.',
    }),
  notes,
  models: z.array(foundModelSchema).openapi({ description: 'Models of the chain, in order.' }),
};

export const chainSchema = z.strictObject(chainMembers).openapi('ClientModels');

const polledSchema = memo(() =>
  z
    .strictObject({
      id: modelId,
      index: modelIndex,
      read_at: isoTime.nullable().openapi({ description: 'Wall time of the last reading; null: never.' }),
      error: z.string().nullable().openapi({ description: 'Why the last round could not read it; null: no error.' }),
    })
    .openapi('ClientPolledModel'),
);

const pollIds = z.array(modelId).min(1).max(64);

export const pollSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean(),
      interval_s: z.number().openapi({ description: 'Time from one round to the next, s. Rounds never overlap.' }),
      models: z
        .array(modelId)
        .nullable()
        .openapi({ description: 'Models read in a round; null: the models needed for the summary.' }),
      polled: z.array(polledSchema()).openapi({ description: 'The models of the last round.' }),
      rounds: z.int().openapi({ description: 'Rounds started.' }),
      failed_rounds: z.int().openapi({ description: 'Rounds in which a model could not be read.' }),
      late_rounds: z.int().openapi({ description: 'Intervals without a round because an earlier round took longer.' }),
      last_poll: isoTime.nullable().openapi({ description: 'Wall time at which the last round ended.' }),
      last_duration_s: z.number().nullable().openapi({ description: 'How long the last round took.' }),
      retry_in_s: z
        .number()
        .nullable()
        .openapi({ description: 'Time to the next attempt to connect; null while it is connected.' }),
    })
    .openapi('ClientPoll'),
);

export const pollRequestSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().optional(),
      interval_s: z.number().min(0.2).max(3600).optional().openapi({ description: 'Default 1.5.' }),
      models: pollIds.nullable().optional().openapi({ description: 'Null: the models needed for the summary.' }),
    })
    .openapi('ClientPollRequest', { description: 'Absent members stay as they are.' }),
);

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

export const stateSchemas = {
  service_state: z.enum(serviceStates).nullable().openapi({ description: '701.St.' }),
  inverter_state: z.enum(inverterStates).nullable().openapi({ description: '701.InvSt or St of 101 to 113.' }),
  connection_state: z.enum(connectionStates).nullable().openapi({ description: '701.ConnSt or 122.ECPConn.' }),
};

export const numberSchemas = Object.fromEntries(
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

const identitySchema = memo(() =>
  z
    .strictObject({
      manufacturer: z.string().nullable(),
      model: z.string().nullable(),
      version: z.string().nullable().openapi({ description: '1.Vr.' }),
      serial_number: z.string().nullable(),
    })
    .openapi('ClientIdentity', { description: 'Model 1 of the device.' }),
);

const countersSchema = memo(() =>
  z
    .strictObject({
      requests: z.int().openapi({ description: 'Requests sent, including repeated ones.' }),
      answers: z.int().openapi({ description: 'Answers to requests, including exceptions.' }),
      errors: z.int().openapi({ description: 'Requests and connections that failed.' }),
      timeouts: z.int().openapi({ description: 'Errors because of a missing answer.' }),
      exceptions: z.int().openapi({ description: 'Errors because of an exception from the device.' }),
      connections: z.int().openapi({ description: 'Connections made.' }),
    })
    .openapi('ClientCounters', { description: 'Since the start of the simulator.' }),
);

export const clientStatusSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().openapi({ description: 'Whether a device is set by `connect`.' }),
      state: z.enum(clientStates).openapi({
        description:
          '`error`: no map was found, or the connection is lost; while polling, the client reconnects (`poll.retry_in_s`), otherwise ' +
          'the next request does.',
      }),
      target: targetSchema().nullable(),
      endpoint: z.string().nullable(),
      identity: identitySchema().nullable(),
      ...chainMembers,
      poll: pollSchema(),
      counters: countersSchema(),
      last_error: z.string().nullable().openapi({ description: 'Last error, in words.' }),
      last_error_at: isoTime.nullable().openapi({ description: 'Wall time of the last error.' }),
      last_poll: isoTime.nullable().openapi({ description: 'Wall time at which the last round of polling ended.' }),
      summary: summarySchema().nullable().openapi({ description: 'Null before the first round.' }),
    })
    .openapi('ClientStatus'),
);

export type ClientStatusReply = z.output<ReturnType<typeof clientStatusSchema>>;
export type ClientPollReply = z.output<ReturnType<typeof pollSchema>>;
export type ConnectRequest = z.output<ReturnType<typeof connectSchema>>;
