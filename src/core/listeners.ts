/** Listeners of one event, called synchronously in the order in which they subscribed. */
export class Listeners<Args extends readonly unknown[]> {
  readonly #listeners = new Set<(...args: Args) => void>();
  readonly #onFailure: (error: unknown) => void;

  /** @param onFailure called with the error of a listener, which reaches neither the others nor the sender */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** @returns function that unsubscribes */
  add(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  notify(...args: Args): void {
    for (const listener of this.#listeners) {
      try {
        listener(...args);
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }
}
