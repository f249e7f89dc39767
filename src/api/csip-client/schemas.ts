import { memo } from '../../core/memo.ts';
import { csipIdentities, csipRevisions, csipStates } from '../../contract/csip-client.ts';
import { deviceParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { controlSchema, modesSchema, programSchema } from './control-schemas.ts';
import {
  byServer,
  count,
  deviceIndices,
  flag,
  integer,
  json,
  number,
  numberOrNull,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './members.ts';

/** `device` of views: of one client. */
export const clientParam = deviceParam.optional().openapi({
  description: 'The client of the device of this index; default that of the first device.',
});
export const clientQuery = z.strictObject({ device: clientParam });

/** `device` of operations: of one client, or of all. */
export const clientsQuery = z.strictObject({
  device: deviceParam
    .optional()
    .openapi({ description: 'The client of the device of this index alone; default all clients.' }),
});

const serverSchema = memo(() =>
  z
    .strictObject({
      host: text('Name or address of the server.'),
      port: integer('TCP port.'),
      dcap: text('Path of the DeviceCapability.'),
      tls: flag('Whether the connection is encrypted.'),
      version_compat: z.enum(csipRevisions).openapi({ description: 'Revision of IEEE 2030.5 that documents follow.' }),
      tls_protocol: textOrNull('Of the last handshake; null: none.'),
      cipher: textOrNull('Of the last handshake; null: none.'),
    })
    .openapi('CsipServer'),
);

const connectionSchema = memo(() =>
  z
    .strictObject({
      attempts: count('Walks that were begun.'),
      consecutive_failures: count('Attempts that failed since the last one that did not.'),
      retry_in_s: numberOrNull('Time until the next attempt, s; null: none is planned.'),
      last_contact: timeOrNull('Wall time of the last answer; null: never.'),
      seconds_since_last_contact: numberOrNull('Time since the last answer, s; null: never.'),
      last_error: textOrNull('In words; null: none.'),
      last_error_at: timeOrNull('Wall time of the last error; null: none.'),
      communication_lost: z
        .strictObject({
          since: time('Wall time of its begin.'),
          until: timeOrNull('Wall time at which it ends; null: when it is ended.'),
        })
        .nullable()
        .openapi({ description: 'A loss of communication that `csip/communication` asked for; null: none.' }),
    })
    .openapi('CsipConnection'),
);

export const endDeviceSchema = memo(() =>
  z
    .strictObject({
      href: text('Its address on the server.'),
      lfdi: textOrNull('LFDI, 40 hexadecimal digits; null: none was given.'),
      sfdi: textOrNull('SFDI in decimal digits; null: none was given.'),
      device_category: textOrNull('Bits of DeviceCategoryType, hexadecimal; null: none was given.'),
      enabled: z.boolean().nullable().openapi({ description: 'As the server says; null: it does not.' }),
      changed_time: timeOrNull(`changedTime, ${byServer}; null: none was given.`),
      post_rate_s: numberOrNull('postRate, s; null: none was given.'),
      registration: z
        .strictObject({
          pin_matches: z
            .boolean()
            .nullable()
            .openapi({ description: 'Whether the PIN is the configured one; null: none is configured, or shown.' }),
          registered_at: timeOrNull(`dateTimeRegistered, ${byServer}; null: none was given.`),
        })
        .nullable()
        .openapi({ description: 'Null: it was not read.' }),
      device_indices: deviceIndices,
      links: z
        .record(z.string(), z.string())
        .openapi({ description: 'Its links by name, such as `FunctionSetAssignmentsListLink`, with their `href`.' }),
    })
    .openapi('CsipEndDevice'),
);

export const endDevicesSchema = memo(() =>
  z
    .strictObject({
      end_devices: z.array(endDeviceSchema()).openapi({ description: 'Own ones first, then others of the list.' }),
    })
    .openapi('CsipEndDevices'),
);

export const timeSchema = memo(() =>
  z
    .strictObject({
      server_time: time('Now, by the clock of the server.'),
      offset_s: number('Clock of the server less that of this machine, s.'),
      quality: z.int().nullable().openapi({ description: '7: intentionally uncoordinated; null: none was given.' }),
      tz_offset_s: numberOrNull('tzOffset, s; null: none was given.'),
      dst_offset_s: numberOrNull('dstOffset, s; null: none was given.'),
      age_s: number('Time since it was read, s.'),
      href: textOrNull('The Time resource; null: none was given.'),
    })
    .openapi('CsipTime'),
);

export const statusSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether the client was switched on with `--csip_client_enable`.'),
      state: z.enum(csipStates).openapi({
        description:
          '`registering`: the EndDevice is not there yet, or its PIN is being checked; `retrying`: the server is lost; `stopped`: ' +
          'disconnected by hand, or for good by a wrong PIN.',
      }),
      server: serverSchema().nullable().openapi({ description: 'Null: disabled.' }),
      identity: z.enum(csipIdentities).nullable().openapi({ description: 'Null: disabled.' }),
      lfdi: textOrNull('Own LFDI, 40 hexadecimal digits; null: disabled, or no certificate.'),
      sfdi: textOrNull('Own SFDI in decimal digits; null: disabled, or no certificate.'),
      device_indices: deviceIndices,
      connection: connectionSchema(),
      end_device: endDeviceSchema().nullable().openapi({ description: 'Null: not found yet.' }),
      programs: z.array(programSchema()).openapi({ description: 'By primacy.' }),
      active_controls: z.array(controlSchema).openapi({ description: 'Events that are active.' }),
      default_control: modesSchema
        .nullable()
        .openapi({ description: 'Modes of default controls that act now; null: none.' }),
      time: timeSchema().nullable().openapi({ description: 'Null: no Time resource has been read.' }),
      poll_rates_s: z
        .record(z.string(), z.number())
        .openapi({ description: 'Seconds between two polls, by resource, such as `EndDeviceList`.' }),
      metering: z
        .strictObject({
          mup_href: textOrNull('The MirrorUsagePoint; null: not created.'),
          post_rate_s: numberOrNull('postRate, s; null: none was given.'),
          last_post: timeOrNull('Wall time of the last post; null: none.'),
          posted_count: count('Posts since the start.'),
        })
        .nullable()
        .openapi({ description: 'Null: the server takes no readings.' }),
      subscriptions: count('Subscriptions that the server has accepted.'),
    })
    .openapi('CsipStatus'),
);
export type StatusReply = z.output<ReturnType<typeof statusSchema>>;

export const reconnectSchema = memo(() =>
  z
    .strictObject({
      triggered: flag('False: it is connected, or was disconnected by hand.'),
    })
    .openapi('CsipReconnect'),
);

/** Seconds of a loss of communication at most: a day. */
const maxLossS = 86_400;

export const communicationSchema = memo(() =>
  z
    .strictObject({
      lost: z.boolean().openapi({ description: 'True: the server cannot be reached; false: it can again.' }),
      duration_s: z
        .number()
        .gt(0)
        .max(maxLossS)
        .optional()
        .openapi({ description: 'Wall time after which it ends by itself, s; default: never. Only with `lost` true.' }),
    })
    .refine(({ lost, duration_s: durationS }) => lost || durationS === undefined, {
      path: ['duration_s'],
      error: 'needs lost true',
    })
    .openapi('CsipCommunicationRequest'),
);

const diagnosticSchema = memo(() =>
  z
    .strictObject({
      code: text('Machine-readable name.'),
      message: text('In a sentence.'),
    })
    .openapi('CsipDiagnostic'),
);

export const diagnosticsSchema = memo(() =>
  z
    .strictObject({
      errors: z.array(diagnosticSchema()).openapi({ description: 'What keeps it from working.' }),
      warnings: z.array(diagnosticSchema()).openapi({ description: 'What a head-end should mend.' }),
      info: z.array(diagnosticSchema()).openapi({ description: 'What is worth knowing.' }),
    })
    .openapi('CsipDiagnostics'),
);

export const foundServersSchema = memo(() =>
  z
    .strictObject({
      servers: z
        .array(
          z
            .strictObject({
              name: text('Name of the service instance.'),
              host: text('Its host name.'),
              addresses: z.array(z.string()).openapi({ description: 'IPv4 and IPv6.' }),
              port: integer('TCP port.'),
              https_port: z.int().nullable().openapi({ description: 'TCP port of TLS; null: none was given.' }),
              dcap: textOrNull('Path of the DeviceCapability; null: none was given.'),
              level: textOrNull('Conformance level; null: none was given.'),
              permitted: flag('Whether the outbound rules permit to connect to it.'),
            })
            .openapi('CsipFoundServer'),
        )
        .openapi({ description: 'At most 32; what they say of themselves is not checked.' }),
    })
    .openapi('CsipFoundServers'),
);

const maxPathLength = 500;
const maxPort = 65_535;

export const probeBodySchema = memo(() =>
  z
    .strictObject({
      path: z
        .string()
        .regex(/^\/[!-~]*$/, { error: 'must begin with / and have visible ASCII characters only' })
        .max(maxPathLength)
        .optional()
        .openapi({ description: `Path and query, at most ${maxPathLength} characters; default the DeviceCapability.` }),
      http_port: z
        .int()
        .min(1)
        .max(maxPort)
        .optional()
        .openapi({ description: `TCP port, 1 to ${maxPort}; default 80.` }),
    })
    .openapi('CsipProbeRequest'),
);

export const probeSchema = memo(() =>
  z
    .strictObject({
      url: text('What was asked.'),
      status: integer('HTTP status of the answer.'),
      location: textOrNull('Header `Location`; null: none.'),
    })
    .openapi('CsipProbe'),
);

export const documentSchema = memo(() =>
  json('Members of the document with the names of the standard.').openapi('CsipDocument'),
);
