/** What the report on the other sides of a simulator says, for tests with foreign programs. */
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

/**
 * Ids of the rules with a case, sorted. Excused cases count, since a busy machine that stands still excuses some.
 * @param severity this or worse
 */
export async function brokenRules(
  httpPort: number,
  severity: 'risk' | 'remark' = 'remark',
): Promise<readonly string[]> {
  const pages = await Promise.all(
    ['broken', 'excused', 'held'].map((state) =>
      ask(httpPort, `/api/sim/findings?limit=1000&severity=${severity}&state=${state}`),
    ),
  );
  const findings: readonly Json[] = pages.flatMap(({ json }) => json.findings);
  const ids = findings.filter(({ state, excused }) => state !== 'held' || excused > 0).map(({ rule }) => String(rule));
  return [...new Set<string>(ids)].toSorted();
}
