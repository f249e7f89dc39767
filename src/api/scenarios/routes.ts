/** Operations on scenarios. */
import { checkIsNoMember } from '../common/clock-owner.ts';
import { camelCased } from '../common/members.ts';
import { z } from '../description/zod.ts';
import { Answer, apiPrefix, route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { checkedScenario, scenario, scenarios } from './answers.ts';
import { reportAnswer, reportQuery, scenarioReportSchema } from './reports.ts';
import {
  additionOf,
  draftQuery,
  entriesWithIds,
  ofContent,
  scenarioBodySchema,
  scenarioParams,
  scenarioStartSchema,
  textChoice,
  textQuery,
} from './requests.ts';

export const scenarioRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/scenarios',
    tag: 'Core',
    operationId: 'list_scenarios',
    summary: 'Scenarios that are kept, and those that come with the simulator',
    reply: scenarios.schema,
    async handle({ scenarios: book, clockOwner }) {
      await book.readEarlier();
      return scenarios.reply({ scenarios: book, clockOwner, bundled: await book.bundled() });
    },
  }),
  route({
    method: 'post',
    path: '/scenarios',
    tag: 'Core',
    operationId: 'add_scenario',
    summary: 'Checks a scenario and keeps it',
    description:
      'Every request, point and parameter in it is checked before it is kept; errors are reported together, as JSON ' +
      'pointers. Its `config` is not applied to the running simulator: `conflict` with all reasons when it is for other ' +
      'devices or surroundings (`POST scenario-runs` runs it on a simulator of its own), and `unused_settings` names the rest. ' +
      '`conflict` also when 64 scenarios or 32 MiB of them are kept. ' +
      'One is checked at a time: `too-many-requests` while 16 others wait for it.',
    ...ofContent,
    body: scenarioBodySchema,
    reply: scenario.schema,
    status: 201,
    problems: ['conflict', 'too-many-requests'],
    replyHeaders: {
      Location: { description: 'Address of the scenario.', example: `${apiPrefix}/scenarios/1` },
    },
    async handle(ctx, { body, by }) {
      const added = await ctx.scenarios.add(additionOf(body), by);
      return new Answer(scenario.reply(added), { headers: { Location: `${apiPrefix}/scenarios/${added.id}` } });
    },
  }),
  route({
    method: 'post',
    path: '/scenarios/check',
    tag: 'Core',
    operationId: 'check_scenario',
    summary: 'Checks a scenario, and keeps nothing',
    description:
      'Errors are those of `POST scenarios`, but a scenario for other devices or surroundings is no error: `differs` has the ' +
      'reasons.',
    ...ofContent,
    routine: true,
    body: scenarioBodySchema,
    reply: checkedScenario.schema,
    problems: ['too-many-requests'],
    handle: async (ctx, { body }) => checkedScenario.reply(await ctx.scenarios.check(additionOf(body))),
  }),
  route({
    method: 'get',
    path: '/scenarios/text',
    tag: 'Core',
    operationId: 'get_scenario_text',
    summary: 'The text of a scenario that is kept, of one that comes with the simulator, or of a run',
    description:
      'YAML as it was added or as it comes; JSON, which is also YAML, for one that was added as JSON. `unknown-resource` also ' +
      'for a run whose text is gone: its scenario is no longer kept, or an earlier version ran it.',
    query: textQuery,
    media: 'application/yaml',
    reply: z.string(),
    problems: ['unknown-resource'],
    handle: async ({ scenarios: book }, { query }) =>
      new TextReply('application/yaml', await book.text(textChoice(query))),
  }),
  route({
    method: 'get',
    path: '/scenarios/draft',
    tag: 'Core',
    operationId: 'get_scenario_draft',
    summary: 'The text of a scenario that makes a capture or a part of the timeline again',
    description:
      'Of a capture: the requests of its disturbance, or the course of voltage and frequency where nobody asked for it, and the ' +
      'verdict as expectation. Of the timeline: commands, grid, weather and writes of peers as steps at their times. What no step ' +
      'can do is a comment. Nothing is kept; `POST scenarios/check` takes the text. `conflict` for a capture that still records.',
    query: draftQuery,
    media: 'application/yaml',
    reply: z.string(),
    problems: ['unknown-resource', 'conflict'],
    async handle({ scenarios: book, captures, timeline, plant, share }, { query }) {
      const { capture, since, until, device, ids } = query;
      if (device !== undefined) plant.device(device);
      const entries = () => {
        if (ids !== undefined) return entriesWithIds({ timeline }, ids);
        return timeline.list({
          ...(since !== undefined && { since: plant.simAt(since) }),
          ...(until !== undefined && { until: plant.simAt(until) }),
          ...(device !== undefined && { deviceIndex: device }),
        });
      };
      const drafting = await book.draft(
        capture === undefined
          ? { entries: entries(), dateMs: (at) => plant.dateMs(at) }
          : { capture: captures.get(capture) },
      );
      return new TextReply('application/yaml', await share.runInParts(drafting));
    },
  }),
  route({
    method: 'get',
    path: '/scenarios/schema',
    tag: 'Core',
    operationId: 'get_scenario_schema',
    summary: 'The JSON Schema of scenario files, for editors',
    description:
      'It has the keys of scenarios with what they mean. A valid scenario may still be refused when it is checked.',
    reply: z.record(z.string(), z.unknown()),
    problems: ['unknown-resource'],
    handle: async ({ scenarios: book }) =>
      new Answer<Record<string, unknown>>(new TextReply('application/json', await book.schema())),
  }),
  route({
    method: 'get',
    path: '/scenarios/{id}',
    tag: 'Core',
    operationId: 'get_scenario',
    summary: 'A scenario with the steps and assertions of its run, also while it runs',
    params: scenarioParams,
    reply: scenario.schema,
    problems: ['unknown-resource'],
    async handle(ctx, { params }) {
      await ctx.scenarios.readEarlier();
      return scenario.reply(ctx.scenarios.get(params.id));
    },
  }),
  route({
    method: 'post',
    path: '/scenarios/{id}/start',
    tag: 'Core',
    operationId: 'start_scenario',
    summary: 'Starts a scenario; one runs at a time',
    description:
      'The answer is sent when the scenario has begun. It owns the clock until it ends: `controls/time` answers `conflict` to others. ' +
      'Its writes have the source `scenario`.',
    params: scenarioParams,
    body: scenarioStartSchema,
    reply: scenario.schema,
    problems: ['unknown-resource', 'conflict', 'fleet-member', 'too-many-requests'],
    async handle(ctx, { params, body, by }) {
      checkIsNoMember(ctx);
      return scenario.reply(await ctx.scenarios.start(params.id, camelCased(body), by));
    },
  }),
  route({
    method: 'post',
    path: '/scenarios/{id}/stop',
    tag: 'Core',
    operationId: 'stop_scenario',
    summary: 'Ends a run; the steps of `finally` are still carried out',
    description:
      'The answer is sent when the run is over, or after a second with the state `running` while the steps of `finally` last; a ' +
      'second request ends these too.',
    params: scenarioParams,
    reply: scenario.schema,
    problems: ['unknown-resource', 'conflict'],
    handle: async (ctx, { params }) => scenario.reply(await ctx.scenarios.stop(params.id)),
  }),
  route({
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
    handle: async (ctx, { params, query: { format = 'json' } }) =>
      reportAnswer(await ctx.scenarios.report(params.id, format), format),
  }),
  route({
    method: 'delete',
    path: '/scenarios/{id}',
    tag: 'Core',
    operationId: 'remove_scenario',
    summary: 'Forgets a scenario and its results',
    params: scenarioParams,
    reply: scenario.schema,
    problems: ['unknown-resource', 'conflict'],
    async handle(ctx, { params }) {
      await ctx.scenarios.readEarlier();
      const removed = ctx.scenarios.get(params.id);
      await ctx.scenarios.remove(params.id);
      return scenario.reply(removed);
    },
  }),
];
