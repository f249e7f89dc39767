import { reportFormats, runPaces, runStates, stepStates, assertionStates } from '../../contract/scenarios.ts';
import { memo } from '../../core/memo.ts';
import { isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';

const parameters = z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]));
const simulatedS = z.number().openapi({ description: 'Simulated seconds since the start of the scenario.' });
const place = z.string().openapi({ description: 'Where it stands: file, line and key, or a JSON pointer.' });

const actionSchema = z.strictObject({
  name: z.string(),
  status: z.int().nullable().openapi({ description: 'Of the answer; null: it has not come.' }),
  expected: z.boolean(),
  detail: z.string().nullable().openapi({ description: 'Words of a refusal.' }),
});

const stepSchema = z.strictObject({
  place,
  name: z.string(),
  state: z.enum(stepStates),
  at_s: simulatedS.nullable(),
  actions: z.array(actionSchema),
  message: z.string().nullable(),
});

const assertionSchema = z.strictObject({
  place,
  name: z.string(),
  state: z.enum(assertionStates).openapi({ description: '`dropped`: the scenario ended before the verdict.' }),
  message: z.string().openapi({ description: 'Why, in a sentence; empty while pending.' }),
  began_s: simulatedS,
  decided_s: simulatedS.nullable(),
});

const progressMembers = {
  state: z.enum(runStates),
  error: z.string().nullable().openapi({ description: 'Why it could not be carried on.' }),
  pace: z.enum(runPaces),
  started_at: isoTime,
  ended_at: isoTime.nullable(),
  sim_started_at: isoTime,
  sim_s: simulatedS,
  expected_s: z.number().openapi({ description: 'Simulated seconds that it lasts at least.' }),
  ticks: z.int(),
  steps_done: z.int(),
  steps_in_all: z.int(),
  assertions_passed: z.int(),
  assertions_failed: z.int(),
  assertions_in_all: z.int().openapi({ description: 'That have begun so far.' }),
  failures: z.array(z.string()),
};

const keptMembers = {
  id: z.string(),
  name: z.string(),
  description: z.string(),
  bundled: z.string().nullable().openapi({ description: 'Name under which it comes with the simulator.' }),
  parameters,
  added_at: isoTime,
  unused_settings: z.array(z.string()).openapi({
    description: 'Settings of its `config` that a running simulator does not take over.',
  }),
};

export const scenarioSummarySchema = memo(() =>
  z.strictObject({ ...keptMembers, run: z.strictObject(progressMembers).nullable() }).openapi('ScenarioSummary'),
);

export const scenarioSchema = memo(() =>
  z
    .strictObject({
      ...keptMembers,
      run: z
        .strictObject({ ...progressMembers, steps: z.array(stepSchema), assertions: z.array(assertionSchema) })
        .nullable(),
    })
    .openapi('Scenario'),
);

export const scenariosSchema = memo(() =>
  z
    .strictObject({
      max_scenarios: z.int(),
      clock_owner: z.string().nullable().openapi({ description: 'Name of the scenario that runs.' }),
      scenarios: z.array(scenarioSummarySchema()),
      bundled: z.array(z.strictObject({ name: z.string(), description: z.string() })),
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

export const scenarioParams = z.object({ id: z.string().max(100) });
export const reportQuery = z.strictObject({
  format: z.enum(reportFormats).optional().openapi({ description: 'Default json.' }),
});

export const scenarioReportSchema = memo(() => z.record(z.string(), z.unknown()).openapi('ScenarioReport'));
