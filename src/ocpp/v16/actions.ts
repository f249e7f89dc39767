/** Actions of OCPP 1.6 and of its security extension by direction. */
import type { Action } from './messages.ts';

/** `station`: sent by the station; `central`: by the central system. */
export const directions: Readonly<Record<Action, 'station' | 'central' | 'both'>> = {
  Authorize: 'station',
  BootNotification: 'station',
  CancelReservation: 'central',
  CertificateSigned: 'central',
  ChangeAvailability: 'central',
  ChangeConfiguration: 'central',
  ClearCache: 'central',
  ClearChargingProfile: 'central',
  DataTransfer: 'both',
  DeleteCertificate: 'central',
  DiagnosticsStatusNotification: 'station',
  ExtendedTriggerMessage: 'central',
  FirmwareStatusNotification: 'station',
  GetCompositeSchedule: 'central',
  GetConfiguration: 'central',
  GetDiagnostics: 'central',
  GetInstalledCertificateIds: 'central',
  GetLocalListVersion: 'central',
  GetLog: 'central',
  Heartbeat: 'station',
  InstallCertificate: 'central',
  LogStatusNotification: 'station',
  MeterValues: 'station',
  RemoteStartTransaction: 'central',
  RemoteStopTransaction: 'central',
  ReserveNow: 'central',
  Reset: 'central',
  SecurityEventNotification: 'station',
  SendLocalList: 'central',
  SetChargingProfile: 'central',
  SignCertificate: 'station',
  SignedFirmwareStatusNotification: 'station',
  SignedUpdateFirmware: 'central',
  StartTransaction: 'station',
  StatusNotification: 'station',
  StopTransaction: 'station',
  TriggerMessage: 'central',
  UnlockConnector: 'central',
  UpdateFirmware: 'central',
};

/** Calls that the central system may send. */
export const centralActions: readonly Action[] = (Object.keys(directions) as readonly Action[]).filter(
  (action) => directions[action] !== 'station',
);
