/** Checks of a scenario as a whole: references between its parts, and its requests. */
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Scenario, ScenarioRequest, Step } from '../model.ts';
import { allSteps, valueTests, placeText } from '../model.ts';

/** The error with which REST would answer. */
export interface RequestRefusal {
  readonly detail: string;
  readonly errors?: readonly { readonly in: string; readonly name: string; readonly detail: string }[];
}

/** Checks a request as its operation does. null: well-formed. */
export type RequestCheck = (request: ScenarioRequest) => RequestRefusal | null;

/** null: a point at which the check may pause. */
type Issues = Generator<Issue | null, void>;

/** Maximum of issues with a hint: each hint compares with every mark. */
const maxHints = 50;

/** Finds names in `since` that no step marks. */
function* unknownMarks(scenario: Scenario): Issues {
  const marks = new Set(['start', ...allSteps(scenario).flatMap(({ mark }) => mark ?? [])]);
  let hints = 0;
  for (const { place, test } of valueTests(scenario)) {
    yield null;
    if (test.since === null || marks.has(test.since)) continue;
    hints += 1;
    const hint = hints > maxHints ? '' : didYouMean(test.since, [...marks]);
    yield { name: placeText(place), detail: `no step has the mark ${test.since}${hint}` };
  }
}

/** Finds signals whose request would be refused. */
function* refusedSignals(scenario: Scenario, check: RequestCheck): Issues {
  const tested = valueTests(scenario).map(({ place, test }) => ({ place, signal: test.signal }));
  for (const { place, signal } of [...tested, ...scenario.plots]) {
    yield null;
    const refusal = signal.kind === 'answer' ? check(signal.request) : null;
    if (refusal === null) continue;
    const causes = refusal.errors?.map((error) => `${error.name}: ${error.detail}`) ?? [];
    yield { name: placeText(place), detail: `get: ${causes.length > 0 ? causes.join('; ') : refusal.detail}` };
  }
}

/** `at` counts from the start of the scenario, so `finally` cannot use it. */
function* offsetsAtTheEnd({ finally: last }: Scenario): Issues {
  for (const { place, trigger } of last)
    if (trigger.kind === 'at')
      yield { name: placeText(place), detail: '`at` counts from the start of the scenario; use `after` in `finally`' };
}

/** Finds offsets of `at` that lie before the preceding step. */
function* disorder(steps: readonly Step[]): Issues {
  let last = 0;
  for (const { place, trigger } of steps) {
    if (trigger.kind !== 'at') continue;
    if (trigger.offsetS < last)
      yield {
        name: placeText(place),
        detail: `at ${trigger.offsetS} s is before the preceding step, at ${last} s`,
      };
    last = Math.max(last, trigger.offsetS);
  }
}

/** All issues of a scenario as a whole. */
export function* checkWhole(scenario: Scenario, check: RequestCheck): Issues {
  yield* disorder(scenario.steps);
  yield* offsetsAtTheEnd(scenario);
  yield* unknownMarks(scenario);
  yield* refusedSignals(scenario, check);
}
