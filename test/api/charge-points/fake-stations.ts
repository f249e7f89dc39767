/** Charge points for tests of REST: views are the examples, operations are written down. */
import { disabledOcppStation } from '../../../src/contract/ocpp-disabled.ts';
import type {
  OcppCallResult,
  OcppCounters,
  OcppStation,
  OcppStations,
  OcppStatus,
} from '../../../src/contract/ocpp.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';

export const atMs = Date.parse('2026-06-21T12:00:00.000Z');

const variable = {
  component: 'Connector',
  variable: 'ConnectorType',
  attribute: 'Actual',
  value: 'cType2',
  mutability: 'ReadOnly',
  evseId: 1,
  connectorId: 1,
  instance: null,
  rebootRequired: false,
} as const;

export class FakeStations implements OcppStations {
  readonly enabled = true;
  readonly calls: unknown[] = [];
  status: OcppStatus;
  answer: OcppCallResult['answer'] = { kind: 'result', payload: { status: 'Accepted' } };
  failure: SimError | null = null;
  queued = 0;
  transactionId: string | null = '4711';
  readonly #station: OcppStation;

  constructor(id = 'SIM-CP-1') {
    const off = disabledOcppStation(id, 0);
    this.status = {
      ...off.status,
      enabled: true,
      url: 'ws://127.0.0.1:8180/ocpp',
      connectionState: 'connected',
      subprotocol: 'ocpp1.6',
      bootStatus: 'accepted',
      connectedSinceMs: atMs,
      reconnectInS: 1.23456,
      queue: { calls: 1, transactionMessages: 2 },
      tls: { version: 'TLSv1.3', suite: 'TLS_AES_128_GCM_SHA256' },
    };
    const status = () => this.status;
    const note = (name: string, ...values: readonly unknown[]) => {
      this.calls.push([name, ...values]);
      if (this.failure) throw this.failure;
    };
    const result = (action: string): OcppCallResult => ({
      messageId: 'm-1',
      action,
      durationMs: 2.34567,
      answer: this.answer,
    });
    this.#station = {
      ...off,
      get status() {
        return status();
      },
      connect: (options, by) => note('connect', options, by.source),
      disconnect: (code) => note('disconnect', code),
      call: (call) => this.#later(() => (note('call', call), result(call.action))),
      messages: (filter) => {
        note('messages', filter);
        const message = {
          id: 1,
          atMs,
          at: 0 as SimTime,
          direction: 'in',
          messageId: null,
          action: null,
          durationMs: null,
        } as const;
        return [
          { ...message, type: 'invalid', payload: 'no frame', truncated: true },
          { ...message, id: 2, type: 'call', payload: [1], truncated: false },
        ];
      },
      findings: () => [
        { id: 1, atMs, kind: 'rule', action: null, messageId: null, clause: 'OCPP-J 1.6 4.1.4', text: 'twice' },
      ],
      clearFindings: () => note('clearFindings'),
      functions: {
        ...off.functions,
        boot: (reason) => this.#later(() => (note('boot', reason), result('BootNotification'))),
        heartbeat: () => this.#later(() => (note('heartbeat'), result('Heartbeat'))),
        configuration: (key) => {
          note('configuration', key);
          if (this.status.version !== 'ocpp1.6j') return { kind: 'variables', variables: [variable] };
          return {
            kind: 'keys',
            keys: [{ key: 'AuthorizationKey', value: null, readonly: false, rebootRequired: false }],
          };
        },
        setConfiguration: (change) => {
          note('setConfiguration', change);
          if (this.status.version !== 'ocpp1.6j') return { kind: 'variables', variables: [variable] };
          return {
            kind: 'keys',
            keys: [{ key: change.name, value: change.value, readonly: false, rebootRequired: true }],
          };
        },
        compositeSchedule: (connectorId, durationS, unit) => {
          note('compositeSchedule', connectorId, durationS, unit);
          return {
            connectorId,
            startMs: atMs,
            durationS,
            unit,
            periods: [{ startS: 0, limit: null, numberPhases: null }],
          };
        },
        chargingProfiles: (connectorId) => {
          note('chargingProfiles', connectorId);
          return [];
        },
        transactions: () => [
          {
            transactionId: this.transactionId,
            sessionId: '1',
            connectorId: 1,
            idToken: 'AUTO',
            startedMs: atMs,
            endedMs: null,
            meterStartWh: 0,
            meterStopWh: null,
            stopReason: null,
            queued: this.queued,
          },
          // of an earlier process, which counted its sessions from 1 too
          {
            transactionId: '17',
            sessionId: '1',
            connectorId: 1,
            idToken: 'AUTO',
            startedMs: atMs - 86_400_000,
            endedMs: atMs - 80_000_000,
            meterStartWh: 0,
            meterStopWh: 9000,
            stopReason: 'PowerLoss',
            queued: 0,
          },
        ],
        authorize: (connectorId, idToken) =>
          this.#later(() => {
            note('authorize', connectorId, idToken);
            return { status: 'Blocked', info: { status: 'Blocked' } };
          }),
        sendMeterValues: (connectorId) => note('sendMeterValues', connectorId),
        meterReading: (connectorId) => ({
          connectorId,
          at: 0 as SimTime,
          timestamp: new Date(atMs).toISOString(),
          values: [],
        }),
      },
    };
  }

  get list(): readonly OcppStation[] {
    return [this.#station];
  }

  get totals(): OcppCounters {
    return this.#station.counters;
  }

  station(id: string): OcppStation {
    if (id !== this.status.id) throw new SimError('UNKNOWN_RESOURCE', 'none');
    return this.#station;
  }

  ofDevice(deviceIndex: number): OcppStation | null {
    return deviceIndex === 0 ? this.#station : null;
  }

  #later<T>(make: () => T): Promise<T> {
    return Promise.resolve().then(make);
  }
}
