/** Security events of the appendices of 2.0.1 and 2.1. Critical ones reach the central system (A04). */
import { securityEventTableOf } from '../../security/event-log.ts';
import type { SecurityEventRow } from '../../security/event-log.ts';
import type { FailureEvents } from '../../security/failures.ts';

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

export type SecurityEventType = (typeof securityEventTable)[number]['type'];

export const { isCritical, isReported } = securityEventTableOf(securityEventTable);

export const failureEvents = {
  certificate: 'InvalidCsmsCertificate',
  tlsVersion: 'InvalidTLSVersion',
  cipherSuite: 'InvalidTLSCipherSuite',
  refused: 'FailedToAuthenticateAtCsms',
} as const satisfies FailureEvents;
