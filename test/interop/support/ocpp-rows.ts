/** The messages of OCPP 1.6 and its security white paper, by the test that exchanges them with the package `ocpp`. */
import { expect } from 'chai';
import type { PythonCentral } from './ocpp-central.ts';

export const rows = {
  sessions: [
    ...['Authorize', 'BootNotification', 'ChangeAvailability', 'ChangeConfiguration', 'ClearCache', 'DataTransfer'],
    ...['GetConfiguration', 'Heartbeat', 'MeterValues', 'RemoteStartTransaction', 'RemoteStopTransaction', 'Reset'],
    ...['StartTransaction', 'StatusNotification', 'StopTransaction', 'TriggerMessage', 'UnlockConnector'],
  ],
  profiles: [
    ...['GetLocalListVersion', 'SendLocalList', 'CancelReservation', 'ReserveNow'],
    ...['ClearChargingProfile', 'GetCompositeSchedule', 'SetChargingProfile'],
  ],
  upkeep: [
    ...['GetDiagnostics', 'DiagnosticsStatusNotification', 'UpdateFirmware', 'FirmwareStatusNotification'],
    ...['GetLog', 'LogStatusNotification', 'SecurityEventNotification', 'ExtendedTriggerMessage'],
    ...['SignedUpdateFirmware', 'SignedFirmwareStatusNotification'],
  ],
  certificates: [
    ...['SignCertificate', 'CertificateSigned', 'InstallCertificate', 'GetInstalledCertificateIds'],
    'DeleteCertificate',
  ],
} as const;

/** Each of the rows was a request, checked by the package against its schema, and so was the answer. */
export async function expectExchanged({ peer }: PythonCentral, name: keyof typeof rows): Promise<void> {
  expect(await peer.ask('exchanged')).to.include.members([...rows[name]]);
}
