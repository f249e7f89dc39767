/** Settings of the devices and of additions to their maps. */
import {
  bundledEvseProfileNames,
  bundledFaultProfileNames,
  bundledProfileNames,
  isBundledFaultProfile,
  isBundledProfile,
} from '../profile/bundled.ts';
import { mapLayouts } from '../../contract/map-layout.ts';
import { deviceTypeNames } from '../profile/device-types.ts';
import { setting, unset } from './setting.ts';
import { choice, integer, onOff, pathOrName, pathsOrNames } from './value-kinds.ts';

export const deviceSettings = {
  device_type: setting({
    flags: ['-d', '--device_type'],
    kind: choice(deviceTypeNames, 'TYPE'),
    default: 'PV-3Phase',
    doc: 'Type of device to simulate. With evse_profile and no device_type it is EVSE.',
  }),
  N: setting({
    flags: ['-N'],
    kind: integer(1, 10000),
    default: 1,
    doc: 'Number of devices.',
  }),
  f: unset({
    flags: ['-f'],
    kind: pathOrName(isBundledProfile, `a bundled profile (${bundledProfileNames.join(', ')}) or a path`),
    doc:
      `Device profile: a bundled name (${bundledProfileNames.join(', ')}) or a file. If not given: the ` +
      'bundled profile of the device type. Not for EVSE.',
  }),
  evse_profile: unset({
    flags: ['--evse_profile'],
    kind: pathOrName(isBundledProfile, `a bundled EVSE profile (${bundledEvseProfileNames.join(', ')}) or a path`),
    kinds: ['evse'],
    doc: `Profile of an EVSE: a bundled name (${bundledEvseProfileNames.join(', ')}) or a file. If not given: EVSE-AC-22kW-1port.`,
  }),
};

export const mapSettings = {
  map_layout: unset({
    flags: ['--map_layout'],
    kind: choice(mapLayouts, 'LAYOUT'),
    member: { path: 'layout' },
    doc:
      'SunSpec models that the maps show: current has 701 to 715, classic the generation before (101 to ' +
      '103, 120 to 124, 160), both has classic and then current, mixed has 123 and then current. Overrides ' +
      'the profile. If not given: as the profile says, otherwise current.',
  }),
  map_float: unset({
    flags: ['--map_float'],
    kind: onOff,
    member: { path: 'float' },
    doc: 'Shows floating-point models in the place of integers: 111 to 113 for 101 to 103. Overrides the profile.',
  }),
  sim_models: setting({
    flags: ['--sim_models'],
    kind: onOff,
    default: false,
    doc: 'Adds two SunSpec models to the maps: 64413 shows the DC curve, and through 64414 a master sets the surroundings.',
  }),
  faults: setting({
    flags: ['--faults'],
    noFile: true,
    default: [],
    kind: pathsOrNames(isBundledFaultProfile, 'a bundled set of faults (GET faults/profiles lists them) or a path'),
    doc:
      'Faults that act on every device from the start: a bundled set ' +
      `(${bundledFaultProfileNames.join(', ')}) or a file. In a configuration file they are listed under ` +
      '"faults".',
  }),
};
