/**
 * Reports, subscriptions and messages of the client of IEEE 2030.5: operations, and members of replies and requests.
 */
import { memo } from '../../core/lazy.ts';
import type { CsipClient } from '../../contract/csip-client.ts';
import { csipDerDocuments, csipResponseResults } from '../../contract/csip-reports.ts';
import type {
  CsipLogEvent,
  CsipMessage,
  CsipMessages,
  CsipNotification,
  CsipReadings,
  CsipReadingSet,
  CsipSentDocument,
  CsipSubscription,
  CsipSubscriptions,
} from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
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
} from '../common/members.ts';
import { afterIdParam, deviceIndex, deviceParam, newestParam, toIdParam } from '../common/schemas.ts';
import { writer } from '../common/writers.ts';
import { z } from '../description/zod.ts';
import { listInPieces, replyInPieces } from '../http/streaming.ts';
import { documentSchema } from './documents.ts';
import { byServer, clientParam, clientQuery } from './members.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

const sentDocument = (name: string) =>
  members<CsipSentDocument>()(`CsipSent${name}`, () => ({
    sent_at: time('Wall time of the PUT.'),
    result: word(['accepted', 'refused', 'failed', 'dropped'])(
      '`refused`: by the server; `failed`: no answer; `dropped`: by a fault.',
    ),
    http_status: integer.orNull('Status of the answer; null: none came.'),
    href: text('Where it went.'),
    body: member(documentSchema(name))('The document with the names of the standard; HexBinary is text.'),
  }));

const sent = (name: string) => nested(sentDocument(name)).orNull(`${name} as last sent; null: never.`);
const der = members<ReturnType<CsipClient['der']>>()('CsipDer', () => ({
  capability: sent('DERCapability'),
  settings: sent('DERSettings'),
  status: sent('DERStatus'),
  availability: sent('DERAvailability'),
}));

const reading = members<CsipReadingSet['values'][number]>()('CsipReading', () => ({
  start: time(`Begin of its interval, ${byServer}.`, ({ startServerMs }) => startServerMs),
  duration_s: number('Length of its interval, s.'),
  value: number('Scaled by the multiplier.'),
}));

const readingSet = members<CsipReadingSet>()('CsipReadingSet', () => ({
  mrid: text('mRID of the MirrorMeterReading.'),
  description: text.orNull('In words; null: none.'),
  device_index: member(() => deviceIndex)('Index of the device, or of the first of several, 0-based.'),
  uom: integer('UomType: 38 W, 63 var, 29 V, 33 Hz, 72 Wh.'),
  flow_direction: integer.orNull('1: forward, to the customer; 19: reverse; null: none.'),
  phase: integer.orNull('PhaseCode; null: none.'),
  multiplier: integer('Power of ten of the values on the wire.'),
  last_post: time.orNull('Wall time of the last post; null: none.'),
  values: list(reading)('Of the last post, oldest first.'),
}));

const readings = members<CsipReadings>()('CsipReadings', () => ({
  mup_href: text.orNull('The MirrorUsagePoint; null: not created.'),
  post_rate_s: number.orNull('Time between posts in force, s; null: the server has no MirrorUsagePointList.'),
  sets: list(readingSet)('One for each quantity.'),
}));

const logEvent = members<CsipLogEvent>()('CsipLogEvent', () => ({
  created_at: time(`createdDateTime, ${byServer}.`, ({ createdServerMs }) => createdServerMs),
  function_set: integer('11: DER.'),
  code: integer('logEventCode: twice the bit of the alarm, plus one at its end.'),
  event_id: integer('logEventID.'),
  pen: integer('logEventPEN.'),
  profile_id: integer('profileID.'),
  details: text.orNull('In words; null: none.'),
  device_index: member(() => deviceIndex)(),
  result: word(csipResponseResults)('`queued`: to be sent, or sent again.'),
}));

const logEvents = members<ReturnType<CsipClient['logEvents']>>()('CsipLogEvents', () => ({
  enabled: flag('True if alarms are sent as LogEvents.'),
  events: list(logEvent)('Newest first.'),
}));

const subscription = members<CsipSubscription>()('CsipSubscription', () => ({
  resource: text('subscribedResource.'),
  href: text.orNull('The Subscription on the server; null: not accepted.'),
  state: word(['pending', 'active', 'refused', 'cancelled'])('`cancelled`: by the server.'),
  renewed_at: time.orNull('Wall time of the last acceptance; null: none.'),
  notifications: count('Notifications received.'),
  last_error: text.orNull('In words; null: none.'),
}));

const subscriptions = members<CsipSubscriptions>()('CsipSubscriptions', () => ({
  notification_uri: text.orNull('Where notifications are received; null: nothing listens.'),
  subscriptions: list(subscription)('By resource.', ({ items }) => items),
}));

const notification = members<CsipNotification>()('CsipNotification', () => ({
  received_at: time('Wall time.'),
  resource: text.orNull('subscribedResource; null: none was given.'),
  status: integer.orNull('0: change, 1: cancelled, 2: moved, 3: changed definition, 4: deleted; null: none.'),
  content: text.orNull('Name of the document inside; null: none.'),
  http_status: integer('HTTP status of the answer.'),
  peer: text('`address:port` of the sender.'),
}));
const notifications = members<readonly CsipNotification[]>()('CsipNotifications', () => ({
  notifications: list(notification)('Newest first.', (all) => all),
}));

const headers = (of: string) =>
  member(() => z.record(z.string(), z.string()))(`Headers of the ${of} by their names in lower case.`);

const message = members<CsipMessage>()('CsipMessage', () => ({
  id: member(() => z.int().min(1))('Rises by one with each message since the start, kept or not.'),
  timestamp: time('Wall time of the request.', ({ atMs }) => atMs),
  direction: word(['out', 'in'])('`out`: a request of the client; `in`: a notification of the server.'),
  peer: text('`address:port` of the server.'),
  device_index: count.orNull('The device that it is about; null: none, or several.'),
  method: text('Method of the request.'),
  url: text('Address of the request.'),
  status: integer.orNull('Status of the answer; null: none came.'),
  duration_ms: number.orNull('Until the end of the answer, ms; null: none came.'),
  request_headers: headers('request'),
  request_body: text.orNull('Null: none.'),
  response_headers: headers('answer'),
  response_body: text.orNull('Null: none.'),
  truncated: flag('True if a body was cut off at 256 KiB.'),
  error: text.orNull('Why no answer came; null: one did.'),
}));

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(message.members());

interface OfMessages {
  readonly plant: Pick<Plant, 'dateMs'>;
}

const recorder = members<CsipMessages, OfMessages>()('CsipRecorder', () => ({
  enabled: flag('True if messages are recorded.', ({ recording }) => recording),
  capacity: count('Messages that can be kept; 0: disabled.'),
  kept: count('Messages kept now, in 8 MiB of octets at most.', (of) => of.count),
  dropped: count('Messages dropped for newer ones since the start.'),
  last_id: count('Id of the last message; 0: there was none.'),
  changed_by: writer.orNull('Last writer of the recorder; null: as started.'),
}));

/** The recorder, and its messages that match a request. */
const messages = members<CsipMessages, OfMessages & { readonly matches: readonly CsipMessage[] }>()(
  'CsipMessages',
  () => ({
    ...recorder.members(),
    messages: listInPieces(message)('Oldest first.', (_of, { matches }) => matches),
  }),
);

const derBodySchema = memo(() =>
  z
    .strictObject({
      post: z
        .array(z.enum(csipDerDocuments))
        .min(1)
        .max(csipDerDocuments.length)
        .openapi({ description: `Documents to send, 1 to ${csipDerDocuments.length}.` }),
    })
    .openapi('CsipDerRequest'),
);

/** Octets of `details` (String32), and ranges of UInt8. */
const maxDetails = 32;
const maxOctet = 255;

const logEventsBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().optional().openapi({ description: 'True: alarms are sent. Default unchanged.' }),
      code: z
        .int()
        .min(0)
        .max(maxOctet)
        .optional()
        .openapi({ description: `Sends one LogEvent with this code, 0 to ${maxOctet}; default none.` }),
      function_set: z
        .int()
        .min(0)
        .max(maxOctet)
        .optional()
        .openapi({ description: `Function set of that LogEvent, 0 to ${maxOctet}; default 11, DER.` }),
      details: z
        .string()
        .max(maxDetails)
        .optional()
        .openapi({ description: `Text of that LogEvent, at most ${maxDetails} characters; default none.` }),
    })
    .refine(({ code, function_set: set }) => code !== undefined || set === undefined, {
      path: ['function_set'],
      error: 'needs code',
    })
    .refine(({ code, details }) => code !== undefined || details === undefined, {
      path: ['details'],
      error: 'needs code',
    })
    .openapi('CsipLogEventRequest'),
);

const maxHref = 1000;

const subscribeBodySchema = memo(() =>
  z
    .strictObject({
      resource: z
        .string()
        .regex(/^[!-~]+$/, { error: 'must be an address without spaces' })
        .max(maxHref)
        .openapi({
          description: `Address of a resource that was read, at most ${maxHref} characters.`,
          example: '/edev/0/fsa',
        }),
      enabled: z.boolean().openapi({ description: 'True: subscribes to it. False: cancels the subscription.' }),
    })
    .openapi('CsipSubscriptionRequest'),
);

const maxNotifications = 500;
const defaultNotifications = 50;

const notificationsQuery = z.strictObject({
  device: clientParam,
  limit: newestParam(maxNotifications, defaultNotifications).optional(),
});

const maxMessages = 500;
const defaultMessages = 100;
const maxPath = 500;

const messagesQuery = z.strictObject({
  limit: newestParam(maxMessages, defaultMessages).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only messages with a higher id.' }),
  to_id: toIdParam.optional(),
  method: z
    .enum(['GET', 'PUT', 'POST', 'DELETE'])
    .optional()
    .openapi({ param: { name: 'method' }, description: 'Only requests of this method; default all.' }),
  path: z
    .string()
    .min(1)
    .max(maxPath)
    .optional()
    .openapi({
      param: { name: 'path' },
      description: `Only requests whose path begins so, at most ${maxPath} characters; default all.`,
      example: '/edev',
    }),
  device: deviceParam.optional().openapi({ description: 'Only messages about the device of this index; default all.' }),
});

const recorderBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().openapi({ description: 'True: messages are recorded from now on.' }),
      clear: z
        .boolean()
        .optional()
        .openapi({ description: 'True: forgets the messages that are kept. Default false.' }),
    })
    .openapi('CsipRecorderRequest'),
);

export const tag = 'CSIP Client';

type Clients = Pick<RouteContext, 'csipClient' | 'plant'>;

/**
 * The client, for views; while it is off its views are empty.
 * @param device that the request names; null: none
 * @throws SimError UNKNOWN_DEVICE, also while it is off
 */
export function viewedClient({ csipClient, plant }: Clients, device: number | null): CsipClient {
  if (device !== null) plant.device(device);
  return csipClient;
}

/** The client, for operations. @throws SimError UNKNOWN_DEVICE, HttpProblem `disabled` */
export function enabledClient(ctx: Clients, device: number | null = null): CsipClient {
  const client = viewedClient(ctx, device);
  if (!client.enabled)
    throw new HttpProblem('disabled', 'The client of IEEE 2030.5 is switched off: POST csip/enable switches it on.');
  return client;
}

/** A view of the client of a device. */
export function view<S, R>(
  name: string,
  operationId: string,
  summary: string,
  { schema, reply }: { readonly schema: () => z.ZodType<R>; readonly reply: (source: S) => R },
  read: (client: CsipClient, device: number | null) => S,
): Route {
  return route({
    method: 'get',
    path: `/csip/${name}`,
    tag,
    operationId,
    summary,
    query: clientQuery,
    reply: schema,
    handle: (ctx, { query: { device = null } }) => reply(read(viewedClient(ctx, device), device)),
  });
}

/** Problems of an operation that needs the server. */
const ofServer = ['disabled', 'not-connected', 'upstream-error', 'upstream-timeout', 'conflict'] as const;

export const csipReportRoutes: readonly Route[] = [
  view(
    'der',
    'get_csip_der',
    'DERCapability, DERSettings, DERStatus and DERAvailability as last sent',
    der,
    (client, device) => client.der(device),
  ),
  route({
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
      const client = enabledClient(ctx, device);
      await client.postDer([...new Set(body.post)], device);
      return der.reply(client.der(device));
    },
  }),
  view('readings', 'get_csip_readings', 'Readings of the metering mirror as last sent', readings, (client, device) =>
    client.readings(device),
  ),
  route({
    method: 'post',
    path: '/csip/readings',
    tag,
    operationId: 'post_csip_readings',
    summary: 'Sends readings up to now',
    query: clientQuery,
    reply: readings.schema,
    problems: ofServer,
    async handle(ctx, { query: { device = null } }) {
      const client = enabledClient(ctx, device);
      await client.postReadings(device);
      return readings.reply(client.readings(device));
    },
  }),
  view('log-events', 'get_csip_log_events', 'LogEvents of alarms', logEvents, (client, device) =>
    client.logEvents(device),
  ),
  route({
    method: 'post',
    path: '/csip/log-events',
    tag,
    operationId: 'set_csip_log_events',
    summary: 'Switches LogEvents on or off, or sends one',
    description:
      '`enabled` applies to all clients. The LogEvent of `code` is sent by the client of `device`, even if `enabled` is false.',
    query: clientQuery,
    body: logEventsBodySchema,
    status: 202,
    reply: logEvents.schema,
    problems: ofServer,
    async handle(ctx, { query: { device = null }, body: { enabled, code, ...more } }) {
      const client = enabledClient(ctx, device);
      if (enabled === undefined && code === undefined) throw invalid('body', '', 'needs enabled or code');
      // the fallible part comes first: a request is carried out whole or not at all
      if (code !== undefined) await client.sendLogEvent({ code, ...camelCased(more) }, device);
      if (enabled !== undefined) client.enableLogEvents(enabled);
      return logEvents.reply(client.logEvents(device));
    },
  }),
  view('subscriptions', 'list_csip_subscriptions', 'Subscriptions at the server', subscriptions, (client, device) =>
    client.subscriptions(device),
  ),
  route({
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
      subscriptions.reply(await enabledClient(ctx, device).subscribe(resource, enabled, device)),
  }),
  route({
    method: 'get',
    path: '/csip/notifications',
    tag,
    operationId: 'list_csip_notifications',
    summary: 'Notifications of the server',
    query: notificationsQuery,
    reply: notifications.schema,
    handle: (ctx, { query: { device = null, limit = defaultNotifications } }) =>
      notifications.reply(viewedClient(ctx, device).notifications(device, limit)),
  }),
  route({
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
      return replyInPieces(messages.reply(csipClient.messages, { plant, matches }));
    },
  }),
  route({
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
  }),
];
