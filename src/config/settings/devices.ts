/** Settings of the devices, and of what their maps have beside the registers of their kind. */
import {
  bundledEvseProfileNames,
  bundledFaultProfileNames,
  bundledProfileNames,
  isBundledFaultProfile,
  isBundledProfile,
} from '../profile/bundled.ts';
import { deviceTypeNames } from '../profile/device-types.ts';
import { setting, unset } from './setting.ts';
import { choice, integer, onOff, pathOrName, pathsOrNames } from './value-kinds.ts';

export const deviceSettings = {
  device_type: setting({
    flags: ['-d', '--device_type'],
    kind: choice(deviceTypeNames, 'TYPE'),
    default: 'PV-3Phase',
    doc: 'Kind of device to simulate; with evse_profile alone it is EVSE.',
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
    doc: `Device profile: a bundled name (${bundledProfileNames.join(', ')}) or a file. Without it the bundled profile of the type. Not for EVSE.`,
  }),
  evse_profile: unset({
    flags: ['--evse_profile'],
    kind: pathOrName(isBundledProfile, `a bundled EVSE profile (${bundledEvseProfileNames.join(', ')}) or a path`),
    kinds: ['evse'],
    doc: `Profile of an EVSE: a bundled name (${bundledEvseProfileNames.join(', ')}) or a file. Without it EVSE-AC-22kW-1port.`,
  }),
};

export const mapSettings = {
  sim_models: setting({
    flags: ['--sim_models'],
    kind: onOff,
    default: false,
    doc: 'Adds the SunSpec models 64413 and 64414 to the maps: DC curve, and surroundings that a master can set.',
  }),
  faults: setting({
    flags: ['--faults'],
    noFile: true,
    default: [],
    kind: pathsOrNames(isBundledFaultProfile, 'a bundled set of faults (GET faults/profiles lists them) or a path'),
    doc: `Faults of every device from the start on: a bundled set (${bundledFaultProfileNames.join(', ')}) or a file. In a configuration file the block "faults" has them.`,
  }),
};
