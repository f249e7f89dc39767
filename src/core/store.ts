/**
 * Named lists of JSON values, for the state of protocols. Values are copies, held in memory; a store with files writes
 * each change to its journal as well.
 */
import { createHash } from 'node:crypto';
import { SimError } from './errors.ts';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/**
 * One list of values, oldest first. Operations take effect whole or not at all, in the order of the calls: at once for
 * who reads, and their promises resolve when the change is durable.
 */
export interface Slot {
  readonly name: string;
  /** All values; empty where nothing was written. */
  read(): Promise<readonly JsonValue[]>;
  /** Appends values. @throws SimError STORE_FULL, INTERNAL for values that are not JSON */
  append(...values: readonly JsonValue[]): Promise<void>;
  /** Replaces all values; writes nothing where they are the same. @throws SimError STORE_FULL, INTERNAL for values that are not JSON */
  replace(values: readonly JsonValue[]): Promise<void>;
}

export interface Store {
  /**
   * The slot of a name, made by `slotName`; the same slot for the same name.
   * @throws SimError INTERNAL for a name of another form, STORE_FULL for one slot too many
   */
  slot(name: string): Slot;
  /**
   * Resolves when every change so far is durable, or cannot be made so; null: it is. An answer that promises a change
   * waits for it.
   */
  durable(): Promise<void> | null;
}

/** How a change becomes durable. */
export interface Durability {
  /** @param texts JSON of the values that are appended, replace all, or the one that replaces all @returns null: nothing to wait for */
  changed(slot: string, change: 'append' | 'replace' | 'value', texts: readonly string[]): Promise<void> | null;
  durable(): Promise<void> | null;
}

export interface StoreLimits {
  /** of one slot */
  readonly maxEntries: number;
  /** of one slot, as JSON text in UTF-8 */
  readonly maxBytes: number;
  readonly maxSlots: number;
}

/**
 * 10,000 values and 8 MiB for each slot: a station queues about a thousand messages a day while offline. A charge point
 * has about a dozen slots, and a process up to 10,000 of them.
 */
export const defaultStoreLimits: StoreLimits = { maxEntries: 10_000, maxBytes: 8 * 1024 * 1024, maxSlots: 200_000 };

const maxNameLength = 200;
/** parts that are safe as names of folders and files */
const namePattern = /^[A-Za-z0-9_~%-][A-Za-z0-9_~%.-]*(\/[A-Za-z0-9_~%-][A-Za-z0-9_~%.-]*)*$/;

/** Longer parts are shortened: three of them fit into a name, and each into the name of a file. */
const maxPartLength = 64;

/** True for names that `Store.slot` accepts. */
export const isSlotName = (name: string): boolean => name.length <= maxNameLength && namePattern.test(name);

/**
 * The name of a slot from free texts such as a charge point identity: `slotName('ocpp', 'CP|1', 'queue')`. A text whose
 * safe form is too long ends in its digest.
 */
export function slotName(...parts: readonly string[]): string {
  return parts.map(safePart).join('/');
}

function safePart(part: string): string {
  // `Buffer` replaces half a surrogate pair, for which `encodeURIComponent` throws
  const safe = encodeURIComponent(Buffer.from(part).toString()).replace(
    /^\.|[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  if (safe.length <= maxPartLength) return safe;
  const digest = createHash('sha256').update(part).digest('hex').slice(0, 40);
  return `${safe.slice(0, maxPartLength - digest.length - 1).replace(/%.?$/, '')}~${digest}`;
}

/** @throws SimError INTERNAL for a value that JSON would drop or change */
function checkJson(value: unknown, name: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  // a list of pairs, as of Object.entries, would cost as much as the check
  if (typeof value === 'object')
    for (const member of Object.keys(value)) checkJson((value as Readonly<Record<string, unknown>>)[member], member);
  else if (!Number.isFinite(value))
    throw new SimError('INTERNAL', `the store keeps JSON only; ${name || 'the value'} is a ${typeof value}`);
}

/** @throws SimError INTERNAL for a value that JSON would drop or change */
function jsonOf(value: JsonValue): string {
  checkJson(value, '');
  return JSON.stringify(value);
}

class ListSlot implements Slot {
  readonly name: string;
  readonly #limits: StoreLimits;
  readonly #durability: Durability;
  #texts: string[] = [];
  #bytes = 0;
  #isEnded = false;

  constructor(name: string, limits: StoreLimits, durability: Durability, texts: readonly string[] = []) {
    this.name = name;
    this.#limits = limits;
    this.#durability = durability;
    this.#texts = [...texts];
    this.#bytes = sizeOf(texts);
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  read(): Promise<readonly JsonValue[]> {
    return Promise.resolve(this.values());
  }

  values(): readonly JsonValue[] {
    return this.#texts.map((text) => JSON.parse(text) as JsonValue);
  }

  /** Empties it for good: what still holds it writes nothing. */
  end(): void {
    this.#isEnded = true;
    if (this.#texts.length === 0) return;
    this.#texts = [];
    this.#bytes = 0;
    void this.#durability.changed(this.name, 'replace', []);
  }

  /** @throws SimError STORE_FULL */
  write(text: string): void {
    if (this.#isEnded) return;
    if (this.#texts.length === 1 && this.#texts[0] === text) return;
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#limits.maxBytes) throw this.#full(`${this.#limits.maxBytes} bytes`);
    this.#texts = [text];
    this.#bytes = bytes;
    void this.#durability.changed(this.name, 'value', this.#texts);
  }

  // async: a refusal rejects and never throws within the call
  async append(...values: readonly JsonValue[]): Promise<void> {
    const { texts, bytes } = this.#checked(values, this.#texts.length, this.#bytes);
    if (this.#isEnded) return;
    this.#texts.push(...texts);
    this.#bytes = bytes;
    await this.#durability.changed(this.name, 'append', texts);
  }

  async replace(values: readonly JsonValue[]): Promise<void> {
    const { texts, bytes } = this.#checked(values, 0, 0);
    if (this.#isEnded) return;
    if (isSame(texts, this.#texts)) return void (await this.#durability.durable());
    this.#texts = texts;
    this.#bytes = bytes;
    await this.#durability.changed(this.name, 'replace', texts);
  }

  #checked(values: readonly JsonValue[], entries: number, bytes: number): { texts: string[]; bytes: number } {
    const { maxEntries, maxBytes } = this.#limits;
    if (entries + values.length > maxEntries) throw this.#full(`${maxEntries} entries`);
    const texts = values.map(jsonOf);
    const sum = bytes + sizeOf(texts);
    if (sum > maxBytes) throw this.#full(`${maxBytes} bytes`);
    return { texts, bytes: sum };
  }

  #full(bound: string): SimError {
    return new SimError('STORE_FULL', `the store has no room for more than ${bound} in ${this.name}`);
  }
}

const isSame = (texts: readonly string[], others: readonly string[]) =>
  texts.length === others.length && texts.every((text, at) => text === others[at]);

const sizeOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** A store, and the JSON texts of its slots for the journal. */
export interface ListStore extends Store {
  /** The values of a slot at once, for parts that are built within one call. */
  values(slot: string): readonly JsonValue[];
  /**
   * Replaces the values of a slot by one, without a wait; writes nothing where it is the same.
   * @param text its JSON @throws SimError STORE_FULL
   */
  write(slot: string, text: string): void;
  /** Empties slots that belong to what is gone: whoever holds one writes nothing any more. */
  forget(isGone: (slot: string) => boolean): void;
  contents(): Iterable<readonly [slot: string, texts: readonly string[]]>;
}

/** @param contents JSON texts of slots from an earlier process */
export function createListStore(
  durability: Durability,
  limits: Partial<StoreLimits> = {},
  contents: Iterable<readonly [slot: string, texts: readonly string[]]> = [],
): ListStore {
  const inForce = { ...defaultStoreLimits, ...limits };
  const slots = new Map<string, ListSlot>();
  for (const [name, texts] of contents)
    if (texts.length > 0) slots.set(name, new ListSlot(name, inForce, durability, texts));
  const slotOf = (name: string): ListSlot => {
    const existingSlot = slots.get(name);
    if (existingSlot) return existingSlot;
    if (!isSlotName(name)) throw new SimError('INTERNAL', `${JSON.stringify(name)} is no name of a slot; use slotName`);
    if (slots.size >= inForce.maxSlots)
      throw new SimError('STORE_FULL', `the store has no room for more than ${inForce.maxSlots} slots`);
    const newSlot = new ListSlot(name, inForce, durability);
    slots.set(name, newSlot);
    return newSlot;
  };
  return {
    slot: slotOf,
    write(name, text) {
      slotOf(name).write(text);
    },
    forget(isGone) {
      for (const [name, slot] of slots) {
        if (!isGone(name)) continue;
        slots.delete(name);
        slot.end();
      }
    },
    durable: () => durability.durable(),
    values: (name) => slots.get(name)?.values() ?? [],
    *contents() {
      for (const [name, { texts }] of slots) if (texts.length > 0) yield [name, texts];
    },
  };
}

/** A store that lives as long as the process. */
export function createMemoryStore(limits: Partial<StoreLimits> = {}): ListStore {
  return createListStore({ changed: () => null, durable: () => null }, limits);
}
