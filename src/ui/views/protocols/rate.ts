import { useRef } from 'preact/hooks';

interface Count {
  readonly atMs: number;
  readonly count: number;
}

/** Span of the mean, ms. */
const spanMs = 60_000;
/** A shorter watch gives no rate, ms. */
const leastMs = 4000;

/** Messages per minute from two counts; null: not watched long enough. */
export function ratePerMinute(counts: readonly Count[]): number | null {
  const [first, last] = [counts[0], counts.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return null;
  return ((last.count - first.count) / (last.atMs - first.atMs)) * 60_000;
}

/** Messages per minute over the last minute that the page has watched. A count that falls back begins anew. */
export function useRate(count: number | undefined): number | null {
  const counts = useRef<Count[]>([]);
  if (count !== undefined) {
    const atMs = performance.now();
    const before = counts.current.at(-1);
    if (before !== undefined && count < before.count) counts.current = [];
    if (before === undefined || atMs - before.atMs >= 500) counts.current.push({ atMs, count });
    counts.current = counts.current.filter((each) => atMs - each.atMs <= spanMs);
  }
  return ratePerMinute(counts.current);
}
