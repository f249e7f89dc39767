/** Work that must not overlap: one after the other, in the order in which it was asked for. */
export class Turns {
  #busy: Promise<void> | null = null;

  /** Runs at once when nothing is under way. */
  async take<T>(run: () => Promise<T>): Promise<T> {
    while (this.#busy) await this.#busy;
    let done: () => void = () => undefined;
    // before the run begins: what it calls at once must wait as well
    this.#busy = new Promise((resolve) => {
      done = resolve;
    });
    try {
      return await run();
    } finally {
      this.#busy = null;
      done();
    }
  }
}
