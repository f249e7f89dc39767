/** The interfaces for Modbus masters, and messages as they went over the wire. */
import { memo } from '../core/lazy.ts';
import {
  modbusMessageKinds,
  noAnswerReasons,
  exceptionNames,
  functionNames,
  defaultModbusEntries,
} from '../core/wire/modbus.ts';
import type { ModbusContent, ModbusFacts, ModbusMessageKind, ModbusMessages } from '../core/wire/modbus.ts';
import { modbusTransports } from '../contract/modbus-report.ts';
import type {
  ModbusClient,
  ModbusCounts,
  ModbusListener,
  ModbusReport,
  ModbusReporter,
} from '../contract/modbus-report.ts';
import { commNames, commStates } from '../core/adapter.ts';
import type { Adapter, AdapterStatus } from '../core/adapter.ts';
import { wireDirections } from '../core/wire/wire-log.ts';
import type { WireEntry } from '../core/wire/wire-log.ts';
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
import { afterIdParam, deviceParam, integerParam, newestParam, toIdParam } from './common/schemas.ts';
import { writer, asSetNow } from './common/writers.ts';
import { z } from './description/zod.ts';
import { activeFaults, faultSchemas, anyDeviceQuery } from './faults/members.ts';
import type { RouteContext } from './http/context.ts';
import { listInPieces, replyInPieces } from './http/streaming.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const client = members<ModbusClient>()('ModbusClient', () => ({
  peer: text('`address:port`.'),
  role: text.orNull('Role that the certificate of a TLS session gives; null: no valid role, or no TLS.'),
  connected_at: time('Wall time at which it connected.'),
  idle_s: number('Wall seconds since something came from it.', ({ idleMs }) => Math.round(idleMs) / 1000),
  requests: integer('Requests that came from it.'),
  unsent_bytes: integer('Octets of answers that it has not taken.'),
  held_bytes: integer('Octets held for it, both ways.'),
  paused: flag('Its requests are not read, because it does not take the answers.'),
}));

const listener = members<ModbusListener>()('ModbusListener', () => ({
  transport: word(modbusTransports)('Framing, and whether it is encrypted.'),
  endpoint: text.orNull('Address or serial port; null: it does not listen now.'),
  device_index: count.orNull('Index of the device with a separate port; null: a shared port, a line, or the meter.'),
  meter: flag.optional('True where it serves the meter of the connection point alone.', ({ isMeter }) => isMeter),
  accepting: flag.optional(
    'False before the port is bound, and while a fault or a device that is off keeps it closed; absent on a serial line.',
    ({ accepting }) => accepting,
  ),
  clients: listInPieces(client)('Connected masters; a serial line has none.'),
}));

const limits = members<ModbusReport['limits']>()('ModbusLimits', () => ({
  max_connections: integer('Connections of one listener.'),
  idle_timeout_s: number(
    'Wall seconds without traffic after which a connection is closed; 0: never.',
    ({ idleTimeoutMs }) => idleTimeoutMs / 1000,
  ),
  frame_timeout_s: number(
    'Wall seconds within which a request must be complete once begun.',
    ({ frameTimeoutMs }) => frameTimeoutMs / 1000,
  ),
}));

const counters = members<ModbusCounts>()('ModbusCounters', () => ({
  requests: count('Complete requests.'),
  answers: count('Answers, including exceptions.'),
  exceptions: count('Answers that were exceptions.'),
  foreign: count('Requests for a unit id that is not served; on a line also answers of other devices.'),
  unreadable: count('Pieces on a line that made no frame: noise, a wrong checksum, a frame cut short.'),
  writes: count('Write requests that were answered without an exception.'),
  refused_writes: count('Write requests that were answered with an exception.'),
  accepted_connections: count('Connections that were served.'),
  refused_connections: count('Connections refused, or closed for newer ones, at the limit.'),
  violations: count('Connections closed for an illegal header.'),
  timeouts: count('Connections closed by a time limit.'),
  handshake_failures: count('Connections that did not become a TLS session.'),
  internal_errors: count('Failures of the simulator, answered with exception 4.'),
}));

/** The device that a request is about; undefined: all. */
interface DeviceChoice {
  readonly device: number | undefined;
}

type Reporter = Adapter & ModbusReporter;

const modbusInterface = members<ModbusReport & Pick<Reporter, 'comm'> & Pick<AdapterStatus, 'state'>, DeviceChoice>()(
  'ModbusInterface',
  () => ({
    comm: word(commNames)('As in `comm_status`.'),
    state: word(commStates)(),
    foreign_unit: word(['silent', 'gateway'])('Answer to a unit id that is not served: none, or exception 11.'),
    limits: nested(limits)('Limits in force.'),
    counters: nested(counters)('Counts since the start.'),
    listeners: listInPieces(listener)('Addresses and lines.', ({ listeners }, { device }) =>
      listeners.filter(({ deviceIndex }) => device === undefined || deviceIndex === null || deviceIndex === device),
    ),
  }),
);

/** The adapters that listen for Modbus masters. */
export function modbusReporters({ adapters }: Pick<RouteContext, 'adapters'>): readonly Reporter[] {
  return adapters.filter((adapter): adapter is Reporter => 'report' in adapter);
}

const interfaceTable = {
  schema: modbusInterface.schema,
  reply: (adapter: Reporter, choice: DeviceChoice) =>
    modbusInterface.reply({ ...adapter.report(), comm: adapter.comm, state: adapter.status().state }, choice),
};

type Registries = Pick<RouteContext, 'adapters' | 'faults'>;

const modbus = members<Registries, DeviceChoice & Pick<Registries, 'faults'>>()('Modbus', () => ({
  enabled: flag('True if any interface for Modbus masters is switched on.', (ctx) => modbusReporters(ctx).length > 0),
  interfaces: listInPieces(interfaceTable)('Enabled interfaces.', modbusReporters),
  faults: listInPieces(faultSchemas.fault)('Faults of Modbus in force.', (ctx, { device }) =>
    activeFaults(ctx, (fault) => fault.protocol === 'modbus' && (device === undefined || fault.concerns(device))),
  ),
}));

const defaultMessageLimit = 100;
const maxMessageLimit = 1000;
const maxKept = 10_000;
const maxRegister = 65_535;
const maxPeer = 200;

const messagesQuery = z.strictObject({
  limit: newestParam(maxMessageLimit, defaultMessageLimit).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only messages with a higher id.' }),
  to_id: toIdParam.optional(),
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
type MessagesQuery = z.output<typeof messagesQuery>;

/** Values by the name of their point. */
const valuesSchema = memo(() =>
  z
    .record(z.string(), z.union([z.number(), z.string(), z.null()]))
    .openapi({ description: 'Number in the unit of the point, symbol or text; null: not implemented.' }),
);

const octet = member(() => z.int().min(0).max(255));
const register = member(() => z.int().min(0).max(maxRegister));

type ModbusEntry = WireEntry<ModbusFacts>;

/** A message with its decoded content; null: the octets were cut off. */
interface Message {
  readonly entry: ModbusEntry;
  readonly content: ModbusContent | null;
}

const isSilence = ({ entry }: Message) => entry.facts.noAnswer !== null;

/** Function code of a message; without an answer that of the request. */
function functionOf(message: Message): number | undefined | null {
  return isSilence(message) ? message.entry.facts.exchange.functionCode : message.content?.functionCode;
}

/** The name of a code; null: no code, or no name. */
function nameOf(code: number | null | undefined, names: Readonly<Record<number, string>>): string | null {
  return code === null || code === undefined ? null : (names[code] ?? null);
}

const message = members<Message, Pick<RouteContext, 'plant'>>()('ModbusMessage', () => ({
  id: member(() => z.int().min(1))(
    'Rises by one with each message since the start, kept or not.',
    ({ entry }) => entry.id,
  ),
  exchange_id: member(() => z.int().min(1))(
    'Id of the request that the message is, or belongs to.',
    ({ entry }) => entry.facts.exchange.id,
  ),
  wall_time: time('Wall time at which the message was received or sent.', ({ entry }) => entry.wallMs),
  sim_time: time(`Simulated time of the message. ${asSetNow}`, ({ entry }, { plant }) => plant.dateMs(entry.sim)),
  interface: word(commNames)(
    'Interface of the message, as in `comm_status`.',
    ({ entry }) => entry.facts.exchange.comm,
  ),
  direction: word(wireDirections)(
    '`in`: received by the simulator; `out`: sent by it.',
    ({ entry }) => entry.direction,
  ),
  kind: word(modbusMessageKinds)(
    '`answer`: octets sent or received in answer to a request, also an exception; a fault may send several, or pieces. ' +
      '`no_answer`: no octets were sent, or received. `foreign`: a frame on a line that is for, or from, another device; or a ' +
      'frame to the built-in SunSpec client whose transaction id is that of none of its last 16 requests.',
    ({ entry }) => entry.kind as ModbusMessageKind,
  ),
  peer: text('`address:port` of the other end, or the path of the serial line.', ({ entry }) => entry.peer),
  device_index: count.orNull(
    'Index of the device that was asked; null: none, several, or a foreign device.',
    ({ entry }) => entry.deviceIndex,
  ),
  whole: flag.orNull('True if the octets are one frame with the right length and CRC; null: no octets.', (of) =>
    isSilence(of) ? null : (of.content?.whole ?? false),
  ),
  transaction_id: member(() => z.int().min(0).max(65_535)).orNull(
    'Transaction id of the header; null: an RTU frame, or not whole.',
    ({ content }) => content?.transactionId,
  ),
  unit_id: octet.orNull('Unit id, or address on a line; null: not whole.', (of) =>
    isSilence(of) ? of.entry.facts.exchange.unitId : of.content?.unitId,
  ),
  function: octet.orNull('Function code without the bit of exceptions; null: not whole.', functionOf),
  function_name: text.orNull('Name of the function; null: unknown.', (of) => nameOf(functionOf(of), functionNames)),
  address: register.orNull(
    'PDU address of the first register of the request; null: none.',
    ({ entry }) => entry.facts.exchange.address,
  ),
  count: member(() => z.int().min(0).max(65_535)).orNull(
    'Number of registers in the request; null: none.',
    ({ entry }) => entry.facts.exchange.count,
  ),
  points: list(text()).orNull(
    'Points that the registers of a request belong to, also in part: model and path, or names of the proxy map. ' +
      'Null in answers, and where registers have no names.',
    ({ content }) => content?.points,
  ),
  ignored: list(text()).orNull(
    'Points of an acknowledged write that it leaves unchanged: read-only and ' +
      'unimplemented points of the models 101 to 199, constants of the proxy map, and a point of which the fault ' +
      '`lenient_writes` has dropped a part. The first two also for a write that is refused for another reason. Null in ' +
      'other messages, and where registers have no names.',
    ({ content }) => content?.ignored,
  ),
  values: member(valuesSchema).orNull(
    'Values in a write request, or in the answer to a read, of the points that lie completely in the message. Null: none.',
    ({ content }) => content?.values,
  ),
  exception_code: octet.orNull('Code of the exception; null: none.', ({ content }) => content?.exceptionCode),
  exception_name: text.orNull('Name of the exception; null: none, or unknown.', ({ content }) =>
    nameOf(content?.exceptionCode, exceptionNames),
  ),
  no_answer: word(noAnswerReasons).orNull(
    'Why there was no answer. `broadcast`: no device answers; `suppressed`: a fault, or the device is off; ' +
      '`connection_ended`: before the answer was sent, or received; `no_answer_in_time`: the built-in SunSpec client received ' +
      'none within its time limit or before its next request (a late one follows as `answer`). Null for other kinds.',
    ({ entry }) => entry.facts.noAnswer,
  ),
  duration_ms: nested({ schema: () => z.number().min(0), reply: (ms: number) => Math.round(ms * 1000) / 1000 }).orNull(
    'Wall time from the request to this message, ms; null for requests.',
    ({ entry }) => entry.facts.durationMs,
  ),
  raw: text('The octets on the wire, header and checksum included, in hexadecimal digits.', ({ entry }) =>
    entry.raw.toString('hex'),
  ),
}));

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(message.members());

const recorder = members<ModbusMessages, Pick<RouteContext, 'plant'>>()('ModbusRecorder', () => ({
  enabled: flag('True if messages are kept now.', ({ recording }) => recording),
  entries: member(() => z.int().min(1).max(maxKept))(
    'Maximum number of messages kept; above it the oldest are dropped.',
    ({ capacity }) => capacity,
  ),
  kept: count('Messages kept now.', (channel) => channel.count),
  dropped: count('Messages dropped for newer ones since the start.'),
  last_id: count('Id of the last message, kept or not; 0: there was none.'),
  changed_by: writer.orNull('Last writer of these settings; null: as started.'),
}));

interface Chosen extends Pick<RouteContext, 'plant' | 'modbusMessages'> {
  readonly chosen: readonly ModbusEntry[];
}

const decodedMessage = {
  schema: message.schema,
  reply: (entry: ModbusEntry, { plant, modbusMessages }: Chosen) =>
    message.reply({ entry, content: modbusMessages.decode(entry) }, { plant }),
};

const messages = members<ModbusMessages, Chosen>()('ModbusMessages', () => ({
  ...recorder.members(),
  messages: listInPieces(decodedMessage)('Oldest first.', (_channel, { chosen }) => chosen),
}));

const recorderBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z
        .boolean()
        .openapi({ description: 'True: messages are kept from now on. False: those that are kept stay.' }),
      entries: z
        .int()
        .min(1)
        .max(maxKept)
        .optional()
        .openapi({
          description:
            `Maximum number of messages kept, 1 to ${maxKept}, of 4 MiB of octets in all; at the start ` +
            `${defaultModbusEntries}. Default unchanged.`,
        }),
      clear: z.boolean().optional().openapi({ description: 'True: removes the messages. Default false.' }),
    })
    .openapi('ModbusRecorderRequest'),
);

/** True if a message passes the filters. */
function passes(
  { direction, peer, deviceIndex, facts: { exchange } }: ModbusEntry,
  filter: Omit<MessagesQuery, 'limit' | 'after_id' | 'to_id'>,
): boolean {
  const { address, count, functionCode, broadcast } = exchange;
  return (
    (filter.direction === undefined || direction === filter.direction) &&
    (filter.device === undefined || deviceIndex === filter.device || broadcast) &&
    (filter.function === undefined || functionCode === filter.function) &&
    (filter.address === undefined ||
      (address !== null && filter.address >= address && filter.address < address + (count ?? 1))) &&
    (filter.peer === undefined || peer === filter.peer || peer.replace(/:\d+$/, '') === filter.peer)
  );
}

const path = '/modbus/messages';

export const modbusRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/modbus',
    tag: 'Core',
    operationId: 'get_modbus',
    summary: 'Modbus: listeners, connected masters, counters and faults',
    query: anyDeviceQuery,
    reply: modbus.schema,
    handle(ctx, { query: { device } }) {
      if (device !== undefined) ctx.plant.device(device);
      return replyInPieces(modbus.reply(ctx, { device, faults: ctx.faults }));
    },
  }),
  route({
    method: 'get',
    path,
    tag: 'Core',
    operationId: 'get_modbus_messages',
    summary: 'Modbus: requests and answers as they went over the wire',
    description:
      'Recorded only while switched on with POST. Faults of the transport are visible: an answer that is dropped, changed, ' +
      'split or late is listed so. All filters must match. To follow, pass the id of the last message seen as `after_id`: ids ' +
      'rise by one, so a gap shows that messages are missing. TLS is shown decrypted. The built-in SunSpec client takes part over ' +
      'TCP and TLS. Requests that are no valid frames are counted in `modbus` and not listed.',
    query: messagesQuery,
    reply: messages.schema,
    handle({ plant, modbusMessages }, { query: { limit = defaultMessageLimit, after_id, to_id, ...filter } }) {
      if (filter.device !== undefined) plant.device(filter.device);
      const where = (entry: ModbusEntry) => passes(entry, filter);
      const entries = modbusMessages.list({ limit, where, ...camelCased({ after_id, to_id }) });
      return replyInPieces(messages.reply(modbusMessages, { plant, modbusMessages, chosen: entries }));
    },
  }),
  route({
    method: 'post',
    path,
    tag: 'Core',
    operationId: 'set_modbus_messages',
    summary: 'Modbus: switches the recording of messages on or off',
    description:
      'Also while Modbus is switched off: the messages of the built-in SunSpec client are then recorded alone.',
    body: recorderBodySchema,
    reply: recorder.schema,
    handle(ctx, { body: { enabled, entries, clear = false }, by }) {
      if (clear) ctx.modbusMessages.clear();
      ctx.modbusMessages.record(enabled, by, entries);
      return recorder.reply(ctx.modbusMessages, ctx);
    },
  }),
];
