/**
 * The leader's side of stepping: all shards advance piece by piece to the same instants, as the devices of one process
 * do. A tick is one `prepare`, which begins it, and one `go` for each piece; the last one ends it.
 */
import type { FleetClaims, LedPiece } from '../../contract/fleet-site.ts';
import { errorText } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { FleetError } from '../link.ts';
import { writtenPiece } from '../site/messages.ts';
import type { Go, Prepare, Standing, StepNumber } from './messages.ts';

/** A shard that is stepped. */
export interface BarrierMember {
  readonly shard: string;
  /** @throws FleetError */
  prepare(message: Prepare): Promise<Standing>;
  /** Claims of limits of the fleet up to an instant. @throws FleetError */
  claim(endUs: SimTime): Promise<FleetClaims>;
  /** @throws FleetError */
  go(message: Go): Promise<Standing>;
}

/** The limits of the fleet, as they are shared while the clock is stepped. */
export interface StepSharing {
  /** True if the fleet has limits. */
  readonly isLimited: boolean;
  /** The shares of a piece of time, in the order of the claims, which is that of the devices. */
  share(claims: readonly FleetClaims[], endUs: SimTime): readonly LedPiece[];
}

export interface MemberFailure {
  readonly shard: string;
  /** `silent`: it may still carry out the message; `lost`: its process is gone; `refused`: it goes on without the tick */
  readonly kind: 'silent' | 'lost' | 'refused';
  readonly reason: string;
}

export interface TickOutcome {
  readonly tick: number;
  readonly simUs: SimTime;
  /** shards at the end of the tick */
  readonly reached: readonly string[];
  /** shards that did not reach it */
  readonly failed: readonly MemberFailure[];
}

/** No tick has ended: shards have refused it, or one is silent. */
export class BarrierError extends Error {
  readonly failed: readonly MemberFailure[];
  constructor(failed: readonly MemberFailure[]) {
    super(failed.map(({ shard, reason }) => `shard "${shard}": ${reason}`).join('; '));
    this.name = 'BarrierError';
    this.failed = failed;
  }
}

export interface TickRequest {
  /** absent: the fleet has no limits of its site */
  readonly sharing?: StepSharing;
  /** end of the tick, by the instant of its begin */
  readonly endUs: (beginUs: SimTime) => SimTime;
  /** as in `Prepare` */
  readonly by: Origin | null;
}

/** A member with its last answer. */
interface Stand {
  readonly member: BarrierMember;
  readonly at: Standing;
}

/** The shards of a piece with what they get of the limits of the fleet. */
interface SharedPiece {
  readonly stands: readonly Stand[];
  readonly of: ReadonlyMap<string, object>;
}

const kindOf = (error: unknown): MemberFailure['kind'] => {
  if (!(error instanceof FleetError)) return 'refused';
  if (error.code === 'no-responder') return 'lost';
  return error.code === 'timeout' || error.code === 'offline' ? 'silent' : 'refused';
};

const furthestOf = (stands: readonly Stand[]) => Math.max(...stands.map(({ at }) => at.atUs)) as SimTime;
const newestOf = (stands: readonly Stand[]) => Math.max(...stands.map(({ at }) => at.tick));

/** The next instant at which any shard cuts its ticks, at most `endUs`. */
export function nextCut(
  standings: readonly Standing[],
  fromUs: SimTime,
  endUs: SimTime,
  isFleetLimited = false,
): SimTime {
  const anyLimit = isFleetLimited || standings.some(({ isLimited }) => isLimited);
  // limits anywhere cut the ticks of all, as those of one process, where loads of all devices count
  const cuts = standings.flatMap(({ dueUs, sharingUs }) => [dueUs ?? Infinity, ...(anyLimit ? [sharingUs] : [])]);
  return Math.min(endUs, ...cuts.filter((cut) => cut > fromUs)) as SimTime;
}

export class Barrier {
  readonly #term: number;
  #step = 0;

  /** @param term that of the leader: messages of earlier leaders are refused */
  constructor(term: number) {
    this.#term = term;
  }

  /**
   * Runs one tick.
   * @throws BarrierError where nothing has ended: a shard has refused the begin, or is silent
   */
  async tick(members: readonly BarrierMember[], { endUs, by, sharing }: TickRequest): Promise<TickOutcome> {
    const failed: MemberFailure[] = [];
    let stands = await this.#prepared(members, by, failed);
    const begin = furthestOf(stands);
    const end = endUs(begin);
    if (end <= begin) {
      await this.#settle(stands);
      return { tick: newestOf(stands), simUs: begin, reached: stands.map(({ member }) => member.shard), failed };
    }
    const tick = newestOf(stands) + 1;
    for (let at = begin; at < end; ) {
      const to = nextCut(
        stands.map((stand) => stand.at),
        at,
        end,
        sharing?.isLimited,
      );
      const pieces = sharing && (await this.#share(stands, failed, sharing));
      stands = await this.#all(pieces?.stands ?? stands, failed, (member, number) =>
        member.go({
          ...number,
          toUs: to,
          tick: to === end ? tick : null,
          ...(pieces && { site: pieces.of.get(member.shard) ?? null }),
        }),
      );
      if (stands.length === 0) throw new BarrierError(failed);
      at = to;
    }
    return { tick, simUs: end, reached: stands.map(({ member }) => member.shard), failed };
  }

  /**
   * Shares the limits of the fleet from the instant of the shards on.
   * @returns the shards that have claimed, and their pieces; none where there are no limits
   */
  async #share(stands: readonly Stand[], failed: MemberFailure[], sharing: StepSharing): Promise<SharedPiece> {
    if (!sharing.isLimited) return { stands, of: new Map() };
    const endUs = Math.min(...stands.map(({ at }) => at.sharingUs)) as SimTime;
    const claimed = await this.#ask(stands, failed, async ({ member, at }) => ({
      member,
      at,
      claims: await member.claim(endUs),
    }));
    if (claimed.length === 0) throw new BarrierError(failed);
    const inOrder = claimed
      .filter(({ claims }) => claims.indexes.length > 0)
      .sort((a, b) => (a.claims.indexes[0] ?? 0) - (b.claims.indexes[0] ?? 0));
    const pieces =
      inOrder.length === 0
        ? []
        : sharing.share(
            inOrder.map(({ claims }) => claims),
            endUs,
          );
    return {
      stands: claimed,
      of: new Map(
        inOrder.flatMap(({ member }, i) => {
          const piece = pieces[i];
          return piece === undefined ? [] : [[member.shard, writtenPiece(piece)] as const];
        }),
      ),
    };
  }

  /** Begins a tick in all shards, from one instant. */
  async #prepared(
    members: readonly BarrierMember[],
    by: Origin | null,
    failed: MemberFailure[],
  ): Promise<readonly Stand[]> {
    for (let attempt = 0; ; attempt += 1) {
      const present = members.filter(({ shard }) => !failed.some((each) => each.shard === shard));
      const stands = await this.#all(present, failed, (member, number) => member.prepare({ ...number, by }));
      const refused = failed.filter(({ kind }) => kind === 'refused');
      if (refused.length > 0 || stands.length === 0) {
        // nothing has advanced: the tick ends where it began
        await this.#settle(stands);
        throw new BarrierError(refused.length > 0 ? refused : failed);
      }
      const furthest = furthestOf(stands);
      if (stands.every(({ at }) => at.atUs === furthest && !at.isResumed)) return stands;
      if (attempt === maxSettlings) throw new BarrierError([{ shard: stands[0]?.member.shard ?? '', ...unsettled }]);
      await this.#settle(stands);
    }
  }

  /** Ends open ticks, and brings all shards to the furthest instant that one has reached. */
  async #settle(stands: readonly Stand[]): Promise<void> {
    if (stands.length === 0) return;
    const toUs = furthestOf(stands);
    // a shard behind the others comes to their last tick, and one that they have not ended gets the next number
    const tick = newestOf(stands) + (stands.some(({ at }) => at.isResumed) ? 1 : 0);
    await this.#all(stands, [], (member, number) => member.go({ ...number, toUs, tick }));
  }

  /**
   * Sends one message to all, and waits for all answers.
   * @param failed gets those that have failed
   * @throws BarrierError where one is silent: the others stand where the message has brought them
   */
  async #all(
    members: readonly (BarrierMember | Stand)[],
    failed: MemberFailure[],
    send: (member: BarrierMember, number: StepNumber) => Promise<Standing>,
  ): Promise<readonly Stand[]> {
    this.#step += 1;
    const number = { term: this.#term, step: this.#step };
    const reached = members.map((each) => ({ member: 'member' in each ? each.member : each }));
    return this.#ask(reached, failed, async ({ member }) => ({ member, at: await send(member, number) }));
  }

  /** As `#all`, for any answer. */
  async #ask<T extends { readonly member: BarrierMember }, R extends { readonly at: Standing }>(
    members: readonly T[],
    failed: MemberFailure[],
    ask: (member: T) => Promise<R>,
  ): Promise<readonly R[]> {
    const outcomes = await Promise.all(
      members.map(async (each): Promise<R | MemberFailure> => {
        try {
          return await ask(each);
        } catch (error) {
          return { shard: each.member.shard, kind: kindOf(error), reason: errorText(error) };
        }
      }),
    );
    const failures = outcomes.filter((outcome) => 'kind' in outcome);
    failed.push(...failures);
    const silent = failures.filter(({ kind }) => kind === 'silent');
    if (silent.length > 0) throw new BarrierError(silent);
    return outcomes.filter((outcome) => 'at' in outcome);
  }
}

const maxSettlings = 2;
const unsettled = { kind: 'refused', reason: 'the shards do not reach one instant' } as const;
