/** Grid and surroundings of the devices: values in force, and the patches that change them. */
import type { Provenance } from '../core/origin.ts';
import type { gridSources, irradianceSources } from '../sunspec/map/rules.ts';

export type GridSource = (typeof gridSources)[number];

/** A change of grid conditions; absent members stay. Voltages are RMS, per unit of nominal. */
export interface GridPatch
  extends Partial<
    Pick<
      GridNow,
      'voltageAPu' | 'voltageBPu' | 'voltageCPu' | 'frequencyHz' | 'phaseAngleDeg' | 'source' | 'outage' | 'island'
    >
  > {
  readonly voltagePu?: number;
  /** all phases, V line to neutral, in place of `voltagePu`; refused where devices differ in nominal voltage */
  readonly voltageLnV?: number;
  readonly rampS?: number;
  readonly durationS?: number | null;
}

/** Names of the events that the grid can play, in the order in which they are listed. */
export const gridEventNames = [
  'sag',
  'swell',
  'voltage_step',
  'voltage_ramp',
  'frequency_step',
  'frequency_ramp',
  'oscillation',
  'phase_jump',
  'outage',
  'island',
  'lvrt_cat_2',
  'lvrt_cat_3',
  'hvrt_cat_2',
  'hvrt_cat_3',
  'lfrt',
  'hfrt',
  'rocof_cat_1',
  'rocof_cat_2',
  'rocof_cat_3',
] as const;
export type GridEventName = (typeof gridEventNames)[number];

/** One parameter of a named event: a number with its range, or a word from a list. */
export interface GridEventParameter {
  readonly name: string;
  /** null for a word and for a number without unit */
  readonly unit: string | null;
  readonly default: number | string;
  /** both ends included; null for a word */
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** null for a number */
  readonly allowed: readonly string[] | null;
}

export interface GridEventKind {
  readonly name: GridEventName;
  readonly description: string;
  readonly parameters: readonly GridEventParameter[];
}

/** Arguments of a named event; absent ones have their default. */
export type GridEventArguments = Readonly<Record<string, number | string>>;

/** A named event under way, simulated seconds. */
export interface GridEventNow {
  readonly name: string;
  readonly elapsedS: number;
  readonly remainingS: number;
}

/** The grid at one instant, as one device sees it. */
export interface GridNow {
  readonly voltageAPu: number;
  readonly voltageBPu: number;
  readonly voltageCPu: number;
  /**
   * means over the phases, V; both null where devices of different nominal voltage share the grid; line to line also
   * null on single phase
   */
  readonly voltageLnV: number | null;
  readonly voltageLlV: number | null;
  readonly frequencyHz: number;
  readonly phaseAngleDeg: number;
  /** `csv` while any quantity follows the grid profile */
  readonly source: GridSource;
  /** true: a grid profile is loaded */
  readonly profileLoaded: boolean;
  readonly outage: boolean;
  /** the mains have failed; local load holds voltage and frequency at the values set */
  readonly island: boolean;
  /** remaining time of requested ramps; a named event has its own time */
  readonly rampRemainingS: number;
  /** remaining time of the topmost change with a duration */
  readonly durationRemainingS: number | null;
  readonly event: GridEventNow | null;
  /** indexes of the devices that deviate from the common grid; of the grid of one device: at most that one */
  readonly deviatingDevices: readonly number[];
  /** last writer; null: as started */
  readonly changedBy: Provenance | null;
}

/** The grid without the volts of a device. */
export type GridState = Omit<GridNow, 'voltageLnV' | 'voltageLlV'>;

/** A request for a change of the grid; `end` ends a named event. */
export type GridCommand =
  | { readonly kind: 'set'; readonly patch: GridPatch }
  | { readonly kind: 'event'; readonly name: string; readonly args: GridEventArguments }
  | { readonly kind: 'end' };

/** A change of the grid that a request has made. */
export interface GridChange {
  readonly command: GridCommand;
  /** null: the common grid */
  readonly deviceIndex: number | null;
  readonly before: GridState;
  readonly after: GridState;
  readonly by: Provenance;
}

export type IrradianceSource = (typeof irradianceSources)[number];

/** A change of the surroundings besides the grid; `null` releases a value to its source. */
export interface SurroundingsPatch {
  readonly irradianceWm2?: number | null;
  readonly ambientTemperatureC?: number | null;
  readonly cellTemperatureC?: number | null;
  readonly loadKw?: number | null;
  readonly source?: IrradianceSource;
  readonly rampS?: number;
  readonly durationS?: number | null;
}

/** Members of `controls/environment` that a request can override. */
export const settableMembers = ['irradiance_w_m2', 'ambient_temperature_c', 'cell_temperature_c', 'load_kw'] as const;
export type SettableMember = (typeof settableMembers)[number];

/** Position in the series that feeds a device. */
export interface DatasetNow {
  readonly name: string;
  /** time in the series, s; within its rows */
  readonly positionS: number;
  /** series seconds per simulated second */
  readonly timeScale: number;
}

/** The surroundings at one instant, as one device sees them. */
export interface SurroundingsNow {
  /** null: weather from no named series */
  readonly dataset: DatasetNow | null;
  readonly irradianceWm2: number;
  readonly ambientTemperatureC: number;
  /** a fixed cell temperature, or null while the thermal model runs */
  readonly cellTemperatureC: number | null;
  readonly windSpeedMS: number;
  readonly loadKw: number;
  readonly source: IrradianceSource;
  readonly rampRemainingS: number;
  readonly durationRemainingS: number | null;
  /** quantities with a value of a request in place of that of their source */
  readonly overridden: readonly SettableMember[];
  /** indexes of the devices that deviate from the common surroundings; of those of one device: at most that one */
  readonly deviatingDevices: readonly number[];
  /** last writer; null: as started */
  readonly changedBy: Provenance | null;
}
