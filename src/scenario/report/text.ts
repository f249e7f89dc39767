/** The result of a run for a terminal, and its progress as one line that is overwritten. */
import type { RunReport } from '../../contract/scenarios.ts';

/** One line for each failure, then a summary. */
export function reportLines(report: RunReport): readonly string[] {
  const { assertionsPassed, assertionsInAll, state } = report;
  const steps = report.steps();
  const done = steps.filter((step) => step.state === 'done').length;
  const realS = ((report.endedAtMs ?? report.startedAtMs) - report.startedAtMs) / 1000;
  const failures = report.failures.map((words) => `  ✗ ${words}`);
  const error = report.error === null ? [] : [`  ! ${report.error}`];
  const counts = `${assertionsPassed} of ${assertionsInAll} assertions, ${done} of ${steps.length} steps`;
  const time = `${Number(report.simS.toFixed(1))} s simulated in ${realS.toFixed(1)} s`;
  return [...failures, ...error, `${report.name}: ${state} (${counts}; ${time})`];
}

/** A bar of this many characters. @param share 0 to 1 */
function progressBar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `[${'='.repeat(full)}${' '.repeat(width - full)}]`;
}

const barWidth = 24;

/** The progress line of a run. */
export function progressLine({
  name,
  simS,
  expectedS,
  stepsDone,
  stepsInAll,
  assertionsPassed,
  failures,
}: RunReport): string {
  const share = expectedS > 0 ? simS / expectedS : stepsInAll > 0 ? stepsDone / stepsInAll : 0;
  const failed = failures.length === 0 ? '' : `, ${failures.length} failed`;
  return (
    `${progressBar(share, barWidth)} ${name}: ${simS.toFixed(0)} s, step ${stepsDone} of ${stepsInAll}, ` +
    `${assertionsPassed} passed${failed}`
  );
}
