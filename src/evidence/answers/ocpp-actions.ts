/** Calls of a central system and what must hold at the station afterwards: one row for each action of 1.6 and 2.x. */
import type { OcppStation } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { availabilityClaims, reservationClaims, cancellationClaims } from './ocpp-connectors.ts';
import { clearedProfiles, profileClaims } from './ocpp-profiles.ts';
import { startClaims, stopClaims } from './ocpp-sessions.ts';
import { listOf, memberOf, numberOf, place, textOf } from './ocpp-call.ts';
import { clearedDerControls, derClaims } from './ocpp-der.ts';
import type { ClaimsOf, OcppCall } from './ocpp-call.ts';
import type { Claim, Value } from './model.ts';

/** Texts of booleans and numbers have several spellings. */
function isSameText(a: Value, b: Value): boolean {
  const [x, y] = [String(a), String(b)].map((text) => text.trim().toLowerCase());
  return x === y || (x !== '' && y !== '' && Number(x) === Number(y));
}

function settingClaim(name: string, value: string, found: string | null | undefined, reason?: string): Claim {
  return {
    name,
    value,
    unit: null,
    did: `set ${name} = ${value}`,
    subject: `setting ${name}`,
    found: reason === undefined ? place(name, found ?? null) : null,
    ...(reason === undefined ? { holds: isSameText(found ?? null, value) } : { reason }),
  };
}

/** A configuration key of 1.6. */
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
    return station.configuration(key);
  } catch (error) {
    if (error instanceof SimError && error.code === 'UNKNOWN_RESOURCE') return null;
    throw error;
  }
}

/** Variables of 2.x: each has a status of its own. */
function variableClaims({ station, request, answer }: OcppCall): readonly Claim[] {
  const results = listOf(memberOf(answer, 'setVariableResult'));
  const wanted = listOf(memberOf(request, 'setVariableData'));
  return wanted.flatMap((data, n) => {
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
    const { value: found } = entry;
    return [
      found === null
        ? settingClaim(name, value, null, 'the variable can only be written')
        : settingClaim(name, value, found),
    ];
  });
}

/** The version of the local list. */
function listClaims({ station, request }: OcppCall): readonly Claim[] {
  const version = numberOf(memberOf(request, 'listVersion') ?? memberOf(request, 'versionNumber'));
  if (version === null) return [];
  const name = 'version of the local list';
  return [
    {
      name,
      value: version,
      unit: null,
      did: `sent the local list of version ${version}`,
      subject: name,
      found: place(name, station.localList().version),
    },
  ];
}

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

/** Calls that change something which nothing shows. All others ask, and ask for nothing. */
export const otherCommands: ReadonlySet<string> = new Set([
  'AFRRSignal',
  'AdjustPeriodicEventStream',
  'CertificateSigned',
  'ChangeTransactionTariff',
  'ClearCache',
  'ClearDisplayMessage',
  'ClearTariffs',
  'ClearVariableMonitoring',
  'CostUpdated',
  'DataTransfer',
  'DeleteCertificate',
  'InstallCertificate',
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
