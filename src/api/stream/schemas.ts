import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { exampleTime, integerParam, isoTime } from '../common/schemas.ts';

export const defaultClientLimit = 100;

export const streamClientsQuery = z.strictObject({
  limit: integerParam(
    'limit',
    1,
    100_000,
    `Maximum number of clients, the newest; default ${defaultClientLimit}.`,
  ).optional(),
});

const count = (description: string) => z.int().min(0).openapi({ description });

const clientSchema = memo(() =>
  z
    .strictObject({
      id: z.int().min(1).openapi({ description: 'Number of the connection, ascending from 1 in every process.' }),
      peer: z.string().openapi({ description: '`address:port`.' }),
      device_index: z.int().min(0).nullable().openapi({ description: 'The only device that it gets; null: all.' }),
      connected_at: isoTime.openapi({ description: 'Wall time at which it connected.' }),
      sent: count('Messages sent to it.'),
      dropped: count('Messages that it did not get because it reads too slowly.'),
      waiting: count('Messages that wait for it.'),
      waiting_bytes: count('Octets of those messages.'),
      unsent_bytes: count('Octets handed to its socket that it has not taken.'),
      pong_age_s: z
        .number()
        .min(0)
        .nullable()
        .openapi({ description: 'Wall seconds since it last answered a ping; null: not yet.' }),
    })
    .openapi('StreamClient'),
);

export const streamClientsSchema = memo(() =>
  z
    .strictObject({
      count: count('Connected clients, those beyond the limit too.'),
      max_clients: count('Clients that the stream accepts.'),
      max_waiting: count('Messages that may wait for one client.'),
      max_waiting_bytes: count(
        'Octets that may wait for one client, beside the newest message of each of its devices.',
      ),
      sent: count('Messages sent since the start, to clients that have left too.'),
      dropped: count('Messages lost since the start, by clients that have left too.'),
      clients: z.array(clientSchema()).openapi({ description: 'Newest first.' }),
    })
    .openapi('StreamClients'),
);

export const exampleStreamClients = {
  count: 1,
  max_clients: 1024,
  max_waiting: 64,
  max_waiting_bytes: 1_048_576,
  sent: 40,
  dropped: 0,
  clients: [
    {
      id: 1,
      peer: '127.0.0.1:50210',
      device_index: null,
      connected_at: exampleTime,
      sent: 40,
      dropped: 0,
      waiting: 0,
      waiting_bytes: 0,
      unsent_bytes: 0,
      pong_age_s: 12.4,
    },
  ],
};
