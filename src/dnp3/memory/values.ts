/** Named values in one slot of the store: each change is appended, and the slot is written anew now and then. */
import { z } from 'zod';
import { formOf, readEach } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';

/** Number of changes after which the slot is written anew. */
const maxChanges = 64;

interface WarningLog {
  warning(message: string): void;
}

type Values = Readonly<Record<string, JsonValue>>;

const valuesForm = formOf<Values>(z.record(z.string(), z.unknown()));

/**
 * Appends an entry, or replaces all entries if the slot has no room for one more.
 * @param all all entries, the new one included
 */
export async function appendOrReplace(slot: Slot, entry: JsonValue, all: () => readonly JsonValue[]): Promise<void> {
  try {
    await slot.append(entry);
  } catch {
    await slot.replace(all());
  }
}

export class NamedValues {
  readonly #slot: Slot;
  readonly #log: WarningLog;
  readonly #values = new Map<string, JsonValue>();
  #changes = 0;

  constructor(slot: Slot, log: WarningLog) {
    this.#slot = slot;
    this.#log = log;
  }

  /** The values of an earlier process. */
  async read(): Promise<ReadonlyMap<string, JsonValue>> {
    const entries = await readEach(this.#slot, valuesForm, this.#log);
    this.#changes = entries.length;
    for (const entry of entries) this.#put(entry);
    return this.#values;
  }

  /** Sets values together. @returns resolves when they are durable @throws SimError as `Slot` */
  put(values: Values): Promise<void> {
    this.#put(values);
    this.#changes += 1;
    const all = () => [Object.fromEntries(this.#values)];
    if (this.#changes <= maxChanges) return appendOrReplace(this.#slot, values, all);
    this.#changes = 1;
    return this.#slot.replace(all());
  }

  clear(): Promise<void> {
    this.#values.clear();
    this.#changes = 0;
    return this.#slot.replace([]);
  }

  #put(values: Values): void {
    for (const [name, value] of Object.entries(values)) this.#values.set(name, value);
  }
}
