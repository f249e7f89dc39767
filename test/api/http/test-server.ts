import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { HttpProblem } from '../../../src/api/http/errors.ts';
import { Answer, route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { z } from '../../../src/api/description/zod.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import type { ContextOptions } from '../../support/api-context.ts';
import type { Json, RawAnswer } from '../../support/http.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} } } as const;

const anything = z.looseObject({});

const failures: Record<string, () => Error> = {
  unexpected: () => new TypeError('at /secret/path.js in node_modules/express'),
  internal: () => new SimError('INTERNAL', '/secret/path.js'),
  conflict: () => new SimError('COMMAND_CONFLICT', 'the breaker is open'),
  unsupported: () => new SimError('MAP_NOT_SUPPORTED', '705.Ena: not a function of this device'),
  readOnly: () => new SimError('MAP_READ_ONLY', '701.W is read only', [{ name: '701.W', detail: 'read only' }]),
  queue: () => new SimError('COMMAND_QUEUE_FULL', '64 commands wait'),
  stopping: () => new SimError('STOPPING', 'shutting down'),
  upstream: () => new HttpProblem('upstream-error', 'exception 2'),
};

export const routes = [
  route({
    ...base,
    method: 'get',
    path: '/thing',
    operationId: 'get_thing',
    reply: anything,
    handle: () => ({ ok: true }),
  }),
  route({
    ...base,
    method: 'post',
    path: '/thing',
    operationId: 'set_thing',
    body: z.strictObject({
      value: z.number().min(0).max(10).optional(),
      kind: z.enum(['a', 'b']).optional(),
      tree: z.unknown().optional(),
    }),
    reply: anything,
    handle: (_ctx, { body, by }) => ({ body, source: by.source }),
  }),
  route({
    ...base,
    method: 'get',
    path: '/fail/{how}',
    operationId: 'fail',
    params: z.strictObject({ how: z.string() }),
    reply: anything,
    handle(_ctx, { params }) {
      throw failures[params.how]?.() ?? new Error('unknown');
    },
  }),
  route({
    ...base,
    method: 'get',
    path: '/wrong',
    operationId: 'wrong',
    reply: z.strictObject({ n: z.number() }),
    handle: () => ({ n: 'x' as unknown as number }),
  }),
  route({
    ...base,
    method: 'post',
    path: '/stop',
    operationId: 'stop',
    reply: anything,
    status: 202,
    handle: (ctx) => new Answer({ delay: ctx.beginStop(0) }),
  }),
];

export const plant = { devices: [] } as unknown as Plant;

const opened: Api[] = [];

export async function serve(options: Partial<ContextOptions> = {}): Promise<{ api: Api; port: number }> {
  const api = createApi(apiContext({ plant, ...options }), { routes, checkReplies: true });
  opened.push(api);
  const { port } = await api.start();
  return { api, port };
}

export function expectProblem(answer: RawAnswer, status: number, code: string): Json {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/problem+json');
  expect(answer.headers['cache-control']).to.equal('no-store');
  expect(answer.headers['x-content-type-options']).to.equal('nosniff');
  const problem = JSON.parse(answer.text);
  expect(problem).to.include({ status, code, type: `urn:derbench:problem:${code}` });
  expect(problem['request_id']).to.equal(answer.headers['x-request-id']);
  expect(problem['detail']).to.be.a('string').that.is.not.empty;
  expect(answer.text).not.to.match(/node_modules|express|zod|secret|\.[jt]s\b/i);
  return problem;
}

export const close = () => Promise.all(opened.splice(0).map((api) => api.stop()));
