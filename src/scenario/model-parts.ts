/** Finds parts of a scenario wherever they stand. */
import type {
  AnsweredSubject,
  Condition,
  Expectation,
  MessageTest,
  Scenario,
  Signal,
  Step,
  Trigger,
  ValueTest,
} from './model.ts';
import type { Place } from './place.ts';

export function allSteps({ steps, rules, finally: last }: Scenario): readonly Step[] {
  return [...steps, ...rules.flatMap((rule) => rule.steps), ...last];
}

export function allExpectations(scenario: Scenario): readonly Expectation[] {
  return [...allSteps(scenario).flatMap(({ expectations }) => expectations), ...scenario.always];
}

/** The conditions of a trigger, including those of groups. */
function leavesOf(trigger: Trigger | { readonly kind: 'every' }): readonly Condition[] {
  if (trigger.kind !== 'when') return [];
  const { condition } = trigger;
  return condition.kind === 'all' || condition.kind === 'any' ? condition.conditions : [condition];
}

function allConditions(scenario: Scenario): readonly Condition[] {
  return [...allSteps(scenario), ...scenario.rules].flatMap(({ trigger }) => leavesOf(trigger));
}

/** Messages that the scenario awaits or counts. */
export function messageTests(scenario: Scenario): readonly MessageTest[] {
  const awaited = allConditions(scenario).flatMap((leaf) => (leaf.kind === 'message' ? [leaf.test] : []));
  const counted = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'messages' ? subject.tests : [],
  );
  return [...awaited, ...counted];
}

/** True if points of the registers are compared. */
export function comparesPoints(scenario: Scenario): boolean {
  return valueTests(scenario).some(({ test }) => test.signal.kind === 'point');
}

/** True if a step or rule waits for a write to the registers. */
export function waitsForWrites(scenario: Scenario): boolean {
  return allConditions(scenario).some(({ kind }) => kind === 'write');
}

/** Assertions about answered commands, whose messages must be recorded. */
export function answeredSubjects(scenario: Scenario): readonly AnsweredSubject[] {
  return allExpectations(scenario).flatMap(({ subject }) => (subject.kind === 'answered' ? [subject] : []));
}

/** Comparisons of values in assertions, steps and rules, with their places for messages. */
export function valueTests(scenario: Scenario): readonly { readonly place: Place; readonly test: ValueTest }[] {
  const ofChecks = allExpectations(scenario).flatMap(({ place, subject }) =>
    subject.kind === 'value' ? [{ place, test: subject.test }] : [],
  );
  const awaited = [...allSteps(scenario), ...scenario.rules].flatMap(({ place, trigger }) =>
    leavesOf(trigger).flatMap((leaf) => (leaf.kind === 'value' ? [{ place, test: leaf.test }] : [])),
  );
  return [...ofChecks, ...awaited];
}

/** Signals that are compared relative to a mark. */
export function markedSignals(scenario: Scenario): readonly Signal[] {
  return valueTests(scenario).flatMap(({ test }) => (test.since === null ? [] : [test.signal]));
}

/** Signals that the report plots. */
export function plottedSignals(scenario: Scenario): readonly Signal[] {
  const ofChecks = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'value' ? [subject.test.signal] : [],
  );
  return [...ofChecks, ...scenario.plots.map(({ signal }) => signal)];
}
