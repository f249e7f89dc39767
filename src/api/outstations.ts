/** Outstations of DNP3, their points and messages: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { dnp3Coverages, dnp3IinNames, dnp3PointTypes } from '../contract/dnp3.ts';
import type {
  Dnp3MasterStatus,
  Dnp3Message,
  Dnp3Outstations,
  Dnp3OutstationStatus,
  Dnp3PointView,
} from '../contract/dnp3.ts';
import { dnp3Profiles } from '../contract/dnp3-settings.ts';
import { wireDirections } from '../core/wire/wire-log.ts';
import {
  count,
  flag,
  integer,
  list,
  member,
  members,
  nested,
  number,
  text,
  time,
  word,
  camelCased,
} from './common/members.ts';
import {
  afterIdParam,
  deviceIndex,
  deviceParam,
  integerParam,
  newestParam,
  toIdParam,
  deviceQuery,
} from './common/schemas.ts';
import { z } from './description/zod.ts';
import { listInPieces, replyInPieces } from './http/streaming.ts';
import { HttpProblem } from './http/errors.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const maxAddress = 65_519;
const iin = word(dnp3IinNames)();

const events = members<Dnp3MasterStatus['events']>()('Dnp3Events', () => ({
  class_1: count('Waiting events of class 1.', ({ class1 }) => class1),
  class_2: count('Waiting events of class 2.', ({ class2 }) => class2),
  class_3: count('Waiting events of class 3.', ({ class3 }) => class3),
}));

const unsolicited = members<Dnp3MasterStatus['unsolicited']>()('Dnp3Unsolicited', () => ({
  configured: flag('True if `--dnp3_unsolicited` is yes.'),
  null_confirmed: flag('True if it has confirmed the response without objects after the restart.'),
  classes: list(member(() => z.union([z.literal(1), z.literal(2), z.literal(3)]))())('Classes that it has enabled.'),
}));

const master = members<Dnp3MasterStatus>()('Dnp3Master', () => ({
  address: member(() => z.int().min(0).max(maxAddress))('Link address.'),
  connected: flag('True if it has spoken on a connection that is open.'),
  peer: text.orNull('`address:port`; null: not connected.'),
  certificate: text.orNull('Subject of the certificate of the master; null: without TLS, or not connected.'),
  connected_since: time.orNull('Wall time; null: not connected.'),
  last_request_at: time.orNull('Wall time of the last request; null: none.', ({ lastRequestMs }) => lastRequestMs),
  iin: list(iin)('Internal indications of the next response to the master.'),
  events: nested(events)(),
  overflow: flag(
    'True if events were lost; false again once the master has confirmed this bit and every buffer has room.',
  ),
  unsolicited: nested(unsolicited)(),
  select_pending: flag('True if a SELECT waits for its OPERATE.'),
  clock_offset_s: number.orNull('Time that it has written minus that of this machine, s; null: none.'),
}));

/** `status` null: DNP3 is off, or the device has no outstation. */
interface Outstation {
  readonly enabled: boolean;
  readonly deviceIndex: number;
  readonly status: Dnp3OutstationStatus | null;
}

const link = members<Outstation>()('Dnp3Link', () => ({
  endpoint: text.orNull('`tcp://` or `tls://`, address and port; null: disabled.', ({ status }) => status?.endpoint),
  listening: flag('True if connections are accepted.', ({ status }) => status?.listening ?? false),
  outstation: integer.orNull('Link address of the outstation; null: disabled.', ({ status }) => status?.address),
  connections: count(
    'Connections, including those on which no master has sent.',
    ({ status }) => status?.connections ?? 0,
  ),
}));

const coverage = members<{ readonly served: number; readonly absent: number }>()(null, () => ({
  served: count('Points of the profile that the device has.'),
  absent: count('Points of the profile that the device lacks.'),
}));
const ofType = nested(coverage);
const points = members<Dnp3OutstationStatus['points']>()('Dnp3Coverage', () => ({
  BI: ofType('Points of this type.', ({ BI }) => BI),
  BO: ofType('Points of this type.', ({ BO }) => BO),
  AI: ofType('Points of this type.', ({ AI }) => AI),
  AO: ofType('Points of this type.', ({ AO }) => AO),
  CTR: ofType('Points of this type.', ({ CTR }) => CTR),
}));
const none = { served: 0, absent: 0 };
const noPoints = { BI: none, BO: none, AI: none, AO: none, CTR: none };

const isEnabled = flag('True if DNP3 was switched on with `--dnp3_enable`.');
const index = member(() => deviceIndex)();

const outstation = members<Outstation>()('Dnp3Outstation', () => ({
  enabled: isEnabled,
  device_index: index,
  link: nested(link)((of) => of),
  profile: word(dnp3Profiles).orNull('Point map; null: disabled.', ({ status }) => status?.profile),
  masters: list(master)('Masters that are served, connected or not.', ({ status }) => status?.masters ?? []),
  points: nested(points)(({ status }) => status?.points ?? noPoints),
  event_capacity: count(
    'Events kept for each master, kind of point and class; 0: disabled.',
    ({ status }) => status?.eventCapacity ?? 0,
  ),
}));

const point = members<Dnp3PointView>()('Dnp3Point', () => ({
  type: word(dnp3PointTypes)('Binary input and output, analog input and output, counter.'),
  index: count('Index within its type.'),
  name: text('Name in the profile.'),
  coverage: word(dnp3Coverages)('`absent`: the profile has the point, this device does not.'),
  bound_to: text.orNull('Source of the value, `701.W`; null: absent.'),
  value: number.orNull('Value on the wire; null: absent.'),
  flags: integer.orNull('Octet of flags, with the state of binaries; null: absent.'),
  online: flag('Bit 0 of the flags.'),
  engineering_value: number.orNull('`value` x `multiplier`; null: absent, or not online.'),
  unit: text.orNull('Unit of the engineering value; null: none.'),
  multiplier: number('Engineering value per wire value.'),
  class: member(() => z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]))(
    'Class of the events of the point, as masters have assigned; 0: none.',
  ),
  deadband: number.orNull('Deadband in wire units: a larger change makes an event; null: binaries and absent points.'),
  min: integer.orNull('Minimum wire value; null: no limit.'),
  max: integer.orNull('Maximum wire value; null: no limit.'),
  read_back: text.orNull('Input that mirrors an output; null: none.'),
  iec61850: text.orNull('Name in IEC 61850-7-420; null: none.'),
}));

interface Points {
  readonly enabled: boolean;
  readonly deviceIndex: number;
  readonly points: readonly Dnp3PointView[];
}

const pointList = members<Points>()('Dnp3Points', () => ({
  enabled: isEnabled,
  device_index: index,
  points: listInPieces(point)('By type and index; empty if DNP3 is disabled.', (of) => of.points),
}));

const message = members<Dnp3Message>()('Dnp3Message', () => ({
  id: member(() => z.int().min(1))('Rises by one with each message since the start, kept or not.'),
  timestamp: time('Wall time.', ({ atMs }) => atMs),
  direction: word(wireDirections)('`in`: from a master; `out`: from the outstation.'),
  device_index: count.orNull('Device of the outstation.'),
  peer: text('`<master address>@<address:port>`.'),
  function: text('`read`, `response`, `unsolicited_response`; `function_<code>` for a function without a name.'),
  sequence: integer.orNull('Sequence number of the application layer.'),
  iin: list(iin).orNull('Internal indications; null: a request.'),
  objects: list(text())('Object headers: `g30v1 533..556`.'),
  hex: text('Octets of the application layer.'),
  truncated: flag('True if octets were cut off.'),
}));

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(message.members());

const isRecording = flag('True if messages are recorded.', ({ recording }: Dnp3Outstations) => recording);

const messages = members<Dnp3Outstations, { readonly messages: readonly Dnp3Message[] }>()('Dnp3Messages', () => ({
  enabled: isRecording,
  messages: listInPieces(message)('Oldest first.', (_of, context) => context.messages),
}));

const recorder = members<Dnp3Outstations>()('Dnp3Recorder', () => ({ enabled: isRecording }));

interface Document {
  readonly enabled: boolean;
  readonly deviceIndex: number;
  readonly document: string | null;
}

const deviceProfile = members<Document>()('Dnp3DeviceProfile', () => ({
  enabled: isEnabled,
  device_index: index,
  document: text.orNull('DNP3 XML device profile, version 2.12; null: disabled.'),
}));

const pointsQuery = z.strictObject({
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

const maxMessages = 1000;
const defaultMessages = 100;

const messagesQuery = z.strictObject({
  limit: newestParam(maxMessages, defaultMessages).optional(),
  after_id: afterIdParam.optional(),
  to_id: toIdParam.optional(),
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

const recorderBodySchema = memo(() =>
  z
    .strictObject({ enabled: z.boolean().openapi({ description: 'True: messages are recorded from now on.' }) })
    .openapi('Dnp3RecorderRequest'),
);

const tag = 'DNP3';

/** The outstations, for an operation. @throws HttpProblem `disabled` */
function enabledOutstations({ dnp3 }: { readonly dnp3: Dnp3Outstations }): Dnp3Outstations {
  if (dnp3.enabled) return dnp3;
  throw new HttpProblem('disabled', 'DNP3 is switched off: POST dnp3/enable switches it on.');
}

export const dnp3Routes: readonly Route[] = [
  route({
    method: 'get',
    path: '/dnp3',
    tag,
    operationId: 'get_dnp3',
    summary: 'The outstation of a device: link, masters, indications, events, coverage',
    query: deviceQuery,
    reply: outstation.schema,
    handle({ dnp3, plant }, { query: { device = plant.firstIndex } }) {
      plant.device(device);
      return outstation.reply({ enabled: dnp3.enabled, deviceIndex: device, status: dnp3.outstation(device) });
    },
  }),
  route({
    method: 'get',
    path: '/dnp3/points',
    tag,
    operationId: 'get_dnp3_points',
    summary: 'The points of the profile: what the device serves, from where, and what it does not have',
    query: pointsQuery,
    reply: pointList.schema,
    handle({ dnp3, plant }, { query: { device = plant.firstIndex, ...filter } }) {
      plant.device(device);
      const points = dnp3.points(device, camelCased(filter));
      return replyInPieces(pointList.reply({ enabled: dnp3.enabled, deviceIndex: device, points }));
    },
  }),
  route({
    method: 'get',
    path: '/dnp3/messages',
    tag,
    operationId: 'get_dnp3_messages',
    summary: 'Fragments as they went over the wire',
    description:
      'Recorded only while switched on with POST. All filters must match. To follow, pass the id of the last message seen as ' +
      '`after_id`: ids rise by one, so a gap shows that messages are missing. TLS is shown decrypted.',
    query: messagesQuery,
    reply: messages.schema,
    handle({ dnp3, plant }, { query: { limit = defaultMessages, device: deviceIndex, ...filter } }) {
      if (deviceIndex !== undefined) plant.device(deviceIndex);
      const entries = dnp3.messages({
        limit,
        ...(deviceIndex !== undefined && { deviceIndex }),
        ...camelCased(filter),
      });
      return replyInPieces(messages.reply(dnp3, { messages: entries }));
    },
  }),
  route({
    method: 'post',
    path: '/dnp3/messages',
    tag,
    operationId: 'set_dnp3_messages',
    summary: 'Switches the recording of messages on or off',
    body: recorderBodySchema,
    reply: recorder.schema,
    problems: ['disabled'],
    handle(ctx, { body: { enabled }, by }) {
      const dnp3 = enabledOutstations(ctx);
      dnp3.record(enabled, by);
      return recorder.reply(dnp3);
    },
  }),
  route({
    method: 'get',
    path: '/dnp3/device-profile',
    tag,
    operationId: 'get_dnp3_device_profile',
    summary: 'DNP3 XML device profile of the outstation of a device',
    query: deviceQuery,
    reply: deviceProfile.schema,
    handle({ dnp3, plant }, { query: { device = plant.firstIndex } }) {
      plant.device(device);
      const document = dnp3.deviceProfile(device);
      return deviceProfile.reply({ enabled: dnp3.enabled, deviceIndex: device, document });
    },
  }),
];
