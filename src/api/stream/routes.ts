import type { Adapter } from '../../core/adapter.ts';
import type { StreamClient, StreamReporter } from '../../contract/stream-report.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { defaultClientLimit, exampleStreamClients, streamClientsQuery, streamClientsSchema } from './schemas.ts';

function isReporter(adapter: Adapter): adapter is Adapter & StreamReporter {
  return 'streamReport' in adapter;
}

function clientReply(client: StreamClient) {
  return {
    id: client.id,
    peer: client.peer,
    device_index: client.deviceIndex,
    connected_at: new Date(client.connectedAtMs).toISOString(),
    sent: client.sent,
    dropped: client.dropped,
    waiting: client.waiting,
    waiting_bytes: client.waitingBytes,
    unsent_bytes: client.unsentBytes,
    pong_age_s: client.pongAgeMs === null ? null : Math.round(client.pongAgeMs) / 1000,
  };
}

const none = { count: 0, max_clients: 0, max_waiting: 0, max_waiting_bytes: 0, sent: 0, dropped: 0, clients: [] };

const getClients = route({
  method: 'get',
  path: '/stream/clients',
  tag: 'Core',
  operationId: 'list_stream_clients',
  summary: 'Clients of the telemetry stream',
  description: 'With what each has got, and what waits for those that read too slowly.',
  query: streamClientsQuery,
  reply: streamClientsSchema,
  examples: { reply: exampleStreamClients },
  handle({ adapters }, { query }) {
    const stream = adapters.find(isReporter);
    if (!stream) return none;
    const report = stream.streamReport(query.limit ?? defaultClientLimit);
    const { peers, txCount, droppedCount } = stream.status();
    return {
      count: peers,
      max_clients: report.maxClients,
      max_waiting: report.maxWaiting,
      max_waiting_bytes: report.maxWaitingBytes,
      sent: txCount,
      dropped: droppedCount ?? 0,
      clients: report.clients.map(clientReply),
    };
  },
});

export const streamRoutes: readonly Route[] = [getClients];
