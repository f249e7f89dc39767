/** Security events of the white paper "Improved security for OCPP 1.6-J", edition 3, section 5. */

export interface SecurityEventRow {
  readonly type: string;
  /** sent to the central system with guaranteed delivery */
  readonly critical: boolean;
  /** not critical, but a use case of the white paper has the station report it (A02, A03, L01, M05) */
  readonly reported?: true;
}

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

const rows: ReadonlyMap<string, SecurityEventRow> = new Map(securityEventTable.map((row) => [row.type, row]));

/** Whether the central system must learn of it, whatever comes between. */
export const isCritical = (type: string): boolean => rows.get(type)?.critical ?? false;

/** Whether the central system is told. An event that the table lacks is a vendor's own and is only logged. */
export function isReported(type: string): boolean {
  const row = rows.get(type);
  return row !== undefined && (row.critical || row.reported === true);
}
