/** Lists of all shards, joined to one. That of the devices is in device-list.ts. */
import { keptEnded } from '../../core/faults/registry.ts';
import { timelineLevels } from '../../core/timeline/entry.ts';
import type { TimelineLevel } from '../../core/timeline/entry.ts';
import type { MissingShard } from '../../api/fleet/members.ts';
import type { ShardPlace } from './forward.ts';

/** Order of joined entries; `index`: as the shards stand; `worst`: as the list of what needs attention has them. */
type ListOrder = 'index' | 'worst' | { readonly newest: string } | { readonly oldest: string };

interface JoinedMember {
  readonly member: string;
  /** by a time, with the earliest or the latest first; entries of one instant stay in the order of the shards */
  readonly order: ListOrder;
  /** entries where a request has no `limit`; absent: all */
  readonly limit?: number;
  /** default `begin` */
  readonly keeps?: 'begin' | 'end';
}

interface JoinedList {
  /** the first has `limit` and `count` of the request */
  readonly members: readonly [JoinedMember, ...JoinedMember[]];
  /** true: ids count in each shard, and get its name in front */
  readonly hasRecordIds?: true;
  /** true: entries have the member `shard`, since their ids are numbers that count in each shard */
  readonly namesShard?: true;
  readonly sums?: readonly string[];
  readonly greatest?: readonly string[];
}

const faultLists: JoinedList = {
  members: [
    { member: 'faults', order: { oldest: 'began_at' } },
    { member: 'ended', order: { newest: 'ended_at' }, limit: keptEnded },
  ],
  namesShard: true,
  sums: ['total', 'limit'],
};

/** By operation. Further numbers of the replies are those of the shard that is furthest behind, but for sums. */
export const joinedLists: Readonly<Record<string, JoinedList>> = {
  list_commands: {
    members: [{ member: 'commands', order: { newest: 'queued_at' }, limit: 100 }],
    hasRecordIds: true,
  },
  list_evses: { members: [{ member: 'evses', order: 'index' }] },
  list_charging_sessions: { members: [{ member: 'sessions', order: { newest: 'started_at' }, limit: 100 }] },
  get_holds: { members: [{ member: 'holds', order: 'index' }] },
  list_charge_points: { members: [{ member: 'charge_points', order: 'index' }] },
  get_timeline: {
    members: [{ member: 'entries', order: { oldest: 'wall_time' }, limit: 500, keeps: 'end' }],
    namesShard: true,
    greatest: ['last_id'],
  },
  get_attention: {
    members: [{ member: 'items', order: 'worst', limit: 100 }],
    hasRecordIds: true,
    namesShard: true,
    sums: ['count'],
  },
  list_findings: {
    members: [{ member: 'findings', order: { newest: 'last_at' }, limit: 100 }],
    namesShard: true,
    greatest: ['last_id'],
  },
  list_finding_peers: {
    members: [{ member: 'peers', order: 'index' }],
    namesShard: true,
    sums: ['strangers', 'forgotten'],
  },
  list_finding_waivers: { members: [{ member: 'waivers', order: 'index' }], namesShard: true },
  get_faults: faultLists,
  get_modbus_faults: faultLists,
  get_csip_faults: faultLists,
  get_dnp3_faults: faultLists,
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

/** Entries of all parts in their order, with their shards where the list names them. */
function joinedEntries(
  { hasRecordIds, namesShard }: JoinedList,
  { member, order }: JoinedMember,
  parts: readonly ListPart[],
) {
  const all = parts.flatMap((part) => {
    const entries = entriesOf(part, member);
    const named = hasRecordIds ? entries.map((entry) => withRecordIds(part.shard, entry) as Entry) : entries;
    return namesShard ? named.map((entry) => ({ ...entry, shard: part.shard })) : named;
  });
  // the sort is stable
  if (order === 'worst') return all.sort((a, b) => rankOf(b) - rankOf(a) || timeOf(b, 'since') - timeOf(a, 'since'));
  if (order === 'index') return all;
  if ('newest' in order) return all.sort((a, b) => timeOf(b, order.newest) - timeOf(a, order.newest));
  return all.sort((a, b) => timeOf(a, order.oldest) - timeOf(b, order.oldest));
}

const numberOf = (body: Entry, name: string) => Number(body[name]) || 0;

/** The reply of the shard that is furthest behind, or else of the first. */
const slowest = (bodies: readonly Entry[]) =>
  bodies.reduce((least, body) => (numberOf(body, 'tick') < numberOf(least, 'tick') ? body : least), bodies[0] ?? {});

/** Numbers that stand beside the entries. */
function joinedNumbers({ sums = [], greatest = [] }: JoinedList, bodies: readonly Entry[]): Entry {
  const joining = (names: readonly string[], join: (values: readonly number[]) => number) =>
    names.map((name) => [name, join(bodies.map((body) => numberOf(body, name)))] as const);
  return Object.fromEntries([
    ...joining(sums, (values) => values.reduce((sum, value) => sum + value, 0)),
    ...joining(greatest, (values) => Math.max(0, ...values)),
  ]);
}

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
  const shown = list.members.map((each, position) => {
    const most = (position === 0 ? limit : undefined) ?? each.limit ?? Infinity;
    const entries = joinedEntries(list, each, parts);
    return [
      each.member,
      each.keeps === 'end' ? entries.slice(Math.max(0, entries.length - most)) : entries.slice(0, most),
    ] as const;
  });
  const bodies = parts.map(({ body }) => body);
  return {
    ...slowest(bodies),
    ...(bodies.some(({ enabled }) => enabled !== undefined) && {
      enabled: bodies.some(({ enabled }) => enabled === true),
    }),
    ...Object.fromEntries(shown),
    ...(bodies.some(({ count }) => count !== undefined) && { count: shown[0]?.[1].length ?? 0 }),
    ...joinedNumbers(list, bodies),
    missing,
  };
}

const timeOf = (entry: Entry, name: string) => Date.parse(String(entry[name])) || 0;
const rankOf = ({ level }: Entry) => timelineLevels.indexOf(level as TimelineLevel);
