/** The clock of a fleet in the gateway that leads: changes it for all shards at one instant, steps it, and waits for slow ones. */
import { errorText, SimError } from '../../core/errors.ts';
import type { FleetClaims } from '../../contract/fleet-site.ts';
import type { Logger } from '../../core/log/log.ts';
import { plainOrigin } from '../../core/origin.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { ClockPatch, SimTime, WallClock } from '../../core/time/clock.ts';
import { SimClock } from '../../core/time/sim-clock.ts';
import { Turns } from '../../core/turns.ts';
import { epochHeader } from '../fence.ts';
import { FleetError } from '../link.ts';
import type { FleetLink, FleetMessage, Stop } from '../link.ts';
import { Barrier, BarrierError } from './barrier.ts';
import type { BarrierMember, MemberFailure, StepSharing, TickOutcome } from './barrier.ts';
import { claimRequest, readClaims } from '../site/messages.ts';
import { clockMessage, clockSubject, readReady, readStanding } from './messages.ts';
import type { ClockVerb, Go, Prepare, SetReady, Standing } from './messages.ts';
import { isPaused, simOf, slotEndMs, tickAt, tickUsOf } from './record.ts';
import type { ClockRecord } from './record.ts';
import { SlowShards } from './slow-shards.ts';
import type { FollowedTick } from './slow-shards.ts';
import { ClockStore } from './store.ts';

/** a shard without a sign of life for so long is silent */
const silentMs = 30_000;
/** time in which all shards agree to a change */
const agreeMs = 1000;
/** a paused clock starts so long after the change, which has reached all shards by then */
const startMs = 300;
/** slots between the present one and that of a change */
const slotsAhead = 2;
/** long steps keep the instant for processes that start meanwhile */
const keepEveryMs = 5000;
/** between two requests to a shard that does not serve, a little more than makes it lost */
const betweenMs = 550;
/** ticks of one request */
const maxSteps = 100_000;

/** A living shard. */
export interface ClockShard {
  readonly shard: string;
  /** of the process that has its name */
  readonly epoch: number;
  /** aborted with a FleetError when it is lost */
  readonly lost: AbortSignal;
}

export interface ClockKeeperOptions {
  readonly link: Pick<FleetLink, 'shared' | 'leases' | 'request'>;
  readonly prefix: string;
  readonly wall: WallClock;
  /** time of the fleet, ms */
  readonly nowMs: () => number;
  /** living shards in the order of their devices */
  readonly shards: () => readonly ClockShard[];
  /** A request to a shard found nobody. */
  readonly noResponder: (shard: string) => void;
  /** Resolves after so many ms. */
  readonly wait: (ms: number) => Promise<void>;
  /** Resolves when the ticks of these shards have come, at least up to this number. */
  readonly ticksCome: (shards: readonly string[], tick: number) => Promise<void>;
  /** limits of the fleet while it is stepped; default: none */
  readonly sharing?: StepSharing;
  /** `hold`: all shards wait for a slow one */
  readonly pace: 'hold' | 'free';
  readonly log: Pick<Logger, 'info' | 'warning'>;
  /** false: another gateway may lead by now, so that nothing is begun here */
  readonly leads: () => boolean;
}

export interface ClockOutcome {
  /** shards that have carried the request out */
  readonly applied: readonly string[];
  readonly failed: readonly MemberFailure[];
}

/** One shard over the link. */
class LinkMember implements BarrierMember {
  readonly shard: string;
  readonly #options: ClockKeeperOptions;
  readonly #lost: AbortSignal;
  readonly #epoch: number;

  constructor({ shard, epoch, lost }: ClockShard, options: ClockKeeperOptions) {
    this.shard = shard;
    this.#epoch = epoch;
    this.#lost = lost;
    this.#options = options;
  }

  async prepare(message: Prepare): Promise<Standing> {
    return readStanding(await this.#ask('prepare', clockMessage(message), silentMs, true));
  }

  async claim(endUs: SimTime): Promise<FleetClaims> {
    return readClaims(await this.#ask('claim', claimRequest(endUs), silentMs, true));
  }

  async go(message: Go): Promise<Standing> {
    return readStanding(await this.#ask('go', clockMessage(message), silentMs, true));
  }

  async set(message: object, limitMs: number, whileAlive: boolean): Promise<SetReady> {
    return readReady(await this.#ask('set', clockMessage(message), limitMs, whileAlive));
  }

  /** A process serves some moments after its lease, and a killed one is known as lost by the second request. */
  async #ask(verb: ClockVerb, message: FleetMessage, limitMs: number, whileAlive: boolean): Promise<FleetMessage> {
    const { link, prefix, noResponder, wait } = this.#options;
    const subject = clockSubject(prefix, verb, this.shard);
    const headers = { ...message.headers, [epochHeader]: String(this.#epoch) };
    const asked = { headers, body: message.body };
    const ask = () => link.request(subject, asked, limitMs, { signal: this.#lost, whileAlive });
    try {
      return await ask();
    } catch (error) {
      if (!isNobody(error) || this.#lost.aborted) throw error;
    }
    noResponder(this.shard);
    await wait(betweenMs);
    try {
      return await ask();
    } catch (error) {
      if (isNobody(error)) noResponder(this.shard);
      throw error;
    }
  }
}

const isNobody = (error: unknown) => error instanceof FleetError && error.code === 'no-responder';

const failureOf = (shard: string, error: unknown): MemberFailure => {
  const code = error instanceof FleetError ? error.code : null;
  const kind = code === 'no-responder' ? 'lost' : code === 'timeout' || code === 'offline' ? 'silent' : 'refused';
  return { shard, kind, reason: errorText(error) };
};

export class ClockKeeper {
  readonly #options: ClockKeeperOptions;
  readonly #store: ClockStore;
  /** one request at a time */
  readonly #turns = new Turns();
  #record: ClockRecord | null = null;
  #barrier: Barrier | null = null;
  #stopWatch: Stop = () => undefined;
  /** number of changes that end a step under way */
  #endedSteps = 0;
  readonly #slow = new SlowShards();
  #isMoving = false;

  constructor(options: ClockKeeperOptions) {
    this.#options = options;
    this.#store = new ClockStore(options.link);
  }

  /** The present record; null: no shard has started yet. */
  get record(): ClockRecord | null {
    return this.#record;
  }

  start(): void {
    const { log } = this.#options;
    this.#stopWatch = this.#store.watch(
      (record) => {
        this.#take(record);
      },
      (error) => {
        log.warning(`the clock of the fleet: ${errorText(error)}`);
      },
    );
  }

  stop(): void {
    this.#stopWatch();
  }

  #take(record: ClockRecord): void {
    if (this.#record?.fleet === record.fleet && record.seq < this.#record.seq) return;
    this.#record = record;
  }

  /** The next request begins a new term, by which messages of former leaders are refused. */
  beginTerm(): void {
    this.#barrier = null;
    this.#slow.clear();
  }

  /**
   * Changes the clock of all shards at the end of one slot, or none.
   * @throws SimError COMMAND_CONFLICT where a shard refuses, COMMAND_BAD_VALUE; FleetError
   */
  change(patch: ClockPatch, by: Origin): Promise<ClockOutcome> {
    // a step under way ends after its present tick
    if (patch.mode !== undefined && patch.mode !== 'paused') this.#endedSteps += 1;
    return this.#turns.take(async () => {
      this.#checkLeads();
      const present = await this.#present();
      const members = this.#members();
      const atTick = isPaused(present) ? null : this.#tickAhead(present);
      const seq = present.seq + 1;
      const asked = await this.#askAll(members, (member) =>
        member.set({ phase: 'prepare', term: present.term, seq, atTick }, agreeMs, false),
      );
      if (asked.failed.length > 0) throw new BarrierError(asked.failed);
      this.#checkLeads();
      const next = changed(present, patch, this.#origin(present, atTick, asked.done));
      const changedBy = this.#writer(by, next.sim0Us);
      const record = await this.#replace(present, { ...next, seq, changedBy, madeMs: this.#options.nowMs() });
      const committed = await this.#askAll(members, (member) =>
        member.set({ phase: 'commit', record }, silentMs, true),
      );
      return { applied: committed.done.map(({ shard }) => shard), failed: committed.failed };
    });
  }

  /** The tick at whose end a change comes into force: all shards have agreed by then. */
  #tickAhead(record: ClockRecord): number {
    const nowMs = this.#options.nowMs();
    return Math.max(tickAt(record, nowMs) + slotsAhead, tickAt(record, nowMs + agreeMs) + 1, record.tick0);
  }

  /** Begin of the new grid. */
  #origin(present: ClockRecord, atTick: number | null, ready: readonly ReadyShard[]): GridOrigin {
    if (atTick !== null) return { tick0: atTick, wall0Ms: slotEndMs(present, atTick), sim0Us: simOf(present, atTick) };
    const sim0Us = Math.max(present.sim0Us, ...ready.map(({ simUs }) => simUs)) as SimTime;
    const tick0 = Math.max(present.tick0, ...ready.map(({ tick }) => tick));
    return { tick0, wall0Ms: this.#options.nowMs() + startMs, sim0Us };
  }

  /**
   * Runs ticks while the clock is paused.
   * @param length number of ticks, or the instant at which the last one ends
   * @throws SimError COMMAND_CONFLICT, COMMAND_BAD_VALUE; BarrierError
   */
  step(length: { readonly ticks: number } | { readonly untilUs: SimTime }, by: Origin): Promise<ClockOutcome> {
    const endedSteps = this.#endedSteps;
    return this.#turns.take(async () => {
      let last: TickOutcome | null = null;
      let steppedBy: Provenance | null = null;
      let keptMs = this.#options.wall.monotonicMs();
      try {
        for (let done = 0; 'ticks' in length ? done < length.ticks : true; done += 1) {
          if (this.#endedSteps !== endedSteps)
            throw new SimError(
              'COMMAND_CONFLICT',
              `the clock left the mode paused; ${done} ticks of the request have run`,
            );
          const record = await this.#pausedRecord(done === 0);
          this.#checkLeads();
          if ('untilUs' in length && isReached(record, last?.simUs ?? record.sim0Us, length.untilUs)) break;
          steppedBy ??= this.#writer(by, record.sim0Us);
          last = await this.#tick(record, length, done === 0 ? by : null);
          if (last.failed.length > 0) break;
          if (this.#options.wall.monotonicMs() - keptMs > keepEveryMs) {
            await this.#keep(last, steppedBy);
            keptMs = this.#options.wall.monotonicMs();
          }
        }
      } finally {
        if (last !== null) await this.#keep(last, steppedBy);
      }
      return { applied: last?.reached ?? this.#options.shards().map(({ shard }) => shard), failed: last?.failed ?? [] };
    });
  }

  /** The lease of the leader may have ended while something was waited for. @throws FleetError `offline` */
  #checkLeads(): void {
    if (!this.#options.leads()) throw new FleetError('offline', 'this gateway no longer leads the fleet');
  }

  /** @throws SimError COMMAND_CONFLICT */
  async #pausedRecord(isFirst: boolean): Promise<ClockRecord> {
    const record = isFirst || this.#record === null ? await this.#present() : this.#record;
    if (!isPaused(record))
      throw new SimError('COMMAND_CONFLICT', 'stepping needs the clock paused: POST controls/time {"mode":"paused"}');
    return record;
  }

  async #tick(
    record: ClockRecord,
    length: { readonly ticks: number } | { readonly untilUs: SimTime },
    by: Origin | null,
  ): Promise<TickOutcome> {
    const { ticksCome, sharing } = this.#options;
    const barrier = (this.#barrier ??= new Barrier((await this.#newTerm()).term));
    const tickS = tickUsOf(record) / 1e6;
    const outcome = await barrier.tick(this.#members(), {
      by,
      ...(sharing && { sharing }),
      endUs(begin) {
        const end = addSeconds(begin, tickS);
        return 'untilUs' in length ? (Math.min(end, length.untilUs) as SimTime) : end;
      },
    });
    await ticksCome(outcome.reached, outcome.tick);
    return outcome;
  }

  /** A process that starts now begins where the fleet is. Another leader may have stepped further, or started the clock. */
  async #keep({ tick, simUs }: TickOutcome, steppedBy: Provenance | null): Promise<void> {
    const madeMs = this.#options.nowMs();
    const record = await this.#store.replace((present) => {
      if (present === null || !isPaused(present) || present.sim0Us > simUs) return null;
      return { ...present, seq: present.seq + 1, tick0: tick, sim0Us: simUs, madeMs, steppedBy };
    });
    if (record !== null) this.#take(record);
  }

  #writer(by: Origin, at: SimTime): Provenance {
    return { ...plainOrigin(by), at, wallMs: this.#options.wall.nowMs() };
  }

  /** @throws FleetError */
  async #present(): Promise<ClockRecord> {
    const record = await this.#store.read();
    if (record === null) throw new FleetError('no-responder', 'no shard has joined the fleet yet');
    this.#take(record);
    return record;
  }

  async #newTerm(): Promise<ClockRecord> {
    const record = await this.#store.replace(
      (present) => present && { ...present, term: present.term + 1, seq: present.seq + 1 },
    );
    if (record === null) throw new FleetError('no-responder', 'no shard has joined the fleet yet');
    this.#take(record);
    return record;
  }

  /** @throws SimError COMMAND_CONFLICT where another one has changed the clock meanwhile */
  async #replace(present: ClockRecord, next: ClockRecord): Promise<ClockRecord> {
    const record = await this.#store.replace((stored) => (stored?.seq === present.seq ? next : null));
    if (record?.seq !== next.seq) throw new SimError('COMMAND_CONFLICT', 'the clock has changed meanwhile');
    this.#take(record);
    return record;
  }

  #members(): readonly LinkMember[] {
    const members = this.#options.shards().map((shard) => new LinkMember(shard, this.#options));
    if (members.length === 0) throw new FleetError('no-responder', 'no shard of the fleet answers');
    return members;
  }

  async #askAll(
    members: readonly LinkMember[],
    ask: (member: LinkMember) => Promise<SetReady>,
  ): Promise<{ readonly done: readonly ReadyShard[]; readonly failed: readonly MemberFailure[] }> {
    const outcomes = await Promise.all(
      members.map(async (member) => {
        try {
          return { shard: member.shard, ...(await ask(member)) };
        } catch (error) {
          return failureOf(member.shard, error);
        }
      }),
    );
    return {
      done: outcomes.filter((outcome) => 'simUs' in outcome),
      failed: outcomes.filter((outcome) => 'kind' in outcome),
    };
  }

  /** @see SlowShards.lose */
  lose(session: string): void {
    this.#slow.lose(session);
  }

  /**
   * Moves the grid where a shard is more than one tick behind it, so that all wait. One that returns, and catches up,
   * does not count.
   * @param head of a message that has just come
   */
  async follow(head: FollowedTick): Promise<void> {
    const record = this.#record;
    if (this.#options.pace === 'free' || record === null || isPaused(record) || this.#isMoving) return;
    const behind = this.#slow.slotsBehind(head, record, this.#options.nowMs());
    if (behind === 0) return;
    this.#isMoving = true;
    try {
      const moved = await this.#store.replace((present) =>
        present?.seq === record.seq ? { ...present, ...delayed(present, behind), seq: present.seq + 1 } : null,
      );
      if (moved !== null) this.#take(moved);
    } catch (error) {
      this.#options.log.warning(`the clock of the fleet cannot wait for a slow shard: ${errorText(error)}`);
    } finally {
      this.#isMoving = false;
    }
  }
}

/** @throws SimError COMMAND_BAD_VALUE for an instant that has passed, or is too far ahead */
function isReached(record: ClockRecord, at: SimTime, untilUs: SimTime): boolean {
  const aheadS = (untilUs - record.sim0Us) / 1e6;
  const tickS = tickUsOf(record) / 1e6;
  if (at === record.sim0Us && aheadS < 0)
    throw new SimError('COMMAND_BAD_VALUE', `the instant lies ${-aheadS} s in the past`);
  if (aheadS > maxSteps * tickS)
    throw new SimError(
      'COMMAND_BAD_VALUE',
      `the instant lies ${aheadS} s ahead, at ${tickS} s per tick; allowed: up to ${maxSteps} ticks`,
    );
  return at >= untilUs;
}

interface ReadyShard extends SetReady {
  readonly shard: string;
}

type GridOrigin = Pick<ClockRecord, 'tick0' | 'wall0Ms' | 'sim0Us'>;

/** The grid by so many slots later. */
const delayed = ({ wall0Ms, tickS }: ClockRecord, slots: number) => ({ wall0Ms: wall0Ms + slots * tickS * 1000 });

const still: WallClock = { nowMs: () => 0, monotonicMs: () => 0 };

/** The record after a change. @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT */
export function changed(present: ClockRecord, patch: ClockPatch, origin: GridOrigin): ClockRecord {
  const { mode, rate, timezone } = present;
  // dates of a clock that follows the wall go on from there
  const shiftMs = mode === 'wall_clock' ? origin.wall0Ms - origin.sim0Us / 1000 : present.shiftMs;
  const clock = new SimClock(still, { mode: 'paused', rate, timezone }, origin.sim0Us, shiftMs);
  // the checks of a single process, without its wall clock
  clock.set({ ...patch, mode: patch.mode ?? mode });
  const { settings } = clock;
  const follows = settings.mode === 'wall_clock';
  return { ...present, ...settings, ...origin, shiftMs: follows ? shiftMs : clock.shiftMs };
}
