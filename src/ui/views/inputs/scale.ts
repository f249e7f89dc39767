const steps = [1, 2, 5, 10];

/** End of a slider for a value that has no largest one: a round number with room above the value. */
export function scaleFor(value: number, min: number): number {
  const wide = Math.max(min, Math.abs(value) * 1.25);
  const decade = 10 ** Math.floor(Math.log10(wide));
  return decade * (steps.find((step) => step * decade >= wide) ?? 10);
}
