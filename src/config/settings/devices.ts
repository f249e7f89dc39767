/**
 * Settings of the devices, of additions to their maps, and of one kind each; most of these replace a member of
 * profiles.
 */
import {
  bundledEvseProfileNames,
  bundledFaultProfileNames,
  bundledProfileNames,
  isBundledFaultProfile,
  isBundledProfile,
} from '../profile/bundled.ts';
import { mapLayouts } from '../../contract/map-layout.ts';
import { deviceTypeNames } from '../profile/device-types.ts';
import { atStart } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import { choice, integer, onOff, pathOrName, pathsOrNames, number } from './value-kinds.ts';
import { fuelCellChemistries, fuelCellFuels, fuelCellOperatingModes } from '../../contract/kinds/fuelcell.ts';
import { hybridPolicies } from '../../contract/kinds/hybrid.ts';

const devices = atStart('The devices are built with it; POST devices adds devices to a simulator that is up.');
const series = atStart('Devices read their series when they are built.');

export const deviceSettings = {
  device_type: setting({
    flags: ['-d', '--device_type'],
    kind: choice(deviceTypeNames, 'TYPE'),
    default: 'PV-3Phase',
    changes: devices,
    doc: 'Type of device to simulate. If evse_profile is given without device_type: EVSE.',
  }),
  N: setting({
    flags: ['-N'],
    kind: integer(1, 10000),
    default: 1,
    changes: devices,
    doc: 'Number of devices.',
  }),
  f: optionalSetting({
    flags: ['-f'],
    kind: pathOrName(isBundledProfile, `a bundled profile (${bundledProfileNames.join(', ')}) or a path`),
    changes: devices,
    doc:
      `Device profile: a bundled name (${bundledProfileNames.join(', ')}) or a file. If not given: the ` +
      'bundled profile of the device type. Not for EVSE.',
  }),
  evse_profile: optionalSetting({
    flags: ['--evse_profile'],
    kind: pathOrName(isBundledProfile, `a bundled EVSE profile (${bundledEvseProfileNames.join(', ')}) or a path`),
    kinds: ['evse'],
    changes: devices,
    doc: `Profile of an EVSE: a bundled name (${bundledEvseProfileNames.join(', ')}) or a file. If not given: EVSE-AC-22kW-1port.`,
  }),
};

export const mapSettings = {
  map_layout: optionalSetting({
    flags: ['--map_layout'],
    kind: choice(mapLayouts, 'LAYOUT'),
    member: { path: 'layout' },
    changes: devices,
    doc:
      'SunSpec models that the maps show: current has 701 to 715, classic the previous generation (101 to ' +
      '103, 120 to 124, 160), both has classic and then current, mixed has 123 and then current. Overrides ' +
      'the profile, unless it has a chain. If not given: the layout of the profile, else current.',
  }),
  map_float: optionalSetting({
    flags: ['--map_float'],
    kind: onOff,
    member: { path: 'float' },
    changes: devices,
    doc: 'Shows floating-point models in the place of integers: 111 to 113 for 101 to 103. Overrides the profile, unless it has a chain.',
  }),
  sim_models: setting({
    flags: ['--sim_models'],
    kind: onOff,
    default: false,
    changes: devices,
    doc: 'Adds two SunSpec models to the maps: 64413 shows the DC curve, and through 64414 a master sets the surroundings.',
  }),
  faults: setting({
    flags: ['--faults'],
    noFile: true,
    default: [],
    kind: pathsOrNames(isBundledFaultProfile, 'a bundled set of faults (GET faults/profiles lists them) or a path'),
    changes: atStart('It gives the faults of the start; POST faults injects faults into a simulator that is up.'),
    doc:
      'Faults that act on every device from the start: a bundled set ' +
      `(${bundledFaultProfileNames.join(', ')}) or a file. In a configuration file they are listed under ` +
      '"faults".',
  }),
};

/** Ratings and settings of 702 that depend on the size of an inverter: a setting of the size removes them. */
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
    changes: series,
    doc: 'Seconds of the wind series that pass per simulated second.',
  }),
  wind_anemometer_height_m: optionalSetting({
    flags: ['--wind_anemometer_height_m'],
    kind: number(1, 500),
    kinds: ['wind'],
    member: { path: 'wind.anemometer_height_m' },
    changes: devices,
    doc: 'Height at which the wind of the series is measured, m. If not given: the value of the profile, else 5.',
  }),
  fuelcell_chemistry: optionalSetting({
    flags: ['--fuelcell_chemistry'],
    kind: choice(fuelCellChemistries, 'CHEMISTRY'),
    kinds: ['fuelcell'],
    member: { path: 'fuel_cell.chemistry' },
    changes: devices,
    doc:
      'Chemistry of the cells. Valid combinations of chemistry, mode and fuel: PEMFC fc_only tank, PEMFC ' +
      'bidirectional tank, SOFC bidirectional tank, SOFC fc_only continuous. If not given: the value of ' +
      'the profile, else PEMFC.',
  }),
  fuelcell_mode: optionalSetting({
    flags: ['--fuelcell_mode'],
    kind: choice(fuelCellOperatingModes, 'MODE'),
    kinds: ['fuelcell'],
    member: { path: 'fuel_cell.operating_mode' },
    changes: devices,
    doc: 'Fuel cell only, or fuel cell and electrolysis. If not given: the value of the profile, else fc_only.',
  }),
  fuelcell_fuel: optionalSetting({
    flags: ['--fuelcell_fuel'],
    kind: choice(fuelCellFuels, 'FUEL'),
    kinds: ['fuelcell'],
    member: { path: 'fuel_cell.fuel' },
    changes: devices,
    doc:
      'Hydrogen from a tank or from a continuous supply. If not given: the value of the profile, else tank, or ' +
      'continuous for SOFC with fc_only.',
  }),
  hybrid_pv_kw: optionalSetting({
    flags: ['--hybrid_pv_kw'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.pv_w', factor: 1000, replaces: ['pv.parallel'] },
    changes: devices,
    doc: 'PV module power of a hybrid, kW. If not given: the value of the profile, else 10.',
  }),
  hybrid_batt_kw: optionalSetting({
    flags: ['--hybrid_batt_kw'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.battery_w', factor: 1000, replaces: ['battery.power_w'] },
    changes: devices,
    doc: 'Battery power of a hybrid, kW. If not given: the value of the profile, else 10.',
  }),
  hybrid_batt_kwh: optionalSetting({
    flags: ['--hybrid_batt_kwh'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.battery_wh', factor: 1000, replaces: ['battery.capacity_wh'] },
    changes: devices,
    doc: 'Battery capacity of a hybrid, kWh. If not given: the value of the profile, else 1.5 hours of its battery power.',
  }),
  hybrid_inverter_kva: optionalSetting({
    flags: ['--hybrid_inverter_kva'],
    kind: number(0.1, 100_000),
    kinds: ['hybrid-dc'],
    member: { path: 'models.702.VAMaxRtg', factor: 1000, replaces: inverterSize },
    changes: devices,
    doc: 'Rating of the inverter of a hybrid, kVA. If not given: the value of the profile, else 15.',
  }),
  hybrid_soc_min_pct: optionalSetting({
    flags: ['--hybrid_soc_min_pct'],
    kind: number(0, 100),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.soc_min_pct', replaces: ['battery.soc_min_pct'] },
    changes: devices,
    doc: 'State of charge at which the battery of a hybrid stops discharging, %. If not given: the value of the profile, else 10.',
  }),
  hybrid_soc_max_pct: optionalSetting({
    flags: ['--hybrid_soc_max_pct'],
    kind: number(0, 100),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.soc_max_pct', replaces: ['battery.soc_max_pct'] },
    changes: devices,
    doc: 'State of charge at which the battery of a hybrid stops charging, %. If not given: the value of the profile, else 95.',
  }),
  hybrid_dispatch: optionalSetting({
    flags: ['--hybrid_dispatch'],
    kind: choice(hybridPolicies, 'POLICY'),
    kinds: ['hybrid-dc'],
    member: { path: 'hybrid.policy' },
    changes: devices,
    doc: 'Dispatch policy of a hybrid at start. If not given: the value of the profile, else self_consumption.',
  }),
};
