/** Functions that name points: freezes and ASSIGN_CLASS. IEEE 1815 4.4.8, 4.4.15 */
import { iin } from '../../application/types.ts';
import type { ObjectHeader } from '../../application/types.ts';
import { kindOfStaticGroup, pointsNamed } from '../database.ts';
import type { Database } from '../types.ts';
import type { PointClass, PointKind, Stamp } from '../../points.ts';

const counterGroup = 20;
const classGroup = 60;

/** The indexes of installed points that a header names, and whether others are named too. */
function named(database: Database, kind: PointKind, { range }: ObjectHeader) {
  const { found, missing } = pointsNamed(database.points(kind), range) ?? { found: [], missing: true };
  return { indexes: found.map(({ spec }) => spec.index), missing };
}

/** @returns bits of IIN2 */
export function freeze(
  headers: readonly ObjectHeader[],
  database: Database,
  { clear, stamp }: { readonly clear: boolean; readonly stamp: Stamp },
): number {
  if (headers.length === 0) return iin.parameterError;
  if (headers.some(({ group, variation }) => group !== counterGroup || variation !== 0)) return iin.objectUnknown;
  let iin2 = 0;
  for (const header of headers) {
    const { indexes, missing } = named(database, 'counter', header);
    if (missing) iin2 |= iin.parameterError;
    database.freeze(indexes, clear, stamp);
  }
  return iin2;
}

const classes: Readonly<Record<number, PointClass>> = { 1: 0, 2: 1, 3: 2, 4: 3 };

/**
 * Assigns a class to the points behind each class object.
 * @returns bits of IIN2; valid objects are carried out even so
 */
export function assignClass(headers: readonly ObjectHeader[], database: Database): number {
  let to: PointClass | undefined;
  let iin2 = headers.length === 0 ? iin.parameterError : 0;
  for (const header of headers) {
    const { group, variation, range } = header;
    if (group === classGroup) {
      to = classes[variation];
      if (to === undefined || range.kind !== 'all') return iin2 | iin.parameterError;
      continue;
    }
    const kind = kindOfStaticGroup(group);
    if (kind === undefined || variation !== 0 || database.points(kind).length === 0) iin2 |= iin.objectUnknown;
    else if (to === undefined) iin2 |= iin.parameterError;
    else iin2 |= assign(header, kind, to, database);
  }
  return iin2;
}

function assign(header: ObjectHeader, kind: PointKind, to: PointClass, database: Database): number {
  const { indexes, missing } = named(database, kind, header);
  const refused = indexes.filter((index) => !database.assignClass(kind, index, to));
  // of all points those that make no events are passed over
  const isRefused = header.range.kind === 'all' ? refused.length === indexes.length : refused.length > 0;
  return missing || isRefused ? iin.parameterError : 0;
}
