/** Types exchanged between a charging station and the device around it. */
import type { EvseConnectorTransition, EvseStationTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseExternalLimit, EvseSession } from '../../../contract/kinds/evse.ts';
import type { Origin } from '../../../core/origin.ts';

/** A transition without its instant on the simulated clock, which the device knows. */
export type SourceTransition = Omit<EvseConnectorTransition, 'at'> | Omit<EvseStationTransition, 'at'>;
export type TransitionListener = (transition: SourceTransition) => void;

/** @param atS simulated seconds since the start of the device */
export type SessionListener = (change: 'started' | 'ended', session: EvseSession, by: Origin, atS: number) => void;

/** State of the device around the station, as the station sees it. */
export interface StationOutside {
  /** live conductors of the supply */
  readonly supplyPhases: 1 | 2 | 3;
  /** the device is off: it reboots */
  readonly down: boolean;
  /** the connection point decided the power of the last sub-step */
  readonly siteHolds: boolean;
  /** limit on the consumption of the station from outside; null: no limit */
  readonly limit: EvseExternalLimit | null;
}
