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
  // few timers are live at a time: a sorted list beats a heap and costs nothing while empty
  #entries: Entry[] = [];

  /** Due time of the next timer, Infinity without one. */
  get nextDue(): number {
    return this.#entries[0]?.due ?? Infinity;
  }

  /** Timers of equal due time run in the order in which they were set. */
  at(due: SimTime, action: () => void): Timer {
    const entry: Entry = { due, action, waiting: true };
    let position = this.#entries.length;
    while (position > 0 && (this.#entries[position - 1]?.due ?? 0) > due) position -= 1;
    this.#entries.splice(position, 0, entry);
    return entry;
  }

  cancel(timer: Timer): void {
    this.#entries = this.#entries.filter((entry) => {
      if (entry === timer) entry.waiting = false;
      return entry.waiting;
    });
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
