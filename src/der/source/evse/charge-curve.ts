/**
 * Charging along a power curve that is linear between its points, under a constant cap: the two-stage battery of
 * ACN-Sim is one such curve, a DC fast-charge table another. Closed form per stretch, so exact for any step.
 */
import type { ChargingCurvePoint } from '../../../contract/kinds/evse.ts';

/** Curve of one vehicle over its state of charge 0..1. */
export interface CurveTable {
  readonly soc: Float64Array;
  readonly powerW: Float64Array;
}

/** Result of `chargeAlong`; overwritten by each call. */
export interface ChargeResult {
  /** at the meter */
  energyJ: number;
  /** time until the end of the step or the goal */
  timeS: number;
}

const socTolerance = 1e-12;
const powerTolerance = 1e-12;

/** The table of a curve in W; constant before its first and after its last point. */
export function curveTable(points: readonly ChargingCurvePoint[], maxChargeW: number): CurveTable {
  const inside = points.map(({ socPct, fraction }) => [socPct / 100, fraction * maxChargeW] as const);
  const first = inside[0] ?? [0, maxChargeW];
  const last = inside[inside.length - 1] ?? [1, maxChargeW];
  const all = [
    ...(first[0] > 0 ? [[0, first[1]] as const] : []),
    ...inside,
    ...(last[0] < 1 ? [[1, last[1]] as const] : []),
  ];
  return { soc: Float64Array.from(all, ([soc]) => soc), powerW: Float64Array.from(all, ([, powerW]) => powerW) };
}

function segmentOf(soc: Float64Array, at: number): number {
  let i = 0;
  while (i < soc.length - 2 && at >= (soc[i + 1] ?? 1)) i += 1;
  return i;
}

/** Power in W that the curve allows at this state of charge, 0..1. */
export function curvePowerW({ soc, powerW }: CurveTable, at: number): number {
  const i = segmentOf(soc, at);
  const s0 = soc[i] ?? 0;
  const p0 = powerW[i] ?? 0;
  const span = (soc[i + 1] ?? 1) - s0;
  return span > 0 ? p0 + (((powerW[i + 1] ?? 0) - p0) * (at - s0)) / span : p0;
}

/** State of charge at which the curve falls to `endW` for good; 1 when it never does. */
export function endOfCurve({ soc, powerW }: CurveTable, endW: number): number {
  let i = soc.length - 1;
  if ((powerW[i] ?? 0) >= endW) return 1;
  while (i > 0 && (powerW[i - 1] ?? 0) < endW) i -= 1;
  if (i === 0) return 1;
  const p0 = powerW[i - 1] ?? 0;
  const p1 = powerW[i] ?? 0;
  const s0 = soc[i - 1] ?? 0;
  return s0 + (((soc[i] ?? 1) - s0) * (p0 - endW)) / (p0 - p1);
}

/**
 * Charges from `soc` under min(cap, curve) for `dtS` or until `goalSoc`.
 * @param socPerJ state of charge per joule at the meter
 * @param dtS Infinity: until the goal
 */
// eslint-disable-next-line max-params -- of every vehicle in every tick: an object of arguments would be garbage
export function chargeAlong(
  table: CurveTable,
  soc: number,
  goalSoc: number,
  capW: number,
  socPerJ: number,
  dtS: number,
  out: ChargeResult,
): void {
  const last = table.soc.length - 1;
  let s = soc;
  out.energyJ = 0;
  out.timeS = 0;
  for (let i = segmentOf(table.soc, s); i < last && goalSoc - s > socTolerance && dtS > out.timeS; ) {
    const s0 = table.soc[i] ?? 0;
    const s1 = table.soc[i + 1] ?? 1;
    const p0 = table.powerW[i] ?? 0;
    const slope = ((table.powerW[i + 1] ?? 0) - p0) / (s1 - s0);
    const here = p0 + slope * (s - s0);
    const crossing = slope === 0 ? s1 : s0 + (capW - p0) / slope;
    const capped = here >= capW * (1 - powerTolerance) && (slope >= 0 || crossing > s + socTolerance);
    const capChanges = crossing > s && (capped ? slope < 0 : slope > 0);
    const endSoc = Math.min(s1, goalSoc, capChanges ? crossing : 1);
    const left = dtS - out.timeS;
    const timeS = stretch(capped ? capW : here, capped ? 0 : slope * socPerJ, (endSoc - s) / socPerJ, left, out);
    if (timeS >= left) return;
    s = endSoc;
    if (endSoc >= s1) i += 1;
  }
}

/**
 * One stretch of `maxJ`; power starts at `powerW` and grows exponentially, `growth` per second.
 * @returns time to its end, s
 */
function stretch(powerW: number, growth: number, maxJ: number, leftS: number, out: ChargeResult): number {
  if (!(powerW > 0)) {
    out.timeS += leftS;
    return leftS;
  }
  const flat = growth === 0;
  const ratio = 1 + (growth * maxJ) / powerW;
  const endS = flat ? maxJ / powerW : ratio > 0 ? Math.log(ratio) / growth : Infinity;
  if (endS < leftS || leftS === Infinity) {
    out.energyJ += maxJ;
    out.timeS += endS;
  } else {
    out.energyJ += flat ? powerW * leftS : (powerW * Math.expm1(growth * leftS)) / growth;
    out.timeS += leftS;
  }
  return endS;
}
