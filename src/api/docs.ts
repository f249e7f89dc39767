import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { Router } from 'express';
import type { Application, NextFunction, Request, Response } from 'express';
import swaggerUi from 'swagger-ui-express';
import { refuseMethod } from './dispatch.ts';
import { offlineRedoc } from './redoc.ts';
import { requestId, sendBytes } from './reply.ts';

const basePolicy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const docsStyle = "style-src 'self' 'unsafe-inline'; img-src 'self' data:";

function pageHeaders(policy: string): Record<string, string> {
  return {
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}
const plainHeaders = pageHeaders(basePolicy);
const docsHeaders = pageHeaders(`${basePolicy}; ${docsStyle}`);
const redocHeaders = pageHeaders(`${basePolicy}; ${docsStyle}; worker-src 'self' blob:`);

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';

function page(name: string): Buffer {
  return readFileSync(new URL(`./pages/${name}`, import.meta.url));
}

/** The bundle that the build has copied; from sources, the one of the development dependency. */
function redocBundle(): Buffer {
  try {
    return page('redoc.standalone.js');
  } catch {
    const path = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');
    return Buffer.from(offlineRedoc(readFileSync(path, 'utf8')));
  }
}

type File = () => { readonly type: string; readonly bytes: Buffer; readonly headers: Record<string, string> };

/** One file of the fixed table, read when it is first asked for. */
function file(type: string, read: () => Buffer, headers: Record<string, string>): File {
  let bytes: Buffer | undefined;
  return () => ({ type, bytes: bytes ??= read(), headers });
}

const files: Readonly<Record<string, File>> = {
  '/': file(html, () => page('index.html'), plainHeaders),
  '/pages.css': file(css, () => page('pages.css'), plainHeaders),
  '/redoc': file(html, () => page('redoc.html'), redocHeaders),
  '/redoc.standalone.js': file(script, redocBundle, plainHeaders),
};

/** Nothing else of the package is served; its own index page asks a foreign host for its document. */
const swaggerFiles = new Set([
  '/swagger-ui.css', '/swagger-ui-bundle.js', '/swagger-ui-standalone-preset.js', '/swagger-ui-init.js',
  '/favicon-16x16.png', '/favicon-32x32.png',
]);

function mountSwagger(app: Application): void {
  const setup = swaggerUi.setup(undefined, {
    customSiteTitle: 'derbench API',
    swaggerOptions: {
      url: '/openapi.json', tryItOutEnabled: true, queryConfigEnabled: false, validatorUrl: null, deepLinking: true,
    },
  });
  const docs = Router();
  docs.use((request: Request, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      refuseMethod(request, response, 'GET, HEAD');
    } else if (request.originalUrl.split('?')[0] === '/docs') {
      sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: '/docs/' });
    } else if (request.path !== '/' && !swaggerFiles.has(request.path)) {
      next('router');
    } else {
      response.set({
        ...docsHeaders, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store', 'X-Request-Id': requestId(request),
      });
      next();
    }
  });
  docs.get('/', setup);
  docs.use(...swaggerUi.serve);
  app.use('/docs', docs);
}

/**
 * The documentation pages and the landing page. All they need is served from here.
 * @param openapi JSON text of the description
 */
export function mountDocs(app: Application, openapi: Buffer): void {
  const table: Readonly<Record<string, File>> = {
    ...files, '/openapi.json': file('application/json', () => openapi, plainHeaders),
  };
  for (const [path, read] of Object.entries(table)) {
    app.route(path)
      .get((_request: Request, response: Response) => {
        const { type, bytes, headers } = read();
        sendBytes(response, 200, type, bytes, headers);
      })
      .all((request: Request, response: Response) => refuseMethod(request, response, 'GET, HEAD'));
  }
  mountSwagger(app);
}
