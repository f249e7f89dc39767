import type { AssetType } from '../../contract/device.ts';
import type { WindTurbineType } from '../../contract/kinds/wind.ts';

/** How many phases an inverter feeds: line to neutral, two lines of opposite phase, or three. */
export type Phases = 'single' | 'split' | 'three';

export interface DeviceTypeInfo {
  readonly assetType: AssetType;
  readonly phases: Phases;
  /** bundled profile used when none is given */
  readonly defaultProfile: string;
  /** type of the turbine; absent: not a wind turbine */
  readonly windType?: WindTurbineType;
}

const pvThreePhase = { assetType: 'pv', phases: 'three', defaultProfile: '10kW-3Phase' } as const;
const batteryThreePhase = { assetType: 'battery', phases: 'three', defaultProfile: 'Batt-10kW-3Phase' } as const;

/** The device types that can be simulated, with their aliases. */
export const deviceTypes = {
  'PV-3Phase': pvThreePhase,
  PV: pvThreePhase,
  'PV-2Phase': { assetType: 'pv', phases: 'split', defaultProfile: '10kW-2Phase' },
  'PV-1Phase': { assetType: 'pv', phases: 'single', defaultProfile: '5kW-1Phase' },
  'Batt-3Phase': batteryThreePhase,
  Batt: batteryThreePhase,
  'Batt-2Phase': { assetType: 'battery', phases: 'split', defaultProfile: 'Batt-10kW-2Phase' },
  'Batt-1Phase': { assetType: 'battery', phases: 'single', defaultProfile: 'Batt-5kW-1Phase' },
  'Wind-T3-3Phase': { assetType: 'wind', phases: 'three', defaultProfile: 'Wind-5MW-T3-3Phase', windType: 'T3' },
  'Wind-T4-3Phase': { assetType: 'wind', phases: 'three', defaultProfile: 'Wind-15MW-T4-3Phase', windType: 'T4' },
  'Fuelcell-3Phase': { assetType: 'fuelcell', phases: 'three', defaultProfile: 'Fuelcell-PEM-5kW-3Phase' },
  'HybridDC-3Phase': { assetType: 'hybrid-dc', phases: 'three', defaultProfile: 'HybridDC-15kVA-3Phase' },
  EVSE: { assetType: 'evse', phases: 'three', defaultProfile: 'EVSE-AC-22kW-1port' },
} as const satisfies Record<string, DeviceTypeInfo>;

export type DeviceTypeName = keyof typeof deviceTypes;

/** Short names, and the type that each stands for. */
export const deviceTypeAliases: Readonly<Record<string, DeviceTypeName>> = { PV: 'PV-3Phase', Batt: 'Batt-3Phase' };

export const deviceTypeNames = Object.keys(deviceTypes) as readonly DeviceTypeName[];

/** Names of the device types of some kinds. */
export function typesOfKinds(kinds: readonly AssetType[]): DeviceTypeName[] {
  return deviceTypeNames.filter((name) => kinds.includes(deviceTypes[name].assetType));
}
