/**
 * Named lists of JSON values, for queues and counters of protocols. They are kept in memory; the interface suits files
 * as well: a promise resolves when the change is durable, and values are copies.
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

/** One list of values, oldest first. Operations take effect whole or not at all, in the order of the calls. */
export interface Slot {
  /** All values; empty where nothing was written. */
  read(): Promise<readonly JsonValue[]>;
  /** Appends values. @throws SimError STORE_FULL, INTERNAL for values that are not JSON */
  append(...values: readonly JsonValue[]): Promise<void>;
  /** Replaces all values. @throws SimError STORE_FULL, INTERNAL for values that are not JSON */
  replace(values: readonly JsonValue[]): Promise<void>;
}

export interface Store {
  /**
   * The slot of a name, made by `slotName`; the same slot for the same name.
   * @throws SimError INTERNAL for a name of another form, STORE_FULL for one slot too many
   */
  slot(name: string): Slot;
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

class MemorySlot implements Slot {
  readonly #name: string;
  readonly #limits: StoreLimits;
  #texts: string[] = [];
  #bytes = 0;

  constructor(name: string, limits: StoreLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  read(): Promise<readonly JsonValue[]> {
    return Promise.resolve(this.#texts.map((text) => JSON.parse(text) as JsonValue));
  }

  // async: a refusal rejects and never throws within the call
  async append(...values: readonly JsonValue[]): Promise<void> {
    const { texts, bytes } = this.#checked(values, this.#texts.length, this.#bytes);
    this.#texts.push(...texts);
    this.#bytes = bytes;
    return Promise.resolve();
  }

  async replace(values: readonly JsonValue[]): Promise<void> {
    const { texts, bytes } = this.#checked(values, 0, 0);
    this.#texts = texts;
    this.#bytes = bytes;
    return Promise.resolve();
  }

  #checked(values: readonly JsonValue[], entries: number, bytes: number): { texts: string[]; bytes: number } {
    const { maxEntries, maxBytes } = this.#limits;
    const full = (what: string) =>
      new SimError('STORE_FULL', `the store has no room for more than ${what} in ${this.#name}`);
    if (entries + values.length > maxEntries) throw full(`${maxEntries} entries`);
    const texts = values.map(jsonOf);
    const sum = texts.reduce((total, text) => total + Buffer.byteLength(text), bytes);
    if (sum > maxBytes) throw full(`${maxBytes} bytes`);
    return { texts, bytes: sum };
  }
}

/** A store that lives as long as the process. */
export function createMemoryStore(limits: Partial<StoreLimits> = {}): Store {
  const inForce = { ...defaultStoreLimits, ...limits };
  const slots = new Map<string, Slot>();
  return {
    slot(name) {
      const existingSlot = slots.get(name);
      if (existingSlot) return existingSlot;
      if (name.length > maxNameLength || !namePattern.test(name))
        throw new SimError('INTERNAL', `${JSON.stringify(name)} is no name of a slot; use slotName`);
      if (slots.size >= inForce.maxSlots)
        throw new SimError('STORE_FULL', `the store has no room for more than ${inForce.maxSlots} slots`);
      const newSlot = new MemorySlot(name, inForce);
      slots.set(name, newSlot);
      return newSlot;
    },
  };
}
