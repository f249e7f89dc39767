/** The reservations of a station and where the device keeps them. */
import { z } from 'zod';
import type { EvseConnectorDetail, EvseConnectorState } from '../contract/kinds/evse.ts';
import type { OcppReservationEntry } from '../contract/ocpp.ts';
import { errorText } from '../core/errors.ts';
import { instant, place, readEach, recordOf } from '../core/slot-values.ts';
import type { JsonValue } from '../core/store.ts';
import { addSeconds, secondsBetween } from '../core/time/clock.ts';
import { createSaver } from './station/stack.ts';
import type { StackOptions } from './station/stack.ts';

/** A reservation as every version keeps it. */

export interface Reservation {
  readonly reservationId: number;
  /** 0: any connector of the station */
  readonly connectorId: number;
  /** of connectors that may serve it, in the words of its version; absent: all connectors may */
  readonly connectorType?: string;
  /** the text of its token, as the device gets it */
  readonly idToken: string;
  /** identifies that token */
  readonly tokenKey: string;
  /** identifies the group whose tokens may use it too; null: none */
  readonly groupKey: string | null;
  readonly madeMs: number;
  readonly expiresMs: number;
}

/** Time by which a request may be late on its way, ms. */
const onTheWayMs = 60_000;

/** The rule of the catalogue of findings that an expiry breaks. @param pastMs time since the expiry */
export const expiryRule = (pastMs: number): 'reservation' | null => (pastMs > onTheWayMs ? 'reservation' : null);

const reservationForm = recordOf<Reservation>({
  reservationId: z.int(),
  connectorId: place,
  connectorType: z.string().optional(),
  idToken: z.string(),
  tokenKey: z.string(),
  groupKey: z.string().nullable(),
  madeMs: instant,
  expiresMs: instant,
});

/** A token that is presented, by the keys of its version. */
export interface Bearer {
  readonly idToken: string;
  readonly tokenKey: string;
  /** null: none, or unknown */
  readonly groupKey: string | null;
}

/** True if a token may use a reservation: it is that of the reservation, or of its group. */
function holds({ tokenKey, groupKey }: Reservation, bearer: Omit<Bearer, 'idToken'>): boolean {
  return tokenKey === bearer.tokenKey || (groupKey !== null && groupKey === bearer.groupKey);
}

// Reservations as values: what a connector answers, and where one that names no connector has to be kept.

/** Answers of ReserveNow that 1.6 and 2.x have in common. */
type ReserveAnswer = 'Accepted' | 'Occupied' | 'Unavailable' | 'Faulted';

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

type Connector = Pick<EvseConnectorDetail, 'connectorId' | 'status' | 'reservation'>;

/** A reservation that names no connector, as far as it matters which connectors may serve it. */
export interface Wish {
  readonly reservationId: number;
  readonly connectorType?: string;
}

/** True if a connector may serve a reservation that names none. */
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
function freeConnectors(connectors: readonly Connector[]): readonly number[] {
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

interface BookDeps extends Pick<StackOptions, 'device' | 'clock' | 'log' | 'store' | 'releases'> {
  /** true: a connector may serve a reservation for any connector; default every one may */
  readonly fits?: Fits;
  /** the time of a reservation has passed; it is no longer in the book */
  readonly expired?: (reservation: Reservation) => void;
}

export interface Book {
  readonly list: readonly Reservation[];
  /** with those that a person has made at the device */
  readonly entries: readonly OcppReservationEntry[];
  /** connectors where a token that holds a reservation was accepted, with its id; no session has begun yet */
  readonly claimed: Map<number, number>;
  readonly fits: Fits;
  get(reservationId: number): Reservation | null;
  /** connector where the device holds it; null: nowhere */
  placeOf(reservation: Reservation): EvseConnectorDetail | null;
  /** for connector 0, without a connector, in order of creation */
  waiting(except?: number): readonly Reservation[];
  /** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL: nothing is changed then */
  add(reservation: Reservation): void;
  /** Ends it here and at the device; nothing happens when there is none. */
  remove(reservationId: number): void;
  /** Ends one for the central system, also one that a person has made at the device. @returns false: it is still there, or there is none */
  cancel(reservationId: number): boolean;
  /** Puts reservations at the device as they should stand there. */
  settle(): void;
  load(): Promise<void>;
  /** Ends its timers. */
  stop(): void;
  /** Takes its reservations from the device, as soon as that accepts it; they stay in the store. After `stop`. */
  readonly release: () => void;
}

interface State {
  readonly deps: BookDeps;
  readonly fits: Fits;
  readonly byId: Map<number, Reservation>;
  readonly ends: Map<number, () => void>;
  readonly claimed: Map<number, number>;
}

type DeviceParts = Pick<BookDeps, 'device' | 'log' | 'releases'>;

/** Key of the end of what a connector holds. */
const releaseKey = (connectorId: number): string => `reservation of connector ${connectorId}`;

/** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL */
export function reserveAt(
  { device, releases }: DeviceParts,
  connectorId: number,
  r: Reservation,
  idToken: string = r.idToken,
): void {
  const reservation = { reservationId: r.reservationId, idToken, expiresInS: null };
  device.command({ kind: 'evse.reserve', connectorId, reservation });
  releases.end(releaseKey(connectorId));
}

function attempt({ log, device }: DeviceParts, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`a reservation could not be changed: ${errorText(error)}`, device.deviceIndex);
  }
}

/** Ends the reservation that a connector holds now, as soon as the device accepts that. */
export function releaseAt({ device, releases }: DeviceParts, connectorId: number): void {
  const held = device.connector(connectorId).reservation;
  if (held === null) return;
  releases.insist(releaseKey(connectorId), `reservation ${held.reservationId} stays at the device`, () => {
    const { reservation } = device.connector(connectorId);
    // another one has taken its place
    if (reservation?.reservationId !== held.reservationId || reservation.idToken !== held.idToken) return;
    device.command({ kind: 'evse.reserve', connectorId, reservation: null });
  });
}

function placeOf({ deps }: State, { reservationId }: Pick<Reservation, 'reservationId'>): EvseConnectorDetail | null {
  const { connectors } = deps.device.detail;
  return connectors.find(({ reservation }) => reservation?.reservationId === reservationId) ?? null;
}

function entriesOf({ deps: { device, clock }, byId }: State): readonly OcppReservationEntry[] {
  const ofCentral = [...byId.values()].map(({ reservationId, connectorId, idToken, expiresMs }) => ({
    reservationId,
    connectorId,
    idToken,
    expiresMs,
  }));
  const endMs = (expiresAtS: number) =>
    clock.nowMs() + secondsBetween(device.now, addSeconds(device.startedAt, expiresAtS)) * 1000;
  const ofPerson = device.detail.connectors.flatMap(({ connectorId, reservation }) => {
    if (reservation === null || byId.has(reservation.reservationId)) return [];
    const { reservationId, idToken, expiresAtS } = reservation;
    return [{ reservationId, connectorId, idToken, expiresMs: expiresAtS === null ? null : endMs(expiresAtS) }];
  });
  return [...ofCentral, ...ofPerson];
}

/** Connectors that hold a reservation. */
function placesOf({ deps }: State, reservationId: number): readonly number[] {
  return deps.device.detail.connectors
    .filter(({ reservation }) => reservation?.reservationId === reservationId)
    .map(({ connectorId }) => connectorId);
}

/** Ends a reservation that a person has made, now or not at all. @returns false: there is none, or the device keeps it */
function endAtDevice(state: State, reservationId: number): boolean {
  const { deps } = state;
  const places = placesOf(state, reservationId);
  for (const connectorId of places)
    attempt(deps, () => {
      deps.device.command({ kind: 'evse.reserve', connectorId, reservation: null });
    });
  return places.length > 0 && placesOf(state, reservationId).length === 0;
}

function waiting(state: State, except?: number): readonly Reservation[] {
  const inUse = new Set(state.claimed.values());
  return [...state.byId.values()].filter(
    (r) =>
      r.connectorId === 0 && r.reservationId !== except && !inUse.has(r.reservationId) && placeOf(state, r) === null,
  );
}

/**
 * A connector that is free again gets the reservation made for it; a reservation with the token of a group member gets
 * its own token back.
 */
function settleOwn({ deps, claimed }: State, r: Reservation): void {
  if (claimed.has(r.connectorId)) return;
  const { status, reservation } = deps.device.connector(r.connectorId);
  const missing = status === 'available' && reservation === null;
  const changed =
    status === 'reserved' && reservation?.reservationId === r.reservationId && reservation.idToken !== r.idToken;
  if (missing || changed)
    attempt(deps, () => {
      reserveAt(deps, r.connectorId, r);
    });
}

function settle(state: State): void {
  const { deps, byId, fits } = state;
  for (const r of byId.values()) if (r.connectorId > 0) settleOwn(state, r);
  for (const [connectorId, { reservationId }] of keptConnectors(deps.device.detail.connectors, waiting(state), fits)) {
    const r = byId.get(reservationId);
    if (r !== undefined)
      attempt(deps, () => {
        reserveAt(deps, connectorId, r);
      });
  }
}

/**
 * A reservation that the device has not given up yet since the version was at work last stays there. That of another
 * version may have the same id, and ends.
 */
function keepHeld({ deps, byId }: State): void {
  for (const { connectorId, reservation } of deps.device.detail.connectors) {
    const r = reservation === null ? undefined : byId.get(reservation.reservationId);
    if (r === undefined || r.idToken !== reservation?.idToken) continue;
    if (r.connectorId === 0 || r.connectorId === connectorId) deps.releases.end(releaseKey(connectorId));
  }
}

/**
 * Enters a reservation in the book before the device has it: `settle`, at the transition of the device, would restore
 * the replaced one. @throws as `reserveAt`; the book is then as before
 */
function enter({ deps, byId }: State, r: Reservation): void {
  const replaced = byId.get(r.reservationId);
  byId.set(r.reservationId, r);
  try {
    if (r.connectorId > 0) reserveAt(deps, r.connectorId, r);
  } catch (error) {
    if (replaced === undefined) byId.delete(r.reservationId);
    else byId.set(r.reservationId, replaced);
    throw error;
  }
}

function keep(state: State, r: Reservation, remove: (reservationId: number) => void): void {
  const { deps, byId, ends } = state;
  byId.set(r.reservationId, r);
  ends.get(r.reservationId)?.();
  const end = deps.clock.at(r.expiresMs, () => {
    deps.log.info(`reservation ${r.reservationId} has expired`, deps.device.deviceIndex);
    remove(r.reservationId);
    settle(state);
    deps.expired?.(r);
  });
  ends.set(r.reservationId, end);
}

export function createBook(deps: BookDeps): Book {
  const state: State = {
    deps,
    fits: deps.fits ?? (() => true),
    byId: new Map(),
    ends: new Map(),
    claimed: new Map(),
  };
  const { byId, ends, claimed, fits } = state;
  const slot = deps.store('reservations');
  const saver = createSaver(slot, () => [...byId.values()] as unknown as readonly JsonValue[], deps.log);
  const remove = (reservationId: number) => {
    const r = byId.get(reservationId);
    if (r === undefined) return;
    byId.delete(reservationId);
    ends.get(reservationId)?.();
    ends.delete(reservationId);
    saver.save();
    const place = placeOf(state, r);
    if (place !== null) releaseAt(deps, place.connectorId);
  };
  return {
    get list() {
      return [...byId.values()];
    },
    get entries() {
      return entriesOf(state);
    },
    claimed,
    fits,
    get: (reservationId) => byId.get(reservationId) ?? null,
    placeOf: (r) => placeOf(state, r),
    waiting: (except) => waiting(state, except),
    add(r) {
      const place = placeOf(state, r);
      enter(state, r);
      keep(state, r, remove);
      saver.save();
      if (place !== null && place.connectorId !== r.connectorId) releaseAt(deps, place.connectorId);
      settle(state);
    },
    remove,
    cancel(reservationId) {
      const isInBook = byId.has(reservationId);
      if (isInBook) remove(reservationId);
      const isEnded = isInBook || endAtDevice(state, reservationId);
      if (isEnded) settle(state);
      return isEnded;
    },
    settle: () => {
      settle(state);
    },
    async load() {
      const stored = await readEach(slot, reservationForm, deps.log);
      const isOver = ({ expiresMs }: Reservation) => expiresMs <= deps.clock.nowMs();
      for (const r of stored) if (!isOver(r)) keep(state, r, remove);
      const expired = stored.filter(isOver);
      for (const r of expired) {
        for (const connectorId of placesOf(state, r.reservationId)) releaseAt(deps, connectorId);
        deps.expired?.(r);
      }
      if (expired.length > 0) saver.save();
      keepHeld(state);
      settle(state);
    },
    stop() {
      for (const end of ends.values()) end();
      ends.clear();
    },
    release() {
      for (const { reservationId } of byId.values())
        for (const connectorId of placesOf(state, reservationId)) releaseAt(deps, connectorId);
    },
  };
}

// Reservations exclude other tokens from a connector. A reservation without a connector holds none while more are free
// than such reservations wait; the last free ones are reserved at the device, one for each.

const sameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

export interface Access {
  /** True if a reservation keeps this token from a connector. */
  readonly blocks: (connectorId: number, bearer: Bearer) => boolean;
  /** True if a group has a reservation that the connector may serve: the group of a token then matters. */
  readonly groupCounts: (connectorId: number) => boolean;
  /** True if a reservation for this very connector is that of the token or of its group. */
  readonly isFor: (connectorId: number, bearer: Bearer) => boolean;
  /** The reservation that a token would use at a connector: the connector's own before one for any. */
  readonly heldBy: (connectorId: number, bearer: Bearer) => Reservation | null;
  /** True if a free connector is left for each waiting reservation when this one is taken. */
  readonly leavesOne: (connectorId: number, except?: number) => boolean;
}

export function createAccess({ device }: Pick<BookDeps, 'device'>, book: Book): Access {
  const serves = (r: Reservation, connectorId: number) =>
    r.connectorId === connectorId || (r.connectorId === 0 && book.fits(r, connectorId));
  const leavesOne = (connectorId: number, except?: number) => {
    const waiting = book.waiting(except);
    const others = freeConnectors(device.detail.connectors).filter((id) => id !== connectorId);
    return assign(waiting, others, book.fits).size >= waiting.length;
  };
  const heldBy = (connectorId: number, bearer: Bearer) => {
    const usable = book.list.filter((r) => holds(r, bearer) && serves(r, connectorId));
    return usable.find((r) => r.connectorId === connectorId) ?? usable[0] ?? null;
  };
  return {
    blocks(connectorId, bearer) {
      const reservationHere = book.list.find((r) => r.connectorId === connectorId);
      if (reservationHere !== undefined) return !holds(reservationHere, bearer);
      const { reservation } = device.connector(connectorId);
      const deviceReservation = reservation && book.get(reservation.reservationId);
      if (heldBy(connectorId, bearer) !== null)
        // another token's reservation for any connector does not block: it needs some free connector, not this one
        return (
          reservation !== null &&
          !(deviceReservation && (deviceReservation.connectorId === 0 || holds(deviceReservation, bearer)))
        );
      // one that a person has made at the device knows a text only
      if (reservation !== null) return deviceReservation !== null || !sameText(reservation.idToken, bearer.idToken);
      return !leavesOne(connectorId);
    },
    groupCounts: (connectorId) => book.list.some((r) => serves(r, connectorId) && r.groupKey !== null),
    isFor: (connectorId, bearer) => book.list.some((r) => r.connectorId === connectorId && holds(r, bearer)),
    heldBy,
    leavesOne,
  };
}
