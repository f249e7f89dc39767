/** The progress of a run on a terminal: one line that is written again and again. */
import type { RunReport } from '../../contract/scenarios.ts';
import { progressBar } from './text.ts';

const barWidth = 24;

/** The line of a run under way. */
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
