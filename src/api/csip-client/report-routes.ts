/** What the client of IEEE 2030.5 reports, what it is subscribed to, and its messages. */
import type { z } from '../description/zod.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { enabledClient, tag } from './enabled.ts';
import {
  exampleDer,
  exampleLogEvents,
  exampleMessages,
  exampleNotifications,
  exampleReadings,
  exampleRecorder,
  exampleSubscriptions,
} from './examples.ts';
import {
  derReply,
  logEventsReply,
  messageReply,
  notificationReply,
  readingsReply,
  recorderReply,
  subscriptionsReply,
} from './report-replies.ts';
import {
  defaultMessages,
  defaultNotifications,
  derBodySchema,
  derSchema,
  logEventsBodySchema,
  logEventsSchema,
  messagesQuery,
  messagesSchema,
  notificationsQuery,
  notificationsSchema,
  readingsSchema,
  recorderBodySchema,
  recorderSchema,
  subscribeBodySchema,
  subscriptionsSchema,
} from './report-schemas.ts';
import { clientQuery } from './schemas.ts';
import { invalid } from '../http/errors.ts';

/** Problems of an operation that needs the server. */
const ofServer = ['disabled', 'not-connected', 'upstream-error', 'upstream-timeout', 'conflict'] as const;

const getDer = route({
  method: 'get',
  path: '/csip/der',
  tag,
  operationId: 'get_csip_der',
  summary: 'DERCapability, DERSettings, DERStatus and DERAvailability as last sent',
  query: clientQuery,
  reply: derSchema,
  examples: { reply: exampleDer },
  handle: ({ csipClient }, { query: { device = null } }) => derReply(csipClient.der(device)),
});

const postDer = route({
  method: 'post',
  path: '/csip/der',
  tag,
  operationId: 'post_csip_der',
  summary: 'Sends documents of the DER now',
  query: clientQuery,
  body: derBodySchema,
  status: 202,
  reply: derSchema,
  problems: ofServer,
  examples: { body: { post: ['capability'] }, reply: exampleDer },
  async handle(ctx, { query: { device = null }, body }) {
    const client = enabledClient(ctx);
    await client.postDer([...new Set(body.post)], device);
    return derReply(client.der(device));
  },
});

const getReadings = route({
  method: 'get',
  path: '/csip/readings',
  tag,
  operationId: 'get_csip_readings',
  summary: 'Readings of the metering mirror as last sent',
  query: clientQuery,
  reply: readingsSchema,
  examples: { reply: exampleReadings },
  handle: ({ csipClient }, { query: { device = null } }) => readingsReply(csipClient.readings(device)),
});

const postReadings = route({
  method: 'post',
  path: '/csip/readings',
  tag,
  operationId: 'post_csip_readings',
  summary: 'Sends readings up to now',
  query: clientQuery,
  reply: readingsSchema,
  problems: ofServer,
  examples: { reply: exampleReadings },
  async handle(ctx, { query: { device = null } }) {
    const client = enabledClient(ctx);
    await client.postReadings(device);
    return readingsReply(client.readings(device));
  },
});

const getLogEvents = route({
  method: 'get',
  path: '/csip/log-events',
  tag,
  operationId: 'get_csip_log_events',
  summary: 'LogEvents of alarms',
  query: clientQuery,
  reply: logEventsSchema,
  examples: { reply: exampleLogEvents },
  handle: ({ csipClient }, { query: { device = null } }) => logEventsReply(csipClient.logEvents(device)),
});

const setLogEvents = route({
  method: 'post',
  path: '/csip/log-events',
  tag,
  operationId: 'set_csip_log_events',
  summary: 'Switches LogEvents on or off, or sends one',
  description: '`enabled` applies to all clients; a LogEvent is sent by that of `device`, also while they are off.',
  query: clientQuery,
  body: logEventsBodySchema,
  status: 202,
  reply: logEventsSchema,
  problems: ofServer,
  examples: { body: { enabled: true, code: 2, details: 'over voltage' }, reply: exampleLogEvents },
  async handle(ctx, { query: { device = null }, body: { enabled, code, function_set: functionSet, details } }) {
    const client = enabledClient(ctx);
    if (enabled === undefined && code === undefined) throw invalid('body', '', 'needs enabled or code');
    // the part that can fail first: a request is carried out whole or not at all
    if (code !== undefined)
      await client.sendLogEvent(
        { code, ...(functionSet !== undefined && { functionSet }), ...(details !== undefined && { details }) },
        device,
      );
    if (enabled !== undefined) client.enableLogEvents(enabled);
    return logEventsReply(client.logEvents(device));
  },
});

const listSubscriptions = route({
  method: 'get',
  path: '/csip/subscriptions',
  tag,
  operationId: 'list_csip_subscriptions',
  summary: 'Subscriptions at the server',
  query: clientQuery,
  reply: subscriptionsSchema,
  examples: { reply: exampleSubscriptions },
  handle: ({ csipClient }, { query: { device = null } }) => subscriptionsReply(csipClient.subscriptions(device)),
});

const subscribe = route({
  method: 'post',
  path: '/csip/subscriptions',
  tag,
  operationId: 'set_csip_subscription',
  summary: 'Subscribes to a resource, or ends that',
  query: clientQuery,
  body: subscribeBodySchema,
  reply: subscriptionsSchema,
  problems: [...ofServer, 'unknown-resource'],
  examples: { body: { resource: '/edev/0/fsa', enabled: true }, reply: exampleSubscriptions },
  handle: async (ctx, { query: { device = null }, body: { resource, enabled } }) =>
    subscriptionsReply(await enabledClient(ctx).subscribe(resource, enabled, device)),
});

const listNotifications = route({
  method: 'get',
  path: '/csip/notifications',
  tag,
  operationId: 'list_csip_notifications',
  summary: 'Notifications of the server',
  query: notificationsQuery,
  reply: notificationsSchema,
  examples: { reply: exampleNotifications },
  handle: ({ csipClient }, { query: { device = null, limit = defaultNotifications } }) => ({
    notifications: csipClient.notifications(device, limit).map(notificationReply),
  }),
});

const getMessages = route({
  method: 'get',
  path: '/csip/messages',
  tag,
  operationId: 'get_csip_messages',
  summary: 'Requests and answers as they went over the wire',
  description:
    'Kept only while it is switched on with POST; keys and PINs are taken out. All filters must match. To follow, pass the id of ' +
    'the last message seen as `after_id`: ids rise by one, so a gap says that messages are missing. TLS is shown as clear text.',
  query: messagesQuery,
  reply: messagesSchema,
  examples: { reply: exampleMessages },
  handle({ csipClient: { messages }, plant }, { query }) {
    const { limit = defaultMessages, after_id: afterId, method, path, device } = query;
    if (device !== undefined) plant.device(device);
    const found = messages.list({
      limit,
      ...(afterId !== undefined && { afterId }),
      ...(method !== undefined && { method }),
      ...(path !== undefined && { path }),
      ...(device !== undefined && { deviceIndex: device }),
    });
    return replyInPieces<z.output<ReturnType<typeof messagesSchema>>>({
      ...recorderReply(plant, messages),
      messages: eachLater(found, messageReply),
    });
  },
});

const setMessages = route({
  method: 'post',
  path: '/csip/messages',
  tag,
  operationId: 'set_csip_messages',
  summary: 'Switches the recording of messages on or off',
  body: recorderBodySchema,
  reply: recorderSchema,
  problems: ['disabled'],
  examples: { body: { enabled: true }, reply: exampleRecorder },
  handle(ctx, { body: { enabled, clear = false }, by }) {
    const { messages } = enabledClient(ctx);
    if (clear) messages.clear();
    messages.record(enabled, by);
    return recorderReply(ctx.plant, messages);
  },
});

export const csipReportRoutes: readonly Route[] = [
  getDer,
  postDer,
  getReadings,
  postReadings,
  getLogEvents,
  setLogEvents,
  listSubscriptions,
  subscribe,
  listNotifications,
  getMessages,
  setMessages,
];
