/** Median of a list that is not empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Median over rounds of one figure of each round. */
export function medianOf<T>(rounds: readonly T[], figure: (round: T) => number): number {
  return median(rounds.map(figure));
}

/**
 * Median over rounds of the ratio within each round: what slows a whole round down cancels out.
 * @param over same rounds, same order
 */
export function medianRatio<T>(of: readonly T[], over: readonly T[], figure: (round: T) => number): number {
  return median(
    of.flatMap((round, i) => {
      const other = over[i];
      return other === undefined ? [] : [figure(round) / figure(other)];
    }),
  );
}
