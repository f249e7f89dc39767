import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { ResponseConfig } from '@asteasolutions/zod-to-openapi';
import { createProblem, problemTable } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { groupBy } from './group-by.ts';
import { apiPrefix, tags } from './route.ts';
import type { Route } from './route.ts';
import { problemSchema } from './schemas/common.ts';
import { z } from './zod.ts';

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

const descriptions: Readonly<Partial<Record<(typeof tags)[number], string>>> = {
  Core: 'Telemetry, overview, server-info, devices, history, commands, logs, health, registers.',
  Controls: 'Grid, environment, time, nameplate, configured settings, stop.',
  'DC I/V': 'DC-side curves.',
};

/** Problems that follow from the shape of an operation, and those that it names itself. */
function problemsOf(route: Route): ProblemCode[] {
  const codes = new Set<ProblemCode>(['misdirected-host', 'validation', 'internal', 'stopping', ...route.problems ?? []]);
  if ('device' in route.query.shape) codes.add('unknown-device');
  if (route.method === 'post') {
    for (const code of ['malformed-json', 'cross-origin', 'too-large', 'unsupported-media-type'] as const) codes.add(code);
  }
  return [...codes].sort((a, b) => problemTable[a].status - problemTable[b].status);
}

function exampleProblem(code: ProblemCode, route: Route) {
  const request = { instance: `${apiPrefix}${route.path}`, id: '0f8fad5b-d9cb-469f-a165-70867728950e' };
  const errors = code === 'validation'
    ? [{ in: 'query' as const, name: 'device', detail: 'must be an integer' }] : undefined;
  return { value: createProblem(code, errors?.[0] ? `${errors[0].name}: ${errors[0].detail}` : `${problemTable[code].title}.`, request, errors) };
}

function problemResponses(route: Route): Record<string, ResponseConfig> {
  const byStatus = groupBy(problemsOf(route), (code) => problemTable[code].status);
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, {
    description: codes.map((code) => `\`${code}\`: ${problemTable[code].title}.`).join(' '),
    content: {
      'application/problem+json': {
        schema: problemSchema,
        examples: Object.fromEntries(codes.map((code) => [code, exampleProblem(code, route)])),
      },
    },
  }]));
}

function replyResponse(route: Route, status: number): ResponseConfig {
  const { otherMedia } = route;
  return {
    description: status === 202 ? 'Queued.' : status === route.status ? 'The resource.' : 'The resource, in an unhealthy state.',
    content: {
      'application/json': { schema: route.reply, example: route.examples.reply },
      ...(otherMedia && { [otherMedia.type]: { schema: z.string(), example: otherMedia.example } }),
    },
  };
}

function responses(route: Route): Record<string, ResponseConfig> {
  const all: Record<string, ResponseConfig> = problemResponses(route);
  for (const status of [route.status, ...route.alsoStatus ?? []]) {
    const reply = replyResponse(route, status);
    // one status may carry either body, told apart by the media type
    all[status] = { ...reply, content: { ...all[status]?.content, ...reply.content } };
  }
  return all;
}

function register(registry: OpenAPIRegistry, route: Route): void {
  const { body, examples } = route;
  registry.registerPath({
    method: route.method,
    path: `${apiPrefix}${route.path}`,
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    request: {
      ...(route.params && { params: route.params }),
      query: route.query,
      ...(body && {
        body: {
          required: !body.safeParse({}).success,
          content: { 'application/json': { schema: body, example: examples.body ?? {} } },
        },
      }),
    },
    responses: responses(route),
  });
}

/**
 * The OpenAPI 3.1 description of a list of operations; nothing but the list decides what is in it.
 * @param version `info.version`
 */
export function describeApi(routes: readonly Route[], version: string): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  for (const route of routes) register(registry, route);
  const used = new Set(routes.map((route) => route.tag));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'derbench',
      version,
      description: 'Control and telemetry of simulated distributed energy resources. Positive active power is injected '
        + 'into the grid, positive reactive power is over-excited. Quantities that a device does not have are null. '
        + 'Errors are `application/problem+json` (RFC 9457).',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tags.filter((tag) => used.has(tag)).map((name) => ({ name, description: descriptions[name] ?? name })),
  });
}
