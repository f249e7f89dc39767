/** The lanes of a capture: voltage, frequency, active and reactive power over one axis of time. */
import type { ReplyOf } from '../../../api/call';
import { fixed } from '../../../look/format';
import { kindOf } from '../../../kit/kind-icons';
import { rangeAround } from './axes';
import { bandOf, extentOf } from './steps';
import type { Band, Span, Steps } from './steps';
import type { Capture, Verdict } from './verdict-words';

export type Rows = ReplyOf<'captures/{id}/rows'>;
export type DeviceRows = Rows['devices'][number];

/** A curve with the label at its end. */
export interface Line {
  readonly key: string;
  /** null: no label */
  readonly label: string | null;
  readonly steps: Steps;
  /** class that has the colour */
  readonly look: string;
  /** `ghost`: another capture; `second`: not the first device of its kind */
  readonly form: 'thick' | 'thin' | 'second' | 'ghost';
}

export interface Envelope {
  readonly key: string;
  readonly label: string;
  readonly band: Band;
  readonly look: string;
}

export interface Threshold {
  readonly value: number;
  readonly text: string;
}

/** Time in which a device was beyond the threshold that tripped it. */
export interface Zone {
  readonly key: string;
  readonly time: Span;
  readonly values: Span;
}

export interface Lane {
  readonly name: 'V' | 'f' | 'P' | 'Q';
  readonly unit: string;
  readonly title: string;
  /** share of the height */
  readonly share: number;
  readonly range: Span;
  readonly decimals: number;
  readonly lines: readonly Line[];
  readonly envelopes: readonly Envelope[];
  readonly thresholds: readonly Threshold[];
  readonly zones: readonly Zone[];
}

/** Devices that have a line of their own; with more, kinds have an envelope. */
export const maxLines = 8;
/** Powers that are none, percent of the rating. */
const idlePct = 0.5;
/** Least spans of the axes. */
const leastSpans = { V: 0.04, f: 0.1, P: 20, Q: 10 } as const;
/** Spans from which a quantity was disturbed, so that its thresholds matter. */
const disturbedSpans = { V: 0.1, f: 0.3 } as const;

type Column = 'grid_v_pct' | 'v_low_pct' | 'v_high_pct' | 'f_hz' | 'p_kw' | 'q_kvar';

function stepsOf(rows: DeviceRows, column: Column, factor = 1): Steps {
  const isPower = column === 'p_kw' || column === 'q_kvar';
  return {
    t: rows.t_s,
    values: rows[column].map((value) => value * factor),
    ramp: isPower ? rows.ramp : rows.t_s.map(() => 0),
  };
}

/** Lowest and highest curve of all devices, which are one where nothing tells them apart. */
function measured(devices: readonly DeviceRows[], columns: readonly [Column, Column], factor: number, apart: number) {
  const [lowColumn, highColumn] = columns;
  const curves = devices.flatMap((rows) => [stepsOf(rows, lowColumn, factor), stepsOf(rows, highColumn, factor)]);
  const { low, high } = bandOf(curves);
  const isOne = low.values.every((value, row) => (high.values[row] ?? value) - value < apart);
  return { low, high, isOne };
}

interface Source {
  readonly capture: Capture;
  readonly devices: readonly DeviceRows[];
  /** another capture, drawn dashed; null: none */
  readonly other: readonly DeviceRows[] | null;
}

function ghostOf(other: readonly DeviceRows[] | null, column: Column, factor: number, look: string): readonly Line[] {
  const [first] = other ?? [];
  if (first === undefined) return [];
  return [{ key: `ghost ${column}`, label: null, steps: stepsOf(first, column, factor), look, form: 'ghost' }];
}

function thresholdsOf(
  { thresholds }: Capture,
  quantity: 'voltage' | 'frequency',
  factor: number,
): readonly Threshold[] {
  const byText = new Map(
    thresholds
      .filter((each) => each.quantity === quantity)
      .map(({ text, value }) => [text, { text, value: value * factor }]),
  );
  return [...byText.values()];
}

/** The longest time in which values are beyond a threshold. */
function timeBeyond({ t, values }: Steps, isBeyond: (value: number) => boolean): Span | null {
  let [best, from]: [Span | null, number | null] = [null, null];
  t.forEach((at, row) => {
    if (!isBeyond(values[row] ?? NaN)) {
      from = null;
      return;
    }
    from ??= t[row - 1] ?? at;
    if (best === null || at - from > best.to - best.from) best = { from, to: at };
  });
  return best;
}

/** Where the devices that tripped were beyond the threshold that decided it. */
function zonesOf({ capture, devices }: Source, quantity: 'voltage' | 'frequency', factor: number): readonly Zone[] {
  return capture.verdicts.flatMap((verdict): readonly Zone[] => {
    if (verdict.verdict !== 'tripped' && verdict.verdict !== 'against_the_rule') return [];
    const rows = devices.find(({ device_index }) => device_index === verdict.device_index);
    if (rows === undefined) return [];
    const isLow = verdict.function === 'lv_trip' || verdict.function === 'lf_trip';
    const column = quantity === 'frequency' ? 'f_hz' : isLow ? 'v_low_pct' : 'v_high_pct';
    const zones = capture.thresholds
      .filter(
        (each) =>
          each.function === verdict.function &&
          each.quantity === quantity &&
          each.action === 'trip' &&
          each.devices.includes(verdict.device_index),
      )
      .flatMap(({ value, time_s }) => {
        const time = timeBeyond(stepsOf(rows, column), (each) => (isLow ? each < value : each > value));
        return time !== null && time.to - time.from >= time_s * 0.99 ? [{ value, time }] : [];
      });
    // the threshold that is farthest out has the shortest time
    const [decided] = zones.sort((a, b) => (isLow ? a.value - b.value : b.value - a.value));
    if (decided === undefined) return [];
    const edge = decided.value * factor;
    const values = isLow ? { from: -Infinity, to: edge } : { from: edge, to: Infinity };
    return [{ key: `${verdict.device_index}`, time: decided.time, values }];
  });
}

interface MeasuredLane {
  readonly name: 'V' | 'f';
  readonly quantity: 'voltage' | 'frequency';
  readonly columns: readonly [Column, Column];
  readonly factor: number;
  readonly look: string;
  /** differences that are none */
  readonly apart: number;
  readonly labels: readonly [low: string, high: string, one: string];
}

const laneOfVoltage: MeasuredLane = {
  name: 'V',
  quantity: 'voltage',
  columns: ['v_low_pct', 'v_high_pct'],
  factor: 0.01,
  look: 'of-v',
  apart: 0.005,
  labels: ['lowest phase', 'highest phase', 'all phases'],
};
const laneOfFrequency: MeasuredLane = {
  name: 'f',
  quantity: 'frequency',
  columns: ['f_hz', 'f_hz'],
  factor: 1,
  look: 'of-f',
  apart: 0.02,
  labels: ['lowest', 'highest', 'grid'],
};

function measuredLane(
  source: Source,
  of: MeasuredLane,
  grid: readonly Line[],
): Omit<Lane, 'unit' | 'title' | 'share' | 'decimals'> {
  const { devices, other, capture } = source;
  const { name, quantity, columns, factor, look, apart, labels } = of;
  const { low, high, isOne } = measured(devices, columns, factor, apart);
  const thin = (steps: Steps, label: string): Line => ({ key: label, label, steps, look, form: 'thin' });
  const [lowLabel, highLabel, oneLabel] = labels;
  const ghosts = ghostOf(other, name === 'V' ? 'grid_v_pct' : 'f_hz', factor, look);
  const lines = [...ghosts, ...grid, ...(isOne ? [thin(low, oneLabel)] : [thin(high, highLabel), thin(low, lowLabel)])];
  const [min, max] = extentOf(lines.map(({ steps }) => steps)) ?? [0, 0];
  const isDisturbed = max - min > disturbedSpans[name];
  const thresholds = isDisturbed ? thresholdsOf(capture, quantity, factor) : [];
  const values = [min, max, ...thresholds.map(({ value }) => value)];
  return {
    name,
    range: rangeAround(Math.min(...values), Math.max(...values), leastSpans[name]),
    lines,
    envelopes: [],
    thresholds,
    zones: isDisturbed ? zonesOf(source, quantity, factor) : [],
  };
}

interface PowerOf {
  readonly verdict: Verdict;
  readonly steps: Steps;
}

function powersOf(capture: Capture, devices: readonly DeviceRows[], column: 'p_kw' | 'q_kvar'): readonly PowerOf[] {
  return devices.flatMap((rows) => {
    const verdict = capture.verdicts.find(({ device_index }) => device_index === rows.device_index);
    if (verdict === undefined || verdict.rating_kw <= 0) return [];
    const steps = stepsOf(rows, column, 100 / verdict.rating_kw);
    return steps.values.some((value) => Math.abs(value) > idlePct) ? [{ verdict, steps }] : [];
  });
}

/** Lines of devices. A second device of a kind has the same colour and another form. */
function deviceLines(powers: readonly PowerOf[]): readonly Line[] {
  const kinds = new Set<string>();
  return powers.map(({ verdict: { device_index, name, asset_type }, steps }) => {
    const isFirst = !kinds.has(asset_type);
    kinds.add(asset_type);
    return {
      key: String(device_index),
      label: name,
      steps,
      look: kindOf(asset_type).look,
      form: isFirst ? 'thin' : 'second',
    };
  });
}

function envelopesOf(powers: readonly PowerOf[]): readonly Envelope[] {
  const kinds = [...new Set(powers.map(({ verdict }) => verdict.asset_type))];
  return kinds.map((kind) => {
    const all = powers.filter(({ verdict }) => verdict.asset_type === kind);
    const { title, look } = kindOf(kind);
    return { key: kind, label: `${all.length} ${title}`, band: bandOf(all.map(({ steps }) => steps)), look };
  });
}

const hasTripped = ({ verdict: { verdict } }: PowerOf) => verdict === 'tripped' || verdict === 'against_the_rule';

function powerLane(source: Source, name: 'P' | 'Q'): Omit<Lane, 'unit' | 'title' | 'share' | 'decimals'> {
  const column = name === 'P' ? 'p_kw' : 'q_kvar';
  const { capture, devices, other } = source;
  const powers = powersOf(capture, devices, column);
  const isFew = devices.length <= maxLines;
  const alone = isFew ? powers : powers.filter(hasTripped).slice(0, maxLines);
  const envelopes = isFew ? [] : envelopesOf(powers);
  const ghosts = deviceLines(powersOf(capture, other ?? [], column))
    .filter(({ key }) => alone.some(({ verdict }) => String(verdict.device_index) === key))
    .map((line): Line => ({ ...line, key: `ghost ${line.key}`, label: null, form: 'ghost' }));
  const lines = [...ghosts, ...deviceLines(alone)];
  const curves = [...lines.map(({ steps }) => steps), ...envelopes.flatMap(({ band }) => [band.low, band.high])];
  const [min, max] = extentOf(curves) ?? [0, 0];
  return {
    name,
    range: rangeAround(Math.min(0, min), Math.max(0, max), leastSpans[name]),
    lines,
    envelopes,
    thresholds: [],
    zones: [],
  };
}

/** The four lanes, from top to bottom. */
export function lanesOf(
  capture: Capture,
  devices: readonly DeviceRows[],
  other: readonly DeviceRows[] | null,
): readonly Lane[] {
  const source = { capture, devices, other };
  const [first] = devices;
  if (first === undefined) return [];
  const grid: Line = {
    key: 'grid',
    label: 'grid',
    steps: stepsOf(first, 'grid_v_pct', laneOfVoltage.factor),
    look: 'of-v',
    form: 'thick',
  };
  return [
    { ...measuredLane(source, laneOfVoltage, [grid]), unit: 'pu', title: 'Voltage', share: 0.38, decimals: 3 },
    { ...measuredLane(source, laneOfFrequency, []), unit: 'Hz', title: 'Frequency', share: 0.14, decimals: 3 },
    { ...powerLane(source, 'P'), unit: '% of rating', title: 'Active power', share: 0.32, decimals: 1 },
    { ...powerLane(source, 'Q'), unit: '% of rating', title: 'Reactive power', share: 0.16, decimals: 1 },
  ];
}

/** The disturbance and what came of it, within the sub-steps. */
export function disturbanceOf({ marks }: Pick<Capture, 'marks'>, subSteps: Span): Span {
  const last = Math.max(0, ...marks.map(({ t_s }) => t_s).filter((at) => at <= subSteps.to));
  return { from: subSteps.from, to: Math.min(subSteps.to, last * 1.35 + 0.5) };
}

/** The span of the sub-steps. */
export function subStepsOf(devices: readonly DeviceRows[]): Span {
  const fine = devices.flatMap(({ t_s, from_tick }) => t_s.filter((_at, row) => from_tick[row] === 0));
  const whole = wholeOf(devices);
  return fine.length === 0 ? whole : { from: whole.from, to: Math.max(...fine) };
}

export function wholeOf(devices: readonly DeviceRows[]): Span {
  const ends = devices.map(({ t_s }) => t_s.at(-1) ?? 0);
  const from = Math.min(0, ...devices.map(({ t_s }) => t_s[0] ?? 0));
  return { from, to: Math.max(from + 0.1, ...ends) };
}

/** Endings of values that are not the unit of their lane. */
const endings: Readonly<Record<string, string>> = { pu: '', '% of rating': '\u00a0%' };

export const valueText = (value: number | null, { decimals, unit }: Pick<Lane, 'decimals' | 'unit'>): string =>
  value === null ? '' : `${fixed(value, decimals)}${endings[unit] ?? ` ${unit}`}`;
