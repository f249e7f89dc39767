/** The measurands that every version knows and a station meters: how each is read from a sample. */
import type { MeterDistortion } from '../rpc/model.ts';
import type { MeterSample } from '../station/port.ts';

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
  readonly inVehicle?: true;
  /** values where no phase is requested; empty: the value is not measured */
  readonly read: (reading: Reading) => readonly MeasuredValue[];
  /** by position in `sample.phases`; absent: it has no values by phase */
  readonly readPhase?: (sample: MeterSample, i: number) => number;
}

/** The value, or 0 where it is negative; never -0. */
const up = (value: number) => (value > 0 ? value : 0);
const one = (read: (reading: Reading) => number) => (reading: Reading) => [{ value: read(reading) }];

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
  read: one(({ sample }) => up(sign * sample.powerW)),
  readPhase: ({ powerByPhaseW }, i) => up(sign * (powerByPhaseW[i] ?? 0)),
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
  read: one((reading) => reading.energy[name]),
});

/** In the order of the standard. */
export const meteredRows = {
  'Energy.Active.Import.Register': energy('importWh'),
  'Energy.Active.Export.Register': energy('exportWh'),
  'Energy.Active.Import.Interval': energy('intervalImportWh'),
  'Energy.Active.Export.Interval': energy('intervalExportWh'),
  'Power.Active.Import': power(1),
  'Power.Active.Export': power(-1),
  'Power.Reactive.Import': { unit: 'var', digits: 1, read: one(({ sample }) => up(sample.reactivePowerVar)) },
  'Power.Reactive.Export': { unit: 'var', digits: 1, read: one(({ sample }) => up(-sample.reactivePowerVar)) },
  'Power.Offered': { unit: 'W', digits: 1, read: one(({ sample }) => up(sample.offeredW)) },
  'Power.Factor': { digits: 3, read: one(({ sample }) => sample.powerFactor) },
  'Current.Import': current(importsA),
  'Current.Export': current(exportsA),
  'Current.Offered': { unit: 'A', digits: 2, read: one(({ sample }) => up(sample.offeredA)) },
  Voltage: { unit: 'V', digits: 1, read: perPhase(volts, '-N'), readPhase: volts },
  Frequency: { unit: 'Hz', digits: 3, read: one(({ sample }) => sample.frequencyHz) },
  SoC: {
    unit: 'Percent',
    digits: 1,
    inVehicle: true,
    read: ({ sample: { socPct } }) => (socPct === null ? [] : [{ value: socPct }]),
  },
} as const satisfies Readonly<Record<string, MeasurandRow>>;

// Energy registers as messages show them: whole Wh, through the faults of a meter, with the energy of each interval.

interface Known {
  readonly importWh: number;
  readonly exportWh: number;
}

/** @typeParam Series samples whose intervals follow each other */
export interface Energies<Series extends string> {
  /** Of a sample of a series; what has flown counts from the one before it. */
  shown(series: Series, connectorId: number, sample: MeterSample, distortion: MeterDistortion | null): ShownEnergy;
  /** As `shown`, but the intervals of the series go on. */
  peek(series: Series, connectorId: number, sample: MeterSample, distortion: MeterDistortion | null): ShownEnergy;
  /** A series begins: its first interval counts from here. */
  begin(series: Series, connectorId: number, sample: MeterSample): void;
}

function known({ energyImportWh, energyExportWh }: MeterSample): Known {
  return { importWh: Math.round(energyImportWh), exportWh: Math.round(energyExportWh) };
}

/** A register as a faulty meter shows it, whole Wh. */
export function distorted(wh: number, distortion: MeterDistortion | null): number {
  return distortion === null ? wh : Math.max(0, Math.round(wh * distortion.factor + distortion.offsetWh));
}

export function createEnergies<Series extends string>(): Energies<Series> {
  const last = new Map<string, Known>();
  const keyOf = (series: Series, connectorId: number) => `${series} ${connectorId}`;
  const energyOf = (before: Known, after: Known, distortion: MeterDistortion | null): ShownEnergy => ({
    importWh: distorted(after.importWh, distortion),
    exportWh: distorted(after.exportWh, distortion),
    // a register that was set back shows no energy that flows backwards
    intervalImportWh: Math.max(0, after.importWh - before.importWh),
    intervalExportWh: Math.max(0, after.exportWh - before.exportWh),
  });
  return {
    shown(series, connectorId, sample, distortion) {
      const key = keyOf(series, connectorId);
      const energiesNow = known(sample);
      const before = last.get(key) ?? energiesNow;
      last.set(key, energiesNow);
      return energyOf(before, energiesNow, distortion);
    },
    peek(series, connectorId, sample, distortion) {
      const reading = known(sample);
      return energyOf(last.get(keyOf(series, connectorId)) ?? reading, reading, distortion);
    },
    begin(series, connectorId, sample) {
      last.set(keyOf(series, connectorId), known(sample));
    },
  };
}

// Samples of a transaction for its last message.

/** More samples than this are thinned out: every other one between the first and the last goes. */
export const maxSamples = 500;

export interface History<Value> {
  add(key: string, value: Value): void;
  /** Forgets them. */
  take(key: string): readonly Value[];
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
    take(key) {
      const list = values.get(key) ?? [];
      values.delete(key);
      return list;
    },
  };
}

function thinned<Value>(list: readonly Value[]): Value[] {
  return list.filter((_, i) => i % 2 === 0 || i === list.length - 1);
}
