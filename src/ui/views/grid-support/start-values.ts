/** Calls that restore the start values of changed points: set 1 by `grid-support`, all others by `registers`. */
import { anyCall } from '../../api/call';
import type { Call, ReplyOf } from '../../api/call';
import { functions } from './functions';
import type { FunctionEntry, Settings } from './functions';
import { memberOfRegister, memberValue } from './set-registers';

export type Change = ReplyOf<'registers/changes'>['changes'][number];

type RegisterPoints = readonly { readonly name: string; readonly value?: unknown; readonly symbol?: unknown }[];

/** Answer of `registers/{model}`. */
export interface ModelReply {
  readonly points: RegisterPoints;
}

/** `705.Crv[0].Pt[1].V` as model and path. */
export function split(point: string): { readonly model: string; readonly path: string } {
  const [model = '', ...path] = point.split('.');
  return { model, path: path.join('.') };
}

export function startOf(row: Change): string | number | null {
  return row.start_symbol ?? row.start_value;
}

/** Points of set 1, which `registers` refuses. */
const setOne = /^(Crv|Ctl)\[0\]\./;

/** True for points of the set in force, which are written by `grid-support`. */
export function isSetOne({ point }: Change): boolean {
  return setOne.test(split(point).path);
}

/** True if a call can restore the start value; points without a writer are written by the device itself. */
export function canPutBack(row: Change): boolean {
  return row.changed_by !== null && startOf(row) !== null;
}

/** The function of a model. */
export function functionOf(model: string): FunctionEntry | undefined {
  return functions.find((entry) => String(entry.model) === model);
}

const partNames: readonly (readonly [string, string])[] = [
  ['MustTrip.', 'must_trip'],
  ['MayTrip.', 'may_trip'],
  ['MomCess.', 'momentary_cessation'],
  ['', ''],
];

/** The body of `grid-support/<function>` that restores set 1. @param model all present points of its model */
export function setOneBody(entry: FunctionEntry, rows: readonly Change[], model: RegisterPoints): Settings {
  const values = new Map<string, unknown>(
    model.filter(({ name }) => setOne.test(name)).map((p) => [below(p.name), p.symbol ?? p.value]),
  );
  const changed = rows.map((row) => below(split(row.point).path));
  rows.forEach((row, index) => values.set(changed[index] ?? '', startOf(row)));
  const body: Record<string, unknown> = {};
  for (const register of changed) {
    const member = memberOfRegister(register);
    if (member !== undefined) {
      body[member] = memberValue(values.get(register));
      continue;
    }
    const [group = '', part = ''] = partNames.find(([prefix]) => register.startsWith(prefix)) ?? [];
    const points = entry.curve && pointsFrom(values, group, entry.curve);
    if (points) Object.assign(body, part === '' ? { points } : { [part]: { points } });
  }
  return body;
}

/** Path within the set. */
function below(path: string): string {
  return path.replace(setOne, '');
}

function pointsFrom(values: ReadonlyMap<string, unknown>, group: string, spec: NonNullable<FunctionEntry['curve']>) {
  return Array.from({ length: Number(values.get(`${group}ActPt`)) }, (_unused, index) => ({
    [spec.x]: values.get(`${group}Pt[${index}].${spec.registers[0]}`),
    [spec.y]: values.get(`${group}Pt[${index}].${spec.registers[1]}`),
  }));
}

/** One call of "put all back". */
export interface Restoring {
  readonly title: string;
  readonly call: Call;
}

/** Rows by model. */
export function byModel(rows: readonly Change[]): ReadonlyMap<string, readonly Change[]> {
  const groups = new Map<string, Change[]>();
  for (const row of rows) {
    const { model } = split(row.point);
    groups.set(model, [...(groups.get(model) ?? []), row]);
  }
  return groups;
}

/**
 * All calls: one for each model, atomic for its points, and one for all functions whose set 1 differs.
 * @param models answers of `registers/{model}` for models whose set 1 differs
 */
export function restoringCalls(
  device: number,
  rows: readonly Change[],
  models: ReadonlyMap<string, ModelReply>,
): readonly Restoring[] {
  const possible = rows.filter(canPutBack);
  const plain = byModel(possible.filter((row) => !isSetOne(row)));
  const calls = [...plain].map(([model, changes]): Restoring => {
    const points = Object.fromEntries(changes.map((row) => [split(row.point).path, startOf(row)]));
    return {
      title: `Model ${model}: ${changes.map((row) => split(row.point).path).join(', ')}`,
      call: anyCall('POST', `registers/${model}`, { device }, { points }),
    };
  });
  const bodies: Record<string, Settings> = {};
  const titles: string[] = [];
  for (const [model, changes] of byModel(possible.filter(isSetOne))) {
    const entry = functionOf(model);
    const present = models.get(model);
    if (!entry || !present) continue;
    bodies[entry.name] = setOneBody(entry, changes, present.points);
    titles.push(entry.title);
  }
  if (titles.length === 0) return calls;
  return [
    ...calls,
    { title: `Set 1 of ${titles.join(', ')}`, call: anyCall('POST', 'grid-support', { device }, bodies) },
  ];
}
