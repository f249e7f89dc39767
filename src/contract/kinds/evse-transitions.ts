/** Transitions of a charging station: each change of a connector or of the station, at its own instant. */
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type {
  EvseConnectorDetail,
  EvseExternalLimit,
  EvsePhase,
  EvseReservation,
  EvseSession,
  EvseConnectorState,
} from './evse.ts';

/**
 * Cause of a change. `person`: at the station, or over an interface in place of a person. `central`: a command of the
 * central system. `vehicle`: the vehicle began, stopped or resumed drawing. `limit`: a limit held or released the
 * power.
 */
export const evseCauses = ['person', 'central', 'timeout', 'vehicle', 'limit', 'fault', 'reset'] as const;
export type EvseCause = (typeof evseCauses)[number];

/**
 * Events that change the phase. `plugged`: both ends of the cable are in. Holds: vehicle or station stops the flow of
 * energy.
 */
export const evsePhaseEvents = [
  'plugged',
  'unplugged',
  'ev_unplugged',
  'authorize',
  'withdraw',
  'delay_over',
  'ev_hold',
  'ev_release',
  'evse_hold',
  'evse_release',
  'stop',
] as const;
export type EvsePhaseEvent = (typeof evsePhaseEvents)[number];

/** Events that leave the phase as it is. `token`: presented to a central authority, which has yet to decide. */
export const evseStateEvents = [
  'cable',
  'token',
  'lock',
  'unlock',
  'availability',
  'fault',
  'clear_fault',
  'reserve',
  'reserve_end',
  'limit',
] as const;
export type EvseStateEvent = (typeof evseStateEvents)[number];

/**
 * Events of the whole station. `restart`: a reset of the device has restored its start values without an event for
 * each: listeners read all connectors again, and transaction ids restart.
 */
export const evseStationEvents = ['external_limit', 'power_down', 'power_up', 'restart'] as const;
export type EvseStationEvent = (typeof evseStationEvents)[number];

interface TransitionFacts {
  /** instant at which physics acts on the change; never before that of an earlier transition */
  readonly at: SimTime;
  /** writer of the command or limit that caused the change; source `default`: the station itself */
  readonly by: Origin;
  readonly cause: EvseCause;
}

/** A change of one connector. */
export interface EvseConnectorTransition extends TransitionFacts {
  /** the same instant, in simulated seconds since the start of the device */
  readonly atS: number;
  readonly connectorId: number;
  readonly event: EvsePhaseEvent | EvseStateEvent;
  readonly fromPhase: EvsePhase;
  readonly phase: EvsePhase;
  readonly fromStatus: EvseConnectorState;
  readonly status: EvseConnectorState;
  /** transaction of `session`; local to the device */
  readonly transactionId: string | null;
  /** the present or last session of this vehicle; at `unplugged` that of the vehicle that has left */
  readonly session: EvseSession | null;
  readonly sessionChange: 'started' | 'ended' | null;
  /** the token presented, or the one in force */
  readonly idToken: string | null;
  /** the reservation that began or ended */
  readonly reservation: EvseReservation | null;
  /** power at this instant, + into the vehicle, W; `connector.powerW` is the mean of the last sub-step */
  readonly powerW: number;
  /** the connector after the transition, with its meter at this instant */
  readonly connector: EvseConnectorDetail;
}

/** A change of the whole station. */
export interface EvseStationTransition extends TransitionFacts {
  readonly connectorId: 0;
  readonly event: EvseStationEvent;
  readonly externalLimit: EvseExternalLimit | null;
}

export type EvseTransition = EvseConnectorTransition | EvseStationTransition;
