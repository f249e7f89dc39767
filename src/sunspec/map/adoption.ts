/**
 * Curve adoption: the write of `AdptCrvReq` copies a stored set into set 1, the one in force, inside the commit.
 * Consistency is checked here and not at point writes, so that a set can be staged in any order.
 */
import { readPoint } from './view.ts';
import { numberCodec } from './codec.ts';
import type { GroupPlace, Layout, ModelPlace, PointSlot } from './layout.ts';

const results = { completed: 1, failed: 2 } as const;
const tripCurves = ['MustTrip', 'MayTrip', 'MomCess'] as const;

function setsOf(place: ModelPlace): readonly GroupPlace[] {
  return place.groups['Crv'] ?? place.groups['Ctl'] ?? [];
}

/** The first point in use that lacks one of its coordinates, counted from 1; 0 when there is none. */
function unsetPoint(layout: Layout, image: Buffer, modelId: number, prefix: string, active: number): number {
  for (let i = 0; i < active; i += 1) {
    const coordinates = ['V', 'Hz', 'W', 'Var', 'Tms'].map((name) => layout.slot(modelId, `${prefix}.Pt[${i}].${name}`));
    const present = coordinates.filter((slot) => slot !== undefined);
    if (present.length === 0 || present.some((slot) => slot.implemented && readPoint(layout, image, slot) === null)) return i + 1;
  }
  return 0;
}

/** First coordinates of the points in use must not fall (IEEE 1547-2018 curves are functions of their input). */
function risingX(layout: Layout, image: Buffer, modelId: number, prefix: string, active: number): string | null {
  const unset = unsetPoint(layout, image, modelId, prefix, active);
  if (unset > 0) return `point ${unset} is not set`;
  let last = -Infinity;
  for (let i = 0; i < active; i += 1) {
    const x = ['V', 'Hz', 'W'].map((name) => layout.slot(modelId, `${prefix}.Pt[${i}].${name}`)).find((slot) => slot !== undefined);
    const value = x && readPoint(layout, image, x);
    if (typeof value !== 'number') return `point ${i + 1} has no value on its first axis`;
    if (value < last) return `point ${i + 1} lies before point ${i}`;
    last = value;
  }
  return null;
}

function activePoints(layout: Layout, image: Buffer, modelId: number, path: string): number {
  const slot = layout.slot(modelId, path);
  const value = slot && readPoint(layout, image, slot);
  return typeof value === 'number' ? value : 0;
}

/** Why set `number` cannot be adopted; null when it can. */
export function adoptionFault(layout: Layout, image: Buffer, modelId: number, number: number): string | null {
  const model = layout.models.find((place) => place.def.id === modelId);
  if (!model || number < 1 || number > setsOf(model).length) return `there is no set ${number}`;
  if (model.groups['Ctl']) return null;
  const set = `Crv[${number - 1}]`;
  if (layout.slot(modelId, `${set}.ActPt`)) {
    const active = activePoints(layout, image, modelId, `${set}.ActPt`);
    return active < 1 ? 'it has no points in use' : risingX(layout, image, modelId, set, active);
  }
  // a trip curve lists thresholds with their times in any order; each must be set
  if (activePoints(layout, image, modelId, `${set}.MustTrip.ActPt`) < 1) return 'its must-trip curve has no points in use';
  for (const curve of tripCurves) {
    const active = activePoints(layout, image, modelId, `${set}.${curve}.ActPt`);
    const unset = unsetPoint(layout, image, modelId, `${set}.${curve}`, active);
    if (unset > 0) return `${curve} point ${unset} is not set`;
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

/** The points that an adoption has written: the result, and set 1 when there was no fault. */
export function adoptedPoints(layout: Layout, request: PointSlot, fault: string | null): readonly PointSlot[] {
  const result = request.def.name.replace('Req', 'Rslt');
  const model = layout.models.find((place) => place.def.id === request.modelId);
  return (model?.slots ?? []).filter((slot) => slot.path === result || (fault === null && /^(Crv|Ctl)\[0\]/.test(slot.path)));
}

/**
 * Carries out an adoption request on the candidate image of a write.
 * @returns why it failed, or null; the result point says the same
 */
export function adopt(layout: Layout, image: Buffer, request: PointSlot): string | null {
  const model = layout.models.find((place) => place.def.id === request.modelId);
  if (!model) return null;
  const at = (request.address - layout.base) * 2;
  const number = numberCodec(request.def.type)?.get(new DataView(image.buffer, image.byteOffset), at) ?? 0;
  const fault = adoptionFault(layout, image, request.modelId, number);
  if (fault === null) copySet(layout, image, model, number);
  const result = layout.slot(model.def.id, request.def.name.replace('Req', 'Rslt'));
  if (result) image.writeUInt16BE(fault === null ? results.completed : results.failed, (result.address - layout.base) * 2);
  return fault;
}
