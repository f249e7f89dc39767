/** Reservations as values: what a connector answers, which token holds one, where one for connector 0 has to be kept. */
import type { EvseConnectorDetail, Ocpp16Status } from '../../../contract/kinds/evse.ts';
import { sameGroup, sameTag } from '../auth/token.ts';
import type { Replies } from '../messages.ts';

export interface Reservation {
  readonly reservationId: number;
  /** 0: any connector of the station */
  readonly connectorId: number;
  readonly idTag: string;
  readonly parentIdTag: string | null;
  readonly expiresMs: number;
}

export type ReserveStatus = Replies['ReserveNow']['status'];

/** Whether a token may use a reservation: it is that of the reservation, or of its group. */
export function holds(reservation: Reservation, idTag: string, parentIdTag: string | null): boolean {
  return sameTag(reservation.idTag, idTag) || sameGroup(reservation.parentIdTag, parentIdTag);
}

/** Answers of ReserveNow by the status of the connector (5.13). */
export const reserveAnswers: Readonly<Record<Ocpp16Status, ReserveStatus>> = {
  available: 'Accepted',
  preparing: 'Occupied',
  charging: 'Occupied',
  suspended_ev: 'Occupied',
  suspended_evse: 'Occupied',
  finishing: 'Occupied',
  reserved: 'Occupied',
  unavailable: 'Unavailable',
  faulted: 'Faulted',
};

type Connector = Pick<EvseConnectorDetail, 'connectorId' | 'status' | 'reservation'>;

/** The reservation that is replaced does not stand in the way of the new one. */
export function connectorAnswer({ status, reservation }: Connector, reservationId: number): ReserveStatus {
  if (status === 'reserved' && reservation?.reservationId === reservationId) return 'Accepted';
  return reserveAnswers[status];
}

/** @param waiting reservations for connector 0, without the one to be made, that hold no connector yet */
export function stationAnswer(connectors: readonly Connector[], reservationId: number, waiting: number): ReserveStatus {
  const answers = connectors.map((connector) => connectorAnswer(connector, reservationId));
  if (answers.filter((answer) => answer === 'Accepted').length > waiting) return 'Accepted';
  if (answers.every((answer) => answer === 'Faulted')) return 'Faulted';
  return answers.every((answer) => answer === 'Unavailable' || answer === 'Faulted') ? 'Unavailable' : 'Occupied';
}

/** Free connectors that have to be reserved now, so that each waiting reservation for connector 0 keeps one. */
export function keptConnectors(connectors: readonly Connector[], waiting: number): readonly number[] {
  const free = connectors.filter(({ status, reservation }) => status === 'available' && reservation === null);
  if (waiting === 0 || free.length > waiting) return [];
  return free.slice(-waiting).map(({ connectorId }) => connectorId);
}
