import type { KeptScenario, RunReport } from '../../contract/scenarios.ts';

const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));
/** Without the last bits of sums of microseconds. */
const seconds = (s: number) => Number(s.toFixed(6));

function progress(run: RunReport) {
  const { assertions } = run;
  return {
    state: run.state,
    error: run.error,
    pace: run.pace,
    started_at: iso(run.startedAtMs),
    ended_at: isoOrNull(run.endedAtMs),
    sim_started_at: iso(run.simStartMs),
    sim_s: seconds(run.simS),
    expected_s: run.expectedS,
    ticks: run.ticks,
    steps_done: run.stepsDone,
    steps_in_all: run.stepsInAll,
    assertions_passed: assertions.filter(({ state }) => state === 'passed').length,
    assertions_failed: assertions.filter(({ state }) => state === 'failed').length,
    assertions_in_all: assertions.length,
    failures: [...run.failures],
  };
}

function kept({ id, name, description, bundled, parameters, addedAtMs, unusedSettings }: KeptScenario) {
  return {
    ...{ id, name, description, bundled },
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
      steps: run.steps.map(({ place, name, state, atS, actions, message }) => ({
        ...{ place, name, state, message },
        at_s: atS === null ? null : seconds(atS),
        actions: actions.map(({ name: action, status, isExpected, detail }) => ({
          name: action,
          status,
          expected: isExpected,
          detail,
        })),
      })),
      assertions: run.assertions.map(({ place, name, state, message, beganS, decidedS }) => ({
        ...{ place, name, state, message },
        began_s: seconds(beganS),
        decided_s: decidedS === null ? null : seconds(decidedS),
      })),
    },
  };
}
