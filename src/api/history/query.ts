/** Evaluates the query parameters of a history. */
import { givenText, nearest } from '../../core/nearest.ts';
import { emptyName } from '../common/list-param.ts';
import { invalid, invalidAll } from '../http/errors.ts';
import type { Metric } from './metrics.ts';
import type { Window } from './select.ts';

const maxNamed = 5;

/**
 * The requested metrics in the given order; all without a request.
 * @param whose owner of the metrics for the error message: `a device of kind pv`
 * @throws HttpProblem `validation` with the known names
 */
export function chosenMetrics(
  metrics: readonly Metric[],
  names: readonly string[] | undefined,
  whose: string,
): readonly Metric[] {
  if (names === undefined) return metrics;
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const unknown = names.filter((name) => name !== '' && !byName.has(name));
  const empty = names.includes('') ? [{ in: 'query' as const, name: 'metrics', detail: emptyName }] : [];
  if (unknown.length === 0 && empty.length > 0) throw invalidAll(empty);
  if (unknown.length > 0) {
    const known = [...byName.keys()];
    const shown = unknown
      .slice(0, maxNamed)
      .map((name) => {
        const near = nearest(name, known);
        return `${givenText(name)}${near === null ? '' : ` (did you mean ${near}?)`}`;
      })
      .join(', ');
    const detail = `${whose} has no metric ${shown}${unknown.length > maxNamed ? ', ...' : ''}`;
    throw invalidAll([{ in: 'query', name: 'metrics', detail, allowed: known }, ...empty]);
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
