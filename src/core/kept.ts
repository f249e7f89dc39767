/**
 * State that a restart keeps. Each class with such state has a method `kept()` that lists its members; the lists of a
 * device together are its state. Restoring writes into an instance that was built from the same configuration.
 */
import { SimError } from './errors.ts';
import { isJsonObject } from './json-object.ts';
import type { JsonValue } from './store.ts';

export interface Kept {
  /** The state now, to be written at once: it may share objects with the thing itself. */
  save(): JsonValue;
  /** @throws SimError INTERNAL for a value that `save` never makes, as far as the part can tell */
  restore(saved: JsonValue): void;
}

/** Parts of a state, in the order of their restoring. */
export type KeptByName = Readonly<Record<string, Kept>>;

/** Numbers that JSON would change. */
const specialNumbers: readonly number[] = [NaN, Infinity, -Infinity, -0];
const specialTexts = ['NaN', 'Infinity', '-Infinity', '-0'];

/** True if JSON changes no number of a value. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && (value !== 0 || !Object.is(value, -0));
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isExact);
  for (const name in value) if (!isExact((value as Readonly<Record<string, unknown>>)[name])) return false;
  return true;
}

/** JSON of a value; a number that JSON would change is an object with its text. */
export function toExactJson(value: unknown): JsonValue {
  if (typeof value === 'number') {
    if (Number.isFinite(value) && (value !== 0 || Object.is(value, 0))) return value;
    return { $: specialTexts[specialNumbers.findIndex((special) => Object.is(special, value))] ?? '' };
  }
  if (Array.isArray(value)) return value.map(toExactJson);
  if (typeof value !== 'object' || value === null) return value as JsonValue;
  const members = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, JsonValue> = {};
  // the usual case at each save of a device: a list of pairs would cost several times as much
  for (const name of Object.keys(members)) copy[name] = toExactJson(members[name]);
  return copy;
}

/** The value of which `toExactJson` has made `saved`. */
export function fromExactJson(saved: JsonValue): unknown {
  if (Array.isArray(saved)) return (saved as readonly JsonValue[]).map(fromExactJson);
  if (typeof saved !== 'object' || saved === null) return saved;
  const members = saved as Readonly<Record<string, JsonValue>>;
  const special = typeof members['$'] === 'string' ? specialTexts.indexOf(members['$']) : -1;
  if (special >= 0) return specialNumbers[special];
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(members)) copy[name] = fromExactJson(members[name] ?? null);
  return copy;
}

function recordOf(saved: JsonValue): Readonly<Record<string, JsonValue>> {
  if (isJsonObject(saved)) return saved;
  throw new SimError('INTERNAL', 'a kept record is not an object');
}

function listOf(saved: JsonValue, length: number): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(saved) ? saved : [];
  if (list.length === length) return list;
  throw new SimError('INTERNAL', `${length} kept values have become ${list.length}`);
}

/** True for values of one kind; null and undefined stand for a value of any kind. */
function isAlike(present: unknown, saved: unknown): boolean {
  if (present === null || present === undefined || saved === null || saved === undefined) return true;
  return typeof present === typeof saved && Array.isArray(present) === Array.isArray(saved);
}

/** @throws SimError INTERNAL for a member of another kind than the present one */
function checkMembers(present: object, saved: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(present))
    if (name in saved && !isAlike((present as Readonly<Record<string, unknown>>)[name], saved[name]))
      throw new SimError('INTERNAL', `the kept ${name} is a value of another kind`);
}

/** A kept number of things, or of the next one. @throws SimError INTERNAL for any other value */
export function keptCount(value: unknown, name: string): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new SimError('INTERNAL', `the kept ${name} is no count`);
}

/**
 * Private members, as one object of numbers, texts, booleans, null, and lists and objects of these.
 * @param set receives the kept members, and the present value of members that were not kept
 */
export function keptRecord<T extends object>(get: () => T, set: (values: T) => void): Kept {
  return {
    save() {
      const values = get();
      // the usual case, without the cost of a copy
      return isExact(values) ? (values as JsonValue) : toExactJson(values);
    },
    restore(saved) {
      const values = fromExactJson(recordOf(saved)) as Partial<T>;
      const present = get();
      checkMembers(present, values);
      set({ ...present, ...values });
    },
  };
}

type Scalar = number | string | boolean | null;

/** Public members of `of` that are numbers, texts, booleans or null. */
export function keptMembers<K extends string>(of: Record<K, Scalar>, ...names: readonly K[]): Kept {
  return keptRecord(
    () => Object.fromEntries(names.map((name) => [name, of[name]])) as Record<K, Scalar>,
    (values) => {
      for (const name of names) of[name] = values[name];
    },
  );
}

/** State from which other state follows. @param follow called when it is restored */
export function keptThen(kept: Kept, follow: () => void): Kept {
  return {
    save: () => kept.save(),
    restore(saved) {
      kept.restore(saved);
      follow();
    },
  };
}

/** Numbers of fixed count, restored in place. */
export function keptArray(values: Float64Array | Uint8Array | Int32Array | number[]): Kept {
  return {
    save: () => Array.from(values, toExactJson),
    restore(saved) {
      const numbers = listOf(saved, values.length).map(fromExactJson);
      if (numbers.some((value) => typeof value !== 'number'))
        throw new SimError('INTERNAL', 'a kept value is no number');
      for (const [i, value] of numbers.entries()) values[i] = value as number;
    },
  };
}

/** Things of one kind, as many as when they were kept. */
export function keptList(parts: readonly Kept[]): Kept {
  return {
    save: () => parts.map((part) => part.save()),
    restore(saved) {
      for (const [i, value] of listOf(saved, parts.length).entries()) parts[i]?.restore(value);
    },
  };
}

/**
 * Named parts. A part without a kept value stays at its start, and a kept value without a part is ignored: versions of
 * the program differ.
 */
export function keptParts(parts: KeptByName): Kept {
  const entries = Object.entries(parts);
  return {
    save() {
      const values: Record<string, JsonValue> = {};
      for (const [name, part] of entries) values[name] = part.save();
      return values;
    },
    restore(saved) {
      const values = recordOf(saved);
      for (const [name, part] of entries) {
        const value = values[name];
        if (value !== undefined) part.restore(value);
      }
    },
  };
}
