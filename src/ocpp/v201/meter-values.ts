/** Meter values in TransactionEvents and MeterValues (J01, J02). All values of one meter value are of one instant. */
import type { EvseConnectorTransition, EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import type { OcppMeterReading } from '../../contract/ocpp.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { createEnergies, createHistory, meteredRows, nextAligned, nextPeriodic, repeat } from '../meter-values.ts';
import type { Energies, History, MeasurandRow, MeasuredValue, Reading, Repeat } from '../meter-values.ts';
import type { MeterDistortion } from '../rpc/model.ts';
import type { MeterSample } from '../station/port.ts';
import type { MeterValue, SampledValue } from './messages.ts';
import { stamp } from './parts.ts';
import type { MeterValues, Part, StationParts, Transaction, Transactions } from './parts.ts';
import type { Version2 } from '../station/stack.ts';

// The measurands of 2.x that a station meters, as its messages show them.

type Measurand = NonNullable<SampledValue['measurand']>;
type Context = NonNullable<SampledValue['context']>;

/** Readings of an EVSE at one instant. */
interface EvseReading extends Reading {
  /** null: the meter of the station */
  readonly connector: EvseConnectorDetail | null;
  /** set-point of the charging profiles in force, + into the vehicle, W; null: none */
  readonly setpointW: number | null;
}

interface Row {
  readonly unit?: string;
  readonly digits: number;
  readonly inVehicle?: true;
  /** empty: there is nothing to report */
  readonly read: (reading: EvseReading) => readonly MeasuredValue[];
}

const nonNegative = (value: number) => (value > 0 ? value : 0);

type Vehicle = NonNullable<EvseConnectorDetail['ev']>;

function ofVehicle(unit: string | undefined, digits: number, read: (ev: Vehicle, r: EvseReading) => number): Row {
  return {
    ...(unit === undefined ? {} : { unit }),
    digits,
    inVehicle: true,
    read: (reading) => {
      const ev = reading.connector?.ev ?? null;
      return ev === null ? [] : [{ value: read(ev, reading) }];
    },
  };
}

function ofConnector(unit: string, digits: number, read: (connector: EvseConnectorDetail) => number): Row {
  return { unit, digits, read: ({ connector }) => (connector === null ? [] : [{ value: read(connector) }]) };
}

function ofSetpoint(read: (setpointW: number, reading: EvseReading) => number): Row {
  return {
    unit: 'W',
    digits: 1,
    read: (reading) => (reading.setpointW === null ? [] : [{ value: read(reading.setpointW, reading) }]),
  };
}

/** Energy that the battery needs up to a state of charge; the station does not know the losses of the charger. */
const missingWh = (ev: Vehicle, socPct: number) => ((socPct - ev.socPct) / 100) * ev.batteryCapacityWh;

const energyNet: Row = {
  unit: 'Wh',
  digits: 0,
  read: ({ energy }) => [{ value: energy.importWh - energy.exportWh }],
};

/** Measurands of 2.1 alone, from the state of the device. */
const measurands21 = {
  'Current.Import.Offered': ofConnector('A', 2, ({ allocatedA }) => nonNegative(allocatedA)),
  'Current.Export.Offered': ofConnector('A', 2, ({ allocatedA }) => nonNegative(-allocatedA)),
  'Power.Import.Offered': ofConnector('W', 1, ({ allocatedW }) => nonNegative(allocatedW)),
  'Power.Export.Offered': ofConnector('W', 1, ({ allocatedW }) => nonNegative(-allocatedW)),
  'Power.Import.Minimum': ofConnector('W', 1, ({ minPowerW }) => minPowerW),
  'Power.Active.Setpoint': ofSetpoint((setpointW) => setpointW),
  'Power.Active.Residual': ofSetpoint((setpointW, { sample }) => setpointW - sample.powerW),
  'Display.PresentSOC': ofVehicle('Percent', 1, ({ socPct }) => socPct),
  'Display.MinimumSOC': ofVehicle('Percent', 1, ({ reserveSocPct }) => reserveSocPct),
  'Display.TargetSOC': ofVehicle('Percent', 1, ({ targetSocPct }) => targetSocPct),
  'Display.ChargingComplete': ofVehicle(undefined, 0, ({ socPct, targetSocPct }) => (socPct >= targetSocPct ? 1 : 0)),
  'Display.BatteryEnergyCapacity': ofVehicle('Wh', 0, ({ batteryCapacityWh }) => batteryCapacityWh),
  'EnergyRequest.Target': ofVehicle('Wh', 0, (ev) => nonNegative(missingWh(ev, ev.targetSocPct))),
  'EnergyRequest.Minimum': ofVehicle('Wh', 0, (ev) => missingWh(ev, ev.reserveSocPct)),
  'EnergyRequest.Maximum': ofVehicle('Wh', 0, (ev) => nonNegative(missingWh(ev, 100))),
} as const satisfies Partial<Record<Measurand, Row>>;

/** Measurands of both versions, without apparent and reactive energy, which the meters of the device do not count. */
const common: Readonly<Record<string, MeasurandRow | Row>> = { ...meteredRows, 'Energy.Active.Net': energyNet };
const tables: Readonly<Record<Version2, Readonly<Record<string, MeasurandRow | Row>>>> = {
  'ocpp2.0.1': common,
  'ocpp2.1': { ...common, ...measurands21 },
};

/** Measurands that a station of a version meters: the values of the measurand lists. */
export function suppliedMeasurands(version: Version2): readonly string[] {
  return Object.keys(tables[version]);
}

/** Decimals of a measurand. */
function digitsOf(version: Version2, measurand: string): number {
  return tables[version][measurand]?.digits ?? 0;
}

function rounded(value: number, digits: number): number {
  const number = Number(value.toFixed(digits));
  // a reading is never -0
  return number === 0 ? 0 : number;
}

/**
 * The values of a sample in the order of the list; what the EVSE does not have (a vehicle, a set-point) is left out.
 * @param evseId 0: the meter of the station, at its inlet
 */
function sampledValues(
  version: Version2,
  reading: EvseReading,
  measurands: readonly string[],
  { evseId, context }: { readonly evseId: number; readonly context: Context },
): readonly SampledValue[] {
  const place = evseId === 0 ? 'Inlet' : 'Outlet';
  return measurands.flatMap((measurand) => {
    const row = tables[version][measurand];
    if (row === undefined) return [];
    return row.read(reading).map(
      ({ value, phase }): SampledValue => ({
        value: rounded(value, row.digits),
        context,
        measurand: measurand as Measurand,
        ...(phase === undefined ? {} : { phase }),
        location: row.inVehicle === true ? 'EV' : place,
        ...(row.unit === undefined ? {} : { unitOfMeasure: { unit: row.unit } }),
      }),
    );
  });
}

interface MeterValuesDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'update' | 'onStarted' | 'onEnded'>;
  /** Set-point of the charging profiles in force, + into the vehicle, W; null: none. Absent: always null. */
  readonly setpointW?: (evseId: number) => number | null;
}

/** Series of samples, with the variable that lists the measurands of each series. */
const lists = {
  started: ['SampledDataCtrlr', 'TxStartedMeasurands'],
  updated: ['SampledDataCtrlr', 'TxUpdatedMeasurands'],
  ended: ['SampledDataCtrlr', 'TxEndedMeasurands'],
  aligned: ['AlignedDataCtrlr', 'Measurands'],
  aligned_ended: ['AlignedDataCtrlr', 'TxEndedMeasurands'],
  trigger: ['AlignedDataCtrlr', 'Measurands'],
} as const;
type Series = keyof typeof lists;

const registerAlone = ['Energy.Active.Import.Register'];

interface SampleRequest {
  readonly series: Series;
  readonly evseId: number;
  readonly context: Context;
  /** default: the state now */
  readonly transition?: EvseConnectorTransition | undefined;
  /** default: the instant of the sample, ms on the clock of the central system */
  readonly atMs?: number;
  /** faults of the meter */
  readonly distortion: () => MeterDistortion | null;
}

interface MeterState {
  readonly parts: StationParts;
  readonly deps: MeterValuesDeps;
  readonly energies: Energies<Series>;
  readonly history: History<MeterValue>;
  /** timers of running transactions, by their id */
  readonly repeats: Map<string, readonly Repeat[]>;
  /** by EVSE: faults of the meter in the Started event, which the first sample for Ended shares */
  readonly started: Map<number, () => MeterDistortion | null>;
}

/** Faults of a meter for one sample, drawn at the first call: all values of the sample show the same register. */
function distortionOf({ parts }: MeterState, evseId: number, action: 'TransactionEvent' | 'MeterValues') {
  let drawn: { readonly value: MeterDistortion | null } | null = null;
  return (): MeterDistortion | null => {
    const { disturber, device } = parts;
    if (!disturber.active) return null;
    drawn ??= { value: disturber.readings(device.deviceIndex, evseId, action) };
    return drawn.value;
  };
}

function measurandsOf({ variables }: StationParts, series: Series): readonly string[] {
  const [component, variable] = lists[series];
  if (series === 'trigger') {
    const listed = variables.list(component, variable);
    return listed.length === 0 ? registerAlone : listed;
  }
  return variables.boolean(component, 'Enabled') ? variables.list(component, variable) : [];
}

/** A sample; null: no measurand in the list of its series has a value here. */
function take({ parts, deps, energies }: MeterState, request: SampleRequest): MeterValue | null {
  const { series, evseId, context, transition, distortion } = request;
  const measurands = measurandsOf(parts, series);
  if (measurands.length === 0) return null;
  const { device, clock, version } = parts;
  const sample = transition === undefined ? device.sample(evseId) : device.sampleOf(transition);
  const reading = {
    sample,
    energy: energies.shown(series, evseId, sample, distortion()),
    connector: transition?.connector ?? (evseId === 0 ? null : device.connector(evseId)),
    setpointW: evseId === 0 ? null : (deps.setpointW?.(evseId) ?? null),
  };
  const [first, ...others] = sampledValues(version, reading, measurands, { evseId, context });
  if (first === undefined) return null;
  return { timestamp: stamp(request.atMs ?? clock.ofSim(sample.at)), sampledValue: [first, ...others] };
}

const listOf = (value: MeterValue | null): readonly MeterValue[] => (value === null ? [] : [value]);

function keep({ history }: MeterState, { transactionId }: Transaction, value: MeterValue | null): void {
  if (value !== null) history.add(transactionId, value);
}

function inTransaction(
  { deps }: MeterState,
  evseId: number,
  trigger: 'MeterValuePeriodic' | 'MeterValueClock' | 'Trigger',
  value: MeterValue | null,
): void {
  if (value !== null) deps.transactions.update(evseId, trigger, { meterValue: [value] });
}

/** Clock-aligned values of an EVSE, or of the station: in its transaction, or in MeterValues outside of one. */
function sendAligned(state: MeterState, evseId: number, atMs: number): void {
  const { parts, deps } = state;
  const { running } = deps.transactions;
  // SendDuringIdle is a variable of the station: a transaction at any EVSE counts (J01.FR.20)
  if (running.length > 0 && parts.variables.boolean('AlignedDataCtrlr', 'SendDuringIdle')) return;
  const inside = evseId !== 0 && deps.transactions.at(evseId) !== null;
  const distortion = distortionOf(state, evseId, inside ? 'TransactionEvent' : 'MeterValues');
  const value = take(state, { series: 'aligned', evseId, context: 'Sample.Clock', atMs, distortion });
  if (inside) inTransaction(state, evseId, 'MeterValueClock', value);
  else if (value !== null) void parts.calls.send('MeterValues', { evseId, meterValue: [value] });
}

function startSeries({ energies }: MeterState, evseId: number, series: readonly Series[], sample: MeterSample): void {
  for (const each of series) energies.begin(each, evseId, sample);
}

/** @param next the due instant after another one; null: none */
function repeated({ parts }: MeterState, next: (nowMs: number) => number | null, act: (dueMs: number) => void): Repeat {
  return repeat(parts.clock, next, (dueMs) => {
    // a station that is off meters nothing
    if (!parts.device.dark) act(dueMs);
  });
}

/** Acts at intervals from the start of a transaction, when there is a new reading. */
function periodic(state: MeterState, { evseId, startedMs }: Transaction, variable: string, act: () => void): Repeat {
  const { variables, device } = state.parts;
  let sampledAt: SimTime | null = null;
  const next = (nowMs: number) => {
    const intervalS = variables.integer('SampledDataCtrlr', variable);
    return intervalS > 0 ? nextPeriodic(startedMs, nowMs, intervalS) : null;
  };
  return repeated(state, next, () => {
    // within a tick of the device there is no new reading
    const { at } = device.sample(evseId);
    if (at === sampledAt) return;
    sampledAt = at;
    act();
  });
}

function aligned(state: MeterState, variable: string, act: (dueMs: number) => void): Repeat {
  const next = (nowMs: number) => {
    const intervalS = state.parts.variables.integer('AlignedDataCtrlr', variable);
    return intervalS > 0 ? nextAligned(nowMs, intervalS) : null;
  };
  return repeated(state, next, act);
}

function begin(state: MeterState, transaction: Transaction): void {
  const { evseId, transactionId, startedMs } = transaction;
  const { device } = state.parts;
  startSeries(state, evseId, ['updated', 'ended', 'aligned_ended'], device.sample(evseId));
  const context = 'Sample.Periodic';
  const newDistortion = () => distortionOf(state, evseId, 'TransactionEvent');
  const initialRequest: SampleRequest = {
    series: 'ended',
    evseId,
    context: 'Transaction.Begin',
    atMs: startedMs,
    distortion: state.started.get(evseId) ?? newDistortion(),
  };
  state.started.delete(evseId);
  keep(state, transaction, take(state, initialRequest));
  const repeats = [
    periodic(state, transaction, 'TxUpdatedInterval', () => {
      const value = take(state, { series: 'updated', evseId, context, distortion: newDistortion() });
      inTransaction(state, evseId, 'MeterValuePeriodic', value);
    }),
    periodic(state, transaction, 'TxEndedInterval', () => {
      keep(state, transaction, take(state, { series: 'ended', evseId, context, distortion: newDistortion() }));
    }),
    aligned(state, 'TxEndedInterval', (atMs) => {
      const request: SampleRequest = {
        series: 'aligned_ended',
        evseId,
        context: 'Sample.Clock',
        atMs,
        distortion: newDistortion(),
      };
      keep(state, transaction, take(state, request));
    }),
  ];
  state.repeats.set(transactionId, repeats);
  for (const each of repeats) each.plan();
}

function end({ repeats, history }: MeterState, { transactionId }: Transaction): void {
  for (const each of repeats.get(transactionId) ?? []) each.stop();
  repeats.delete(transactionId);
  history.removeAll(transactionId);
}

function sampleStarted(state: MeterState, request: Omit<SampleRequest, 'series' | 'context'>): readonly MeterValue[] {
  const { evseId, transition, distortion } = request;
  const { device } = state.parts;
  state.started.set(evseId, distortion);
  // the first interval begins here, whatever an earlier transaction reported
  const reading = transition === undefined ? device.sample(evseId) : device.sampleOf(transition);
  startSeries(state, evseId, ['started'], reading);
  return listOf(take(state, { ...request, series: 'started', context: 'Transaction.Begin' }));
}

function sample(
  state: MeterState,
  evseId: number,
  kind: 'Started' | 'Updated' | 'Ended',
  transition?: EvseConnectorTransition,
) {
  const distortion = distortionOf(state, evseId, 'TransactionEvent');
  const request = { evseId, transition, distortion };
  if (kind === 'Started') return sampleStarted(state, request);
  if (kind === 'Updated') return listOf(take(state, { ...request, series: 'updated', context: 'Sample.Periodic' }));
  const endSamples = listOf(take(state, { ...request, series: 'ended', context: 'Transaction.End' }));
  const transaction = state.deps.transactions.at(evseId);
  return [...(transaction === null ? [] : state.history.removeAll(transaction.transactionId)), ...endSamples];
}

/** Keeps a sample of each transaction at the begin and at the end of a loss of power. */
function followDevice(state: MeterState, { event }: EvseTransition): void {
  if (event !== 'power_down' && event !== 'power_up') return;
  const context = event === 'power_down' ? 'Interruption.Begin' : 'Interruption.End';
  for (const transaction of state.deps.transactions.running) {
    const { evseId } = transaction;
    const distortion = distortionOf(state, evseId, 'TransactionEvent');
    keep(state, transaction, take(state, { series: 'ended', evseId, context, distortion }));
  }
}

/** @param options `triggered`: by TriggerMessage, in MeterValues also while a transaction runs (F06) */
function trigger(state: MeterState, evseId: number, options: { readonly triggered?: boolean }): void {
  const { parts, deps } = state;
  const inside = options.triggered !== true && evseId !== 0 && deps.transactions.at(evseId) !== null;
  const distortion = distortionOf(state, evseId, inside ? 'TransactionEvent' : 'MeterValues');
  const value = take(state, { series: 'trigger', evseId, context: 'Trigger', distortion });
  if (inside) inTransaction(state, evseId, 'Trigger', value);
  else if (value !== null) void parts.calls.send('MeterValues', { evseId, meterValue: [value] }, options);
}

/** TriggerMessage for TransactionEvent: a running transaction is reported with its sampled values, or without any. */
function triggerTransaction(state: MeterState, evseId: number): void {
  const distortion = distortionOf(state, evseId, 'TransactionEvent');
  const value = take(state, { series: 'updated', evseId, context: 'Trigger', distortion });
  state.deps.transactions.update(evseId, 'Trigger', value === null ? {} : { meterValue: [value] });
}

/** All measurands as MeterValues would show them now; no series counts it as a sample. */
function readingNow({ parts, deps, energies }: MeterState, evseId: number): OcppMeterReading {
  const { device, disturber, variables, clock, version } = parts;
  const sample = device.sample(evseId);
  const distortion = disturber.active ? disturber.peekReadings(device.deviceIndex, evseId, 'MeterValues') : null;
  const reading = {
    sample,
    energy: energies.peek('trigger', evseId, sample, distortion),
    connector: evseId === 0 ? null : device.connector(evseId),
    setpointW: evseId === 0 ? null : (deps.setpointW?.(evseId) ?? null),
  };
  const listed = new Set(Object.values(lists).flatMap(([component, variable]) => variables.list(component, variable)));
  const values = sampledValues(version, reading, suppliedMeasurands(version), { evseId, context: 'Trigger' });
  return {
    connectorId: evseId,
    at: sample.at,
    timestamp: stamp(clock.ofSim(sample.at)),
    values: values.map(
      ({ measurand = registerAlone[0] ?? '', phase = null, location = null, unitOfMeasure, value }) => ({
        measurand,
        phase,
        location,
        value,
        unit: unitOfMeasure?.unit ?? null,
        digits: digitsOf(version, measurand),
        listed: listed.has(measurand),
      }),
    ),
  };
}

function triggersOf(state: MeterState): NonNullable<Part['triggers']> {
  const { device } = state.parts;
  return {
    MeterValues: (evseId) => {
      for (const id of evseId === undefined ? [0, ...device.connectorIds] : [evseId])
        trigger(state, id, { triggered: true });
    },
    TransactionEvent: (evseId) => {
      const ids = evseId === undefined || evseId === 0 ? device.connectorIds : [evseId];
      for (const id of ids) triggerTransaction(state, id);
    },
  };
}

const intervals = [
  ['SampledDataCtrlr', 'TxUpdatedInterval'],
  ['SampledDataCtrlr', 'TxEndedInterval'],
  ['AlignedDataCtrlr', 'Interval'],
  ['AlignedDataCtrlr', 'TxEndedInterval'],
] as const;

export interface MeterValuesPart extends MeterValues {
  /** As `OcppStation.meterReading`. @throws SimError UNKNOWN_RESOURCE */
  reading(evseId: number): OcppMeterReading;
  readonly part: Part;
}

/** Follows transactions at once: create the part after the transactions, and before they are loaded. */
export function createMeterValues(parts: StationParts, deps: MeterValuesDeps): MeterValuesPart {
  const state: MeterState = {
    parts,
    deps,
    energies: createEnergies(),
    history: createHistory(),
    repeats: new Map(),
    started: new Map(),
  };
  const { device, variables, registration } = parts;
  const evseIds = [0, ...device.connectorIds];
  for (const evseId of evseIds) startSeries(state, evseId, ['aligned', 'trigger'], device.sample(evseId));
  const clockAligned = aligned(state, 'Interval', (atMs) => {
    for (const evseId of evseIds) sendAligned(state, evseId, atMs);
  });
  const planAll = (): void => {
    clockAligned.plan();
    for (const repeats of state.repeats.values()) for (const each of repeats) each.plan();
  };
  const ends = [
    ...intervals.map(([component, variable]) => variables.onChange(component, variable, planAll)),
    // the registration sets the clock
    registration.onAccepted(planAll),
    // before the listener of the transactions, which end with a loss of power
    device.onTransition((transition) => {
      followDevice(state, transition);
    }),
    deps.transactions.onStarted((transaction) => {
      begin(state, transaction);
    }),
    deps.transactions.onEnded((transaction) => {
      end(state, transaction);
    }),
  ];
  return {
    reading: (evseId) => readingNow(state, evseId),
    sample: (evseId, kind, transition) => sample(state, evseId, kind, transition),
    trigger(evseId, options = {}) {
      trigger(state, evseId, options);
    },
    part: {
      triggers: triggersOf(state),
      load() {
        // the variables of an earlier process are restored
        planAll();
        return Promise.resolve();
      },
      stop() {
        for (const each of ends) each();
        for (const repeats of state.repeats.values()) for (const each of repeats) each.stop();
        state.repeats.clear();
        clockAligned.stop();
      },
    },
  };
}
