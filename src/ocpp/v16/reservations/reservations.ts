/**
 * ReserveNow and CancelReservation. OCPP 1.6 3.9, 5.1 and 5.13. The clock of the central system ends a reservation, so
 * the device gets it without an end of its own. One for connector 0 holds no connector while more are free than such
 * reservations wait; then the last free ones are reserved at the device, and one stays free for each of their tokens.
 */
import type { EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseSession } from '../../../contract/kinds/evse.ts';
import type { OcppReservationEntry } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import { sameTag } from '../auth/token.ts';
import { instantOf } from '../../station/instants.ts';
import type { Part, Replies, Requests, StationParts } from '../parts.ts';
import { createBook, releaseAt, reserveAt } from './book.ts';
import type { Book } from './book.ts';
import { connectorAnswer, holds, stationAnswer } from './rules.ts';
import type { Reservation } from './rules.ts';

export interface Reservations {
  /** Whether a reservation keeps this token from a connector. */
  blocks(connectorId: number, idTag: string, parentIdTag: string | null): boolean;
  /** Whether a token could use a connector if it were of this group: the group is worth asking for. */
  groupCounts(connectorId: number): boolean;
  /** Whether a reservation for this very connector is that of the token or of its group. */
  isFor(connectorId: number, idTag: string, parentIdTag: string | null): boolean;
  /**
   * Prepares a connector for the authorisation of a token that holds a reservation.
   * @returns takes it back, when the device refuses the authorisation
   */
  claim(connectorId: number, idTag: string, parentIdTag: string | null): () => void;
  /** A session has begun. @returns id of the reservation that it has used up; null: none */
  use(connectorId: number, session: EvseSession): number | null;
  entries(): readonly OcppReservationEntry[];
}

interface Work {
  readonly parts: StationParts;
  readonly book: Book;
}

function reserveNow({ parts, book }: Work, request: Requests['ReserveNow']): Replies['ReserveNow'] {
  const { connectorId, reservationId, idTag, expiryDate, parentIdTag = null } = request;
  const { device, clock, keys } = parts;
  const expiresMs = instantOf(expiryDate);
  if (!(expiresMs > clock.nowMs())) {
    parts.finding('OCPP 1.6 5.13', 'expiryDate is no time to come', 'ReserveNow');
    return { status: 'Rejected' };
  }
  const connector = device.detail.connectors.find((c) => c.connectorId === connectorId);
  const zero = connectorId === 0 && keys.boolean('ReserveConnectorZeroSupported');
  if (connector === undefined && !zero) return { status: 'Rejected' };
  const status =
    connector === undefined
      ? stationAnswer(device.detail.connectors, reservationId, book.waiting(reservationId).length)
      : connectorAnswer(connector, reservationId);
  if (status !== 'Accepted') return { status };
  const kept = connector !== undefined && !leavesOne({ parts, book }, connectorId, reservationId);
  if (kept) return { status: 'Occupied' };
  try {
    book.add({ reservationId, connectorId, idTag, parentIdTag, expiresMs });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return { status: 'Rejected' };
  }
  return { status: 'Accepted' };
}

/** Whether a free connector is left for each waiting reservation for connector 0 when this one is taken. */
function leavesOne({ parts, book }: Work, connectorId: number, except?: number): boolean {
  const others = parts.device.detail.connectors.filter(
    (c) => c.connectorId !== connectorId && c.status === 'available' && c.reservation === null,
  );
  return others.length >= book.waiting(except).length;
}

/** The reservation that a token would use at a connector: the connector's own before one for connector 0. */
function heldBy({ book }: Work, connectorId: number, idTag: string, parentIdTag: string | null): Reservation | null {
  const mine = book.list.filter((r) => holds(r, idTag, parentIdTag));
  return mine.find((r) => r.connectorId === connectorId) ?? mine.find((r) => r.connectorId === 0) ?? null;
}

function blocks(work: Work, connectorId: number, idTag: string, parentIdTag: string | null): boolean {
  const { parts, book } = work;
  const own = book.list.find((r) => r.connectorId === connectorId);
  if (own !== undefined) return !holds(own, idTag, parentIdTag);
  const { reservation } = parts.device.connector(connectorId);
  if (heldBy(work, connectorId, idTag, parentIdTag) !== null) {
    const there = reservation && book.get(reservation.reservationId);
    // another token's for connector 0 may stand here: that one needs the last free connector
    return reservation !== null && !(there && (there.connectorId === 0 || holds(there, idTag, parentIdTag)));
  }
  if (reservation !== null) return !sameTag(reservation.idToken, idTag);
  return !leavesOne(work, connectorId);
}

function claim(work: Work, connectorId: number, idTag: string, parentIdTag: string | null): () => void {
  const { parts, book } = work;
  const r = heldBy(work, connectorId, idTag, parentIdTag);
  if (r === null) return () => undefined;
  book.claimed.set(connectorId, r.reservationId);
  const place = book.placeOf(r);
  if (place !== null && place.connectorId !== connectorId) releaseAt(parts, place.connectorId);
  const here = parts.device.connector(connectorId);
  // the device compares tokens letter by letter, and knows no groups
  if (here.reservation !== null && here.reservation.idToken !== idTag) {
    if (here.status === 'reserved' && here.reservation.reservationId === r.reservationId)
      reserveAt(parts, connectorId, r, idTag);
    else releaseAt(parts, connectorId);
  }
  return () => {
    book.claimed.delete(connectorId);
    book.settle();
  };
}

function use({ book }: Work, connectorId: number, session: EvseSession): number | null {
  const id = session.reservationId ?? book.claimed.get(connectorId) ?? null;
  book.claimed.delete(connectorId);
  const known = id !== null && book.get(id) !== null;
  if (known) book.remove(id);
  book.settle();
  return known ? id : null;
}

function hear({ book }: Work, transition: EvseTransition): void {
  if ('connector' in transition) {
    const { event, reservation, by, connector, sessionChange } = transition;
    // `use` follows, or has been there
    if (sessionChange === 'started') return;
    if (event === 'withdraw') book.claimed.delete(transition.connectorId);
    // a person has ended it; one that ends because the connector goes out of operation comes back with it
    if (event === 'reserve_end' && reservation !== null && by.source !== 'ocpp' && connector.operative)
      book.remove(reservation.reservationId);
  } else if (transition.event === 'restart') book.claimed.clear();
  book.settle();
}

export function createReservations(parts: StationParts): Part & Reservations {
  const book = createBook(parts);
  const work: Work = { parts, book };
  let endListening: (() => void) | null = null;
  return {
    handlers: {
      ReserveNow: (request) => reserveNow(work, request),
      CancelReservation({ reservationId }) {
        if (book.get(reservationId) === null) return { status: 'Rejected' };
        book.remove(reservationId);
        book.settle();
        return { status: 'Accepted' };
      },
    },
    blocks: (connectorId, idTag, parentIdTag) => blocks(work, connectorId, idTag, parentIdTag),
    groupCounts: (connectorId) =>
      book.list.some((r) => (r.connectorId === connectorId || r.connectorId === 0) && r.parentIdTag !== null),
    isFor: (connectorId, idTag, parentIdTag) =>
      book.list.some((r) => r.connectorId === connectorId && holds(r, idTag, parentIdTag)),
    claim: (connectorId, idTag, parentIdTag) => claim(work, connectorId, idTag, parentIdTag),
    use: (connectorId, session) => use(work, connectorId, session),
    entries: () =>
      book.list.map(({ reservationId, connectorId, idTag, expiresMs }) => ({
        reservationId,
        connectorId,
        idToken: idTag,
        expiresMs,
      })),
    async load() {
      await book.load();
      endListening = parts.device.onTransition((transition) => {
        hear(work, transition);
      });
    },
    stop() {
      endListening?.();
      book.stop();
    },
  };
}
