/** Values that the simulator has promised by its answers, and must still have after a restart. */

/** A promised value: `true` and `false` say of a thing with a name whether it is there. */
export type Promised = number | string | boolean | null;

interface Entry {
  /** confirmed last; undefined: never */
  confirmed: Promised | undefined;
  /** sent since without an answer: each may hold or not */
  readonly open: Promised[];
}

export class Promises {
  readonly #entries = new Map<string, Entry>();

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { confirmed: undefined, open: [] };
    this.#entries.set(key, entry);
    return entry;
  }

  /**
   * Carries a change out, which is promised once `work` resolves. A refusal must not change anything and is thrown on.
   * @param isRefusal tells a refusal from an answer that was lost
   */
  async change<T>(key: string, value: Promised, work: () => Promise<T>, isRefusal: (error: unknown) => boolean) {
    const entry = this.#entry(key);
    entry.open.push(value);
    try {
      const answer = await work();
      entry.confirmed = value;
      entry.open.length = 0;
      return answer;
    } catch (error) {
      if (isRefusal(error)) entry.open.splice(entry.open.indexOf(value), 1);
      throw error;
    }
  }

  get keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  get size(): number {
    return [...this.#entries.values()].filter(({ confirmed }) => confirmed !== undefined).length;
  }

  /**
   * Compares a value after a restart with the promise, and takes it for what holds from here on.
   * @returns null: it may be so; else what is wrong
   */
  check(key: string, value: Promised): string | null {
    const { confirmed, open } = this.#entry(key);
    const isPermitted = confirmed === undefined || value === confirmed || open.includes(value);
    const issue = isPermitted
      ? null
      : `${key} is ${String(value)} after the restart; answered positively: ${String(confirmed)}` +
        (open.length > 0 ? `, without an answer since: ${open.join(', ')}` : '');
    this.#entries.set(key, { confirmed: value, open: [] });
    return issue;
  }
}
