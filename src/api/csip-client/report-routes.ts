/** Reports, subscriptions and messages of the client of IEEE 2030.5. */
import type { CsipClient } from '../../contract/csip-client.ts';
import { camelCased } from '../common/members.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { clientQuery } from './members.ts';
import {
  defaultMessages,
  defaultNotifications,
  der,
  derBodySchema,
  logEvents,
  logEventsBodySchema,
  messages,
  messagesQuery,
  notifications,
  notificationsQuery,
  readings,
  recorder,
  recorderBodySchema,
  subscribeBodySchema,
  subscriptions,
} from './report-members.ts';

export const tag = 'CSIP Client';

/** The client, for an operation. @throws HttpProblem `disabled` */
export function enabledClient({ csipClient }: { readonly csipClient: CsipClient }): CsipClient {
  if (!csipClient.enabled)
    throw new HttpProblem(
      'disabled',
      'The client of IEEE 2030.5 is switched off: start with --csip_client_enable yes.',
    );
  return csipClient;
}

/** Problems of an operation that needs the server. */
const ofServer = ['disabled', 'not-connected', 'upstream-error', 'upstream-timeout', 'conflict'] as const;

const getDer = route({
  method: 'get',
  path: '/csip/der',
  tag,
  operationId: 'get_csip_der',
  summary: 'DERCapability, DERSettings, DERStatus and DERAvailability as last sent',
  query: clientQuery,
  reply: der.schema,
  handle: ({ csipClient }, { query: { device = null } }) => der.reply(csipClient.der(device)),
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
  reply: der.schema,
  problems: ofServer,
  async handle(ctx, { query: { device = null }, body }) {
    const client = enabledClient(ctx);
    await client.postDer([...new Set(body.post)], device);
    return der.reply(client.der(device));
  },
});

const getReadings = route({
  method: 'get',
  path: '/csip/readings',
  tag,
  operationId: 'get_csip_readings',
  summary: 'Readings of the metering mirror as last sent',
  query: clientQuery,
  reply: readings.schema,
  handle: ({ csipClient }, { query: { device = null } }) => readings.reply(csipClient.readings(device)),
});

const postReadings = route({
  method: 'post',
  path: '/csip/readings',
  tag,
  operationId: 'post_csip_readings',
  summary: 'Sends readings up to now',
  query: clientQuery,
  reply: readings.schema,
  problems: ofServer,
  async handle(ctx, { query: { device = null } }) {
    const client = enabledClient(ctx);
    await client.postReadings(device);
    return readings.reply(client.readings(device));
  },
});

const getLogEvents = route({
  method: 'get',
  path: '/csip/log-events',
  tag,
  operationId: 'get_csip_log_events',
  summary: 'LogEvents of alarms',
  query: clientQuery,
  reply: logEvents.schema,
  handle: ({ csipClient }, { query: { device = null } }) => logEvents.reply(csipClient.logEvents(device)),
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
  reply: logEvents.schema,
  problems: ofServer,
  async handle(ctx, { query: { device = null }, body: { enabled, code, ...more } }) {
    const client = enabledClient(ctx);
    if (enabled === undefined && code === undefined) throw invalid('body', '', 'needs enabled or code');
    // the fallible part comes first: a request is carried out whole or not at all
    if (code !== undefined) await client.sendLogEvent({ code, ...camelCased(more) }, device);
    if (enabled !== undefined) client.enableLogEvents(enabled);
    return logEvents.reply(client.logEvents(device));
  },
});

const listSubscriptions = route({
  method: 'get',
  path: '/csip/subscriptions',
  tag,
  operationId: 'list_csip_subscriptions',
  summary: 'Subscriptions at the server',
  query: clientQuery,
  reply: subscriptions.schema,
  handle: ({ csipClient }, { query: { device = null } }) => subscriptions.reply(csipClient.subscriptions(device)),
});

const subscribe = route({
  method: 'post',
  path: '/csip/subscriptions',
  tag,
  operationId: 'set_csip_subscription',
  summary: 'Subscribes to a resource, or ends that',
  query: clientQuery,
  body: subscribeBodySchema,
  reply: subscriptions.schema,
  problems: [...ofServer, 'unknown-resource'],
  handle: async (ctx, { query: { device = null }, body: { resource, enabled } }) =>
    subscriptions.reply(await enabledClient(ctx).subscribe(resource, enabled, device)),
});

const listNotifications = route({
  method: 'get',
  path: '/csip/notifications',
  tag,
  operationId: 'list_csip_notifications',
  summary: 'Notifications of the server',
  query: notificationsQuery,
  reply: notifications.schema,
  handle: ({ csipClient }, { query: { device = null, limit = defaultNotifications } }) =>
    notifications.reply(csipClient.notifications(device, limit)),
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
  reply: messages.schema,
  handle({ csipClient, plant }, { query: { device, ...query } }) {
    if (device !== undefined) plant.device(device);
    const matches = csipClient.messages.list({
      limit: defaultMessages,
      ...camelCased(query),
      ...(device !== undefined && { deviceIndex: device }),
    });
    return replyInPieces(messages.reply(csipClient.messages, { plant, found: matches }));
  },
});

const setMessages = route({
  method: 'post',
  path: '/csip/messages',
  tag,
  operationId: 'set_csip_messages',
  summary: 'Switches the recording of messages on or off',
  body: recorderBodySchema,
  reply: recorder.schema,
  problems: ['disabled'],
  handle(ctx, { body: { enabled, clear = false }, by }) {
    const channel = enabledClient(ctx).messages;
    if (clear) channel.clear();
    channel.record(enabled, by);
    return recorder.reply(channel, ctx);
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
