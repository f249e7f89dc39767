import { createHash } from 'node:crypto';
import { Answer, apiPrefix, route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  exampleAddedScenario,
  exampleRunningScenario,
  exampleScenarioBody,
  exampleScenarioReport,
  exampleScenarios,
} from './examples.ts';
import { scenarioReply, scenarioSummary } from './replies.ts';
import {
  reportQuery,
  scenarioBodySchema,
  scenarioParams,
  scenarioReportSchema,
  scenarioSchema,
  scenariosSchema,
  scenarioStartSchema,
} from './schemas.ts';

const listScenarios = route({
  method: 'get',
  path: '/scenarios',
  tag: 'Core',
  operationId: 'list_scenarios',
  summary: 'Scenarios that are kept, and those that come with the simulator',
  reply: scenariosSchema,
  examples: { reply: exampleScenarios },
  handle: ({ scenarios, clockOwner }) => ({
    max_scenarios: scenarios.maxScenarios,
    clock_owner: clockOwner.name,
    scenarios: scenarios.list().map(scenarioSummary),
    bundled: scenarios.bundled().map((each) => ({ ...each })),
  }),
});

const addScenario = route({
  method: 'post',
  path: '/scenarios',
  tag: 'Core',
  operationId: 'add_scenario',
  summary: 'Checks a scenario and keeps it',
  description:
    'Every request, point and parameter in it is checked before it is kept; errors are reported together, as JSON ' +
    'pointers. Its `config` is not applied to the running simulator: `conflict` when its devices are others, and ' +
    '`unused_settings` names the rest. `conflict` also when 64 scenarios are kept.',
  isImport: true,
  maxTextLength: 10_000,
  body: scenarioBodySchema,
  reply: scenarioSchema,
  status: 201,
  problems: ['conflict'],
  replyHeaders: {
    Location: { description: 'Address of the scenario.', example: `${apiPrefix}/scenarios/${exampleAddedScenario.id}` },
  },
  examples: { body: exampleScenarioBody, reply: exampleAddedScenario },
  async handle({ scenarios }, { body, by }) {
    const kept = await scenarios.add(
      body.bundled === undefined ? { content: body.scenario } : { bundled: body.bundled },
      by,
    );
    return new Answer(scenarioReply(kept), { headers: { Location: `${apiPrefix}/scenarios/${kept.id}` } });
  },
});

const getScenario = route({
  method: 'get',
  path: '/scenarios/{id}',
  tag: 'Core',
  operationId: 'get_scenario',
  summary: 'A scenario with the steps and assertions of its run, also while it runs',
  params: scenarioParams,
  reply: scenarioSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleRunningScenario },
  handle: ({ scenarios }, { params }) => scenarioReply(scenarios.get(params.id)),
});

const startScenario = route({
  method: 'post',
  path: '/scenarios/{id}/start',
  tag: 'Core',
  operationId: 'start_scenario',
  summary: 'Starts a scenario; one runs at a time',
  description:
    'The answer comes when it has begun. It has the clock until it ends: `controls/time` answers `conflict` to others. ' +
    'Its writes have the source `scenario`.',
  params: scenarioParams,
  body: scenarioStartSchema,
  reply: scenarioSchema,
  problems: ['unknown-resource', 'conflict'],
  examples: { body: { pace: 'real' }, reply: exampleRunningScenario },
  async handle({ scenarios }, { params, body, by }) {
    const { pace, parameters } = body;
    const start = { ...(pace !== undefined && { pace }), ...(parameters && { parameters }) };
    return scenarioReply(await scenarios.start(params.id, start, by));
  },
});

const stopScenario = route({
  method: 'post',
  path: '/scenarios/{id}/stop',
  tag: 'Core',
  operationId: 'stop_scenario',
  summary: 'Ends a run; the steps of `finally` are still carried out',
  description:
    'The answer comes when the run is over, or after a second with the state `running` while the steps of `finally` last; a ' +
    'second request ends these too.',
  params: scenarioParams,
  reply: scenarioSchema,
  problems: ['unknown-resource', 'conflict'],
  examples: { reply: exampleRunningScenario },
  handle: async ({ scenarios }, { params }) => scenarioReply(await scenarios.stop(params.id)),
});

const removeScenario = route({
  method: 'delete',
  path: '/scenarios/{id}',
  tag: 'Core',
  operationId: 'remove_scenario',
  summary: 'Forgets a scenario and its results',
  params: scenarioParams,
  reply: scenarioSchema,
  problems: ['unknown-resource', 'conflict'],
  examples: { reply: exampleAddedScenario },
  handle({ scenarios }, { params }) {
    const kept = scenarios.get(params.id);
    scenarios.remove(params.id);
    return scenarioReply(kept);
  },
});

const types = { json: 'application/json', junit: 'application/xml', html: 'text/html; charset=utf-8' } as const;

/** Lets the page of a report have its own style sheet, and nothing else. */
function reportPolicy(page: string): string {
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'`;
}

const getReport = route({
  method: 'get',
  path: '/scenarios/{id}/report',
  tag: 'Core',
  operationId: 'get_scenario_report',
  summary: 'The result of the last run, with samples of the signals: JSON, JUnit XML or a page',
  params: scenarioParams,
  query: reportQuery,
  reply: scenarioReportSchema,
  problems: ['unknown-resource', 'conflict'],
  otherMedia: [
    { type: 'application/xml', example: '<testsuites name="derbench"></testsuites>' },
    { type: 'text/html', example: '<!doctype html><title>High voltage: passed</title>' },
  ],
  examples: { reply: exampleScenarioReport },
  async handle({ scenarios }, { params, query }) {
    const { format = 'json' } = query;
    const text = await scenarios.report(params.id, format);
    const headers = format === 'html' ? { 'Content-Security-Policy': reportPolicy(text) } : {};
    return new Answer<Record<string, unknown>>(new TextReply(types[format], text), { headers });
  },
});

export const scenarioRoutes: readonly Route[] = [
  listScenarios,
  addScenario,
  getScenario,
  startScenario,
  stopScenario,
  getReport,
  removeScenario,
];
