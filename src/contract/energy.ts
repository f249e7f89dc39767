/** Energies of devices and of the site, counted in each sub-step. */
import type { AssetType } from './kinds/table.ts';

/** Magnitudes, Wh. */
export interface EnergyCount {
  /** active energy into the grid, at the terminals */
  readonly producedWh: number;
  /** active energy out of the grid, at the terminals */
  readonly absorbedWh: number;
  /** energy of the local load beside the device */
  readonly loadWh: number;
}

/** All devices together, those that have left included. */
export interface EnergySums extends EnergyCount {
  /** net energy into the grid at the connection point of the site */
  readonly exportedWh: number;
  /** net energy out of the grid there */
  readonly importedWh: number;
  /** kinds without a device are absent */
  readonly byKind: Readonly<Partial<Record<AssetType, EnergyCount>>>;
}

/** `today`: since local midnight of the simulated clock; a clock set back takes nothing away. */
export interface DeviceEnergy {
  readonly today: EnergyCount;
  readonly sinceStart: EnergyCount;
}

export interface SiteEnergy {
  readonly today: EnergySums;
  readonly sinceStart: EnergySums;
}
