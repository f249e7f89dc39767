/** Results of scenarios: members of replies, and the document of a report. */
import { memo } from '../../core/lazy.ts';
import { pagePolicy } from '../../core/markup.ts';
import {
  assertionJson,
  assertionStates,
  plainSeconds,
  reportFormats,
  runPaces,
  runStates,
  stepJson,
  stepStates,
} from '../../contract/scenarios.ts';
import type { ReportFormat, RunReport } from '../../contract/scenarios.ts';
import { integer, list, member, members, number, text, time, word } from '../common/members.ts';
import { z } from '../description/zod.ts';
import { Answer, TextReply } from '../http/route.ts';

export const parameters = z
  .record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]))
  .openapi({ description: 'Names and values, in force for the steps.' });
const simulatedS = z.number().openapi({ description: 'Simulated seconds since the start of the scenario.' });
const place = z.string().openapi({ description: 'Place in the scenario: file, line and key, or a JSON pointer.' });

const actionSchema = z.strictObject({
  name: z.string().openapi({ description: 'Method and path.' }),
  status: z.int().nullable().openapi({ description: 'Of the answer; null: it has not come.' }),
  expected: z.boolean().openapi({ description: 'True if the status is the one that the scenario expects.' }),
  detail: z.string().nullable().openapi({ description: 'Words of a refusal.' }),
});

const stepSchema = z.strictObject({
  place,
  name: z.string().openapi({ description: 'Name of the step, else its actions.' }),
  state: z.enum(stepStates).openapi({ description: '`skipped`: the scenario ended before.' }),
  at_s: simulatedS.nullable(),
  actions: z.array(actionSchema).openapi({ description: 'In the order of the file.' }),
  message: z.string().nullable().openapi({ description: 'Why the step failed or was skipped; null: neither.' }),
});

const bound = (words: string) => z.number().nullable().openapi({ description: words });
const boundsSchema = z
  .strictObject({ low: bound('Minimum; null: any.'), high: bound('Maximum; null: any.') })
  .nullable()
  .openapi({
    description:
      'Values that it allows the signal, tolerance included; null: not numbers, or a difference since a mark.',
  });

const assertionSchema = z.strictObject({
  place,
  name: z.string().openapi({ description: 'Name of the assertion, else its subject and window.' }),
  state: z.enum(assertionStates).openapi({ description: '`dropped`: the scenario ended before the verdict.' }),
  message: z.string().openapi({ description: 'Reason for the state in a sentence; empty while pending.' }),
  signal: z.string().nullable().openapi({ description: 'The compared signal, as in `series` of reports; null: none.' }),
  bounds: boundsSchema,
  began_s: simulatedS,
  decided_s: simulatedS.nullable(),
});

/** A run without its steps and assertions. */
export const runSummary = members<RunReport>()(null, () => ({
  state: word(runStates)('`error`: the run could not continue; `stopped`: ended on request.'),
  error: text.orNull('Why the run could not continue; null: no error.'),
  pace: word(runPaces)('`fast`: ticks at once; `real`: at the rate of the clock.'),
  parameters: member(() => parameters)(),
  started_at: time('Wall time.'),
  ended_at: time.orNull('Wall time; null: running.'),
  sim_started_at: time('Simulated time.', ({ simStartMs }) => simStartMs),
  sim_s: member(() => simulatedS)(({ simS }) => plainSeconds(simS)),
  expected_s: number('Minimum duration of the run in simulated seconds, from the scenario; 0: unknown.'),
  ticks: integer('Ticks since the start of the scenario.'),
  steps_done: integer('Steps that are over.'),
  steps_in_all: integer('Without those of rules.'),
  steps_forgotten: integer('Steps of rules whose results were dropped: there were too many.'),
  assertions_passed: integer('With a good verdict.'),
  assertions_failed: integer('With a bad verdict.'),
  assertions_in_all: integer('That have begun so far.'),
  assertions_forgotten: integer('Assertions of rules whose results were dropped; counted above.'),
  failures: list(text())('A sentence each, with its place.'),
}));

export const runWithResults = members<RunReport>()(null, () => ({
  ...runSummary.members(),
  steps: list({ schema: () => stepSchema, reply: stepJson })('Steps of rules last.', (of) => of.steps()),
  assertions: list({ schema: () => assertionSchema, reply: assertionJson })('In the order in which they began.', (of) =>
    of.assertions(),
  ),
}));

export const reportQuery = z.strictObject({
  format: z.enum(reportFormats).optional().openapi({ description: 'Default json.' }),
});

const reportedTime = (words: string) => z.string().openapi({ format: 'date-time', description: words });
const reportedSeries = z.strictObject({
  signal: z.string().openapi({ description: 'Name of the signal, as in the assertions.' }),
  unit: z.string().nullable().openapi({ description: 'Unit of the values; null: none.' }),
  samples: z
    .array(z.tuple([z.number(), z.number()]))
    .openapi({ description: 'Simulated seconds since the start of the scenario, and the value.' }),
});

/** Schema of the JSON of a report, which the runner delivers as text. */
export const scenarioReportSchema = memo(() =>
  z
    .strictObject({
      format: z.literal('derbench-scenario-result/1').openapi({ description: 'Form of the document.' }),
      derbench: z
        .strictObject({
          version: z.string().openapi({ description: 'Version of the simulator.' }),
          build_id: z.string().openapi({ description: 'Commit or package of the build.' }),
        })
        .openapi({ description: 'The simulator.' }),
      scenario: z
        .strictObject({
          name: z.string().openapi({ description: 'Name of the scenario.' }),
          description: z.string().openapi({ description: 'Description of the scenario; may be empty.' }),
          parameters,
        })
        .openapi({ description: 'The scenario that ran.' }),
      state: z.enum(runStates).openapi({ description: '`error`: it could not be carried on; `stopped`: on request.' }),
      error: z.string().nullable().openapi({ description: 'Why it could not be carried on.' }),
      failures: z.array(z.string()).openapi({ description: 'A sentence each, with its place.' }),
      real: z
        .strictObject({
          started_at: reportedTime('Wall time.'),
          ended_at: reportedTime('Wall time; null: running.').nullable(),
          duration_s: z.number().nullable().openapi({ description: 'Real seconds.' }),
        })
        .openapi({ description: 'Differs between equal runs.' }),
      simulated: z
        .strictObject({
          started_at: reportedTime('Simulated time.'),
          duration_s: z.number().openapi({ description: 'Simulated seconds.' }),
          ticks: z.int().openapi({ description: 'Ticks since the start of the scenario.' }),
          pace: z.enum(runPaces).openapi({ description: '`fast`: ticks at once; `real`: at the rate of the clock.' }),
          seed: z.int().openapi({ description: 'Seed of the simulator.' }),
        })
        .openapi({ description: 'In simulated time: equal for equal runs.' }),
      devices: z
        .array(
          z.strictObject({
            index: z.int().openapi({ description: 'Device index, 0-based.' }),
            name: z.string().openapi({ description: 'Name of the device.' }),
            type: z.string().openapi({ description: 'Device type.' }),
          }),
        )
        .openapi({ description: 'At the start.' }),
      checks_of_peers: z
        .strictObject({
          exercised: z.int().openapi({ description: 'Rules that came up during the run.' }),
          rules: z.int().openapi({ description: 'Rules for the protocols of all peers.' }),
        })
        .nullable()
        .openapi({ description: 'Rules by which peers are judged; null: running.' }),
      steps_forgotten: z.int().openapi({ description: 'Steps of rules whose results were dropped.' }),
      steps: z.array(stepSchema).openapi({ description: 'Steps of rules last.' }),
      assertions_forgotten: z.int().openapi({ description: 'Assertions of rules whose results were dropped.' }),
      assertions: z.array(assertionSchema).openapi({ description: 'In the order in which they began.' }),
      series: z.array(reportedSeries).openapi({ description: 'Samples of the asserted and plotted signals.' }),
    })
    .openapi('ScenarioReport'),
);

const types = { json: 'application/json', junit: 'application/xml', html: 'text/html; charset=utf-8' } as const;

export function reportAnswer(report: string, format: ReportFormat) {
  const headers =
    format === 'html' ? { 'Content-Security-Policy': `${pagePolicy(report)}; frame-ancestors 'none'` } : {};
  return new Answer<z.output<ReturnType<typeof scenarioReportSchema>>>(new TextReply(types[format], report), {
    headers,
  });
}
