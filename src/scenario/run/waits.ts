/** What the flows of a scenario wait for, and when simulated time may go on. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Observed } from './observed.ts';

/** What ends a wait. */
export interface WaitRule {
  /** instant at which it is over; Infinity: only the condition ends it */
  readonly due: number;
  readonly observed: Pick<Observed, 'look' | 'due' | 'end'> | null;
  /** instant at which the condition is given up */
  readonly deadline: number;
  /** the same on the wall clock, while the simulated clock stands; null: it runs */
  readonly realDeadlineMs: number | null;
}

/** One flow that waits. */
export interface Wait extends WaitRule {
  /** Goes on; called once. @param isMet false: the condition was given up, or nothing is waited for any more */
  readonly go: (isMet: boolean) => void;
}

/** The waits of one part of a run, in the order in which they began. */
export class Waits {
  readonly #waits = new Set<Wait>();

  add(wait: Wait): void {
    this.#waits.add(wait);
  }

  #finish(wait: Wait, isMet: boolean): boolean {
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
      if (isMet || isGivenUp) found = this.#finish(wait, isMet) || found;
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

  /** Whether the clock stands for one. */
  get stands(): boolean {
    return [...this.#waits].some(({ realDeadlineMs }) => realDeadlineMs !== null);
  }

  /** Ends all of them: nothing is waited for any more. */
  clear(): void {
    for (const wait of [...this.#waits]) this.#finish(wait, false);
  }
}
