/** Settings for devices of one kind; most replace a member of their profiles. */
import { fuelCellChemistries, fuelCellFuels, fuelCellOperatingModes } from '../../contract/kinds/fuelcell.ts';
import { hybridPolicies } from '../../contract/kinds/hybrid.ts';
import { setting, unset } from './setting.ts';
import { choice, number } from './value-kinds.ts';

/** Ratings and settings of 702 that describe the size of an inverter: another size makes them void. */
const inverterSize = [
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
].flatMap((name) => [`models.702.${name}`, `models.702.${name}Rtg`]);

export const kindSettings = {
  wind_time_scale: setting({
    flags: ['--wind_time_scale'],
    kind: number(0.01, 3600),
    default: 1,
    kinds: ['wind'],
    doc: 'Seconds of the wind series that pass per simulated second.',
  }),
  wind_anemometer_height_m: unset({
    flags: ['--wind_anemometer_height_m'],
    kind: number(1, 500),
    kinds: ['wind'],
    member: { path: 'wind.anemometer_height_m' },
    doc: 'Height at which the wind of the series is measured, m. If not given: the value of the profile, else 5.',
  }),
  fuelcell_chemistry: unset({
    flags: ['--fuelcell_chemistry'],
    kind: choice(fuelCellChemistries, 'CHEMISTRY'),
    kinds: ['fuelcell'],
    member: { path: 'fuel_cell.chemistry' },
    doc:
      'Chemistry of the cells. Valid combinations of chemistry, mode and fuel: PEMFC fc_only tank, PEMFC ' +
      'bidirectional tank, SOFC bidirectional tank, SOFC fc_only continuous. If not given: the value of ' +
      'the profile, else PEMFC.',
  }),
  fuelcell_mode: unset({
    flags: ['--fuelcell_mode'],
    kind: choice(fuelCellOperatingModes, 'MODE'),
    kinds: ['fuelcell'],
    member: { path: 'fuel_cell.operating_mode' },
    doc: 'Fuel cell only, or fuel cell and electrolysis. If not given: the value of the profile, else fc_only.',
  }),
  fuelcell_fuel: unset({
    flags: ['--fuelcell_fuel'],
    kind: choice(fuelCellFuels, 'FUEL'),
    kinds: ['fuelcell'],
    member: { path: 'fuel_cell.fuel' },
    doc: 'Hydrogen from a tank or from a continuous supply. If not given: the value of the profile, else tank.',
  }),
  hybrid_pv_kw: unset({
    flags: ['--hybrid_pv_kw'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.pv_w', factor: 1000, replaces: ['pv.parallel'] },
    doc: 'PV module power of a hybrid, kW. If not given: the value of the profile, else 10.',
  }),
  hybrid_batt_kw: unset({
    flags: ['--hybrid_batt_kw'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.battery_w', factor: 1000, replaces: ['battery.power_w'] },
    doc: 'Battery power of a hybrid, kW. If not given: the value of the profile, else 10.',
  }),
  hybrid_batt_kwh: unset({
    flags: ['--hybrid_batt_kwh'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.battery_wh', factor: 1000, replaces: ['battery.capacity_wh'] },
    doc: 'Battery capacity of a hybrid, kWh. If not given: the value of the profile, else 15.',
  }),
  hybrid_inverter_kva: unset({
    flags: ['--hybrid_inverter_kva'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'models.702.VAMaxRtg', factor: 1000, replaces: inverterSize },
    doc: 'Rating of the inverter of a hybrid, kVA. If not given: the value of the profile, else 15.',
  }),
  hybrid_soc_min_pct: unset({
    flags: ['--hybrid_soc_min_pct'],
    kind: number(0, 100),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.soc_min_pct', replaces: ['battery.soc_min_pct'] },
    doc: 'State of charge at which the battery of a hybrid stops discharging, %. If not given: the value of the profile, else 10.',
  }),
  hybrid_soc_max_pct: unset({
    flags: ['--hybrid_soc_max_pct'],
    kind: number(0, 100),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.soc_max_pct', replaces: ['battery.soc_max_pct'] },
    doc: 'State of charge at which the battery of a hybrid stops charging, %. If not given: the value of the profile, else 95.',
  }),
  hybrid_dispatch: unset({
    flags: ['--hybrid_dispatch'],
    kind: choice(hybridPolicies, 'POLICY'),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.policy' },
    doc: 'Dispatch policy of a hybrid at start. If not given: the value of the profile, else self_consumption.',
  }),
};
