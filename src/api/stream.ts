import type { Adapter, AdapterStatus } from '../core/adapter.ts';
import { streamForms } from '../contract/stream-report.ts';
import type { StreamClient, StreamReport, StreamReporter } from '../contract/stream-report.ts';
import { count, list, member, members, nested, number, text, time, word } from './common/members.ts';
import { integerParam } from './common/schemas.ts';
import { z } from './description/zod.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const client = members<StreamClient>()('StreamClient', () => ({
  id: member(() => z.int().min(1))('Number of the connection, ascending from 1 in every process.'),
  peer: text('`address:port`.'),
  device_index: count.orNull('Only device whose messages the client gets; null: all.'),
  form: word(streamForms)(
    '`snapshots`: a message for each device and tick; `fleet`: one for each tick, with all devices in columns.',
  ),
  max_rate: number.orNull(
    'Maximum of messages per second of wall time, of each device with `snapshots`; null: one for each tick.',
  ),
  connected_at: time('Wall time of the connection.'),
  sent: count('Messages sent to the client.'),
  dropped: count('Messages dropped because the client reads too slowly.'),
  waiting: count('Messages that wait for the client.'),
  waiting_bytes: count('Octets of the waiting messages.'),
  unsent_bytes: count('Octets handed to the socket that the client has not read.'),
  pong_age_s: nested({ schema: () => z.number().min(0), reply: (ms: number) => Math.round(ms) / 1000 }).orNull(
    'Wall seconds since the client last answered a ping; null: never.',
    ({ pongAgeMs }) => pongAgeMs,
  ),
}));

type Stream = StreamReport & Pick<AdapterStatus, 'peers' | 'txCount' | 'droppedCount'>;

const streamClients = members<Stream>()('StreamClients', () => ({
  count: count('Connected clients, including those that `limit` leaves out.', ({ peers }) => peers),
  max_clients: count('Clients that the stream accepts.'),
  max_waiting: count('Messages that may wait for one client.'),
  max_waiting_bytes: count('Octets that may wait for one client, beside the newest message of each of its devices.'),
  sent: count('Messages sent since the start, also to clients that have disconnected.', ({ txCount }) => txCount),
  dropped: count(
    'Messages dropped since the start, also for clients that have disconnected.',
    ({ droppedCount = 0 }) => droppedCount,
  ),
  clients: list(client)('Newest first.'),
}));

const noStream: Stream = { peers: 0, txCount: 0, maxClients: 0, maxWaiting: 0, maxWaitingBytes: 0, clients: [] };

function isReporter(adapter: Adapter): adapter is Adapter & StreamReporter {
  return 'streamReport' in adapter;
}

const defaultLimit = 100;

/** The reply about a stream; null: there is none. */
export function streamClientsReply(stream: (Pick<Adapter, 'status'> & StreamReporter) | null, limit = defaultLimit) {
  return streamClients.reply(stream ? { ...stream.status(), ...stream.streamReport(limit) } : noStream);
}

export const streamRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/stream/clients',
    tag: 'Core',
    operationId: 'list_stream_clients',
    summary: 'Clients of the telemetry stream',
    description: 'Shows the messages that each client has received, and those that wait for slow clients.',
    query: z.strictObject({
      limit: integerParam(
        'limit',
        1,
        100_000,
        `Maximum number of clients, the newest; default ${defaultLimit}.`,
      ).optional(),
    }),
    reply: streamClients.schema,
    handle: ({ adapters }, { query }) => streamClientsReply(adapters.find(isReporter) ?? null, query.limit),
  }),
];
