/** Parts of a scenario, wherever they stand in it. */
import type { AnsweredSubject, Condition, Expectation, MessageTest, Scenario, Signal, Step, Trigger } from './model.ts';

export function allSteps({ steps, rules, finally: last }: Scenario): readonly Step[] {
  return [...steps, ...rules.flatMap((rule) => rule.steps), ...last];
}

export function allExpectations(scenario: Scenario): readonly Expectation[] {
  return [...allSteps(scenario).flatMap(({ expectations }) => expectations), ...scenario.always];
}

/** The conditions of a trigger, those of groups one by one. */
function leavesOf(trigger: Trigger | { readonly kind: 'every' }): readonly Condition[] {
  if (trigger.kind !== 'when') return [];
  const { condition } = trigger;
  return condition.kind === 'all' || condition.kind === 'any' ? condition.conditions : [condition];
}

function allConditions(scenario: Scenario): readonly Condition[] {
  return [...allSteps(scenario), ...scenario.rules].flatMap(({ trigger }) => leavesOf(trigger));
}

/** Messages that the scenario waits for or counts. */
export function messageTests(scenario: Scenario): readonly MessageTest[] {
  const awaited = allConditions(scenario).flatMap((leaf) => (leaf.kind === 'message' ? [leaf.test] : []));
  const counted = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'messages' ? subject.tests : [],
  );
  return [...awaited, ...counted];
}

/** Whether a step or rule waits for a write to the registers. */
export function waitsForWrites(scenario: Scenario): boolean {
  return allConditions(scenario).some(({ kind }) => kind === 'write');
}

/** What the scenario asks about commands that were answered: their messages must be recorded. */
export function answeredSubjects(scenario: Scenario): readonly AnsweredSubject[] {
  return allExpectations(scenario).flatMap(({ subject }) => (subject.kind === 'answered' ? [subject] : []));
}

/** Signals whose difference from a mark is compared. */
export function markedSignals(scenario: Scenario): readonly Signal[] {
  const ofChecks = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'value' && subject.test.since !== null ? [subject.test.signal] : [],
  );
  const awaited = allConditions(scenario).flatMap((leaf) =>
    leaf.kind === 'value' && leaf.test.since !== null ? [leaf.test.signal] : [],
  );
  return [...ofChecks, ...awaited];
}

/** Signals that the report plots. */
export function plottedSignals(scenario: Scenario): readonly Signal[] {
  const ofChecks = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'value' ? [subject.test.signal] : [],
  );
  return [...ofChecks, ...scenario.plots.map(({ signal }) => signal)];
}
