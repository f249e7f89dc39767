/** Numbers and names as text: fixed decimals by quantity, always with the unit; a dash without a value. */
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

/** A number as text with fixed decimals, without its unit. */
export function fixed(value: number | null | undefined, decimals: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return dash;
  const text = value.toFixed(decimals);
  // avoids "-0.00"
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

interface Scale {
  /** from this size on */
  readonly from: number;
  readonly unit: string;
  readonly divisor: number;
  readonly decimals: number;
}

const largePower = (unit: string, largeUnit: string): readonly Scale[] => [
  { from: 1000, unit, divisor: 1, decimals: 1 },
  { from: 10_000, unit: largeUnit, divisor: 1000, decimals: 2 },
];

/** Larger values of a quantity, the smallest first. */
const scales: Partial<Record<QuantityName, readonly Scale[]>> = {
  activePower: largePower('kW', 'MW'),
  reactivePower: largePower('kvar', 'Mvar'),
  apparentPower: largePower('kVA', 'MVA'),
  energy: [{ from: 1000, unit: 'MWh', divisor: 1000, decimals: 2 }],
};

type Value = number | null | undefined;

/** Unit and decimals of the largest of some values, by its size after rounding: 999.996 kW are 1000.0 kW. */
function scaleOf(values: readonly Value[], quantity: QuantityName): Scale {
  const largest = Math.max(0, ...values.map((value) => Math.abs(value ?? 0)).filter(Number.isFinite));
  let scale: Scale = { from: 0, divisor: 1, ...quantities[quantity] };
  for (const next of scales[quantity] ?? [])
    if (Number((largest / scale.divisor).toFixed(scale.decimals)) * scale.divisor >= next.from) scale = next;
  return scale;
}

const scaled = (value: Value, { divisor, decimals }: Scale): string =>
  fixed(value === null || value === undefined ? value : value / divisor, decimals);

/** Values that stand together: their texts in the unit of the largest, and that unit. */
export function alike(
  values: readonly Value[],
  quantity: QuantityName,
): { readonly texts: readonly string[]; readonly unit: string } {
  const scale = scaleOf(values, quantity);
  return { texts: values.map((value) => scaled(value, scale)), unit: scale.unit };
}

/** A value of a quantity with its unit. */
export function show(value: Value, quantity: QuantityName): string {
  const scale = scaleOf([value], quantity);
  const text = scaled(value, scale);
  return text === dash || scale.unit === '' ? text : `${text}\u00a0${scale.unit}`;
}

/** Two values with one unit: `9.80 of 12.00 MW`. */
export function pair(value: Value, whole: Value, quantity: QuantityName): string {
  const { texts, unit } = alike([value, whole], quantity);
  return `${texts.join(' of ')}\u00a0${unit}`;
}

/** A limit in percent: without decimals when it is whole. */
export function limitText(pct: number | null | undefined): string {
  const text = fixed(pct, Number.isInteger(pct) ? 0 : 1);
  return text === dash ? text : `${text}\u00a0%`;
}

const [minuteS, hourS, dayS] = [60, 3600, 86_400];
/** Seconds count below this span. */
const withSecondsS = 10 * minuteS;

/** A span of time in two units at most: `0.16 s`, `40 s`, `4:36`, `27 min`, `5 h 12 min`, `3 d 4 h`. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return dash;
  if (seconds < minuteS) return `${fixed(seconds, Number.isInteger(seconds) ? 0 : seconds < 10 ? 2 : 1)}\u00a0s`;
  const whole = Math.floor(seconds);
  if (whole < withSecondsS) return `${Math.floor(whole / minuteS)}:${String(whole % minuteS).padStart(2, '0')}`;
  if (whole < 2 * hourS) return `${Math.floor(whole / minuteS)}\u00a0min`;
  if (whole < 2 * dayS) return inTwoUnits(whole, hourS, 'h', minuteS, 'min');
  return inTwoUnits(whole, dayS, 'd', hourS, 'h');
}

/** The rest of a span that counts down: whole seconds from 10 s on, so that its digits do not flicker. */
export function remaining(seconds: number | null | undefined): string {
  return duration(typeof seconds === 'number' && seconds >= 10 ? Math.round(seconds) : seconds);
}

/** `5 h 12 min` */
function inTwoUnits(seconds: number, largeS: number, large: string, smallS: number, small: string): string {
  const rest = Math.floor((seconds % largeS) / smallS);
  return `${Math.floor(seconds / largeS)}\u00a0${large}${rest === 0 ? '' : ` ${rest}\u00a0${small}`}`;
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

/** Time of day with milliseconds, for captures: `12:03:41.460`. */
export function timeWithMs(iso: string | null | undefined): string {
  const text = timeOfDay(iso);
  return text === dash ? dash : `${text}.${String(new Date(iso ?? 0).getUTCMilliseconds()).padStart(3, '0')}`;
}

/** Time of day, with the date where the day differs from that of another instant. */
export function timeOrDate(iso: string | null | undefined, other: string): string {
  const text = dateAndTime(iso);
  return text.slice(0, 10) === dateAndTime(other).slice(0, 10) ? timeOfDay(iso) : text;
}

/** The date of a simulated instant: `Sun 21 Jun`. */
export function dateWords(iso: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone.value,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
  }).format(new Date(iso));
  return parts.replace(',', '');
}

/** Time of day of a real instant, marked as UTC: `05:50:17 UTC`. */
export function wallTime(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? dash : `${iso.slice(11, 19)} UTC`;
}

/** Date and time of a real instant, marked as UTC: `2026-03-01 05:50:17 UTC`. */
export function wallDate(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? dash : `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** API names as words: `volt_var` is "volt var", `in_service` "in service". */
export function words(name: string | null | undefined): string {
  return name?.replaceAll('_', ' ') ?? dash;
}

const sourceNames: Readonly<Record<string, string>> = {
  rest: 'REST',
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
};

/** With a capital letter, as the name of a fact. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The interface or part of the simulator that wrote a value, as users spell it. */
export function sourceName(source: string): string {
  return sourceNames[source] ?? words(source);
}

interface Term {
  readonly term: string;
  /** empty: no unit in the name */
  readonly unit: string;
}

/** Suffixes of names that are units, longer ones first. */
const unitEndings: readonly (readonly [ending: string, unit: string])[] = [
  ['_pct_per_s', '%/s'],
  ['_pct_s', '%/s'],
  ['_pu_s', 'pu/s'],
  ['_hz_s', 'Hz/s'],
  ['_m_s', 'm/s'],
  ['_w_m2', 'W/m²'],
  ['_kg_h', 'kg/h'],
  ['_kwh', 'kWh'],
  ['_wh', 'Wh'],
  ['_kvar', 'kvar'],
  ['_kva', 'kVA'],
  ['_kw', 'kW'],
  ['_hz', 'Hz'],
  ['_pu', 'pu'],
  ['_pct', '%'],
  ['_rpm', 'rpm'],
  ['_deg', '°'],
  ['_ms', 'ms'],
  ['_s', 's'],
  ['_c', '°C'],
  ['_v', 'V'],
  ['_a', 'A'],
];

const abbreviations: Readonly<Record<string, string>> = {
  soc: 'SoC',
  id: 'ID',
  ids: 'IDs',
  ev: 'EV',
  evse: 'EVSE',
  ocpp: 'OCPP',
  url: 'URL',
  lfdi: 'LFDI',
  mrid: 'mRID',
};

/** The name of a member as a term: `duration_s` is "Duration" in s. @param isNumber false: suffixes are not units */
export function termOf(name: string, isNumber = true): Term {
  const [ending, unit] = (isNumber ? unitEndings.find(([end]) => name.endsWith(end)) : undefined) ?? ['', ''];
  const [first = '', ...rest] = words(name.slice(0, name.length - ending.length)).split(' ');
  const start = abbreviations[first] ?? first.charAt(0).toUpperCase() + first.slice(1);
  return { term: [start, ...rest.map((word) => abbreviations[word] ?? word)].join(' '), unit };
}

/** `Duration, s` */
export function withUnit({ term, unit }: Term): string {
  return unit === '' ? term : `${term}, ${unit}`;
}
