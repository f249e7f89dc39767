/** The measurands of OCPP 1.6 (7.31) that a station meters, as its messages show them. */
import { meteredRows, phaseName } from '../../meter-values/measurands.ts';
import type { MeasuredValue, MeasurandRow, Reading } from '../../meter-values/measurands.ts';
import type { Requests } from '../parts.ts';

export type MeterValue = Requests['MeterValues']['meterValue'][number];
export type SampledValue = MeterValue['sampledValue'][number];
type Measurand = NonNullable<SampledValue['measurand']>;

type Metered = keyof typeof meteredRows & Measurand;
const table: Readonly<Record<Metered, MeasurandRow>> = meteredRows;

/** In the order of the standard. */
export const suppliedMeasurands = Object.keys(table) as readonly Metered[];

/** Decimals of a measurand. */
export function digitsOf(measurand: string): number {
  return suppliedMeasurands.includes(measurand as Metered) ? table[measurand as Metered].digits : 0;
}

const withPhase = /^(.+)\.(L[123])(?:-N)?$/;

/** The row and the phase that a member of a key asks for; null: the station does not meter it. */
function wanted(
  member: string,
): { readonly name: Metered; readonly row: MeasurandRow; readonly phase: number | null } | null {
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

/** Frequency has no unit: the list of 1.6 lacks hertz. */
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
        ...unitOf(row),
      }),
    );
  });
}
