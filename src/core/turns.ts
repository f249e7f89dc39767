interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Work that must not overlap: one after the other, in the order of the calls. Libraries (async-mutex, p-limit) begin
 * even the first work in a later microtask; here it begins within the call, as a tick of the plant needs it.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  #busy = false;

  /** How many calls wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs at once when nothing is under way.
   * @throws what `run` throws, and what `refuseWaiting` was given
   */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#busy) {
      await new Promise<void>((begin, refuse) => {
        this.#waiting.push({ begin, refuse });
      });
    }
    // handed over without a gap: no later call gets in between
    this.#busy = true;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next) next.begin();
      else this.#busy = false;
    }
  }

  /** Rejects all waiting calls with this error; the work under way continues. */
  refuseWaiting(error: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  /** Resolves when all work that was asked for before has ended. */
  async settled(): Promise<void> {
    await this.take(() => Promise.resolve());
  }
}
