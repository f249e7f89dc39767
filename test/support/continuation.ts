/** A thing and one that was restored from its state go on alike. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Kept } from '../../src/core/kept.ts';
import type { JsonValue } from '../../src/core/store.ts';

interface Continuation<T extends { kept(): Kept }> {
  /** builds the thing from its configuration, at its start */
  readonly make: () => T;
  /** one step, decided by its number alone */
  readonly drive: (thing: T, step: number) => void;
  /** values that others see */
  readonly observe: (thing: T) => unknown;
  /** steps before the state is taken */
  readonly before: number;
  /** steps after it */
  readonly after: number;
}

const shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] as const;

/** The part of a run that comes before the restart. */
export const cuts: fc.Arbitrary<number> = fc.constantFrom(...shares);

/** Runs with each cut, as examples of a property. */
export const cutRuns = <T>(runs: readonly T[]): readonly [run: T, cut: number][] =>
  runs.flatMap((run) => shares.map((share): [T, number] => [run, share]));

/** The state after a way through a file. */
export const throughFile = (saved: JsonValue): JsonValue => JSON.parse(JSON.stringify(saved)) as JsonValue;

/** Fails unless two values have the same JSON; many times faster than a deep comparison. */
export function expectSameJson(value: unknown, expected: unknown, what: string): void {
  const [text, expectedText] = [JSON.stringify(value), JSON.stringify(expected)];
  if (text === expectedText) return;
  expect(value, what).to.deep.equal(expected);
  expect(text, what).to.equal(expectedText);
}

/** Node.js compares equal values several times faster than chai, which tells where others differ. */
function expectEqual(value: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(value, expected)) expect(value, what).to.deep.equal(expected);
}

/** Fails at the first step in which the restored thing shows another value, or has another state. */
export function expectContinuation<T extends { kept(): Kept }>(options: Continuation<T>): void {
  const { make, drive, observe, before, after } = options;
  const first = make();
  for (let step = 0; step < before; step += 1) drive(first, step);
  const second = make();
  second.kept().restore(throughFile(first.kept().save()));
  const same = (step: number) => {
    expectEqual(observe(second), observe(first), `after step ${step}`);
    expectEqual(second.kept().save(), first.kept().save(), `state after step ${step}`);
  };
  same(before);
  for (let step = before; step < before + after; step += 1) {
    drive(first, step);
    drive(second, step);
    same(step);
  }
}
