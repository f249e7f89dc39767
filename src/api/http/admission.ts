import type { Socket } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { HttpGuard } from '../../core/http/http-guard.ts';
import { commonHeaders } from '../../core/http/problem.ts';
import type { ApiLimits, RouteContext } from './context.ts';
import { describeError, HttpProblem } from './errors.ts';
import { requestId, sendProblem } from './reply.ts';
import { apiPrefix } from './route.ts';

/** Methods of all operations together. */
export const servedMethods = 'GET, HEAD, POST, PATCH, DELETE';

const readMethods = new Set(['GET', 'HEAD']);
/** Maximum of requests that one connection may send ahead of their answers. */
const maxPipelined = 32;
/** Paths that stay reachable while the process ends. */
const whileStopping = new Set([`${apiPrefix}/stop`, `${apiPrefix}/health`]);

/** Reason to refuse a request while the process ends; null: it is served. @param path with the prefix */
export function stoppingRefusal({ stopDelayS }: Pick<RouteContext, 'stopDelayS'>, path: string): HttpProblem | null {
  if (stopDelayS === null || whileStopping.has(path)) return null;
  return new HttpProblem('stopping', 'The simulator is stopping.', { close: true });
}

/** Reason to refuse the target of a request; null: a path with or without a query. */
export function addressRefusal(url: string, maxBytes: number): HttpProblem | null {
  if (url.length > maxBytes)
    return new HttpProblem('uri-too-long', `The address is longer than ${maxBytes} bytes.`, { close: true });
  if (!url.startsWith('/') || url.includes('#'))
    return new HttpProblem('malformed-request', 'The request target must be a path.', { close: true });
  return null;
}

function setCors(response: Response, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'Location, X-Request-Id');
}

function answerPreflight(response: Response, origin: string | undefined): void {
  if (origin === undefined) {
    sendProblem(response, {
      code: 'cross-origin',
      detail: 'Pages of other origins are not served. Origins are admitted with --cors_origin.',
    });
    return;
  }
  setCors(response, origin);
  response.writeHead(204, {
    ...commonHeaders,
    'X-Request-Id': requestId(response.req),
    'Access-Control-Allow-Methods': servedMethods,
    'Access-Control-Allow-Headers': 'Content-Type, X-Derbench-Client',
    'Access-Control-Max-Age': '600',
  });
  response.end();
}

function checkSource(guard: HttpGuard, request: Request): ReturnType<HttpGuard['checkRead']> {
  return readMethods.has(request.method) ? guard.checkRead(request) : guard.checkOrigin(request);
}

interface Counter {
  /** Counts a pending answer until it is closed. @returns how many are pending on the connection */
  add(socket: Socket, response: Response): number;
}

/** All requests of one TCP segment arrive before the first answer leaves: only a count bounds the pending ones. */
function createCounter(): Counter {
  const counts = new WeakMap<Socket, number>();
  return {
    add(socket, response) {
      const count = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, count);
      response.once('close', () => counts.set(socket, (counts.get(socket) ?? 1) - 1));
      return count;
    },
  };
}

/**
 * Calls `run` when all earlier answers of the connection are sent, so that no answer is made before it can be sent.
 * `run` is not called if the connection ends first, or if an error in the body has been answered meanwhile.
 */
function inTurn(response: Response, run: () => void): void {
  if (response.socket) run();
  // in its own turn of the event loop: a long row of requests must not delay other connections
  else
    response.once('socket', () => {
      setImmediate(() => {
        if (!response.headersSent && !response.destroyed) run();
      });
    });
}

interface AdmissionContext extends Pick<RouteContext, 'stopDelayS'> {
  readonly config: { readonly limits: Pick<ApiLimits, 'maxUrlBytes'> };
}

/** The checks before routing: length of the address, number of pending answers, host, origin, stopping. */
export function createAdmission(guard: HttpGuard, ctx: AdmissionContext): RequestHandler {
  const { maxUrlBytes } = ctx.config.limits;
  const unanswered = createCounter();

  function pass(request: Request, response: Response, next: NextFunction): void {
    const origin = guard.corsOrigin(request);
    const isPreflight = request.method === 'OPTIONS' && request.headers.origin !== undefined;
    const refusal = guard.checkHost(request) ?? (isPreflight ? null : checkSource(guard, request));
    if (refusal) {
      sendProblem(response, refusal);
      return;
    }
    if (isPreflight) {
      answerPreflight(response, origin);
      return;
    }
    if (origin !== undefined) setCors(response, origin);
    const stopping = stoppingRefusal(ctx, request.path);
    if (stopping) sendProblem(response, describeError(stopping));
    else next();
  }

  return (request: Request, response: Response, next: NextFunction) => {
    const address = addressRefusal(request.url, maxUrlBytes);
    if (address) {
      sendProblem(response, describeError(address));
      return;
    }
    if (unanswered.add(request.socket, response) > maxPipelined) {
      const detail = `More than ${maxPipelined} requests wait for their answers on this connection.`;
      sendProblem(response, { code: 'too-many-requests', detail, close: true });
      return;
    }
    inTurn(response, () => {
      pass(request, response, next);
    });
  };
}
