/** The waits of a scenario's flows, and when simulated time may pass. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Observed } from './observed.ts';

/** Conditions that end a wait. */
export interface WaitRule {
  /** instant of its end; Infinity: only the condition ends it */
  readonly due: number;
  readonly observed: Pick<Observed, 'look' | 'due' | 'end'> | null;
  /** instant at which the condition is given up */
  readonly deadline: number;
  /** deadline on the wall clock while the simulated clock stands still; null: that runs */
  readonly realDeadlineMs: number | null;
}

/** The wait of one flow. */
export interface Wait extends WaitRule {
  /** Continues the flow; called once. @param isMet false: given up, or the run has ended */
  readonly go: (isMet: boolean) => void;
}

/** The waits of one part of a run in order of their start. */
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

  /** Ends the waits that are due. @returns true if there was one */
  async finishDue(instant: SimTime, wallMs: number): Promise<boolean> {
    let anyDone = false;
    for (const wait of [...this.#waits]) {
      const isMet = wait.due <= instant || (wait.observed !== null && (await wait.observed.look(instant)));
      const isGivenUp = wait.realDeadlineMs === null ? wait.deadline <= instant : wait.realDeadlineMs <= wallMs;
      if (isMet || isGivenUp) anyDone = this.#finish(wait, isMet) || anyDone;
    }
    return anyDone;
  }

  /** The next instant at which a wait may end without an event. */
  get due(): number {
    let due = Infinity;
    for (const { due: own, deadline, observed, realDeadlineMs } of this.#waits)
      due = Math.min(due, own, observed?.due ?? Infinity, realDeadlineMs === null ? deadline : Infinity);
    return due;
  }

  /** True if the clock stands still for a wait. */
  get stands(): boolean {
    return [...this.#waits].some(({ realDeadlineMs }) => realDeadlineMs !== null);
  }

  /** Ends all waits as given up. */
  clear(): void {
    for (const wait of [...this.#waits]) this.#finish(wait, false);
  }
}
