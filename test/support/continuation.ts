/** A thing and one that was restored from its state go on alike. */
import { expect } from 'chai';
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

/** The state after a way through a file. */
export const throughFile = (saved: JsonValue): JsonValue => JSON.parse(JSON.stringify(saved)) as JsonValue;

/** Fails at the first step in which the restored thing shows another value, or has another state. */
export function expectContinuation<T extends { kept(): Kept }>(options: Continuation<T>): void {
  const { make, drive, observe, before, after } = options;
  const first = make();
  for (let step = 0; step < before; step += 1) drive(first, step);
  const second = make();
  second.kept().restore(throughFile(first.kept().save()));
  const same = (step: number) => {
    expect(observe(second), `after step ${step}`).to.deep.equal(observe(first));
    expect(second.kept().save(), `state after step ${step}`).to.deep.equal(first.kept().save());
  };
  same(before);
  for (let step = before; step < before + after; step += 1) {
    drive(first, step);
    drive(second, step);
    same(step);
  }
}
