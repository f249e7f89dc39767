/** A string of PV modules with bypass diodes, some of the modules in shade: its curve has up to two power maxima. */
import type { PvShading } from '../../../contract/kinds/pv.ts';
import type { IvPoint } from '../../../contract/device.ts';
import { lastSample } from '../dc-curve.ts';
import type { Writable } from '../source.ts';
import type { DiodeParameters, MaximumPowerPoint, PvModule } from './module.ts';
import { currentAt, parametersAt, voc } from './module.ts';

/** global: the tracker scans the curve; local: it starts at open circuit and stays on the first maximum. */
export const pvTrackers = ['global', 'local'] as const;
export type PvTracker = (typeof pvTrackers)[number];

interface Peak extends IvPoint {
  /** diode voltage of the leading module of the branch, V */
  readonly x: number;
}

/** The solved curve of one string at one irradiance and temperature. */
export interface ShadedString {
  readonly lit: DiodeParameters;
  readonly shaded: DiodeParameters;
  readonly litCount: number;
  readonly shadedCount: number;
  /** voltage of the bypass diodes of all shaded modules when they conduct, V */
  readonly dropV: number;
  readonly openV: number;
  readonly shortA: number;
  /** voltage of the knee, V: below it the bypass diodes conduct, above it the shaded modules carry the current */
  readonly kneeV: number;
  /** power at the knee, W */
  readonly kneeW: number;
  /** diode voltage of a lit module at the knee, V */
  readonly litKneeX: number;
  /** diode voltage of a shaded module at the knee, V */
  readonly shadedKneeX: number;
  /** diode voltage of a shaded module at open circuit, V */
  readonly shadedOpenX: number;
  /** local maximum below the knee; null: none (in light, one of the two exists) */
  readonly left: Peak | null;
  /** local maximum above the knee; null: none */
  readonly right: Peak | null;
}

/** Forward drop of a bypass diode, one per module, V. */
export const bypassDropV = 0.5;

const iterations = 60;
/** Newton step after which the next one would be lost in rounding. */
const tolerance = 1e-6;

/** A point of a branch with the derivatives by the diode voltage of its leading module. */
const point = { i: 0, v: 0, di: 0, dv: 0, d2i: 0, d2v: 0 };

type Side = 'left' | 'right';
type Goal = 'peak' | 'power' | 'voltage';

/** Diode voltage in V at which a lit module carries `currentA`. */
function diodeVoltageAt(p: DiodeParameters, currentA: number): number {
  const remainingA = p.iL - currentA;
  // current falls and is concave: Newton converges from the right, and from the left it overshoots once
  let vd = remainingA > 0 ? p.a * Math.log1p(remainingA / p.i0) : remainingA / p.gSh;
  for (let n = 0; n < iterations; n++) {
    const exponentialA = p.i0 * Math.exp(vd / p.a);
    const step = (remainingA + p.i0 - exponentialA - p.gSh * vd) / (exponentialA / p.a + p.gSh);
    vd += step;
    if (!(Math.abs(step) > tolerance * p.a)) break;
  }
  return vd;
}

/** Diode voltage in V of a module whose terminals are held at `-bypassDropV`. */
function bypassedDiodeVoltage(p: DiodeParameters): number {
  let vd = p.rS * (p.iL + p.i0 + p.gSh * bypassDropV);
  for (let n = 0; n < iterations; n++) {
    const exponentialA = p.i0 * Math.exp(vd / p.a);
    const i = p.iL - (exponentialA - p.i0) - p.gSh * vd;
    const step = (vd - p.rS * i + bypassDropV) / (1 + p.rS * (exponentialA / p.a + p.gSh));
    vd -= step;
    if (!(Math.abs(step) > tolerance * p.a)) break;
  }
  return vd;
}

/**
 * Fills `point`. The lit modules lead left of the knee; right of it the shaded ones do, and the lit modules follow
 * their current.
 */
function evaluate(s: ShadedString, side: Side, x: number): void {
  const leader = side === 'left' ? s.lit : s.shaded;
  const exponentialA = leader.i0 * Math.exp(x / leader.a);
  point.i = leader.iL - (exponentialA - leader.i0) - leader.gSh * x;
  point.di = -exponentialA / leader.a - leader.gSh;
  point.d2i = -exponentialA / (leader.a * leader.a);
  if (side === 'left') {
    point.v = s.litCount * (x - leader.rS * point.i) - s.dropV;
    point.dv = s.litCount * (1 - leader.rS * point.di);
    point.d2v = -s.litCount * leader.rS * point.d2i;
    return;
  }
  const { lit, litCount, shadedCount } = s;
  const y = diodeVoltageAt(lit, point.i);
  const follower = (lit.i0 * Math.exp(y / lit.a)) / lit.a;
  const fall = -follower - lit.gSh;
  const ratio = point.di / fall;
  const bend = (point.d2i + (ratio * ratio * follower) / lit.a) / fall;
  point.v = litCount * (y - lit.rS * point.i) + shadedCount * (x - leader.rS * point.i);
  point.dv = litCount * (ratio - lit.rS * point.di) + shadedCount * (1 - leader.rS * point.di);
  point.d2v = litCount * (bend - lit.rS * point.d2i) - shadedCount * leader.rS * point.d2i;
}

/** Diode voltage that meets the goal; fills `point`. Every goal is a falling function: Newton inside a bracket. */
function solve(s: ShadedString, side: Side, goal: Goal, target: number, low: number, high: number): number {
  const span = high - low;
  // the knee of the diode is close to the upper end
  let x = goal === 'voltage' ? (low + high) / 2 : high - 0.13 * span;
  for (let n = 0; n < iterations; n++) {
    evaluate(s, side, x);
    const slope = point.di * point.v + point.i * point.dv;
    const residual = goal === 'peak' ? slope : goal === 'power' ? point.v * point.i - target : target - point.v;
    const fall =
      goal === 'peak'
        ? point.d2i * point.v + 2 * point.di * point.dv + point.i * point.d2v
        : goal === 'power'
          ? slope
          : -point.dv;
    if (residual > 0) low = x;
    else high = x;
    const next = x - residual / fall;
    const arrived = Math.abs(next - x) <= tolerance * span;
    x = arrived ? Math.min(Math.max(next, low), high) : next > low && next < high ? next : (low + high) / 2;
    if (arrived) break;
  }
  evaluate(s, side, x);
  return x;
}

/** The maximum inside one branch, or null if power only rises or only falls. */
function peakIn(s: ShadedString, side: Side, low: number, high: number): Peak | null {
  if (!(high > low)) return null;
  const knee = side === 'left' ? high : low;
  evaluate(s, side, knee);
  const slope = point.di * point.v + point.i * point.dv;
  if (side === 'left' ? slope >= 0 : slope <= 0) return null;
  const x = solve(s, side, 'peak', 0, low, high);
  return point.v > 0 && point.i > 0 ? { x, v: point.v, i: point.i, p: point.v * point.i } : null;
}

/** Solves the curve. Without light on the shaded modules their bypass diodes conduct at any current. */
function solveCurve(s: Writable<ShadedString>): void {
  const { lit, shaded, litCount, shadedCount, dropV } = s;
  if (!(lit.iL > 0)) return;
  const litOpenV = voc(lit);
  if (shaded.iL > 0) {
    s.shadedKneeX = bypassedDiodeVoltage(shaded);
    s.shadedOpenX = voc(shaded);
    s.openV = litCount * litOpenV + shadedCount * s.shadedOpenX;
    evaluate(s, 'right', s.shadedKneeX);
    s.kneeV = point.v;
    s.kneeW = point.v * point.i;
    s.litKneeX = diodeVoltageAt(lit, point.i);
    s.right = peakIn(s, 'right', s.shadedKneeX, s.shadedOpenX);
  } else {
    s.openV = Math.max(0, litCount * litOpenV - dropV);
    s.kneeV = s.openV;
    s.litKneeX = litOpenV;
  }
  if (s.kneeV > 0) s.left = peakIn(s, 'left', 0, s.litKneeX);
  s.shortA = stringCurrentAt(s, 0);
}

/**
 * Solves a string of `seriesCount` modules of which some are in shade, all at the same cell temperature.
 * @param irradianceWm2 irradiance on the lit modules
 */
export function shadedString(
  module: PvModule,
  seriesCount: number,
  { shadedShare, irradianceShare }: PvShading,
  irradianceWm2: number,
  cellTemperatureC: number,
): ShadedString {
  const shadedCount = seriesCount * Math.min(Math.max(shadedShare, 0), 1);
  // one literal: copies with more members would cost more than the solution
  const solved: Writable<ShadedString> = {
    lit: parametersAt(module, irradianceWm2, cellTemperatureC),
    shaded: parametersAt(module, irradianceWm2 * Math.min(Math.max(irradianceShare, 0), 1), cellTemperatureC),
    litCount: seriesCount - shadedCount,
    shadedCount,
    dropV: shadedCount * bypassDropV,
    openV: 0,
    shortA: 0,
    kneeV: 0,
    kneeW: 0,
    litKneeX: 0,
    shadedKneeX: 0,
    shadedOpenX: 0,
    left: null,
    right: null,
  };
  solveCurve(solved);
  return solved;
}

/**
 * Current of the string in A at a voltage in V; 0 at and above the open-circuit voltage, negative voltages count as 0.
 */
export function stringCurrentAt(s: ShadedString, voltageV: number): number {
  if (!(voltageV < s.openV)) return 0;
  const v = Math.max(voltageV, 0);
  if (v < s.kneeV) return Math.max(currentAt(s.lit, (v + s.dropV) / s.litCount), 0);
  solve(s, 'right', 'voltage', v, s.shadedKneeX, s.shadedOpenX);
  return Math.max(point.i, 0);
}

/** Local maxima by rising voltage: one or two, none in darkness. V, A, W of one string. */
export function stringMaxima(s: ShadedString): readonly IvPoint[] {
  return [s.left, s.right].filter((peak) => peak !== null).map(({ v, i, p }) => ({ v, i, p }));
}

/** The global maximum and the two ends of the curve of one string. */
export function stringMaximum(s: ShadedString): MaximumPowerPoint {
  const peak = s.left !== null && (s.right === null || s.left.p >= s.right.p) ? s.left : s.right;
  return { v: peak?.v ?? 0, i: peak?.i ?? 0, p: peak?.p ?? 0, voc: s.openV, isc: s.shortA };
}

/**
 * Operating point of a tracker whose input starts at `edgeV`: a maximum above it, or the edge itself; and the two ends
 * of the curve of one string.
 */
export function trackedMaximum(s: ShadedString, tracker: PvTracker, edgeV: number): MaximumPowerPoint {
  const { openV, shortA, left, right } = s;
  const edgeA = stringCurrentAt(s, edgeV);
  let v = edgeV;
  let i = edgeA;
  let p = edgeV * edgeA;
  const peaks = tracker === 'local' ? [right ?? left] : [left, right];
  for (const peak of peaks) {
    if (peak === null || peak.v < edgeV || (tracker === 'global' && peak.p < p)) continue;
    ({ v, i, p } = peak);
  }
  return { v, i, p, voc: openV, isc: shortA };
}

/**
 * The voltage in V above the operating point of the tracker at which a string gives `powerW`: a curtailed inverter.
 * For 0 or less the open-circuit voltage, for the power of the tracker or more the voltage of the tracker.
 */
export function stringVoltageForPower(s: ShadedString, powerW: number, tracked: MaximumPowerPoint): number {
  if (!(powerW > 0)) return s.openV;
  if (powerW >= tracked.p) return tracked.v;
  // between the left maximum and the knee power does not fall below that of the knee
  if (s.left !== null && tracked.v < s.kneeV && powerW >= s.kneeW)
    solve(s, 'left', 'power', powerW, s.left.x, s.litKneeX);
  else solve(s, 'right', 'power', powerW, s.right?.x ?? s.shadedKneeX, s.shadedOpenX);
  return Math.min(Math.max(point.v, tracked.v), s.openV);
}

/**
 * Samples of a string's curve from 0 V to open circuit. The global maximum is always among them, the other one unless
 * both have the same nearest sample. In darkness a single sample of zeros.
 * @param points number of samples; fewer than 3 count as 3, more than 1000 as 1000
 */
export function shadedCurve(s: ShadedString, points: number): readonly IvPoint[] {
  const maximum = stringMaximum(s);
  if (!(maximum.p > 0)) return [{ v: 0, i: 0, p: 0 }];
  const last = lastSample(points);
  const curve: IvPoint[] = [];
  for (let n = 0; n <= last; n++) {
    const v = n === last ? s.openV : (s.openV * n) / last;
    const i = n === 0 ? s.shortA : stringCurrentAt(s, v);
    curve.push({ v, i, p: v * i });
  }
  // a maximum replaces its nearest sample, but never one of the two ends; the global maximum is set last, so it stays
  const peaks = [...stringMaxima(s)].sort((a, b) => a.p - b.p);
  for (const peak of peaks) curve[Math.min(Math.max(Math.round((peak.v / s.openV) * last), 1), last - 1)] = peak;
  return curve;
}
