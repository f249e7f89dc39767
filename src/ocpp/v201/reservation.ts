/**
 * ReserveNow, CancelReservation and ReservationStatusUpdate. OCPP 2.0.1 H01 to H04. The clock of the central system ends
 * a reservation, so the device gets it without an end of its own. A token that is accepted uses up its reservation.
 */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { OcppReservationEntry } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { formOf, readEach } from '../../core/slot-values.ts';
import { connectorAnswer, createAccess, createBook, expiryRule, releaseAt, stationAnswer } from '../reservations.ts';
import type { Access, Bearer, Book, Fits, Reservation } from '../reservations.ts';
import { createOutbox } from '../files/outbox.ts';
import { createSaver, instantOf } from '../station/stack.ts';
import { bearerOf, tokenFault } from './authorization/tokens.ts';
import type { ReservationUpdateStatusEnum } from './messages.ts';
import type { Part, Replies, Requests, StationParts, Transactions } from './parts.ts';
import { clauseOf } from './provisioning/registration.ts';
import { requestOf } from './stored.ts';

// ReservationStatusUpdate: sent at once, or when the station is accepted again. OCPP 2.0.1 H01 and H04.

interface Notices {
  notify(reservationId: number, status: ReservationUpdateStatusEnum): void;
  load(): Promise<void>;
  stop(): void;
}

/** maximum of updates that are kept for later */
const maxUnsentUpdates = 100;

function createNotices(parts: StationParts): Notices {
  const { calls, log, store, version } = parts;
  const slot = store('reservation-updates');
  const saver = createSaver(slot, () => outbox.waiting.map((update) => ({ ...update })), log);
  const outbox = createOutbox<Requests['ReservationStatusUpdate']>({
    parts,
    send: (update) => calls.send('ReservationStatusUpdate', update),
    capacity: maxUnsentUpdates,
    repeatMs: null,
    changed: () => {
      saver.save();
    },
  });
  return {
    notify: (reservationId, reservationUpdateStatus) => {
      outbox.push({ reservationId, reservationUpdateStatus });
    },
    async load() {
      const form = formOf<Requests['ReservationStatusUpdate']>(requestOf(version, 'ReservationStatusUpdate'));
      outbox.restore(await readEach(slot, form, log));
    },
    stop() {
      outbox.stop();
    },
  };
}

interface Claim {
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

interface ReservationsDeps {
  readonly transactions: Pick<Transactions, 'at' | 'onStarted'>;
}

interface ReservationState {
  readonly parts: StationParts;
  readonly deps: ReservationsDeps;
  readonly book: Book;
  readonly access: Access;
  readonly notices: Notices;
  /** reservations that tokens have used up, by EVSE, while no transaction has begun */
  readonly used: Map<number, number>;
  /** duration of the reservations used up last, s, by id */
  readonly lasted: Map<number, number>;
}

/** True if the connector of an EVSE is of the type that a reservation asks for. */
function connectorFits({ variables }: Pick<StationParts, 'variables'>): Fits {
  return ({ connectorType }, evseId) => {
    if (connectorType === undefined) return true;
    const place = { evseId, connectorId: 1 };
    if (!variables.has('Connector', 'ConnectorType', place)) return false;
    return variables.text('Connector', 'ConnectorType', place).toLowerCase() === connectorType.toLowerCase();
  };
}

/** maximum of reservations whose duration is remembered */
const maxLasted = 100;

function noteUse(
  { parts, used, lasted }: ReservationState,
  evseId: number,
  { reservationId, madeMs }: Reservation,
): void {
  used.set(evseId, reservationId);
  lasted.delete(reservationId);
  lasted.set(reservationId, Math.max(0, (parts.clock.nowMs() - madeMs) / 1000));
  const [oldest] = lasted.keys();
  if (lasted.size > maxLasted && oldest !== undefined) lasted.delete(oldest);
}

function claim(state: ReservationState, evseId: number, bearer: Bearer): Claim {
  const { parts, book, access, used } = state;
  const r = access.heldBy(evseId, bearer);
  if (r !== null) {
    book.remove(r.reservationId);
    noteUse(state, evseId, r);
  }
  // a reservation for any EVSE that the device keeps at this one needs another place
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

function remove({ book, notices }: ReservationState, reservationId: number): void {
  if (book.get(reservationId) === null) return;
  book.remove(reservationId);
  notices.notify(reservationId, 'Removed');
}

/** Removes the reservation of an EVSE that is faulted or unavailable (H01). */
function dropUnready(state: ReservationState, evseId: number): void {
  const { parts, book } = state;
  const { status } = parts.device.connector(evseId);
  if (status !== 'faulted' && status !== 'unavailable') return;
  for (const r of book.list) if (r.connectorId === evseId) remove(state, r.reservationId);
}

/** The authorisation of a token that had used up a reservation has ended without a transaction. */
function notifyNoTransaction({ parts, used, notices }: ReservationState, evseId: number): void {
  const reservationId = used.get(evseId);
  used.delete(evseId);
  if (reservationId !== undefined && parts.version === 'ocpp2.1') notices.notify(reservationId, 'NoTransaction');
}

function followDevice(state: ReservationState, transition: EvseTransition): void {
  const { deps, book, used } = state;
  if ('connector' in transition) {
    const { event, reservation, by, connector, connectorId, sessionChange } = transition;
    // a transaction that began with the cable goes on with the token that has used up the reservation
    if (sessionChange === 'started' && deps.transactions.at(connectorId) !== null) used.delete(connectorId);
    if (event === 'withdraw' || sessionChange === 'ended') notifyNoTransaction(state, connectorId);
    if (event === 'fault' || event === 'availability') dropUnready(state, connectorId);
    // a person has ended it at the device
    if (event === 'reserve_end' && reservation !== null && by.source !== 'ocpp' && connector.operative)
      remove(state, reservation.reservationId);
  } else if (transition.event === 'restart') used.clear();
  book.settle();
}

export function createReservations(parts: StationParts, deps: ReservationsDeps): Part & Reservations {
  const { device, clock, log, store, releases } = parts;
  const notices = createNotices(parts);
  const book = createBook({
    device,
    clock,
    log,
    store,
    releases,
    fits: connectorFits(parts),
    expired: ({ reservationId }) => {
      notices.notify(reservationId, 'Expired');
    },
  });
  const access = createAccess(parts, book);
  const used = new Map<number, number>();
  const lasted = new Map<number, number>();
  const state: ReservationState = { parts, deps, book, access, notices, used, lasted };
  const ends: (() => void)[] = [];
  return {
    handlers: {
      ReserveNow: (request) => reserveNow(state, request),
      CancelReservation({ reservationId }) {
        const isThere = book.entries.some((each) => each.reservationId === reservationId);
        if (!isThere) return { status: 'Rejected', statusInfo: { reasonCode: 'NotFound' } };
        return book.cancel(reservationId)
          ? { status: 'Accepted' }
          : { status: 'Rejected', statusInfo: { reasonCode: 'InternalError' } };
      },
    },
    blocks: access.blocks,
    groupCounts: access.groupCounts,
    isFor: access.isFor,
    claim: (evseId, bearer) => claim(state, evseId, bearer),
    reservedS: (reservationId) => lasted.get(reservationId) ?? null,
    entries: () => book.entries,
    async load() {
      await notices.load();
      await book.load();
      ends.push(
        device.onTransition((transition) => {
          followDevice(state, transition);
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
    release: book.release,
  };
}

// ReserveNow. OCPP 2.0.1 H01.

type Request = Requests['ReserveNow'];
type Reply = Replies['ReserveNow'];

function rejected(reasonCode: string, additionalInfo?: string): Reply {
  return { status: 'Rejected', statusInfo: { reasonCode, ...(additionalInfo !== undefined && { additionalInfo }) } };
}

/** Why no EVSE of the station can ever serve the request; null: one can. */
function misplaced({ parts, book }: ReservationState, request: Request): Reply | null {
  const { evseId, connectorType, id } = request;
  const { connectorIds } = parts.device;
  if (evseId === undefined && !parts.variables.boolean('ReservationCtrlr', 'NonEvseSpecific'))
    return rejected('UnsupportedRequest', 'evseId is needed: NonEvseSpecific is false');
  if (evseId !== undefined && !connectorIds.includes(evseId)) return rejected('UnknownEvse');
  if (connectorType === undefined) return null;
  const places = evseId === undefined ? connectorIds : [evseId];
  const wish = { reservationId: id, connectorType };
  return places.some((place) => book.fits(wish, place)) ? null : rejected('UnknownConnectorType');
}

function check(state: ReservationState, request: Request): Reply | null {
  const { parts } = state;
  if (!parts.variables.boolean('ReservationCtrlr', 'Enabled')) return rejected('NotEnabled');
  const fault = tokenFault(request.idToken) ?? (request.groupIdToken ? tokenFault(request.groupIdToken) : null);
  if (fault !== null) return rejected(fault);
  const pastMs = parts.clock.nowMs() - instantOf(request.expiryDateTime);
  if (!(pastMs < 0)) {
    const clause = clauseOf(parts.version, 'H01');
    parts.finding(clause, 'expiryDateTime is no time to come', 'ReserveNow', expiryRule(pastMs));
    return rejected('InvalidValue', 'expiryDateTime is no time to come');
  }
  return misplaced(state, request);
}

/** Answers by the state of the EVSE that is asked for, or of all that could serve. */
function stateAnswer(
  { parts, book, access }: ReservationState,
  { id, evseId, connectorType }: Request,
): Reply['status'] {
  const { connectors } = parts.device.detail;
  if (evseId === undefined) {
    const wish = { reservationId: id, ...(connectorType !== undefined && { connectorType }) };
    return stationAnswer(connectors, wish, book.waiting(id), book.fits);
  }
  const status = connectorAnswer(parts.device.connector(evseId), id);
  // a waiting reservation for any EVSE needs this EVSE, or another reservation has it
  const isNeeded =
    !access.leavesOne(evseId, id) || book.list.some((r) => r.connectorId === evseId && r.reservationId !== id);
  return status === 'Accepted' && isNeeded ? 'Occupied' : status;
}

function reserveNow(state: ReservationState, request: Request): Reply {
  const { id, evseId = 0, connectorType, idToken, groupIdToken = null, expiryDateTime } = request;
  const fault = check(state, request);
  if (fault !== null) return fault;
  const status = stateAnswer(state, request);
  if (status !== 'Accepted') return { status };
  try {
    state.book.add({
      reservationId: id,
      connectorId: evseId,
      ...(connectorType !== undefined && { connectorType }),
      ...bearerOf(idToken, groupIdToken),
      madeMs: state.parts.clock.nowMs(),
      expiresMs: instantOf(expiryDateTime),
    });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return rejected('InternalError', error.message.slice(0, 512));
  }
  return { status };
}
