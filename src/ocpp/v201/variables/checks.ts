/** Rules of variables that their rows cannot say. */
import type { Found, Variables } from './model.ts';

// Local time of the place of the station: ClockCtrlr.TimeOffset, where the station has one.

const form = /^([+-])(\d\d):(\d\d)$/;
/** The zones of the world, minutes from UTC. */
const range = { min: -12 * 60, max: 14 * 60 } as const;

/** `+01:00` as minutes from UTC; null: it is none. */
export function offsetMinutes(text: string): number | null {
  const [, sign, hours, minutes] = form.exec(text) ?? [];
  if (hours === undefined || Number(minutes) >= 60) return null;
  const total = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return total >= range.min && total <= range.max ? total : null;
}

/** Local time minus UTC, ms; 0 where the station has no offset. */
export function localOffsetMs(variables: Pick<Variables, 'has' | 'text'>): number {
  if (!variables.has('ClockCtrlr', 'TimeOffset')) return 0;
  return (offsetMinutes(variables.text('ClockCtrlr', 'TimeOffset')) ?? 0) * 60_000;
}

/** Why a value is refused. */
export interface Refusal {
  /** of the standard's list of reason codes */
  readonly reasonCode: string;
  /** for people; never the value of a secret */
  readonly additionalInfo: string;
}

/** Null: the value is right. @param value as it would be kept */
export type VariableCheck = (value: string, found: Found) => Refusal | null;

/** By component and variable as the rows spell them: `OCPPCommCtrlr.NetworkConfigurationPriority`. */
export type VariableChecks = Readonly<Record<string, VariableCheck>>;

function invalidValue(additionalInfo: string): Refusal {
  return { reasonCode: 'InvalidValue', additionalInfo };
}

/** A01.FR.02, 4.1.2 of the transport: text that a header can carry. */
const printable = /^[ -~]*$/;

const password: VariableCheck = (value) => (printable.test(value) ? null : invalidValue('only printable ASCII'));

const timeOffset: VariableCheck = (value) =>
  offsetMinutes(value) === null ? invalidValue('an offset from UTC, from -12:00 to +14:00') : null;

/** The currency of costs (ISO 4217), and the country in the names of certificates (ISO 3166-1). */
const capitals =
  (length: number): VariableCheck =>
  (value) =>
    value.length === length && /^[A-Z]+$/.test(value) ? null : invalidValue(`${length} capital letters`);

/** Rules of this folder. */
export const ownChecks: VariableChecks = {
  'SecurityCtrlr.BasicAuthPassword': password,
  'ClockCtrlr.TimeOffset': timeOffset,
  'ISO15118Ctrlr.CountryName': capitals(2),
  'TariffCostCtrlr.Currency': capitals(3),
};

/** Variables whose change closes the connection, once the answer to it is sent (A01.FR.09). */
const reconnecting: ReadonlySet<string> = new Set(['SecurityCtrlr.BasicAuthPassword']);

export function nameOf({ entry: { row } }: Found): string {
  return `${row.component}.${row.variable}`;
}

export function reconnectsAfter(changed: Found): boolean {
  return reconnecting.has(nameOf(changed));
}

export function refusalOf(checks: VariableChecks, target: Found, value: string): Refusal | null {
  return checks[nameOf(target)]?.(value, target) ?? null;
}
