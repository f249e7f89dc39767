/** Results of steps and assertions as JSON, in REST and in result files. */
import type { AssertionResult, StepResult } from './scenarios.ts';

/** Removes the rounding errors of sums of microseconds. */
export function plainSeconds(s: number): number;
export function plainSeconds(s: number | null): number | null;
export function plainSeconds(s: number | null): number | null {
  return s === null ? null : Number(s.toFixed(6));
}

export function stepJson({ place, name, state, atS, actions, message }: StepResult) {
  return {
    place,
    name,
    state,
    at_s: plainSeconds(atS),
    actions: actions.map(({ name: action, status, isExpected, detail }) => ({
      name: action,
      status,
      expected: isExpected,
      detail,
    })),
    message,
  };
}

export function assertionJson({ place, name, state, message, beganS, decidedS }: AssertionResult) {
  return {
    place,
    name,
    state,
    message,
    began_s: plainSeconds(beganS),
    decided_s: plainSeconds(decidedS),
  };
}
