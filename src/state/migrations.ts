/**
 * Migrations of the contents of a store, from each form to the next one. A released form stays readable for good: its
 * migration is never changed, and `fixtures/state` has a journal of each.
 */
import { isJsonObject } from '../core/json-object.ts';
import type { Contents } from './contents.ts';
import { formatVersion } from './record.ts';

/** A pure function from the contents of a form to those of the next one. */
type Migration = (contents: Contents) => Contents;

/** Changes an inner member of a value; a value without it stays as it is. */
function changed(value: unknown, path: readonly string[], change: (member: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  if (!isJsonObject(value) || !(name in value)) return value;
  return { ...value, [name]: changed(value[name], rest, change) };
}

/** Changes the values of the slots that `slots` matches. */
const inSlots =
  (slots: RegExp, change: (value: unknown) => unknown): Migration =>
  (contents) =>
    new Map(
      Array.from(contents, ([slot, texts]) => [
        slot,
        slots.test(slot) ? texts.map((text) => JSON.stringify(change(JSON.parse(text)))) : texts,
      ]),
    );

/**
 * Form 1 has runs of registers by their offset, each with its octets, and a sum of the places of the map as a number;
 * form 2 has the octets of all runs together, and text in the place of the sum.
 */
function joinedRuns(bank: unknown): unknown {
  if (!isJsonObject(bank) || !Array.isArray(bank['registers'])) return bank;
  const { registers, layout, ...others } = bank as {
    readonly registers: readonly (readonly [number, string])[];
    readonly layout?: unknown;
  };
  const runs: number[] = [];
  const parts: Buffer[] = [];
  let last = 0;
  for (const [offset, octets] of registers) {
    const part = Buffer.from(octets, 'base64');
    runs.push(offset - last, part.length / 2);
    parts.push(part);
    last = offset + part.length / 2;
  }
  return { ...others, layout: `sum ${String(layout)}`, runs, octets: Buffer.concat(parts).toString('base64') };
}

/** Form 1 has the holds of the schedules of an outstation before and after their last change; form 2 has the latter. */
const presentHolds = (holds: unknown): unknown =>
  isJsonObject(holds) && 'present' in holds ? holds['present'] : holds;

const registersOf1 = inSlots(/^plant\/device\/\d+$/, (value) =>
  changed(value, ['state', 'registers', 'bank'], joinedRuns),
);
const holdsOf1 = inSlots(/^dnp3\/[^/]+\/values$/, (value) => changed(value, ['holds of schedules'], presentHolds));

/** Migrations by the form that they begin with. */
const migrations: ReadonlyMap<number, Migration> = new Map([[1, (contents) => holdsOf1(registersOf1(contents))]]);

/**
 * Contents in the present form.
 * @param form that they are in: 1 to `formatVersion`
 */
export function migrated(contents: Contents, form: number): Contents {
  let result = contents;
  for (let from = form; from < formatVersion; from += 1) result = migrations.get(from)?.(result) ?? result;
  return result;
}
