/** All operations of the interface with its pages: loaded with the first request that needs them. */
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { createHttpGuard } from '../../core/http/http-guard.ts';
import { lazily } from '../../core/lazy.ts';
import { mountCsipPage, mountDocs } from '../description/docs.ts';
import type { OpenApiDocument } from '../description/openapi.ts';
import { countAnswers } from '../metrics/answer-counts.ts';
import { allRoutes } from '../routes.ts';
import { createAdmission } from './admission.ts';
import type { RouteContext } from './context.ts';
import { answerError, mountRoutes } from './dispatch.ts';
import { describeError } from './errors.ts';
import { parseQuery, pathRefusal, routeTableOf } from './paths.ts';
import { sendBytes, sendProblem } from './reply.ts';
import type { Route } from './route.ts';

export interface OperationsOptions {
  /** checks every reply against its schema (500 when it does not fit): for tests */
  readonly checkReplies?: boolean;
  /** operations served; default all */
  readonly routes?: readonly Route[];
}

export interface Operations {
  readonly routes: readonly Route[];
  /** routes the requests; tests compare it with the description */
  readonly app: express.Application;
  /** The same operations with the page of the client of IEEE 2030.5. @param host address that it is bound to */
  csipApp(host: string): express.Application;
  /**
   * The OpenAPI description of the operations served; made by the first call, which takes some 0.3 s.
   * @throws Error in the build, which serves the file `openapi.json` instead and lacks the code to make it
   */
  document(): Promise<OpenApiDocument>;
}

export function createOperations(ctx: RouteContext, options: OperationsOptions): Operations {
  const { routes = allRoutes, checkReplies = false } = options;
  // routing and validation do not need the description
  const document = lazily(async () =>
    (await import('../description/openapi.ts')).describeApi(routes, ctx.info.apiVersion),
  );

  function createApp(host: string, mountPages: (app: express.Application) => void): express.Application {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.enable('strict routing');
    app.set('query parser', parseQuery);
    app.enable('case sensitive routing');
    app.use(countAnswers(ctx.answers));
    app.use(ctx.requestLog.middleware());
    app.use(createAdmission(createHttpGuard({ ...ctx.config, host }), ctx));
    mountRoutes(app, routes, { ctx, checkReplies });
    mountPages(app);
    const table = routeTableOf(routes);
    app.use((request: Request, response: Response) => {
      const location = table.withoutSlash(request.originalUrl);
      // status 308 keeps method and body: a POST stays a POST
      if (location !== null) sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: location });
      else sendProblem(response, describeError(pathRefusal(request.path, table.templates)));
    });
    app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
      if (response.headersSent) next(error);
      else answerError(response, error, ctx.requestLog);
    });
    return app;
  }

  return {
    routes,
    app: createApp(ctx.config.host, (app) => {
      mountDocs(app, document);
    }),
    csipApp: (host) => createApp(host, mountCsipPage),
    document,
  };
}
