/** Reservations as values: what a connector answers, and where one that names no connector has to be kept. */
import type { EvseConnectorDetail, EvseConnectorState } from '../../contract/kinds/evse.ts';

/** Answers of ReserveNow that 1.6 and 2.x have in common. */
export type ReserveAnswer = 'Accepted' | 'Occupied' | 'Unavailable' | 'Faulted';

/** By the status of the connector. */
export const reserveAnswers: Readonly<Record<EvseConnectorState, ReserveAnswer>> = {
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

export type Connector = Pick<EvseConnectorDetail, 'connectorId' | 'status' | 'reservation'>;

/** A reservation that names no connector, as far as it matters which connectors may serve it. */
export interface Wish {
  readonly reservationId: number;
  readonly connectorType?: string;
}

/** Whether a connector may serve a reservation that names none. */
export type Fits = (wish: Wish, connectorId: number) => boolean;

/** The reservation that is replaced does not stand in the way of the new one. */
export function connectorAnswer({ status, reservation }: Connector, reservationId: number): ReserveAnswer {
  if (status === 'reserved' && reservation?.reservationId === reservationId) return 'Accepted';
  return reserveAnswers[status];
}

/**
 * As many wishes as can have a connector of their own, the first ones first (augmenting paths).
 * @returns wishes by connector
 */
export function assign(wishes: readonly Wish[], connectorIds: readonly number[], fits: Fits): Map<number, Wish> {
  const taken = new Map<number, Wish>();
  const place = (wish: Wish, seen: Set<number>): boolean => {
    for (const connectorId of connectorIds) {
      if (seen.has(connectorId) || !fits(wish, connectorId)) continue;
      seen.add(connectorId);
      const other = taken.get(connectorId);
      if (other !== undefined && !place(other, seen)) continue;
      taken.set(connectorId, wish);
      return true;
    }
    return false;
  };
  for (const wish of wishes) place(wish, new Set());
  return taken;
}

/** @param waiting wishes beside the one to be made that hold no connector yet */
export function stationAnswer(
  connectors: readonly Connector[],
  wish: Wish,
  waiting: readonly Wish[],
  fits: Fits,
): ReserveAnswer {
  const answers = connectors
    .filter(({ connectorId }) => fits(wish, connectorId))
    .map((connector) => connectorAnswer(connector, wish.reservationId));
  const able = connectors.filter((connector) => connectorAnswer(connector, wish.reservationId) === 'Accepted');
  const ids = able.map(({ connectorId }) => connectorId);
  if (assign([...waiting, wish], ids, fits).size > waiting.length) return 'Accepted';
  if (answers.every((answer) => answer === 'Faulted')) return 'Faulted';
  return answers.every((answer) => answer === 'Unavailable' || answer === 'Faulted') ? 'Unavailable' : 'Occupied';
}

/** Connectors that a reservation could have now. */
export function freeConnectors(connectors: readonly Connector[]): readonly number[] {
  return connectors
    .filter(({ status, reservation }) => status === 'available' && reservation === null)
    .map(({ connectorId }) => connectorId);
}

/** Free connectors without which fewer of the waiting wishes could be met, each with the wish that it is kept for. */
export function keptConnectors(
  connectors: readonly Connector[],
  waiting: readonly Wish[],
  fits: Fits,
): ReadonlyMap<number, Wish> {
  const free = freeConnectors(connectors);
  const all = assign(waiting, free, fits);
  const isNeeded = (connectorId: number) => {
    const others = free.filter((id) => id !== connectorId);
    return assign(waiting, others, fits).size < all.size;
  };
  return new Map([...all].filter(([connectorId]) => isNeeded(connectorId)).sort(([a], [b]) => a - b));
}
