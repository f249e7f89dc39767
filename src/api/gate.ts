import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { HttpGuard } from '../core/http-guard.ts';
import type { RouteContext } from './context.ts';
import { sendProblem } from './reply.ts';
import { apiPrefix } from './route.ts';

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What stays reachable while the process ends: asking again to stop, and asking how it is. */
const whileStopping = new Set([`${apiPrefix}/stop`, `${apiPrefix}/health`]);

function setCors(response: Response, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'Location, X-Request-Id');
}

function answerPreflight(response: Response, origin: string | undefined): void {
  if (origin === undefined) {
    sendProblem(response, {
      code: 'cross-origin', detail: 'Pages of other origins are not served. Origins are admitted with --cors_origin.',
    });
    return;
  }
  setCors(response, origin);
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': 'Content-Type, X-Derbench-Client',
    'Access-Control-Max-Age': '600',
    'Cache-Control': 'no-store',
  });
  response.end();
}

/** Everything that is decided before an operation is looked for: address length, host, origin, stopping. */
export function createGate(guard: HttpGuard, ctx: RouteContext): RequestHandler {
  const { maxUrlBytes } = ctx.config.limits;
  return (request: Request, response: Response, next: NextFunction) => {
    if (request.url.length > maxUrlBytes) {
      sendProblem(response, { code: 'uri-too-long', detail: `The address is longer than ${maxUrlBytes} bytes.`, close: true });
      return;
    }
    if (!request.url.startsWith('/')) {
      sendProblem(response, { code: 'malformed-request', detail: 'The request target must be a path.', close: true });
      return;
    }
    const refusal = guard.checkHost(request) ?? (readMethods.has(request.method) ? null : guard.checkOrigin(request));
    if (refusal) {
      sendProblem(response, refusal);
      return;
    }
    const origin = guard.corsOrigin(request);
    if (request.method === 'OPTIONS' && request.headers.origin !== undefined) {
      answerPreflight(response, origin);
      return;
    }
    if (origin !== undefined) setCors(response, origin);
    if (ctx.stopDelayS !== null && !whileStopping.has(request.path)) {
      sendProblem(response, { code: 'stopping', detail: 'The simulator is stopping.', close: true });
      return;
    }
    next();
  };
}
