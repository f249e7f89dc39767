/** A shard's side of the registry: its claim, its lease, and the loss of it. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { FleetError } from '../link.ts';
import type { BucketEntry, FleetLink } from '../link.ts';
import {
  decodedLease,
  decodedRoster,
  emptyRoster,
  encoded,
  isShardName,
  leaseKey,
  rivals,
  rosterKey,
  settledMs,
  skewOf,
  takenText,
  withClaim,
} from './roster.ts';
import type { Claim, FleetTraits, Lease, Roster, RosterEntry } from './roster.ts';

const renewalMs = 1000;
const retryMs = 250;
const rosterAttempts = 64;

/** Reasons why a shard cannot join, by exit code: `skew` and `name` 2, `taken` 3. */
export class ClaimError extends Error {
  readonly code: 'skew' | 'name' | 'taken';
  constructor(code: 'skew' | 'name' | 'taken', message: string) {
    super(message);
    this.name = 'ClaimError';
    this.code = code;
  }
}

export interface MembershipOptions {
  readonly link: FleetLink;
  readonly shard: string;
  readonly session: string;
  readonly first: number;
  readonly room: number;
  readonly traits: FleetTraits;
  /** members of the lease at the time of a renewal */
  readonly details: () => Omit<Lease, keyof Claim | keyof FleetTraits | 'epoch'>;
  readonly clock: WallClock;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  /** time to wait for the lease of an earlier holder of the name to end, ms */
  readonly waitMs: number;
  /** Called once, when another process has the lease. */
  readonly onLost: (reason: string) => void;
}

export class Membership {
  readonly #options: MembershipOptions;
  #entry: RosterEntry | null = null;
  /** null: the lease has to be created */
  #revision: number | null = null;
  #cancel: () => void = () => undefined;
  #stopState: () => void = () => undefined;
  #isOver = false;
  #renewing: Promise<void> | null = null;

  constructor(options: MembershipOptions) {
    if (!isShardName(options.shard))
      throw new ClaimError('name', `the shard name "${options.shard}" is not 1 to 32 letters, digits, "_" or "-"`);
    this.#options = options;
  }

  /** of the claim, for all messages of the shard. @throws Error before `join` */
  get epoch(): number {
    if (!this.#entry) throw new Error('the shard has not joined');
    return this.#entry.epoch;
  }

  /** Claims the range and writes the lease. @throws ClaimError, FleetError */
  async join(): Promise<void> {
    const endMs = this.#options.clock.monotonicMs() + this.#options.waitMs;
    for (;;) {
      if (this.#isOver) throw new FleetError('offline', 'the shard stops');
      const wait = await this.#attempt();
      if (wait === null) break;
      if (wait.isOther || this.#options.clock.monotonicMs() >= endMs) throw new ClaimError('taken', wait.text);
      await this.#pause(retryMs);
    }
    this.#stopState = this.#options.link.onState((state) => {
      if (state !== 'connected') return;
      // a lease bucket may be new: its revisions begin again, and one of another process could have the same
      this.#revision = null;
      this.#renewNow();
    });
    this.#plan();
  }

  /** Ends the lease, so that gateways know at once. */
  async leave(): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    await this.#renewing;
    const { link, shard } = this.#options;
    if (this.#entry && link.state === 'connected') await link.leases.delete(leaseKey(shard));
  }

  #end(): void {
    this.#isOver = true;
    this.#cancel();
    this.#stopState();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.later(ms, resolve);
    });
  }

  get #claim(): Claim {
    const { shard, first, room, session } = this.#options;
    return { shard, first, room, session };
  }

  /** One attempt. @returns null: joined; else the rival to wait for, and whether it is of another name */
  async #attempt(): Promise<{ readonly text: string; readonly isOther: boolean } | null> {
    const { link, traits, clock } = this.#options;
    const stored = await link.shared.get(rosterKey);
    const roster = stored ? decodedRoster(stored.value) : emptyRoster;
    const rival = await this.#rival(roster);
    if (rival) return rival;
    // without any other shard there is no fleet to agree with
    const alone = roster.entries.every((entry) => rivals(roster, this.#claim).includes(entry));
    const skew = roster.traits && !alone ? skewOf(roster.traits, traits) : [];
    if (skew.length > 0) throw new ClaimError('skew', `this shard does not fit the fleet: ${skew.join('; ')}`);
    const [next, entry] = withClaim(
      alone ? { traits, entries: roster.entries } : roster,
      this.#claim,
      traits,
      clock.nowMs(),
    );
    if (!(await this.#stored(stored, next))) return { text: 'the roster changes all the time', isOther: false };
    this.#entry = entry;
    const revision = await unlessConflict(link.leases.create(leaseKey(entry.shard), this.#lease(entry)));
    if (revision === null) return { text: `another process has the lease of "${entry.shard}"`, isOther: false };
    this.#revision = revision;
    return (await this.#isSettled(entry)) ? null : { text: 'another process has joined first', isOther: false };
  }

  /**
   * A rival may have seen the claim before its lease was there, and replace it yet: the roster is written once more, so
   * that the rival has to look at the leases again.
   *
   * @returns false: the rival was faster, and the lease has been let go
   */
  async #isSettled(entry: RosterEntry): Promise<boolean> {
    const { leases } = this.#options.link;
    // no rival takes a missing lease for a lost shard before
    if ((await leases.ageMs()) < settledMs || (await this.#keepsClaim(entry, 'written anew'))) return true;
    await leases.delete(leaseKey(entry.shard));
    this.#revision = null;
    return false;
  }

  async #stored(stored: BucketEntry | null, next: Roster): Promise<boolean> {
    const { shared } = this.#options.link;
    const value = encoded(next);
    const work = stored ? shared.update(rosterKey, value, stored.revision) : shared.create(rosterKey, value);
    return (await unlessConflict(work)) !== null;
  }

  /** A rival that lives, or may live. */
  async #rival(roster: Roster): Promise<{ readonly text: string; readonly isOther: boolean } | null> {
    const { link, shard } = this.#options;
    for (const entry of rivals(roster, this.#claim)) {
      // a shard that wrote its lease while the bucket was young has done so before the lease is looked for
      const ageMs = await link.leases.ageMs();
      const stored = await link.leases.get(leaseKey(entry.shard));
      const lease = stored ? decodedLease(stored.value) : null;
      if (lease) return { text: takenText(entry, lease), isOther: entry.shard !== shard };
      if (ageMs < settledMs) return { text: takenText(entry, null), isOther: false };
    }
    return null;
  }

  #lease({ epoch }: RosterEntry): Uint8Array {
    const { traits, details } = this.#options;
    return encoded({ ...this.#claim, ...traits, ...details(), epoch });
  }

  #plan(): void {
    if (this.#isOver) return;
    this.#cancel = this.#options.later(renewalMs, () => {
      this.#renewNow();
    });
  }

  #renewNow(): void {
    if (this.#renewing !== null) return;
    this.#cancel();
    this.#renewing = this.#renew().finally(() => {
      this.#renewing = null;
      this.#plan();
    });
  }

  async #renew(): Promise<void> {
    const { link, log } = this.#options;
    const entry = this.#entry;
    if (!entry || link.state !== 'connected') return;
    try {
      if (await this.#renewed(entry)) return;
    } catch (error) {
      log.warning(`the lease of "${entry.shard}" cannot be renewed: ${errorText(error)}`);
      return;
    }
    if (this.#isOver) return;
    this.#end();
    this.#options.onLost(`another process has taken the shard "${entry.shard}"`);
  }

  /** @returns false: another session has the lease or the claim */
  async #renewed(entry: RosterEntry): Promise<boolean> {
    const { leases } = this.#options.link;
    const key = leaseKey(entry.shard);
    if (this.#revision !== null) {
      this.#revision = await unlessConflict(leases.update(key, this.#lease(entry), this.#revision));
      if (this.#revision !== null) return true;
    }
    const present = await leases.get(key);
    if (present && decodedLease(present.value).session !== entry.session) return false;
    if (!(await this.#keepsClaim(entry))) return false;
    this.#revision = await unlessConflict(
      present ? leases.update(key, this.#lease(entry), present.revision) : leases.create(key, this.#lease(entry)),
    );
    return this.#revision === null || present !== null || this.#isSettled(entry);
  }

  /** @returns false: the roster has another claim; a roster that the server has lost gets this one again */
  async #keepsClaim(entry: RosterEntry, access: 'read' | 'written anew' = 'read'): Promise<boolean> {
    const { link, traits, clock } = this.#options;
    // all shards of a fleet write their claims at the same time then
    for (let attempt = 0; attempt < rosterAttempts; attempt += 1) {
      const stored = await link.shared.get(rosterKey);
      const roster = stored ? decodedRoster(stored.value) : emptyRoster;
      if (roster.entries.some(({ session }) => session === entry.session)) {
        if (access === 'read' || (await this.#stored(stored, roster))) return true;
        continue;
      }
      if (rivals(roster, this.#claim).length > 0) return false;
      const [next] = withClaim(roster, this.#claim, traits, clock.nowMs());
      const entries = next.entries.map((each) => (each.session === entry.session ? entry : each));
      if (await this.#stored(stored, { traits: next.traits, entries })) return true;
    }
    throw new FleetError('conflict', 'the roster changes all the time');
  }
}

/** @returns null: the key has another revision. @throws FleetError */
async function unlessConflict(work: Promise<number>): Promise<number | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FleetError && error.code === 'conflict') return null;
    throw error;
  }
}
