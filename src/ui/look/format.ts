/** Number formats of the page: fixed decimals by quantity, always with the unit; a dash without a value. */
import { signal } from '@preact/signals';

interface Quantity {
  readonly label: string;
  readonly unit: string;
  readonly decimals: number;
}

export const quantities = {
  activePower: { label: 'Active power', unit: 'kW', decimals: 2 },
  reactivePower: { label: 'Reactive power', unit: 'kvar', decimals: 2 },
  apparentPower: { label: 'Apparent power', unit: 'kVA', decimals: 2 },
  voltage: { label: 'Voltage', unit: 'V', decimals: 1 },
  current: { label: 'Current', unit: 'A', decimals: 1 },
  frequency: { label: 'Frequency', unit: 'Hz', decimals: 3 },
  powerFactor: { label: 'Power factor', unit: '', decimals: 3 },
  soc: { label: 'State of charge', unit: '%', decimals: 1 },
  percent: { label: 'Percent', unit: '%', decimals: 1 },
  energy: { label: 'Energy', unit: 'kWh', decimals: 2 },
  temperature: { label: 'Temperature', unit: '°C', decimals: 1 },
  irradiance: { label: 'Irradiance', unit: 'W/m²', decimals: 0 },
  windSpeed: { label: 'Wind speed', unit: 'm/s', decimals: 1 },
  speed: { label: 'Speed', unit: 'rpm', decimals: 1 },
  angle: { label: 'Angle', unit: '°', decimals: 1 },
  seconds: { label: 'Time', unit: 's', decimals: 1 },
  perUnit: { label: 'Per unit', unit: 'pu', decimals: 4 },
} as const satisfies Record<string, Quantity>;

export type QuantityName = keyof typeof quantities;

export const dash = '–';

/** A number with fixed decimals, without its unit. */
export function digits(value: number | null | undefined, decimals: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return dash;
  const text = value.toFixed(decimals);
  // avoids "-0.00"
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

/** A value of a quantity with its unit. */
export function show(value: number | null | undefined, quantity: QuantityName): string {
  const { unit, decimals } = quantities[quantity];
  const text = digits(value, decimals);
  return text === dash || unit === '' ? text : `${text}\u00a0${unit}`;
}

/** Time zone of the simulated clock. */
export const zone = signal('UTC');

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const existing = formats.get(timeZone);
  if (existing) return existing;
  // "sv" formats dates as ISO does
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' });
  formats.set(timeZone, format);
  return format;
}

/** Date and time of a simulated instant in the zone of the simulated clock: `2026-06-21 12:04:07`. */
export function dateAndTime(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? dash : formatOf(zone.value).format(new Date(iso));
}

/** Time of day of a simulated instant in the zone of the simulated clock: `12:04:07`. */
export function timeOfDay(iso: string | null | undefined): string {
  const text = dateAndTime(iso);
  return text === dash ? dash : text.slice(11);
}

/** Time of day of a real instant, marked as UTC: `05:50:17 UTC`. */
export function wallTime(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? dash : `${iso.slice(11, 19)} UTC`;
}

/** API names as words: `volt_var` is "volt-var", `in_service` "in service". */
export function words(name: string | null | undefined): string {
  return name?.replaceAll('_', ' ') ?? dash;
}
