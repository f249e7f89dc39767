/** The roster of a fleet: ranges of device indexes by shard, in one entry of the bucket that stays. */

export const rosterKey = 'roster';
/** a lease bucket that is younger, in ms, may lack the leases of living shards */
export const settledMs = 6000;
export const leaseKey = (shard: string): string => `shard.${shard}`;

const shardName = /^[A-Za-z0-9_-]{1,32}$/;
export const isShardName = (name: string): boolean => shardName.test(name);

/** The devices `first` to `first + room - 1`, and the process that holds them. */
export interface RosterEntry {
  readonly shard: string;
  readonly first: number;
  readonly room: number;
  readonly session: string;
  /** rises with each new holder of the name: messages with a lower one are of a former holder */
  readonly epoch: number;
}

/** Properties that all shards of a fleet have in common. */
export interface FleetTraits {
  readonly version: string;
  readonly apiVersion: string;
  /** texts by the name of the setting */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Roster {
  /** of the first shard; null: there was none */
  readonly traits: FleetTraits | null;
  readonly entries: readonly RosterEntry[];
}

export const emptyRoster: Roster = { traits: null, entries: [] };

/** Value of a lease. Members that may change are written with each renewal. */
export interface Lease extends FleetTraits {
  readonly shard: string;
  readonly session: string;
  readonly epoch: number;
  readonly first: number;
  readonly room: number;
  readonly count: number;
  readonly host: string;
  readonly http: string;
  /** of the first and the last device, by protocol */
  readonly ports: Readonly<Record<string, readonly number[]>>;
  readonly pid: number;
  readonly tick: number;
  readonly simUs: number;
  /** simulated seconds of a tick */
  readonly tickS?: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const encoded = (value: Roster | Lease): Uint8Array => encoder.encode(JSON.stringify(value));
export const decodedRoster = (bytes: Uint8Array): Roster => JSON.parse(decoder.decode(bytes)) as Roster;
export const decodedLease = (bytes: Uint8Array): Lease => JSON.parse(decoder.decode(bytes)) as Lease;

export type Claim = Omit<RosterEntry, 'epoch'>;

const overlaps = (a: Pick<RosterEntry, 'first' | 'room'>, b: Pick<RosterEntry, 'first' | 'room'>) =>
  a.first < b.first + b.room && b.first < a.first + a.room;

/** Entries of other sessions that a claim needs: those of its name, and those with a device of its range. */
export function rivals({ entries }: Roster, claim: Claim): readonly RosterEntry[] {
  return entries.filter(
    (entry) => entry.session !== claim.session && (entry.shard === claim.shard || overlaps(entry, claim)),
  );
}

/**
 * The roster with a claim in place of its rivals, whose leases have ended.
 *
 * @param nowMs wall clock: an epoch stays above those of a roster that the server has lost
 */
export function withClaim(roster: Roster, claim: Claim, traits: FleetTraits, nowMs: number): [Roster, RosterEntry] {
  const gone = new Set(rivals(roster, claim));
  const before = roster.entries.find(({ session }) => session === claim.session);
  const highest = Math.max(0, ...roster.entries.map(({ epoch }) => epoch));
  const entry = { ...claim, epoch: before?.epoch ?? Math.max(highest + 1, nowMs) };
  const others = roster.entries.filter((other) => other !== before && !gone.has(other));
  const entries = [...others, entry].toSorted((a, b) => a.first - b.first);
  return [{ traits: roster.traits ?? traits, entries }, entry];
}

/** The devices of an entry belong to a living shard. */
export function takenText(entry: RosterEntry, lease: Lease | null): string {
  const place = lease ? ` on ${lease.host} (pid ${lease.pid})` : '';
  const devices = `the devices ${entry.first}..${entry.first + entry.room - 1}`;
  return `${devices} belong to the shard "${entry.shard}"${place}`;
}

const minorOf = (version: string) => version.split('.').slice(0, 2).join('.');

/** Differences for which a shard cannot join, in words; the patch level may differ. */
export function skewOf(fleet: FleetTraits, shard: FleetTraits): readonly string[] {
  const membersOf = ({ version, apiVersion, settings }: FleetTraits): Readonly<Record<string, string>> => ({
    ...settings,
    version: minorOf(version),
    'version of REST': apiVersion,
  });
  const [of, mine] = [membersOf(fleet), membersOf(shard)];
  return [...new Set([...Object.keys(of), ...Object.keys(mine)])].flatMap((name) => {
    const [theirs = 'none', ours = 'none'] = [of[name], mine[name]];
    return theirs === ours ? [] : [`${name}: the fleet has ${theirs}, this shard ${ours}`];
  });
}
