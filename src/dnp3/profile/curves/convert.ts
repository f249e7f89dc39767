/**
 * Curves of the profile as wishes for functions. The open tables leave the steps of the points to the device: percent and
 * volts in tenths, watts in watts, time in milliseconds.
 */
import type { CurveFunction } from '../../../sunspec/map/grid-support/functions.ts';
import type { CurveWish, FunctionWish, TripRegion } from '../../../sunspec/map/grid-support/wish.ts';
import type { DevicePort } from '../../device-port.ts';
import { curveType, xUnit, yUnit } from './store.ts';
import type { StoredCurve } from './store.ts';

const perTenth = 10;
const msPerS = 1000;

/** The function that a curve of one type sets. */
export interface CurveUse {
  readonly type: number;
  readonly name: CurveFunction;
  /** of the trip curves */
  readonly region?: TripRegion;
}

export const curveUses: readonly CurveUse[] = [
  { type: curveType.voltVar, name: 'volt_var' },
  { type: curveType.wattVar, name: 'watt_var' },
  { type: curveType.voltWatt, name: 'volt_watt' },
  { type: curveType.hvMustTrip, name: 'hv_trip', region: 'MustTrip' },
  { type: curveType.hvMomentary, name: 'hv_trip', region: 'MomCess' },
  { type: curveType.lvMustTrip, name: 'lv_trip', region: 'MustTrip' },
  { type: curveType.lvMomentary, name: 'lv_trip', region: 'MomCess' },
  { type: curveType.hfMustTrip, name: 'hf_trip', region: 'MustTrip' },
  { type: curveType.hfMomentary, name: 'hf_trip', region: 'MomCess' },
  { type: curveType.lfMustTrip, name: 'lf_trip', region: 'MustTrip' },
  { type: curveType.lfMomentary, name: 'lf_trip', region: 'MomCess' },
];

/** 712.DeptRef and 705.DeptRef by the unit of Y. */
const reactiveReferences: Readonly<Record<number, string>> = {
  [yUnit.varMaxPct]: 'VAR_MAX_PCT',
  [yUnit.varAvailablePct]: 'VAR_AVAL_PCT',
  [yUnit.varOfWMaxPct]: 'W_MAX_PCT',
};

interface Scales {
  /** steps of the wire in one unit; null: the function knows no such unit */
  readonly x: number | null;
  readonly y: number | null;
  readonly xUnit?: CurveWish['xUnit'];
  /** reference of the percentages of Y; absent: the function has only one */
  readonly reference?: string | undefined;
}

function scalesOf(port: DevicePort, { xUnit: x, yUnit: y }: StoredCurve, name: CurveFunction): Scales {
  const inVolts = { x: x === xUnit.volts ? perTenth : null, xUnit: 'V' } as const;
  const inWatts = { x: x === xUnit.watts ? 1 : null, xUnit: 'W' } as const;
  const ofVoltage = x === xUnit.voltagePct ? { x: perTenth } : inVolts;
  const ofPower = x === xUnit.wattsPct ? { x: perTenth } : inWatts;
  const ofTime = x === xUnit.timeMs ? msPerS : null;
  const reference = reactiveReferences[y];
  const ofReference = reference === undefined ? null : perTenth;
  switch (name) {
    case 'volt_var':
      return { ...ofVoltage, y: ofReference, reference };
    case 'watt_var':
      return { ...ofPower, y: ofReference, reference };
    case 'volt_watt':
      return { ...ofVoltage, y: y === yUnit.wMaxPct ? perTenth : null, reference: 'W_MAX_PCT' };
    case 'hf_trip':
    case 'lf_trip':
      return { x: ofTime, y: y === yUnit.hzPct ? (100 * perTenth) / port.device.trace.nominalHz : null };
    default:
      return { x: ofTime, y: y === yUnit.vRefPct ? perTenth : null };
  }
}

/** A curve as a wish for its function. @returns null: the function does not know its units */
export function curveWish(port: DevicePort, curve: StoredCurve, { name, region }: CurveUse): FunctionWish | null {
  const { x, y, reference, ...unit } = scalesOf(port, curve, name);
  if (x === null || y === null) return null;
  const points = Array.from({ length: curve.count }, (_, i) => {
    const [first, second] = [(curve.values[2 * i] ?? 0) / x, (curve.values[2 * i + 1] ?? 0) / y];
    // the map has the threshold first, the profile has the time first
    return region === undefined ? { x: first, y: second } : { x: second, y: first };
  });
  return {
    name,
    curve: { points, ...unit, ...(region && { region }) },
    values: { 'Crv.DeptRef': reference },
  };
}
