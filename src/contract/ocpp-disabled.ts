import { SimError } from '../core/errors.ts';
import { noOcppCounters } from './ocpp-counters.ts';
import type { OcppFunctions, OcppStation, OcppStations, OcppStatus } from './ocpp.ts';

function refuse(): never {
  throw new SimError('COMMAND_CONFLICT', 'OCPP is switched off');
}

const noStatus: Omit<OcppStatus, 'id' | 'deviceIndex'> = {
  enabled: false,
  version: 'ocpp1.6j',
  subprotocol: null,
  url: null,
  connectionState: 'disabled',
  bootStatus: 'none',
  securityProfile: 0,
  heartbeatIntervalS: null,
  lastHeartbeatMs: null,
  connectedSinceMs: null,
  reconnectInS: null,
  queue: { calls: 0, transactionMessages: 0 },
  lastError: null,
  clockOffsetS: null,
  tls: null,
};

const noFunctions: OcppFunctions = {
  boot: refuse,
  heartbeat: refuse,
  configuration: () => ({ kind: 'keys', keys: [] }),
  setConfiguration: refuse,
  chargingProfiles: () => [],
  compositeSchedule: refuse,
  reservations: () => [],
  derControls: () => [],
  localList: () => ({ version: 0, entries: [], cache: [] }),
  certificates: () => [],
  transactions: () => [],
  authorize: refuse,
  sendMeterValues: refuse,
  meterReading: refuse,
};

/** A station of a process without `--ocpp_enable`: views are empty, and operations throw COMMAND_CONFLICT. */
export function disabledOcppStation(id: string, deviceIndex: number): OcppStation {
  return {
    status: { ...noStatus, id, deviceIndex },
    counters: noOcppCounters,
    functions: noFunctions,
    connect: refuse,
    disconnect: refuse,
    call: refuse,
    messages: () => [],
    findings: () => [],
    clearFindings: refuse,
  };
}

/** The stations of a process without `--ocpp_enable`. */
export const disabledOcpp: OcppStations = {
  enabled: false,
  list: [],
  totals: noOcppCounters,
  station(id) {
    throw new SimError('UNKNOWN_RESOURCE', `there is no charge point ${JSON.stringify(id)}: OCPP is switched off`);
  },
  ofDevice: () => null,
};
