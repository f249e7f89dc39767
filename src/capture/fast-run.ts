/** Failures of a run of a scenario by their time. */
import type { RunReport } from '../contract/scenarios.ts';

/** @returns tells whether a step or an assertion failed within these seconds of the run */
export function failedIn(report: Pick<RunReport, 'steps' | 'assertions'>): (fromS: number, toS: number) => boolean {
  const steps = report
    .steps()
    .filter(({ state }) => state === 'failed')
    .map(({ atS }) => ({ fromS: atS ?? Infinity, toS: atS ?? -Infinity }));
  const assertions = report
    .assertions()
    .filter(({ state }) => state === 'failed')
    .map(({ beganS, decidedS }) => ({ fromS: beganS, toS: decidedS ?? beganS }));
  const failures = [...steps, ...assertions];
  return (fromS, toS) => failures.some((each) => each.fromS <= toS && each.toS >= fromS);
}
