/** Facts of a device for its verdict, as they were when its recording began. */
import type { AbnormalCategory, CurveTrip } from '../contract/abnormal-conditions.ts';
import { tripElements } from '../contract/abnormal-conditions.ts';
import type { PerformanceCategory } from '../contract/captures.ts';
import type { AssetType, Device, DeviceDetail } from '../contract/device.ts';
import { functionTable } from '../sunspec/map/grid-support/functions.ts';
import { tripSetting } from '../sunspec/map/grid-support/trip-curves.ts';

export const curveTrips = ['lv_trip', 'hv_trip', 'lf_trip', 'hf_trip'] as const satisfies readonly CurveTrip[];

export const isVoltage = (name: CurveTrip): boolean => name === 'lv_trip' || name === 'hv_trip';
export const isLow = (name: CurveTrip): boolean => functionTable[name].side === 'low';

/** A threshold in percent of VNom or Hz, and the time for which it may be exceeded. */
export interface Limit {
  readonly name: CurveTrip;
  readonly value: number;
  readonly seconds: number;
}

export interface DeviceFacts {
  readonly index: number;
  readonly name: string;
  readonly assetType: AssetType;
  /** the larger of the ratings for both directions */
  readonly ratingW: number;
  readonly nominalHz: number;
  /** see `DeviceRows` */
  readonly vNomPu: number;
  /** null: the device does not state it */
  readonly category: AbnormalCategory | null;
  /** thresholds that must trip: those set, or where a function is off the default ones of the category */
  readonly trips: readonly Limit[];
  readonly cessations: readonly Limit[];
  /** true: a charger without a vehicle */
  readonly isEmpty: boolean;
}

export function categoryWord(category: AbnormalCategory | null): PerformanceCategory | null {
  return category && ({ CAT_1: 'I', CAT_2: 'II', CAT_3: 'III' } as const)[category];
}

function defaultLimits(name: CurveTrip, category: AbnormalCategory | null, nominalHz: number): readonly Limit[] {
  if (category === null) return [];
  const origin = isVoltage(name) ? 0 : nominalHz;
  return tripElements(name, category).map(({ threshold, clearingS }) => ({
    name,
    value: origin + threshold.value,
    seconds: clearingS.value,
  }));
}

const isWithoutVehicle = (detail: DeviceDetail) =>
  detail.kind === 'evse' && detail.connectors.every(({ ev }) => ev === null);

export function factsOf({ index, name, assetType, bank: { map }, trace, detail }: Device): DeviceFacts {
  const { m702, m707, m708, m709, m710 } = map;
  const models = { lv_trip: m707, hv_trip: m708, lf_trip: m709, hf_trip: m710 };
  const category = m702.AbnOpCatRtg;
  const { nominalHz } = trace;
  const set = (of: CurveTrip, curve: 'MustTrip' | 'MomCess') => {
    const { enabled, points } = tripSetting(models[of], [curve]);
    return enabled ? points.map(({ limit, seconds }): Limit => ({ name: of, value: limit, seconds })) : null;
  };
  return {
    index,
    name,
    assetType,
    ratingW: Math.max(m702.WMaxRtg ?? 0, m702.WChaRteMaxRtg ?? 0),
    nominalHz,
    vNomPu: (m702.VNom ?? 1) / (m702.VNomRtg ?? m702.VNom ?? 1),
    category,
    trips: curveTrips.flatMap((of) => set(of, 'MustTrip') ?? defaultLimits(of, category, nominalHz)),
    cessations: curveTrips.flatMap((of) => set(of, 'MomCess') ?? []),
    isEmpty: isWithoutVehicle(detail),
  };
}
