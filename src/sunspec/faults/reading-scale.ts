/** A scale factor that moves with the power of the device. */
import type { Issue } from '../../core/errors.ts';
import type { PointBank } from '../map/bank.ts';
import { numberCodec } from '../map/codec.ts';
import { memoPerLayoutAndKey } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { pointName } from '../map/view.ts';
import { slotNamed } from './condition.ts';
import type { MapImage, ReadingEffect } from './reading-image.ts';

/** Parameters of a moving scale factor. */
export interface DynamicScale {
  readonly scale_factor: string;
  readonly steps: readonly { readonly above_pct: number; readonly shift: number }[];
}

/** limits of a scale factor (Device Information Model Specification) */
const maxScaleFactor = 10;

/** The points that a scale-factor point of a model scales. */
function scaledBy(layout: Layout, factor: PointSlot): readonly PointSlot[] {
  const model = layout.models.find(({ def }) => def.id === factor.modelId);
  return (model?.slots ?? []).filter(({ def }) => def.sf === factor.def.name);
}

/** Scale factors that can move: those of read-only points, since a master scales writes by the factor it has read. */
function movable(layout: Layout): readonly PointSlot[] {
  return layout.slots.filter(
    (slot) =>
      slot.def.type === 'sunssf' && slot.implemented && scaledBy(layout, slot).every(({ writable }) => !writable),
  );
}

const loadPoint = '701.W';

/** Why a scale factor cannot move in a device; empty: it can. */
export function dynamicScaleIssues(layout: Layout, { scale_factor: name }: DynamicScale): Issue[] {
  if (slotNamed(layout, loadPoint) === undefined) {
    return [{ name: '/kind', detail: `the map has no ${loadPoint}, which moves the factor` }];
  }
  const slot = slotNamed(layout, name);
  const allowed = movable(layout);
  if (slot !== undefined && allowed.includes(slot)) return [];
  const detail =
    slot?.def.type === 'sunssf' && slot.implemented
      ? `${name} scales points that can be written`
      : `${name} is no scale factor that the device implements`;
  return [{ name: '/parameters/scale_factor', detail, allowed: allowed.map(pointName) }];
}

/** Active power in or out, % of the rating; 0 where there is none. */
function loadPct(bank: PointBank): number {
  const [w, rating] = [loadPoint, '702.WMaxRtg'].map((name) => {
    const slot = slotNamed(bank.layout, name);
    return slot === undefined ? null : bank.value(slot);
  });
  return typeof w === 'number' && typeof rating === 'number' && rating > 0 ? (100 * Math.abs(w)) / rating : 0;
}

/** The shift nearest to the wanted one at which all values fit their types. */
function fittingShift(image: MapImage, slots: readonly PointSlot[], wanted: number): number {
  const fits = (shift: number) =>
    slots.every((slot) => {
      const [raw, codec] = [image.raw(slot), numberCodec(slot.def.type)];
      if (raw === null || codec === undefined) return true;
      const moved = Math.round(raw * 10 ** -shift);
      return moved >= codec.min && moved <= codec.max;
    });
  let shift = wanted;
  while (shift < 0 && !fits(shift)) shift += 1;
  return shift;
}

/** The factor and the points under it; null: the layout has no such factor. */
const moving = memoPerLayoutAndKey((layout, { scale_factor: name }: DynamicScale) => {
  const factor = slotNamed(layout, name);
  return factor !== undefined && movable(layout).includes(factor) ? { factor, slots: scaledBy(layout, factor) } : null;
});

/** The scale factor and the points under it change together, so that the values stay the same except for rounding. */
export function dynamicScale(parameters: DynamicScale, bank: PointBank): ReadingEffect | null {
  const found = moving(bank.layout, parameters);
  if (found === null) return null;
  const { factor, slots } = found;
  const apply = (image: MapImage): void => {
    const load = loadPct(bank);
    const own = image.raw(factor);
    if (own === null) return;
    const wanted = parameters.steps.findLast(({ above_pct: abovePct }) => load >= abovePct)?.shift ?? 0;
    const shift = fittingShift(image, slots, Math.min(maxScaleFactor - own, Math.max(-maxScaleFactor - own, wanted)));
    for (const slot of slots) {
      const raw = image.raw(slot);
      if (raw !== null) image.setRaw(slot, raw * 10 ** -shift);
    }
    image.setRaw(factor, own + shift);
  };
  const own = [factor, ...slots];
  return { slots: own, apply, reads: own, last: true };
}
