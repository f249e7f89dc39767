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
const at = { i: 0, v: 0, di: 0, dv: 0, d2i: 0, d2v: 0 };

type Side = 'left' | 'right';
type Goal = 'peak' | 'power' | 'voltage';

/** Diode voltage in V at which a lit module carries `currentA`. */
function diodeVoltageAt(p: DiodeParameters, currentA: number): number {
  const left = p.iL - currentA;
  // current falls and is concave: Newton converges from the right, and from the left it overshoots once
  let vd = left > 0 ? p.a * Math.log1p(left / p.i0) : left / p.gSh;
  for (let n = 0; n < iterations; n++) {
    const grown = p.i0 * Math.exp(vd / p.a);
    const step = (left + p.i0 - grown - p.gSh * vd) / (grown / p.a + p.gSh);
    vd += step;
    if (!(Math.abs(step) > tolerance * p.a)) break;
  }
  return vd;
}

/** Diode voltage in V of a module whose terminals are held at `-bypassDropV`. */
function bypassedDiodeVoltage(p: DiodeParameters): number {
  let vd = p.rS * (p.iL + p.i0 + p.gSh * bypassDropV);
  for (let n = 0; n < iterations; n++) {
    const grown = p.i0 * Math.exp(vd / p.a);
    const i = p.iL - (grown - p.i0) - p.gSh * vd;
    const step = (vd - p.rS * i + bypassDropV) / (1 + p.rS * (grown / p.a + p.gSh));
    vd -= step;
    if (!(Math.abs(step) > tolerance * p.a)) break;
  }
  return vd;
}

/**
 * Fills `at`. The lit modules lead left of the knee; right of it the shaded ones do, and the lit modules follow their
 * current.
 */
function evaluate(s: ShadedString, side: Side, x: number): void {
  const leader = side === 'left' ? s.lit : s.shaded;
  const grown = leader.i0 * Math.exp(x / leader.a);
  at.i = leader.iL - (grown - leader.i0) - leader.gSh * x;
  at.di = -grown / leader.a - leader.gSh;
  at.d2i = -grown / (leader.a * leader.a);
  if (side === 'left') {
    at.v = s.litCount * (x - leader.rS * at.i) - s.dropV;
    at.dv = s.litCount * (1 - leader.rS * at.di);
    at.d2v = -s.litCount * leader.rS * at.d2i;
    return;
  }
  const { lit, litCount, shadedCount } = s;
  const y = diodeVoltageAt(lit, at.i);
  const follower = (lit.i0 * Math.exp(y / lit.a)) / lit.a;
  const fall = -follower - lit.gSh;
  const ratio = at.di / fall;
  const bend = (at.d2i + (ratio * ratio * follower) / lit.a) / fall;
  at.v = litCount * (y - lit.rS * at.i) + shadedCount * (x - leader.rS * at.i);
  at.dv = litCount * (ratio - lit.rS * at.di) + shadedCount * (1 - leader.rS * at.di);
  at.d2v = litCount * (bend - lit.rS * at.d2i) - shadedCount * leader.rS * at.d2i;
}

/** Diode voltage that meets the goal; fills `at`. Every goal is a falling function: Newton inside a bracket. */
function solve(s: ShadedString, side: Side, goal: Goal, target: number, low: number, high: number): number {
  const span = high - low;
  // the knee of the diode is close to the upper end
  let x = goal === 'voltage' ? (low + high) / 2 : high - 0.13 * span;
  for (let n = 0; n < iterations; n++) {
    evaluate(s, side, x);
    const slope = at.di * at.v + at.i * at.dv;
    const residual = goal === 'peak' ? slope : goal === 'power' ? at.v * at.i - target : target - at.v;
    const fall =
      goal === 'peak' ? at.d2i * at.v + 2 * at.di * at.dv + at.i * at.d2v : goal === 'power' ? slope : -at.dv;
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
  const slope = at.di * at.v + at.i * at.dv;
  if (side === 'left' ? slope >= 0 : slope <= 0) return null;
  const x = solve(s, side, 'peak', 0, low, high);
  return at.v > 0 && at.i > 0 ? { x, v: at.v, i: at.i, p: at.v * at.i } : null;
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
    s.kneeV = at.v;
    s.kneeW = at.v * at.i;
    s.litKneeX = diodeVoltageAt(lit, at.i);
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
  return Math.max(at.i, 0);
}

/** Local maxima by rising voltage: one or two, none in darkness. V, A, W of one string. */
export function stringMaxima(s: ShadedString): readonly IvPoint[] {
  return [s.left, s.right].filter((peak) => peak !== null).map(({ v, i, p }) => ({ v, i, p }));
}

/** The global maximum and the two ends of the curve of one string. */
export function stringMaximum(s: ShadedString): MaximumPowerPoint {
  const best = s.left !== null && (s.right === null || s.left.p >= s.right.p) ? s.left : s.right;
  return { v: best?.v ?? 0, i: best?.i ?? 0, p: best?.p ?? 0, voc: s.openV, isc: s.shortA };
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
  const first = right ?? left;
  const peaks = tracker === 'local' ? [first] : [left, right];
  for (const peak of peaks) {
    if (peak === null || peak.v < edgeV || (tracker === 'global' && peak.p < p)) continue;
    ({ v, i, p } = peak);
  }
  return { v, i, p, voc: openV, isc: shortA };
}

/**
 * The voltage in V above the operating point of the tracker at which a string gives `powerW`: a curtailed inverter.
 * 0 or less gives the open-circuit voltage, the power of the tracker or more its voltage.
 */
export function stringVoltageForPower(s: ShadedString, powerW: number, tracked: MaximumPowerPoint): number {
  if (!(powerW > 0)) return s.openV;
  if (powerW >= tracked.p) return tracked.v;
  // between the left maximum and the knee power does not fall below that of the knee
  if (s.left !== null && tracked.v < s.kneeV && powerW >= s.kneeW)
    solve(s, 'left', 'power', powerW, s.left.x, s.litKneeX);
  else solve(s, 'right', 'power', powerW, s.right?.x ?? s.shadedKneeX, s.shadedOpenX);
  return Math.min(Math.max(at.v, tracked.v), s.openV);
}

/**
 * Samples of a string's curve from 0 V to open circuit. The global maximum is always among them, the other one if it
 * has a nearest sample of its own. In darkness a single sample of zeros.
 * @param points number of samples; fewer than 3 count as 3, more than 1000 as 1000
 */
export function shadedCurve(s: ShadedString, points: number): readonly IvPoint[] {
  const best = stringMaximum(s);
  if (!(best.p > 0)) return [{ v: 0, i: 0, p: 0 }];
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
