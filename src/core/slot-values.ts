/**
 * Values of a slot, checked where they are read: an export may have been edited, and another version may have written
 * the file. A value that does not fit is left out, with one warning for its slot, and the start goes on.
 */
import { z } from 'zod';
import type { Logger } from './log/log.ts';
import type { JsonValue, Slot } from './store.ts';
import { issueWords } from './zod-issues.ts';

/** Why a value does not fit. */
export class Misfit {
  /** completes `the value ...` */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Reads one value of a slot. */
export type SlotForm<T> = (value: JsonValue) => T | Misfit;

/** A schema for each member of a record. */
export type Members<T> = { readonly [K in keyof T]-?: z.ZodType };

// Schemas that most slots need. JSON has no instants; `Date` has none beyond these.

const maxInstantMs = 8.64e15;

/** ms since the epoch */
export const instant = z.number().min(-maxInstantMs).max(maxInstantMs);
/** a number that goes up by one: of a message, an event or an entry */
export const serial = z.int().min(0);
/** of the simulated time, us */
export const simInstant = z
  .number()
  .min(-1000 * maxInstantMs)
  .max(1000 * maxInstantMs);
/** a quantity, far beyond every meter */
export const amount = z.number().min(-1e15).max(1e15);
/** index of a device, id of a connector or EVSE */
export const place = z.int().min(0).max(100_000);

/** The form of a schema, which only checks: the value stays as it is. */
export function formOf<T>(schema: z.ZodType): SlotForm<T> {
  return (value) => {
    const { error } = schema.safeParse(value);
    if (error === undefined) return value as unknown as T;
    const [first] = error.issues.flatMap((issue) => issueWords(issue, 'a member here', undefined, true));
    const { path = [], detail = 'does not fit' } = first ?? {};
    return new Misfit([path.map(String).join('.'), detail].filter((text) => text !== '').join(' '));
  };
}

/** The schema of a record with at least these members; further ones are kept as they are. */
export const record = <T extends object>(members: Members<T>) => z.looseObject(members);

/** The form of a record with at least these members. */
export const recordOf = <T extends object>(members: Members<T>): SlotForm<T> => formOf<T>(record(members));

/** The form of a reader that answers null for a value that does not fit. @param what completes `is no ...` */
export const readBy =
  <T>(read: (value: JsonValue) => T | null, what: string): SlotForm<T> =>
  (value) =>
    read(value) ?? new Misfit(`is no ${what}`);

type WarningLog = Pick<Logger, 'warning'>;

/** The values that fit. */
class Reading {
  readonly #values: readonly JsonValue[];
  readonly #misfits: string[] = [];

  constructor(values: readonly JsonValue[]) {
    this.#values = values;
  }

  /** undefined: there is none, or it does not fit */
  at<T>(position: number, form: SlotForm<T>): T | undefined {
    const value = this.#values[position];
    if (value === undefined) return undefined;
    const result = form(value);
    if (!(result instanceof Misfit)) return result;
    this.#misfits.push(`value ${position + 1} ${result.reason}`);
    return undefined;
  }

  from<T>(start: number, form: SlotForm<T>): readonly T[] {
    return this.#values.slice(start).flatMap((_, at) => {
      const value = this.at(start + at, form);
      return value === undefined ? [] : [value];
    });
  }

  /** @param isWhole true: one that does not fit takes all others with it */
  report({ name }: Slot, log: WarningLog, isWhole: boolean): void {
    const [first] = this.#misfits;
    if (first === undefined) return;
    const { length: count } = this.#values;
    const what =
      isWhole || count === 1 ? 'it is left out' : `${this.#misfits.length} of its ${count} values are left out`;
    log.warning(`the kept state ${name} does not fit: ${first}; ${what}`);
  }
}

/** The values of a slot, of which each can do without the others. */
export async function readEach<T>(slot: Slot, form: SlotForm<T>, log: WarningLog): Promise<readonly T[]> {
  const reading = new Reading(await slot.read());
  const values = reading.from(0, form);
  reading.report(slot, log, false);
  return values;
}

/** The values of a slot that are about each other. @returns null: there are none, or one does not fit */
export async function readWhole<T>(slot: Slot, form: SlotForm<T>, log: WarningLog): Promise<T | null> {
  const values = await slot.read();
  const result = values.length === 0 ? null : form(values);
  if (!(result instanceof Misfit)) return result;
  log.warning(`the kept state ${slot.name} does not fit: ${result.reason}; it is left out`);
  return null;
}

/** The one value of a slot. @returns null: it has none that fits */
export async function readOne<T>(slot: Slot, form: SlotForm<T>, log: WarningLog): Promise<T | null> {
  const reading = new Reading(await slot.read());
  const value = reading.at(0, form) ?? null;
  reading.report(slot, log, true);
  return value;
}

/**
 * The values of a slot whose first one is about all others.
 * @returns null: it has none, or the first one does not fit
 */
export async function readHeaded<Head, T>(
  slot: Slot,
  [head, rest]: readonly [SlotForm<Head>, SlotForm<T>],
  log: WarningLog,
): Promise<{ readonly head: Head; readonly rest: readonly T[] } | null> {
  const reading = new Reading(await slot.read());
  const first = reading.at(0, head);
  const others = first === undefined ? [] : reading.from(1, rest);
  reading.report(slot, log, first === undefined);
  return first === undefined ? null : { head: first, rest: others };
}
