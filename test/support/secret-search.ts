/** Where tests look for secrets that must not be shown. */
import { allRoutes } from '../../src/api/routes.ts';
import { dealt } from './choice.ts';
import { pick } from './depth.ts';

const reads = allRoutes.filter(({ method }) => method === 'get').map(({ path }) => path);

/**
 * Paths of operations to read; in `quick` those where a secret is likely, and a part of the others.
 * @param turn counts the searches of a file: each has another part
 */
export function pathsToSearch(likely: RegExp, turn: number): readonly string[] {
  const others = reads.filter((path) => !likely.test(path));
  return pick({ quick: [...reads.filter((path) => likely.test(path)), ...dealt(others, 4, turn)], ci: reads });
}
