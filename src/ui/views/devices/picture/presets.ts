/**
 * The presets of the device page: title, and the body of the call above the list. A number in place of a body is a share
 * or a quantity of which the control makes the body.
 */
import type { BodyOf } from '../../../api/call';

type Presets<B> = readonly (readonly [title: string, body: B])[];
type Environment = BodyOf<'controls/environment'>;

/** POST controls/environment */
export const irradiancePresets: Presets<Environment> = [
  ['Night', { irradiance_w_m2: 0 }],
  ['Cloud', { irradiance_w_m2: 250 }],
  ['Noon', { irradiance_w_m2: 1000 }],
  ['Dip 10 s', { irradiance_w_m2: 250, duration_s: 10 }],
  ['From data', { irradiance_w_m2: null }],
];

/** POST controls/environment */
export const ambientPresets: Presets<Environment> = [
  ['Frost', { ambient_temperature_c: -10 }],
  ['Mild', { ambient_temperature_c: 15 }],
  ['Heat', { ambient_temperature_c: 40 }],
  ['From data', { ambient_temperature_c: null }],
];

/** POST controls/shading */
export const shadingPresets: Presets<BodyOf<'controls/shading'>> = [
  ['None', { shaded_share: 0, irradiance_share: 1 }],
  ['A third', { shaded_share: 0.33, irradiance_share: 0.2 }],
  ['Half', { shaded_share: 0.5, irradiance_share: 0.2 }],
];

/** POST grid-support/max-power */
export const powerLimitPresets: Presets<BodyOf<'grid-support/max-power'>> = [
  ['None', { enabled: false }],
  ['50 %', { enabled: true, limit_pct: 50 }],
  ['0 %', { enabled: true, limit_pct: 0 }],
];

/** POST wind/override; null: from data */
export const windPresets: Presets<number | null> = [
  ['Calm', 2],
  ['Breeze', 6],
  ['Rated', 12],
  ['Gust', 20],
  ['Storm', 28],
  ['From data', null],
];

/** POST controls/battery, and `evse/{id}/connectors/{cid}/ev` for a vehicle */
export const chargePresets: Presets<{ readonly soc_pct: number }> = [
  ['Empty', { soc_pct: 0 }],
  ['20 %', { soc_pct: 20 }],
  ['50 %', { soc_pct: 50 }],
  ['80 %', { soc_pct: 80 }],
  ['Full', { soc_pct: 100 }],
];

/** POST controls/battery: `duration_s`; null: without end */
export const forcedSpans: Presets<number | null> = [
  ['no end', null],
  ['for 10 min', 600],
  ['for 30 min', 1800],
  ['for 1 h', 3600],
];

/** POST fuelcell/setpoint: shares of the rating; null: no set-point */
export const setpointPresets: Presets<number | null> = [
  ['None', null],
  ['Idle', 0],
  ['Half', 0.5],
  ['Full', 1],
];

/** POST fuelcell/tank */
export const tankPresets: Presets<BodyOf<'fuelcell/tank'>> = [
  ['10 %', { level_pct: 10 }],
  ['50 %', { level_pct: 50 }],
  ['Full', { level_pct: 100 }],
];

/** POST `evse/{id}/connectors/{cid}/limit`, in kW or in amperes per phase; null: no limit */
export const localLimitPresets: Presets<{ readonly kw: number } | { readonly amperes: number } | null> = [
  ['Pause', { kw: 0 }],
  ['6 A', { amperes: 6 }],
  ['3.7 kW', { kw: 3.7 }],
  ['11 kW', { kw: 11 }],
  ['None', null],
];

/** POST `evse/{id}/connectors/{cid}/ev` */
export const targetPresets: Presets<{ readonly target_soc_pct: number }> = [
  ['60 %', { target_soc_pct: 60 }],
  ['80 %', { target_soc_pct: 80 }],
  ['100 %', { target_soc_pct: 100 }],
];

/** POST `evse/{id}/connectors/{cid}/plug`: member `ev` */
export const vehicles: Presets<NonNullable<BodyOf<'evse/{id}/connectors/{cid}/plug'>['ev']>> = [
  ['Car 60', { battery_capacity_kwh: 60, max_charge_kw: 11, phases: 3 }],
  ['City 28', { battery_capacity_kwh: 28, max_charge_kw: 7.4, phases: 1 }],
  ['Van 90', { battery_capacity_kwh: 90, max_charge_kw: 22, phases: 3 }],
];

/** The values of a body as title of its button: `irradiance w m2 250, duration s 10`. */
export function hintOf(body: object): string {
  return Object.entries(body)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}
