/**
 * Checks positive answers to calls of a central system. `ocppActions` has one row per action of 1.6 and 2.x: the state
 * that must follow.
 */
import type { Device } from '../../contract/device.ts';
import type { OcppMessage, OcppStation } from '../../contract/ocpp.ts';
import type { AnswerSources } from '../sources.ts';
import type { Answered, Exchange, Claim, Value } from './model.ts';
import {
  memberOf,
  textOf,
  connectorsOf,
  listOf,
  nowOf,
  numberOf,
  place,
  stationClaim,
  clearedProfiles,
  profileClaims,
  clearedDerControls,
  derClaims,
} from './ocpp-claims.ts';
import type { OcppCall, ClaimsOf } from './ocpp-claims.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import { SimError } from '../../core/errors.ts';
import { secondsBetween } from '../../core/time/clock.ts';

/** True if two texts are the same value: booleans and numbers have several spellings. */
function isSameText(a: Value, b: Value): boolean {
  const [x, y] = [String(a), String(b)].map((text) => text.trim().toLowerCase());
  return x === y || (x !== '' && y !== '' && Number(x) === Number(y));
}

function settingClaim(name: string, value: string, current: string | null | undefined, reason?: string): Claim {
  const claim = { ...stationClaim(name, value, current ?? null, `set ${name} = ${value}`), subject: `setting ${name}` };
  return reason === undefined
    ? { ...claim, holds: isSameText(current ?? null, value) }
    : { ...claim, actual: null, reason };
}

/** Claim about a configuration key of 1.6. */
function keyClaims({ station, request }: OcppCall): readonly Claim[] {
  const [key, value] = [textOf(memberOf(request, 'key')), textOf(memberOf(request, 'value'))];
  if (key === null || value === null) return [];
  const configuration = configurationOf(station, key);
  const entry = configuration?.kind === 'keys' ? configuration.keys[0] : undefined;
  if (entry === undefined) return [settingClaim(key, value, null, 'the station shows no such key')];
  return [
    entry.value === null
      ? settingClaim(key, value, null, 'the key can only be written')
      : settingClaim(key, value, entry.value),
  ];
}

function configurationOf(station: OcppStation, key: string) {
  try {
    return station.functions.configuration(key);
  } catch (error) {
    if (error instanceof SimError && error.code === 'UNKNOWN_RESOURCE') return null;
    throw error;
  }
}

/** Claims about variables of 2.x; each variable of a request has its own status. */
function variableClaims({ station, request, answer }: OcppCall): readonly Claim[] {
  const results = listOf(memberOf(answer, 'setVariableResult'));
  const settings = listOf(memberOf(request, 'setVariableData'));
  return settings.flatMap((data, n) => {
    const status = textOf(memberOf(results[n], 'attributeStatus'));
    if (status !== 'Accepted' && status !== 'RebootRequired') return [];
    const component = textOf(memberOf(data, 'component', 'name')) ?? '';
    const variable = textOf(memberOf(data, 'variable', 'name')) ?? '';
    const attribute = textOf(memberOf(data, 'attributeType')) ?? 'Actual';
    const evseId = numberOf(memberOf(data, 'component', 'evse', 'id'));
    const instance = textOf(memberOf(data, 'variable', 'instance'));
    const value = textOf(memberOf(data, 'attributeValue')) ?? '';
    const configuration = configurationOf(station, `${component}.${variable}`);
    const entries = configuration?.kind === 'variables' ? configuration.variables : [];
    const entry = entries.find(
      (each) => each.attribute === attribute && each.evseId === evseId && each.instance === instance,
    );
    const where = `${component}.${variable}${evseId === null ? '' : ` of EVSE ${evseId}`}`;
    const name = attribute === 'Actual' ? where : `${where} (${attribute})`;
    if (entry === undefined) return [settingClaim(name, value, null, 'the station shows no such variable')];
    const { value: present } = entry;
    return [
      present === null
        ? settingClaim(name, value, null, 'the variable can only be written')
        : settingClaim(name, value, present),
    ];
  });
}

/** Claim about the version of the local list. */
function listClaims({ station, request }: OcppCall): readonly Claim[] {
  const version = numberOf(memberOf(request, 'listVersion') ?? memberOf(request, 'versionNumber'));
  if (version === null) return [];
  const name = 'version of the local list';
  const did = `sent the local list of version ${version}`;
  return [stationClaim(name, version, station.functions.localList().version, did)];
}

// availability and reservations of connectors

/** Connectors that a call names; `id` 0 or null means all. */
function namedConnectors(device: Device, id: number | null): readonly EvseConnectorDetail[] {
  return connectorsOf(device).filter(({ connectorId }) => id === null || id === 0 || connectorId === id);
}

function availabilityClaims({ device, request, exchange }: OcppCall): readonly Claim[] {
  const state = textOf(memberOf(request, 'type')) ?? textOf(memberOf(request, 'operationalStatus'));
  const id = numberOf(memberOf(request, 'connectorId') ?? memberOf(request, 'evse', 'id'));
  if (state === null) return [];
  return namedConnectors(device, id).map((connector): Claim => {
    const { connectorId, operative } = connector;
    const name = `availability of connector ${connectorId}`;
    const value = operative ? 'Operative' : 'Inoperative';
    const writer = device.overrides.find(
      (each) => each.name === 'evse_availability' && (each.connectorId === connectorId || each.connectorId === 0),
    );
    const claim = stationClaim(name, state, place(name, value, writer ?? null), `set the ${name} to ${state}`);
    return exchange.answer === 'Scheduled' && value !== state
      ? { ...claim, actual: null, reason: 'it changes when the transaction ends' }
      : claim;
  });
}

function reservationClaims({ device, station, request, exchange }: OcppCall): readonly Claim[] {
  const id = numberOf(memberOf(request, 'reservationId') ?? memberOf(request, 'id'));
  if (id === null) return [];
  const isHeld = station.functions.reservations().some(({ reservationId }) => reservationId === id);
  const name = `reservation ${id}`;
  const session = device.chargingSessions().find(({ reservationId }) => reservationId === id);
  const expiresMs = Date.parse(textOf(memberOf(request, 'expiryDate') ?? memberOf(request, 'expiryDateTime')) ?? '');
  const isOver = expiresMs <= nowOf(station);
  const ended =
    session !== undefined ? `session ${session.transactionId} has used it` : isOver ? 'its time is over' : undefined;
  const claim = stationClaim(name, true, isHeld, `made ${name}`);
  return [ended !== undefined && exchange.answer === 'Accepted' ? { ...claim, ended } : claim];
}

function cancellationClaims({ station, request }: OcppCall): readonly Claim[] {
  const id = numberOf(memberOf(request, 'reservationId'));
  if (id === null) return [];
  const name = `reservation ${id}`;
  const isHeld = station.functions.reservations().some(({ reservationId }) => reservationId === id);
  return [stationClaim(name, false, isHeld, `cancelled ${name}`)];
}

// remote starts and stops of transactions

/** Claim that a session of the token has begun since the call, or that its authorisation waits for a vehicle. */
function startClaims({ device, station, request, answer, exchange }: OcppCall): readonly Claim[] {
  const token = textOf(memberOf(request, 'idTag') ?? memberOf(request, 'idToken', 'idToken'));
  if (token === null) return [];
  const connectorId = numberOf(memberOf(request, 'connectorId') ?? memberOf(request, 'evseId'));
  const startId = numberOf(memberOf(request, 'remoteStartId'));
  const isRequestedConnector = (id: number) => connectorId === null || id === connectorId;
  const startedTransactionId = textOf(memberOf(answer, 'transactionId'));
  const session = device.chargingSessions().find((each) => {
    if (!isRequestedConnector(each.connectorId)) return false;
    if (startId !== null && each.remoteStartId === startId) return true;
    return each.idToken === token && each.startedAtS >= secondsBetween(device.startedAt, exchange.at);
  });
  const hasTransaction =
    startedTransactionId !== null &&
    station.functions.transactions().some((each) => each.transactionId === startedTransactionId);
  const isWaiting = connectorsOf(device).some((each) => isRequestedConnector(each.connectorId) && each.authorised);
  const wasAuthorised = device.overrides.some(
    (each) => each.name === 'evse_authorization' && each.source === 'ocpp' && each.wallMs >= exchange.wallMs,
  );
  const name = startId === null ? `session of ${token}` : `session of ${token} (remoteStartId ${startId})`;
  return [
    {
      ...stationClaim(name, true, session !== undefined || hasTransaction || isWaiting, `started a ${name}`),
      subject: `start ${exchange.messageId ?? ''}`,
      ...(wasAuthorised && { ended: 'the authorisation has ended without a vehicle' }),
    },
  ];
}

function stopClaims({ station, request }: OcppCall): readonly Claim[] {
  const member = memberOf(request, 'transactionId');
  const id = textOf(member) ?? (typeof member === 'number' ? String(member) : null);
  if (id === null) return [];
  const transaction = station.functions.transactions().find(({ transactionId }) => transactionId === id);
  const name = `transaction ${id}`;
  const state = transaction === undefined || transaction.endedMs !== null ? 'ended' : 'running';
  return [stationClaim(name, 'ended', state, `stopped ${name}`)];
}

/** Claims by action. */
export const ocppActions: Readonly<Record<string, ClaimsOf>> = {
  CancelReservation: cancellationClaims,
  ChangeAvailability: availabilityClaims,
  ChangeConfiguration: keyClaims,
  ClearChargingProfile: clearedProfiles,
  ClearDERControl: clearedDerControls,
  RemoteStartTransaction: startClaims,
  RemoteStopTransaction: stopClaims,
  RequestStartTransaction: startClaims,
  RequestStopTransaction: stopClaims,
  ReserveNow: reservationClaims,
  SendLocalList: listClaims,
  SetChargingProfile: profileClaims,
  SetDERControl: derClaims,
  SetVariables: variableClaims,
};

/** Calls whose effect neither registers nor state show. Calls in neither table are not judged. */
export const unverifiableCommands: ReadonlySet<string> = new Set([
  'AFRRSignal',
  'AdjustPeriodicEventStream',
  'CertificateSigned',
  'ChangeTransactionTariff',
  'ClearCache',
  'ClearDisplayMessage',
  'ClearTariffs',
  'ClearVariableMonitoring',
  'CostUpdated',
  'CustomerInformation',
  'DataTransfer',
  'DeleteCertificate',
  'ExtendedTriggerMessage',
  'GetLog',
  'InstallCertificate',
  'NotifyAllowedEnergyTransfer',
  'Reset',
  'SetDefaultTariff',
  'SetDisplayMessage',
  'SetMonitoringBase',
  'SetMonitoringLevel',
  'SetNetworkProfile',
  'SetVariableMonitoring',
  'SignedUpdateFirmware',
  'TriggerMessage',
  'UnlockConnector',
  'UpdateDynamicSchedule',
  'UpdateFirmware',
  'UsePriorityCharging',
]);

/** Statuses of positive answers. */
const positiveStatuses: ReadonlySet<string> = new Set([
  'Accepted',
  'RebootRequired',
  'Scheduled',
  'Unlocked',
  'AcceptedCanceled',
]);

/** The status of an answer; Accepted for SetVariables with a positive result. */
function statusOf(payload: unknown): string | null {
  const status = textOf(memberOf(payload, 'status'));
  if (status !== null) return status;
  const results = memberOf(payload, 'setVariableResult');
  const isAnyDone =
    Array.isArray(results) &&
    results.some((each) => positiveStatuses.has(textOf(memberOf(each, 'attributeStatus')) ?? ''));
  return isAnyDone ? 'Accepted' : null;
}

/** Claims of all positive answers of a station. @param sinceMs wall time of the earliest call, ms */
export function ocppAnswers({ ocpp }: AnswerSources, device: Device, sinceMs: number): readonly Answered[] {
  const station = ocpp.ofDevice(device.index);
  if (station === null) return [];
  const calls = new Map<string, OcppMessage>();
  return station.messages({}).flatMap((message): readonly Answered[] => {
    const { direction, type, messageId } = message;
    if (messageId === null) return [];
    if (direction === 'in' && type === 'call') calls.set(messageId, message);
    const call = calls.get(messageId);
    if (direction !== 'out' || type !== 'result' || call === undefined) return [];
    calls.delete(messageId);
    const status = statusOf(message.payload);
    if (call.atMs < sinceMs || status === null || !positiveStatuses.has(status)) return [];
    const exchange = exchangeOf(station, call, message, status);
    const answered = { device, station, request: call.payload, answer: message.payload, exchange };
    return claimsOf(answered).map((claim) => ({ exchange, claim }));
  });
}

function claimsOf(call: OcppCall) {
  const { command } = call.exchange;
  if (Object.hasOwn(ocppActions, command)) return ocppActions[command]?.(call) ?? [];
  if (!unverifiableCommands.has(command)) return [];
  const subject = `${command} ${call.exchange.messageId ?? ''}`;
  const reason = 'nothing in registers or state shows it';
  return [{ name: command, value: null, unit: null, did: `sent ${command}`, actual: null, subject, reason }];
}

function exchangeOf({ status: { id } }: OcppStation, call: OcppMessage, answer: OcppMessage, status: string): Exchange {
  return {
    protocol: 'ocpp',
    messageId: call.id,
    answerId: answer.id,
    peer: id,
    peerName: `OCPP central system of ${id}`,
    command: call.action ?? '',
    answer: status,
    wallMs: call.atMs,
    answeredWallMs: answer.atMs,
    at: answer.at,
  };
}
