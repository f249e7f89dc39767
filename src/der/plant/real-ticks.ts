/** Ticks of real time: they follow the rate of the clock as far as the machine can. */
import type { TickGuide } from '../../contract/plant.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';
import type { Pace } from './pace.ts';

/** The plant as ticks of real time use it. */
export interface TickedPlant {
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly pace: Pace;
  readonly monotonicMs: () => number;
  readonly hasEnded: () => boolean;
  /** end of the last tick, real ms */
  readonly lastEndMs: () => number;
  /** Runs `work` while no device joins or leaves and no other tick runs. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs one tick, which ends after the first piece beyond the deadline. @returns the simulated seconds done */
  readonly run: (seconds: number, deadlineMs: number) => Promise<number>;
}

export class RealTicks {
  readonly #plant: TickedPlant;
  #guide: TickGuide | null = null;

  constructor(plant: TickedPlant) {
    this.#plant = plant;
  }

  /** @see Plant.guideTicks */
  follow(guide: TickGuide): () => void {
    const { clock } = this.#plant;
    this.#guide = guide;
    clock.waitFor(() => guide.due());
    return () => {
      if (this.#guide !== guide) return;
      this.#guide = null;
      clock.waitFor(null);
    };
  }

  /** Nothing happens while the clock is paused. @param slots tick intervals since the last tick */
  async tick(slots: number): Promise<void> {
    let end: SimTime | null = null;
    for (;;) {
      const isOver = await this.#plant.inTurn(async () => {
        if (this.#plant.clock.paused || this.#plant.hasEnded()) return true;
        end ??= this.#end(slots);
        return this.#piece(end);
      });
      await this.#reached();
      if (isOver) return;
    }
  }

  async #reached(): Promise<void> {
    if (this.#guide === null) return;
    const { clock } = this.#plant;
    clock.stand();
    await this.#guide.reached();
    clock.goOn();
  }

  #end(slots: number): SimTime {
    const { clock, tickIntervalS, pace } = this.#plant;
    const wantedS = secondsBetween(clock.tickTime, clock.tickEnd(tickSeconds(clock.rate, tickIntervalS * slots)));
    return addSeconds(clock.tickTime, pace.cut(wantedS));
  }

  /** Ticks to `end`, or to an earlier instant of the guide. @returns true if no tick is to follow */
  async #piece(end: SimTime): Promise<boolean> {
    const { clock } = this.#plant;
    const dueAt = this.#guide?.due() ?? Infinity;
    const until = dueAt > clock.tickTime && dueAt < end ? (dueAt as SimTime) : end;
    await this.#measured(secondsBetween(clock.tickTime, until));
    // a tick cut short: the machine had no time for more
    return until === end || clock.tickTime < until;
  }

  /** A tick whose duration updates the pace. */
  async #measured(seconds: number): Promise<void> {
    const { clock, pace, monotonicMs, run } = this.#plant;
    const beginMs = monotonicMs();
    const lastEndMs = this.#plant.lastEndMs();
    const doneS = await run(seconds, beginMs + pace.budgetMs);
    pace.learn({ beginMs, endMs: monotonicMs(), lastEndMs, doneS, rate: clock.rate });
  }
}
