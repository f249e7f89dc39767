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

/** Points scaled by a scale factor. */
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

/** Reasons why a scale factor of a device cannot move; empty: it can. */
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

/** Active power in either direction, % of the rating; 0 if not implemented. */
function loadPct(bank: PointBank): number {
  const [w, rating] = [loadPoint, '702.WMaxRtg'].map((name) => {
    const slot = slotNamed(bank.layout, name);
    return slot === undefined ? null : bank.value(slot);
  });
  return typeof w === 'number' && typeof rating === 'number' && rating > 0 ? (100 * Math.abs(w)) / rating : 0;
}

/** The shift nearest to the requested one with which all values fit their types. */
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

/** The factor and its points; null: the layout lacks the factor. */
const moving = memoPerLayoutAndKey((layout, { scale_factor: name }: DynamicScale) => {
  const factor = slotNamed(layout, name);
  return factor !== undefined && movable(layout).includes(factor) ? { factor, slots: scaledBy(layout, factor) } : null;
});

/** Changes the scale factor and its points together: the values stay the same except for rounding. */
export function dynamicScale(parameters: DynamicScale, bank: PointBank): ReadingEffect | null {
  const scaled = moving(bank.layout, parameters);
  if (scaled === null) return null;
  const { factor, slots } = scaled;
  const apply = (image: MapImage): void => {
    const load = loadPct(bank);
    const exponent = image.raw(factor);
    if (exponent === null) return;
    const requestedShift = parameters.steps.findLast(({ above_pct: abovePct }) => load >= abovePct)?.shift ?? 0;
    const shift = fittingShift(
      image,
      slots,
      Math.min(maxScaleFactor - exponent, Math.max(-maxScaleFactor - exponent, requestedShift)),
    );
    for (const slot of slots) {
      const raw = image.raw(slot);
      if (raw !== null) image.setRaw(slot, raw * 10 ** -shift);
    }
    image.setRaw(factor, exponent + shift);
  };
  const changedSlots = [factor, ...slots];
  return { slots: changedSlots, apply, reads: changedSlots, last: true };
}
