/** Numbers of several encodings side by side. */

/** Without the digits that binary fractions add to a decimal one. */
export function tidy(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(12)) + 0 : value;
}

/** Digits after the decimal point of a number as JSON writes it. */
export function decimalsOf(value: number | string): number {
  const text = String(value);
  const dot = text.indexOf('.');
  return dot < 0 ? 0 : text.length - dot - 1;
}
