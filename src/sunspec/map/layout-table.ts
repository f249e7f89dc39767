/**
 * The points of a layout as text, so that registers kept under it can be read by versions of the program whose maps
 * differ. One line for each point, in the order of `Layout.slots`.
 */
import { createHash } from 'node:crypto';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { memoPerLayout } from './layout.ts';
import type { Layout, PointSlot } from './layout.ts';
import { pointName } from './view.ts';

/** A point of a kept layout. */
export interface KeptPlace {
  /** as `Layout.named` takes it */
  readonly name: string;
  /** text that differs where values have another meaning: type, units, symbols */
  readonly meaning: string;
  readonly sf: number;
  /** registers after the base of the map */
  readonly offset: number;
  /** registers */
  readonly size: number;
}

const symbolsMark = ({ def: { symbols } }: PointSlot) =>
  symbols === undefined ? '' : crc32(JSON.stringify(symbols)).toString(36);

/** Text without spaces that differs where the values of two points have another meaning. */
export function meaningOf(slot: PointSlot): string {
  const { type, units = '' } = slot.def;
  return [type, units.replace(/\s/g, '_'), symbolsMark(slot)].join(':');
}

/** A point as parts of the state name it, with its meaning and scale, since they keep its values or registers. */
export const keptPoint = (slot: PointSlot): string => [pointName(slot), meaningOf(slot), slot.sf].join(' ');

/**
 * The point of `keptPoint`, with any scale factor; undefined: none of the map. A number is its place, in form 1 of the
 * state.
 */
export function pointOf(layout: Layout, kept: string | number): PointSlot | undefined {
  if (typeof kept === 'number') return layout.slots[kept];
  const [name = '', meaning] = kept.split(' ');
  const slot = layout.named(name);
  return slot && meaningOf(slot) === meaning ? slot : undefined;
}

/** The scale factor under which registers of a point were kept. */
export const keptScale = (slot: PointSlot, kept: string | number): number =>
  typeof kept === 'number' ? slot.sf : Number(kept.split(' ')[2]);

/** `pointOf` for kept registers, which another scale factor would change. */
export function unscaledPointOf(layout: Layout, kept: string | number): PointSlot | undefined {
  const slot = pointOf(layout, kept);
  return slot && keptScale(slot, kept) === slot.sf ? slot : undefined;
}

/** The table of a layout: name, meaning, scale factor, size, and registers between the point and the one before. */
export const layoutTable = memoPerLayout((layout): string => {
  let next = layout.base;
  const lines = layout.slots.map((slot) => {
    const { address, def, sf } = slot;
    const gap = address - next;
    next = address + def.size;
    return [pointName(slot), meaningOf(slot), sf, def.size, gap].join(' ');
  });
  return lines.join('\n');
});

/** The points of a present layout, as those of a kept one. */
export const layoutPlaces: (layout: Layout) => readonly KeptPlace[] = memoPerLayout((layout) =>
  placesIn(layoutTable(layout)),
);

/** A text that differs between layouts with different points, places or meanings. */
export const layoutDigest: (layout: Layout) => string = memoPerLayout((layout) =>
  createHash('sha256').update(layoutTable(layout)).digest('base64url').slice(0, 16),
);

/** The table as it is kept: some 7 kB for each layout. */
export const packTable = (table: string): string => deflateRawSync(table, { level: 9 }).toString('base64');

/** @throws an error for a text that is not packed */
export function unpackTable(packed: string): readonly KeptPlace[] {
  return placesIn(inflateRawSync(Buffer.from(packed, 'base64')).toString());
}

function placesIn(table: string): readonly KeptPlace[] {
  let next = 0;
  return table.split('\n').map((line) => {
    const [name = '', meaning = '', sf, size, gap] = line.split(' ');
    const offset = next + Number(gap);
    next = offset + Number(size);
    return { name, meaning, sf: Number(sf), offset, size: Number(size) };
  });
}
