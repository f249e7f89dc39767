import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type SwaggerUi from 'swagger-ui-express';
import type { Application, Request, RequestHandler, Response } from 'express';
import { lazily, memo } from '../../core/lazy.ts';
import { commonHeaders } from '../../core/http/problem.ts';
import { refuseMethod } from '../http/dispatch.ts';
import { requestId, sendBytes } from '../http/reply.ts';
import { css, mountAssets, script } from './assets.ts';
import { readBuilt, sourcePage } from './built-files.ts';
import type { OpenApiDocument } from './openapi.ts';
import { readUi } from './ui-files.ts';

/** The only image that the bundle would fetch from a foreign host. */
const outsideImage = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/**
 * The bundle without outside requests.
 * @throws Error when the bundle does not contain the expected address
 */
export function offlineRedoc(bundle: string): string {
  if (!bundle.includes(outsideImage)) throw new Error('the redoc bundle has changed: check it for outside requests');
  return bundle.replaceAll(outsideImage, 'data:,');
}

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
const png = 'image/png';

/**
 * Files of Swagger UI that are served: its index page would load a document from a foreign host, and its file handler
 * would answer conditional and range requests with errors of another form.
 */
export const swaggerAssets: Readonly<Record<string, string>> = {
  'swagger-ui.css': css,
  'swagger-ui-bundle.js': script,
  'favicon-16x16.png': png,
  'favicon-32x32.png': png,
};

const require = createRequire(import.meta.url);
const { resolve } = require;

const redocBundle = () =>
  readBuilt('./pages/redoc.standalone.js', () =>
    Buffer.from(offlineRedoc(readFileSync(resolve('redoc/bundles/redoc.standalone.js'), 'utf8'))),
  );

interface File {
  readonly type: string;
  readonly headers: Record<string, string>;
  /** Reads the file at the first call. */
  bytes(): Promise<Buffer>;
}

function file(type: string, read: () => Buffer | Promise<Buffer>, headers: Record<string, string>): File {
  let bytes: Buffer | undefined;
  return {
    type,
    headers,
    async bytes() {
      return (bytes ??= await read());
    },
  };
}

function swaggerFile(name: string, type: string): File {
  const read = () => readBuilt(`./pages/${name}`, () => readFileSync(resolve(`swagger-ui-dist/${name}`)));
  return file(type, read, docsHeaders);
}

/**
 * The whole dashboard, read at the first request for a part of it: a later build in the same folder has other names, and
 * pages would not find their scripts.
 */
const ui = memo(() => readUi(['./ui/', '../../../dist/ui/'].map((path) => new URL(path, import.meta.url))));

/** A page of the dashboard; without a build a page that asks for one. */
function uiPage(name: string): File {
  return file(html, () => ui().pages.get(name) ?? sourcePage('index.html'), plainHeaders);
}

const files: Readonly<Record<string, File>> = {
  '/': uiPage('index.html'),
  '/index.html': uiPage('index.html'),
  '/pages.css': file(css, () => sourcePage('pages.css'), plainHeaders),
  '/llms.txt': file('text/plain; charset=utf-8', () => sourcePage('llms.txt'), plainHeaders),
  '/redoc': file(html, () => sourcePage('redoc.html'), redocHeaders),
  '/redoc.js': file(script, () => sourcePage('redoc.js'), plainHeaders),
  '/redoc.standalone.js': file(script, redocBundle, plainHeaders),
  '/docs/': file(html, () => sourcePage('docs.html'), docsHeaders),
  '/docs/swagger-ui-standalone-preset.js': file(script, () => sourcePage('docs-layout.js'), docsHeaders),
  '/docs/derbench.js': file(script, () => sourcePage('docs.js'), docsHeaders),
  '/docs/derbench.css': file(css, () => sourcePage('docs.css'), docsHeaders),
  ...swaggerFiles(),
};

function swaggerFiles(): Record<string, File> {
  return Object.fromEntries(
    Object.entries(swaggerAssets).map(([name, type]) => [`/docs/${name}`, swaggerFile(name, type)]),
  );
}

/** Mounts a page or file; methods other than GET and HEAD are refused. */
function mountRead(app: Application, path: string, ...handlers: RequestHandler[]): void {
  app
    .route(path)
    .get(...handlers)
    .all((request: Request, response: Response) => refuseMethod(request, response, 'GET, HEAD'));
}

/** Globals that `pages/docs.js` defines in the browser. */
interface Pages {
  derbenchPages(): (system: unknown) => object;
}

/**
 * The script that starts Swagger UI with its settings. The package, whose own page is not valid HTML, is loaded at the
 * first request, because most runs never need it.
 */
function loadSwaggerScript(): RequestHandler {
  const swaggerUi = require('swagger-ui-express') as typeof SwaggerUi;
  // keeps the settings for the handler of the script
  swaggerUi.setup(undefined, {
    swaggerOptions: {
      url: '/openapi.json',
      tryItOutEnabled: true,
      queryConfigEnabled: false,
      validatorUrl: null,
      deepLinking: true,
      docExpansion: 'none',
      filter: true,
      // sent to the browser as text, and called there
      plugins: [(system: unknown) => (globalThis as unknown as Pages).derbenchPages()(system)],
    },
  });
  // the first handler serves the configured script; the later handlers would serve the whole package
  const [script] = swaggerUi.serve;
  if (script === undefined) throw new Error('swagger-ui-express has changed: it serves nothing');
  return script;
}

function mountSwagger(app: Application): void {
  const loaded = lazily(loadSwaggerScript);
  const serveScript: RequestHandler = async (request, response, next) => {
    const handler = await loaded();
    await handler(request, response, next);
  };
  const withHeaders: RequestHandler = (request, response, next) => {
    response.set({ ...commonHeaders, ...docsHeaders, 'X-Request-Id': requestId(request) });
    next();
  };
  mountRead(app, '/docs', (_request, response) => {
    sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: '/docs/' });
  });
  mountRead(app, '/docs/swagger-ui-init.js', withHeaders, serveScript);
}

/**
 * The documentation pages and the landing page; everything they load is served from here.
 * @param document the OpenAPI description; not called before the first request for it
 */
export function mountDocs(app: Application, document: () => Promise<OpenApiDocument>): void {
  const table: Readonly<Record<string, File>> = {
    ...files,
    '/openapi.json': file(
      'application/json',
      // generating it takes some 0.3 s, in which nothing else is served
      () => readBuilt('./openapi.json', async () => Buffer.from(`${JSON.stringify(await document())}\n`)),
      plainHeaders,
    ),
  };
  mountFiles(app, table);
  mountAssets(app, () => ui().assets, plainHeaders);
  mountSwagger(app);
}

const csipFiles: Readonly<Record<string, File>> = {
  '/': uiPage('csip.html'),
  '/index.html': uiPage('csip.html'),
  '/favicon.png': swaggerFile('favicon-32x32.png', png),
};

/** The management page of the client of IEEE 2030.5, at a separate address. */
export function mountCsipPage(app: Application): void {
  mountFiles(app, csipFiles);
  mountAssets(app, () => ui().assets, plainHeaders);
}

function mountFiles(app: Application, table: Readonly<Record<string, File>>): void {
  for (const [path, served] of Object.entries(table)) {
    mountRead(app, path, async (_request, response) => {
      sendBytes(response, 200, served.type, await served.bytes(), served.headers);
    });
  }
}
