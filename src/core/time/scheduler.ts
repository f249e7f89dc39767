import { keptRecord } from '../kept.ts';
import type { Kept } from '../kept.ts';
import type { SimTime } from './clock.ts';

/** A timer; `cancel` prevents it from firing. */
export interface Timer<T extends number = SimTime> {
  readonly due: T;
  /** position among timers of equal due time: the order in which they were set */
  readonly rank: number;
  /** True if it is still to fire. */
  readonly waiting: boolean;
}

/** A waiting timer as its owner keeps it over a restart. */
export type KeptTimer<T extends number = SimTime> = Pick<Timer<T>, 'due' | 'rank'>;

export const keptTimer = <T extends number>({ due, rank }: Timer<T>): KeptTimer<T> => ({ due, rank });

interface Entry<T extends number> extends Timer<T> {
  waiting: boolean;
  readonly action: () => void;
}

function precedes<T extends number>(a: Entry<T>, b: Entry<T>): boolean {
  return a.due < b.due || (a.due === b.due && a.rank < b.rank);
}

/** cancelled timers that may stay in the heap before they are dropped */
const toleratedCancelled = 16;

/**
 * Timers in simulated time, or in another time that is a number. None fires by itself: the owner of the clock reads
 * `nextDue`, steps exactly there and runs the timer, so that an expiry never depends on the length of a tick.
 */
export class Scheduler<T extends number = SimTime> {
  /** a binary heap; its first entry is waiting, others may be cancelled */
  #heap: Entry<T>[] = [];
  #cancelled = 0;
  #nextRank = 0;

  /** Due time of the next timer, Infinity without one. */
  get nextDue(): number {
    return this.#heap[0]?.due ?? Infinity;
  }

  /** Sets a timer. Timers of equal due time run in the order in which they were set. */
  at(due: T, action: () => void): Timer<T> {
    return this.again({ due, rank: this.#nextRank++ }, action);
  }

  /** Sets a timer of an earlier process again, at its place among timers of equal due time. */
  again({ due, rank }: KeptTimer<T>, action: () => void): Timer<T> {
    const entry: Entry<T> = { due, rank, action, waiting: true };
    this.#rise(entry, this.#heap.length);
    return entry;
  }

  cancel(timer: Timer<T>): void {
    const entry = timer as Entry<T>;
    if (!entry.waiting) return;
    entry.waiting = false;
    this.#cancelled += 1;
    if (this.#cancelled > toleratedCancelled && 2 * this.#cancelled > this.#heap.length) this.#dropCancelled();
    else this.#uncover();
  }

  clear(): void {
    for (const entry of this.#heap) entry.waiting = false;
    this.#heap = [];
    this.#cancelled = 0;
  }

  /** State that a restart keeps. Restoring ends all timers: their owners, restored later, set theirs with `again`. */
  kept(): Kept {
    return keptRecord(
      () => ({ nextRank: this.#nextRank }),
      ({ nextRank }) => {
        this.clear();
        this.#nextRank = nextRank;
      },
    );
  }

  /** Runs every timer due at `t`; an action may set further ones. */
  runDue(t: T): void {
    while (this.runNext(t));
  }

  /** Runs the next timer if it is due at `t`. @returns true if it was due */
  runNext(t: T): boolean {
    const next = this.#heap[0];
    if (next === undefined || next.due > t) return false;
    next.waiting = false;
    this.#removeFirst();
    this.#uncover();
    next.action();
    return true;
  }

  /** Removes cancelled timers from the top. */
  #uncover(): void {
    while (this.#heap[0]?.waiting === false) {
      this.#removeFirst();
      this.#cancelled -= 1;
    }
  }

  #dropCancelled(): void {
    // a sorted list is a heap
    this.#heap = this.#heap.filter(({ waiting }) => waiting).sort((a, b) => (precedes(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
  }

  /** Puts an entry at a free position, or above it. */
  #rise(entry: Entry<T>, free: number): void {
    let position = free;
    while (position > 0) {
      const above = (position - 1) >>> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !precedes(entry, parent)) break;
      this.#heap[position] = parent;
      position = above;
    }
    this.#heap[position] = entry;
  }

  /** Puts an entry at the top, or below it. */
  #sink(entry: Entry<T>): void {
    let position = 0;
    for (;;) {
      const [left, right] = [this.#heap[2 * position + 1], this.#heap[2 * position + 2]];
      if (left === undefined) break;
      const rightFirst = right !== undefined && precedes(right, left);
      const child = rightFirst ? right : left;
      if (!precedes(child, entry)) break;
      this.#heap[position] = child;
      position = 2 * position + (rightFirst ? 2 : 1);
    }
    this.#heap[position] = entry;
  }
}
