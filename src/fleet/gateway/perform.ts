/** Requests of callers in the process of a gateway, carried out as those over HTTP. */
import type { Origin } from '../../core/origin.ts';
import type { ApiLimits } from '../../api/http/context.ts';
import { replyContent } from '../../api/http/dispatch.ts';
import { HttpProblem, notPrivate } from '../../api/http/errors.ts';
import { createRequestReader, problemOf } from '../../api/http/perform.ts';
import type { Perform, Performed } from '../../api/http/perform.ts';
import { nextRequestId } from '../../api/http/reply.ts';
import { hasBody, StreamedReply } from '../../api/http/route.ts';
import type { Answer, Route } from '../../api/http/route.ts';
import { allRoutes } from '../../api/routes.ts';
import type { StreamedList } from './device-list.ts';
import type { ForwardedReply } from './forward.ts';
import type { OwnRequest } from './own.ts';
import type { ShardRouter } from './router.ts';
import { checkForm } from './serve.ts';

export interface PerformingGateway {
  readonly router: Pick<ShardRouter, 'answer'>;
  /** Answers what the gateway answers itself. */
  readonly own: (request: OwnRequest) => Answer<unknown> | Promise<Answer<unknown>>;
  readonly limits: Pick<ApiLimits, 'maxBodyBytes' | 'maxUrlBytes'>;
}

async function bytesOf(reply: ForwardedReply | StreamedList): Promise<Buffer> {
  if ('bytes' in reply) return reply.bytes;
  const pieces: Buffer[] = [];
  for await (const piece of reply.pieces) pieces.push(piece);
  return Buffer.concat(pieces);
}

function bodyOf(type: string, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  return type.startsWith('application/json') || type.startsWith('application/problem+json')
    ? JSON.parse(bytes.toString())
    : bytes.toString();
}

function ownReply(route: Route, answer: Answer<unknown>): Performed {
  if (answer.body instanceof StreamedReply)
    throw new HttpProblem('fleet-unsupported', 'A gateway gives this answer over HTTP alone.');
  const { type, bytes } = replyContent(route, answer, false);
  return { status: answer.status ?? route.status, body: bodyOf(type, bytes) };
}

/** @returns never rejects, as the one of a simulator */
export function createGatewayPerform({ router, own, limits }: PerformingGateway): Perform {
  const read = createRequestReader(allRoutes, limits);
  const carriedOut = async (request: Parameters<Perform>[0], id: string): Promise<Performed> => {
    const { by, ...asked } = request;
    const { route, raw, url } = read(asked);
    if (route.isPrivate) throw notPrivate();
    checkForm(route, raw);
    const params = raw.params as Readonly<Record<string, string>>;
    const query = raw.query as Readonly<Record<string, unknown>>;
    const bytes = hasBody(route) && raw.body !== undefined ? Buffer.from(JSON.stringify(raw.body)) : Buffer.alloc(0);
    const routed = { route, method: asked.method, path: url, params, query, body: raw.body, bytes, by, id };
    const reply = await router.answer(routed);
    if (reply === null) return ownReply(route, await own(routed));
    const status = 'status' in reply ? reply.status : 200;
    return { status, body: bodyOf(reply.type, await bytesOf(reply)) };
  };
  return async (request: Parameters<Perform>[0] & { readonly by: Origin }) => {
    const id = nextRequestId();
    try {
      return await carriedOut(request, id);
    } catch (error) {
      const body = problemOf(error, request.path, id);
      return { status: body.status, body };
    }
  };
}
