/** What surrounds the devices: values in force, and the patches that change them. */

export const gridSources = ['const', 'csv'] as const;
export type GridSource = (typeof gridSources)[number];

/** A change of grid conditions; absent members stay. Voltages are RMS, per unit of nominal. */
export interface GridPatch {
  readonly voltagePu?: number;
  readonly voltageAPu?: number;
  readonly voltageBPu?: number;
  readonly voltageCPu?: number;
  /** all phases, RMS volts line to neutral, of the devices' rated nominal voltage; not together with the others */
  readonly voltageLnV?: number;
  readonly frequencyHz?: number;
  readonly phaseAngleDeg?: number;
  readonly rampS?: number;
  readonly durationS?: number | null;
  readonly source?: GridSource;
  readonly outage?: boolean;
}

/** The grid at one instant, as one device sees it. */
export interface GridNow {
  readonly voltageAPu: number;
  readonly voltageBPu: number;
  readonly voltageCPu: number;
  /** means over the phases, V; null where devices of different nominal voltage share the grid, line to line also on single phase */
  readonly voltageLnV: number | null;
  readonly voltageLlV: number | null;
  readonly frequencyHz: number;
  readonly phaseAngleDeg: number;
  readonly source: GridSource;
  readonly outage: boolean;
  readonly rampRemainingS: number;
  readonly durationRemainingS: number | null;
}

export const irradianceSources = ['const', 'csv', 'clear_sky'] as const;
export type IrradianceSource = (typeof irradianceSources)[number];

/** A change of the surroundings besides the grid; `null` gives a value back to its source. */
export interface SurroundingsPatch {
  readonly irradianceWm2?: number | null;
  readonly ambientTemperatureC?: number | null;
  readonly cellTemperatureC?: number | null;
  readonly loadKw?: number | null;
  readonly source?: IrradianceSource;
  readonly rampS?: number;
  readonly durationS?: number | null;
}

/** The surroundings at one instant, as one device sees them. */
export interface SurroundingsNow {
  readonly irradianceWm2: number;
  readonly ambientTemperatureC: number;
  /** a fixed cell temperature, or null while the thermal model runs */
  readonly cellTemperatureC: number | null;
  readonly windSpeedMS: number;
  readonly loadKw: number;
  readonly source: IrradianceSource;
  readonly rampRemainingS: number;
  readonly durationRemainingS: number | null;
}
