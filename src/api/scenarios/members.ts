import {
  assertionJson,
  plainSeconds,
  stepJson,
  reportFormats,
  runPaces,
  runStates,
  stepStates,
  assertionStates,
} from '../../contract/scenarios.ts';
import type { BundledScenario, KeptScenario, RunReport } from '../../contract/scenarios.ts';
import { memo } from '../../core/lazy.ts';
import { integer, list, member, members, nested, number, text, time, word } from '../common/members.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';

const parameters = z
  .record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]))
  .openapi({ description: 'Names and values, in force for the steps.' });
const simulatedS = z.number().openapi({ description: 'Simulated seconds since the start of the scenario.' });
const place = z.string().openapi({ description: 'Where it stands: file, line and key, or a JSON pointer.' });

const actionSchema = z.strictObject({
  name: z.string().openapi({ description: 'Method and path.' }),
  status: z.int().nullable().openapi({ description: 'Of the answer; null: it has not come.' }),
  expected: z.boolean().openapi({ description: 'Whether the status is the one that the scenario expects.' }),
  detail: z.string().nullable().openapi({ description: 'Words of a refusal.' }),
});

const stepSchema = z.strictObject({
  place,
  name: z.string().openapi({ description: 'Of the step, else its actions.' }),
  state: z.enum(stepStates).openapi({ description: '`skipped`: the scenario ended before.' }),
  at_s: simulatedS.nullable(),
  actions: z.array(actionSchema).openapi({ description: 'In the order of the file.' }),
  message: z.string().nullable().openapi({ description: 'Why it failed, or was skipped.' }),
});

const assertionSchema = z.strictObject({
  place,
  name: z.string().openapi({ description: 'Of the assertion, else its subject and window.' }),
  state: z.enum(assertionStates).openapi({ description: '`dropped`: the scenario ended before the verdict.' }),
  message: z.string().openapi({ description: 'Why, in a sentence; empty while pending.' }),
  began_s: simulatedS,
  decided_s: simulatedS.nullable(),
});

const run = members<RunReport>()(null, () => ({
  state: word(runStates)('`error`: it could not be carried on; `stopped`: on request.'),
  error: text.orNull('Why it could not be carried on.'),
  pace: word(runPaces)('`fast`: ticks at once; `real`: at the rate of the clock.'),
  parameters: member(() => parameters)(),
  started_at: time('Wall time.'),
  ended_at: time.orNull('Wall time; null: it runs.'),
  sim_started_at: time('Simulated time.', ({ simStartMs }) => simStartMs),
  sim_s: member(() => simulatedS)(({ simS }) => plainSeconds(simS)),
  expected_s: number('Simulated seconds that it lasts at least.'),
  ticks: integer('Since the start of the scenario.'),
  steps_done: integer('Steps that are over.'),
  steps_in_all: integer('Without those of rules.'),
  steps_forgotten: integer('Steps of rules whose results had to go: there were too many.'),
  assertions_passed: integer('With a good verdict.'),
  assertions_failed: integer('With a bad verdict.'),
  assertions_in_all: integer('That have begun so far.'),
  assertions_forgotten: integer('Of rules, whose results had to go; counted above.'),
  failures: list(text())('A sentence each, with its place.'),
}));

const runWithResults = members<RunReport>()(null, () => ({
  ...run.members(),
  steps: list({ schema: () => stepSchema, reply: stepJson })('Those of rules last.', (of) => of.steps()),
  assertions: list({ schema: () => assertionSchema, reply: assertionJson })('In the order in which they began.', (of) =>
    of.assertions(),
  ),
}));

const kept = members<KeptScenario>()(null, () => ({
  id: text('Of the scenario, for as long as it is kept.'),
  name: text('Of the scenario.'),
  description: text('Of the scenario; may be empty.'),
  bundled: text.orNull('Name under which it comes with the simulator.'),
  parameters: member(() => parameters)(),
  added_at: time('Wall time.'),
  unused_settings: list(text())('Settings of its `config` that a running simulator does not take over.'),
}));

const scenarioSummary = members<KeptScenario>()('ScenarioSummary', () => ({
  ...kept.members(),
  run: nested(run).orNull('The last run; null: none.'),
}));

export const scenario = members<KeptScenario>()('Scenario', () => ({
  ...kept.members(),
  run: nested(runWithResults).orNull('The last run; null: none.'),
}));

const bundledScenario = members<BundledScenario>()(null, () => ({
  name: text('As `bundled` of POST scenarios takes it.'),
  description: text('What it tests.'),
}));

export const scenarios = members<Pick<RouteContext, 'scenarios' | 'clockOwner'>>()('Scenarios', () => ({
  max_scenarios: integer('Scenarios that can be kept.', (ctx) => ctx.scenarios.maxScenarios),
  clock_owner: text.orNull('Name of the scenario that runs.', ({ clockOwner }) => clockOwner.name),
  scenarios: list(scenarioSummary)('Oldest first.', (ctx) => ctx.scenarios.list()),
  bundled: list(bundledScenario)('Scenarios that come with the simulator.', (ctx) => ctx.scenarios.bundled()),
}));

export const scenarioBodySchema = memo(() =>
  z
    .strictObject({
      scenario: z.record(z.string(), z.unknown()).optional().openapi({
        description: 'The content of a scenario file as JSON (docs/scenarios.md); files cannot be included.',
      }),
      bundled: z.string().max(100).optional().openapi({ description: 'A scenario that comes with the simulator.' }),
    })
    .refine(({ scenario, bundled }) => (scenario === undefined) !== (bundled === undefined), {
      error: 'exactly one of scenario, bundled is required',
    })
    .openapi('ScenarioRequest'),
);

export const scenarioStartSchema = memo(() =>
  z
    .strictObject({
      pace: z.enum(runPaces).optional().openapi({
        description:
          '`fast`: ticks at once, on the paused clock; `real`: the running clock. Default `fast` when the clock is paused.',
      }),
      parameters: parameters.optional().openapi({ description: 'In place of those of the scenario.' }),
    })
    .openapi('ScenarioStart'),
);

export const scenarioParams = z.object({
  id: z.string().max(100).openapi({ description: 'Of the scenario, as `scenarios` lists it.' }),
});
export const reportQuery = z.strictObject({
  format: z.enum(reportFormats).optional().openapi({ description: 'Default json.' }),
});

export const scenarioReportSchema = memo(() => z.record(z.string(), z.unknown()).openapi('ScenarioReport'));
