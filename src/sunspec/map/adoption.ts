/**
 * Curve adoption: the write of `AdptCrvReq` copies a stored set into set 1, the one in force, inside the commit.
 * Consistency is checked here and not at point writes, so that a set can be staged in any order.
 */
import { SimError } from '../../core/errors.ts';
import { setsOf, adoptionPoints, isInSet1 } from './layout.ts';
import type { Layout, ModelPlace, PointSlot } from './layout.ts';
import { inUseIssue } from './checks.ts';
import { readPoint } from './view.ts';

const results = { IN_PROGRESS: 0, COMPLETED: 1, FAILED: 2 } as const;

/** The reason why a set cannot be in force, with the point that shows it. */
export interface AdoptionIssue {
  readonly path: string;
  readonly detail: string;
  /** the set contradicts itself, whatever the limits of the device */
  readonly isInconsistent?: true;
}

interface CurveRule {
  /** path inside the set, with its dot */
  readonly prefix: string;
  /** minimum number of points in use */
  readonly minPoints: 0 | 1;
  /** first coordinates must not fall: the curve is a function of its input */
  readonly rising: boolean;
}

const functionCurves: readonly CurveRule[] = [{ prefix: '', minPoints: 1, rising: true }];
// a trip curve lists thresholds with their times in any order
const tripCurves: readonly CurveRule[] = [
  { prefix: 'MustTrip.', minPoints: 1, rising: false },
  { prefix: 'MayTrip.', minPoints: 0, rising: false },
  { prefix: 'MomCess.', minPoints: 0, rising: false },
];

interface Candidate {
  readonly layout: Layout;
  readonly image: Buffer;
  readonly model: ModelPlace;
  /** path of the set, with its dot */
  readonly set: string;
}

function curveRules(model: ModelPlace): readonly CurveRule[] {
  const [inForce] = setsOf(model);
  if (inForce?.def.name !== 'Crv') return [];
  return inForce.groups['MustTrip'] ? tripCurves : functionCurves;
}

/** The settings of a set that the device implements, outside its curve points, must hold valid values. */
function settingsIssue({ layout, image, model, set }: Candidate): AdoptionIssue | null {
  for (const slot of model.slots) {
    const setting = slot.path.startsWith(set) && !slot.path.includes('.Pt[');
    if (!setting || !slot.implemented || slot.def.access !== 'RW') continue;
    const detail = inUseIssue(layout, image, slot);
    if (detail !== null) return { path: slot.path, detail };
  }
  return null;
}

function coordinatesOf({ layout, model }: Candidate, point: string): readonly PointSlot[] {
  // the first of these that a model has is the input of its curve
  return ['V', 'Hz', 'W', 'Var', 'Tms']
    .map((name) => layout.slot(model.def.id, `${point}.${name}`))
    .filter((slot) => slot !== undefined);
}

function pointIssue(
  { layout, image }: Candidate,
  coordinates: readonly PointSlot[],
  last: number,
): AdoptionIssue | null {
  for (const slot of coordinates) {
    const detail = slot.implemented ? inUseIssue(layout, image, slot) : null;
    if (detail !== null) return { path: slot.path, detail };
  }
  const [input] = coordinates;
  const x = input && readPoint(layout, image, input);
  if (!input || typeof x !== 'number' || x >= last) return null;
  return { path: input.path, detail: `${x} is below the value of the previous point, ${last}`, isInconsistent: true };
}

function curveIssue(candidate: Candidate, { prefix, minPoints, rising }: CurveRule): AdoptionIssue | null {
  const { layout, image, model, set } = candidate;
  const path = `${set}${prefix}ActPt`;
  const count = layout.slot(model.def.id, path);
  const value = count?.implemented === true ? readPoint(layout, image, count) : 0;
  const active = typeof value === 'number' ? value : 0;
  if (active < minPoints) return { path, detail: 'no points are in use', isInconsistent: true };
  let lastX = -Infinity;
  for (let i = 0; i < active; i += 1) {
    const coordinates = coordinatesOf(candidate, `${set}${prefix}Pt[${i}]`);
    if (coordinates.length === 0) return { path, detail: `${active} points are in use, but the curve has only ${i}` };
    const issue = pointIssue(candidate, coordinates, lastX);
    if (issue) return issue;
    const x = rising && coordinates[0] ? readPoint(layout, image, coordinates[0]) : null;
    if (typeof x === 'number') lastX = x;
  }
  return null;
}

/** Why set `number` of a model cannot be in force; null when it can. */
export function adoptionIssue(layout: Layout, image: Buffer, modelId: number, number: number): AdoptionIssue | null {
  const model = layout.models.find((place) => place.def.id === modelId);
  const place = model && setsOf(model)[number - 1];
  if (!place) return { path: 'Crv', detail: `there is no set ${number}` };
  const candidate = { layout, image, model, set: `${place.def.name}[${number - 1}].` };
  const issue = settingsIssue(candidate);
  if (issue) return issue;
  for (const rule of curveRules(model)) {
    const curveProblem = curveIssue(candidate, rule);
    if (curveProblem) return curveProblem;
  }
  return null;
}

/** Copies a stored set over set 1, all points but its ReadOnly flag. */
function copySet(layout: Layout, image: Buffer, model: ModelPlace, number: number): void {
  const sets = setsOf(model);
  const [target] = sets;
  const source = sets[number - 1];
  if (!target || !source || source === target) return;
  image.copy(image, target.offset, source.offset, source.offset + source.registers * 2);
  const flag = layout.slot(model.def.id, `${target.def.name}[0].ReadOnly`);
  if (flag) image.writeUInt16BE(1, (flag.address - layout.base) * 2);
}

/** Sets a request or result point, which is a single register without a scale factor. */
function put(layout: Layout, image: Buffer, slot: PointSlot | undefined, word: number): void {
  if (slot) image.writeUInt16BE(word, (slot.address - layout.base) * 2);
}

/** The points that an adoption wrote: the result, and set 1 unless it failed. */
function adoptedPoints(layout: Layout, request: PointSlot, issue: AdoptionIssue | null): readonly PointSlot[] {
  const result = adoptionPoints(layout, request.modelId)?.result;
  const model = layout.models.find((place) => place.def.id === request.modelId);
  return (model?.slots ?? []).filter((slot) => slot === result || (issue === null && isInSet1(slot)));
}

/**
 * Carries out an adoption request on the candidate image of a write; the result point has the outcome.
 * @returns the points that it wrote
 */
export function adopt(layout: Layout, image: Buffer, request: PointSlot): readonly PointSlot[] {
  const model = layout.models.find((place) => place.def.id === request.modelId);
  if (!model) return [];
  const number = image.readUInt16BE((request.address - layout.base) * 2);
  const issue = adoptionIssue(layout, image, request.modelId, number);
  if (issue === null) copySet(layout, image, model, number);
  put(
    layout,
    image,
    adoptionPoints(layout, request.modelId)?.result,
    issue === null ? results.COMPLETED : results.FAILED,
  );
  return adoptedPoints(layout, request, issue);
}

/** Writes the result of an adoption request without adopting anything. @returns the points that it wrote */
export function reportAdoption(
  layout: Layout,
  image: Buffer,
  request: PointSlot,
  state: keyof typeof results,
): readonly PointSlot[] {
  const result = adoptionPoints(layout, request.modelId)?.result;
  put(layout, image, result, results[state]);
  return result ? [result] : [];
}

/**
 * Checks set 1 of each model that a transaction has changed there, and marks it as adopted.
 * @returns requests and results, which now read 1 and COMPLETED
 * @throws SimError MAP_BAD_VALUE with the reason
 */
export function adoptInPlace(layout: Layout, image: Buffer, touched: readonly PointSlot[]): readonly PointSlot[] {
  const models = new Set(touched.filter(isInSet1).map((slot) => slot.modelId));
  return [...models].flatMap((modelId) => {
    const issue = adoptionIssue(layout, image, modelId, 1);
    if (issue) {
      const name = `${modelId}.${issue.path}`;
      throw new SimError('MAP_BAD_VALUE', `${name}: ${issue.detail}`, [{ name, detail: issue.detail }]);
    }
    const points = adoptionPoints(layout, modelId);
    if (!points) throw new SimError('INTERNAL', `model ${modelId} has sets but no adoption request`);
    const { request, result } = points;
    put(layout, image, request, 1);
    put(layout, image, result, results.COMPLETED);
    return [request, result];
  });
}
