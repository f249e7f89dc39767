/** The operations at a connector. Each operation makes all its checks before its first change. */
import { SimError } from '../../../core/errors.ts';
import { evseErrorCodes } from '../../../contract/kinds/evse.ts';
import type { EvseCommand } from '../../../contract/kinds/evse.ts';
import { badValue } from '../shared.ts';
import { flagsOf, statusOf } from './connector.ts';
import type { Connector } from './connector.ts';
import { authorizeByPlug, autoIdToken, change, cutPower, evHoldsByItself, fire } from './machine.ts';
import type { Station } from './machine.ts';
import { phaseTable, phaseTraits } from './phases.ts';
import { createVehicle, patchVehicle } from './vehicle.ts';

type Of<Kind extends EvseCommand['kind']> = Extract<EvseCommand, { readonly kind: Kind }>;
type Operation<Kind extends EvseCommand['kind']> = (station: Station, c: Connector, command: Of<Kind>) => void;

const maxNumber = 1e9;

function conflict(c: Connector, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${c.p.connectorId} is ${statusOf(c)}: ${why}`);
}

function checkText(name: string, given: string, maxLength: number): void {
  if (given.length < 1 || given.length > maxLength) throw badValue(name, given, `1 to ${maxLength} characters`);
}

function checkNumber(name: string, given: number | null, max: number): void {
  if (given !== null && !(given >= 0 && given <= max)) throw badValue(name, given, `0..${max}`);
}

/** A session needs a connector that is free of faults, in operation and not reserved for another token. */
function checkCanServe(c: Connector, idToken: string | null): void {
  if (c.errorCode !== null) throw conflict(c, `${c.errorCode} must be cleared first`);
  if (!c.operative) throw conflict(c, 'it is out of operation');
  if (c.reservation !== null && c.reservation.idToken !== idToken)
    throw conflict(c, 'it is reserved for another token');
}

function checkSession(c: Connector): void {
  if (!phaseTraits[c.phase].powered) throw conflict(c, 'no session in which energy may flow');
}

function plug(station: Station, c: Connector, { ev, evSide = true, evseSide = true }: Of<'evse.plug'>): void {
  if (!evSide && !evseSide) throw badValue('evSide', evSide, 'at least one side of the cable true');
  if (ev !== undefined && !evSide) throw badValue('ev', ev, 'only when the side of the vehicle is plugged');
  const newEv = evSide && !c.evPlugged;
  const newEvse = evseSide && !c.evsePlugged;
  if (ev !== undefined && !newEv) throw conflict(c, 'a vehicle is plugged in already');
  if (!newEv && !newEvse) throw conflict(c, 'it is plugged in already');
  const vehicle = newEv ? createVehicle(c.defaultEv, c.p.type, ev) : c.vehicle;
  change(station, c, 'cable', () => {
    c.vehicle = vehicle;
    c.evPlugged ||= newEv;
    c.evsePlugged ||= newEvse;
  });
  if (!c.evPlugged || !c.evsePlugged) return;
  fire(station, c, 'plugged');
  authorizeByPlug(station, c);
}

function unplug(station: Station, c: Connector): void {
  if (!flagsOf(c).cableIn) throw conflict(c, 'nothing is plugged in');
  if (c.lockedByCommand) throw conflict(c, 'the cable is locked; unlock it first');
  const connected = c.evPlugged && c.evsePlugged;
  const release = () => {
    c.evPlugged = false;
    c.evsePlugged = c.p.attachedCable;
    c.vehicle = null;
  };
  if (!connected) {
    change(station, c, 'cable', release);
    return;
  }
  release();
  fire(station, c, 'unplugged', 'EVDisconnected');
}

function authorize(station: Station, c: Connector, { idToken }: Of<'evse.authorize'>): void {
  checkText('idToken', idToken, 255);
  if (phaseTable[c.phase].authorize === undefined) throw conflict(c, 'it is authorised already');
  checkCanServe(c, idToken);
  c.idToken = idToken;
  c.remoteStartId = null;
  fire(station, c, 'authorize');
}

function start(station: Station, c: Connector, command: Of<'evse.start'>): void {
  const { idToken, authorize: authorized = true, remoteStartId = null } = command;
  if (idToken !== undefined) checkText('idToken', idToken, 255);
  if (remoteStartId !== null && !Number.isSafeInteger(remoteStartId))
    throw badValue('remoteStartId', remoteStartId, 'a whole number');
  const token = idToken ?? (station.p.autoAuthorize && authorized ? autoIdToken : null);
  if (token === null && authorized) throw badValue('idToken', idToken, 'a token, or authorize false');
  if (phaseTraits[c.phase].session) throw conflict(c, 'a session is running');
  if (c.phase !== 'connected' && c.phase !== 'finishing') throw conflict(c, 'no vehicle is plugged in');
  checkCanServe(c, token);
  c.idToken = token;
  c.remoteStartId = remoteStartId;
  fire(station, c, 'authorize');
}

function stop(station: Station, c: Connector, { reason = 'Local', idToken }: Of<'evse.stop'>): void {
  checkText('reason', reason, 50);
  if (!phaseTraits[c.phase].authorised) throw conflict(c, 'no session is running');
  if (idToken !== undefined && idToken !== c.idToken) throw conflict(c, 'another token has started the session');
  fire(station, c, c.phase === 'authorised' ? 'withdraw' : 'stop', reason);
}

function suspend(station: Station, c: Connector, { by }: Of<'evse.suspend'>): void {
  checkSession(c);
  if (by === 'ev' ? c.evHeldByCommand : c.evseHeldByCommand) throw conflict(c, `the ${by} has suspended it already`);
  if (by === 'ev') c.evHeldByCommand = true;
  else c.evseHeldByCommand = true;
  cutPower(c);
  const now = phaseTraits[c.phase];
  if (by === 'ev' ? !now.evHolds : !now.evseHolds) fire(station, c, by === 'ev' ? 'ev_hold' : 'evse_hold');
}

function resume(station: Station, c: Connector, { by }: Of<'evse.resume'>): void {
  checkSession(c);
  if (by === 'ev' ? !c.evHeldByCommand : !c.evseHeldByCommand) {
    throw conflict(
      c,
      by === 'ev' && evHoldsByItself(c) ? 'the vehicle has stopped by itself' : `no suspension by the ${by} to end`,
    );
  }
  if (by === 'ev') c.evHeldByCommand = false;
  else c.evseHeldByCommand = false;
  if (by === 'evse' || !evHoldsByItself(c)) fire(station, c, by === 'ev' ? 'ev_release' : 'evse_release');
}

function limit(_station: Station, c: Connector, { powerW }: Of<'evse.limit'>): void {
  checkNumber('powerW', powerW, maxNumber);
  c.localLimitW = powerW ?? Infinity;
}

function discharge(_station: Station, c: Connector, { powerW }: Of<'evse.discharge'>): void {
  checkNumber('powerW', powerW, maxNumber);
  if (!c.p.bidirectional) throw conflict(c, 'the connector is not bidirectional');
  if (!phaseTraits[c.phase].session) throw conflict(c, 'no session is running');
  c.dischargeW = powerW;
}

function availability(station: Station, c: Connector, { operative }: Of<'evse.availability'>): void {
  if (!operative && c.phase === 'authorised') fire(station, c, 'withdraw');
  change(station, c, 'availability', () => {
    c.operative = operative;
    if (!operative) c.reservation = null;
  });
  authorizeByPlug(station, c);
}

function fault(station: Station, c: Connector, command: Of<'evse.fault'>): void {
  const errorCode = evseErrorCodes.find((code) => code === command.errorCode);
  if (errorCode === undefined) throw badValue('errorCode', command.errorCode, evseErrorCodes.join(', '));
  if (c.phase === 'authorised') fire(station, c, 'withdraw');
  change(station, c, 'fault', () => {
    c.errorCode = errorCode;
    c.errorInfo = command.info ?? null;
    c.vendorErrorCode = command.vendorErrorCode ?? null;
    cutPower(c);
  });
}

/** Ends the fault of a connector, which continues in its phase. */
export function clearFault(station: Station, c: Connector): void {
  if (c.errorCode === null) throw conflict(c, 'no fault to clear');
  change(station, c, 'clear_fault', () => {
    [c.errorCode, c.errorInfo, c.vendorErrorCode] = [null, null, null];
  });
  authorizeByPlug(station, c);
}

function setEv(_station: Station, c: Connector, { ev }: Of<'evse.ev'>): void {
  if (c.vehicle === null) throw conflict(c, 'no vehicle is plugged in');
  c.vehicle = patchVehicle(c.vehicle, c.defaultEv, c.p.type, ev);
}

function meter(_station: Station, c: Connector, { energyWh }: Of<'evse.meter'>): void {
  checkNumber('energyWh', energyWh, 1e12);
  c.energyWh = energyWh;
}

function lock(_station: Station, c: Connector): void {
  if (!c.evPlugged || !c.evsePlugged) throw conflict(c, 'no cable to lock');
  if (c.lockedByCommand || phaseTraits[c.phase].session) throw conflict(c, 'the cable is locked already');
  c.lockedByCommand = true;
}

function unlock(station: Station, c: Connector): void {
  const running = phaseTraits[c.phase].session;
  if (!c.lockedByCommand && !running) throw conflict(c, 'the cable is not locked');
  c.lockedByCommand = false;
  if (running) fire(station, c, 'stop', 'UnlockCommand');
}

function reserve(station: Station, c: Connector, { reservation }: Of<'evse.reserve'>): void {
  if (reservation === null) {
    if (c.reservation === null) throw conflict(c, 'no reservation to cancel');
    change(station, c, 'reserve', () => {
      c.reservation = null;
    });
    authorizeByPlug(station, c);
    return;
  }
  const { reservationId, idToken, expiresInS } = reservation;
  checkText('idToken', idToken, 255);
  if (!Number.isSafeInteger(reservationId)) throw badValue('reservationId', reservationId, 'a whole number');
  if (expiresInS !== null && !(expiresInS > 0 && expiresInS <= maxNumber))
    throw badValue('expiresInS', expiresInS, `above 0 up to ${maxNumber}, or null`);
  const status = statusOf(c);
  const same = status === 'reserved' && c.reservation?.reservationId === reservationId;
  if (status !== 'available' && !same) throw conflict(c, 'only an available connector can be reserved');
  const expiresAtS = expiresInS === null ? null : station.nowS + expiresInS;
  change(station, c, 'reserve', () => {
    c.reservation = { reservationId, idToken, expiresAtS };
  });
}

function profileLimit(
  target: { profileLimitW: number; profileLimitA: number },
  { limitW, limitA }: Of<'evse.profile_limit'>,
): void {
  checkNumber('limitW', limitW, maxNumber);
  checkNumber('limitA', limitA, maxNumber);
  target.profileLimitW = limitW ?? Infinity;
  target.profileLimitA = limitA ?? Infinity;
}

const operations: { readonly [Kind in Exclude<EvseCommand['kind'], 'evse.profile_limit'>]: Operation<Kind> } = {
  'evse.plug': plug,
  'evse.unplug': unplug,
  'evse.authorize': authorize,
  'evse.start': start,
  'evse.stop': stop,
  'evse.suspend': suspend,
  'evse.resume': resume,
  'evse.limit': limit,
  'evse.discharge': discharge,
  'evse.availability': availability,
  'evse.fault': fault,
  'evse.clear_fault': clearFault,
  'evse.ev': setEv,
  'evse.meter': meter,
  'evse.lock': lock,
  'evse.unlock': unlock,
  'evse.reserve': reserve,
};

/**
 * @throws SimError UNKNOWN_RESOURCE for a connector that the station does not have, COMMAND_BAD_VALUE, COMMAND_CONFLICT
 */
export function operate(station: Station, command: EvseCommand): void {
  const { connectorId } = command;
  if (command.kind === 'evse.profile_limit' && connectorId === 0) {
    profileLimit(station, command);
    return;
  }
  const c = station.connectors.find(({ p }) => p.connectorId === connectorId);
  if (c === undefined) {
    const known = station.connectors.map(({ p }) => p.connectorId).join(', ');
    throw new SimError(
      'UNKNOWN_RESOURCE',
      `connectorId: given ${JSON.stringify(connectorId)}; this station has ${known}`,
    );
  }
  if (command.kind === 'evse.profile_limit') profileLimit(c, command);
  // the table pairs each kind with its operation; an indexed access loses that relation of types
  else (operations[command.kind] as Operation<typeof command.kind>)(station, c, command);
}
