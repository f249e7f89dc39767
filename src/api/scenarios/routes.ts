import { createHash } from 'node:crypto';
import { camelCased } from '../common/members.ts';
import { Answer, apiPrefix, route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  reportQuery,
  scenario,
  scenarioBodySchema,
  scenarioParams,
  scenarioReportSchema,
  scenarios,
  scenarioStartSchema,
} from './members.ts';

const listScenarios = route({
  method: 'get',
  path: '/scenarios',
  tag: 'Core',
  operationId: 'list_scenarios',
  summary: 'Scenarios that are kept, and those that come with the simulator',
  reply: scenarios.schema,
  handle: (ctx) => scenarios.reply(ctx),
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
  reply: scenario.schema,
  status: 201,
  problems: ['conflict'],
  replyHeaders: {
    Location: { description: 'Address of the scenario.', example: `${apiPrefix}/scenarios/1` },
  },
  async handle(ctx, { body: { bundled, scenario: content }, by }) {
    const kept = await ctx.scenarios.add(bundled === undefined ? { content } : { bundled }, by);
    return new Answer(scenario.reply(kept), { headers: { Location: `${apiPrefix}/scenarios/${kept.id}` } });
  },
});

const getScenario = route({
  method: 'get',
  path: '/scenarios/{id}',
  tag: 'Core',
  operationId: 'get_scenario',
  summary: 'A scenario with the steps and assertions of its run, also while it runs',
  params: scenarioParams,
  reply: scenario.schema,
  problems: ['unknown-resource'],
  handle: (ctx, { params }) => scenario.reply(ctx.scenarios.get(params.id)),
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
  reply: scenario.schema,
  problems: ['unknown-resource', 'conflict'],
  handle: async (ctx, { params, body, by }) =>
    scenario.reply(await ctx.scenarios.start(params.id, camelCased(body), by)),
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
  reply: scenario.schema,
  problems: ['unknown-resource', 'conflict'],
  handle: async (ctx, { params }) => scenario.reply(await ctx.scenarios.stop(params.id)),
});

const removeScenario = route({
  method: 'delete',
  path: '/scenarios/{id}',
  tag: 'Core',
  operationId: 'remove_scenario',
  summary: 'Forgets a scenario and its results',
  params: scenarioParams,
  reply: scenario.schema,
  problems: ['unknown-resource', 'conflict'],
  handle(ctx, { params }) {
    const kept = ctx.scenarios.get(params.id);
    ctx.scenarios.remove(params.id);
    return scenario.reply(kept);
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
  otherMedia: ['application/xml', 'text/html'],
  async handle(ctx, { params, query: { format = 'json' } }) {
    const text = await ctx.scenarios.report(params.id, format);
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
