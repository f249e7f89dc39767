/** Timeouts of a replayed server: for the first client, then for the next message. */

/** Maximum time until the first client, ms. */
export const firstClientMs = 120_000;

/** Calls back after a period without `touch`. */
export class Idle {
  readonly #ms: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param firstMs period until the first `touch` */
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
