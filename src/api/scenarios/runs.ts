/** Runs of scenarios: history, and simulators beside the running one. */
import { memo } from '../../core/lazy.ts';
import { runPaces } from '../../contract/scenarios.ts';
import type { KeptRun } from '../../contract/scenarios.ts';
import { flag, integer, list, members, nested, text } from '../common/members.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { Answer, apiPrefix, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { parameters, reportAnswer, reportQuery, runSummary, runWithResults, scenarioReportSchema } from './reports.ts';
import { additionMembers, additionOf, isNoAddition, isOneAddition, ofContent } from './requests.ts';

const headMembers = () => ({
  id: text('Id of the run; none is used again.'),
  scenario_id: text.orNull(
    'Id of the scenario that it is a run of; null: a run beside.',
    (of: KeptRun) => of.scenarioId,
  ),
  bundled: text.orNull(
    'Name of the scenario if it comes with the simulator; null: it does not.',
    (of: KeptRun) => of.bundled,
  ),
  beside: flag('True: on a simulator of its own.', (of: KeptRun) => of.isBeside),
  name: text('Name of the scenario.', ({ report }: KeptRun) => report.name),
  text_kept: flag(
    'True: the run keeps its own text, as those beside of a text in a request do; other runs name their scenario.',
    (of: KeptRun) => of.text !== null,
  ),
});

const keptRun = members<KeptRun>()('ScenarioRunSummary', () => ({
  ...headMembers(),
  run: nested(runSummary)('Its course.', ({ report }) => report),
}));

const keptRunWithResults = members<KeptRun>()('ScenarioRun', () => ({
  ...headMembers(),
  run: nested(runWithResults)('Its course.', ({ report }) => report),
}));

const runs = members<RouteContext['scenarios']['runs']>()('ScenarioRuns', () => ({
  max_runs: integer('Maximum number of runs kept; the oldest ones are forgotten.', ({ maxRuns }) => maxRuns),
  runs: list(keptRun)('Newest first.', (of) => of.list()),
}));

const besideBody = memo(() =>
  z
    .strictObject({
      ...additionMembers(),
      run: z.string().max(100).optional().openapi({
        description: 'Id of an earlier run, to run the same text again with its pace and parameters unless given.',
      }),
      pace: z
        .enum(runPaces)
        .optional()
        .openapi({ description: '`fast`: ticks at once; `real`: a running clock. Default `fast`, or that of `run`.' }),
      parameters: parameters.optional().openapi({ description: 'Values that replace parameters of the scenario.' }),
    })
    .refine((body) => (body.run === undefined ? isOneAddition(body) : isNoAddition(body)), {
      error: 'exactly one of scenario, yaml, bundled, run is required',
    })
    .openapi('ScenarioBesideRequest'),
);

const runParams = z.object({
  run: z.string().max(100).openapi({ description: 'Id of the run, as in `scenario-runs`.' }),
});

const path = '/scenario-runs';
const ofRun = { path: `${path}/{run}`, tag: 'Core', params: runParams } as const;

export const scenarioRunRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag: 'Core',
    operationId: 'list_scenario_runs',
    summary: 'Runs of scenarios, also of those that are no longer kept',
    description:
      'With a state folder they survive a restart. Beyond 64 MiB of results the oldest ones are forgotten as well.',
    reply: runs.schema,
    handle: ({ scenarios }) => runs.reply(scenarios.runs),
  }),
  route({
    method: 'post',
    path,
    tag: 'Core',
    operationId: 'run_scenario_beside',
    summary: 'Runs a scenario on a simulator of its own, beside the running one',
    description:
      'The simulator has the devices, clock and surroundings of the `config` of the scenario, runs in the same process on free ' +
      'ports of the loopback interface, and ends with the run. The `config` of a scenario that does not come with the simulator ' +
      'may name no file, no address and no protocol but Modbus. A run has at most 100 devices, and two run at a time: ' +
      '`conflict` for a third. `unknown-resource` for a `run` that is not kept, or whose text is gone.',
    ...ofContent,
    body: besideBody,
    reply: keptRunWithResults.schema,
    status: 201,
    problems: ['unknown-resource', 'conflict', 'too-many-requests'],
    replyHeaders: { Location: { description: 'Address of the run.', example: `${apiPrefix}${path}/1` } },
    async handle({ scenarios }, { body: { pace, parameters: values, run, ...addition }, by }) {
      const start = { ...(pace !== undefined && { pace }), ...(values !== undefined && { parameters: values }) };
      const begun = await (run === undefined
        ? scenarios.startBeside(additionOf(addition), start, by)
        : scenarios.startAgain(run, start, by));
      return new Answer(keptRunWithResults.reply(begun), { headers: { Location: `${apiPrefix}${path}/${begun.id}` } });
    },
  }),
  route({
    ...ofRun,
    method: 'get',
    operationId: 'get_scenario_run',
    summary: 'A run with its steps and assertions, also while it lasts',
    reply: keptRunWithResults.schema,
    problems: ['unknown-resource'],
    handle: ({ scenarios }, { params }) => keptRunWithResults.reply(scenarios.runs.get(params.run)),
  }),
  route({
    ...ofRun,
    path: `${path}/{run}/stop`,
    method: 'post',
    operationId: 'stop_scenario_run',
    summary: 'Ends a run; the steps of `finally` are still carried out',
    description: 'As `POST scenarios/{id}/stop`, also for a run beside.',
    reply: keptRunWithResults.schema,
    problems: ['unknown-resource', 'conflict'],
    handle: async ({ scenarios }, { params }) => keptRunWithResults.reply(await scenarios.runs.stop(params.run)),
  }),
  route({
    ...ofRun,
    path: `${path}/{run}/report`,
    method: 'get',
    operationId: 'get_scenario_run_report',
    summary: 'The result of a run, with samples of the signals: JSON, JUnit XML or a page',
    query: reportQuery,
    reply: scenarioReportSchema,
    problems: ['unknown-resource', 'conflict'],
    otherMedia: ['application/xml', 'text/html'],
    handle: async ({ scenarios }, { params, query: { format = 'json' } }) =>
      reportAnswer(await scenarios.runs.report(params.run, format), format),
  }),
  route({
    ...ofRun,
    method: 'delete',
    operationId: 'remove_scenario_run',
    summary: 'Forgets a run',
    reply: keptRun.schema,
    problems: ['unknown-resource', 'conflict'],
    handle: async ({ scenarios }, { params }) => keptRun.reply(await scenarios.runs.remove(params.run)),
  }),
];
