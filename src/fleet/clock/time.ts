/**
 * The time of the fleet: that of the leader's machine, followed by the monotonic clock of this one. Without a leader it
 * goes on as it was.
 */
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';

const askEveryMs = 5000;
const questions = 5;
/** a correction above this is spread over some time */
const jumpMs = 50;
const slewTicks = 10;

export interface FleetTimeOptions {
  readonly wall: WallClock;
  readonly later: Later;
  readonly tickS: number;
  /** Asks the leader for its time, ms. @throws FleetError where there is none */
  readonly ask: () => Promise<number>;
}

export class FleetTime {
  readonly #options: FleetTimeOptions;
  /** difference to the monotonic clock, and one to which it moves, ms */
  #from: number;
  #to: number;
  #beganMs = 0;
  #durationMs = 0;
  #isStopped = false;
  #cancel: () => void = () => undefined;
  /** round trip of the last measurement; null: there was none */
  roundTripMs: number | null = null;

  constructor(options: FleetTimeOptions) {
    this.#options = options;
    const { wall } = options;
    this.#from = this.#to = wall.nowMs() - wall.monotonicMs();
  }

  /** ms since the epoch, as the leader's machine has them. */
  nowMs(): number {
    return this.#offsetAt(this.#options.wall.monotonicMs()) + this.#options.wall.monotonicMs();
  }

  #offsetAt(monotonicMs: number): number {
    const share = this.#durationMs === 0 ? 1 : Math.min(1, (monotonicMs - this.#beganMs) / this.#durationMs);
    return this.#from + share * (this.#to - this.#from);
  }

  /** Asks now, and then each 5 s. @param mayJump true: nothing follows the time yet */
  async start(mayJump: boolean): Promise<void> {
    await this.measure(mayJump);
    this.#plan();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #plan(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.later(askEveryMs, () => {
      void this.measure(false).finally(() => {
        this.#plan();
      });
    });
  }

  /** The answer with the shortest round trip counts. */
  async measure(mayJump: boolean): Promise<void> {
    const { wall, ask } = this.#options;
    let best: { readonly tripMs: number; readonly offsetMs: number } | null = null;
    try {
      for (let count = 0; count < questions; count += 1) {
        const sentMs = wall.monotonicMs();
        const theirsMs = await ask();
        const gotMs = wall.monotonicMs();
        const tripMs = gotMs - sentMs;
        if (best === null || tripMs < best.tripMs) best = { tripMs, offsetMs: theirsMs + tripMs / 2 - gotMs };
      }
    } catch {
      // there is no leader, or it is gone: the next time asks again
      if (best === null) return;
    }
    if (best === null || this.#isStopped) return;
    this.roundTripMs = best.tripMs;
    this.#correct(best.offsetMs, mayJump);
  }

  /** An offset that moves a little moves a correction under way with it, which ends when it would have. */
  #correct(offsetMs: number, mayJump: boolean): void {
    const movedMs = offsetMs - this.#to;
    if (mayJump || Math.abs(movedMs) <= jumpMs) {
      this.#from = mayJump ? offsetMs : this.#from + movedMs;
      this.#to = offsetMs;
      return;
    }
    const nowMs = this.#options.wall.monotonicMs();
    this.#from = this.#offsetAt(nowMs);
    this.#to = offsetMs;
    this.#beganMs = nowMs;
    this.#durationMs = slewTicks * this.#options.tickS * 1000;
  }
}
