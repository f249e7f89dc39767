import { createRandom } from '../../src/core/random.ts';
import type { RandomStream } from '../../src/core/random.ts';
import { runSeed } from './seed.ts';

/** The random cases of one test, which `FC_SEED` repeats as those of properties. @param names state their purpose */
export const casesOf = (...names: readonly (string | number)[]): RandomStream => createRandom(runSeed, ...names);

/** A seed for one purpose, for what takes a seed and makes its own stream. */
export const seedOf = (...names: readonly (string | number)[]): number =>
  Math.floor(casesOf(...names).next() * 2 ** 31);

/** `count` members of a list in its order, which `FC_SEED` draws. @param name states their purpose */
export function drawn<T>(name: string, list: readonly T[], count: number): readonly T[] {
  const random = casesOf('drawn', name);
  const places = list.map((_, at) => ({ at, key: random.next() })).sort((a, b) => a.key - b.key);
  const taken = new Set(places.slice(0, count).map(({ at }) => at));
  return list.filter((_, at) => taken.has(at));
}
