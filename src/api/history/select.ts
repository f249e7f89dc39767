/** Selects the metrics and samples of an answer by the query parameters. */
import { givenText, nearest } from '../../core/nearest.ts';
import { emptyName } from '../common/list-param.ts';
import { invalid, invalidAll } from '../http/errors.ts';
import type { Metric } from './metrics.ts';
import { simColumn } from './ring.ts';
import type { Cut, Run } from './ring.ts';

/** Simulated time, ms since the epoch; null: no bound. */
export interface Window {
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
 * @throws HttpProblem `validation` with the known names
 */
export function chosenMetrics(
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
    const listed = unknown
      .slice(0, maxNamed)
      .map((name) => {
        const near = nearest(name, allowed);
        return `${givenText(name)}${near === null ? '' : ` (did you mean ${near}?)`}`;
      })
      .join(', ');
    const detail = `${owner} has no metric ${listed}${unknown.length > maxNamed ? ', ...' : ''}`;
    throw invalidAll([{ in: 'query', name: 'metrics', detail, allowed }, ...empty]);
  }
  return names.flatMap((name) => byName.get(name) ?? []);
}

export interface TimeQuery {
  readonly seconds?: number | undefined;
  /** ms since the epoch */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** @param nowMs the present on the clock of the samples. @throws HttpProblem `validation` */
export function windowOf(nowMs: number, { seconds, since, until }: TimeQuery): Window {
  if (seconds === undefined) {
    if (since !== undefined && until !== undefined && since >= until)
      throw invalid('query', 'until', 'must be later than since');
    return { sinceMs: since ?? null, untilMs: until ?? null };
  }
  const both = Object.entries({ since, until })
    .filter(([, ms]) => ms !== undefined)
    .map(([name]) => name);
  if (both.length > 0) {
    throw invalidAll(
      both.map((name) => ({ in: 'query' as const, name, detail: 'cannot be given together with seconds' })),
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
    // all rows of a block inside the window are inside
    return run.fromMs >= sinceMs && run.toMs < untilMs ? [run] : partsWithin(run, width, sinceMs, untilMs);
  });
}

/** The last `limit` rows. */
function newest(runs: readonly Run[], surplus: number): Run[] {
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
  const inside = within.reduce((sum, { from, to }) => sum + to - from, 0);
  const goneInside = cut.gone !== null && cut.gone.toMs >= since && cut.gone.fromMs < until;
  return {
    width: cut.width,
    runs: inside > limit ? newest(within, inside - limit) : within,
    count: Math.min(inside, limit),
    truncated: inside > limit || goneInside,
  };
}
