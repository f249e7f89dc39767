/** Moves connectors through their phases: effects of entering and leaving a phase, timers, holds, listeners. */
import { SimError } from '../../../core/errors.ts';
import type { EvseParameters, EvseTransition } from '../../../contract/kinds/evse.ts';
import type { RandomStream } from '../../../core/random.ts';
import { statusOf } from './connector.ts';
import type { Connector } from './connector.ts';
import { phaseTable, phaseTraits } from './phases.ts';
import type { PhaseEvent } from './phases.ts';
import { isAtReserve, isFull } from './reach.ts';
import { openSession } from './sessions.ts';
import type { SessionLog } from './sessions.ts';

/** Token of a session that starts by plugging in alone. */
export const autoIdToken = 'AUTO';

export interface Station {
  readonly p: EvseParameters;
  readonly connectors: readonly Connector[];
  readonly random: RandomStream;
  readonly log: SessionLog;
  readonly listeners: Set<(transition: EvseTransition) => void>;
  /** simulated seconds since the source was created */
  nowS: number;
  /** charging profile of the whole station */
  profileLimitW: number;
  profileLimitA: number;
}

/** Applies a change to one connector and calls the listeners if its phase or status changed. */
export function change(station: Station, c: Connector, event: string, act: () => void): void {
  const fromPhase = c.phase;
  const fromStatus = statusOf(c);
  const before = c.session;
  act();
  const status = statusOf(c);
  if (c.phase === fromPhase && status === fromStatus) return;
  const transition = {
    atS: station.nowS,
    connectorId: c.p.connectorId,
    event,
    fromPhase,
    phase: c.phase,
    fromStatus,
    status,
    transactionId: (c.session ?? before)?.transactionId ?? null,
  };
  for (const listener of station.listeners) listener(transition);
}

/** @param reason stop reason of the session, if this event ends one */
export function fire(station: Station, c: Connector, event: PhaseEvent, reason = 'Local'): void {
  const next = phaseTable[c.phase][event];
  if (next === undefined) throw new SimError('INTERNAL', `connector ${c.p.connectorId}: ${event} in phase ${c.phase}`);
  change(station, c, event, () => {
    const was = phaseTraits[c.phase].session;
    const is = phaseTraits[next].session;
    c.phase = next;
    c.timeoutDueS = next === 'authorised' ? station.nowS + station.p.connectionTimeoutS : Infinity;
    if (is && !was) beginSession(station, c);
    if (was && !is) endSession(station, c, reason);
    if (next !== 'starting') c.startDueS = Infinity;
    if (next === 'free') [c.idToken, c.remoteStartId, c.session] = [null, null, null];
  });
}

function beginSession(station: Station, c: Connector): void {
  const { startDelayMinS, startDelayMaxS } = station.p;
  c.startDueS = station.nowS + startDelayMinS + (startDelayMaxS - startDelayMinS) * station.random.next();
  c.session = openSession(station.log, c, station.nowS);
  if (c.reservation !== null && c.reservation.idToken === c.idToken) c.reservation = null;
}

function endSession(station: Station, c: Connector, reason: string): void {
  if (c.session !== null) {
    c.session.endedAtS = station.nowS;
    c.session.stopReason = reason;
  }
  c.evHeldByCommand = false;
  c.evseHeldByCommand = false;
  c.dischargeW = null;
  cutPower(c);
}

/** Opens the contactor under load, without a ramp. */
export function cutPower(c: Connector): void {
  c.flowW = 0;
  c.powerW = 0;
  c.heldByDer = false;
}

/** Starts a session after plugging in if the station authorises by itself and the connector can serve. */
export function authorizeByPlug(station: Station, c: Connector): void {
  if (!station.p.autoAuthorize || c.phase !== 'connected' || !c.operative || c.errorCode !== null) return;
  if (c.reservation !== null && c.reservation.idToken !== autoIdToken) return;
  c.idToken = autoIdToken;
  fire(station, c, 'authorize');
}

/** Instant of the next pending event of a connector, simulated seconds. */
export function nextDueS(c: Connector): number {
  return Math.min(c.startDueS, c.timeoutDueS, c.reservation?.expiresAtS ?? Infinity);
}

/** Sub-steps end at events within this tolerance. */
const dueToleranceS = 2e-6;

export function fireDue(station: Station, c: Connector): void {
  const limitS = station.nowS + dueToleranceS;
  if (c.startDueS <= limitS) fire(station, c, 'delay_over');
  if (c.timeoutDueS <= limitS) fire(station, c, 'withdraw');
  if (c.reservation?.expiresAtS != null && c.reservation.expiresAtS <= limitS) {
    change(station, c, 'reserve', () => {
      c.reservation = null;
    });
    authorizeByPlug(station, c);
  }
}

/** The vehicle stops by itself: it is full, or V2G has reached the reserve. */
export function evHoldsByItself(c: Connector): boolean {
  const { vehicle } = c;
  if (vehicle === null || c.flowW < 0) return false;
  if (c.dischargeW === null) return isFull(vehicle);
  return c.dischargeW > 0 && c.flowW === 0 && (isAtReserve(vehicle) || vehicle.maxDischargeW === 0);
}

/** The station gives nothing: its limit is 0, or the inverter in front curtails it to 0. */
function evseHoldsByItself(c: Connector): boolean {
  if (c.flowW !== 0 || evHoldsByItself(c)) return false;
  if (c.heldByDer) return true;
  return c.dischargeW === null ? c.offerW === 0 : c.dischargeW === 0;
}

/** Suspends or resumes after a sub-step, depending on whether vehicle or station stops the energy. */
export function updateHolds(station: Station, c: Connector): void {
  const now = phaseTraits[c.phase];
  if (!now.powered || c.errorCode !== null) return;
  const evHolds = c.evHeldByCommand || evHoldsByItself(c);
  // while a command suspends the vehicle, limits have no effect that would show
  const evseHolds = c.evseHeldByCommand || (!c.evHeldByCommand && evseHoldsByItself(c));
  if (evHolds !== now.evHolds) fire(station, c, evHolds ? 'ev_hold' : 'ev_release');
  if (evseHolds !== now.evseHolds) fire(station, c, evseHolds ? 'evse_hold' : 'evse_release');
}
