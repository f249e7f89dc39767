/** The curve of a mode, checked and in engineering units, with its points in order. */
import type { XY } from '../../contract/ride-through-curve.ts';
import type { Received } from '../xml/document.ts';
import type { DERCurve } from '../xml/documents.ts';
import { curveLinkOf, curveTable } from './modes.ts';
import type { CurveMode } from './modes.ts';
import type { ResolvedControl } from './model.ts';
import { scaledOf } from './values.ts';
import { invalid } from './wish.ts';
import type { Refusal } from './wish.ts';

export interface ReadCurve {
  /** x does not fall */
  readonly points: readonly XY[];
  readonly curve: Received<DERCurve>;
}

/** Reads the curve that a mode of a control links to. Points need not be sorted in a document. */
export function readCurve(mode: CurveMode, control: ResolvedControl): ReadCurve | Refusal {
  const href = curveLinkOf(control.base, mode)?.href;
  const curve = href === undefined ? undefined : control.curves.get(href);
  if (!curve) return invalid(`the curve ${href ?? ''} cannot be read`);
  const { type } = curveTable[mode];
  if (curve.curveType !== type) {
    return invalid(`the curve ${href ?? ''} has curveType ${String(curve.curveType)}, and the mode needs ${type}`);
  }
  const { CurveData = [], xMultiplier = 0, yMultiplier = 0 } = curve;
  if (CurveData.length === 0) return invalid(`the curve ${href ?? ''} has no points`);
  const points: XY[] = [];
  for (const { xvalue, yvalue } of CurveData) {
    const [x, y] = [scaledOf(xvalue, xMultiplier), scaledOf(yvalue, yMultiplier)];
    if (x === null || y === null) return invalid(`the curve ${href ?? ''} has a point that is no number`);
    points.push({ x, y });
  }
  return { points: points.sort((a, b) => a.x - b.x), curve };
}

/** The value of a curve, flat beyond its ends. @param points x does not fall; at least one */
export function valueAt(points: readonly XY[], x: number): number {
  const after = points.findIndex((point) => point.x > x);
  const right = points[after] ?? points.at(-1);
  const left = points[after < 0 ? points.length - 1 : after - 1] ?? right;
  if (!left || !right) return 0;
  if (right.x === left.x) return left.y;
  return left.y + ((right.y - left.y) * (x - left.x)) / (right.x - left.x);
}
