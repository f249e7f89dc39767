import { assertionJson, plainSeconds, stepJson } from '../../contract/scenario-results.ts';
import type { KeptScenario, RunReport } from '../../contract/scenarios.ts';

const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

function progress(run: RunReport) {
  return {
    state: run.state,
    error: run.error,
    pace: run.pace,
    parameters: { ...run.parameters },
    started_at: iso(run.startedAtMs),
    ended_at: isoOrNull(run.endedAtMs),
    sim_started_at: iso(run.simStartMs),
    sim_s: plainSeconds(run.simS),
    expected_s: run.expectedS,
    ticks: run.ticks,
    steps_done: run.stepsDone,
    steps_in_all: run.stepsInAll,
    steps_forgotten: run.stepsForgotten,
    assertions_passed: run.assertionsPassed,
    assertions_failed: run.assertionsFailed,
    assertions_in_all: run.assertionsInAll,
    assertions_forgotten: run.assertionsForgotten,
    failures: [...run.failures],
  };
}

function kept({ id, name, description, bundled, parameters, addedAtMs, unusedSettings }: KeptScenario) {
  return {
    id,
    name,
    description,
    bundled,
    parameters: { ...parameters },
    added_at: iso(addedAtMs),
    unused_settings: [...unusedSettings],
  };
}

/** A scenario in a list. */
export function scenarioSummary(scenario: KeptScenario) {
  return { ...kept(scenario), run: scenario.run && progress(scenario.run) };
}

/** A scenario with every step and assertion of its last run. */
export function scenarioReply(scenario: KeptScenario) {
  const { run } = scenario;
  return {
    ...kept(scenario),
    run: run && {
      ...progress(run),
      steps: run.steps().map(stepJson),
      assertions: run.assertions().map(assertionJson),
    },
  };
}
