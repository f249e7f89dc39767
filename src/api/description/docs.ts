import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Application, Request, RequestHandler, Response } from 'express';
import swaggerUi from 'swagger-ui-express';
import { commonHeaders } from '../../core/http/problem.ts';
import { refuseMethod } from '../http/dispatch.ts';
import { offlineRedoc } from './redoc.ts';
import { requestId, sendBytes } from '../http/reply.ts';

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
const png = 'image/png';

function page(name: string): Buffer {
  return readFileSync(new URL(`./pages/${name}`, import.meta.url));
}

const { resolve } = createRequire(import.meta.url);

/** The bundle that the build has copied; from sources, the one of the development dependency. */
function redocBundle(): Buffer {
  try {
    return page('redoc.standalone.js');
  } catch {
    return Buffer.from(offlineRedoc(readFileSync(resolve('redoc/bundles/redoc.standalone.js'), 'utf8')));
  }
}

type File = () => { readonly type: string; readonly bytes: Buffer; readonly headers: Record<string, string> };

/** One file of the fixed table, read when it is first asked for. */
function file(type: string, read: () => Buffer, headers: Record<string, string>): File {
  let bytes: Buffer | undefined;
  return () => ({ type, bytes: (bytes ??= read()), headers });
}

const files: Readonly<Record<string, File>> = {
  '/': file(html, () => page('index.html'), plainHeaders),
  '/pages.css': file(css, () => page('pages.css'), plainHeaders),
  '/redoc': file(html, () => page('redoc.html'), redocHeaders),
  '/redoc.standalone.js': file(script, redocBundle, plainHeaders),
  ...swaggerFiles(),
};

/**
 * Nothing else of the package is served: its own index page asks a foreign host for its document. The package's
 * handler for them answers conditions and ranges with errors of its own.
 */
function swaggerFiles(): Record<string, File> {
  const types = {
    'swagger-ui.css': css,
    'swagger-ui-bundle.js': script,
    'swagger-ui-standalone-preset.js': script,
    'favicon-16x16.png': png,
    'favicon-32x32.png': png,
  };
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      `/docs/${name}`,
      file(type, () => readFileSync(resolve(`swagger-ui-dist/${name}`)), docsHeaders),
    ]),
  );
}

/** A page or file of the documentation: read only. */
function mountRead(app: Application, path: string, ...handlers: RequestHandler[]): void {
  app
    .route(path)
    .get(...handlers)
    .all((request: Request, response: Response) => refuseMethod(request, response, 'GET, HEAD'));
}

function mountSwagger(app: Application): void {
  const setup = swaggerUi.setup(undefined, {
    customSiteTitle: 'derbench API',
    swaggerOptions: {
      url: '/openapi.json',
      tryItOutEnabled: true,
      queryConfigEnabled: false,
      validatorUrl: null,
      deepLinking: true,
    },
  });
  const withHeaders: RequestHandler = (request, response, next) => {
    response.set({ ...commonHeaders, ...docsHeaders, 'X-Request-Id': requestId(request) });
    next();
  };
  mountRead(app, '/docs', (_request, response) => {
    sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: '/docs/' });
  });
  mountRead(app, '/docs/', withHeaders, setup);
  // the first handler is the script that was set up; those after it would serve the whole package
  mountRead(app, '/docs/swagger-ui-init.js', withHeaders, ...swaggerUi.serve.slice(0, 1));
}

/**
 * The documentation pages and the landing page. All they need is served from here.
 * @param openapi JSON text of the description
 */
export function mountDocs(app: Application, openapi: Buffer): void {
  const table: Readonly<Record<string, File>> = {
    ...files,
    '/openapi.json': file('application/json', () => openapi, plainHeaders),
  };
  for (const [path, read] of Object.entries(table)) {
    mountRead(app, path, (_request, response) => {
      const { type, bytes, headers } = read();
      sendBytes(response, 200, type, bytes, headers);
    });
  }
  mountSwagger(app);
}
