/** The result of a run for a terminal. */
import type { RunReport } from '../../contract/scenarios.ts';

/** One line for each failure, then a summary. */
export function reportLines(report: RunReport): readonly string[] {
  const { assertionsPassed, assertionsInAll, state } = report;
  const steps = report.steps();
  const done = steps.filter((each) => each.state === 'done').length;
  const realS = ((report.endedAtMs ?? report.startedAtMs) - report.startedAtMs) / 1000;
  const failures = report.failures.map((words) => `  ✗ ${words}`);
  const error = report.error === null ? [] : [`  ! ${report.error}`];
  const counts = `${assertionsPassed} of ${assertionsInAll} assertions, ${done} of ${steps.length} steps`;
  const time = `${Number(report.simS.toFixed(1))} s simulated in ${realS.toFixed(1)} s`;
  return [...failures, ...error, `${report.name}: ${state} (${counts}; ${time})`];
}

/** A bar of this many characters. @param share 0 to 1 */
export function progressBar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `[${'='.repeat(full)}${' '.repeat(width - full)}]`;
}
