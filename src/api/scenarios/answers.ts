/** Scenarios that are kept, bundled or checked: members of replies. */
import type { CheckedScenario, ComparedScenario, KeptScenario } from '../../contract/scenarios.ts';
import { flag, integer, list, member, members, nested, number, text, time } from '../common/members.ts';
import type { RouteContext } from '../http/context.ts';
import { parameters, runSummary, runWithResults } from './reports.ts';

const peerMembers = () => ({
  needs_peer: flag(
    'True: it waits for messages, writes or events of a master, head-end or central system, or judges one.',
    ({ needsPeer }: { readonly needsPeer: boolean }) => needsPeer,
  ),
});

const keptScenario = members<KeptScenario>()(null, () => ({
  id: text('Id of the scenario while it is kept.'),
  name: text('Name of the scenario.'),
  description: text('Description of the scenario; may be empty.'),
  bundled: text.orNull('Name in `bundled` of the list; null: not a bundled scenario.'),
  parameters: member(() => parameters)(),
  added_at: time('Wall time.'),
  unused_settings: list(text())('Settings of its `config` that a running simulator does not apply.'),
  ...peerMembers(),
}));

const scenarioSummary = members<KeptScenario>()('ScenarioSummary', () => ({
  ...keptScenario.members(),
  run: nested(runSummary).orNull('The last run; null: none, or its results were dropped for those of later runs.'),
}));

export const scenario = members<KeptScenario>()('Scenario', () => ({
  ...keptScenario.members(),
  run: nested(runWithResults).orNull('The last run; null: none, or its results were dropped for those of later runs.'),
}));

const fitMembers = () => ({
  fits: flag(
    'True: this simulator has the devices, grid and sky that its `config` names.',
    (of: Differing) => of.differences.length === 0,
  ),
  differs: list(text())(
    'Why it does not fit: what it is for, then what is here; `POST scenario-runs` runs it all the same.',
    (of: Differing) => of.differences,
  ),
});

const bundledScenario = members<ComparedScenario>()(null, () => ({
  name: text('As `bundled` of POST scenarios takes it.'),
  title: text('Name of the scenario.'),
  description: text('Purpose of the test.'),
  standard: text.orNull('Standard and clauses that it is after; null: none.'),
  takes_s: number('Simulated seconds that a run takes, about.'),
  devices: text('Types and profiles of its devices.'),
  ...peerMembers(),
  ...fitMembers(),
}));

export const checkedScenario = members<CheckedScenario>()('CheckedScenario', () => ({
  name: text('Name of the scenario.'),
  description: text('Description of the scenario; may be empty.'),
  parameters: member(() => parameters)(),
  steps: integer('Steps, loops and `finally` included.'),
  rules: integer('Rules.'),
  assertions: integer('Assertions.'),
  ...peerMembers(),
  ...fitMembers(),
  unused_settings: list(text())('Settings of its `config` that a running simulator does not apply.'),
}));

/** A scenario beside the running simulator. */
type Differing = Pick<ComparedScenario, 'differences'>;

/** The scenarios of a simulator, and those that come with it. */
interface Listed extends Pick<RouteContext, 'scenarios' | 'clockOwner'> {
  readonly bundled: readonly ComparedScenario[];
}

export const scenarios = members<Listed>()('Scenarios', () => ({
  max_scenarios: integer('Maximum number of scenarios kept.', (of) => of.scenarios.maxScenarios),
  clock_owner: text.orNull('Name of the scenario that runs; null: none.', ({ clockOwner }) => clockOwner.name),
  scenarios: list(scenarioSummary)('Oldest first.', (of) => of.scenarios.list()),
  bundled: list(bundledScenario)('Scenarios that come with the simulator.'),
}));
