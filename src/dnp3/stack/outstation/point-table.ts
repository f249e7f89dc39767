/** Configurations of points in the order of kinds and indexes: one table for all outstations with the same points. */
import type { ObjectRange } from '../application/types.ts';
import { groupsOf, pointKinds } from '../points.ts';
import type { PointKind, PointSpec } from '../points.ts';

/** The points of one kind in a table. */
export interface TablePart {
  /** place of the first point among all points of the table */
  readonly start: number;
  /** ascending by index */
  readonly specs: readonly PointSpec[];
  /** places in `specs` of the points that a read of class 0 includes; null: all */
  readonly class0: readonly number[] | null;
}

/** Number of tables that later outstations may share. */
const maxShared = 16;
const sharedTables: PointTable[] = [];

const isSameList = (a: readonly PointSpec[], b: readonly PointSpec[]) =>
  a.length === b.length && a.every((spec, place) => spec === b[place]);

export class PointTable {
  /** number of points */
  readonly size: number;
  /** true: an octet string is among the points */
  readonly hasOctets: boolean;
  readonly parts: Readonly<Record<PointKind, TablePart>>;
  /** as they were given */
  readonly #specs: readonly PointSpec[];

  constructor(specs: readonly PointSpec[]) {
    this.#specs = specs;
    this.size = specs.length;
    let start = 0;
    const partOf = (kind: PointKind): TablePart => {
      const ofKind = specs.filter((spec) => spec.kind === kind).sort((a, b) => a.index - b.index);
      const class0 = ofKind.flatMap(({ inClass0 }, place) => (inClass0 ? [place] : []));
      const part = { start, specs: ofKind, class0: class0.length === ofKind.length ? null : class0 };
      start += ofKind.length;
      return part;
    };
    const parts = Object.fromEntries(pointKinds.map((kind) => [kind, partOf(kind)]));
    this.parts = parts as unknown as PointTable['parts'];
    this.hasOctets = this.parts.octetString.specs.length > 0;
  }

  /** The table of these points, shared by all callers with the same configurations in the same order. */
  static of(specs: readonly PointSpec[]): PointTable {
    const shared = sharedTables.find((table) => isSameList(table.#specs, specs));
    if (shared !== undefined) return shared;
    const table = new PointTable(specs);
    if (sharedTables.push(table) > maxShared) sharedTables.shift();
    return table;
  }
}

/** Place of the first point whose index is not below `index`. */
export function firstFrom(specs: readonly Pick<PointSpec, 'index'>[], index: number): number {
  let low = 0;
  let high = specs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((specs[middle]?.index ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Place of the point with an index; undefined: there is none. */
export function placeOf(specs: readonly PointSpec[], index: number): number | undefined {
  const place = firstFrom(specs, index);
  return specs[place]?.index === index ? place : undefined;
}

const placesFrom = (begin: number, end: number) =>
  Array.from({ length: Math.max(0, end - begin) }, (_, i) => begin + i);

/**
 * Places of the existing points that a header names; null: a count, which names none.
 * @returns `missing`: true if others are named too, or all of no points
 */
export function pointsNamed(
  specs: readonly PointSpec[],
  range: ObjectRange,
): { readonly places: readonly number[]; readonly missing: boolean } | null {
  switch (range.kind) {
    case 'all':
      return { places: placesFrom(0, specs.length), missing: specs.length === 0 };
    case 'span': {
      const places = placesFrom(firstFrom(specs, range.start), firstFrom(specs, range.stop + 1));
      return { places, missing: places.length <= range.stop - range.start };
    }
    case 'indexes': {
      const places = range.indexes.flatMap((index) => placeOf(specs, index) ?? []);
      return { places, missing: places.length < range.indexes.length };
    }
    default:
      return null;
  }
}

/** The kind whose static values are in a group; undefined: none. */
export function kindOfStaticGroup(group: number): PointKind | undefined {
  return pointKinds.find((kind) => groupsOf[kind].static === group);
}
