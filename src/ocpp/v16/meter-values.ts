/** MeterValues (OCPP 1.6 3.14, 4.7, 5.17) and the samples of StopTransaction (4.10). */
import type { EvseConnectorTransition, EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { OcppMeterReading } from '../../contract/ocpp.ts';
import type { SimTime } from '../../core/time/clock.ts';
import {
  createEnergies,
  createHistory,
  meteredRows,
  phaseName,
  nextAligned,
  nextPeriodic,
  repeat,
} from '../meter-values.ts';
import type { Energies, History, MeasurandRow, MeasuredValue, Reading, Repeat } from '../meter-values.ts';
import type { FrameDisturber, MeterDistortion } from '../rpc/model.ts';
import type { MeterSample } from '../station/port.ts';
import { stamp } from './parts.ts';
import type { MeterValues, Part, Requests, StationParts, Transaction, Transactions } from './parts.ts';

// Measurands of OCPP 1.6 (7.31) that a station meters, and their sampled values.

type MeterValue = Requests['MeterValues']['meterValue'][number];
type SampledValue = MeterValue['sampledValue'][number];
type Measurand = NonNullable<SampledValue['measurand']>;

type Metered = keyof typeof meteredRows & Measurand;
const table: Readonly<Record<Metered, MeasurandRow>> = meteredRows;

/** Measurands that a station meters, in the order of the standard. */
export const suppliedMeasurands = Object.keys(table) as readonly Metered[];

/** Decimals of a measurand. */
function digitsOf(measurand: string): number {
  return suppliedMeasurands.includes(measurand as Metered) ? table[measurand as Metered].digits : 0;
}

const withPhase = /^(.+)\.(L[123])(?:-N)?$/;

/** Row and phase of an entry of a list of measurands; null: the station does not meter it. */
function meteredValueOf(
  entry: string,
): { readonly name: Metered; readonly row: MeasurandRow; readonly phase: number | null } | null {
  const match = withPhase.exec(entry);
  const text = match?.[1] ?? entry;
  const name = suppliedMeasurands.find((each) => each === text);
  if (name === undefined) return null;
  const row = table[name];
  if (match === null) return { name, row, phase: null };
  return row.readPhase === undefined ? null : { name, row, phase: Number(match[2]?.slice(1)) };
}

/**
 * True if a station meters an entry of a list of measurands: a measurand, alone or with a phase (`Voltage.L1-N`,
 * `Current.Import.L2`).
 */
export function isSupplied(entry: string): boolean {
  return meteredValueOf(entry) !== null;
}

/** The unit of a measurand; none for Frequency, because 1.6 has no unit hertz. */
function unitOf({ unit }: MeasurandRow): Pick<SampledValue, 'unit'> {
  return unit === undefined || unit === 'Hz' ? {} : { unit };
}

function textOf(value: number, digits: number): string {
  const rounded = Number(value.toFixed(digits));
  return String(rounded === 0 ? 0 : rounded);
}

function valuesOf(reading: Reading, row: MeasurandRow, phase: number | null): readonly MeasuredValue[] {
  if (phase === null || row.readPhase === undefined) return row.read(reading);
  const at = reading.sample.phases.indexOf(phase);
  if (at < 0) return [];
  const suffix = row === table.Voltage ? '-N' : '';
  return [{ value: row.readPhase(reading.sample, at), phase: phaseName(phase, suffix) }];
}

/**
 * The values of a sample in the order of the list; values without a source at the connector (a phase, a vehicle) are
 * left out.
 * @param entries list of measurands
 * @param connectorId 0: the meter of the station, at its inlet
 */
function sampledValues(
  reading: Reading,
  entries: readonly string[],
  connectorId: number,
  context: NonNullable<SampledValue['context']>,
): readonly SampledValue[] {
  const place = connectorId === 0 ? 'Inlet' : 'Outlet';
  return entries.flatMap((entry) => {
    const match = meteredValueOf(entry);
    if (match === null) return [];
    const { name, row, phase } = match;
    return valuesOf(reading, row, phase).map(
      (each): SampledValue => ({
        value: textOf(each.value, row.digits),
        context,
        measurand: name,
        ...(each.phase === undefined ? {} : { phase: each.phase }),
        location: row.inVehicle === true ? 'EV' : place,
        ...unitOf(row),
      }),
    );
  });
}

type Context = NonNullable<SampledValue['context']>;

interface MeterValuesDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'pushMeterValues' | 'onStarted' | 'onEnded'>;
  readonly disturber: Pick<FrameDisturber, 'active' | 'readings' | 'peekReadings'>;
}

/** Kinds of samples; an interval of energy counts from the previous sample of its kind. */
type Series = 'sampled' | 'aligned' | 'stop_sampled' | 'stop_aligned' | 'trigger';

/** Keys of configuration with the list of measurands, by series. */
const measurandKeys = {
  sampled: 'MeterValuesSampledData',
  aligned: 'MeterValuesAlignedData',
  stop_sampled: 'StopTxnSampledData',
  stop_aligned: 'StopTxnAlignedData',
  trigger: 'MeterValuesSampledData',
} as const satisfies Record<Series, string>;

const sampleKey = 'MeterValueSampleInterval';
const alignedKey = 'ClockAlignedDataInterval';
const registerAlone = ['Energy.Active.Import.Register'];

interface SampleRequest {
  readonly series: Series;
  readonly connectorId: number;
  readonly context: Context;
  /** default: the present state */
  readonly sample?: MeterSample;
  /** default: the instant of the sample, ms on the clock of the central system */
  readonly atMs?: number;
  /** draws the fault of the meter; absent: no fault */
  readonly distortion?: () => MeterDistortion | null;
}

interface MeterState {
  readonly parts: StationParts;
  readonly deps: MeterValuesDeps;
  readonly energies: Energies<Series>;
  readonly history: History<MeterValue>;
  /** periodic samples by key of their transaction */
  readonly periodic: Map<string, Repeat>;
}

/** Draws the meter fault once per occasion, so that all samples of the connector share it. */
function distortionOf({ parts, deps: { disturber } }: MeterState, connectorId: number): () => MeterDistortion | null {
  let drawn: { readonly value: MeterDistortion | null } | null = null;
  return () => {
    if (!disturber.active) return null;
    drawn ??= { value: disturber.readings(parts.device.deviceIndex, connectorId, 'MeterValues') };
    return drawn.value;
  };
}

/** One meter value; null: the connector has none of the measurands that the key lists. */
function takeSample({ parts, energies }: MeterState, request: SampleRequest): MeterValue | null {
  const { series, connectorId, context, atMs, distortion } = request;
  const listed = parts.keys.list(measurandKeys[series]);
  const entries = listed.length === 0 && series === 'trigger' ? registerAlone : listed;
  if (entries.length === 0) return null;
  const sample = request.sample ?? parts.device.sample(connectorId);
  const energy = energies.shown(series, connectorId, sample, distortion?.() ?? null);
  const values = sampledValues({ sample, energy }, entries, connectorId, context);
  if (values.length === 0) return null;
  return { timestamp: stamp(atMs ?? parts.clock.ofSim(sample.at)), sampledValue: values };
}

/** Sends a meter value. Queued if a transaction runs at the connector; else sent at once and not repeated. */
function send({ parts, deps }: MeterState, connectorId: number, value: MeterValue | null): void {
  if (value === null) return;
  const values = { connectorId, meterValue: [value] };
  const transaction = connectorId === 0 ? null : deps.transactions.at(connectorId);
  if (transaction !== null && deps.transactions.pushMeterValues(transaction.key, values)) return;
  void parts.calls.send('MeterValues', values);
}

function keep(state: MeterState, { key }: Transaction, value: MeterValue | null): void {
  if (value !== null) state.history.add(key, value);
}

/** Takes two samples of a transaction, one for MeterValues and one for its StopTransaction. */
function sampleTransaction(state: MeterState, transaction: Transaction, context: Context): void {
  const { connectorId } = transaction;
  const distortion = distortionOf(state, connectorId);
  send(state, connectorId, takeSample(state, { series: 'sampled', connectorId, context, distortion }));
  keep(state, transaction, takeSample(state, { series: 'stop_sampled', connectorId, context, distortion }));
}

function sampleAligned(state: MeterState, atMs: number): void {
  const { parts, deps } = state;
  if (parts.device.dark) return;
  const context = 'Sample.Clock';
  for (const connectorId of [0, ...parts.device.connectorIds]) {
    const distortion = distortionOf(state, connectorId);
    send(state, connectorId, takeSample(state, { series: 'aligned', connectorId, context, atMs, distortion }));
    const transaction = connectorId === 0 ? null : deps.transactions.at(connectorId);
    if (transaction === null) continue;
    keep(state, transaction, takeSample(state, { series: 'stop_aligned', connectorId, context, atMs, distortion }));
  }
}

function begin(state: MeterState, transaction: Transaction, distortion: MeterDistortion | null): void {
  const { parts, periodic, energies } = state;
  const { connectorId, key, startedMs } = transaction;
  const sample = parts.device.sample(connectorId);
  for (const series of ['sampled', 'stop_sampled', 'stop_aligned'] as const)
    energies.begin(series, connectorId, sample);
  const context = 'Transaction.Begin';
  const request: SampleRequest = { series: 'stop_sampled', connectorId, context, sample, distortion: () => distortion };
  keep(state, transaction, takeSample(state, { ...request, atMs: startedMs }));
  let sampledAt: SimTime | null = null;
  const repetition = repeat(
    parts.clock,
    (nowMs) => {
      const intervalS = parts.keys.integer(sampleKey);
      return intervalS > 0 ? nextPeriodic(startedMs, nowMs, intervalS) : null;
    },
    () => {
      // an interval shorter than a tick gives no new sample, and a station without power meters nothing
      const { at } = parts.device.sample(connectorId);
      if (at === sampledAt || parts.device.dark) return;
      sampledAt = at;
      sampleTransaction(state, transaction, 'Sample.Periodic');
    },
  );
  periodic.get(key)?.stop();
  periodic.set(key, repetition);
  repetition.plan();
}

function end({ periodic, history }: MeterState, { key }: Transaction): void {
  periodic.get(key)?.stop();
  periodic.delete(key);
  history.removeAll(key);
}

/** Samples the running transactions at loss and return of power. */
function followDevice(state: MeterState, transition: EvseTransition): void {
  if (transition.event !== 'power_down' && transition.event !== 'power_up') return;
  const context = transition.event === 'power_down' ? 'Interruption.Begin' : 'Interruption.End';
  for (const transaction of state.deps.transactions.running) sampleTransaction(state, transaction, context);
}

function trigger(state: MeterState, connectorId: number | undefined, options: { readonly triggered?: boolean }): void {
  const { parts, deps } = state;
  const ids = connectorId === undefined ? [0, ...parts.device.connectorIds] : [connectorId];
  for (const id of ids) {
    const distortion = distortionOf(state, id);
    const value = takeSample(state, { series: 'trigger', connectorId: id, context: 'Trigger', distortion });
    if (value === null) continue;
    const transactionId = id === 0 ? null : (deps.transactions.at(id)?.transactionId ?? null);
    const request: Requests['MeterValues'] = {
      connectorId: id,
      ...(transactionId === null ? {} : { transactionId }),
      meterValue: [value],
    };
    void parts.calls.send('MeterValues', request, options);
  }
}

/** All metered values at present; not a sample of any series. */
function readingNow({ parts, deps: { disturber }, energies }: MeterState, connectorId: number): OcppMeterReading {
  const { device, keys, clock } = parts;
  const sample = device.sample(connectorId);
  const distortion = disturber.active ? disturber.peekReadings(device.deviceIndex, connectorId, 'MeterValues') : null;
  const energy = energies.peek('trigger', connectorId, sample, distortion);
  const listed = new Set(Object.values(measurandKeys).flatMap((key) => keys.list(key)));
  const values = sampledValues({ sample, energy }, suppliedMeasurands, connectorId, 'Trigger');
  return {
    connectorId,
    at: sample.at,
    timestamp: stamp(clock.ofSim(sample.at)),
    values: values.map(({ measurand = registerAlone[0] ?? '', phase = null, location = null, unit = null, value }) => ({
      measurand,
      phase,
      location,
      unit,
      value,
      digits: digitsOf(measurand),
      listed: listed.has(measurand) || (phase !== null && listed.has(`${measurand}.${phase}`)),
    })),
  };
}

function transactionData(
  state: MeterState,
  transaction: Transaction,
  ended: EvseConnectorTransition | undefined,
  distortion: MeterDistortion | null,
): readonly MeterValue[] | undefined {
  const { device } = state.parts;
  const { connectorId, key } = transaction;
  const sample = ended === undefined ? device.sample(connectorId) : device.sampleOf(ended);
  const context = 'Transaction.End';
  const request: SampleRequest = { series: 'stop_sampled', connectorId, context, sample, distortion: () => distortion };
  keep(state, transaction, takeSample(state, request));
  const values = state.history.removeAll(key);
  return values.length === 0 ? undefined : values;
}

export interface MeterValuesPart extends MeterValues, Part {
  /** Sends a sample of a connector (0: the station); without `connectorId`, of the station and all connectors. */
  trigger(connectorId?: number, options?: { readonly triggered?: boolean }): void;
  /** As `OcppStation.meterReading`. @throws SimError UNKNOWN_RESOURCE */
  reading(connectorId: number): OcppMeterReading;
}

/** Starts at once; create it after `transactions`. */
export function createMeterValues(parts: StationParts, deps: MeterValuesDeps): MeterValuesPart {
  const state: MeterState = { parts, deps, energies: createEnergies(), history: createHistory(), periodic: new Map() };
  for (const connectorId of [0, ...parts.device.connectorIds]) {
    const sample = parts.device.sample(connectorId);
    for (const series of ['aligned', 'trigger'] as const) state.energies.begin(series, connectorId, sample);
  }
  const aligned = repeat(
    parts.clock,
    (nowMs) => {
      const intervalS = parts.keys.integer(alignedKey);
      return intervalS > 0 ? nextAligned(nowMs, intervalS) : null;
    },
    (dueMs) => {
      sampleAligned(state, dueMs);
    },
  );
  const planPeriodic = () => {
    for (const each of state.periodic.values()) each.plan();
  };
  const ends = [
    parts.keys.onChange(sampleKey, planPeriodic),
    parts.keys.onChange(alignedKey, () => {
      aligned.plan();
    }),
    // the registration sets the clock
    parts.registration.onAccepted(() => {
      aligned.plan();
      planPeriodic();
    }),
    parts.device.onTransition((transition) => {
      followDevice(state, transition);
    }),
    deps.transactions.onStarted((transaction, distortion) => {
      begin(state, transaction, distortion);
    }),
    deps.transactions.onEnded((transaction) => {
      end(state, transaction);
    }),
  ];
  for (const transaction of deps.transactions.running) begin(state, transaction, null);
  aligned.plan();
  return {
    trigger(connectorId, options = {}) {
      trigger(state, connectorId, options);
    },
    reading: (connectorId) => readingNow(state, connectorId),
    transactionData: (transaction, ended, distortion = null) => transactionData(state, transaction, ended, distortion),
    load() {
      // the store has restored keys of an earlier run
      aligned.plan();
      return Promise.resolve();
    },
    stop() {
      for (const each of ends) each();
      for (const each of state.periodic.values()) each.stop();
      state.periodic.clear();
      aligned.stop();
    },
  };
}
