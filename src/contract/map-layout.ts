/** The generations of SunSpec models that a device shows to Modbus masters. */

/**
 * - `current`: models 701 to 715.
 * - `classic`: models of the previous generation, 101 to 124 and 160.
 * - `both`: classic, then current.
 * - `mixed`: the direct controls 123, then current.
 */
export const mapLayouts = ['current', 'classic', 'both', 'mixed'] as const;
export type MapLayout = (typeof mapLayouts)[number];

/** Addresses at which masters look for the `SunS` marker. */
export const mapBases = [0, 40_000, 50_000] as const;
export type MapBase = (typeof mapBases)[number];

/** Meter models of a chain: whole numbers, then floating point, each for one, two and three phases. */
export const chainMeterModels = [201, 202, 203, 211, 212, 213] as const;
export type ChainMeterModel = (typeof chainMeterModels)[number];

/**
 * The flow that a meter measures; power drawn from the grid is positive.
 * - `site`: at the connection point, the sum of the other two.
 * - `generation`: of the devices, without local loads.
 * - `load`: of the local loads.
 */
export const meteredFlows = ['site', 'generation', 'load'] as const;
export type MeteredFlow = (typeof meteredFlows)[number];

/** Sizes that a chain may set for curve models: an adoption needs two sets, and a map has 65,536 registers. */
export const chainSizes = { curves: { min: 2, max: 10 }, points: { min: 1, max: 20 } } as const;
/** Maximum number of meters in one map. */
export const maxChainMeters = 3;

/** One model of a chain. */
export interface ChainModel {
  readonly model: number;
  /** sets of a curve or control model (NCrv, NCrvSet, NCtl); absent: 3 */
  readonly curves?: number;
  /** points of each curve (NPt); absent: 10 */
  readonly points?: number;
}

/** A meter of a chain: a separate common block, followed by the meter model. */
export interface ChainMeter {
  readonly meter: ChainMeterModel;
  readonly of: MeteredFlow;
  /** texts of the common block; absent: those of the simulator */
  readonly maker?: string;
  readonly modelName?: string;
  readonly serial?: string;
}

export type ChainEntry = ChainModel | ChainMeter;

/** The map of a device as its masters find it. */
export interface MapShape {
  readonly layout: MapLayout;
  /** true: 111 to 113 in place of 101 to 103 */
  readonly float: boolean;
  /** PDU address of the marker */
  readonly base: MapBase;
  /** models that masters do not find, although the device has them */
  readonly hiddenModels: readonly number[];
  /** models and meters in the order of the map, in place of `layout`, `float` and `hiddenModels` */
  readonly chain?: readonly ChainEntry[];
}

export const defaultMapShape: MapShape = { layout: 'current', float: false, base: 40_000, hiddenModels: [] };
