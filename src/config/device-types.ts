/** How many phases an inverter feeds: line to neutral, two lines of opposite phase, or three. */
export type Phases = 'single' | 'split' | 'three';

export interface DeviceTypeInfo {
  readonly phases: Phases;
  /** bundled profile used when none is given */
  readonly defaultProfile: string;
}

const pvThreePhase: DeviceTypeInfo = { phases: 'three', defaultProfile: '10kW-3Phase' };

/** The device types that can be simulated, with their aliases. */
export const deviceTypes = {
  'PV-3Phase': pvThreePhase,
  PV: pvThreePhase,
  'PV-2Phase': { phases: 'split', defaultProfile: '10kW-2Phase' },
  'PV-1Phase': { phases: 'single', defaultProfile: '5kW-1Phase' },
} as const satisfies Record<string, DeviceTypeInfo>;

type DeviceTypeName = keyof typeof deviceTypes;

export const deviceTypeNames = Object.keys(deviceTypes) as readonly DeviceTypeName[];
