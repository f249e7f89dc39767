/**
 * Curves of the profile as points of the map. The open tables leave the steps of the points to the device: percent and
 * volts in tenths, watts in watts, time in milliseconds.
 */
import type { CurveFunction } from '../../../sunspec/map/functions.ts';
import type { CurvePoint, DevicePort, PointWrite, TripGroup } from '../../device-port.ts';
import { curveType, xUnit, yUnit } from './store.ts';
import type { StoredCurve } from './store.ts';

const perTenth = 10;
const msPerS = 1000;

/** What a curve of one type sets. */
export interface CurveUse {
  readonly type: number;
  readonly name: CurveFunction;
  /** of the trip curves */
  readonly group?: TripGroup;
}

export const curveUses: readonly CurveUse[] = [
  { type: curveType.voltVar, name: 'volt_var' },
  { type: curveType.wattVar, name: 'watt_var' },
  { type: curveType.voltWatt, name: 'volt_watt' },
  { type: curveType.hvMustTrip, name: 'hv_trip', group: 'MustTrip' },
  { type: curveType.hvMomentary, name: 'hv_trip', group: 'MomCess' },
  { type: curveType.lvMustTrip, name: 'lv_trip', group: 'MustTrip' },
  { type: curveType.lvMomentary, name: 'lv_trip', group: 'MomCess' },
  { type: curveType.hfMustTrip, name: 'hf_trip', group: 'MustTrip' },
  { type: curveType.hfMomentary, name: 'hf_trip', group: 'MomCess' },
  { type: curveType.lfMustTrip, name: 'lf_trip', group: 'MustTrip' },
  { type: curveType.lfMomentary, name: 'lf_trip', group: 'MomCess' },
];

/** 712.DeptRef and 705.DeptRef by the unit of Y. */
const reactiveReferences: Readonly<Record<number, string>> = {
  [yUnit.varMaxPct]: 'VAR_MAX_PCT',
  [yUnit.varAvailablePct]: 'VAR_AVAL_PCT',
  [yUnit.varOfWMaxPct]: 'W_MAX_PCT',
};

type Scale = (wire: number) => number;
const tenth: Scale = (wire) => wire / perTenth;

function voltageScale(port: DevicePort, unit: number): Scale | null {
  if (unit === xUnit.voltagePct) return tenth;
  const nominalV = port.number('702.VNom') ?? 0;
  return unit === xUnit.volts && nominalV > 0 ? (wire) => (100 * wire) / perTenth / nominalV : null;
}

function powerScale(port: DevicePort, unit: number): Scale | null {
  if (unit === xUnit.wattsPct) return tenth;
  const maxW = port.number('702.WMax') ?? 0;
  return unit === xUnit.watts && maxW > 0 ? (wire) => (100 * wire) / maxW : null;
}

interface Scales {
  readonly x: Scale | null;
  readonly y: Scale | null;
  /** of the reference of Y; absent: the function has one alone */
  readonly reference?: PointWrite;
}

function scalesOf(port: DevicePort, { xUnit: x, yUnit: y }: StoredCurve, name: CurveFunction): Scales {
  const reference = reactiveReferences[y];
  const ofReference = reference === undefined ? null : tenth;
  switch (name) {
    case 'volt_var':
      return {
        x: voltageScale(port, x),
        y: ofReference,
        ...(reference !== undefined && { reference: { point: '705.Crv.DeptRef', value: reference } }),
      };
    case 'watt_var':
      return {
        x: powerScale(port, x),
        y: ofReference,
        ...(reference !== undefined && { reference: { point: '712.Crv.DeptRef', value: reference } }),
      };
    case 'volt_watt':
      return {
        x: voltageScale(port, x),
        y: y === yUnit.wMaxPct ? tenth : null,
        reference: { point: '706.Crv.DeptRef', value: 'W_MAX_PCT' },
      };
    case 'hf_trip':
    case 'lf_trip': {
      const { nominalHz } = port.device.trace;
      const hertz: Scale = (wire) => (wire / perTenth / 100) * nominalHz;
      return { x: x === xUnit.timeMs ? (wire) => wire / msPerS : null, y: y === yUnit.hzPct ? hertz : null };
    }
    default:
      return { x: x === xUnit.timeMs ? (wire) => wire / msPerS : null, y: y === yUnit.vRefPct ? tenth : null };
  }
}

/** A curve in the units of the map. */
export interface ConvertedCurve {
  /** of the reference of Y; undefined: the function has one alone */
  readonly reference: PointWrite | undefined;
  readonly points: readonly CurvePoint[];
  readonly writes: readonly PointWrite[];
}

/** @returns null: its units are none that the function knows */
export function converted(port: DevicePort, curve: StoredCurve, { name, group }: CurveUse): ConvertedCurve | null {
  const { x, y, reference } = scalesOf(port, curve, name);
  if (x === null || y === null) return null;
  const isTrip = group !== undefined;
  const points = Array.from({ length: curve.count }, (_, i): CurvePoint => {
    const [first, second] = [x(curve.values[2 * i] ?? 0), y(curve.values[2 * i + 1] ?? 0)];
    // the map has the threshold first, the profile the time
    return isTrip ? { x: second, y: first } : { x: first, y: second };
  });
  const writes = [...(reference ? [reference] : []), ...port.curveWrites(name, points, group)];
  return { reference, points, writes };
}

/** Whether the map has this curve in force, to the last digit of its registers. */
export function isInForce(port: DevicePort, { reference, points }: ConvertedCurve, { name, group }: CurveUse): boolean {
  const present = port.curve(name, group);
  const steps = port.curveSteps(name, group);
  // a little more than half a step: halves of decimal fractions are not exact
  const near = (a: number, b: number, step: number) => Math.abs(a - b) <= 0.500001 * step;
  return (
    (reference === undefined || port.value(reference.point) === reference.value) &&
    present.length === points.length &&
    present.every(({ x, y }, i) => near(x, points[i]?.x ?? NaN, steps.x) && near(y, points[i]?.y ?? NaN, steps.y))
  );
}
