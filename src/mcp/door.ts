/** The generic door to the rest of the API. */
import { z } from 'zod';
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { Description, Operation } from './description.ts';
import { outwardPart, outwardRefusal, refused } from './outward.ts';
import { acts, fromPeer, reads, tool } from './tool.ts';
import type { Tool, ToolContext } from './tool.ts';

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** Every segment is of plain characters: no query, no host, no step upwards, encoded or not. */
const segment = /^(?!\.{1,2}$)[A-Za-z0-9_.,:~-]+$/;

/** The path after `/api/sim/`. @throws DerbenchError `validation` */
export function apiPath(text: string): string {
  const path = text.replace(/^\/api\/sim\//, '');
  const detail =
    'must be a path below /api/sim/ of plain segments such as controls/time; the query is a member of its own';
  if (!path.split('/').every((each) => segment.test(each)))
    throw new DerbenchError({ code: 'validation', detail: `path: ${detail}`, issues: [{ name: '/path', detail }] });
  return path;
}

/** @throws DerbenchError `refused-by-mcp` */
function checkRequest(method: string, path: string, body: unknown, context: ToolContext): void {
  const { isReadOnly, outwardSettings } = context;
  if (method === 'GET') return;
  if (isReadOnly) throw refused('this server was started with --read-only: GET only', '/method');
  if (path === 'stop') throw refused('the simulator is stopped by the person who started it', '/path');
  if (outwardSettings === null) return;
  const member = outwardPart(path, body, outwardSettings);
  if (member !== null) throw outwardRefusal(member);
}

const send: Readonly<
  Record<
    (typeof methods)[number],
    (
      client: Client,
      path: string,
      query: Readonly<Record<string, string | number | boolean>>,
      body: unknown,
    ) => Promise<unknown>
  >
> = {
  GET: (client, path, query) => client.get(path, { query }),
  POST: (client, path, query, body = {}) => client.post(path, { query, body }),
  PATCH: (client, path, query, body = {}) => client.patch(path, { query, body }),
  DELETE: (client, path, query) => client.delete(path, { query }),
};

const apiInput = {
  method: z.enum(methods).default('GET'),
  path: z.string().describe('below /api/sim/, such as controls/battery'),
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  body: z.unknown().optional(),
};

const api = (isReadOnly: boolean) =>
  tool({
    name: 'api',
    description: `Any other request of the REST interface${isReadOnly ? ' (GET only)' : ''}; find it with api_search.`,
    input: {
      ...apiInput,
      ...(isReadOnly && { method: z.literal('GET').default('GET') as unknown as typeof apiInput.method }),
    },
    output: { path: z.string(), from_peer: fromPeer },
    annotations: isReadOnly ? reads : acts,
    async run({ method, path: given, query, body }, context) {
      const path = apiPath(given);
      checkRequest(method, path, body, context);
      const answer = await send[method](context.client, path, query, body);
      return {
        sentence: `${method} ${path} was answered.`,
        data: { path, from_peer: answer },
        narrower: 'api with a query that selects less',
      };
    },
  });

/** Members of a body with their meaning. */
function bodyOf({ requestBody }: Operation, { components }: Description): Readonly<Record<string, string>> {
  const schema = requestBody?.content['application/json']?.schema;
  const whole = schema?.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1) ?? ''];
  const members = Object.entries(whole?.properties ?? {});
  return Object.fromEntries(
    members.map(([name, { description = '', type }]) => [name, `${String(type)}: ${description}`]),
  );
}

const maxHits = 8;

/** Words of the path and the summary count more than those of the description. */
function score(path: string, { summary, description = '' }: Operation, words: readonly string[]): number {
  const head = `${path} ${summary}`.toLowerCase();
  const rest = description.toLowerCase();
  return words.reduce((sum, word) => sum + (head.includes(word) ? 3 : rest.includes(word) ? 1 : 0), 0);
}

const apiSearch = tool({
  name: 'api_search',
  description: 'Finds requests of the REST interface by words such as "battery charge".',
  input: { words: z.string().min(2).max(200) },
  output: {
    operations: z.array(
      z.object({
        method: z.string(),
        path: z.string(),
        summary: z.string(),
        query: z.array(z.string()),
        body: z.record(z.string(), z.string()),
      }),
    ),
  },
  annotations: reads,
  async run({ words }, { description: load, isReadOnly, signal }) {
    const description = await load(signal);
    const terms = words
      .toLowerCase()
      .split(/[^\p{L}\p{N}_]+/u)
      .filter((word) => word.length > 1);
    const hits = Object.entries(description.paths)
      .flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
      )
      .filter(({ path, method }) => path !== '/api/sim/stop' && (!isReadOnly || method === 'GET'))
      .map((hit) => ({ ...hit, score: score(hit.path, hit.operation, terms) }))
      .filter((hit) => hit.score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, maxHits);
    const operations = hits.map(({ path, method, operation }) => ({
      method,
      path: path.replace('/api/sim/', ''),
      summary: operation.summary,
      query: (operation.parameters ?? []).flatMap(({ name, in: place }) => (place === 'query' ? name : [])),
      body: bodyOf(operation, description),
    }));
    const texts = operations.map(({ method, path, summary }) => `${method} ${path} (${summary})`);
    return {
      sentence: texts.length === 0 ? 'No request has these words.' : `${texts.join('; ')}.`,
      data: { operations },
      narrower: 'api_search with more words',
    };
  },
});

export const doorTools = (isReadOnly: boolean): readonly Tool[] => [api(isReadOnly), apiSearch];
