/** The operations at a connector. Each operation makes all its checks before its first change. */
import { badValue, SimError } from '../../../core/errors.ts';
import { centralSource, evseErrorCodes } from '../../../contract/kinds/evse.ts';
import type { EvseBehaviour, EvseCommand } from '../../../contract/kinds/evse-commands.ts';
import type { EvseCause } from '../../../contract/kinds/evse-transitions.ts';
import type { Origin } from '../../../core/origin.ts';
import {
  isUsedUp,
  phasesInUse,
  statusOf,
  updateDischarge,
  wattsPerAmpere,
  flagsOf,
  negligibleWh,
} from './connector.ts';
import type { Connector } from './connector.ts';
import { authorizeByPlug, cutPower, endReservation, evHoldsByItself, fire } from './machine.ts';
import { setGenerator } from './generator.ts';
import { phaseTable, phaseTraits } from './phases.ts';
import { profileOf } from './profile-limit.ts';
import { autoIdToken } from './sessions.ts';
import { withTrigger, profileBehaviour } from './station.ts';
import type { Station } from './station.ts';
import { change, reportEvent } from './reports.ts';
import { createVehicle, patchVehicle } from './vehicle.ts';

/** The refusal of an operation in the present state of a connector. */
function conflict(c: Connector, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${c.p.connectorId} is ${statusOf(c)}: ${why}`);
}

const maxEnergyWh = 1e9;

/**
 * Limits the energy that a session may still take from the station; at the limit the station suspends, as by a command.
 * The limit ends with its session, and with a reset of the device.
 * @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT
 */
function limitEnergy(
  station: Station,
  c: Connector,
  { energyWh }: Extract<EvseCommand, { readonly kind: 'evse.energy_limit' }>,
): void {
  if (energyWh !== null && !(energyWh >= 0 && energyWh <= maxEnergyWh))
    throw badValue('energyWh', energyWh, `0..${maxEnergyWh}, or null`);
  if (!phaseTraits[c.phase].session) throw conflict(c, 'no session is running');
  const before = isUsedUp(c);
  c.energyLeftWh = energyWh === null ? Infinity : energyWh < negligibleWh ? 0 : energyWh;
  c.energyLimitBy = station.trigger.by;
  const after = isUsedUp(c);
  if (before === after) return;
  if (after) cutPower(c);
  const { powered, evseHolds } = phaseTraits[c.phase];
  if (powered && !c.evseHeldByCommand && evseHolds !== after) fire(station, c, after ? 'evse_hold' : 'evse_release');
}

type Unplug = Extract<EvseCommand, { readonly kind: 'evse.unplug' }>;

/** Ends of the cable to unplug. */
interface Ends {
  readonly ev: boolean;
  readonly evse: boolean;
}

function release(c: Connector, { ev, evse }: Ends): void {
  if (ev) {
    c.evPlugged = false;
    c.vehicle = null;
  }
  if (evse && !c.p.attachedCable) {
    c.evsePlugged = false;
    c.cableLeft = false;
  }
}

/** Ends to unplug without a session: the named ones, or all that are plugged in. */
function freeEnds(c: Connector, { evSide, evseSide }: Unplug): Ends {
  const loose = c.evsePlugged && !c.p.attachedCable;
  if (evSide === true && !c.evPlugged) throw conflict(c, 'the cable is not in the vehicle');
  if (evseSide === true && !loose) throw conflict(c, 'the cable cannot be taken out of the station');
  const ends = { ev: c.evPlugged && evSide !== false, evse: loose && evseSide !== false };
  if (!ends.ev && !ends.evse) throw conflict(c, 'no end that can be unplugged was chosen');
  return ends;
}

/** A session locks the cable in the station; the end of the cable at the vehicle can always be unplugged. */
function unplugInSession(station: Station, c: Connector, { evSide, evseSide }: Unplug): void {
  const { endOnEvDisconnect, unlockOnEvDisconnect } = station.behaviour;
  if (!c.evPlugged || evSide === false) throw conflict(c, 'the session locks the cable in the station');
  const unlocks = endOnEvDisconnect && unlockOnEvDisconnect;
  if (evseSide === true && (!unlocks || c.p.attachedCable)) throw conflict(c, 'the cable stays in the station');
  cutPower(c);
  if (!endOnEvDisconnect) {
    c.evHeldByCommand = false;
    release(c, { ev: true, evse: false });
    fire(station, c, 'ev_unplugged');
    return;
  }
  const evse = unlocks && evseSide !== false;
  release(c, { ev: true, evse });
  c.lockedByCommand = !unlocks && !c.p.attachedCable;
  fire(station, c, 'unplugged', 'EVDisconnected');
}

/** @throws SimError COMMAND_CONFLICT */
function unplug(station: Station, c: Connector, command: Unplug): void {
  if (!flagsOf(c).cableIn) throw conflict(c, 'nothing is plugged in');
  if (c.lockedByCommand) throw conflict(c, 'the cable is locked; unlock it first');
  if (phaseTraits[c.phase].session) {
    unplugInSession(station, c, command);
    return;
  }
  const ends = freeEnds(c, command);
  const connected = c.evPlugged && c.evsePlugged;
  if (!connected) {
    change(station, c, 'cable', () => {
      release(c, ends);
    });
    return;
  }
  release(c, ends);
  c.cableLeft = c.phase === 'finishing' && c.evsePlugged && !c.p.attachedCable;
  fire(station, c, 'unplugged');
}

type Of<Kind extends EvseCommand['kind']> = Extract<EvseCommand, { readonly kind: Kind }>;
type Operation<Kind extends EvseCommand['kind']> = (station: Station, c: Connector, command: Of<Kind>) => void;
type StationKind = 'evse.generator' | 'evse.profile_limit' | 'evse.authority' | 'evse.behaviour';

const maxNumber = 1e9;

function checkText(name: string, value: string, maxLength: number): void {
  if (value.length < 1 || value.length > maxLength) throw badValue(name, value, `1 to ${maxLength} characters`);
}

function checkNumber(name: string, value: number | null, max: number): void {
  if (value !== null && !(value >= 0 && value <= max)) throw badValue(name, value, `0..${max}`);
}

function checkWhole(name: string, value: number | null): void {
  if (value !== null && !Number.isSafeInteger(value)) throw badValue(name, value, 'a whole number');
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
  if (ev !== undefined && !evSide) throw badValue('ev', ev, 'only together with evSide true');
  const newEv = evSide && !c.evPlugged;
  const newEvse = evseSide && !c.evsePlugged;
  if (ev !== undefined && !newEv) throw conflict(c, 'a vehicle is plugged in already');
  if (!newEv && !newEvse) throw conflict(c, 'it is plugged in already');
  const vehicle = newEv ? createVehicle(c.defaultEv, c.p.type, ev) : c.vehicle;
  change(station, c, 'cable', () => {
    c.vehicle = vehicle;
    c.evPlugged ||= newEv;
    c.evsePlugged ||= newEvse;
    c.cableLeft = false;
  });
  if (!c.evPlugged || !c.evsePlugged) return;
  fire(station, c, 'plugged');
  authorizeByPlug(station, c);
}

/** True if a central system authorises and the command does not come from it. */
function asksCentral({ central, trigger }: Station): boolean {
  return central && trigger.by.source !== centralSource;
}

function authorize(station: Station, c: Connector, command: Of<'evse.authorize'>): void {
  const { idToken, remoteStartId = null } = command;
  checkText('idToken', idToken, 255);
  checkWhole('remoteStartId', remoteStartId);
  if (asksCentral(station)) {
    reportEvent(station, c, 'token', { idToken });
    return;
  }
  if (phaseTable[c.phase].authorize === undefined) throw conflict(c, 'it is authorised already');
  checkCanServe(c, idToken);
  c.idToken = idToken;
  c.remoteStartId = remoteStartId;
  fire(station, c, 'authorize');
}

function start(station: Station, c: Connector, command: Of<'evse.start'>): void {
  const { idToken, authorize: authorized = true, remoteStartId = null } = command;
  if (idToken !== undefined) checkText('idToken', idToken, 255);
  checkWhole('remoteStartId', remoteStartId);
  if (authorized && asksCentral(station)) throw conflict(c, 'the central system authorises; present a token');
  const token = idToken ?? (station.behaviour.autoAuthorize && authorized ? autoIdToken : null);
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

const suspenders = { ev: 'vehicle', evse: 'station' } as const;

function suspend(station: Station, c: Connector, { by }: Of<'evse.suspend'>): void {
  checkSession(c);
  if (by === 'ev' ? c.evHeldByCommand : c.evseHeldByCommand)
    throw conflict(c, `the ${suspenders[by]} has already suspended the session`);
  if (by === 'ev') c.evHeldByCommand = true;
  else c.evseHeldByCommand = true;
  cutPower(c);
  const traits = phaseTraits[c.phase];
  if (by === 'ev' ? !traits.evHolds : !traits.evseHolds) fire(station, c, by === 'ev' ? 'ev_hold' : 'evse_hold');
}

function resume(station: Station, c: Connector, { by }: Of<'evse.resume'>): void {
  checkSession(c);
  if (by === 'ev' ? !c.evHeldByCommand : !c.evseHeldByCommand) {
    throw conflict(
      c,
      by === 'ev' && evHoldsByItself(c)
        ? 'the vehicle has stopped by itself'
        : by === 'evse' && isUsedUp(c)
          ? 'its energy limit is used up'
          : `the ${suspenders[by]} has not suspended the session`,
    );
  }
  if (by === 'ev') c.evHeldByCommand = false;
  else c.evseHeldByCommand = false;
  if (by === 'evse' ? !isUsedUp(c) : !evHoldsByItself(c)) fire(station, c, by === 'ev' ? 'ev_release' : 'evse_release');
}

function limit(station: Station, c: Connector, { powerW }: Of<'evse.limit'>): void {
  checkNumber('powerW', powerW, maxNumber);
  const before = c.localLimitW;
  c.localLimitW = powerW ?? Infinity;
  c.localLimitBy = station.trigger.by;
  // while energy may flow, `reportLimits` reports the effect of this limit
  if (c.localLimitW !== before && !phaseTraits[c.phase].powered) reportEvent(station, c, 'limit');
}

function discharge(station: Station, c: Connector, { powerW }: Of<'evse.discharge'>): void {
  checkNumber('powerW', powerW, maxNumber);
  if (!c.p.bidirectional) throw conflict(c, 'the connector is not bidirectional');
  if (!phaseTraits[c.phase].session) throw conflict(c, 'no session is running');
  c.localDischargeW = powerW;
  c.localDischargeBy = station.trigger.by;
  updateDischarge(c, wattsPerAmpere(c, station));
}

function availability(station: Station, c: Connector, { operative }: Of<'evse.availability'>): void {
  const returns = operative && !c.operative;
  if (!operative && c.phase === 'authorised') fire(station, c, 'withdraw');
  change(station, c, 'availability', () => {
    c.operative = operative;
  });
  if (!operative) endReservation(station, c);
  // a central authority that has refused the vehicle gets no second request without a change
  if (returns) authorizeByPlug(station, c);
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

function lock(station: Station, c: Connector): void {
  if (!c.evPlugged || !c.evsePlugged) throw conflict(c, 'no cable to lock');
  if (c.lockedByCommand || phaseTraits[c.phase].session) throw conflict(c, 'the cable is locked already');
  change(station, c, 'lock', () => {
    c.lockedByCommand = true;
  });
}

function unlock(station: Station, c: Connector): void {
  const running = phaseTraits[c.phase].session;
  if (!c.lockedByCommand && !running) throw conflict(c, 'the cable is not locked');
  if (running) fire(station, c, 'stop', 'UnlockCommand');
  change(station, c, 'unlock', () => {
    c.lockedByCommand = false;
  });
}

function reserve(station: Station, c: Connector, { reservation }: Of<'evse.reserve'>): void {
  if (reservation === null) {
    if (c.reservation === null) throw conflict(c, 'no reservation to cancel');
    endReservation(station, c);
    return;
  }
  const { reservationId, idToken, expiresInS } = reservation;
  checkText('idToken', idToken, 255);
  checkWhole('reservationId', reservationId);
  if (expiresInS !== null && !(expiresInS > 0 && expiresInS <= maxNumber))
    throw badValue('expiresInS', expiresInS, `above 0 up to ${maxNumber}, or null`);
  const status = statusOf(c);
  const isSameReservation = status === 'reserved' && c.reservation?.reservationId === reservationId;
  if (status !== 'available' && !isSameReservation) throw conflict(c, 'only an available connector can be reserved');
  const expiresAtS = expiresInS === null ? null : station.nowS + expiresInS;
  const newReservation = { reservationId, idToken, expiresAtS };
  change(
    station,
    c,
    'reserve',
    () => {
      c.reservation = newReservation;
    },
    { reservation: newReservation },
  );
}

/** Sets which phases a connector may use; the contactors open while the number of phases changes. */
function permitPhases(station: Station, c: Connector): void {
  const before = phasesInUse(c);
  c.phaseLimit = c.profile.phases === 1 || station.profile.phases === 1 ? 1 : 3;
  if (phasesInUse(c) !== before) cutPower(c);
}

function profileLimit(station: Station, command: Of<'evse.profile_limit'>): void {
  const profile = profileOf(command, station.trigger.by);
  const setpoint = profile.setpointW ?? profile.setpointA;
  if (command.connectorId === 0) {
    if (setpoint !== null) throw badValue('setpoint', setpoint, 'a set-point for one connector');
    station.profile = profile;
    for (const c of station.connectors) permitPhases(station, c);
    return;
  }
  const c = connectorOf(station, command.connectorId);
  if (setpoint !== null && setpoint < 0 && !c.p.bidirectional)
    throw conflict(c, 'it is not bidirectional, and the set-point is a discharge');
  c.profile = profile;
  permitPhases(station, c);
  updateDischarge(c, wattsPerAmpere(c, station));
}

const maxTimeoutS = 86_400;

function checkTime(name: string, value: number | null | undefined): void {
  if (value != null && !(value >= 1 && value <= maxTimeoutS)) throw badValue(name, value, `1..${maxTimeoutS}`);
}

function setBehaviour(station: Station, changes: Of<'evse.behaviour'>): void {
  checkTime('connectionTimeoutS', changes.connectionTimeoutS);
  checkTime('authorizationTimeoutS', changes.authorizationTimeoutS);
  const profileDefaults = profileBehaviour(station.p);
  const pick = <K extends keyof EvseBehaviour>(name: K): EvseBehaviour[K] => {
    const value = changes[name] as EvseBehaviour[K] | null | undefined;
    return value === undefined ? station.behaviour[name] : (value ?? profileDefaults[name]);
  };
  station.behaviour = {
    connectionTimeoutS: pick('connectionTimeoutS'),
    authorizationTimeoutS: pick('authorizationTimeoutS'),
    endOnEvDisconnect: pick('endOnEvDisconnect'),
    unlockOnEvDisconnect: pick('unlockOnEvDisconnect'),
    autoAuthorize: pick('autoAuthorize'),
  };
}

const operations: { readonly [Kind in Exclude<EvseCommand['kind'], StationKind>]: Operation<Kind> } = {
  'evse.plug': plug,
  'evse.unplug': unplug,
  'evse.authorize': authorize,
  'evse.start': start,
  'evse.stop': stop,
  'evse.suspend': suspend,
  'evse.resume': resume,
  'evse.limit': limit,
  'evse.discharge': discharge,
  'evse.energy_limit': limitEnergy,
  'evse.availability': availability,
  'evse.fault': fault,
  'evse.clear_fault': clearFault,
  'evse.ev': setEv,
  'evse.meter': meter,
  'evse.lock': lock,
  'evse.unlock': unlock,
  'evse.reserve': reserve,
};

/** @throws SimError UNKNOWN_RESOURCE */
function connectorOf({ connectors }: Station, connectorId: number): Connector {
  const c = connectors.find(({ p }) => p.connectorId === connectorId);
  if (c !== undefined) return c;
  const connectorIds = connectors.map(({ p }) => p.connectorId).join(', ');
  throw new SimError(
    'UNKNOWN_RESOURCE',
    `connectorId: given ${JSON.stringify(connectorId)}; this station has ${connectorIds}`,
  );
}

function causeOf(command: EvseCommand, by: Origin): EvseCause {
  if (command.kind === 'evse.fault') return 'fault';
  if ((command.kind === 'evse.suspend' || command.kind === 'evse.resume') && command.by === 'ev') return 'vehicle';
  return by.source === centralSource ? 'central' : 'person';
}

/**
 * @throws SimError UNKNOWN_RESOURCE for a connector that the station does not have, COMMAND_BAD_VALUE, COMMAND_CONFLICT
 */
export function operate(station: Station, command: EvseCommand, by: Origin): void {
  withTrigger(station, { by, cause: causeOf(command, by) }, () => {
    switch (command.kind) {
      case 'evse.profile_limit':
        profileLimit(station, command);
        break;
      case 'evse.authority':
        station.central = command.central;
        break;
      case 'evse.behaviour':
        setBehaviour(station, command);
        break;
      case 'evse.generator':
        setGenerator(station, command, by, (generatedCommand, origin) => {
          operate(station, generatedCommand, origin);
        });
        break;
      default: {
        const c = connectorOf(station, command.connectorId);
        // the table pairs each kind with its operation; an indexed access loses that relation of types
        (operations[command.kind] as Operation<typeof command.kind>)(station, c, command);
      }
    }
  });
}
