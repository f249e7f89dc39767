/** Checks of a scenario as a whole: references between its parts, and its requests. */
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Scenario, ScenarioRequest, Step } from '../model.ts';
import { allSteps, valueTests, placeText } from '../model.ts';

/** An error with which the interface would answer. */
export interface RequestRefusal {
  readonly detail: string;
  readonly errors?: readonly { readonly in: string; readonly name: string; readonly detail: string }[];
}

/** Checks a request as its operation does. null: well-formed. */
export type RequestCheck = (request: ScenarioRequest) => RequestRefusal | null;

type Note = (issue: Issue) => void;

/** Finds names in `since` that no step marks. */
function unknownMarks(scenario: Scenario, note: Note): void {
  const marks = ['start', ...allSteps(scenario).flatMap(({ mark }) => mark ?? [])];
  for (const { place, test } of valueTests(scenario)) {
    if (test.since === null || marks.includes(test.since)) continue;
    note({ name: placeText(place), detail: `no step has the mark ${test.since}${didYouMean(test.since, marks)}` });
  }
}

/** Finds signals whose request has no operation. */
function unknownAnswers(scenario: Scenario, check: RequestCheck, note: Note): void {
  const tested = valueTests(scenario).map(({ place, test }) => ({ place, signal: test.signal }));
  for (const { place, signal } of [...tested, ...scenario.plots]) {
    const refusal = signal.kind === 'answer' ? check(signal.request) : null;
    if (refusal === null) continue;
    const causes = refusal.errors?.map((error) => `${error.name}: ${error.detail}`) ?? [];
    note({ name: placeText(place), detail: `get: ${causes.length > 0 ? causes.join('; ') : refusal.detail}` });
  }
}

/** `at` counts from the start of the scenario, so `finally` cannot use it. */
function offsetsAtTheEnd({ finally: last }: Scenario, note: Note): void {
  for (const { place, trigger } of last)
    if (trigger.kind === 'at')
      note({ name: placeText(place), detail: 'at counts from the start of the scenario; finally takes after' });
}

/** Finds offsets of `at` that lie before the preceding step. */
function disorder(steps: readonly Step[], note: Note): void {
  let last = 0;
  for (const { place, trigger } of steps) {
    if (trigger.kind !== 'at') continue;
    if (trigger.offsetS < last)
      note({
        name: placeText(place),
        detail: `at ${trigger.offsetS} s is before the step in front of it, at ${last} s`,
      });
    last = Math.max(last, trigger.offsetS);
  }
}

/** @param note called with each issue */
export function checkWhole(scenario: Scenario, check: RequestCheck, note: Note): void {
  disorder(scenario.steps, note);
  offsetsAtTheEnd(scenario, note);
  unknownMarks(scenario, note);
  unknownAnswers(scenario, check, note);
}
