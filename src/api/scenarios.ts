/** Scenarios: operations, and members of replies and requests. */
import { SimError } from '../core/errors.ts';
import { memo } from '../core/lazy.ts';
import { pagePolicy } from '../core/markup.ts';
import {
  reportFormats,
  runPaces,
  runStates,
  stepStates,
  assertionStates,
  assertionJson,
  plainSeconds,
  stepJson,
} from '../contract/scenarios.ts';
import type {
  CheckedScenario,
  ComparedScenario,
  KeptScenario,
  ReportFormat,
  RunReport,
  ScenarioAddition,
  TextChoice,
} from '../contract/scenarios.ts';
import {
  flag,
  integer,
  list,
  member,
  members,
  nested,
  number,
  text,
  time,
  word,
  camelCased,
} from './common/members.ts';
import { deviceParam, integerParam, isoParam } from './common/schemas.ts';
import { checkIsNoMember } from './common/clock-owner.ts';
import { z } from './description/zod.ts';
import type { RouteContext } from './http/context.ts';
import { Answer, apiPrefix, route, TextReply } from './http/route.ts';
import type { Route } from './http/route.ts';

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
  .strictObject({ low: bound('Lowest value; null: any.'), high: bound('Highest value; null: any.') })
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

const scenario = members<KeptScenario>()('Scenario', () => ({
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

const checkedScenario = members<CheckedScenario>()('CheckedScenario', () => ({
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

const scenarios = members<Listed>()('Scenarios', () => ({
  max_scenarios: integer('Maximum number of scenarios kept.', (of) => of.scenarios.maxScenarios),
  clock_owner: text.orNull('Name of the scenario that runs; null: none.', ({ clockOwner }) => clockOwner.name),
  scenarios: list(scenarioSummary)('Oldest first.', (of) => of.scenarios.list()),
  bundled: list(bundledScenario)('Scenarios that come with the simulator.'),
}));

/** Longer texts are sent as JSON, which is checked in parts. */
const maxYamlLength = 100_000;

export interface AdditionBody {
  readonly scenario?: Readonly<Record<string, unknown>> | undefined;
  readonly yaml?: string | undefined;
  readonly bundled?: string | undefined;
}

const countOf = ({ scenario: content, yaml, bundled }: AdditionBody): number =>
  [content, yaml, bundled].filter((each) => each !== undefined).length;

export const isOneAddition = (body: AdditionBody): boolean => countOf(body) === 1;
export const isNoAddition = (body: AdditionBody): boolean => countOf(body) === 0;

export function additionOf({ scenario: content, yaml, bundled = '' }: AdditionBody): ScenarioAddition {
  if (content !== undefined) return { content };
  return yaml === undefined ? { bundled } : { yaml };
}

export const additionMembers = () => ({
  scenario: z.record(z.string(), z.unknown()).optional().openapi({
    description: 'The content of a scenario file as JSON (docs/how-to/scenarios.md); files cannot be included.',
  }),
  yaml: z.string().max(maxYamlLength).optional().openapi({
    description: 'The content as YAML text, of which issues name the line; files cannot be included.',
  }),
  bundled: z.string().max(100).optional().openapi({ description: 'A scenario that comes with the simulator.' }),
});

const scenarioBodySchema = memo(() =>
  z
    .strictObject(additionMembers())
    .refine(isOneAddition, { error: 'exactly one of scenario, yaml, bundled is required' })
    .openapi('ScenarioRequest'),
);

const scenarioStartSchema = memo(() =>
  z
    .strictObject({
      pace: z.enum(runPaces).optional().openapi({
        description:
          '`fast`: ticks at once, on the paused clock; `real`: the running clock. Default `fast` when the clock is paused.',
      }),
      parameters: parameters.optional().openapi({ description: 'Values that replace parameters of the scenario.' }),
    })
    .openapi('ScenarioStart'),
);

const scenarioParams = z.object({
  id: z.string().max(100).openapi({ description: 'Id of the scenario, as in `scenarios`.' }),
});
const textQuery = z
  .strictObject({
    id: z.string().max(100).optional().openapi({ description: 'Id of a scenario, as in `scenarios`.' }),
    bundled: z.string().max(100).optional().openapi({ description: 'Name of one that comes with the simulator.' }),
    run: z.string().max(100).optional().openapi({ description: 'Id of a run, as in `scenario-runs`.' }),
  })
  .refine((query) => Object.values(query).filter((each) => each !== undefined).length === 1, {
    error: 'exactly one of id, bundled, run is required',
  });

const maxEntryIds = 500;

const entryIds = z
  .string()
  .regex(/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/, { error: 'allowed: ids with a comma between them' })
  .transform((text) => new Set(text.split(',').map(Number)))
  .refine(({ size }) => size <= maxEntryIds, { error: `allowed: at most ${maxEntryIds} ids` })
  .openapi({
    param: { name: 'ids', style: 'form', explode: false },
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    minItems: 1,
    maxItems: maxEntryIds,
    description:
      'Of the timeline: these entries alone, by their ids as a comma list. One that is not kept is an unknown resource.',
  });

/** @throws SimError UNKNOWN_RESOURCE */
function entriesWithIds({ timeline }: Pick<RouteContext, 'timeline'>, ids: ReadonlySet<number>) {
  const entries = timeline.list().filter(({ id }) => ids.has(id));
  if (entries.length === ids.size) return entries;
  const missing = [...ids].filter((id) => !entries.some((entry) => entry.id === id));
  throw new SimError('UNKNOWN_RESOURCE', `the timeline has no entry ${missing.slice(0, 10).join(', ')}`);
}

const draftQuery = z
  .strictObject({
    capture: integerParam('capture', 1, Number.MAX_SAFE_INTEGER, 'Id of a capture.').optional(),
    since: isoParam('since', 'Of the timeline: only entries of this simulated time and later.').optional(),
    until: isoParam('until', 'Of the timeline: only entries up to this simulated time.').optional(),
    device: deviceParam.optional().openapi({ description: 'Of the timeline: only entries about this device.' }),
    ids: entryIds.optional(),
  })
  .refine((query) => (query.capture ?? query.ids) === undefined || Object.keys(query).length === 1, {
    error: 'capture and ids exclude each other, and since, until and device',
  });

type TextQuery = z.output<typeof textQuery>;

function textChoice({ id, bundled = '', run }: TextQuery): TextChoice {
  if (run !== undefined) return { run };
  return id === undefined ? { bundled } : { id };
}

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

/** Bounds of a body with a scenario. */
export const ofContent = { isImport: true, maxTextLength: maxYamlLength } as const;

const types = { json: 'application/json', junit: 'application/xml', html: 'text/html; charset=utf-8' } as const;

export function reportAnswer(report: string, format: ReportFormat) {
  const headers =
    format === 'html' ? { 'Content-Security-Policy': `${pagePolicy(report)}; frame-ancestors 'none'` } : {};
  return new Answer<z.output<ReturnType<typeof scenarioReportSchema>>>(new TextReply(types[format], report), {
    headers,
  });
}

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
