/** A process joins the clock of its fleet before it makes its plant: the instant at which it starts, and whose spread is none. */
import { isDeepStrictEqual } from 'node:util';
import { FleetError } from '../link.ts';
import type { FleetLink } from '../link.ts';
import { decodedRoster, leaseKey, rosterKey, settledMs } from '../registry/roster.ts';
import { checkedMembers, jsonOf } from './messages.ts';
import { reachedAt } from './record.ts';
import type { ClockRecord } from './record.ts';
import { ClockStore, replaceShared } from './store.ts';
import type { SimTime } from '../../core/time/clock.ts';

const anchorsKey = 'anchors';
/** a record that is younger belongs to shards that start at this moment */
const freshMs = 10_000;

/** A fleet as a process joins it. */
export interface JoinedFleet {
  readonly record: ClockRecord;
  readonly tick: number;
  readonly simUs: SimTime;
  /** index of the device that has exactly the values of a profile, by the digest of the profile */
  readonly anchors: ReadonlyMap<string, number>;
}

/** The fleet as the plant of a shard begins with it. */
export interface ShardStart extends JoinedFleet {
  /** Index of the device that has exactly the values of a profile; undefined: the fleet does not know the profile. */
  readonly anchorOf: (profile: object) => number | undefined;
}

export interface JoinOptions {
  readonly link: Pick<FleetLink, 'shared' | 'leases'>;
  /** the clock of a fleet that begins with this process */
  readonly first: () => ClockRecord;
  /** first index of each profile in this process, by its digest */
  readonly profiles: ReadonlyMap<string, number>;
  /** time of the fleet, ms */
  readonly nowMs: () => number;
}

/** @throws FleetError */
export async function joinFleet({ link, first, profiles, nowMs }: JoinOptions): Promise<JoinedFleet> {
  const record = await new ClockStore(link).replace(async (present) => {
    if (present === null) return first();
    const isFresh = Math.abs(nowMs() - present.madeMs) < freshMs;
    return isFresh || (await hasLivingShard(link)) ? null : first();
  });
  if (record === null) throw new FleetError('refused', 'the fleet has no clock');
  return { record, ...reachedAt(record, nowMs()), anchors: await joinAnchors(link, record.fleet, profiles) };
}

async function hasLivingShard({ shared, leases }: Pick<FleetLink, 'shared' | 'leases'>): Promise<boolean> {
  if ((await leases.ageMs()) < settledMs) return true;
  const roster = await shared.get(rosterKey);
  const entries = roster ? decodedRoster(roster.value).entries : [];
  for (const { shard } of entries) if ((await leases.get(leaseKey(shard))) !== null) return true;
  return false;
}

interface Anchors {
  readonly fleet: string;
  readonly indexes: Readonly<Record<string, number>>;
}

const isIndexes = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.values(value).every((index) => Number.isSafeInteger(index));

const readAnchors = (bytes: Uint8Array) =>
  checkedMembers<Anchors>(
    jsonOf(bytes, 'the table of anchors'),
    { fleet: (value) => typeof value === 'string', indexes: isIndexes },
    'the table of anchors',
  );

const anchorsEntry = {
  key: anchorsKey,
  decode: readAnchors,
  encode: (anchors: Anchors) => Buffer.from(JSON.stringify(anchors)),
};

/** Adds the profiles of a process to the table: the lowest index of each profile is its anchor. */
export async function joinAnchors(
  link: Pick<FleetLink, 'shared'>,
  fleet: string,
  profiles: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const table = await replaceShared(link, anchorsEntry, (present) => {
    const former = present?.fleet === fleet ? present.indexes : null;
    const indexes = new Map(Object.entries(former ?? {}));
    for (const [digest, index] of profiles) indexes.set(digest, Math.min(index, indexes.get(digest) ?? Infinity));
    const joined = Object.fromEntries(indexes);
    return former !== null && isDeepStrictEqual(joined, former) ? null : { fleet, indexes: joined };
  });
  return new Map(Object.entries(table?.indexes ?? {}));
}
