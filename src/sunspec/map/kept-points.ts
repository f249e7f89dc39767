/**
 * Kept registers in a map or under start values that differ from those they were kept under: point by point, by name.
 */
import { SimError } from '../../core/errors.ts';
import { keptOctets } from './changed-registers.ts';
import type { KeptRegisters } from './changed-registers.ts';
import type { Bank } from './bank.ts';
import { checkValue } from './checks.ts';
import { applyScale, isFloat, numberCodec, removeScale } from './codec.ts';
import type { Layout, PointSlot } from './layout.ts';
import { meaningOf } from './layout-table.ts';
import type { KeptPlace } from './layout-table.ts';
import type { Former } from './commit.ts';
import type { AnyPointValue } from './types.ts';
import { pointName, readPoint, wordsOf, writePoint } from './view.ts';

/** Facts of the process that kept the registers of a device. */
export interface KeptMaps {
  /** the points of a layout by its digest, in the order of its slots; null: unknown */
  readonly placesOf: (digest: string) => readonly KeptPlace[] | null;
  /** true: ratings and start values are those under which the registers were kept */
  readonly sameStart: boolean;
  /** receives the settings that could not be restored, by name */
  readonly left: (points: readonly string[]) => void;
}

/** Restoring in the map under which the registers were kept. */
export const sameMap: KeptMaps = { placesOf: () => null, sameStart: true, left: () => undefined };

/** The point of this map at a place of another one; null: none with this meaning. */
export function pointAt(layout: Layout, { name, meaning, size }: KeptPlace): PointSlot | null {
  const slot = layout.named(name);
  return slot?.implemented === true && slot.def.size === size && meaningOf(slot) === meaning ? slot : null;
}

/** A value that the program itself gives the point at each start: identity, ratings, shape of the map. */
const isGiven = ({ def: { access, static: isStatic, type } }: PointSlot) =>
  access !== 'RW' && (isStatic === true || type === 'sunssf' || type === 'count');

/** Copies registers, or the value that they have if the scale factor differs. */
function copyValue(layout: Layout, image: Buffer, slot: PointSlot, octets: Buffer, formerSf: number): void {
  const at = 2 * (slot.address - layout.base);
  octets.copy(image, at);
  const codec = numberCodec(slot.def.type);
  if (slot.sf === formerSf || codec === undefined || isFloat(slot.def.type)) return;
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  if (codec.absent(view, at)) return;
  const raw = removeScale(applyScale(codec.get(view, at), formerSf), slot.sf);
  codec.set(view, at, Math.max(codec.min, Math.min(codec.max, raw)));
}

function outsideOf(layout: Layout, image: Buffer, slot: PointSlot) {
  try {
    checkValue(layout, image, slot);
    return null;
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return error.issues[0]?.outside ?? 'refused';
  }
}

/** Moves a setting into its range. @returns false: no value near it is accepted */
function clampSetting(layout: Layout, image: Buffer, slot: PointSlot): boolean {
  const outside = outsideOf(layout, image, slot);
  if (outside === null) return true;
  if (outside === 'refused') return false;
  const { given, min = -Infinity, max = Infinity } = outside;
  writePoint(layout, image, slot, Math.max(min, Math.min(max, given)));
  return outsideOf(layout, image, slot) === null;
}

/**
 * Puts the points of kept registers into an image with the start values of this map. Settings are moved into their
 * ranges; points that this map does not have, and those whose value it refuses, stay as they start.
 * @param places of the layout under which they were kept
 * @returns settings that were kept and are not restored
 */
export function putPoints(
  layout: Layout,
  image: Buffer,
  kept: KeptRegisters,
  places: readonly KeptPlace[],
): readonly string[] {
  const { octets, isKept } = keptOctets(kept, Math.max(...places.map(({ offset, size }) => offset + size)));
  const start = Buffer.from(image);
  const left: string[] = [];
  const settings: PointSlot[] = [];
  for (const place of places) {
    const { name, offset, size, sf } = place;
    if (isKept.subarray(offset, offset + size).includes(0)) continue;
    const slot = pointAt(layout, place);
    if (slot === null) {
      left.push(name);
      continue;
    }
    if (isGiven(slot)) continue;
    copyValue(layout, image, slot, octets.subarray(2 * offset, 2 * (offset + size)), sf);
    if (slot.def.access === 'RW') settings.push(slot);
  }
  // ranges depend on other settings, which may follow in the map
  for (const slot of settings) {
    if (clampSetting(layout, image, slot)) continue;
    const at = 2 * (slot.address - layout.base);
    start.copy(image, at, at, at + 2 * slot.def.size);
    left.push(pointName(slot));
  }
  return left;
}

/** Registers of a point before a hold, with their value. */
export interface Base extends Former {
  readonly value: AnyPointValue;
}

/**
 * A kept base in the map of this process: one that nobody has written is the start value, and a written one is moved
 * into its range among the start values, since the present settings may be those of holds.
 * @param sf scale factor under which it was kept
 */
export function restoredBase({ layout, restored }: Bank, slot: PointSlot, base: Base, sf: number): Base {
  const newStart = restored?.newStart ?? null;
  if (newStart === null) return base;
  const image = Buffer.from(newStart);
  const isWritten = base.writer !== undefined && base.writer.source !== 'profile';
  if (isWritten) copyValue(layout, image, slot, octetsOf(base.raw), sf);
  const stays = isWritten && clampSetting(layout, image, slot);
  const bytes = stays ? image : newStart;
  return {
    ...base,
    raw: wordsOf(layout, bytes, slot),
    value: readPoint(layout, bytes, slot),
    writer: stays ? base.writer : undefined,
  };
}

function octetsOf(words: readonly number[]): Buffer {
  const octets = Buffer.alloc(2 * words.length);
  words.forEach((word, i) => octets.writeUInt16BE(word, 2 * i));
  return octets;
}
