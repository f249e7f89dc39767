/**
 * Answers from the history: the selected metrics and samples as text, written piece by piece directly from the rows,
 * since objects for 10,000 samples would cost several times the time and memory of their text. Pieces are short, so
 * that ticks and other requests do not wait.
 */
import { Answer, StreamedReply } from '../http/route.ts';
import type { SeriesHistory } from './series.ts';
import type { Metric } from './metrics.ts';
import { firstMetric, simColumn, tickColumn, wallColumn } from './ring.ts';
import type { Cut, Run } from './ring.ts';
import { givenText, nearest } from '../../core/nearest.ts';
import { emptyName } from '../common/schemas.ts';
import { invalid, invalidAll } from '../http/errors.ts';

/** Simulated time, ms since the epoch; null: no bound. */
interface Window {
  /** inclusive */
  readonly sinceMs: number | null;
  /** exclusive */
  readonly untilMs: number | null;
}

export interface Selection {
  readonly width: number;
  /** oldest first, none of them empty */
  readonly runs: readonly Run[];
  readonly count: number;
  /** samples of the window are missing: dropped, or left out by the limit */
  readonly truncated: boolean;
}

const maxNamed = 5;

/**
 * The requested metrics in the given order; all without a request.
 * @param owner of the metrics for the error message: `a device of kind pv`
 * @throws HttpProblem `validation` with the allowed names
 */
function chosenMetrics(
  metrics: readonly Metric[],
  names: readonly string[] | undefined,
  owner: string,
): readonly Metric[] {
  if (names === undefined) return metrics;
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const unknown = names.filter((name) => name !== '' && !byName.has(name));
  const empty = names.includes('') ? [{ in: 'query' as const, name: 'metrics', detail: emptyName }] : [];
  if (unknown.length === 0 && empty.length > 0) throw invalidAll(empty);
  if (unknown.length > 0) {
    const allowed = [...byName.keys()];
    const unknownText = unknown
      .slice(0, maxNamed)
      .map((name) => {
        const near = nearest(name, allowed);
        return `${givenText(name)}${near === null ? '' : ` (did you mean ${near}?)`}`;
      })
      .join(', ');
    const detail = `${owner} has no metric ${unknownText}${unknown.length > maxNamed ? ', ...' : ''}`;
    throw invalidAll([{ in: 'query', name: 'metrics', detail, allowed }, ...empty]);
  }
  return names.flatMap((name) => byName.get(name) ?? []);
}

interface TimeQuery {
  readonly seconds?: number | undefined;
  /** ms since the epoch */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** @param nowMs the present on the clock of the samples. @throws HttpProblem `validation` */
function windowOf(nowMs: number, { seconds, since, until }: TimeQuery): Window {
  if (seconds === undefined) {
    if (since !== undefined && until !== undefined && since >= until)
      throw invalid('query', 'until', 'must be later than since');
    return { sinceMs: since ?? null, untilMs: until ?? null };
  }
  const bounds = Object.entries({ since, until })
    .filter(([, ms]) => ms !== undefined)
    .map(([name]) => name);
  if (bounds.length > 0) {
    throw invalidAll(
      bounds.map((name) => ({ in: 'query' as const, name, detail: 'cannot be given together with seconds' })),
    );
  }
  // times of samples are truncated to whole milliseconds; the current one is included
  const endMs = Math.floor(nowMs);
  return { sinceMs: endMs - seconds * 1000, untilMs: endMs + 1 };
}

/** The parts of a run that are within the window, row by row. */
function partsWithin({ values, from, to }: Run, width: number, sinceMs: number, untilMs: number): Run[] {
  const within: Run[] = [];
  let begin = -1;
  for (let row = from; row < to; row += 1) {
    const simMs = values[row * width + simColumn] ?? NaN;
    const inside = simMs >= sinceMs && simMs < untilMs;
    if (inside && begin < 0) begin = row;
    if (inside || begin < 0) continue;
    within.push({ values, from: begin, to: row });
    begin = -1;
  }
  if (begin >= 0) within.push({ values, from: begin, to });
  return within;
}

function runsWithin({ width, runs }: Cut, sinceMs: number, untilMs: number): Run[] {
  return runs.flatMap((run) => {
    if (run.toMs < sinceMs || run.fromMs >= untilMs) return [];
    // with both bounds in the window, so is every row
    return run.fromMs >= sinceMs && run.toMs < untilMs ? [run] : partsWithin(run, width, sinceMs, untilMs);
  });
}

/** The rows after the first `surplus` rows. */
function withoutFirst(runs: readonly Run[], surplus: number): Run[] {
  let left = surplus;
  return runs.flatMap((run) => {
    const dropped = Math.min(left, run.to - run.from);
    left -= dropped;
    return run.from + dropped < run.to ? [{ ...run, from: run.from + dropped }] : [];
  });
}

/**
 * The newest samples of a window, in the order of recording. After a setting of the clock simulated times repeat or
 * jump: each sample is selected by its own time, whatever its position.
 */
export function select(cut: Cut, { sinceMs, untilMs }: Window, limit: number): Selection {
  const [since, until] = [sinceMs ?? -Infinity, untilMs ?? Infinity];
  const within = runsWithin(cut, since, until);
  const rows = within.reduce((sum, { from, to }) => sum + to - from, 0);
  const isGoneInside = cut.gone !== null && cut.gone.toMs >= since && cut.gone.fromMs < until;
  return {
    width: cut.width,
    runs: rows > limit ? withoutFirst(within, rows - limit) : within,
    count: Math.min(rows, limit),
    truncated: rows > limit || isGoneInside,
  };
}

/** Cells per piece: about a millisecond of work. */
const cellsPerPiece = 4000;

interface Column {
  readonly name: string;
  /** place in a row */
  readonly at: number;
  /** JSON quotes the cell */
  readonly quoted: boolean;
  /** Text of a number other than NaN: plain ASCII without characters that JSON or CSV would escape. */
  readonly text: (value: number) => string;
}

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const threeDigits = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));

/** ISO texts as `Date` writes them, with the text of the minute cached: successive samples mostly share it. */
function isoWriter(): (ms: number) => string {
  let minute = NaN;
  let head = '';
  return (ms) => {
    const whole = Math.floor(ms / 60_000);
    if (whole !== minute) {
      minute = whole;
      head = new Date(whole * 60_000).toISOString().slice(0, -'00.000Z'.length);
    }
    const rest = ms - whole * 60_000;
    return `${head}${twoDigits[Math.floor(rest / 1000)] ?? ''}.${threeDigits[rest % 1000] ?? ''}Z`;
  };
}

function metricColumn({ name, words }: Metric, at: number): Column {
  return { name, at, quoted: words !== undefined, text: words ? (code) => words[code] ?? '' : String };
}

/** The columns of an answer: times and tick, then the requested metrics. */
function columnsOf(all: readonly Metric[], chosen: readonly Metric[]): Column[] {
  return [
    { name: 'timestamp', at: simColumn, quoted: true, text: isoWriter() },
    { name: 'wall_time', at: wallColumn, quoted: true, text: isoWriter() },
    { name: 'tick', at: tickColumn, quoted: false, text: String },
    ...chosen.map((metric) => metricColumn(metric, firstMetric + all.indexOf(metric))),
  ];
}

function jsonCell({ quoted, text }: Column, value: number): string {
  if (Number.isNaN(value)) return 'null';
  return quoted ? `"${text(value)}"` : text(value);
}

function csvCell({ text }: Column, value: number): string {
  return Number.isNaN(value) ? '' : text(value);
}

/** The texts of all rows, several rows per piece. */
function* rowPieces(
  { runs, width }: Selection,
  columns: number,
  rowText: (values: Float64Array, base: number) => string,
): Generator<string> {
  const rowsPerPiece = Math.max(1, Math.floor(cellsPerPiece / columns));
  let text = '';
  let rows = 0;
  for (const { values, from, to } of runs) {
    for (let row = from; row < to; row += 1) {
      text += rowText(values, row * width);
      rows += 1;
      if (rows < rowsPerPiece) continue;
      yield text;
      text = '';
      rows = 0;
    }
  }
  yield text;
}

/** JSON of an object with members, without its closing brace: more members follow. */
function openObject(head: object): string {
  return JSON.stringify(head).slice(0, -1);
}

/** `{...head, "samples": [{...}, ...]}` */
export function* samplesJson(
  head: object,
  selection: Selection,
  all: readonly Metric[],
  chosen: readonly Metric[],
): Generator<string> {
  const columns = columnsOf(all, chosen);
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  let before = '';
  yield `${openObject(head)},"samples":[`;
  yield* rowPieces(selection, columns.length, (values, base) => {
    let text = before;
    columns.forEach((column, i) => {
      text += (keys[i] ?? '') + jsonCell(column, values[base + column.at] ?? NaN);
    });
    before = ',';
    return `${text}}`;
  });
  yield ']}';
}

/** `{...head, "columns": {"timestamp": [...], ...}}` */
export function* columnsJson(
  head: object,
  selection: Selection,
  all: readonly Metric[],
  chosen: readonly Metric[],
): Generator<string> {
  let opening = `${openObject(head)},"columns":{`;
  for (const column of columnsOf(all, chosen)) {
    yield `${opening}${JSON.stringify(column.name)}:[`;
    let before = '';
    yield* rowPieces(selection, 1, (values, base) => {
      const text = before + jsonCell(column, values[base + column.at] ?? NaN);
      before = ',';
      return text;
    });
    opening = '],';
  }
  yield ']}}';
}

/** RFC 4180 with a header line; an empty field is null. */
export function* samplesCsv(
  selection: Selection,
  all: readonly Metric[],
  chosen: readonly Metric[],
): Generator<string> {
  const columns = columnsOf(all, chosen);
  yield `${columns.map(({ name }) => name).join(',')}\r\n`;
  yield* rowPieces(selection, columns.length, (values, base) => {
    let text = '';
    columns.forEach((column, i) => {
      text += (i === 0 ? '' : ',') + csvCell(column, values[base + column.at] ?? NaN);
    });
    return `${text}\r\n`;
  });
}

interface HistoryQuery extends TimeQuery {
  readonly metrics?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly format?: 'json' | 'columns' | 'csv' | undefined;
}

export const defaultHistoryLimit = 10_000;

interface HistoryRequest {
  readonly query: HistoryQuery;
  /** the present on the clock of the samples */
  readonly nowMs: number;
  /** owner of the metrics for the error message: `a device of kind pv` */
  readonly owner: string;
  /** of the CSV file, without its ending */
  readonly fileName: string;
  /** first members of an answer in JSON */
  readonly head: object;
}

/** The answer to a query, in its format. @throws HttpProblem `validation` */
export function historyAnswer(history: SeriesHistory, { query, nowMs, owner, fileName, head }: HistoryRequest) {
  const metrics = chosenMetrics(history.metrics, query.metrics, owner);
  const selection = select(history.cut(), windowOf(nowMs, query), query.limit ?? defaultHistoryLimit);
  if (query.format === 'csv') {
    const lines = samplesCsv(selection, history.metrics, metrics);
    return new Answer<never>(new StreamedReply('text/csv; charset=utf-8; header=present', lines), {
      headers: { 'Content-Disposition': `attachment; filename="${fileName}.csv"` },
    });
  }
  const { count, truncated } = selection;
  const members = { ...head, metrics: metrics.map(({ name }) => name), count, truncated };
  const format = query.format === 'columns' ? columnsJson : samplesJson;
  return new StreamedReply('application/json', format(members, selection, history.metrics, metrics));
}
