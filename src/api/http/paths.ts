/** Which operation a method and path mean, and how a query is read: with HTTP and without. */
import { parse } from 'node:querystring';
import { groupBy } from '../common/group-by.ts';
import { HttpProblem } from './errors.ts';
import { apiPrefix } from './route.ts';
import type { Route } from './route.ts';

interface RoutePath {
  /** below the prefix, with `{name}` parameters */
  readonly path: string;
  readonly operations: readonly Route[];
  /** its methods, as `Allow` has them */
  readonly allow: string;
}

/** The paths of some routes, in their order: the first that fits a request is meant. */
export function pathsOf(routes: readonly Route[]): readonly RoutePath[] {
  return [...groupBy(routes, (route) => route.path)].map(([path, operations]) => ({
    path,
    operations,
    allow: operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : ['POST'])).join(', '),
  }));
}

/** A path without the method of a request. */
export function methodRefusal(method: string, allow: string): HttpProblem {
  return new HttpProblem('method-not-allowed', `${method} is not possible here; ${allow} is.`);
}

/** The stream serves upgrades of these paths; a plain request for them gets a hint. */
const streamPaths = new Set([`${apiPrefix}/ws/telemetry`, `${apiPrefix}/telemetry/ws`]);

/** A path that no operation has. */
export function pathRefusal(path: string): HttpProblem {
  const hint = streamPaths.has(path) ? ' but the telemetry stream, which is a WebSocket' : '';
  return new HttpProblem('not-found', `There is nothing at ${path.slice(0, 200)}${hint}.`);
}

/** The parameters of a query. The length of the address bounds them: a limit of the parser would drop the later ones. */
export function parseQuery(text: string): unknown {
  return parse(text, '&', '=', { maxKeys: 0 });
}

/** An operation, and the parameters in its path. */
export interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds operations as the router of the HTTP server does. */
export class RouteTable {
  readonly #paths: readonly (RoutePath & { readonly pattern: RegExp })[];

  constructor(routes: readonly Route[]) {
    this.#paths = pathsOf(routes).map((each) => ({ ...each, pattern: patternOf(apiPrefix + each.path) }));
  }

  /**
   * The operation of a method and path.
   * @param path with the prefix, without a query
   * @throws HttpProblem `not-found`, `method-not-allowed`; URIError for an invalid escape in a parameter
   */
  find(method: string, path: string): Found {
    for (const { pattern, operations, allow } of this.#paths) {
      const groups = pattern.exec(path);
      if (groups === null) continue;
      const given = Object.entries(groups.groups ?? {});
      const params = Object.fromEntries(given.map(([name, text]) => [name, decodeURIComponent(text)]));
      const route = operations.find((each) => each.method === methodOf(method));
      if (route === undefined) throw methodRefusal(method, allow);
      return { route, params };
    }
    throw pathRefusal(path);
  }
}

/** The method of a route that serves a method of a request; as there, HEAD is served by `get`, and capitals count. */
function methodOf(method: string): Route['method'] | null {
  if (method === 'GET' || method === 'HEAD') return 'get';
  return method === 'POST' ? 'post' : null;
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}
