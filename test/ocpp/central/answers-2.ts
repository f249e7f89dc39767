/** What the central system of the tests answers to a station of 2.0.1 or 2.1 unless a test says otherwise. */
import type { CentralAnswer } from './answers.ts';

type Json = Record<string, unknown>;

const empty = () => ({});
const accepted = () => ({ status: 'Accepted' });

/** Actions that only 2.1 has. */
const answers21: Record<string, CentralAnswer> = {
  BatterySwap: empty,
  ClosePeriodicEventStream: empty,
  GetCertificateChainStatus: ({ certificateStatusRequests }) => ({
    certificateStatus: (certificateStatusRequests as readonly Json[]).map(({ certificateHashData, source }) => ({
      certificateHashData,
      source,
      status: 'Unknown',
      nextUpdate: '2030-01-01T00:00:00Z',
    })),
  }),
  NotifyDERAlarm: empty,
  NotifyDERStartStop: empty,
  NotifyPriorityCharging: empty,
  NotifySettlement: empty,
  OpenPeriodicEventStream: accepted,
  PullDynamicScheduleUpdate: () => ({ status: 'Rejected' }),
  ReportDERControl: empty,
  VatNumberValidation: ({ vatNumber }) => ({ vatNumber, status: 'Rejected' }),
};

/** Every call that a charging station sends. @param nowMs time of the central system */
export function answers2(version: 'ocpp2.0.1' | 'ocpp2.1', nowMs: () => number): Record<string, CentralAnswer> {
  const currentTime = () => new Date(nowMs()).toISOString();
  return {
    Authorize: () => ({ idTokenInfo: { status: 'Accepted' } }),
    BootNotification: () => ({ status: 'Accepted', currentTime: currentTime(), interval: 300 }),
    ClearedChargingLimit: empty,
    DataTransfer: accepted,
    FirmwareStatusNotification: empty,
    Get15118EVCertificate: () => ({ status: 'Failed', exiResponse: '' }),
    GetCertificateStatus: () => ({ status: 'Failed' }),
    Heartbeat: () => ({ currentTime: currentTime() }),
    LogStatusNotification: empty,
    MeterValues: empty,
    NotifyChargingLimit: empty,
    NotifyCustomerInformation: empty,
    NotifyDisplayMessages: empty,
    NotifyEVChargingNeeds: accepted,
    NotifyEVChargingSchedule: accepted,
    NotifyEvent: empty,
    NotifyMonitoringReport: empty,
    NotifyReport: empty,
    PublishFirmwareStatusNotification: empty,
    ReportChargingProfiles: empty,
    ReservationStatusUpdate: empty,
    SecurityEventNotification: empty,
    SignCertificate: accepted,
    StatusNotification: empty,
    // the token of an event is answered with what the central system says of it
    TransactionEvent: ({ idToken }) => (idToken === undefined ? {} : { idTokenInfo: { status: 'Accepted' } }),
    ...(version === 'ocpp2.1' && answers21),
  };
}
