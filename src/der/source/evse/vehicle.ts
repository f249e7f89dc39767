import type {
  ChargingCurvePoint,
  EvDetail,
  EvParameters,
  EvPatch,
  EvseConnectorType,
} from '../../../contract/kinds/evse.ts';
import { badValue } from '../shared.ts';
import { curveTable, endOfCurve } from './charge-curve.ts';
import type { CurveTable } from './charge-curve.ts';

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
  /** state of charge per joule at the meter, charging and discharging */
  readonly socPerJ: number;
  readonly drainPerJ: number;
  readonly rampAPerS: number;
  readonly nominalV: number;
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
