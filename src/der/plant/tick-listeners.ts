/** Listeners of finished ticks, worked off in parts so that a large fleet delays no request. */
import type { TickEvent } from '../../contract/plant.ts';

/** The work of a listener; other work may run at each `yield`. */
type TickWork = (event: TickEvent) => Iterable<undefined>;

const noFurtherParts: Iterable<undefined> = [];

const hasParts = (result: unknown): result is Iterable<undefined> =>
  typeof result === 'object' && result !== null && Symbol.iterator in result;

export class TickListeners {
  readonly #listeners = new Set<TickWork>();
  readonly #onFailure: (error: unknown) => void;

  /** @param onFailure called with the error of a listener, which does not reach the others */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /**
   * @param listener one that returns parts of its work is as one of `addInParts`
   * @returns function that unsubscribes
   */
  add(listener: (event: TickEvent) => unknown): () => void {
    return this.addInParts((event) => {
      const result = listener(event);
      return hasParts(result) ? result : noFurtherParts;
    });
  }

  /** @returns function that unsubscribes */
  addInParts(work: TickWork): () => void {
    this.#listeners.add(work);
    return () => {
      this.#listeners.delete(work);
    };
  }

  /** Calls the present listeners in the order in which they subscribed; yields after each, and after each part. */
  *notify(event: TickEvent): Generator<undefined, void> {
    for (const work of [...this.#listeners]) {
      // another listener, or a request between two parts, may have ended it
      if (!this.#listeners.has(work)) continue;
      try {
        yield* work(event);
      } catch (error) {
        this.#onFailure(error);
      }
      yield;
    }
  }
}
