/** The checks between a candidate image and its commit; the first failure names its point. */
import { SimError } from '../../core/errors.ts';
import { numberCodec } from './codec.ts';
import { plainPath } from './layout.ts';
import { pointName, readPoint } from './view.ts';
import { ctrlModeMask, dependents, ranges, requiredMode } from './rules.ts';
import type { Bound, ReadPoint } from './rules.ts';
import type { Layout, PointSlot } from './layout.ts';

/** @throws SimError MAP_READ_ONLY or MAP_NOT_IMPLEMENTED */
export function checkAccess(slot: PointSlot): void {
  if (slot.writable) return;
  const name = pointName(slot);
  if (slot.def.access === 'RW' && !slot.implemented) {
    throw new SimError('MAP_NOT_IMPLEMENTED', `${name} is not implemented in this device`, [{ name, detail: 'not implemented' }]);
  }
  throw new SimError('MAP_READ_ONLY', `${name} is read only`, [{ name, detail: 'read only' }]);
}

function bad(slot: PointSlot, detail: string, allowed?: readonly (string | number)[]): SimError {
  const name = pointName(slot);
  return new SimError('MAP_BAD_VALUE', `${name}: ${detail}`, [{ name, detail, ...(allowed && { allowed }) }]);
}

function readerOf(layout: Layout, image: Buffer): ReadPoint {
  return (name) => {
    const dot = name.indexOf('.');
    const slot = layout.slot(Number(name.slice(0, dot)), name.slice(dot + 1));
    return slot?.implemented === true ? readPoint(layout, image, slot) : null;
  };
}

function boundValue(read: ReadPoint, bound: Bound | undefined): number | undefined {
  if (bound === undefined || typeof bound === 'number') return bound;
  const negative = bound.startsWith('-');
  const value = read((negative ? bound.slice(1) : bound) as `${number}.${string}`);
  // a capability that the device does not have: nothing below zero, no bound above
  if (typeof value !== 'number') return negative ? 0 : undefined;
  return negative ? -value : value;
}

function isAbsent(layout: Layout, image: Buffer, slot: PointSlot): boolean {
  const at = (slot.address - layout.base) * 2;
  return numberCodec(slot.def.type)?.absent(new DataView(image.buffer, image.byteOffset), at) === true;
}

function checkRange(layout: Layout, image: Buffer, slot: PointSlot, value: number): void {
  const rule = ranges[`${slot.modelId}.${plainPath(slot.path)}`];
  if (!rule) return;
  const read = readerOf(layout, image);
  const range = typeof rule === 'function' ? rule(read) : rule;
  const min = boundValue(read, range.min);
  const max = boundValue(read, range.max);
  // half a register step of slack: a bound need not fall on the point's own grid
  const slack = 0.5 * 10 ** slot.sf * (slot.sf < 0 ? 1 : 0) + 1e-9;
  // on a coarse grid the slack would let 0 through, which a positive lower bound is there to keep out
  const tooLow = min !== undefined && (value < min - slack || (min > 0 && value <= 0));
  if (tooLow || (max !== undefined && value > max + slack)) {
    throw bad(slot, `${value} is outside ${min ?? '-inf'}..${max ?? 'inf'}`);
  }
}

function checkGate(layout: Layout, image: Buffer, slot: PointSlot, value: unknown): void {
  const mode = requiredMode[`${slot.modelId}.${slot.path}`];
  if (mode === undefined || value !== 'ENABLED') return;
  const modes = layout.slot(702, 'CtrlModes');
  const mask = modes && readPoint(layout, image, modes);
  if (typeof mask === 'number' && Math.floor(mask / ctrlModeMask(mode)) % 2 === 1) return;
  const name = pointName(slot);
  throw new SimError('MAP_NOT_SUPPORTED', `${name}: this device does not have the function (702.CtrlModes lacks ${mode})`,
    [{ name, detail: 'the device does not have this function' }]);
}

/** A point of a stored curve may be marked as not in use; any other point must hold a value. */
function mayBeAbsent(slot: PointSlot): boolean {
  return slot.path.includes('.Pt[');
}

/**
 * Checks one touched point of a candidate: enumeration, range, capability.
 * @throws SimError MAP_BAD_VALUE, MAP_NOT_SUPPORTED
 */
export function checkValue(layout: Layout, image: Buffer, slot: PointSlot): void {
  if (isAbsent(layout, image, slot)) {
    if (mayBeAbsent(slot)) return;
    throw bad(slot, 'the "not implemented" value cannot be written');
  }
  const value = readPoint(layout, image, slot);
  const { symbols, type } = slot.def;
  if (symbols && type.startsWith('enum')) {
    // an unknown number decodes to itself
    if (typeof value === 'number') throw bad(slot, `${value} is not one of its values`, Object.keys(symbols));
    checkGate(layout, image, slot, value);
    return;
  }
  if (symbols && typeof value === 'number') {
    const known = Object.values(symbols).reduce((mask, bit) => mask + 2 ** bit, 0);
    if ((value & ~known) !== 0) throw bad(slot, `${value} sets bits that are not defined`);
    return;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw bad(slot, 'must be a finite number');
    checkRange(layout, image, slot, value);
  }
}

/**
 * Checks every touched point of a candidate, and those whose range depends on one of them.
 * @throws SimError MAP_BAD_VALUE, MAP_NOT_SUPPORTED
 */
export function checkValues(layout: Layout, image: Buffer, points: readonly PointSlot[]): void {
  for (const slot of points) {
    checkValue(layout, image, slot);
    const dependent = dependents[`${slot.modelId}.${slot.path}`];
    const other = dependent === undefined ? undefined : layout.slot(slot.modelId, dependent);
    if (other?.implemented === true && !points.includes(other)) checkValue(layout, image, other);
  }
}
