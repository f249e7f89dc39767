import { camelCased } from '../common/members.ts';
import { anyDeviceQuery } from '../faults/members.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { defaultMessageLimit, messages, messagesQuery, modbus, recorder, recorderBodySchema } from './members.ts';
import type { MessagesQuery, ModbusEntry } from './members.ts';

const getModbus = route({
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
});

/** True if a message passes the filters. */
function passes(
  { direction, peer, deviceIndex, facts: { exchange } }: ModbusEntry,
  filter: Omit<MessagesQuery, 'limit' | 'after_id'>,
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

const getMessages = route({
  method: 'get',
  path,
  tag: 'Core',
  operationId: 'get_modbus_messages',
  summary: 'Modbus: requests and answers as they went over the wire',
  description:
    'Kept only while it is switched on with POST. Faults of the transport are seen as they are: an answer that is dropped, changed, ' +
    'split or late appears like that. All filters must match. To follow, pass the id of the last message seen as `after_id`: ids ' +
    'rise by one, so a gap says that messages are missing. TLS is shown as clear text. The built-in SunSpec client takes part over ' +
    'TCP and TLS. Requests that are no valid frames are counted in `modbus` and not listed.',
  query: messagesQuery,
  reply: messages.schema,
  handle({ plant, modbusMessages }, { query: { limit = defaultMessageLimit, after_id, ...filter } }) {
    if (filter.device !== undefined) plant.device(filter.device);
    const where = (entry: ModbusEntry) => passes(entry, filter);
    const chosen = modbusMessages.list({ limit, where, ...camelCased({ after_id }) });
    return replyInPieces(messages.reply(modbusMessages, { plant, modbusMessages, chosen }));
  },
});

const setMessages = route({
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
});

export const modbusRoutes: readonly Route[] = [getModbus, getMessages, setMessages];
