import { reportFormats, runPaces, runStates, stepStates, assertionStates } from '../../contract/scenarios.ts';
import { memo } from '../../core/memo.ts';
import { isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';

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

const progressMembers = {
  state: z.enum(runStates).openapi({ description: '`error`: it could not be carried on; `stopped`: on request.' }),
  error: z.string().nullable().openapi({ description: 'Why it could not be carried on.' }),
  pace: z.enum(runPaces).openapi({ description: '`fast`: ticks at once; `real`: at the rate of the clock.' }),
  parameters,
  started_at: isoTime.openapi({ description: 'Wall time.' }),
  ended_at: isoTime.nullable().openapi({ description: 'Wall time; null: it runs.' }),
  sim_started_at: isoTime.openapi({ description: 'Simulated time.' }),
  sim_s: simulatedS,
  expected_s: z.number().openapi({ description: 'Simulated seconds that it lasts at least.' }),
  ticks: z.int().openapi({ description: 'Since the start of the scenario.' }),
  steps_done: z.int().openapi({ description: 'Steps that are over.' }),
  steps_in_all: z.int().openapi({ description: 'Without those of rules.' }),
  steps_forgotten: z.int().openapi({ description: 'Steps of rules whose results had to go: there were too many.' }),
  assertions_passed: z.int().openapi({ description: 'With a good verdict.' }),
  assertions_failed: z.int().openapi({ description: 'With a bad verdict.' }),
  assertions_in_all: z.int().openapi({ description: 'That have begun so far.' }),
  assertions_forgotten: z.int().openapi({ description: 'Of rules, whose results had to go; counted above.' }),
  failures: z.array(z.string()).openapi({ description: 'A sentence each, with its place.' }),
};

const keptMembers = {
  id: z.string().openapi({ description: 'Of the scenario, for as long as it is kept.' }),
  name: z.string().openapi({ description: 'Of the scenario.' }),
  description: z.string().openapi({ description: 'Of the scenario; may be empty.' }),
  bundled: z.string().nullable().openapi({ description: 'Name under which it comes with the simulator.' }),
  parameters,
  added_at: isoTime.openapi({ description: 'Wall time.' }),
  unused_settings: z.array(z.string()).openapi({
    description: 'Settings of its `config` that a running simulator does not take over.',
  }),
};

export const scenarioSummarySchema = memo(() =>
  z
    .strictObject({
      ...keptMembers,
      run: z.strictObject(progressMembers).nullable().openapi({ description: 'The last run; null: none.' }),
    })
    .openapi('ScenarioSummary'),
);

export const scenarioSchema = memo(() =>
  z
    .strictObject({
      ...keptMembers,
      run: z
        .strictObject({
          ...progressMembers,
          steps: z.array(stepSchema).openapi({ description: 'Those of rules last.' }),
          assertions: z.array(assertionSchema).openapi({ description: 'In the order in which they began.' }),
        })
        .nullable()
        .openapi({ description: 'The last run; null: none.' }),
    })
    .openapi('Scenario'),
);

export const scenariosSchema = memo(() =>
  z
    .strictObject({
      max_scenarios: z.int().openapi({ description: 'Scenarios that can be kept.' }),
      clock_owner: z.string().nullable().openapi({ description: 'Name of the scenario that runs.' }),
      scenarios: z.array(scenarioSummarySchema()).openapi({ description: 'Oldest first.' }),
      bundled: z
        .array(
          z.strictObject({
            name: z.string().openapi({ description: 'As `bundled` of POST scenarios takes it.' }),
            description: z.string().openapi({ description: 'What it tests.' }),
          }),
        )
        .openapi({ description: 'Scenarios that come with the simulator.' }),
    })
    .openapi('Scenarios'),
);

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
