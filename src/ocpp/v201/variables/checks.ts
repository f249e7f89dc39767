/** Rules of variables that their rows cannot say. */
import { offsetMinutes } from './local-time.ts';
import type { Found } from './model.ts';

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

export function invalidValue(additionalInfo: string): Refusal {
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

export function refusalOf(checks: VariableChecks, found: Found, value: string): Refusal | null {
  return checks[nameOf(found)]?.(value, found) ?? null;
}
