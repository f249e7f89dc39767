import { route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { messagesJson, recorderReply } from './message-replies.ts';
import {
  exampleMessages,
  exampleRecorder,
  messagesQuery,
  messagesSchema,
  recorderBodySchema,
  recorderSchema,
} from './message-schemas.ts';

const path = '/modbus/messages';
const tag = 'Core';

const getMessages = route({
  method: 'get',
  path,
  tag,
  operationId: 'get_modbus_messages',
  summary: 'Modbus: requests and answers as they went over the wire',
  description:
    'Kept only while it is switched on with POST. Faults of the transport are seen as they are: an answer that is dropped, changed, ' +
    'split or late appears like that. All filters must match. To follow, pass the id of the last message seen as `after_id`: ids ' +
    'rise by one, so a gap says that messages are missing. TLS is shown as clear text. The built-in SunSpec client takes part over ' +
    'TCP and TLS. Requests that are no valid frames are counted in `modbus` and not listed.',
  query: messagesQuery,
  reply: messagesSchema,
  examples: { reply: exampleMessages },
  handle(ctx, { query }) {
    if (query.device !== undefined) ctx.plant.device(query.device);
    return new StreamedReply('application/json', messagesJson(ctx, query));
  },
});

const setMessages = route({
  method: 'post',
  path,
  tag,
  operationId: 'set_modbus_messages',
  summary: 'Modbus: switches the recording of messages on or off',
  description:
    'Also while Modbus is switched off: the messages of the built-in SunSpec client are then recorded alone.',
  body: recorderBodySchema,
  reply: recorderSchema,
  examples: { body: { enabled: true }, reply: exampleRecorder },
  handle(ctx, { body: { enabled, entries, clear = false }, by }) {
    if (clear) ctx.modbusMessages.clear();
    ctx.modbusMessages.record(enabled, by, entries);
    return recorderReply(ctx);
  },
});

export const modbusMessageRoutes: readonly Route[] = [getMessages, setMessages];
