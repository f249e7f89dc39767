/** What the query of a history asks for. */
import { invalid, invalidAll } from '../http/errors.ts';
import type { Metric } from './metrics.ts';
import type { Window } from './select.ts';

const mostNamed = 5;

/**
 * The metrics that are named, in that order; all when none is.
 * @param whose in words, for the refusal: `a device of kind pv`
 * @throws HttpProblem `validation` with the names that there are
 */
export function chosenMetrics(
  metrics: readonly Metric[],
  names: readonly string[] | undefined,
  whose: string,
): readonly Metric[] {
  if (names === undefined) return metrics;
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length > 0) {
    const shown = unknown
      .slice(0, mostNamed)
      .map((name) => JSON.stringify(name))
      .join(', ');
    const detail = `${whose} has no metric ${shown}${unknown.length > mostNamed ? ', ...' : ''}`;
    throw invalid('query', 'metrics', detail, [...byName.keys()]);
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
  // samples have whole milliseconds, cut off; the present one is included
  const endMs = Math.floor(nowMs);
  return { sinceMs: endMs - seconds * 1000, untilMs: endMs + 1 };
}
