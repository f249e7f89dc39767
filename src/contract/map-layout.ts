/** The generations of SunSpec models that a device shows to Modbus masters. */

/**
 * - `current`: models 701 to 715.
 * - `classic`: those of the generation before, 101 to 124 and 160.
 * - `both`: classic, then current.
 * - `mixed`: current with the direct controls 123 before them.
 */
export const mapLayouts = ['current', 'classic', 'both', 'mixed'] as const;
export type MapLayout = (typeof mapLayouts)[number];

/** Addresses at which masters look for the `SunS` marker. */
export const mapBases = [0, 40_000, 50_000] as const;
export type MapBase = (typeof mapBases)[number];

/** The map of a device as its masters find it. */
export interface MapShape {
  readonly layout: MapLayout;
  /** 111 to 113 in the place of 101 to 103 */
  readonly float: boolean;
  /** PDU address of the marker */
  readonly base: MapBase;
  /** models that the device has and masters do not find */
  readonly hiddenModels: readonly number[];
}

export const defaultMapShape: MapShape = { layout: 'current', float: false, base: 40_000, hiddenModels: [] };
