/** Connector states of OCPP 1.6 (4.9): the moves that the standard allows, and how others are reported. */
import type { EvseConnectorState } from '../../contract/kinds/evse.ts';
import type { Requests } from './messages.ts';

export type ConnectorStatus = Requests['StatusNotification']['status'];
export type ErrorCode = Requests['StatusNotification']['errorCode'];

/** Words of 1.6 for the states of the device. */
export const statusWords: Readonly<Record<EvseConnectorState, ConnectorStatus>> = {
  available: 'Available',
  preparing: 'Preparing',
  charging: 'Charging',
  suspended_ev: 'SuspendedEV',
  suspended_evse: 'SuspendedEVSE',
  finishing: 'Finishing',
  reserved: 'Reserved',
  unavailable: 'Unavailable',
  faulted: 'Faulted',
};

/** By state: the states that may follow it, as the table of 4.9 names them (A2 ... I8). */
export const allowedMoves: Readonly<Record<ConnectorStatus, readonly ConnectorStatus[]>> = {
  Available: ['Preparing', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Reserved', 'Unavailable', 'Faulted'],
  Preparing: ['Available', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Finishing', 'Faulted'],
  Charging: ['Available', 'SuspendedEV', 'SuspendedEVSE', 'Finishing', 'Unavailable', 'Faulted'],
  SuspendedEV: ['Available', 'Charging', 'SuspendedEVSE', 'Finishing', 'Unavailable', 'Faulted'],
  SuspendedEVSE: ['Available', 'Charging', 'SuspendedEV', 'Finishing', 'Unavailable', 'Faulted'],
  Finishing: ['Available', 'Preparing', 'Unavailable', 'Faulted'],
  Reserved: ['Available', 'Preparing', 'Unavailable', 'Faulted'],
  Unavailable: ['Available', 'Preparing', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Faulted'],
  Faulted: [
    'Available',
    'Preparing',
    'Charging',
    'SuspendedEV',
    'SuspendedEVSE',
    'Finishing',
    'Reserved',
    'Unavailable',
  ],
};

/** States over which a move goes that the table does not have; the first that fits. */
const between: readonly ConnectorStatus[] = ['Available', 'Preparing'];

/**
 * The state to be reported before `to`, so that both moves are in the table; null: the move is allowed as it is. A cable
 * that stays in at a connector taken out of operation is one such move: Preparing, Available, Unavailable.
 */
export function intermediate(from: ConnectorStatus, to: ConnectorStatus): ConnectorStatus | null {
  if (from === to || allowedMoves[from].includes(to)) return null;
  return between.find((via) => allowedMoves[from].includes(via) && allowedMoves[via].includes(to)) ?? null;
}
