/**
 * Samples as text, written piece by piece directly from the rows: objects for 10,000 samples would cost several times
 * the time and memory of their text. Pieces are short, so that ticks and other requests do not wait.
 */
import { Answer, StreamedReply } from '../http/route.ts';
import type { DeviceHistory } from './history.ts';
import type { Metric } from './metrics.ts';
import { firstMetric, simColumn, tickColumn, wallColumn } from './ring.ts';
import { chosenMetrics, select, windowOf } from './select.ts';
import type { Selection, TimeQuery } from './select.ts';

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

/** The columns of an answer: the common ones, then the requested metrics. */
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
function opened(head: object): string {
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
  yield `${opened(head)},"samples":[`;
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
  let opening = `${opened(head)},"columns":{`;
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
export function historyAnswer(history: DeviceHistory, { query, nowMs, owner, fileName, head }: HistoryRequest) {
  const chosen = chosenMetrics(history.metrics, query.metrics, owner);
  const selection = select(history.cut(), windowOf(nowMs, query), query.limit ?? defaultHistoryLimit);
  if (query.format === 'csv') {
    const lines = samplesCsv(selection, history.metrics, chosen);
    return new Answer<never>(new StreamedReply('text/csv; charset=utf-8; header=present', lines), {
      headers: { 'Content-Disposition': `attachment; filename="${fileName}.csv"` },
    });
  }
  const { count, truncated } = selection;
  const members = { ...head, metrics: chosen.map(({ name }) => name), count, truncated };
  const format = query.format === 'columns' ? columnsJson : samplesJson;
  return new StreamedReply('application/json', format(members, selection, history.metrics, chosen));
}
