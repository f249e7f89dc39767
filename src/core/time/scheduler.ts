import type { SimTime } from './clock.ts';

/** A timer; `cancel` prevents it from firing. */
export interface Timer<T extends number = SimTime> {
  readonly due: T;
  /** Whether it is still to fire. */
  readonly waiting: boolean;
}

interface Entry<T extends number> extends Timer<T> {
  waiting: boolean;
  readonly action: () => void;
}

/**
 * Timers in simulated time, or another that a number counts. Nothing runs by itself: the owner of the clock asks when the next one is due,
 * steps exactly there and runs it, so that an expiry never depends on the length of a tick.
 */
export class Scheduler<T extends number = SimTime> {
  // in order of due time: a sorted list costs nothing while empty, and little with thousands of timers
  #entries: Entry<T>[] = [];

  /** Due time of the next timer, Infinity without one. */
  get nextDue(): number {
    return this.#entries[0]?.due ?? Infinity;
  }

  /** Timers of equal due time run in the order in which they were set. */
  at(due: T, action: () => void): Timer<T> {
    const entry: Entry<T> = { due, action, waiting: true };
    this.#entries.splice(this.#countUntil(due), 0, entry);
    return entry;
  }

  cancel(timer: Timer<T>): void {
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
  #countUntil(due: T): number {
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
  runDue(now: T): void {
    while (this.runNext(now));
  }

  /** Runs the next timer if it is due at `now`. @returns whether it was */
  runNext(now: T): boolean {
    const next = this.#entries[0];
    if (next === undefined || next.due > now) return false;
    this.#entries.shift();
    next.waiting = false;
    next.action();
    return true;
  }
}
