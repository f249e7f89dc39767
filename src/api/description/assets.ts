/** Serves the scripts and the style sheet of the dashboard. */
import { extname } from 'node:path';
import type { Application } from 'express';
import { refuseMethod } from '../http/dispatch.ts';
import { sendBytes } from '../http/reply.ts';

export const script = 'text/javascript; charset=utf-8';
export const css = 'text/css; charset=utf-8';

const mediaTypes: Readonly<Record<string, string>> = { '.js': script, '.css': css };

/** The name of an asset has the hash of its content, so that browsers keep it for good. */
const kept = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** Mounts `/assets/`; a name that the build has not made is no path. */
export function mountAssets(
  app: Application,
  assets: () => ReadonlyMap<string, Buffer>,
  headers: Readonly<Record<string, string>>,
): void {
  app
    .route('/assets/:name')
    .all((request, _response, next) => {
      next(assets().has(request.params.name) ? undefined : 'route');
    })
    .get((request, response) => {
      const { name } = request.params;
      const type = mediaTypes[extname(name)] ?? 'application/octet-stream';
      sendBytes(response, 200, type, assets().get(name) ?? Buffer.alloc(0), { ...headers, ...kept });
    })
    .all((request, response) => {
      refuseMethod(request, response, 'GET, HEAD');
    });
}
