/**
 * Requests for grid-support functions, and their points. Every protocol, REST and scenarios make a request as a
 * `FunctionWish`; only this file maps functions to their points for enabling, curve and settings.
 */
import { SimError } from '../../../core/errors.ts';
import type { Origin } from '../../../core/origin.ts';
import type { Bank } from '../bank.ts';
import { isEnabled } from './state.ts';
import { curveAxes, functionTable, isReactivePowerFunction, reactivePowerFunctions } from './functions.ts';
import type { Axis, CurveFunction, FunctionName, FunctionPath } from './functions.ts';
import type { HoldValue } from '../holds.ts';
import { hasPoint, pointNumber } from '../bank.ts';
import type { RefusedWrite } from '../point-holds.ts';
import type { AnyPointValue } from '../types.ts';

/** A point of a curve. */
export interface XY {
  readonly x: number;
  readonly y: number;
}

/** One of the three curves of a trip function. */
export type TripRegion = 'MustTrip' | 'MayTrip' | 'MomCess';

export interface CurveWish {
  /** Input and output in the units of the axes: percent and hertz; of a trip function the threshold and its time in seconds. */
  readonly points: readonly XY[];
  /** region of a trip function; default `MustTrip` */
  readonly region?: TripRegion;
  /** The points are sorted into the order of the model. Absent: they are written in the given order. */
  readonly inAnyOrder?: true;
  /** Unit of x instead of percent: volts (of 702.VNom) or watts (of 702.WMax). */
  readonly xUnit?: 'V' | 'W' | undefined;
  /** Volt-var only: reference voltage by which x is multiplied, percent of nominal; `autonomous`: the device sets it. */
  readonly reference?: { readonly pct: number; readonly autonomous: boolean; readonly timeS?: number | null };
}

/** Values of points by path; paths in set 1 have no index: `Crv.DeptRef`. Undefined and null set nothing. */
export type WishedValues = Readonly<Partial<Record<FunctionPath, AnyPointValue | undefined>>>;

/** A wish for one function, in engineering units. Absent members leave their points as they are. */
export interface FunctionWish {
  readonly name: FunctionName;
  readonly on?: boolean;
  /** reversion time, s; 0: none */
  readonly reversionS?: number;
  readonly curve?: CurveWish;
  readonly values?: WishedValues;
  /** values of points that a device may lack; a missing point is skipped */
  readonly ifPresent?: WishedValues;
}

/** A value for a point by name. */
export interface PointValue {
  readonly model: number;
  readonly path: string;
  readonly value: AnyPointValue;
}

/** The reason why a device cannot fulfil a wish. `max`: maximum number of points of its curve */
export type RefusedWish = RefusedWrite &
  (
    | { readonly reason: 'too_many_points'; readonly max: number }
    | { readonly reason: 'turns_back' | 'no_reference' | 'no_rating' }
  );

/** Points of a device on which a wish depends. */
export interface PointFacts {
  hasPoint(model: number, path: string): boolean;
  /** A numeric point; null: the device does not have it. */
  number(model: number, path: string): number | null;
}

export function factsOf(bank: Bank): PointFacts {
  return {
    hasPoint: (model, path) => hasPoint(bank, model, path),
    number: (model, path) => pointNumber(bank, model, path),
  };
}

export const isRefused = (result: object): result is RefusedWish => 'refused' in result;

/** The group of set 1 that has the points of a curve, and the names of their coordinates. */
export function curvePlace(
  name: CurveFunction,
  region: TripRegion = 'MustTrip',
): { readonly model: number; readonly at: string; readonly axes: readonly [x: Axis, y: Axis] } {
  const { model, actsOn } = functionTable[name];
  return { model, at: actsOn === 'trip' ? `Crv[0].${region}` : 'Crv[0]', axes: curveAxes(name) };
}

/** True if a device has a curve of a function. */
export function hasCurve(facts: Pick<PointFacts, 'hasPoint'>, name: CurveFunction, region?: TripRegion): boolean {
  const { model, at } = curvePlace(name, region);
  return facts.hasPoint(model, `${at}.ActPt`);
}

/** Maximum number of points of a curve of a function. */
export function capacity(facts: Pick<PointFacts, 'number'>, name: CurveFunction): number {
  return facts.number(functionTable[name].model, 'NPt') ?? 0;
}

/** The factor from the unit of x to that of the axis; null: the device lacks the necessary rating. */
function xFactor(facts: PointFacts, xUnit: CurveWish['xUnit']): number | null {
  if (xUnit === undefined) return 1;
  const rating = facts.number(702, xUnit === 'V' ? 'VNom' : 'WMax') ?? 0;
  return rating > 0 ? 100 / rating : null;
}

/** Sorts trip curves by time, and equal times by threshold, farthest from nominal first; other curves by input. */
function ordered(name: CurveFunction, points: readonly XY[]): readonly XY[] {
  const { side } = functionTable[name];
  if (side === undefined) return points.toSorted((a, b) => a.x - b.x);
  const outwards = side === 'low' ? 1 : -1;
  return points.toSorted((a, b) => a.y - b.y || outwards * (a.x - b.x));
}

/** True if the threshold of a longer time is farther from nominal than that of a shorter time, which bounds no region. */
function turnsBack(name: CurveFunction, points: readonly XY[]): boolean {
  const { side } = functionTable[name];
  return points.some(({ x }, i) => {
    const before = points[i - 1];
    return before !== undefined && (side === 'low' ? x < before.x : side === 'high' && x > before.x);
  });
}

/**
 * The points of set 1 that hold a curve. The device shifts a volt-var curve to its reference voltage, while the
 * reference of a wish multiplies x: x is converted so that both give the same voltages.
 */
export function curveValues(
  facts: PointFacts,
  name: CurveFunction,
  wish: CurveWish,
): readonly PointValue[] | RefusedWish {
  const { region, inAnyOrder = false, xUnit, reference } = wish;
  const { model, at, axes } = curvePlace(name, region);
  const max = capacity(facts, name);
  const count = wish.points.length;
  if (count > max) {
    const detail = `the curve has ${count} points, and the device accepts ${max}`;
    return { refused: 'unsupported', reason: 'too_many_points', max, detail };
  }
  if (reference?.autonomous === true && !facts.hasPoint(model, `${at}.VRefAutoEna`))
    return {
      refused: 'unsupported',
      reason: 'no_reference',
      detail: 'the device does not adjust its reference voltage (VRefAutoEna)',
    };
  const factor = xFactor(facts, xUnit);
  if (factor === null)
    return { refused: 'unsupported', reason: 'no_rating', detail: 'the device has no rating that x refers to' };
  const shifted = (x: number) => (reference === undefined ? x : (x * reference.pct) / 100 + 100 - reference.pct);
  const points = (inAnyOrder ? ordered(name, wish.points) : wish.points).map(({ x, y }) => ({
    x: shifted(x * factor),
    y,
  }));
  if (inAnyOrder && turnsBack(name, points))
    return { refused: 'invalid', reason: 'turns_back', detail: 'the thresholds of the curve turn back over time' };
  const value = (path: string, of: AnyPointValue): PointValue => ({ model, path: `${at}.${path}`, value: of });
  return [
    ...points.flatMap(({ x, y }, i) => [value(`Pt[${i}].${axes[0]}`, x), value(`Pt[${i}].${axes[1]}`, y)]),
    value('ActPt', count),
    ...(reference === undefined
      ? []
      : [
          value('VRef', reference.pct),
          value('VRefAutoEna', reference.autonomous ? 'ENABLED' : 'DISABLED'),
          value('VRefAutoTms', reference.autonomous ? (reference.timeS ?? null) : null),
        ].filter((each) => each.value !== null && facts.hasPoint(model, each.path))),
  ];
}

function valuesOf(model: number, values: WishedValues = {}): readonly PointValue[] {
  return Object.entries(values).flatMap(([path, value]) =>
    value === undefined || value === null ? [] : [{ model, path: path.replace(/^(Crv|Ctl)\./, '$1[0].'), value }],
  );
}

const isCurveFunction = (name: FunctionName): name is CurveFunction => functionTable[name].axes !== undefined;

/** The values that carry out wishes, in the order of the wishes, or the refusal of a wish. */
export function place(facts: PointFacts, wishes: readonly FunctionWish[]): readonly PointValue[] | RefusedWish {
  const points: PointValue[] = [];
  for (const { name, on, reversionS, curve, values, ifPresent } of wishes) {
    const { model, enable, timer } = functionTable[name];
    if (on !== undefined) points.push({ model, path: enable, value: on ? 'ENABLED' : 'DISABLED' });
    if (reversionS !== undefined && timer !== undefined) points.push({ model, path: timer, value: reversionS });
    if (curve !== undefined && isCurveFunction(name)) {
      const curvePoints = curveValues(facts, name, curve);
      if (isRefused(curvePoints)) return curvePoints;
      points.push(...curvePoints);
    }
    points.push(...valuesOf(model, values));
    points.push(...valuesOf(model, ifPresent).filter(({ path }) => facts.hasPoint(model, path)));
  }
  return points;
}

/**
 * Wishes that switch a function. Switching on one of the five functions of reactive power switches off the other four:
 * the one enabled last acts.
 */
export function switching(bank: Bank, name: FunctionName, on: boolean): readonly FunctionWish[] {
  const others = on && isReactivePowerFunction(name) ? reactivePowerFunctions.filter((other) => other !== name) : [];
  const enabledOthers = others.filter((other) => isEnabled(bank, functionTable[other]));
  return [...enabledOthers.map((other) => ({ name: other, on: false })), { name, on }];
}

/** Values with the point slots of a device. @throws SimError MAP_NOT_IMPLEMENTED for a point that it does not serve */
export function inRegisters({ layout }: Pick<Bank, 'layout'>, values: readonly PointValue[]): readonly HoldValue[] {
  return values.map(({ model, path, value }) => {
    const slot = layout.slot(model, path);
    if (slot) return { slot, value };
    throw new SimError('MAP_NOT_IMPLEMENTED', `the device has no point ${model}.${path}`);
  });
}

/** Writes values in one commit, also to the points of curve set 1. @throws SimError as `Bank.adopt` */
export function apply(bank: Bank, by: Origin, values: readonly HoldValue[]): void {
  bank.adopt(by, (_, set) => {
    for (const { slot, value } of values) set(slot, value);
  });
}

/** Checks as `apply`, and writes nothing. @throws SimError as `apply` */
export function checkApply(bank: Bank, by: Origin, values: readonly HoldValue[]): void {
  bank.checkAdopt(by, (_, set) => {
    for (const { slot, value } of values) set(slot, value);
  });
}

/** True if the registers have these values, within their resolution. */
export function isInForce(bank: Bank, values: readonly HoldValue[]): boolean {
  return values.every(({ slot, value }) => {
    const presentValue = bank.value(slot);
    if (typeof presentValue !== 'number' || typeof value !== 'number') return presentValue === value;
    // a little more than half a step: halves of decimal fractions are not exact
    return Math.abs(presentValue - value) <= 0.500001 * 10 ** slot.sf;
  });
}
