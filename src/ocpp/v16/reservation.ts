/**
 * ReserveNow and CancelReservation. OCPP 1.6 3.9, 5.1 and 5.13. The clock of the central system ends a reservation, so
 * the device gets it without an end of its own. One for connector 0 holds no connector while more are free than such
 * reservations wait; the last free ones are reserved at the device, one for each.
 */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { EvseSession } from '../../contract/kinds/evse.ts';
import type { OcppReservationEntry } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import {
  connectorAnswer,
  createAccess,
  createBook,
  expiryRule,
  releaseAt,
  reserveAt,
  stationAnswer,
} from '../reservations.ts';
import type { Access, Bearer, Book } from '../reservations.ts';
import { instantOf } from '../station/stack.ts';
import { tagKey } from './authorization/tokens.ts';
import type { Part, Replies, Requests, StationParts } from './parts.ts';

export interface Reservations {
  /** True if a reservation excludes this token from a connector. */
  blocks(connectorId: number, idTag: string, parentIdTag: string | null): boolean;
  /** True if a group has a reservation that the connector may serve: the group of a token then matters. */
  groupCounts(connectorId: number): boolean;
  /** True if a reservation for this very connector is that of the token or of its group. */
  isFor(connectorId: number, idTag: string, parentIdTag: string | null): boolean;
  /**
   * Prepares a connector for the authorisation of a token that holds a reservation.
   * @returns function that takes it back, if the device refuses the authorisation
   */
  claim(connectorId: number, idTag: string, parentIdTag: string | null): () => void;
  /** A session has begun. @returns id of the reservation that it has used up; null: none */
  use(connectorId: number, session: EvseSession): number | null;
  entries(): readonly OcppReservationEntry[];
}

interface ReservationState {
  readonly parts: StationParts;
  readonly book: Book;
  readonly access: Access;
}

function bearerOf(idTag: string, parentIdTag: string | null): Bearer {
  return { idToken: idTag, tokenKey: tagKey(idTag), groupKey: parentIdTag && tagKey(parentIdTag) };
}

function reserveNow({ parts, book, access }: ReservationState, request: Requests['ReserveNow']): Replies['ReserveNow'] {
  const { connectorId, reservationId, idTag, expiryDate, parentIdTag = null } = request;
  const { device, clock, keys } = parts;
  const expiresMs = instantOf(expiryDate);
  if (!(expiresMs > clock.nowMs())) {
    parts.finding(
      'OCPP 1.6 5.13',
      'expiryDate is no time to come',
      'ReserveNow',
      expiryRule(clock.nowMs() - expiresMs),
    );
    return { status: 'Rejected' };
  }
  const connector = device.detail.connectors.find((c) => c.connectorId === connectorId);
  const zero = connectorId === 0 && keys.boolean('ReserveConnectorZeroSupported');
  if (connector === undefined && !zero) return { status: 'Rejected' };
  const status =
    connector === undefined
      ? stationAnswer(device.detail.connectors, { reservationId }, book.waiting(reservationId), book.fits)
      : connectorAnswer(connector, reservationId);
  if (status !== 'Accepted') return { status };
  if (connector !== undefined && !access.leavesOne(connectorId, reservationId)) return { status: 'Occupied' };
  try {
    book.add({ reservationId, connectorId, ...bearerOf(idTag, parentIdTag), madeMs: clock.nowMs(), expiresMs });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return { status: 'Rejected' };
  }
  return { status: 'Accepted' };
}

function claim({ parts, book, access }: ReservationState, connectorId: number, bearer: Bearer): () => void {
  const { idToken } = bearer;
  const r = access.heldBy(connectorId, bearer);
  if (r === null) return () => undefined;
  book.claimed.set(connectorId, r.reservationId);
  const place = book.placeOf(r);
  if (place !== null && place.connectorId !== connectorId) releaseAt(parts, place.connectorId);
  const here = parts.device.connector(connectorId);
  // the device compares tokens letter by letter, and knows no groups
  if (here.reservation !== null && here.reservation.idToken !== idToken) {
    if (here.status === 'reserved' && here.reservation.reservationId === r.reservationId)
      reserveAt(parts, connectorId, r, idToken);
    else releaseAt(parts, connectorId);
  }
  return () => {
    book.claimed.delete(connectorId);
    book.settle();
  };
}

function use({ book }: ReservationState, connectorId: number, session: EvseSession): number | null {
  const id = session.reservationId ?? book.claimed.get(connectorId) ?? null;
  book.claimed.delete(connectorId);
  const isInBook = id !== null && book.get(id) !== null;
  if (isInBook) book.remove(id);
  book.settle();
  return isInBook ? id : null;
}

function followDevice({ book }: ReservationState, transition: EvseTransition): void {
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
  const access = createAccess(parts, book);
  const state: ReservationState = { parts, book, access };
  let endListening: (() => void) | null = null;
  return {
    handlers: {
      ReserveNow: (request) => reserveNow(state, request),
      CancelReservation: ({ reservationId }) => ({ status: book.cancel(reservationId) ? 'Accepted' : 'Rejected' }),
    },
    blocks: (connectorId, idTag, parentIdTag) => access.blocks(connectorId, bearerOf(idTag, parentIdTag)),
    groupCounts: (connectorId) => access.groupCounts(connectorId),
    isFor: (connectorId, idTag, parentIdTag) => access.isFor(connectorId, bearerOf(idTag, parentIdTag)),
    claim: (connectorId, idTag, parentIdTag) => claim(state, connectorId, bearerOf(idTag, parentIdTag)),
    use: (connectorId, session) => use(state, connectorId, session),
    entries: () => book.entries,
    async load() {
      await book.load();
      endListening = parts.device.onTransition((transition) => {
        followDevice(state, transition);
      });
    },
    stop() {
      endListening?.();
      book.stop();
    },
    release: book.release,
  };
}
