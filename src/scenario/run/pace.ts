/** Modes of passing simulated time in a run. */
import type { RunPace } from '../../contract/scenarios.ts';
import type { Origin } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { ScenarioPlant } from './host.ts';

/** Passes simulated time. */
export interface Pace {
  readonly kind: RunPace;
  /** Takes control of the clock. */
  begin(): void;
  /** Passes time up to an instant or the end of the next tick, whichever comes first; `wake` ends it early. */
  advance(until: number): Promise<void>;
  /** Ends `advance`. */
  wake(): void;
  /** Restores the previous mode of the clock. */
  end(): void;
}

/** Ticks as fast as possible, on the paused clock. */
class FastPace implements Pace {
  readonly kind = 'fast';
  readonly #plant: ScenarioPlant;
  readonly #by: Origin;
  readonly #before: ScenarioPlant['time']['mode'];

  constructor(plant: ScenarioPlant, by: Origin) {
    this.#plant = plant;
    this.#by = by;
    this.#before = plant.time.mode;
  }

  begin(): void {
    if (this.#before !== 'paused') this.#plant.setTime({ mode: 'paused' }, this.#by);
  }

  async advance(until: number): Promise<void> {
    const { now, tickSimS } = this.#plant;
    await this.#plant.runTo(Math.min(until, addSeconds(now, tickSimS)) as SimTime, this.#by);
  }

  wake(): void {
    // a tick ends soon in any case
  }

  end(): void {
    if (this.#before !== 'paused') this.#plant.setTime({ mode: this.#before }, this.#by);
  }
}

/** Maximum real time, ms, for which the run waits for the actions of a step at the end of a tick. */
export const maxStandMs = 100;
/**
 * Maximum real time, ms, for which the clock is held at the end of a tick: after waiting for actions the run still
 * observes.
 */
const maxHoldMs = 2 * maxStandMs;

/** Ticks of the running clock. They end at the instants of the scenario, and wait there until the run has observed. */
class RealPace implements Pace {
  readonly kind = 'real';
  readonly #plant: ScenarioPlant;
  readonly #later: Later;
  readonly #by: Origin;
  readonly #before: ScenarioPlant['time']['mode'];
  #until = Infinity;
  #endAdvance: (() => void) | null = null;
  #releaseTick: (() => void) | null = null;
  #endGuide: (() => void) | null = null;
  /** true if `wake` was called while nothing waited */
  #isAwake = false;

  constructor(plant: ScenarioPlant, later: Later, by: Origin) {
    this.#plant = plant;
    this.#later = later;
    this.#by = by;
    this.#before = plant.time.mode;
  }

  begin(): void {
    if (this.#before === 'paused') this.#plant.setTime({ mode: 'accelerated' }, this.#by);
    this.#endGuide = this.#plant.guideTicks({ due: () => this.#until, reached: () => this.#reached() });
  }

  /** Holds the clock at the end of a tick until the run passes more time, or takes too long. */
  #reached(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#later(maxHoldMs, resolve);
      this.#releaseTick = () => {
        cancel();
        resolve();
      };
      this.wake();
    });
  }

  advance(until: number): Promise<void> {
    this.#until = until;
    return new Promise((resolve) => {
      this.#endAdvance = resolve;
      if (this.#isAwake) setImmediate(() => this.wake());
      else this.#pass();
    });
  }

  #pass(): void {
    const release = this.#releaseTick;
    this.#releaseTick = null;
    release?.();
  }

  wake(): void {
    this.#isAwake = this.#endAdvance === null;
    const endAdvance = this.#endAdvance;
    this.#endAdvance = null;
    endAdvance?.();
  }

  end(): void {
    this.#until = Infinity;
    this.#endGuide?.();
    this.#pass();
    this.wake();
    if (this.#before === 'paused') this.#plant.setTime({ mode: 'paused' }, this.#by);
  }
}

export function createPace(kind: RunPace, plant: ScenarioPlant, later: Later, by: Origin): Pace {
  return kind === 'fast' ? new FastPace(plant, by) : new RealPace(plant, later, by);
}
