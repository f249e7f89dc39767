/** Listeners of one event, worked off in parts so that a large fleet delays no request. */

/** The work of a listener; other work may run at each `yield`. */
type Work<Event> = (event: Event) => Iterable<undefined>;

const noFurtherParts: Iterable<undefined> = [];

export class ListenersInParts<Event> {
  readonly #listeners = new Set<Work<Event>>();
  readonly #onFailure: (error: unknown) => void;

  /** @param onFailure called with the error of a listener, which does not reach the others */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** @returns function that unsubscribes */
  add(listener: (event: Event) => void): () => void {
    return this.addInParts((event) => {
      listener(event);
      return noFurtherParts;
    });
  }

  /** @returns function that unsubscribes */
  addInParts(work: Work<Event>): () => void {
    this.#listeners.add(work);
    return () => {
      this.#listeners.delete(work);
    };
  }

  /** Calls the present listeners in the order in which they subscribed; yields after each, and after each part. */
  *notify(event: Event): Generator<undefined, void> {
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
