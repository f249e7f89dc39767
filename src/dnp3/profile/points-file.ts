/** The rows of a point map in a file. */
import { maxPointsFileBytes, readDnp3Points } from '../../contract/dnp3-points.ts';
import type { Dnp3FileRow } from '../../contract/dnp3-points.ts';
import { SimError } from '../../core/errors.ts';
import { readTextFile } from '../../core/text-file.ts';
import type { ModelDef } from '../../sunspec/map/types.ts';
import { servedModels } from '../../sunspec/models/served.ts';
import { an2018Row, isOutput } from './table/rows.ts';
import type { PointName, PointRow } from './types.ts';

function rowOf({
  read_back: readBack,
  min,
  max,
  multiplier,
  unit,
  iec61850,
  deadband,
  bind,
  ...row
}: Dnp3FileRow): PointRow {
  return {
    ...row,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(multiplier !== undefined && { multiplier }),
    ...(unit !== undefined && { unit }),
    ...(iec61850 !== undefined && { iec61850 }),
    ...(deadband !== undefined && { deadband }),
    ...(readBack !== undefined && { readBack: readBack as PointName }),
    ...(bind !== undefined && { bind }),
  };
}

const sunSpecPoints = new Set(servedModels.flatMap(({ id, ...model }) => [...pathsIn(`${id}`, model)]));

function* pathsIn(name: string, { points, groups = [] }: Pick<ModelDef, 'points' | 'groups'>): Generator<string> {
  for (const point of points) yield `${name}.${point.name}`;
  for (const group of groups) yield* pathsIn(`${name}.${group.name}`, group);
}

/** The error in the binding of a row; null: none. */
function bindingIssue({ type, bind }: PointRow): string | null {
  if (bind === undefined) return null;
  if (!/^[A-Z]/.test(bind)) return sunSpecPoints.has(bind) ? null : `no model of SunSpec has a point ${bind}`;
  const bound = an2018Row(bind as PointName);
  if (bound === undefined) return `the built-in map has no point ${bind}`;
  // a control is carried out by an output of its own kind
  return isOutput({ type }) && bound.type !== type ? `${bind} is not of the type ${type}` : null;
}

/**
 * @param path file with a map of its own
 * @throws SimError CONFIG_INVALID for bindings to points that nothing has, or a file that has changed since its check
 */
export function readPointRows(path: string): readonly PointRow[] {
  const read = readDnp3Points(readTextFile(path, maxPointsFileBytes));
  if (typeof read === 'string') throw new SimError('CONFIG_INVALID', `${path}: ${read}`);
  const rows = read.map(rowOf);
  const issues = rows.flatMap((row, i) => {
    const detail = bindingIssue(row);
    return detail === null ? [] : [{ name: `points.${i}.bind`, detail }];
  });
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', `${path}: bindings that lead nowhere`, issues);
  return rows;
}
