/** Schemas of `dnp3`: outstations, points and messages. */
import { dnp3Coverages, dnp3IinNames, dnp3PointTypes } from '../../contract/dnp3.ts';
import { dnp3Profiles } from '../../contract/dnp3-settings.ts';
import { wireDirections } from '../../core/wire/wire-log.ts';
import {
  afterIdParam,
  deviceIndex,
  deviceParam,
  exampleTime,
  integerParam,
  isoTime,
  newestParam,
} from '../common/schemas.ts';
import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';

const text = (description: string) => z.string().openapi({ description });
const textOrNull = (description: string) => z.string().nullable().openapi({ description });
const flag = (description: string) => z.boolean().openapi({ description });
const count = (description: string) => z.int().min(0).openapi({ description });
const numberOrNull = (description: string) => z.number().nullable().openapi({ description });
const integerOrNull = (description: string) => z.int().nullable().openapi({ description });
const timeOrNull = (description: string) => isoTime.nullable().openapi({ description, example: exampleTime });
const iin = z.array(z.enum(dnp3IinNames));

export const maxAddressText = 65_519;

const masterSchema = memo(() =>
  z
    .strictObject({
      address: z.int().min(0).max(maxAddressText).openapi({ description: 'Link address.' }),
      connected: flag('Whether it has spoken on a connection that is open.'),
      peer: textOrNull('`address:port`; null: not connected.'),
      certificate: textOrNull('Subject of its certificate; null: in clear, or not connected.'),
      connected_since: timeOrNull('Wall time; null: not connected.'),
      last_request_at: timeOrNull('Wall time of its last request; null: none.'),
      iin: iin.openapi({ description: 'Internal indications that its next response has.' }),
      events: z
        .strictObject({
          class_1: count('Waiting events of class 1.'),
          class_2: count('Waiting events of class 2.'),
          class_3: count('Waiting events of class 3.'),
        })
        .openapi('Dnp3Events'),
      overflow: flag('Whether events have been lost since the last poll that emptied the buffers.'),
      unsolicited: z
        .strictObject({
          configured: flag('Whether `--dnp3_unsolicited` is yes.'),
          null_confirmed: flag('Whether it has confirmed the response without objects after the restart.'),
          classes: z
            .array(z.union([z.literal(1), z.literal(2), z.literal(3)]))
            .openapi({ description: 'Classes that it has enabled.' }),
        })
        .openapi('Dnp3Unsolicited'),
      select_pending: flag('Whether a SELECT waits for its OPERATE.'),
      clock_offset_s: numberOrNull('Time that it has written less that of this machine, s; null: none.'),
    })
    .openapi('Dnp3Master'),
);

const coverage = memo(() =>
  z
    .strictObject({ served: count('Points that are there.'), absent: count('Points that are not.') })
    .openapi({ description: 'Points of this type.' }),
);

export const statusSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether DNP3 was switched on with `--dnp3_enable`.'),
      device_index: deviceIndex,
      link: z
        .strictObject({
          endpoint: textOrNull('`tcp://` or `tls://`, address and port; null: disabled.'),
          listening: flag('Whether connections are accepted.'),
          outstation: integerOrNull('Link address of the outstation; null: disabled.'),
          connections: count('Connections, also those on which no master has spoken.'),
        })
        .openapi('Dnp3Link'),
      profile: z.enum(dnp3Profiles).nullable().openapi({ description: 'Point map; null: disabled.' }),
      masters: z.array(masterSchema()).openapi({ description: 'Masters that are served, connected or not.' }),
      points: z
        .strictObject({ BI: coverage(), BO: coverage(), AI: coverage(), AO: coverage(), CTR: coverage() })
        .openapi('Dnp3Coverage'),
      event_capacity: count('Events kept for each master, kind of point and class; 0: disabled.'),
    })
    .openapi('Dnp3Outstation'),
);
export type StatusReply = z.output<ReturnType<typeof statusSchema>>;

export const pointSchema = memo(() =>
  z
    .strictObject({
      type: z
        .enum(dnp3PointTypes)
        .openapi({ description: 'Binary input and output, analog input and output, counter.' }),
      index: count('Index within its type.'),
      name: text('Name in the profile.'),
      coverage: z
        .enum(dnp3Coverages)
        .openapi({ description: '`absent`: the profile has the point, this device does not.' }),
      bound_to: textOrNull('Source of its value, `701.W`; null: absent.'),
      value: numberOrNull('As it is sent; null: absent.'),
      flags: integerOrNull('Octet of flags, with the state of binaries; null: absent.'),
      online: flag('Bit 0 of the flags.'),
      engineering_value: numberOrNull('`value` x `multiplier`; null: absent, or not online.'),
      unit: textOrNull('Unit of the engineering value; null: none.'),
      multiplier: z.number().openapi({ description: 'Engineering value per wire value.' }),
      class: z
        .union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)])
        .openapi({ description: 'Class of its events, as masters have assigned it; 0: none.' }),
      deadband: numberOrNull('Wire units: an event follows a change above it; null: binaries and absent points.'),
      min: integerOrNull('Least wire value; null: no limit.'),
      max: integerOrNull('Greatest wire value; null: no limit.'),
      read_back: textOrNull('Input that mirrors an output; null: none.'),
      iec61850: textOrNull('Name in IEC 61850-7-420; null: none.'),
    })
    .openapi('Dnp3Point'),
);

export const pointsQuery = z.strictObject({
  device: deviceParam.optional(),
  type: z
    .enum(dnp3PointTypes)
    .optional()
    .openapi({ param: { name: 'type' }, description: 'Only points of this type; default all.', example: 'AI' }),
  coverage: z
    .enum(dnp3Coverages)
    .optional()
    .openapi({
      param: { name: 'coverage' },
      description: 'Only points of this coverage; default all.',
      example: 'served',
    }),
  from: integerParam('from', 0, 65_535, 'Only indexes from this one on; default 0.').optional(),
  to: integerParam('to', 0, 65_535, 'Only indexes up to this one; default 65535.').optional(),
});

export const pointsSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether DNP3 was switched on with `--dnp3_enable`.'),
      device_index: deviceIndex,
      points: z.array(pointSchema()).openapi({ description: 'By type and index; disabled: none.' }),
    })
    .openapi('Dnp3Points'),
);

export const maxMessages = 1000;
export const defaultMessages = 100;

export const messagesQuery = z.strictObject({
  limit: newestParam(maxMessages, defaultMessages).optional(),
  after_id: afterIdParam.optional(),
  device: deviceParam
    .optional()
    .openapi({ description: 'Only messages of the outstation of this device; default all.' }),
  direction: z
    .enum(wireDirections)
    .optional()
    .openapi({
      param: { name: 'direction' },
      description: 'Only messages in this direction; default both.',
      example: 'in',
    }),
  function: z
    .string()
    .regex(/^[a-z0-9_]{1,40}$/, { error: 'must be 1 to 40 lower-case letters, digits and underscores' })
    .optional()
    .openapi({
      param: { name: 'function' },
      description: 'Only this function, at most 40 characters, for example `direct_operate`; default all.',
      example: 'read',
    }),
});

const messageSchema = memo(() =>
  z
    .strictObject({
      id: z.int().min(1).openapi({ description: 'Rises by one with each message since the start, kept or not.' }),
      timestamp: isoTime.openapi({ description: 'Wall time.', example: exampleTime }),
      direction: z.enum(wireDirections).openapi({ description: '`in`: of a master; `out`: of the outstation.' }),
      device_index: z.int().min(0).nullable().openapi({ description: 'Device of the outstation.' }),
      peer: text('`<master address>@<address:port>`.'),
      function: text('`read`, `response`, `unsolicited_response`; `function_<code>` for one without a name.'),
      sequence: integerOrNull('Of the application layer.'),
      iin: iin.nullable().openapi({ description: 'Internal indications; null: a request.' }),
      objects: z.array(z.string()).openapi({ description: 'Object headers: `g30v1 533..556`.' }),
      hex: text('Octets of the application layer.'),
      truncated: flag('Whether octets were cut off.'),
    })
    .openapi('Dnp3Message'),
);

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(messageSchema().shape);

export const messagesSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether messages are recorded.'),
      messages: z.array(messageSchema()).openapi({ description: 'Oldest first.' }),
    })
    .openapi('Dnp3Messages'),
);

export const recorderBodySchema = memo(() =>
  z
    .strictObject({ enabled: z.boolean().openapi({ description: 'Whether messages are recorded from now on.' }) })
    .openapi('Dnp3RecorderRequest'),
);

export const recorderSchema = memo(() =>
  z.strictObject({ enabled: flag('Whether messages are recorded.') }).openapi('Dnp3Recorder'),
);

export const profileSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether DNP3 was switched on with `--dnp3_enable`.'),
      device_index: deviceIndex,
      document: textOrNull('DNP3 XML device profile, version 2.12; null: disabled.'),
    })
    .openapi('Dnp3DeviceProfile'),
);
