/** Moves connectors through their phases: effects of entering and leaving a phase, timers, holds. */
import { SimError } from '../../../core/errors.ts';
import type { EvsePhase } from '../../../contract/kinds/evse.ts';
import { heldByStation, isUsedUp, updateDischarge, wattsPerAmpere } from './connector.ts';
import type { Connector } from './connector.ts';
import { holdingSource, limitWriter } from './detail.ts';
import { phaseTable, phaseTraits } from './phases.ts';
import type { PhaseEvent } from './phases.ts';
import { isAtReserve, isFull } from './reach.ts';
import { autoIdToken, openSession, sessionDetail } from './sessions.ts';
import { withTrigger, byItself } from './station.ts';
import type { Station } from './station.ts';
import { change, reportEvent } from './reports.ts';

/** Moves a connector to its next phase. @param reason stop reason of the session, if the event ends a session */
export function fire(station: Station, c: Connector, event: PhaseEvent, reason = 'Local'): void {
  const next = phaseTable[c.phase][event];
  if (next === undefined) throw new SimError('INTERNAL', `connector ${c.p.connectorId}: ${event} in phase ${c.phase}`);
  change(station, c, event, () => {
    enter(station, c, next, reason);
  });
}

function enter(station: Station, c: Connector, next: EvsePhase, reason: string): void {
  const hadSession = phaseTraits[c.phase].session;
  const hasSession = phaseTraits[next].session;
  c.phase = next;
  c.timeoutDueS = station.nowS + timeoutS(station, next);
  c.startDueS = next === 'starting' || next === 'resuming' ? station.nowS + startDelayS(station) : Infinity;
  if (hasSession && !hadSession) beginSession(station, c);
  if (hadSession && !hasSession) endSession(station, c, reason);
  if (hadSession !== hasSession && c.session !== null && station.onSession !== null)
    station.onSession(hasSession ? 'started' : 'ended', sessionDetail(c.session, c), station.trigger.by, station.nowS);
  if (next === 'free') [c.idToken, c.remoteStartId, c.session] = [null, null, null];
}

/** Timeout of a phase, s; Infinity: none. */
function timeoutS({ behaviour }: Station, phase: EvsePhase): number {
  if (phase === 'authorised') return behaviour.connectionTimeoutS;
  return phase === 'connected' ? (behaviour.authorizationTimeoutS ?? Infinity) : Infinity;
}

function startDelayS({ p: { startDelayMinS, startDelayMaxS }, random }: Station): number {
  return startDelayMinS + (startDelayMaxS - startDelayMinS) * random.next();
}

function beginSession(station: Station, c: Connector): void {
  c.session = openSession(station.log, c, station.nowS);
  // a reservation admits its own token only, so this session uses the reservation
  c.reservation = null;
}

function endSession(station: Station, c: Connector, reason: string): void {
  if (c.session !== null) {
    c.session.endedAtS = station.nowS;
    c.session.stopReason = reason;
  }
  c.evHeldByCommand = false;
  c.evseHeldByCommand = false;
  [c.energyLeftWh, c.energyLimitBy] = [Infinity, null];
  c.localDischargeW = null;
  c.cableLeft = !c.evPlugged && c.evsePlugged && !c.p.attachedCable;
  updateDischarge(c, wattsPerAmpere(c, station));
  cutPower(c);
}

/** Opens the contactor under load, without a ramp. */
export function cutPower(c: Connector): void {
  c.flowW = 0;
  c.powerW = 0;
  c.heldByDer = false;
}

/**
 * Starts a session by plugging in, if the station does so and the connector can serve; under a central authority it
 * only reports the token.
 */
export function authorizeByPlug(station: Station, c: Connector): void {
  if (!station.behaviour.autoAuthorize || c.phase !== 'connected' || !c.operative || c.errorCode !== null) return;
  if (c.reservation !== null && c.reservation.idToken !== autoIdToken) return;
  if (station.central) {
    reportEvent(station, c, 'token', { idToken: autoIdToken });
    return;
  }
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
  if (c.startDueS <= limitS) {
    fire(station, c, 'delay_over');
    // no energy flows, so nothing else would report the hold before the next sub-step
    if (isUsedUp(c)) updateHolds(station, c);
  }
  if (c.timeoutDueS > limitS && (c.reservation?.expiresAtS ?? Infinity) > limitS) return;
  withTrigger(station, { by: byItself, cause: 'timeout' }, () => {
    if (c.timeoutDueS <= limitS) fire(station, c, 'withdraw');
    if ((c.reservation?.expiresAtS ?? Infinity) <= limitS) endReservation(station, c);
  });
}

/** Ends a reservation that was not used. */
export function endReservation(station: Station, c: Connector): void {
  const { reservation } = c;
  if (reservation === null) return;
  change(
    station,
    c,
    'reserve_end',
    () => {
      c.reservation = null;
    },
    { reservation },
  );
  authorizeByPlug(station, c);
}

/** True if the vehicle stops by itself: it is full, or V2G has reached the reserve or is not possible. */
export function evHoldsByItself(c: Connector): boolean {
  const { vehicle } = c;
  if (vehicle === null || c.flowW < 0) return false;
  if (c.dischargeW === null) return isFull(vehicle);
  return c.dischargeW > 0 && c.flowW === 0 && (isAtReserve(vehicle) || vehicle.maxDischargeW === 0);
}

/** True if the station gives nothing: its limit is 0, or the inverter in front curtails it to 0. */
function evseHoldsByItself(c: Connector): boolean {
  if (c.flowW !== 0 || evHoldsByItself(c)) return false;
  if (c.heldByDer) return true;
  return c.dischargeW === null ? c.offerW === 0 : c.dischargeW === 0 || c.dischargeCapW === 0;
}

/** Suspends or resumes after a sub-step, depending on whether vehicle or station stops the energy. */
export function updateHolds(station: Station, c: Connector): void {
  const traits = phaseTraits[c.phase];
  if (!traits.powered || c.errorCode !== null) return;
  const evHolds = c.evHeldByCommand || evHoldsByItself(c);
  // while a command suspends the vehicle, limits have no visible effect
  const evseHolds = heldByStation(c) || (!c.evHeldByCommand && evseHoldsByItself(c));
  if (evHolds !== traits.evHolds) fire(station, c, evHolds ? 'ev_hold' : 'ev_release');
  if (evseHolds === traits.evseHolds) return;
  if (evseHolds) c.heldBy = holdingSource(station, c);
  const { heldBy } = c;
  const cause = heldBy === 'der' && station.outside.down ? 'fault' : 'limit';
  withTrigger(station, { by: limitWriter(station, c, heldBy), cause }, () => {
    fire(station, c, evseHolds ? 'evse_hold' : 'evse_release');
  });
}
