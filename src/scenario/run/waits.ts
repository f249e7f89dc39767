/** What the flows of a scenario wait for, and when simulated time may go on. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Observed } from './conditions.ts';

/** One flow that waits. */
export interface Wait {
  /** instant at which it is over; Infinity: only the condition ends it */
  readonly due: number;
  readonly observed: Observed | null;
  /** instant at which the condition is given up */
  readonly deadline: number;
  /** the same on the wall clock, while the simulated clock stands; null: it runs */
  readonly realDeadlineMs: number | null;
  /** Goes on; called once. @param isMet false: the condition was given up */
  readonly go: (isMet: boolean) => void;
}

/** The waits of one run, in the order in which they began. */
export class Waits {
  readonly #waits = new Set<Wait>();

  add(wait: Wait): void {
    this.#waits.add(wait);
  }

  get size(): number {
    return this.#waits.size;
  }

  /** Ends a wait. @returns false when it is over already */
  finish(wait: Wait, isMet: boolean): boolean {
    if (!this.#waits.delete(wait)) return false;
    wait.observed?.end();
    wait.go(isMet);
    return true;
  }

  /** Ends the waits that are over at an instant. @returns whether there was one */
  async finishDue(now: SimTime, wallMs: number): Promise<boolean> {
    let found = false;
    for (const wait of [...this.#waits]) {
      const isMet = wait.due <= now || (wait.observed !== null && (await wait.observed.look(now)));
      const isGivenUp = wait.realDeadlineMs === null ? wait.deadline <= now : wait.realDeadlineMs <= wallMs;
      if (isMet || isGivenUp) found = this.finish(wait, isMet) || found;
    }
    return found;
  }

  /** The next instant at which one may be over although nothing happens. */
  get due(): number {
    let due = Infinity;
    for (const { due: own, deadline, observed, realDeadlineMs } of this.#waits)
      due = Math.min(due, own, observed?.due ?? Infinity, realDeadlineMs === null ? deadline : Infinity);
    return due;
  }

  /** The first real deadline of those for which the clock stands; null: it may run. */
  get standsUntilMs(): number | null {
    const deadlines = [...this.#waits].flatMap(({ realDeadlineMs }) => realDeadlineMs ?? []);
    return deadlines.length === 0 ? null : Math.min(...deadlines);
  }

  /** Ends all of them without going on. */
  clear(): void {
    for (const { observed } of this.#waits) observed?.end();
    this.#waits.clear();
  }
}
