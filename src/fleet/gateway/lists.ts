/** Lists of all shards, joined to one. That of the devices is in device-list.ts. */
import type { MissingShard } from '../../api/fleet/members.ts';
import type { ShardPlace } from './forward.ts';

/** @property order `index`: as the shards stand; `newest`: by this member, a time, latest first */
interface JoinedList {
  readonly member: string;
  readonly order: 'index' | { readonly newest: string };
  /** entries where a request has no `limit`; absent: all */
  readonly limit?: number;
  /** true: ids count in each shard, and get its name in front */
  readonly hasRecordIds?: true;
}

/** By operation. Replies have further members, of which the numbers `count` and the flag `enabled` are joined as well. */
export const joinedLists: Readonly<Record<string, JoinedList>> = {
  list_commands: { member: 'commands', order: { newest: 'queued_at' }, limit: 100, hasRecordIds: true },
  list_evses: { member: 'evses', order: 'index' },
  list_charging_sessions: { member: 'sessions', order: { newest: 'started_at' }, limit: 100 },
  get_holds: { member: 'holds', order: 'index' },
  list_charge_points: { member: 'charge_points', order: 'index' },
};

type Entry = Readonly<Record<string, unknown>>;

/** A shard that does not answer, in the replies of the others. */
export const missingOf = ({ name, first, count }: ShardPlace, code: string): MissingShard => ({
  shard: name,
  first,
  count,
  code,
});

export interface ListPart {
  readonly shard: string;
  readonly body: Entry;
}

/** The id of a record of a shard, as a gateway shows it. */
export const recordId = (shard: string, id: string) => `${shard}:${id}`;

/** The shard and the id in it; null: no id of a gateway. */
export function readRecordId(text: string): { readonly shard: string; readonly id: string } | null {
  const cut = text.indexOf(':');
  return cut <= 0 || cut === text.length - 1 ? null : { shard: text.slice(0, cut), id: text.slice(cut + 1) };
}

/** A record of a shard, or an object with a list of them, with ids that name the shard. */
export function withRecordIds(shard: string, reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map((item) => withRecordIds(shard, item));
  if (typeof reply !== 'object' || reply === null) return reply;
  return Object.fromEntries(
    Object.entries(reply).map(([name, value]) => {
      if (name === 'id') return [name, recordId(shard, String(value))];
      return [name, Array.isArray(value) ? withRecordIds(shard, value) : value];
    }),
  );
}

const entriesOf = ({ body }: ListPart, member: string): readonly Entry[] => {
  const entries = body[member];
  return Array.isArray(entries) ? (entries as Entry[]) : [];
};

/**
 * @param parts replies of shards in the order of their devices
 * @param limit of the request
 */
export function joinLists(
  operationId: string,
  parts: readonly ListPart[],
  missing: readonly MissingShard[],
  limit?: number,
) {
  const list = joinedLists[operationId];
  if (list === undefined) throw new Error(`no list of ${operationId}`);
  const { member, order, hasRecordIds } = list;
  const all = parts.flatMap((part) => {
    const entries = entriesOf(part, member);
    return hasRecordIds ? entries.map((entry) => withRecordIds(part.shard, entry) as Entry) : entries;
  });
  // a stable order: entries of one instant stay in that of the shards
  if (order !== 'index') all.sort((a, b) => timeOf(b, order.newest) - timeOf(a, order.newest));
  const shown = all.slice(0, limit ?? list.limit ?? Infinity);
  const bodies = parts.map(({ body }) => body);
  return {
    ...bodies[0],
    ...(bodies.some(({ enabled }) => enabled !== undefined) && {
      enabled: bodies.some(({ enabled }) => enabled === true),
    }),
    [member]: shown,
    ...(bodies.some(({ count }) => count !== undefined) && { count: shown.length }),
    missing,
  };
}

const timeOf = (entry: Entry, name: string) => Date.parse(String(entry[name])) || 0;
