/** The faults of the configuration over restarts: which of them an earlier process with the same state has injected. */
import { SimError } from '../core/errors.ts';
import { keptRecord } from '../core/kept.ts';
import type { Kept } from '../core/kept.ts';
import type { FaultRequest } from '../core/faults/kinds.ts';
import type { FaultSet } from '../core/faults/registry.ts';

/** Equal for equal faults of one origin. */
function keyOf(request: FaultRequest, { profile, deviceProfile }: FaultSet): string {
  return JSON.stringify([profile, deviceProfile ?? null, request]);
}

/** True for the key of equal faults with their ids. */
const isEntry = ([key, ids]: readonly unknown[]) =>
  typeof key === 'string' && Array.isArray(ids) && ids.every((id) => Number.isSafeInteger(id));

interface Comparison {
  /** requests that are new, by set */
  readonly fresh: readonly (readonly FaultRequest[])[];
  /** ids of faults that the configuration has no more */
  readonly over: readonly number[];
}

/**
 * Injected faults of the configuration, by what the configuration says of them. A fault is injected once, also if it is
 * over since; a fault that the configuration has no more ends; a changed one is another fault.
 */
export class InjectedFaults {
  /** ids of equal faults */
  readonly #ids = new Map<string, number[]>();

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ faults: [...this.#ids] }),
      ({ faults }) => {
        if (!faults.every(isEntry)) throw new SimError('INTERNAL', 'the list of injected faults is odd');
        this.#ids.clear();
        for (const [key, ids] of faults) this.#ids.set(key, ids);
      },
    );
  }

  /** Compares a configuration with the injected faults, and forgets those that it has no more. */
  compare(sets: readonly FaultSet[]): Comparison {
    const left = new Map(Array.from(this.#ids, ([key, ids]) => [key, ids.length]));
    const fresh = sets.map((set) =>
      set.requests.filter((request) => {
        const key = keyOf(request, set);
        const count = left.get(key) ?? 0;
        left.set(key, Math.max(0, count - 1));
        return count === 0;
      }),
    );
    // of equal faults the newest end
    const over = Array.from(left, ([key, count]) => (count > 0 ? this.#ids.get(key)?.splice(-count) : undefined) ?? []);
    return { fresh, over: over.flat() };
  }

  /** Notes an injected fault. */
  add(request: FaultRequest, set: FaultSet, id: number): void {
    const key = keyOf(request, set);
    this.#ids.set(key, [...(this.#ids.get(key) ?? []), id]);
  }
}
