/** Settings that stand over the profile of every device of a kind. */
import type { AssetType } from '../../contract/device.ts';
import type { Issue } from '../../core/errors.ts';
import type { DeviceProfileInput } from './device-profile.ts';
import type { SettingKey, Values } from '../settings/settings.ts';

/** Settings that have a meaning for some kinds of devices only. */
export const kindsOfSetting = {
  dc_profile: ['pv', 'wind', 'hybrid-dc'],
  vehicles: ['evse'],
  evse_profile: ['evse'],
  wind_time_scale: ['wind'],
  wind_anemometer_height_m: ['wind'],
  fuelcell_chemistry: ['fuelcell'],
  fuelcell_mode: ['fuelcell'],
  fuelcell_fuel: ['fuelcell'],
  hybrid_pv_kw: ['hybrid-dc'],
  hybrid_batt_kw: ['hybrid-dc'],
  hybrid_batt_kwh: ['hybrid-dc'],
  hybrid_inverter_kva: ['hybrid-dc'],
  hybrid_soc_min_pct: ['hybrid-dc'],
  hybrid_soc_max_pct: ['hybrid-dc'],
  hybrid_dispatch: ['hybrid-dc'],
} as const satisfies Partial<Record<SettingKey, readonly AssetType[]>>;

/** The member of a profile that a setting stands over; a fault of the member is one of the setting. */
const memberOf = {
  wind_anemometer_height_m: 'wind.anemometer_height_m',
  fuelcell_chemistry: 'fuel_cell.chemistry',
  fuelcell_mode: 'fuel_cell.operating_mode',
  fuelcell_fuel: 'fuel_cell.fuel',
  hybrid_pv_kw: 'hybrid.pv_w',
  hybrid_batt_kw: 'hybrid.battery_w',
  hybrid_batt_kwh: 'hybrid.battery_wh',
  hybrid_inverter_kva: 'models.702.VAMaxRtg',
  hybrid_soc_min_pct: 'hybrid.soc_min_pct',
  hybrid_soc_max_pct: 'hybrid.soc_max_pct',
  hybrid_dispatch: 'hybrid.policy',
} as const satisfies Partial<Record<SettingKey, string>>;

type OverrideKey = keyof typeof memberOf;
const overrideKeys = Object.keys(memberOf) as OverrideKey[];

/** An object without some of its members, and without those that are null. */
function without<T extends object>(from: T | undefined, names: readonly string[]): T {
  return Object.fromEntries(
    Object.entries(from ?? {}).filter(([name, value]) => value !== null && !names.includes(name)),
  ) as T;
}

/** Points of 702 that say how large an inverter is, ratings and settings: they are of the one that another size replaces. */
const sizedByInverter = [
  'WMax',
  'WMaxOvrExt',
  'WMaxUndExt',
  'WOvrExt',
  'WUndExt',
  'VAMax',
  'VarMaxInj',
  'VarMaxAbs',
  'WChaRteMax',
  'WDisChaRteMax',
  'VAChaRteMax',
  'VADisChaRteMax',
  'AMax',
].flatMap((name) => [name, `${name}Rtg`]);

function overHybrid(input: DeviceProfileInput, v: Values): DeviceProfileInput {
  const hybrid = {
    policy: v.hybrid_dispatch,
    soc_min_pct: v.hybrid_soc_min_pct,
    soc_max_pct: v.hybrid_soc_max_pct,
    pv_w: v.hybrid_pv_kw === null ? null : 1000 * v.hybrid_pv_kw,
    battery_w: v.hybrid_batt_kw === null ? null : 1000 * v.hybrid_batt_kw,
    battery_wh: v.hybrid_batt_kwh === null ? null : 1000 * v.hybrid_batt_kwh,
  };
  // the blocks of the parts would stand over the hybrid block
  const parts = [
    [v.hybrid_batt_kw, 'power_w'],
    [v.hybrid_batt_kwh, 'capacity_wh'],
    [v.hybrid_soc_min_pct, 'soc_min_pct'],
    [v.hybrid_soc_max_pct, 'soc_max_pct'],
  ] as const;
  const battery = without(
    input.battery,
    parts.filter(([value]) => value !== null).map(([, name]) => name),
  );
  const pv = without(input.pv, v.hybrid_pv_kw === null ? [] : ['parallel']);
  const models =
    v.hybrid_inverter_kva === null
      ? input.models
      : {
          ...input.models,
          702: { ...without(input.models?.['702'], sizedByInverter), VAMaxRtg: 1000 * v.hybrid_inverter_kva },
        };
  return {
    ...input,
    ...(models && { models }),
    pv,
    battery,
    hybrid: { ...input.hybrid, ...without(hybrid, []) } as DeviceProfileInput['hybrid'],
  };
}

function overWind(input: DeviceProfileInput, v: Values): DeviceProfileInput {
  return v.wind_anemometer_height_m === null
    ? input
    : { ...input, wind: { ...input.wind, anemometer_height_m: v.wind_anemometer_height_m } };
}

function overFuelCell(input: DeviceProfileInput, v: Values): DeviceProfileInput {
  const { fuelcell_chemistry: chemistry, fuelcell_mode: mode, fuelcell_fuel: fuel } = v;
  const over = {
    ...(chemistry !== null && { chemistry }),
    ...(mode !== null && { operating_mode: mode }),
    ...(fuel !== null && { fuel }),
  };
  return { ...input, fuel_cell: { ...input.fuel_cell, ...over } };
}

/** A profile with what the settings say of its kind. */
export function withOverrides(input: DeviceProfileInput, kind: AssetType, values: Values): DeviceProfileInput {
  switch (kind) {
    case 'hybrid-dc':
      return overHybrid(input, values);
    case 'wind':
      return overWind(input, values);
    case 'fuelcell':
      return overFuelCell(input, values);
    default:
      return input;
  }
}

/**
 * A fault of a profile, named after the setting where that gave the value.
 * @param where what the name of the fault begins with
 */
export function issueOfSetting(
  issue: Issue,
  where: string,
  values: Values,
  originOf: (key: SettingKey) => string,
): Issue {
  const given = overrideKeys.filter((key) => values[key] !== null);
  const member = issue.name.slice(`${where}: `.length);
  // the combination of a fuel cell is a fault of the whole block
  const key =
    given.find((one) => memberOf[one] === member) ??
    (member === 'fuel_cell' ? given.find((one) => one.startsWith('fuelcell_')) : undefined);
  return key === undefined ? issue : { ...issue, name: originOf(key) };
}

const combinationProfiles: readonly (readonly [chemistry: string, mode: string, fuel: string, profile: string])[] = [
  ['PEMFC', 'fc_only', 'tank', 'Fuelcell-PEM-5kW-3Phase'],
  ['PEMFC', 'bidirectional', 'tank', 'Fuelcell-PEM-5kW-reversible-3Phase'],
  ['SOFC', 'fc_only', 'continuous', 'Fuelcell-SOFC-200kW-3Phase'],
  ['SOFC', 'bidirectional', 'tank', 'Fuelcell-SOFC-200kW-reversible-3Phase'],
];

/** The bundled profile of the fuel cell that the settings describe; null: of the type, where a wrong combination is found. */
export function fuelCellProfile(v: Values): string | null {
  const wanted = [v.fuelcell_chemistry ?? 'PEMFC', v.fuelcell_mode ?? 'fc_only', v.fuelcell_fuel ?? 'tank'];
  return combinationProfiles.find((row) => wanted.every((word, i) => row[i] === word))?.[3] ?? null;
}
