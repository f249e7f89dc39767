/** Times of a server: its Time, which the remote clock follows, and the Times of FSAs, as offsets from it. */
import { errorText } from '../../core/errors.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Received } from '../xml/schema.ts';
import type { Time } from '../xml/documents.ts';

/** Difference that still counts as agreement, beyond the whole second of `currentTime`: the request takes time. */
const toleranceMs = 250;
/** A larger offset is logged as a warning. */
const bigOffsetS = 60;
/** Smaller differences, s, come from rounding to whole seconds. */
const equalS = 2;

/** A Time and when it was read. */
export interface TimeSample {
  readonly time: Received<Time>;
  readonly middleMonotonicMs: number;
}

export interface TimeFollowerOptions {
  readonly remoteClock: RemoteClock;
  readonly monotonicMs: () => number;
  readonly warn: (message: string) => void;
  /** false: the clock of this machine stays in force */
  readonly inUse: () => boolean;
}

/** Sets the remote clock to the time of the server. */
export class TimeFollower {
  readonly #options: TimeFollowerOptions;
  #warnedOfOffset = false;

  constructor(options: TimeFollowerOptions) {
    this.#options = options;
  }

  /**
   * Sets the clock to a Time, unless both agree: `currentTime` has whole seconds, and following every Time would move
   * the clock back and forth.
   * @returns false: the Time cannot be used
   */
  take({ time, middleMonotonicMs }: TimeSample): boolean {
    const { remoteClock, monotonicMs, warn, inUse } = this.#options;
    if (time.currentTime === undefined) {
      warn('the Time of the server has no currentTime; the last known offset stays in force');
      return false;
    }
    if (!inUse()) {
      // returns to the clock of this machine, from which an earlier Time has moved the remote clock
      if (remoteClock.offsetS !== null && remoteClock.offsetS !== 0)
        remoteClock.sync(remoteClock.nowMs() - remoteClock.offsetS * 1000, monotonicMs());
      return true;
    }
    const serverMs = time.currentTime * 1000;
    const clockMs = remoteClock.nowMs() - (monotonicMs() - middleMonotonicMs);
    const agrees = clockMs >= serverMs - toleranceMs && clockMs < serverMs + 1000 + toleranceMs;
    if (remoteClock.offsetS !== null && agrees) return true;
    try {
      remoteClock.sync(serverMs, middleMonotonicMs);
    } catch (error) {
      warn(errorText(error));
      return false;
    }
    const offsetS = remoteClock.offsetS ?? 0;
    if (Math.abs(offsetS) > bigOffsetS && !this.#warnedOfOffset) {
      this.#warnedOfOffset = true;
      const direction = offsetS > 0 ? 'ahead of' : 'behind';
      warn(`the time of the server is ${Math.round(Math.abs(offsetS))} s ${direction} that of this machine`);
    }
    return true;
  }
}

export interface GroupTimeOptions {
  readonly remoteClock: Pick<RemoteClock, 'nowMs'>;
  readonly monotonicMs: () => number;
  readonly staleS: () => number;
  readonly warn: (message: string) => void;
}

/**
 * The Time of an FSA as its offset from that of the server. The offset changes only by `equalS` or more, so that the
 * starts of listed events do not move from poll to poll.
 */
export class GroupTime {
  readonly #options: GroupTimeOptions;
  #aheadS = 0;
  #readAtMs: number | null = null;
  #warned = false;

  constructor(options: GroupTimeOptions) {
    this.#options = options;
  }

  /** whole seconds ahead of the time of the server; 0 before the first reading and when stale */
  get aheadS(): number {
    const { monotonicMs, staleS, warn } = this.#options;
    if (this.#readAtMs === null) return 0;
    if (monotonicMs() - this.#readAtMs <= staleS() * 1000) return this.#aheadS;
    if (!this.#warned)
      warn(`the Time of an FSA was not read for ${staleS()} s; the time of the server takes its place`);
    this.#warned = true;
    return 0;
  }

  take({ time, middleMonotonicMs }: TimeSample): void {
    if (time.currentTime === undefined) return;
    const { remoteClock, monotonicMs } = this.#options;
    const nowMs = monotonicMs();
    const aheadS = time.currentTime - Math.floor((remoteClock.nowMs() - (nowMs - middleMonotonicMs)) / 1000);
    if (Math.abs(aheadS - this.#aheadS) >= equalS) this.#aheadS = Math.abs(aheadS) >= equalS ? aheadS : 0;
    this.#readAtMs = nowMs;
    this.#warned = false;
  }
}
