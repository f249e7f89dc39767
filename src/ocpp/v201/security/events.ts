/** SecurityEventNotification and the security log (A04 and N01). */
import type { ConnectFailure } from '../../rpc/socket.ts';
import { createEventLog, failureEvent, securityEventTableOf } from '../../security/events.ts';
import type { EventLog, FailureEvents, SecurityEventRow } from '../../security/events.ts';
import type { Part, SecurityEvents, StationParts } from '../parts.ts';

// Security events of the appendices of 2.0.1 and 2.1. Critical ones reach the central system (A04).

export const securityEventTable = [
  { type: 'FirmwareUpdated', critical: true },
  { type: 'FailedToAuthenticateAtCsms', critical: false },
  { type: 'CsmsFailedToAuthenticate', critical: false },
  { type: 'SettingSystemTime', critical: true },
  { type: 'StartupOfTheDevice', critical: true },
  { type: 'ResetOrReboot', critical: true },
  { type: 'SecurityLogWasCleared', critical: true },
  { type: 'ReconfigurationOfSecurityParameters', critical: false },
  { type: 'MemoryExhaustion', critical: true },
  { type: 'InvalidMessages', critical: false },
  { type: 'AttemptedReplayAttacks', critical: false },
  { type: 'TamperDetectionActivated', critical: true },
  { type: 'InvalidFirmwareSignature', critical: true },
  { type: 'InvalidFirmwareSigningCertificate', critical: true },
  { type: 'InvalidCsmsCertificate', critical: true },
  { type: 'InvalidChargingStationCertificate', critical: true },
  { type: 'InvalidTLSVersion', critical: true },
  { type: 'InvalidTLSCipherSuite', critical: true },
  // raised by a station of 2.1 only
  { type: 'DiscardedRenewedClientCertificate', critical: true },
  { type: 'MaintenanceLoginAccepted', critical: true },
  { type: 'MaintenanceLoginFailed', critical: true },
] as const satisfies readonly SecurityEventRow[];

export const { isCritical, isReported } = securityEventTableOf(securityEventTable);

const failureEvents = {
  certificate: 'InvalidCsmsCertificate',
  tlsVersion: 'InvalidTLSVersion',
  cipherSuite: 'InvalidTLSCipherSuite',
  refused: 'FailedToAuthenticateAtCsms',
} as const satisfies FailureEvents;

export interface SecurityLog extends SecurityEvents, Part, Pick<EventLog, 'entries' | 'waiting'> {
  /** An attempt to connect has failed. */
  failed(failure: ConnectFailure): void;
}

/** A change of one is an event; its value is never in it. */
const securityVariables = [
  ['SecurityCtrlr', 'BasicAuthPassword'],
  ['SecurityCtrlr', 'OrganizationName'],
  ['SecurityCtrlr', 'AllowCSMSTLSWildcards'],
  ['SecurityCtrlr', 'AdditionalRootCertificateCheck'],
] as const;

/** @param parts all of a station but the security events themselves */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): SecurityLog {
  const { variables, calls } = parts;
  const log = createEventLog(parts, { isCritical, isReported }, (report) =>
    calls.send('SecurityEventNotification', report),
  );
  const ends = securityVariables.map(([component, variable]) =>
    variables.onChange(component, variable, () => {
      log.raise('ReconfigurationOfSecurityParameters', `${component}.${variable} changed`);
    }),
  );
  return {
    get entries() {
      return log.entries;
    },
    get waiting() {
      return log.waiting;
    },
    raise: (type, techInfo) => {
      log.raise(type, techInfo);
    },
    failed: (failure) => {
      const type = failureEvent(failure, failureEvents);
      if (type !== null) log.raise(type, failure.text);
    },
    load: () => log.load(),
    stop: () => {
      for (const end of ends) end();
      log.stop();
    },
  };
}
