/** The stand-in of the charge points without OCPP, and sums of their counters. */
import { SimError } from '../core/errors.ts';
import { newerError } from '../core/adapter.ts';
import type { OcppFunctions, OcppStation, OcppStations, OcppStatus, OcppCounters } from './ocpp.ts';

/** Counters before any message: the start of a sum. */
export const noOcppCounters: OcppCounters = {
  messages: [],
  connects: 0,
  drops: 0,
  callErrors: 0,
  lastError: null,
  timeouts: 0,
  findings: { schema: 0, rule: 0 },
  droppedMeterValues: 0,
  lastContactMs: null,
};

function sumOfMessages(a: OcppCounters['messages'], b: OcppCounters['messages']): OcppCounters['messages'] {
  const rows = new Map<string, OcppCounters['messages'][number]>();
  for (const { direction, type, count } of [...a, ...b]) {
    const key = `${direction} ${type}`;
    rows.set(key, { direction, type, count: count + (rows.get(key)?.count ?? 0) });
  }
  return [...rows.values()];
}

export function sumOfOcppCounters(a: OcppCounters, b: OcppCounters): OcppCounters {
  const contacts = [a, b].flatMap(({ lastContactMs }) => lastContactMs ?? []);
  return {
    messages: sumOfMessages(a.messages, b.messages),
    connects: a.connects + b.connects,
    drops: a.drops + b.drops,
    callErrors: a.callErrors + b.callErrors,
    lastError: newerError(a.lastError, b.lastError),
    timeouts: a.timeouts + b.timeouts,
    findings: { schema: a.findings.schema + b.findings.schema, rule: a.findings.rule + b.findings.rule },
    droppedMeterValues: a.droppedMeterValues + b.droppedMeterValues,
    lastContactMs: contacts.length === 0 ? null : Math.max(...contacts),
  };
}

function refuse(): never {
  throw new SimError('COMMAND_CONFLICT', 'OCPP is switched off');
}

const noStatus: Omit<OcppStatus, 'id' | 'deviceIndex'> = {
  enabled: false,
  version: 'ocpp1.6j',
  versions: ['ocpp1.6j'],
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
  display: () => [],
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
