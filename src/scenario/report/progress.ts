/** The progress of a run on a terminal, as one line that is overwritten. */
import type { RunReport } from '../../contract/scenarios.ts';
import { progressBar } from './text.ts';

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
