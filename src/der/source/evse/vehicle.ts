/**
 * Vehicles and their batteries. Charging follows a power curve that is linear between its points, under a constant cap:
 * the two-stage battery of ACN-Sim is one such curve, a DC fast-charge table another. Closed form per stretch, so exact
 * for any step.
 */
import type {
  ChargingCurvePoint,
  EvDetail,
  EvParameters,
  EvPatch,
  EvseConnectorType,
} from '../../../contract/kinds/evse.ts';
import { badValue } from '../../../core/errors.ts';

/** Curve of one vehicle over its state of charge 0..1. */
interface CurveTable {
  readonly soc: Float64Array;
  readonly powerW: Float64Array;
}

/** Result of `chargeAlong`; overwritten by each call. */
export interface ChargeResult {
  /** energy at the meter */
  energyJ: number;
  /** time until the end of the step or the goal */
  timeS: number;
}

const socTolerance = 1e-12;
const powerTolerance = 1e-12;

/** The table of a curve in W; constant before its first and after its last point. */
function curveTable(points: readonly ChargingCurvePoint[], maxChargeW: number): CurveTable {
  const inside = points.map(({ socPct, fraction }) => [socPct / 100, fraction * maxChargeW] as const);
  const firstPoint = inside[0] ?? [0, maxChargeW];
  const lastPoint = inside[inside.length - 1] ?? [1, maxChargeW];
  const extended = [
    ...(firstPoint[0] > 0 ? [[0, firstPoint[1]] as const] : []),
    ...inside,
    ...(lastPoint[0] < 1 ? [[1, lastPoint[1]] as const] : []),
  ];
  return {
    soc: Float64Array.from(extended, ([soc]) => soc),
    powerW: Float64Array.from(extended, ([, powerW]) => powerW),
  };
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
function endOfCurve({ soc, powerW }: CurveTable, endW: number): number {
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
// eslint-disable-next-line max-params -- called per vehicle and tick: an object of arguments would be garbage
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
    const curveW = p0 + slope * (s - s0);
    const crossing = slope === 0 ? s1 : s0 + (capW - p0) / slope;
    const capped = curveW >= capW * (1 - powerTolerance) && (slope >= 0 || crossing > s + socTolerance);
    const capChanges = crossing > s && (capped ? slope < 0 : slope > 0);
    const endSoc = Math.min(s1, goalSoc, capChanges ? crossing : 1);
    const leftS = dtS - out.timeS;
    const timeS = addStretch(capped ? capW : curveW, capped ? 0 : slope * socPerJ, (endSoc - s) / socPerJ, leftS, out);
    if (timeS >= leftS) return;
    s = endSoc;
    if (endSoc >= s1) i += 1;
  }
}

/**
 * Adds one stretch of at most `maxJ` and `leftS` to `out`; power starts at `powerW` and grows exponentially, `growth`
 * per second.
 * @returns time in which the whole stretch passes, s
 */
function addStretch(powerW: number, growth: number, maxJ: number, leftS: number, out: ChargeResult): number {
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

/** A vehicle at a connector. State of charge 0..1, powers in W at the meter. */
export interface Vehicle {
  readonly id: string | null;
  readonly capacityWh: number;
  soc: number;
  readonly targetSoc: number;
  readonly reserveSoc: number;
  readonly maxChargeW: number;
  readonly maxDischargeW: number;
  readonly phases: 1 | 3;
  readonly curve: readonly ChargingCurvePoint[];
  readonly departureTime: string | null;
  readonly table: CurveTable;
  /** state of charge at which charging ends: the target, or earlier if the curve falls too low */
  readonly goalSoc: number;
  /** state of charge per joule at the meter while charging */
  readonly socPerJ: number;
  /** state of charge per joule at the meter while discharging */
  readonly drainPerJ: number;
  readonly rampAPerS: number;
  readonly nominalV: number;
}

/** A vehicle without the table, which follows from its curve. */
export type VehicleValues = Omit<Vehicle, 'table'>;

export function vehicleOf(values: VehicleValues): Vehicle {
  return { ...values, table: curveTable(values.curve, values.maxChargeW) };
}

/**
 * The vehicle of a profile at a connector of this type, with the values of a command.
 * @throws SimError COMMAND_BAD_VALUE
 */
export function createVehicle(ev: EvParameters, type: EvseConnectorType, patch: EvPatch = {}): Vehicle {
  const ac = type === 'ac';
  return build(
    ev,
    type,
    {
      id: ev.id,
      batteryCapacityWh: ev.batteryCapacityWh,
      socPct: ev.socPct,
      targetSocPct: ev.targetSocPct,
      reserveSocPct: ev.reserveSocPct,
      maxChargeW: ac ? ev.acMaxChargeW : ev.dcMaxChargeW,
      maxDischargeW: ev.maxDischargeW,
      phases: ev.phases,
      chargingCurve: ac ? ev.acCurve : ev.dcCurve,
      departureTime: ev.departureTime,
    },
    patch,
  );
}

/** A vehicle with the changes of a patch. @throws SimError COMMAND_BAD_VALUE */
export function patchVehicle(vehicle: Vehicle, ev: EvParameters, type: EvseConnectorType, patch: EvPatch): Vehicle {
  return build(ev, type, vehicleDetail(vehicle), patch);
}

function build(ev: EvParameters, type: EvseConnectorType, present: EvDetail, patch: EvPatch): Vehicle {
  checkPatch(patch);
  const ac = type === 'ac';
  const capacityWh = patch.batteryCapacityWh ?? present.batteryCapacityWh;
  const maxChargeW = patch.maxChargeW ?? present.maxChargeW;
  const curve = patch.chargingCurve ?? present.chargingCurve;
  const table = curveTable(curve, maxChargeW);
  const targetSoc = (patch.targetSocPct ?? present.targetSocPct) / 100;
  const efficiency = ac ? ev.acEfficiency : ev.dcEfficiency;
  return {
    id: patch.id === undefined ? present.id : patch.id,
    capacityWh,
    maxChargeW,
    curve,
    table,
    targetSoc,
    soc: (patch.socPct ?? present.socPct) / 100,
    reserveSoc: (patch.reserveSocPct ?? present.reserveSocPct) / 100,
    maxDischargeW: patch.maxDischargeW ?? present.maxDischargeW,
    phases: patch.phases ?? present.phases,
    departureTime: patch.departureTime === undefined ? present.departureTime : patch.departureTime,
    goalSoc: Math.min(targetSoc, endOfCurve(table, ev.endOfChargeFraction * maxChargeW)),
    socPerJ: efficiency / (capacityWh * 3600),
    drainPerJ: 1 / (efficiency * capacityWh * 3600),
    rampAPerS: ac ? ev.acRampAPerS : ev.dcRampAPerS,
    nominalV: ev.batteryVoltageV,
  };
}

export function vehicleDetail(vehicle: Vehicle): EvDetail {
  return {
    id: vehicle.id,
    batteryCapacityWh: vehicle.capacityWh,
    socPct: vehicle.soc * 100,
    targetSocPct: vehicle.targetSoc * 100,
    reserveSocPct: vehicle.reserveSoc * 100,
    maxChargeW: vehicle.maxChargeW,
    maxDischargeW: vehicle.maxDischargeW,
    phases: vehicle.phases,
    chargingCurve: vehicle.curve,
    departureTime: vehicle.departureTime,
  };
}

/** Voltage of the pack in V: rises by a fifth of its nominal value from empty to full. */
export function packVoltageV(vehicle: Vehicle): number {
  return vehicle.nominalV * (0.9 + 0.2 * vehicle.soc);
}

const ranges = {
  batteryCapacityWh: [1, 1e7],
  socPct: [0, 100],
  targetSocPct: [0, 100],
  reserveSocPct: [0, 100],
  maxChargeW: [1, 1e7],
  maxDischargeW: [0, 1e7],
} as const satisfies Partial<Record<keyof EvPatch, readonly [number, number]>>;

function checkPatch(patch: EvPatch): void {
  for (const name of Object.keys(ranges) as (keyof typeof ranges)[]) {
    const value = patch[name];
    const [minimum, maximum] = ranges[name];
    if (value !== undefined && !(value >= minimum && value <= maximum))
      throw badValue(`ev ${name}`, value, `${minimum}..${maximum}`);
  }
  const phases: number | undefined = patch.phases;
  if (phases !== undefined && phases !== 1 && phases !== 3) throw badValue('ev phases', phases, '1 or 3');
  if (patch.chargingCurve !== undefined) {
    const issue = curveIssue(patch.chargingCurve);
    if (issue !== null) throw badValue('ev chargingCurve', patch.chargingCurve, issue);
  }
}

/** The rule that a curve breaks; null: none. */
function curveIssue(curve: readonly ChargingCurvePoint[]): string | null {
  if (curve.length < 2 || curve.length > 100) return '2 to 100 points';
  let before = -1;
  for (const [i, { socPct, fraction }] of curve.entries()) {
    if (!(socPct > before && socPct <= 100)) return 'socPct rising within 0..100';
    if (!(fraction <= 1 && (i === curve.length - 1 ? fraction >= 0 : fraction > 0))) {
      return 'fraction above 0 up to 1; 0 in the last point only';
    }
    before = socPct;
  }
  return null;
}
