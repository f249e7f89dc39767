/**
 * The time of a remote system (2030.5 server, OCPP central system, DNP3 master), one clock per peer. It is an offset on
 * one of two clocks that never go back: that of the machine, or the simulated one. A jump of the system clock, or a
 * change of the simulated time of day, therefore moves neither the remote time nor the acts that wait for it. Before
 * the first `sync` the remote time is the local calendar: the system clock, or the simulated date.
 */
import { errorText, SimError } from '../errors.ts';
import type { Logger } from '../log/log.ts';
import { simTimeFromMs } from './clock.ts';
import type { SimTime, WallClock } from './clock.ts';
import { Scheduler } from './scheduler.ts';
import type { Later } from './timers.ts';

/** The clock that carries the time of remote systems. */
export const remoteClockModes = ['wall', 'simulated'] as const;
export type RemoteClockMode = (typeof remoteClockModes)[number];

export interface RemoteClock {
  /** Remote time now, ms since the epoch. */
  nowMs(): number;
  /**
   * Remote time of a simulated instant, ms since the epoch, for the time stamps of events. In `wall` an instant of
   * the past is dated back by `SimTimeline.ageMs`.
   */
  ofSim(t: SimTime): number;
  /**
   * Local instant of a present event, ms on the clock of the mode. Stored with the event, it gives the same remote time
   * later (`ofLocal`), whatever the simulated clock has done since. In `wall` it is the present, in `simulated` it is
   * `t`, or the time shown if the clock is paused after `t`.
   */
  localOf(t: SimTime): number;
  /** Remote time of a local instant, ms since the epoch. */
  ofLocal(localMs: number): number;
  /** Simulated instant of a remote time, ms since the epoch, until the next `sync`; null: `wall` clock. */
  simOf(remoteMs: number): SimTime | null;
  /**
   * Sets the clock to the time of the peer and replans waiting acts.
   * @param remoteMs ms since the epoch
   * @param monotonicMs instant of that time on `WallClock.monotonicMs`: the middle of a request
   * @throws SimError PEER_ERROR for a time beyond any date; the clock stays as it is
   */
  sync(remoteMs: number, monotonicMs: number): void;
  /** Seconds by which the remote time is ahead of the local calendar; null before the first `sync`. */
  readonly offsetS: number | null;
  /**
   * Calls `act` once when the remote time reaches `remoteMs`, or soon after this call if it has passed, never within
   * the call. In `wall` it runs to the millisecond, also between two ticks; in `simulated` at the exact simulated
   * instant. A time that a `sync` jumps over counts as reached, and an act does not run again after a jump back. Acts
   * run in order of time, then of registration. A failing act is logged.
   * @returns cancels the act; without effect after it has run
   */
  at(remoteMs: number, act: () => void): () => void;
  /** Drops every act. */
  clear(): void;
}

/** The simulated clock and its scheduler, as remote clocks use them. */
export interface SimTimeline {
  /** the present instant */
  readonly sim: () => SimTime;
  /** simulated date of an instant, ms since the epoch */
  readonly dateMs: (t: SimTime) => number;
  /** simulated seconds per real second, kept while paused */
  readonly rate: () => number;
  /** real ms from an instant to the present; default: computed with the present rate */
  readonly ageMs?: (t: SimTime) => number;
  readonly paused: () => boolean;
  /** calls `act` at a simulated instant, never within the call; the returned function cancels it */
  readonly at: (t: SimTime, act: () => void) => () => void;
}

export interface RemoteClockOptions {
  readonly mode: RemoteClockMode;
  readonly wall: WallClock;
  readonly later: Later;
  readonly timeline: SimTimeline;
  /** receives the warning about rates */
  readonly log: Pick<Logger, 'warning'>;
}

/** Makes the clock of one peer. @param log receives failures of its acts */
export type RemoteClockFactory = (log: Pick<Logger, 'error'>) => RemoteClock;

/** Node fires a timer with a longer wait at once. */
const maxWaitMs = 2 ** 31 - 1;
/** An act runs at most this much early: timers and conversions round. */
const earlyMs = 0.5;
/** Dates that JavaScript can show. */
const maxDateMs = 8.64e15;

/** A local clock that never goes back, in ms from an arbitrary start. */
interface LocalClock {
  now(): number;
  /** of a reading of the machine's monotonic clock */
  ofMonotonic(ms: number): number;
  ofSim(t: SimTime): number;
  /** null: the clock is that of the machine */
  simOf(localMs: number): SimTime | null;
  /** local instant of a present event */
  stamp(t: SimTime): number;
  /** offset to the local calendar, ms, at present */
  readonly calendarMs: number;
  /** calls `run` at an instant, or earlier if that is beyond the longest timer; never within the call */
  wait(localMs: number, run: () => void): () => void;
}

function wallClock({ wall, later, timeline }: RemoteClockOptions): LocalClock {
  const now = () => wall.monotonicMs();
  const ageMs = timeline.ageMs ?? ((t) => Math.max(0, timeline.sim() - t) / 1000 / timeline.rate());
  return {
    now,
    ofMonotonic: (ms) => ms,
    ofSim: (t) => now() - ageMs(t),
    simOf: () => null,
    stamp: now,
    get calendarMs() {
      return wall.nowMs() - now();
    },
    wait: (localMs, run) => later(Math.max(0, Math.min(localMs - now(), maxWaitMs)), run),
  };
}

function simulatedClock({ wall, timeline }: RemoteClockOptions): LocalClock {
  const now = () => timeline.sim() / 1000;
  return {
    now,
    ofMonotonic: (ms) => now() - (timeline.paused() ? 0 : Math.max(0, wall.monotonicMs() - ms) * timeline.rate()),
    ofSim: (t) => t / 1000,
    simOf: simTimeFromMs,
    // while the clock is paused between two ticks, events have the end of the last tick, but the time shown is later
    stamp: (t) => Math.max(t, timeline.paused() ? timeline.sim() : t) / 1000,
    get calendarMs() {
      return timeline.dateMs(timeline.sim()) - now();
    },
    wait: (localMs, run) => timeline.at(simTimeFromMs(localMs), run),
  };
}

class PeerClock implements RemoteClock {
  readonly #local: LocalClock;
  readonly #log: Pick<Logger, 'error'>;
  readonly #checkRate: () => void;
  readonly #acts = new Scheduler<number>();
  /** remote minus local time, ms; null before the first `sync` */
  #shiftMs: number | null = null;
  #endWait: (() => void) | null = null;

  constructor(local: LocalClock, log: Pick<Logger, 'error'>, checkRate: () => void) {
    this.#local = local;
    this.#log = log;
    this.#checkRate = checkRate;
  }

  get #shift(): number {
    return this.#shiftMs ?? this.#local.calendarMs;
  }

  get offsetS(): number | null {
    return this.#shiftMs === null ? null : (this.#shiftMs - this.#local.calendarMs) / 1000;
  }

  nowMs(): number {
    return this.#local.now() + this.#shift;
  }

  ofSim(t: SimTime): number {
    return this.#local.ofSim(t) + this.#shift;
  }

  simOf(remoteMs: number): SimTime | null {
    return this.#local.simOf(remoteMs - this.#shift);
  }

  localOf(t: SimTime): number {
    return this.#local.stamp(t);
  }

  ofLocal(localMs: number): number {
    return localMs + this.#shift;
  }

  sync(remoteMs: number, monotonicMs: number): void {
    if (!(Math.abs(remoteMs) <= maxDateMs)) throw new SimError('PEER_ERROR', 'the time of the peer is not a date');
    this.#checkRate();
    this.#shiftMs = remoteMs - this.#local.ofMonotonic(monotonicMs);
    this.#plan();
  }

  at(remoteMs: number, act: () => void): () => void {
    if (Number.isNaN(remoteMs)) throw new SimError('COMMAND_BAD_VALUE', 'an act needs the instant at which it runs');
    this.#checkRate();
    const next = this.#acts.nextDue;
    const timer = this.#acts.at(remoteMs, () => {
      try {
        act();
      } catch (error) {
        this.#log.error(`a timed act failed: ${errorText(error)}`);
      }
    });
    if (remoteMs < next) this.#plan();
    return () => {
      if (!timer.waiting) return;
      this.#acts.cancel(timer);
      this.#plan();
    };
  }

  clear(): void {
    this.#acts.clear();
    this.#plan();
  }

  /** Waits for the next act, in place of a wait under way. */
  #plan(): void {
    this.#endWait?.();
    this.#endWait = null;
    const due = this.#acts.nextDue;
    if (due === Infinity) return;
    this.#endWait = this.#local.wait(due - this.#shift, () => {
      this.#endWait = null;
      // one at a time: on the machine's clock other work runs between two acts
      if (this.nowMs() >= due - earlyMs) this.#acts.runNext(due);
      this.#plan();
    });
  }
}

/** The remote clocks of one process, whose warning about rates is given once. */
export function remoteClocks(options: RemoteClockOptions): RemoteClockFactory {
  const { mode, timeline, log } = options;
  let warned = mode === 'simulated';
  const checkRate = () => {
    if (warned || timeline.rate() === 1) return;
    warned = true;
    log.warning(
      `the simulated clock runs at rate ${timeline.rate()} and the time of remote systems at 1: durations that they set ` +
        'are longer or shorter for the devices; --remote_clock simulated puts both on one clock',
    );
  };
  const local = mode === 'wall' ? wallClock(options) : simulatedClock(options);
  return (peerLog) => new PeerClock(local, peerLog, checkRate);
}
