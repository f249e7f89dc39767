/** The instant at which a device is looked at. */
import type { Plant } from '../../contract/plant.ts';

export interface Moment {
  /** simulated dates, ms since the epoch: of the last tick, which has the measurements, and of now */
  readonly tickMs: number;
  readonly nowMs: number;
}

export function momentOf(plant: Plant): Moment {
  return { tickMs: plant.dateMs(plant.latest.sim), nowMs: plant.time.dateMs };
}
