/** Axes of the drawings. */

/** The smallest of 1, 2, 5 times a power of ten that divides the span into at most `pieces`. */
export function stepOf(span: number, pieces: number): number {
  const power = 10 ** Math.floor(Math.log10(span / pieces));
  return power * ([1, 2, 5, 10].find((factor) => factor * power * pieces >= span) ?? 10);
}

export const range = (from: number, to: number, step: number) =>
  Array.from({ length: Math.round((to - from) / step) + 1 }, (_, n) => from + n * step);

export const round = (value: number) => Number(value.toFixed(2));
