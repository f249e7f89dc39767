/** Security events of the white paper "Improved security for OCPP 1.6-J", edition 3, section 5. */
import { securityEventTableOf } from '../../security/event-log.ts';
import type { SecurityEventRow } from '../../security/event-log.ts';

/** What is reported though it is not critical: use cases A02, A03, L01 and M05 have the station do so. */
export const securityEventTable = [
  { type: 'FirmwareUpdated', critical: true },
  { type: 'FailedToAuthenticateAtCentralSystem', critical: false },
  { type: 'CentralSystemFailedToAuthenticate', critical: false },
  { type: 'SettingSystemTime', critical: true },
  { type: 'StartupOfTheDevice', critical: true },
  { type: 'ResetOrReboot', critical: true },
  { type: 'SecurityLogWasCleared', critical: true },
  { type: 'ReconfigurationOfSecurityParameters', critical: false },
  { type: 'MemoryExhaustion', critical: true },
  { type: 'InvalidMessages', critical: false },
  { type: 'AttemptedReplayAttacks', critical: false },
  { type: 'TamperDetectionActivated', critical: true },
  { type: 'InvalidFirmwareSignature', critical: false, reported: true },
  { type: 'InvalidFirmwareSigningCertificate', critical: false, reported: true },
  { type: 'InvalidCentralSystemCertificate', critical: false, reported: true },
  { type: 'InvalidChargePointCertificate', critical: false, reported: true },
  { type: 'InvalidTLSVersion', critical: false, reported: true },
  { type: 'InvalidTLSCipherSuite', critical: false, reported: true },
] as const satisfies readonly SecurityEventRow[];

export const { isCritical, isReported } = securityEventTableOf(securityEventTable);
