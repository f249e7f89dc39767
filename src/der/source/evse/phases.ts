import { evsePhaseEvents } from '../../../contract/kinds/evse-transitions.ts';
import type { EvsePhaseEvent } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseChargingState, EvsePhase, EvseConnectorState, EvseOccupancy } from '../../../contract/kinds/evse.ts';

export const phaseEvents = evsePhaseEvents;
export type PhaseEvent = EvsePhaseEvent;

const inSession = { stop: 'finishing', unplugged: 'free', ev_unplugged: 'detached' } as const;

/** The state machine: an event that a phase does not list is impossible in it. */
export const phaseTable: Readonly<Record<EvsePhase, Readonly<Partial<Record<PhaseEvent, EvsePhase>>>>> = {
  free: { plugged: 'connected', authorize: 'authorised' },
  authorised: { plugged: 'starting', withdraw: 'free' },
  connected: { unplugged: 'free', authorize: 'starting', withdraw: 'finishing' },
  starting: { ...inSession, delay_over: 'energised' },
  energised: { ...inSession, ev_hold: 'suspended_ev', evse_hold: 'suspended_evse' },
  suspended_ev: { ...inSession, ev_release: 'energised', evse_hold: 'suspended_both' },
  suspended_evse: { ...inSession, evse_release: 'energised', ev_hold: 'suspended_both' },
  suspended_both: { ...inSession, ev_release: 'suspended_evse', evse_release: 'suspended_ev' },
  detached: { plugged: 'resuming', stop: 'free' },
  resuming: { ...inSession, delay_over: 'energised' },
  finishing: { unplugged: 'free', authorize: 'starting' },
};

interface PhaseTraits {
  /** a transaction is open */
  readonly session: boolean;
  readonly authorised: boolean;
  readonly contactorClosed: boolean;
  /** power may flow unless the vehicle or the station holds it */
  readonly powered: boolean;
  readonly evHolds: boolean;
  readonly evseHolds: boolean;
  readonly status: EvseConnectorState;
  readonly chargingState: EvseChargingState;
}

function traits(
  status: EvseConnectorState,
  chargingState: EvseChargingState,
  more: Partial<PhaseTraits> = {},
): PhaseTraits {
  return {
    session: false,
    authorised: false,
    contactorClosed: false,
    powered: false,
    evHolds: false,
    evseHolds: false,
    status,
    chargingState,
    ...more,
  };
}

const started = { session: true, authorised: true } as const;
const powered = { ...started, powered: true } as const;

/** Traits of each phase alone, regardless of fault, availability and reservation. */
export const phaseTraits: Readonly<Record<EvsePhase, PhaseTraits>> = {
  free: traits('available', 'idle'),
  authorised: traits('preparing', 'idle', { authorised: true }),
  connected: traits('preparing', 'ev_connected'),
  starting: traits('preparing', 'ev_connected', started),
  energised: traits('charging', 'charging', { ...powered, contactorClosed: true }),
  suspended_ev: traits('suspended_ev', 'suspended_ev', { ...powered, contactorClosed: true, evHolds: true }),
  suspended_evse: traits('suspended_evse', 'suspended_evse', { ...powered, evseHolds: true }),
  suspended_both: traits('suspended_evse', 'suspended_evse', { ...powered, evHolds: true, evseHolds: true }),
  detached: traits('suspended_ev', 'idle', started),
  resuming: traits('suspended_ev', 'ev_connected', started),
  finishing: traits('finishing', 'ev_connected'),
};

/** State of a connector besides its phase. */
export interface ConnectorFlags {
  readonly faulted: boolean;
  readonly operative: boolean;
  readonly reserved: boolean;
  /** a vehicle is plugged in, or a loose cable at the station */
  readonly cableIn: boolean;
  /** true: the loose cable is left over from an ended session; absent: no */
  readonly afterSession?: boolean;
}

/** State of a connector; taken out of operation, a connector finishes its session first. */
export function connectorState(phase: EvsePhase, flags: ConnectorFlags): EvseConnectorState {
  if (flags.faulted) return 'faulted';
  if (!flags.operative && !phaseTraits[phase].session) return 'unavailable';
  if (phase !== 'free') return phaseTraits[phase].status;
  if (flags.cableIn) return flags.afterSession === true ? 'finishing' : 'preparing';
  return flags.reserved ? 'reserved' : 'available';
}

/**
 * A cable occupies a connector, an authorisation alone does not. A reservation stays until its token uses it, whatever
 * is plugged in.
 */
export function occupancyOf(phase: EvsePhase, flags: ConnectorFlags): EvseOccupancy {
  const status = connectorState(phase, flags);
  switch (status) {
    case 'available':
    case 'reserved':
    case 'unavailable':
    case 'faulted':
      return status;
    default:
      if (flags.reserved && !phaseTraits[phase].session) return 'reserved';
      return phase === 'authorised' && !flags.cableIn ? 'available' : 'occupied';
  }
}
