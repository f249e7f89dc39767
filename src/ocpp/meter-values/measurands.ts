/** The measurands that every version knows and a station meters: how each is read from a sample. */
import type { MeterSample } from '../station/port.ts';

export type MeterPhase = 'L1' | 'L2' | 'L3' | 'L1-N' | 'L2-N' | 'L3-N';

/** Energy registers as a message shows them, and what has flown since the last sample of the same series; whole Wh. */
export interface ShownEnergy {
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
  /** without a phase asked for; empty: there is nothing to tell */
  readonly read: (reading: Reading) => readonly MeasuredValue[];
  /** by position in `sample.phases`; absent: it has no values by phase */
  readonly readPhase?: (sample: MeterSample, i: number) => number;
}

/** A magnitude; a reading is never -0. */
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

export type MeteredMeasurand = keyof typeof meteredRows;
