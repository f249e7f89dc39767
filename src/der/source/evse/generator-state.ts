/** State of the generator of charging sessions, which a station keeps. */
import type { Origin } from '../../../core/origin.ts';
import type { RandomStream } from '../../../core/random.ts';
import type { Connector } from './connector.ts';

/** Vehicles at one connector. */
export interface Line {
  readonly c: Connector;
  readonly random: RandomStream;
  /** simulated seconds */
  arrivalDueS: number;
  departureDueS: number;
  /** id of the vehicle that is here; null: none of the generator */
  vehicleId: string | null;
  count: number;
}

export interface Generator {
  readonly seed: number;
  readonly ratePerHour: number;
  readonly idToken: string;
  readonly by: Origin;
  readonly startedAtS: number;
  readonly lines: readonly Line[];
  arrivals: number;
  turnedAway: number;
  departures: number;
}
