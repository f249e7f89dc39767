/**
 * ReserveNow, CancelReservation and ReservationStatusUpdate. OCPP 2.0.1 H01 to H04. The clock of the central system ends
 * a reservation, so the device gets it without an end of its own. A token that is accepted uses up its reservation.
 */
import type { EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { OcppReservationEntry } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import { createAccess } from '../../reservations/access.ts';
import type { Access } from '../../reservations/access.ts';
import { createBook, releaseAt } from '../../reservations/book.ts';
import type { Book } from '../../reservations/book.ts';
import type { Bearer, Reservation } from '../../reservations/reservation.ts';
import type { Fits } from '../../reservations/rules.ts';
import type { Part, StationParts, Transactions } from '../parts.ts';
import { reserveNow } from './reserve-now.ts';
import { createNotices } from './notices.ts';
import type { Notices } from './notices.ts';

export interface Claim {
  /** the reservation that the token has used up; null: it had none */
  readonly reservationId: number | null;
  /** Brings it back: the device has refused the token. */
  undo(): void;
}

export interface Reservations extends Pick<Access, 'blocks' | 'groupCounts' | 'isFor'> {
  /** Uses up the reservation of a token that is accepted at an EVSE. */
  claim(evseId: number, bearer: Bearer): Claim;
  /** How long a reservation had lasted when a token used it up, s; null: unknown. */
  reservedS(reservationId: number): number | null;
  entries(): readonly OcppReservationEntry[];
}

export interface ReservationsDeps {
  readonly transactions: Pick<Transactions, 'at' | 'onStarted'>;
}

interface Work {
  readonly parts: StationParts;
  readonly deps: ReservationsDeps;
  readonly book: Book;
  readonly access: Access;
  readonly notices: Notices;
  /** reservations that tokens have used up, by EVSE, while no transaction has begun */
  readonly used: Map<number, number>;
  /** s, of those used up last */
  readonly lasted: Map<number, number>;
}

/** Whether the connector of an EVSE is of the type that a reservation asks for. */
export function connectorFits({ variables }: Pick<StationParts, 'variables'>): Fits {
  return ({ connectorType }, evseId) => {
    if (connectorType === undefined) return true;
    const place = { evseId, connectorId: 1 };
    if (!variables.has('Connector', 'ConnectorType', place)) return false;
    return variables.text('Connector', 'ConnectorType', place).toLowerCase() === connectorType.toLowerCase();
  };
}

/** ones whose duration is remembered */
const maxLasted = 100;

function noteUse({ parts, used, lasted }: Work, evseId: number, { reservationId, madeMs }: Reservation): void {
  used.set(evseId, reservationId);
  lasted.delete(reservationId);
  lasted.set(reservationId, Math.max(0, (parts.clock.nowMs() - madeMs) / 1000));
  const [oldest] = lasted.keys();
  if (lasted.size > maxLasted && oldest !== undefined) lasted.delete(oldest);
}

function claim(work: Work, evseId: number, bearer: Bearer): Claim {
  const { parts, book, access, used } = work;
  const r = access.heldBy(evseId, bearer);
  if (r !== null) {
    book.remove(r.reservationId);
    noteUse(work, evseId, r);
  }
  // one for any EVSE that the device keeps here finds another place when this one is taken
  const { reservation } = parts.device.connector(evseId);
  if (reservation !== null && book.get(reservation.reservationId) !== null) releaseAt(parts, evseId);
  return {
    reservationId: r?.reservationId ?? null,
    undo() {
      if (r === null) return;
      used.delete(evseId);
      restore(book, r);
    },
  };
}

function restore(book: Book, r: Reservation): void {
  try {
    book.add(r);
  } catch (error) {
    // the EVSE is not free for it any more
    if (!(error instanceof SimError)) throw error;
  }
}

function remove({ book, notices }: Work, reservationId: number): void {
  if (book.get(reservationId) === null) return;
  book.remove(reservationId);
  notices.tell(reservationId, 'Removed');
}

/** The reservation of an EVSE ends with its readiness (H01). */
function dropUnready(work: Work, evseId: number): void {
  const { parts, book } = work;
  const { status } = parts.device.connector(evseId);
  if (status !== 'faulted' && status !== 'unavailable') return;
  for (const r of book.list) if (r.connectorId === evseId) remove(work, r.reservationId);
}

/** The authorisation of a token that had used up a reservation has ended without a transaction. */
function noTransaction({ parts, used, notices }: Work, evseId: number): void {
  const reservationId = used.get(evseId);
  used.delete(evseId);
  if (reservationId !== undefined && parts.version === 'ocpp2.1') notices.tell(reservationId, 'NoTransaction');
}

function hear(work: Work, transition: EvseTransition): void {
  const { deps, book, used } = work;
  if ('connector' in transition) {
    const { event, reservation, by, connector, connectorId, sessionChange } = transition;
    // it began with the cable: its token has the reservation
    if (sessionChange === 'started' && deps.transactions.at(connectorId) !== null) used.delete(connectorId);
    if (event === 'withdraw' || sessionChange === 'ended') noTransaction(work, connectorId);
    if (event === 'fault' || event === 'availability') dropUnready(work, connectorId);
    // a person has ended it at the device
    if (event === 'reserve_end' && reservation !== null && by.source !== 'ocpp' && connector.operative)
      remove(work, reservation.reservationId);
  } else if (transition.event === 'restart') used.clear();
  book.settle();
}

function entryOf({ reservationId, connectorId, idToken, expiresMs }: Reservation): OcppReservationEntry {
  return { reservationId, connectorId, idToken, expiresMs };
}

export function createReservations(parts: StationParts, deps: ReservationsDeps): Part & Reservations {
  const { device, clock, log, store } = parts;
  const notices = createNotices(parts);
  const book = createBook({
    device,
    clock,
    log,
    store,
    fits: connectorFits(parts),
    expired: ({ reservationId }) => {
      notices.tell(reservationId, 'Expired');
    },
  });
  const access = createAccess(parts, book);
  const used = new Map<number, number>();
  const lasted = new Map<number, number>();
  const work: Work = { parts, deps, book, access, notices, used, lasted };
  const ends: (() => void)[] = [];
  return {
    handlers: {
      ReserveNow: (request) => reserveNow({ parts, book, access }, request),
      CancelReservation({ reservationId }) {
        if (book.get(reservationId) === null) return { status: 'Rejected', statusInfo: { reasonCode: 'NotFound' } };
        book.remove(reservationId);
        book.settle();
        return { status: 'Accepted' };
      },
    },
    blocks: access.blocks,
    groupCounts: access.groupCounts,
    isFor: access.isFor,
    claim: (evseId, bearer) => claim(work, evseId, bearer),
    reservedS: (reservationId) => lasted.get(reservationId) ?? null,
    entries: () => book.list.map(entryOf),
    async load() {
      notices.load();
      await book.load();
      ends.push(
        device.onTransition((transition) => {
          hear(work, transition);
        }),
        deps.transactions.onStarted(({ evseId, reservationId }) => {
          if (reservationId !== null) used.delete(evseId);
        }),
      );
    },
    stop() {
      for (const end of ends) end();
      notices.stop();
      book.stop();
    },
  };
}
