/** Security events of the appendices of 2.0.1 and 2.1, and the security log. Critical ones reach the central system (A04, N01). */
import { createEventLog, securityEventTableOf } from '../../security/events.ts';
import type { EventLog, FailureEvents, SecurityEventRow } from '../../security/events.ts';
import type { StationParts } from '../parts.ts';

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

const failures = {
  certificate: 'InvalidCsmsCertificate',
  tlsVersion: 'InvalidTLSVersion',
  cipherSuite: 'InvalidTLSCipherSuite',
  refused: 'FailedToAuthenticateAtCsms',
} as const satisfies FailureEvents;

/** Variables whose change is a security event. */
const securityVariables = [
  ['SecurityCtrlr', 'BasicAuthPassword'],
  ['SecurityCtrlr', 'OrganizationName'],
  ['SecurityCtrlr', 'AllowCSMSTLSWildcards'],
  ['SecurityCtrlr', 'AdditionalRootCertificateCheck'],
] as const;

/** @param parts all of a station but the security events themselves */
export function createSecurityEvents(parts: Omit<StationParts, 'security'>): EventLog {
  const { variables, calls } = parts;
  return createEventLog(parts, {
    isCritical,
    isReported,
    failures,
    send: (report) => calls.send('SecurityEventNotification', report),
    watch: (changed) =>
      securityVariables.map(([component, variable]) =>
        variables.onChange(component, variable, () => {
          changed(`${component}.${variable}`);
        }),
      ),
  });
}
