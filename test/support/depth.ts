const depths = ['quick', 'ci', 'full'] as const;

/** How much of an exhaustive test runs: `quick` by hand, `ci` for each change, `full` at night. */
export type Depth = (typeof depths)[number];

function depthOf(text: string): Depth {
  const depth = depths.find((name) => name === text);
  if (depth === undefined) throw new Error(`TEST_DEPTH is ${text}, not one of ${depths.join(', ')}`);
  return depth;
}

/** `TEST_DEPTH`; default: `quick`. */
export const depth = depthOf(process.env['TEST_DEPTH'] ?? 'quick');

/** The cases of this depth. A test may be shorter in `quick`, but runs at least one case at every depth. */
export function pick<T>(cases: {
  readonly quick: T;
  readonly ci: T /** default: those of `ci` */;
  readonly full?: T;
}): T {
  return depth === 'full' ? (cases.full ?? cases.ci) : cases[depth];
}
