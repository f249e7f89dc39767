/** Waits of a server that is replayed: for the first client, and for the next message. */

/** Longest wait for the first client, ms. */
export const firstClientMs = 120_000;

/** Calls back after a time without `touch`. */
export class Idle {
  readonly #ms: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param firstMs until the first `touch` */
  constructor(firstMs: number, ms: number, onIdle: () => void) {
    this.#ms = ms;
    this.#onIdle = onIdle;
    this.#timer = setTimeout(onIdle, firstMs);
  }

  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onIdle, this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
