/**
 * Metering in every version: the measurands and how each is read from a sample, the times of samples, and the samples
 * of the meters of a station.
 */
import type { MeterDistortion } from './rpc/model.ts';
import type { MeterSample } from './station/port.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { EvseConnectorDetail, EvseDetail } from '../contract/kinds/evse.ts';
import type { SimTime } from '../core/time/clock.ts';

type MeterPhase = 'L1' | 'L2' | 'L3' | 'L1-N' | 'L2-N' | 'L3-N';

/** Energy registers as a message shows them, and the energy since the last sample of the same series; whole Wh. */
interface ShownEnergy {
  readonly importWh: number;
  readonly exportWh: number;
  readonly intervalImportWh: number;
  readonly intervalExportWh: number;
}

export interface Reading {
  readonly sample: MeterSample;
  readonly energy: ShownEnergy;
}

export interface MeasuredValue {
  readonly value: number;
  readonly phase?: MeterPhase;
}

export interface MeasurandRow {
  readonly unit?: 'Wh' | 'W' | 'var' | 'A' | 'V' | 'Hz' | 'Percent';
  readonly digits: number;
  /** true: measured by the vehicle */
  readonly inVehicle?: true;
  /** values if no phase is requested; empty: the value is not measured */
  readonly read: (reading: Reading) => readonly MeasuredValue[];
  /** by position in `sample.phases`; absent: it has no values by phase */
  readonly readPhase?: (sample: MeterSample, i: number) => number;
}

/** The value, or 0 if it is negative; never -0. */
const nonNegative = (value: number) => (value > 0 ? value : 0);
const single = (read: (reading: Reading) => number) => (reading: Reading) => [{ value: read(reading) }];

/** Values of all phases; of DC one value without a phase. */
function perPhase(read: (sample: MeterSample, i: number) => number, suffix: '' | '-N'): MeasurandRow['read'] {
  return ({ sample }) =>
    sample.phases.length === 0
      ? [{ value: read(sample, 0) }]
      : sample.phases.map((phase, i) => ({ value: read(sample, i), phase: phaseName(phase, suffix) }));
}

export function phaseName(phase: number, suffix: '' | '-N'): MeterPhase {
  const names = suffix === '' ? (['L1', 'L2', 'L3'] as const) : (['L1-N', 'L2-N', 'L3-N'] as const);
  return names[phase - 1] ?? names[0];
}

const importsA = ({ powerW, currentA }: MeterSample, i: number) => (powerW < 0 ? 0 : (currentA[i] ?? 0));
const exportsA = ({ powerW, currentA }: MeterSample, i: number) => (powerW < 0 ? (currentA[i] ?? 0) : 0);
const volts = ({ voltageV }: MeterSample, i: number) => voltageV[i] ?? 0;

const power = (sign: 1 | -1): MeasurandRow => ({
  unit: 'W',
  digits: 1,
  read: single(({ sample }) => nonNegative(sign * sample.powerW)),
  readPhase: ({ powerByPhaseW }, i) => nonNegative(sign * (powerByPhaseW[i] ?? 0)),
});
const current = (read: (sample: MeterSample, i: number) => number): MeasurandRow => ({
  unit: 'A',
  digits: 2,
  read: perPhase(read, ''),
  readPhase: read,
});
const energy = (name: keyof ShownEnergy): MeasurandRow => ({
  unit: 'Wh',
  digits: 0,
  read: single((reading) => reading.energy[name]),
});

/** In the order of the standard. */
export const meteredRows = {
  'Energy.Active.Import.Register': energy('importWh'),
  'Energy.Active.Export.Register': energy('exportWh'),
  'Energy.Active.Import.Interval': energy('intervalImportWh'),
  'Energy.Active.Export.Interval': energy('intervalExportWh'),
  'Power.Active.Import': power(1),
  'Power.Active.Export': power(-1),
  'Power.Reactive.Import': {
    unit: 'var',
    digits: 1,
    read: single(({ sample }) => nonNegative(sample.reactivePowerVar)),
  },
  'Power.Reactive.Export': {
    unit: 'var',
    digits: 1,
    read: single(({ sample }) => nonNegative(-sample.reactivePowerVar)),
  },
  'Power.Offered': { unit: 'W', digits: 1, read: single(({ sample }) => nonNegative(sample.offeredW)) },
  'Power.Factor': { digits: 3, read: single(({ sample }) => sample.powerFactor) },
  'Current.Import': current(importsA),
  'Current.Export': current(exportsA),
  'Current.Offered': { unit: 'A', digits: 2, read: single(({ sample }) => nonNegative(sample.offeredA)) },
  Voltage: { unit: 'V', digits: 1, read: perPhase(volts, '-N'), readPhase: volts },
  Frequency: { unit: 'Hz', digits: 3, read: single(({ sample }) => sample.frequencyHz) },
  SoC: {
    unit: 'Percent',
    digits: 1,
    inVehicle: true,
    read: ({ sample: { socPct } }) => (socPct === null ? [] : [{ value: socPct }]),
  },
} as const satisfies Readonly<Record<string, MeasurandRow>>;

// Energy registers as messages show them: whole Wh, through the faults of a meter, with the energy of each interval.

interface EnergyRegisters {
  readonly importWh: number;
  readonly exportWh: number;
}

/** @typeParam Series samples whose intervals follow each other */
export interface Energies<Series extends string> {
  /** Energy of a sample of a series; the energy of its interval counts from the previous sample. */
  shown(series: Series, connectorId: number, sample: MeterSample, distortion: MeterDistortion | null): ShownEnergy;
  /** As `shown`, but the present interval of the series continues. */
  peek(series: Series, connectorId: number, sample: MeterSample, distortion: MeterDistortion | null): ShownEnergy;
  /** Begins a series, whose first interval counts from this sample. */
  begin(series: Series, connectorId: number, sample: MeterSample): void;
}

function registersOf({ energyImportWh, energyExportWh }: MeterSample): EnergyRegisters {
  return { importWh: Math.round(energyImportWh), exportWh: Math.round(energyExportWh) };
}

/** A register as a faulty meter shows it, whole Wh. */
export function distorted(wh: number, distortion: MeterDistortion | null): number {
  return distortion === null ? wh : Math.max(0, Math.round(wh * distortion.factor + distortion.offsetWh));
}

export function createEnergies<Series extends string>(): Energies<Series> {
  const last = new Map<string, EnergyRegisters>();
  const keyOf = (series: Series, connectorId: number) => `${series} ${connectorId}`;
  const energyOf = (
    before: EnergyRegisters,
    after: EnergyRegisters,
    distortion: MeterDistortion | null,
  ): ShownEnergy => ({
    importWh: distorted(after.importWh, distortion),
    exportWh: distorted(after.exportWh, distortion),
    // a register that was reset gives no negative energy
    intervalImportWh: Math.max(0, after.importWh - before.importWh),
    intervalExportWh: Math.max(0, after.exportWh - before.exportWh),
  });
  return {
    shown(series, connectorId, sample, distortion) {
      const key = keyOf(series, connectorId);
      const registers = registersOf(sample);
      const before = last.get(key) ?? registers;
      last.set(key, registers);
      return energyOf(before, registers, distortion);
    },
    peek(series, connectorId, sample, distortion) {
      const reading = registersOf(sample);
      return energyOf(last.get(keyOf(series, connectorId)) ?? reading, reading, distortion);
    },
    begin(series, connectorId, sample) {
      last.set(keyOf(series, connectorId), registersOf(sample));
    },
  };
}

// Samples of a transaction for its last message.

/** Above this number, every second sample between the first and the last is removed. */
export const maxSamples = 500;

export interface History<Value> {
  add(key: string, value: Value): void;
  /** Removes the samples of a key and returns them. */
  removeAll(key: string): readonly Value[];
}

export function createHistory<Value>(): History<Value> {
  const values = new Map<string, Value[]>();
  return {
    add(key, value) {
      const list = values.get(key) ?? [];
      values.set(key, list);
      list.push(value);
      if (list.length > maxSamples) values.set(key, thinned(list));
    },
    removeAll(key) {
      const list = values.get(key) ?? [];
      values.delete(key);
      return list;
    },
  };
}

function thinned<Value>(list: readonly Value[]): Value[] {
  return list.filter((_, i) => i % 2 === 0 || i === list.length - 1);
}

const dayMs = 86_400_000;

/** The first instant after `nowMs` that is a multiple of the interval from midnight UTC; midnight always is. */
export function nextAligned(nowMs: number, intervalS: number): number {
  const midnightMs = Math.floor(nowMs / dayMs) * dayMs;
  const intervalMs = intervalS * 1000;
  const passed = Math.floor((nowMs - midnightMs) / intervalMs + 1e-9);
  return Math.min(midnightMs + (passed + 1) * intervalMs, midnightMs + dayMs);
}

/**
 * The first instant after `nowMs` in steps from `startMs`. `startMs` may be later than `nowMs`, because within a tick a
 * device is ahead of the clock.
 */
export function nextPeriodic(startMs: number, nowMs: number, intervalS: number): number {
  const intervalMs = intervalS * 1000;
  const passed = Math.max(0, Math.floor((nowMs - startMs) / intervalMs + 1e-9));
  return startMs + (passed + 1) * intervalMs;
}

export interface Repeat {
  /** Plans again after a change of the interval or the clock. */
  plan(): void;
  stop(): void;
}

/** A due instant that is late by more than this was skipped by a change of the clock; `act` is not called for it. */
const lateMs = 60_000;

/**
 * Calls `act` at each due instant with that instant.
 * @param next the first due instant after an instant; null: none
 */
export function repeat(
  clock: Pick<RemoteClock, 'nowMs' | 'at'>,
  next: (nowMs: number) => number | null,
  act: (dueMs: number) => void,
): Repeat {
  let cancel: (() => void) | null = null;
  const planAfter = (ms: number) => {
    const dueMs = next(ms);
    if (dueMs === null) return;
    cancel = clock.at(dueMs, () => {
      cancel = null;
      const nowMs = clock.nowMs();
      // a timer may fire a little early
      planAfter(Math.max(nowMs, dueMs));
      if (nowMs - dueMs < lateMs) act(dueMs);
    });
  };
  const stop = () => {
    cancel?.();
    cancel = null;
  };
  return {
    plan() {
      stop();
      planAfter(clock.nowMs());
    },
    stop,
  };
}

/** Measurements at the grid connection (model 701), + absorbed; by phase, L1 first. */
export interface GridMeter {
  readonly reactivePowerVar: number;
  readonly frequencyHz: number;
  readonly voltageV: readonly number[];
  readonly currentA: readonly number[];
  readonly powerByPhaseW: readonly number[];
}

const allPhases: readonly number[] = [1, 2, 3];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Phases of the supply that are wired to an AC connector. */
function wiredPhases({ phases, supplyPhases, supplyVoltageV }: EvseConnectorDetail): readonly number[] {
  return phases === 3 && supplyVoltageV.length === 3 ? allPhases : supplyPhases;
}

/** Currents by wired phase, magnitudes; a connector with more or fewer conductors than the supply loads all evenly. */
function currentsOf(connector: EvseConnectorDetail, phases: readonly number[], voltageV: readonly number[]) {
  const { currentA } = connector;
  const phaseCurrents = currentA.map(Math.abs);
  return phaseCurrents.length === phases.length
    ? phaseCurrents
    : voltageV.map(() => sum(phaseCurrents) / phases.length);
}

interface Electrical {
  readonly phases: readonly number[];
  readonly voltageV: readonly number[];
  readonly currentA: readonly number[];
  readonly powerByPhaseW: readonly number[];
  readonly reactivePowerVar: number;
}

function dcValues(connector: EvseConnectorDetail, powerW: number): Electrical {
  const { voltageV } = connector;
  return {
    phases: [],
    voltageV: [voltageV],
    currentA: [voltageV > 0 ? Math.abs(powerW) / voltageV : 0],
    powerByPhaseW: [powerW],
    reactivePowerVar: 0,
  };
}

/** The values of the last sub-step, scaled to the power at this instant. */
function acValues(connector: EvseConnectorDetail, powerW: number): Electrical {
  const phases = wiredPhases(connector);
  const voltageV = phases.map((phase) => connector.supplyVoltageV[phase - 1] ?? 0);
  const isUsed = (i: number) => phases.length === 1 || connector.supplyPhases.includes(phases[i] ?? 0);
  const usedV = voltageV.map((v, i) => (isUsed(i) ? v : 0));
  const totalV = sum(usedV);
  const perVolt = totalV > 0 ? powerW / totalV : 0;
  const factor = connector.powerW === 0 ? 0 : Math.abs(powerW / connector.powerW);
  return {
    phases,
    voltageV,
    // without a power in the last sub-step the power factor is unknown
    currentA:
      connector.powerW === 0
        ? usedV.map((v) => (v > 0 ? Math.abs(perVolt) : 0))
        : currentsOf(connector, phases, voltageV).map((a) => a * factor),
    powerByPhaseW: usedV.map((v) => v * perVolt),
    reactivePowerVar: connector.reactivePowerVar * factor,
  };
}

function apparentVa({ voltageV, currentA }: Electrical): number {
  return voltageV.reduce((total, v, i) => total + v * (currentA[i] ?? 0), 0);
}

/**
 * The meter of a connector. |power| = power factor x sum of voltage x current, and the sum of the phases is the power.
 * @param powerW at the instant of the meter; default the mean of the last sub-step
 */
export function connectorSample(
  connector: EvseConnectorDetail,
  at: SimTime,
  frequencyHz: number,
  powerW: number = connector.powerW,
): MeterSample {
  const electrical = connector.type === 'dc' ? dcValues(connector, powerW) : acValues(connector, powerW);
  const apparentPowerVa = apparentVa(electrical);
  return {
    at,
    energyImportWh: connector.energyWh,
    energyExportWh: connector.energyExportWh,
    powerW,
    ...electrical,
    powerFactor: apparentPowerVa > 0 ? Math.min(1, Math.abs(powerW) / apparentPowerVa) : 1,
    frequencyHz,
    socPct: connector.ev?.socPct ?? null,
    offeredW: Math.max(0, connector.allocatedW),
    offeredA: Math.max(0, connector.allocatedA),
  };
}

/** The grid meter of the station, which includes its standby power. */
export function stationSample(detail: EvseDetail, at: SimTime, grid: GridMeter): MeterSample {
  const powerW = detail.powerW + detail.standbyW;
  const apparentPowerVa = Math.hypot(powerW, grid.reactivePowerVar);
  return {
    at,
    energyImportWh: detail.energyWh,
    energyExportWh: detail.energyExportWh,
    powerW,
    reactivePowerVar: grid.reactivePowerVar,
    powerFactor: apparentPowerVa > 0 ? Math.abs(powerW) / apparentPowerVa : 1,
    currentA: grid.currentA,
    phases: grid.voltageV.map((_, i) => i + 1),
    voltageV: grid.voltageV,
    powerByPhaseW: grid.powerByPhaseW,
    frequencyHz: grid.frequencyHz,
    socPct: null,
    offeredW: sum(detail.connectors.map(({ allocatedW }) => Math.max(0, allocatedW))),
    offeredA: Math.max(0, ...offeredByPhase(detail)),
  };
}

/** Offered current by phase of the supply. */
function offeredByPhase({ connectors }: EvseDetail): readonly number[] {
  const totals = [0, 0, 0];
  for (const { type, supplyPhases, supplyVoltageV, allocatedW, allocatedA } of connectors) {
    if (allocatedW <= 0) continue;
    const phases = type === 'dc' ? supplyVoltageV.map((_, i) => i + 1) : supplyPhases;
    const totalV = sum(supplyVoltageV);
    const eachA = type === 'dc' ? (totalV > 0 ? allocatedW / totalV : 0) : allocatedA;
    for (const phase of phases) totals[phase - 1] = (totals[phase - 1] ?? 0) + eachA;
  }
  return totals;
}
