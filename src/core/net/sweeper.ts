import { callEvery } from '../time/timers.ts';

/** A connection, or another object, with time limits that a sweeper checks. */
export interface Swept {
  /** Checks the time limits. */
  sweep(): void;
}

const intervalMs = 500;

/**
 * One timer for the time limits of any number of connections, so that no socket and no listener needs a timer.
 * It runs only while there is something to check and does not keep the process alive.
 */
export class Sweeper {
  readonly #swept = new Set<Swept>();
  readonly #onFailure: (error: unknown) => void;
  #endRounds: (() => void) | undefined;

  /** @param onFailure called with the error of one object, which does not keep the others from their check */
  constructor(
    onFailure = (error: unknown): void => {
      throw error;
    },
  ) {
    this.#onFailure = onFailure;
  }

  add(swept: Swept): void {
    this.#swept.add(swept);
    this.#endRounds ??= callEvery(intervalMs, () => {
      this.sweep();
    });
  }

  delete(swept: Swept): void {
    this.#swept.delete(swept);
    if (this.#swept.size > 0) return;
    this.#endRounds?.();
    this.#endRounds = undefined;
  }

  /** One round; the timer calls it twice a second. */
  sweep(): void {
    for (const swept of this.#swept) {
      try {
        swept.sweep();
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }
}
