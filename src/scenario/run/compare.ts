/** Comparisons of values. */
import type { Bounds } from '../../contract/scenarios.ts';
import type { Comparison, SignalValue, ValueTest } from '../model.ts';

/** Numbers of an enumeration by name; undefined: no enumeration. */
export type Symbols = Readonly<Record<string, number>> | undefined;

function equal(value: SignalValue, reference: SignalValue, tolerance: number, symbols: Symbols): boolean {
  if (typeof value === 'number' && typeof reference === 'number') return Math.abs(value - reference) <= tolerance;
  if (typeof value === 'string' && typeof reference === 'number') return symbols?.[value] === reference;
  return value === reference;
}

/**
 * True if a value meets every bound. Only a number meets `above`, `below`, `atLeast`, `atMost` and `between`; null
 * meets only `equals: null`.
 */
export function meets(value: SignalValue, c: Comparison, symbols?: Symbols): boolean {
  const { tolerance = 0 } = c;
  if (value === null) return c.equals === null && Object.keys(c).length === 1;
  if (c.equals !== undefined && !equal(value, c.equals, tolerance, symbols)) return false;
  if (c.not !== undefined && equal(value, c.not, tolerance, symbols)) return false;
  const hasOrder = [c.above, c.below, c.atLeast, c.atMost, c.between].some((bound) => bound !== undefined);
  if (!hasOrder) return true;
  if (typeof value !== 'number') return false;
  const [lower, upper] = c.between ?? [-Infinity, Infinity];
  return (
    (c.above === undefined || value > c.above - tolerance) &&
    (c.below === undefined || value < c.below + tolerance) &&
    value >= Math.max(c.atLeast ?? -Infinity, lower) - tolerance &&
    value <= Math.min(c.atMost ?? Infinity, upper) + tolerance
  );
}

/** The numbers that a test allows, with its tolerance; null: it compares no numbers, or a difference. */
export function boundsOf({ since, comparison }: Pick<ValueTest, 'since' | 'comparison'>): Bounds | null {
  const { equals, above, below, atLeast, atMost, between = [], tolerance = 0 } = comparison;
  const numbers = (...all: readonly unknown[]) => all.filter((each) => typeof each === 'number');
  const low = numbers(equals, above, atLeast, between[0]);
  const high = numbers(equals, below, atMost, between[1]);
  if (since !== null || low.length + high.length === 0) return null;
  return {
    low: low.length === 0 ? null : Math.max(...low) - tolerance,
    high: high.length === 0 ? null : Math.min(...high) + tolerance,
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * True if a message has all members of a pattern: objects are compared by member, lists by entry; `{contains: text}`
 * matches a part of a text or an entry of a list.
 */
export function matches(value: unknown, pattern: unknown): boolean {
  if (isObject(pattern)) {
    const { contains, ...rest } = pattern;
    if (typeof contains === 'string' && Object.keys(rest).length === 0)
      return typeof value === 'string' ? value.includes(contains) : Array.isArray(value) && value.includes(contains);
    return (
      isObject(value) &&
      Object.entries(pattern).every(([key, inner]) => Object.hasOwn(value, key) && matches(value[key], inner))
    );
  }
  if (Array.isArray(pattern))
    return (
      Array.isArray(value) && value.length === pattern.length && pattern.every((inner, n) => matches(value[n], inner))
    );
  return value === pattern;
}
