/** The measurands of OCPP 1.6 (7.31) that a station meters: how each is read from a sample. */
import type { MeterSample } from '../../station/port.ts';
import type { Requests } from '../parts.ts';

export type MeterValue = Requests['MeterValues']['meterValue'][number];
export type SampledValue = MeterValue['sampledValue'][number];
type Measurand = NonNullable<SampledValue['measurand']>;
type Phase = NonNullable<SampledValue['phase']>;

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

interface Value {
  readonly value: number;
  readonly phase?: Phase;
}

interface Row {
  readonly unit?: NonNullable<SampledValue['unit']>;
  readonly digits: number;
  readonly inVehicle?: true;
  /** without a phase in the key; empty: there is nothing to tell */
  readonly read: (reading: Reading) => readonly Value[];
  /** by position in `sample.phases`; absent: it has no values by phase */
  readonly readPhase?: (sample: MeterSample, i: number) => number;
}

/** A magnitude; a reading is never -0. */
const up = (value: number) => (value > 0 ? value : 0);
const one = (read: (reading: Reading) => number) => (reading: Reading) => [{ value: read(reading) }];

/** Values of all phases; of DC one value without a phase. */
function perPhase(read: (sample: MeterSample, i: number) => number, suffix: '' | '-N'): Row['read'] {
  return ({ sample }) =>
    sample.phases.length === 0
      ? [{ value: read(sample, 0) }]
      : sample.phases.map((phase, i) => ({ value: read(sample, i), phase: phaseName(phase, suffix) }));
}

function phaseName(phase: number, suffix: '' | '-N'): Phase {
  const names = suffix === '' ? (['L1', 'L2', 'L3'] as const) : (['L1-N', 'L2-N', 'L3-N'] as const);
  return names[phase - 1] ?? names[0];
}

const importsA = ({ powerW, currentA }: MeterSample, i: number) => (powerW < 0 ? 0 : (currentA[i] ?? 0));
const exportsA = ({ powerW, currentA }: MeterSample, i: number) => (powerW < 0 ? (currentA[i] ?? 0) : 0);
const volts = ({ voltageV }: MeterSample, i: number) => voltageV[i] ?? 0;

const power = (sign: 1 | -1): Row => ({
  unit: 'W',
  digits: 1,
  read: one(({ sample }) => up(sign * sample.powerW)),
  readPhase: ({ powerByPhaseW }, i) => up(sign * (powerByPhaseW[i] ?? 0)),
});
const current = (read: (sample: MeterSample, i: number) => number): Row => ({
  unit: 'A',
  digits: 2,
  read: perPhase(read, ''),
  readPhase: read,
});
const energy = (name: keyof ShownEnergy): Row => ({
  unit: 'Wh',
  digits: 0,
  read: one((reading) => reading.energy[name]),
});

/** Frequency has no unit: the list of 1.6 lacks hertz. What is not here a station does not meter. */
const rows = {
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
  Frequency: { digits: 3, read: one(({ sample }) => sample.frequencyHz) },
  SoC: {
    unit: 'Percent',
    digits: 1,
    inVehicle: true,
    read: ({ sample: { socPct } }) => (socPct === null ? [] : [{ value: socPct }]),
  },
} as const satisfies Partial<Record<Measurand, Row>>;

type Metered = keyof typeof rows;
const table: Readonly<Record<Metered, Row>> = rows;

/** In the order of the standard. */
export const suppliedMeasurands = Object.keys(table) as readonly Metered[];

const withPhase = /^(.+)\.(L[123])(?:-N)?$/;

/** The row and the phase that a member of a key asks for; null: the station does not meter it. */
function wanted(member: string): { readonly name: Metered; readonly row: Row; readonly phase: number | null } | null {
  const match = withPhase.exec(member);
  const text = match?.[1] ?? member;
  const name = suppliedMeasurands.find((each) => each === text);
  if (name === undefined) return null;
  const row = table[name];
  if (match === null) return { name, row, phase: null };
  return row.readPhase === undefined ? null : { name, row, phase: Number(match[2]?.slice(1)) };
}

/** Whether a station meters what a key asks for: a measurand, alone or with a phase (`Voltage.L1-N`, `Current.Import.L2`). */
export function isSupplied(member: string): boolean {
  return wanted(member) !== null;
}

function textOf(value: number, digits: number): string {
  const rounded = Number(value.toFixed(digits));
  return String(rounded === 0 ? 0 : rounded);
}

function valuesOf(reading: Reading, row: Row, phase: number | null): readonly Value[] {
  if (phase === null || row.readPhase === undefined) return row.read(reading);
  const at = reading.sample.phases.indexOf(phase);
  if (at < 0) return [];
  const suffix = row === table.Voltage ? '-N' : '';
  return [{ value: row.readPhase(reading.sample, at), phase: phaseName(phase, suffix) }];
}

/**
 * The values of a sample in the order of the key; what the connector does not have (a phase, a vehicle) is left out.
 * @param connectorId 0: the meter of the station, at its inlet
 */
export function sampledValues(
  reading: Reading,
  members: readonly string[],
  connectorId: number,
  context: NonNullable<SampledValue['context']>,
): readonly SampledValue[] {
  const place = connectorId === 0 ? 'Inlet' : 'Outlet';
  return members.flatMap((member) => {
    const found = wanted(member);
    if (found === null) return [];
    const { name, row, phase } = found;
    return valuesOf(reading, row, phase).map(
      (each): SampledValue => ({
        value: textOf(each.value, row.digits),
        context,
        measurand: name,
        ...(each.phase === undefined ? {} : { phase: each.phase }),
        location: row.inVehicle === true ? 'EV' : place,
        ...(row.unit === undefined ? {} : { unit: row.unit }),
      }),
    );
  });
}
