/** A station with monitoring and streams on the real device model, with meters and transactions that a test moves. */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/core/log/log.ts';
import type { CallOutcome, Payload } from '../../../../src/ocpp/rpc/model.ts';
import type { ConnectorRating, MeterSample } from '../../../../src/ocpp/station/port.ts';
import type { EventData, SetMonitoringData } from '../../../../src/ocpp/v201/messages.ts';
import { createMonitoring } from '../../../../src/ocpp/v201/monitoring/monitoring.ts';
import type { Monitoring } from '../../../../src/ocpp/v201/monitoring/monitoring.ts';
import type { Requests, StationParts, Transaction } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createStreams } from '../../../../src/ocpp/v201/monitoring/streams.ts';
import type { Streams } from '../../../../src/ocpp/v201/monitoring/streams.ts';
import type { VariableRow, VariableStore } from '../../../../src/ocpp/v201/variables/model.ts';
import { variableRows } from '../../../../src/ocpp/v201/variables/table.ts';
import { createLiveVariables } from '../../../../src/ocpp/v201/variables/effects.ts';
import { createVariables } from '../../../../src/ocpp/v201/variables/variables.ts';
import { settled } from '../../v16/fakes.ts';
import { rig as baseRig } from '../rig.ts';
import type { Rig } from '../rig.ts';

/** what an idle connector shows */
const idle: Omit<MeterSample, 'at'> = {
  energyImportWh: 0,
  energyExportWh: 0,
  powerW: 0,
  reactivePowerVar: 0,
  powerFactor: 1,
  currentA: [0, 0, 0],
  phases: [1, 2, 3],
  voltageV: [230, 231, 232],
  powerByPhaseW: [0, 0, 0],
  frequencyHz: 50,
  socPct: null,
  offeredW: 0,
  offeredA: 0,
};

const rating = (connectorId: number): ConnectorRating => ({
  connectorId,
  type: 'ac',
  phases: 3,
  nominalVoltageV: 230,
  maxPowerW: 22_000,
  maxCurrentA: 32,
  bidirectional: false,
  supplyPhases: [1, 2, 3],
  attachedCable: false,
});

const rows: readonly VariableRow[] = [
  ...variableRows,
  {
    component: 'SecretCtrlr',
    variable: 'Password',
    type: 'string',
    mutability: 'WriteOnly',
    initial: '',
    monitored: true,
    secret: true,
  },
];

export interface MonitoringRig extends Omit<Rig, 'variables'> {
  readonly variables: VariableStore;
  readonly monitoring: Monitoring;
  readonly streams: Streams;
  /** by connector; 0: the station */
  readonly meters: Map<number, Partial<MeterSample>>;
  /** Events that have gone out, in order. */
  readonly events: () => readonly EventData[];
  readonly reports: (action: 'NotifyEvent' | 'NotifyMonitoringReport') => readonly Payload[];
  set(...data: readonly SetMonitoringData[]): Promise<readonly { readonly status: string; readonly id?: number }[]>;
  /** Sets one monitor. @returns its id */
  accepted(data: SetMonitoringData): Promise<number>;
  startTransaction(evseId: number): void;
  endTransaction(evseId: number): void;
  stop(): void;
  /** The process begins again with the same store. */
  restart(): Promise<MonitoringRig>;
}

/** EVSE 1 by default. */
export function monitorOf(
  patch: Partial<SetMonitoringData> & Pick<SetMonitoringData, 'type' | 'value'>,
): SetMonitoringData {
  return { severity: 4, component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Power' }, ...patch };
}

function fakeTransactions() {
  const running = new Map<number, Transaction>();
  const started = new Set<(transaction: Transaction) => void>();
  const ended = new Set<(transaction: Transaction) => void>();
  return {
    running: () => [...running.values()],
    at: (evseId: number) => running.get(evseId) ?? null,
    onStarted: (listener: (transaction: Transaction) => void) => {
      started.add(listener);
      return () => started.delete(listener);
    },
    onEnded: (listener: (transaction: Transaction) => void) => {
      ended.add(listener);
      return () => ended.delete(listener);
    },
    start(evseId: number) {
      const transaction = { transactionId: `tx-${evseId}`, evseId } as Transaction;
      running.set(evseId, transaction);
      for (const listener of started) listener(transaction);
    },
    end(evseId: number) {
      const transaction = running.get(evseId);
      running.delete(evseId);
      if (transaction !== undefined) for (const listener of ended) listener(transaction);
    },
  };
}

function build(rig: Rig, version: Version2): MonitoringRig {
  const meters = new Map<number, Partial<MeterSample>>();
  const device = Object.assign(rig.device.port, {
    sample: (connectorId: number): MeterSample => ({ at: rig.device.now, ...idle, ...meters.get(connectorId) }),
  });
  const evseIds = device.connectorIds;
  const variables = createVariables({
    facts: {
      version,
      nameplate: device.nameplate,
      evseIds,
      ratings: evseIds.map(rating),
      stationRating: rating(0),
      securityProfile: 1,
    },
    rows,
    slot: rig.store.slot('variables'),
    shared: rig.store.slot('network-variables'),
    log: silentLogger,
  });
  const parts: StationParts = { ...rig.parts, device, variables };
  const transactions = fakeTransactions();
  const streams = createStreams(parts);
  const monitoring = createMonitoring(parts, {
    variables,
    streams,
    transactions: {
      get running() {
        return transactions.running();
      },
      at: transactions.at,
      onStarted: transactions.onStarted,
      onEnded: transactions.onEnded,
    },
  });
  const live = createLiveVariables(parts, {
    availability: { stationInoperative: false, operative: () => true, onChange: () => undefined },
    transactions: {
      get running() {
        return transactions.running();
      },
      at: transactions.at,
    },
  });
  const sent = (action: string) => rig.line.of(action);
  const made: MonitoringRig = {
    ...rig,
    pass: (seconds) => rig.pass(seconds),
    variables,
    monitoring,
    streams,
    meters,
    reports: sent,
    events: () => sent('NotifyEvent').flatMap((each) => (each as Requests['NotifyEvent']).eventData),
    set: async (...setMonitoringData) =>
      (await rig.ask(monitoring, 'SetVariableMonitoring', { setMonitoringData })).setMonitoringResult,
    async accepted(data) {
      const [result] = await made.set(data);
      expect(result?.status).to.equal('Accepted');
      return result?.id ?? NaN;
    },
    startTransaction: (evseId) => transactions.start(evseId),
    endTransaction: (evseId) => transactions.end(evseId),
    stop() {
      monitoring.stop();
      streams.stop();
      live.stop?.();
    },
    async restart() {
      made.stop();
      await settled();
      const next = build(rig, version);
      await next.variables.load();
      await next.monitoring.load();
      for (const [connectorId, meter] of meters) next.meters.set(connectorId, meter);
      await settled();
      return next;
    },
  };
  return made;
}

export async function monitoringRig(version: Version2 = 'ocpp2.1'): Promise<MonitoringRig> {
  const made = build(baseRig({ version }), version);
  await made.monitoring.load();
  await settled();
  return made;
}

/** Events of one monitor. */
export const toldOf = (rig: MonitoringRig, id: number): readonly EventData[] =>
  rig.events().filter(({ variableMonitoringId }) => variableMonitoringId === id);

export function power(rig: MonitoringRig, powerW: number, evseId = 1): void {
  rig.meters.set(evseId, { powerW });
}

export async function fault(rig: MonitoringRig, evseId = 1): Promise<void> {
  rig.device.change(evseId, { errorCode: 'GroundFailure', errorInfo: 'residual current', status: 'faulted' }, 'fault');
  await settled();
}

export async function noFault(rig: MonitoringRig, evseId = 1): Promise<void> {
  rig.device.change(evseId, { errorCode: 'NoError', errorInfo: null, status: 'available' }, 'clear_fault');
  await settled();
}

/** A connection without answers. */
export const lost = (): CallOutcome => ({ kind: 'lost' });
export { settled };
