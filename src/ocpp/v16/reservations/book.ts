/** The reservations of a station and where the device keeps them. */
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { errorText } from '../../../core/errors.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { StationParts } from '../parts.ts';
import { createSaver } from '../../station/saver.ts';
import { keptConnectors } from './rules.ts';
import type { Reservation } from './rules.ts';

export interface Book {
  readonly list: readonly Reservation[];
  /** connectors where a token that holds a reservation was accepted, with its id; no session has begun yet */
  readonly claimed: Map<number, number>;
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
  readonly parts: StationParts;
  readonly made: Map<number, Reservation>;
  readonly ends: Map<number, () => void>;
  readonly claimed: Map<number, number>;
}

/** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL */
export function reserveAt({ device }: StationParts, connectorId: number, r: Reservation, idTag = r.idTag): void {
  const reservation = { reservationId: r.reservationId, idToken: idTag, expiresInS: null };
  device.command({ kind: 'evse.reserve', connectorId, reservation });
}

function attempt({ log, device }: StationParts, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`a reservation could not be changed: ${errorText(error)}`, device.deviceIndex);
  }
}

export function releaseAt(parts: StationParts, connectorId: number): void {
  attempt(parts, () => {
    parts.device.command({ kind: 'evse.reserve', connectorId, reservation: null });
  });
}

function placeOf({ parts }: State, { reservationId }: Reservation): EvseConnectorDetail | null {
  const { connectors } = parts.device.detail;
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
function settleOwn({ parts, claimed }: State, r: Reservation): void {
  if (claimed.has(r.connectorId)) return;
  const { status, reservation } = parts.device.connector(r.connectorId);
  const missing = status === 'available' && reservation === null;
  const changed =
    status === 'reserved' && reservation?.reservationId === r.reservationId && reservation.idToken !== r.idTag;
  if (missing || changed)
    attempt(parts, () => {
      reserveAt(parts, r.connectorId, r);
    });
}

function settle(state: State): void {
  const { parts, made } = state;
  for (const r of made.values()) if (r.connectorId > 0) settleOwn(state, r);
  const left = waiting(state);
  const kept = keptConnectors(parts.device.detail.connectors, left.length);
  kept.forEach((connectorId, i) => {
    const r = left[i];
    if (r !== undefined)
      attempt(parts, () => {
        reserveAt(parts, connectorId, r);
      });
  });
}

/** Noted before the device tells of it, so that `settle` puts nothing back. @throws as `reserveAt`; then as before */
function enter({ parts, made }: State, r: Reservation): void {
  const old = made.get(r.reservationId);
  made.set(r.reservationId, r);
  try {
    if (r.connectorId > 0) reserveAt(parts, r.connectorId, r);
  } catch (error) {
    if (old === undefined) made.delete(r.reservationId);
    else made.set(r.reservationId, old);
    throw error;
  }
}

export function createBook(parts: StationParts): Book {
  const state: State = { parts, made: new Map(), ends: new Map(), claimed: new Map() };
  const { made, ends, claimed } = state;
  const slot = parts.store('reservations');
  const saver = createSaver(slot, () => [...made.values()] as unknown as readonly JsonValue[], parts.log);
  const remove = (reservationId: number) => {
    const r = made.get(reservationId);
    if (r === undefined) return;
    made.delete(reservationId);
    ends.get(reservationId)?.();
    ends.delete(reservationId);
    saver.save();
    const place = placeOf(state, r);
    if (place !== null) releaseAt(parts, place.connectorId);
  };
  const keep = (r: Reservation) => {
    made.set(r.reservationId, r);
    ends.get(r.reservationId)?.();
    const end = parts.clock.at(r.expiresMs, () => {
      parts.log.info(`reservation ${r.reservationId} has expired`, parts.device.deviceIndex);
      remove(r.reservationId);
      settle(state);
    });
    ends.set(r.reservationId, end);
  };
  return {
    get list() {
      return [...made.values()];
    },
    claimed,
    get: (reservationId) => made.get(reservationId) ?? null,
    placeOf: (r) => placeOf(state, r),
    waiting: (except) => waiting(state, except),
    add(r) {
      const old = made.get(r.reservationId);
      const place = old === undefined ? null : placeOf(state, old);
      enter(state, r);
      keep(r);
      saver.save();
      if (place !== null && place.connectorId !== r.connectorId) releaseAt(parts, place.connectorId);
      settle(state);
    },
    remove,
    settle: () => settle(state),
    async load() {
      const stored = (await slot.read()) as unknown as readonly Reservation[];
      for (const r of stored) if (r.expiresMs > parts.clock.nowMs()) keep(r);
      settle(state);
    },
    stop() {
      for (const end of ends.values()) end();
      ends.clear();
    },
  };
}
