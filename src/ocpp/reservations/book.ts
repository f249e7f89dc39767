/** The reservations of a station and where the device keeps them. */
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import { errorText } from '../../core/errors.ts';
import type { JsonValue } from '../../core/store.ts';
import { createSaver } from '../station/saver.ts';
import type { StackOptions } from '../station/stack.ts';
import type { Reservation } from './reservation.ts';
import { keptConnectors } from './rules.ts';
import type { Fits } from './rules.ts';

export interface BookDeps extends Pick<StackOptions, 'device' | 'clock' | 'log' | 'store'> {
  /** whether a connector may serve a reservation for any connector; default every one may */
  readonly fits?: Fits;
  /** the time of a reservation has passed; it is no longer in the book */
  readonly expired?: (reservation: Reservation) => void;
}

export interface Book {
  readonly list: readonly Reservation[];
  /** connectors where a token that holds a reservation was accepted, with its id; no session has begun yet */
  readonly claimed: Map<number, number>;
  readonly fits: Fits;
  get(reservationId: number): Reservation | null;
  /** connector where the device holds it; null: nowhere */
  placeOf(reservation: Reservation): EvseConnectorDetail | null;
  /** for connector 0, without a connector, in order of their making */
  waiting(except?: number): readonly Reservation[];
  /** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL: nothing is changed then */
  add(reservation: Reservation): void;
  /** Ends it here and at the device; nothing happens when there is none. */
  remove(reservationId: number): void;
  /** Puts reservations at the device as they should stand there. */
  settle(): void;
  load(): Promise<void>;
  /** Ends its timers. */
  stop(): void;
}

interface State {
  readonly deps: BookDeps;
  readonly fits: Fits;
  readonly made: Map<number, Reservation>;
  readonly ends: Map<number, () => void>;
  readonly claimed: Map<number, number>;
}

type DeviceLog = Pick<BookDeps, 'device' | 'log'>;

/** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL */
export function reserveAt(
  { device }: DeviceLog,
  connectorId: number,
  r: Reservation,
  idToken: string = r.idToken,
): void {
  const reservation = { reservationId: r.reservationId, idToken, expiresInS: null };
  device.command({ kind: 'evse.reserve', connectorId, reservation });
}

function attempt({ log, device }: DeviceLog, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`a reservation could not be changed: ${errorText(error)}`, device.deviceIndex);
  }
}

export function releaseAt(deps: DeviceLog, connectorId: number): void {
  attempt(deps, () => {
    deps.device.command({ kind: 'evse.reserve', connectorId, reservation: null });
  });
}

function placeOf({ deps }: State, { reservationId }: Reservation): EvseConnectorDetail | null {
  const { connectors } = deps.device.detail;
  return connectors.find(({ reservation }) => reservation?.reservationId === reservationId) ?? null;
}

function waiting(state: State, except?: number): readonly Reservation[] {
  const inUse = new Set(state.claimed.values());
  return [...state.made.values()].filter(
    (r) =>
      r.connectorId === 0 && r.reservationId !== except && !inUse.has(r.reservationId) && placeOf(state, r) === null,
  );
}

/** A connector that is free again gets the reservation made for it, and one in use by a group its own token back. */
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
  const { deps, made, fits } = state;
  for (const r of made.values()) if (r.connectorId > 0) settleOwn(state, r);
  for (const [connectorId, { reservationId }] of keptConnectors(deps.device.detail.connectors, waiting(state), fits)) {
    const r = made.get(reservationId);
    if (r !== undefined)
      attempt(deps, () => {
        reserveAt(deps, connectorId, r);
      });
  }
}

/** Noted before the device tells of it, so that `settle` puts nothing back. @throws as `reserveAt`; then as before */
function enter({ deps, made }: State, r: Reservation): void {
  const old = made.get(r.reservationId);
  made.set(r.reservationId, r);
  try {
    if (r.connectorId > 0) reserveAt(deps, r.connectorId, r);
  } catch (error) {
    if (old === undefined) made.delete(r.reservationId);
    else made.set(r.reservationId, old);
    throw error;
  }
}

function keep(state: State, r: Reservation, remove: (reservationId: number) => void): void {
  const { deps, made, ends } = state;
  made.set(r.reservationId, r);
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
    made: new Map(),
    ends: new Map(),
    claimed: new Map(),
  };
  const { made, ends, claimed, fits } = state;
  const slot = deps.store('reservations');
  const saver = createSaver(slot, () => [...made.values()] as unknown as readonly JsonValue[], deps.log);
  const remove = (reservationId: number) => {
    const r = made.get(reservationId);
    if (r === undefined) return;
    made.delete(reservationId);
    ends.get(reservationId)?.();
    ends.delete(reservationId);
    saver.save();
    const place = placeOf(state, r);
    if (place !== null) releaseAt(deps, place.connectorId);
  };
  return {
    get list() {
      return [...made.values()];
    },
    claimed,
    fits,
    get: (reservationId) => made.get(reservationId) ?? null,
    placeOf: (r) => placeOf(state, r),
    waiting: (except) => waiting(state, except),
    add(r) {
      const old = made.get(r.reservationId);
      const place = old === undefined ? null : placeOf(state, old);
      enter(state, r);
      keep(state, r, remove);
      saver.save();
      if (place !== null && place.connectorId !== r.connectorId) releaseAt(deps, place.connectorId);
      settle(state);
    },
    remove,
    settle: () => {
      settle(state);
    },
    async load() {
      const stored = (await slot.read()) as unknown as readonly Reservation[];
      for (const r of stored) {
        if (r.expiresMs > deps.clock.nowMs()) keep(state, r, remove);
        else deps.expired?.(r);
      }
      settle(state);
    },
    stop() {
      for (const end of ends.values()) end();
      ends.clear();
    },
  };
}
