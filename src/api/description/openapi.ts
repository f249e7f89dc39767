import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { ResponseConfig, RouteConfig } from '@asteasolutions/zod-to-openapi';
import { createProblem, problemTable } from '../../core/http/problem.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import byOperation from '../../../fixtures/openapi/examples.json' with { type: 'json' };
import { groupBy } from '../http/paths.ts';
import { resourceOf, resources } from './resources.ts';
import { finishSchemas } from './glossary.ts';
import { apiPrefix, hasBody, tags } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { problemSchema } from '../common/schemas.ts';
import { writerSchema } from '../common/writers.ts';
import { partlyExample, partlySchema, partlyStatus, spreadOperations } from './partly.ts';
import { z } from './zod.ts';

interface Examples {
  readonly reply: unknown;
  /** default `{}` */
  readonly body?: unknown;
  /** replies in other media types */
  readonly media?: Readonly<Record<string, string>>;
}

/** Examples of an operation. Tests read them too; a running simulator does not. */
export function examplesOf({ operationId }: Pick<Route, 'operationId'>): Examples {
  const all: Readonly<Record<string, Examples>> = byOperation;
  return all[operationId] ?? { reply: {} };
}

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

/** Description of a reply with this status, derived from the summary of the operation. */
function replySentence({ status: usual, method }: Route, summary: string, status: number): string {
  const words = /^[A-Z][a-z]/.test(summary) ? summary.charAt(0).toLowerCase() + summary.slice(1) : summary;
  if (status === 201) return `Created: ${words}. The reply is the new resource.`;
  if (status === 202) return `Accepted, and carried out after the reply: ${words}.`;
  if (status !== usual) return `${summary}: the state is unhealthy. The members are those of the other reply.`;
  return method === 'get' ? `${summary}.` : `Success: ${words}. The reply shows the result.`;
}

const descriptions: Readonly<Record<(typeof tags)[number], string>> = {
  Core: 'Telemetry, overview, server-info, devices, history, commands, logs, health, registers.',
  Controls: 'Grid, environment, time, nameplate, configured settings, stop.',
  'Grid Support': 'Grid-support functions of a device: curves, set-points, trip and ride-through.',
  Battery: 'Bank, strings, modules and cells of a battery; forced charging and discharging.',
  Wind: 'Wind, rotor and power of a turbine.',
  'Fuel Cell': 'Stack, hydrogen and tank of a fuel cell or electrolyser.',
  'Hybrid DC': 'PV array and battery on one DC bus, and the policy that dispatches them.',
  'EVSE / OCPP': 'Charging stations with their connectors and vehicles, and their clients of OCPP.',
  'CSIP Client': 'The client of IEEE 2030.5 (CSIP): connection, programs, events, reports.',
  'SunSpec Client': 'The client that polls another SunSpec device over Modbus.',
  'DC I/V': 'Current-voltage curves of the DC side.',
  DNP3: 'Outstations of DNP3 (IEEE 1815) and their points.',
  Exchange: 'Co-simulation: a power-flow program outside gives the voltages of devices and takes their powers.',
};

/** Problems that any request may get before routing. */
const transportProblems: readonly ProblemCode[] = [
  'malformed-request',
  'cross-origin',
  'request-timeout',
  'uri-too-long',
  'misdirected-host',
  'too-many-requests',
  'headers-too-large',
  'internal',
  'stopping',
];

/** Problems implied by the shape of an operation, and those it declares. */
function problemsOf(route: Route): ProblemCode[] {
  const codes = new Set<ProblemCode>([...transportProblems, 'validation', ...(route.problems ?? [])]);
  if ('device' in route.query.shape) codes.add('unknown-device');
  if (route.isPrivate) codes.add('not-private');
  if (route.isSetup) codes.add('settings-locked');
  if (hasBody(route)) {
    for (const code of ['malformed-json', 'too-large', 'unsupported-media-type'] as const) codes.add(code);
  }
  const order = Object.keys(problemTable);
  return [...codes].sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

function exampleProblem(code: ProblemCode) {
  const request = { instance: `${apiPrefix}/controls/grid`, id: '0f8fad5b-d9cb-469f-a165-70867728950e' };
  if (code !== 'validation') return { value: createProblem(code, `${problemTable[code].title}.`, request) };
  const issue = { in: 'query' as const, name: 'device', detail: 'must be an integer from 0 to 999999999; given "x"' };
  return { value: createProblem(code, `${issue.name}: ${issue.detail}`, request, [issue]) };
}

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

function problemResponse(codes: readonly ProblemCode[]) {
  return {
    description: codes.map((code) => `\`${code}\`: ${problemTable[code].title}.`).join(' '),
    headers: requestIdHeader,
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, exampleProblem(code)])),
      },
    },
  };
}

/** `Validation` for `validation`; `ConflictOrDisabled` for two codes with one status. */
function responseName(codes: readonly ProblemCode[]): string {
  return codes
    .map((code) => code.replaceAll(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase()))
    .join('Or');
}

function replyResponse(route: Route, summary: string, status: number): ResponseConfig {
  const examples = examplesOf(route);
  const others = (route.otherMedia ?? []).map(
    (type) => [type, { schema: z.string(), example: examples.media?.[type] }] as const,
  );
  const routeHeaders = Object.entries(route.replyHeaders ?? {}).map(
    ([name, { description, example }]) =>
      [name, { description, schema: { type: 'string' as const }, example }] as const,
  );
  const headers = { ...requestIdHeader, ...Object.fromEntries(routeHeaders) };
  return {
    description: replySentence(route, summary, status),
    headers,
    content: {
      [route.media ?? 'application/json']: { schema: route.reply, example: examples.reply },
      ...Object.fromEntries(others),
    },
  };
}

function partlyResponse(route: Route, summary: string): ResponseConfig {
  const example = partlyExample(examplesOf(route).reply);
  return {
    description: `${summary}: at a gateway, where some shards have carried it out and others have not.`,
    headers: requestIdHeader,
    content: { 'application/json': { schema: partlySchema(route.reply), example } },
  };
}

function responses(registry: OpenAPIRegistry, route: Route, summary: string): RouteConfig['responses'] {
  const byStatus = groupBy(problemsOf(route), (code): number => problemTable[code].status);
  const all: RouteConfig['responses'] = {};
  for (const [status, codes] of byStatus) {
    const name = responseName(codes);
    const isRegistered = registry.definitions.some(
      (each) => each.type === 'component' && each.componentType === 'responses' && each.name === name,
    );
    if (!isRegistered) registry.registerComponent('responses', name, problemResponse(codes));
    all[status] = { $ref: `#/components/responses/${name}` };
  }
  for (const status of [route.status, ...(route.alsoStatus ?? [])]) {
    const reply = replyResponse(route, summary, status);
    const codes = byStatus.get(status);
    // one status may carry either body; the media type distinguishes them
    all[status] = codes ? { ...reply, content: { ...problemResponse(codes).content, ...reply.content } } : reply;
  }
  if (spreadOperations.has(route.operationId)) all[partlyStatus] = partlyResponse(route, summary);
  return all;
}

function register(registry: OpenAPIRegistry, route: Route): void {
  const { body, summary } = route;
  const resource = resourceOf(route);
  registry.registerPath({
    method: route.method,
    path: `${apiPrefix}${route.path}`,
    operationId: route.operationId,
    tags: [route.tag, ...(resource ? [resource.name] : [])],
    summary,
    ...(route.description !== undefined && { description: route.description }),
    request: {
      ...(route.params && { params: route.params }),
      query: route.query,
      ...(body && {
        body: {
          required: !body.safeParse({}).success,
          content: { 'application/json': { schema: body, example: examplesOf(route).body ?? {} } },
        },
      }),
    },
    responses: responses(registry, route, summary),
  });
}

const descriptionsOf = new WeakMap<readonly Route[], OpenApiDocument>();

/**
 * The OpenAPI 3.1 description of a list of operations. All simulators of a process share the result: do not change it.
 * @param version `info.version`
 */
export function describeApi(routes: readonly Route[], version: string): OpenApiDocument {
  const cached = descriptionsOf.get(routes);
  if (cached?.info.version === version) return cached;
  const document = describe(routes, version);
  descriptionsOf.set(routes, document);
  return document;
}

function describe(routes: readonly Route[], version: string): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.register('Problem', problemSchema());
  // registered before its first use: otherwise the component would get the description and nullability of that use
  registry.register('Writer', writerSchema);
  registry.registerComponent('headers', 'RequestId', {
    description: 'Identity of the request, as in problems and in the log.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '0f8fad5b-d9cb-469f-a165-70867728950e',
  });
  for (const route of routes) register(registry, route);
  const usedTags = new Set(routes.map((route) => route.tag));
  const usedResources = resources.filter((resource) => routes.some((route) => resourceOf(route) === resource));
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'derbench',
      version,
      description:
        'Control and telemetry of simulated distributed energy resources. Positive active power is injected ' +
        'into the grid, positive reactive power is over-excited. Quantities that a device does not have are null. ' +
        'Errors are `application/problem+json` (RFC 9457). HEAD works where GET does.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    // there is no authentication
    security: [],
    tags: tags
      .filter((tag) => usedTags.has(tag))
      .flatMap((name) => [
        { name, description: descriptions[name] },
        ...usedResources.filter(({ group }) => group === name),
      ])
      .map(({ name, description }) => ({ name, description })),
    'x-tagGroups': tags
      .filter((tag) => usedTags.has(tag))
      .map((name) => {
        const resourceTags = usedResources.filter(({ group }) => group === name).map((each) => each.name);
        return {
          name,
          tags: routes.some((route) => route.tag === name && !resourceOf(route))
            ? [name, ...resourceTags]
            : resourceTags,
        };
      }),
  });
  const schemas = finishSchemas(document.components?.schemas ?? {}) as NonNullable<
    OpenApiDocument['components']
  >['schemas'];
  return { ...document, components: { ...document.components, ...(schemas && { schemas }) } };
}
