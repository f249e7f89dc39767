/** Types of a PV array. */

/** Maximum number of inputs of an inverter. */
export const maxPvInputs = 12;

/** State of one input, or of an array that is the only one. */
export interface PvInputDetail {
  /** irradiance in the plane of the array */
  readonly irradianceWm2: number;
  readonly cellTemperatureC: number;
  /** power at the maximum power point now */
  readonly availableDcW: number;
  readonly operatingPoint: { readonly v: number; readonly i: number; readonly p: number };
  readonly mpptState: 'off' | 'start' | 'track' | 'limit' | 'dc_low';
  /** null: none */
  readonly shading: PvShading | null;
}

/**
 * State of a PV generator. With several inputs: irradiance in the plane of the block `pv`, mean cell temperature by
 * rated power, sums of power and current, the state of the most advanced tracker, the first shading.
 */
export interface PvDetail extends PvInputDetail {
  readonly kind: 'pv';
  /** inputs by number of the port; absent: the inverter has one input */
  readonly inputs?: readonly (PvInputDetail & { readonly name: string })[];
}

/** Part of the modules of each string that receive less light. */
export interface PvShading {
  /** 0..1 of the modules */
  readonly shadedShare: number;
  /** 0..1 of the irradiance that reaches them */
  readonly irradianceShare: number;
}

/** Shades part of the array; null: none. */
export interface PvCommand {
  readonly kind: 'pv.shading';
  /** number of the port, from 0; absent: every input */
  readonly input?: number;
  readonly shading: PvShading | null;
}

/** An array on a separate input with its own tracker. */
export interface PvInputParameters {
  /** 714.Prt.IDStr */
  readonly name: string;
  readonly module: string;
  /** modules in one string */
  readonly series: number;
  /** strings */
  readonly parallel: number;
  readonly tiltDeg: number;
  /** clockwise from north */
  readonly azimuthDeg: number;
  /** shading of each string; null: none */
  readonly shading: PvShading | null;
}

/** Physical parameters of a PV generator and its DC input, as a profile gives them with every default filled in. */
export interface PvParameters extends Omit<PvInputParameters, 'name'> {
  readonly minDcVoltageV: number;
  readonly maxDcVoltageV: number;
  /** 0.8..1 */
  readonly efficiencyNominal: number;
  readonly mpptTimeConstantS: number;
  readonly startTimeS: number;
  /** DC power at which the inverter starts, W; the inverter sleeps again below three quarters of this power */
  readonly startPowerW: number;
  /** AC power that a sleeping inverter draws from the grid, W */
  readonly nightPowerW: number;
  /** local: the tracker stays on the maximum next to open circuit; global: the tracker finds the highest maximum */
  readonly mppt: 'global' | 'local';
  readonly latitudeDeg: number;
  readonly longitudeDeg: number;
  /** inputs by number of the port, instead of the array above; absent: that array is on the only input */
  readonly inputs?: readonly PvInputParameters[];
}

/** Names in `controls.overrides` of the values that each command sets. */
export const pvOverrides = {
  'pv.shading': ['pv_shading'],
} as const satisfies Record<PvCommand['kind'], readonly string[]>;
