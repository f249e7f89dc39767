/** Examples of the scenario operations. */
export const exampleScenarioBody = {
  scenario: {
    name: 'High voltage',
    steps: [
      { grid: { voltage_pu: 1.06 }, expect: { point: '701.LLV', above: 480, within: '5 s' } },
      { after: '10 s', grid: { voltage_pu: 1 } },
    ],
  },
};

const step = {
  place: '/scenario/steps/0',
  name: 'POST /controls/grid',
  state: 'done',
  message: null,
  at_s: 0,
  actions: [{ name: 'POST /controls/grid', status: 200, expected: true, detail: null }],
};
const assertion = {
  place: '/scenario/steps/0/expect',
  name: '701.LLV of device 0 above 480 within 5 s',
  state: 'passed',
  message: 'it was 508.8 V',
  began_s: 0,
  decided_s: 1.5,
};

const progress = {
  state: 'running',
  error: null,
  pace: 'real',
  parameters: {},
  started_at: '2026-06-21T12:00:00.000Z',
  ended_at: null,
  sim_started_at: '2026-06-21T12:00:00.000Z',
  sim_s: 1.5,
  expected_s: 0,
  ticks: 1,
  steps_done: 1,
  steps_in_all: 2,
  steps_forgotten: 0,
  assertions_passed: 1,
  assertions_failed: 0,
  assertions_in_all: 1,
  assertions_forgotten: 0,
  failures: [],
};

const kept = {
  id: '1',
  name: 'High voltage',
  description: '',
  bundled: null,
  parameters: {},
  added_at: '2026-06-21T12:00:00.000Z',
  unused_settings: [],
};

export const exampleAddedScenario = { ...kept, run: null };
export const exampleRunningScenario = { ...kept, run: { ...progress, steps: [step], assertions: [assertion] } };
export const exampleScenarios = {
  max_scenarios: 64,
  clock_owner: 'High voltage',
  scenarios: [{ ...kept, run: progress }],
  bundled: [{ name: 'pv-day', description: 'A day of PV with clouds.' }],
};
export const exampleScenarioReport = {
  format: 'derbench-scenario-result/1',
  state: 'passed',
  failures: [],
};
