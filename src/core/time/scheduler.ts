import type { SimTime } from './clock.ts';

/** A timer; `cancel` prevents it from firing. */
export interface Timer {
  readonly due: SimTime;
  /** Whether it is still to fire. */
  readonly waiting: boolean;
}

interface Entry extends Timer {
  waiting: boolean;
  readonly action: () => void;
}

/**
 * Timers in simulated time. Nothing runs by itself: the owner of the clock asks when the next one is due,
 * steps exactly there and runs it, so that an expiry never depends on the length of a tick.
 */
export class Scheduler {
  // in order of due time: a sorted list costs nothing while empty, and little with thousands of timers
  #entries: Entry[] = [];

  /** Due time of the next timer, Infinity without one. */
  get nextDue(): number {
    return this.#entries[0]?.due ?? Infinity;
  }

  /** Timers of equal due time run in the order in which they were set. */
  at(due: SimTime, action: () => void): Timer {
    const entry: Entry = { due, action, waiting: true };
    this.#entries.splice(this.#countUntil(due), 0, entry);
    return entry;
  }

  cancel(timer: Timer): void {
    if (!timer.waiting) return;
    // the latest of its instant is the last one before the next instant
    for (let position = this.#countUntil(timer.due) - 1; position >= 0; position -= 1) {
      const entry = this.#entries[position];
      if (entry === undefined || entry.due < timer.due) return;
      if (entry !== timer) continue;
      entry.waiting = false;
      this.#entries.splice(position, 1);
      return;
    }
  }

  /** Number of timers due at `due` or before. */
  #countUntil(due: SimTime): number {
    let [from, to] = [0, this.#entries.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#entries[middle]?.due ?? Infinity) <= due) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  clear(): void {
    for (const entry of this.#entries) entry.waiting = false;
    this.#entries = [];
  }

  /** Runs every timer that is due at `now`; an action may set further ones. */
  runDue(now: SimTime): void {
    for (let next = this.#entries[0]; next && next.due <= now; next = this.#entries[0]) {
      this.#entries.shift();
      next.waiting = false;
      next.action();
    }
  }
}
