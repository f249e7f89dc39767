import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';

/** One column that a series may have. */
export interface SeriesColumn {
  readonly name: string;
  readonly required: boolean;
  /** allowed values, both ends included */
  readonly min: number;
  readonly max: number;
  /** from this value up to `min` a value counts as `min`: noise of a sensor */
  readonly noiseFrom?: number;
  /** Reason for which a value is refused, in place of the range; null: not refused. */
  readonly explain?: (value: number) => string | null;
  /** whole numbers only */
  readonly whole?: true;
  /** allowed values */
  readonly values?: readonly number[];
}

export interface SeriesFormat {
  /** name in messages, for example the file name */
  readonly name: string;
  readonly columns: readonly SeriesColumn[];
  /** a table of events: rows may share their time */
  readonly sharedTimes?: true;
  /** between two rows: a straight line (default) or the earlier row */
  readonly between?: 'linear' | 'hold';
  /** after the last row: hold its values (default), or loop: the first row follows at the time of the last */
  readonly end?: 'hold' | 'loop';
}

export const timeColumn = 'time_s';
export const maxSeriesRows = 100_000;
const maxIssues = 20;
/** Maximum magnitude of a time, some thirty years, s. */
const maxTimeS = 1e9;
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A table of values over time. Reading forward in time costs a few steps of a cursor; any other order a search. */
export class Series {
  readonly #times: Float64Array;
  readonly #columns: ReadonlyMap<string, Float64Array>;
  readonly #linear: boolean;
  readonly #loop: boolean;
  #cursor = 0;

  /** `times` rises, strictly unless rows share their time, and has at least one row; every column is as long. */
  constructor(
    times: Float64Array,
    columns: ReadonlyMap<string, Float64Array>,
    format: Pick<SeriesFormat, 'between' | 'end'>,
  ) {
    this.#times = times;
    this.#columns = columns;
    this.#linear = format.between !== 'hold';
    this.#loop = format.end === 'loop';
  }

  get rows(): number {
    return this.#times.length;
  }

  /** Time of the first row, s. */
  get startS(): number {
    return this.#times[0] ?? 0;
  }

  /** Time of the last row, s. */
  get endS(): number {
    return this.#times[this.#times.length - 1] ?? 0;
  }

  /** The rows one by one: time and the value of each column by name. */
  *table(): Generator<Readonly<Record<string, number>>> {
    for (const [row, timeS] of this.#times.entries()) {
      const values = [...this.#columns].map(([name, column]) => [name, column[row] ?? 0] as const);
      yield { ...Object.fromEntries(values), [timeColumn]: timeS };
    }
  }

  /** A time within the rows, s: wrapped round the loop, or limited to the two ends. */
  position(tS: number): number {
    const t = this.#loop ? this.#wrapped(tS) : tS;
    return Math.max(this.startS, Math.min(this.endS, t));
  }

  has(column: string): boolean {
    return this.#columns.has(column);
  }

  /**
   * Value of a column at a time in s. Before the first row the value of that row holds, or the loop continues
   * backwards.
   * @throws SimError INTERNAL for a column that the series does not have
   */
  at(column: string, tS: number): number {
    const values = this.#columns.get(column);
    if (values === undefined) throw new SimError('INTERNAL', `The series has no column ${column}`);
    const t = this.#loop ? this.#wrapped(tS) : tS;
    const row = this.#rowAt(t);
    const value = values[row] ?? 0;
    const next = values[row + 1];
    if (!this.#linear || next === undefined) return value;
    const from = this.#times[row] ?? 0;
    const to = this.#times[row + 1] ?? from;
    // also false if the time is not a number: then the value of the first row
    return t > from ? value + ((next - value) * (t - from)) / (to - from) : value;
  }

  /** Time in s of the next row after `tS`, where the course bends; Infinity: no further row. */
  nextRowS(tS: number): number {
    const t = this.#loop ? this.#wrapped(tS) : tS;
    if (t < this.startS) return tS + (this.startS - t);
    const next = this.#times[this.#rowAt(t) + 1];
    return next === undefined ? Infinity : tS + (next - t);
  }

  #wrapped(tS: number): number {
    const start = this.startS;
    const period = this.endS - start;
    if (period <= 0) return start;
    const turns = Math.floor((tS - start) / period);
    return tS - turns * period;
  }

  /** Last row at or before `t`, or the first row. */
  #rowAt(t: number): number {
    const times = this.#times;
    let row = this.#cursor;
    for (let hop = 0; hop < 4; hop++) {
      if (t < (times[row] ?? 0)) break;
      const next = times[row + 1];
      if (next === undefined || t < next) {
        this.#cursor = row;
        return row;
      }
      row++;
    }
    row = searchRow(times, t);
    this.#cursor = row;
    return row;
  }
}

function searchRow(times: Float64Array, t: number): number {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) <= t) low = middle;
    else high = middle;
  }
  return low;
}

/** Issues with their lines; reading stops once there are enough of them. */
class IssueList {
  readonly entries: Issue[] = [];

  get full(): boolean {
    return this.entries.length >= maxIssues;
  }

  add(line: number, name: string, text: string, allowed?: readonly string[]): void {
    if (this.full) return;
    const detail = `line ${line}: ${text}`;
    this.entries.push(allowed === undefined ? { name, detail } : { name, detail, allowed });
  }
}

/** The column at each place of a row; undefined: the time, or a column that the header should not have. */
type Places = readonly (SeriesColumn | undefined)[];

/**
 * Reads a table of comma separated values: lines that begin with `#` are comments, the first other line
 * names the columns, `time_s` (s, rising; strictly unless times are shared) is the first column. At most 100,000 rows.
 * @throws SimError CONFIG_INVALID with up to 20 issues, each with its line
 */
export function parseSeries(text: string, format: SeriesFormat): Series {
  const issues = new IssueList();
  const rows: number[][] = [];
  let places: Places | undefined;
  let line = 0;
  for (const cells of csvLines(text)) {
    line++;
    if (cells === undefined) continue;
    if (places === undefined) {
      places = readHeader(cells, line, format, issues);
      // With a wrong header every row would be an issue.
      if (issues.entries.length > 0) break;
      continue;
    }
    if (rows.length === maxSeriesRows) {
      issues.add(line, format.name, `more than ${maxSeriesRows} rows`);
      break;
    }
    rows.push(
      readRow(cells, line, places, { before: rows[rows.length - 1]?.[0], shared: format.sharedTimes === true }, issues),
    );
    if (issues.full) break;
  }
  if (places === undefined) issues.add(Math.max(line, 1), format.name, 'there is no header row');
  else if (rows.length === 0 && issues.entries.length === 0) issues.add(line, format.name, 'there is no row of values');
  if (issues.entries.length > 0) throw seriesError(format.name, issues.entries);
  return tabulate(rows, places ?? [], format);
}

/** The cells of each line, trimmed; undefined for a comment or an empty line. */
function* csvLines(text: string): Generator<string[] | undefined> {
  // Spreadsheets put a byte order mark in front.
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const content = text.slice(at, end < 0 ? text.length : end).trim();
    yield content === '' || content.startsWith('#') ? undefined : content.split(',').map((cell) => cell.trim());
    at = end < 0 ? text.length : end + 1;
  }
}

function readHeader(cells: readonly string[], line: number, format: SeriesFormat, issues: IssueList): Places {
  const { columns } = format;
  const allowed = [timeColumn, ...columns.map((column) => column.name)];
  if (cells[0] !== timeColumn)
    issues.add(line, timeColumn, `the first column is ${shown(cells[0])}, not ${timeColumn}`, allowed);
  const seen = new Set<string>([timeColumn]);
  for (const name of cells.slice(1)) {
    if (!allowed.includes(name)) issues.add(line, name.slice(0, 40), `there is no column ${shown(name)}`, allowed);
    else if (seen.has(name)) issues.add(line, name, `column ${name} occurs twice`);
    seen.add(name);
  }
  for (const { name, required } of columns) {
    if (required && !seen.has(name)) issues.add(line, name, `column ${name} is missing`);
  }
  return cells.map((name) => columns.find((column) => column.name === name));
}

function readRow(
  cells: readonly string[],
  line: number,
  places: Places,
  { before, shared }: Before,
  issues: IssueList,
): number[] {
  if (cells.length !== places.length) {
    issues.add(line, 'row', `${cells.length} values for ${places.length} columns`);
  }
  return places.map((column, at) => {
    const name = column?.name ?? timeColumn;
    const cell = cells[at];
    if (cell === undefined) return NaN;
    const number = decimal.test(cell) ? Number(cell) : NaN;
    const value = withoutNoise(number, column);
    const reason = column?.explain?.(value) ?? null;
    if (!Number.isFinite(value)) issues.add(line, name, `${name} is ${shown(cell)}, not a number`);
    else if (column === undefined) {
      if (Math.abs(value) > maxTimeS)
        issues.add(line, name, `${name} is ${value}, outside -${maxTimeS} to ${maxTimeS}`);
      else if (before !== undefined && (shared ? value < before : value <= before))
        issues.add(line, name, `${name} is ${value} after ${before}, it must rise`);
    } else if (reason !== null) {
      issues.add(line, name, `${name} is ${value}: ${reason}`);
    } else if (value < column.min || value > column.max) {
      issues.add(line, name, `${name} is ${value}, outside ${column.min} to ${column.max}`);
    } else if (column.whole === true && !Number.isInteger(value)) {
      issues.add(line, name, `${name} is ${value}, not a whole number`);
    } else if (column.values && !column.values.includes(value)) {
      issues.add(line, name, `${name} is ${value}, not one of ${column.values.join(', ')}`);
    }
    return value;
  });
}

/** A value, or the minimum in the place of noise below it. */
function withoutNoise(value: number, column: SeriesColumn | undefined): number {
  const { noiseFrom, min } = column ?? {};
  return noiseFrom !== undefined && min !== undefined && value >= noiseFrom && value < min ? min : value;
}

/** Time of the previous row, and whether the next row may have the same time. */
interface Before {
  readonly before: number | undefined;
  readonly shared: boolean;
}

/** Text of the user in a message: quoted and short. */
function shown(text: string | undefined): string {
  const value = text ?? '';
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
}

function seriesError(name: string, issues: readonly Issue[]): SimError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new SimError(
    'CONFIG_INVALID',
    `The time series ${name} cannot be used: ${first?.detail ?? ''}${more}`,
    issues,
  );
}

function tabulate(rows: readonly (readonly number[])[], places: Places, format: SeriesFormat): Series {
  const take = (at: number): Float64Array => Float64Array.from(rows, (row) => row[at] ?? 0);
  const columns = new Map<string, Float64Array>();
  places.forEach((column, at) => {
    if (column !== undefined) columns.set(column.name, take(at));
  });
  return new Series(take(0), columns, format);
}
