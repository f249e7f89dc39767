/** Maps method and path to an operation, and parses queries: with HTTP and without. */
import { parse } from 'node:querystring';
import { nearest } from '../../core/nearest.ts';
import { HttpProblem } from './errors.ts';
import { apiPrefix } from './route.ts';
import type { Route } from './route.ts';

/** Items by key, both in the order of their first appearance. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

interface RoutePath {
  /** below the prefix, with `{name}` parameters */
  readonly path: string;
  readonly operations: readonly Route[];
  /** value of the header `Allow` */
  readonly allow: string;
}

/** The paths of some routes, in their order: the first that matches a request applies. */
export function pathsOf(routes: readonly Route[]): readonly RoutePath[] {
  return [...groupBy(routes, (route) => route.path)].map(([path, operations]) => ({
    path,
    operations,
    allow: operations.flatMap(({ method }) => methodsOf[method]).join(', '),
  }));
}

const methodsOf: Readonly<Record<Route['method'], readonly string[]>> = {
  get: ['GET', 'HEAD'],
  post: ['POST'],
  patch: ['PATCH'],
  delete: ['DELETE'],
};

/** The refusal of a method that a path does not have. @param allow the methods of the path */
export function methodRefusal(method: string, allow: string): HttpProblem {
  const words = allow.split(', ');
  const last = words.pop() ?? '';
  const methods = words.length === 0 ? last : `${words.join(', ')} and ${last}`;
  return new HttpProblem(
    'method-not-allowed',
    `This path does not accept ${method.slice(0, 20)}; it accepts ${methods}.`,
    { headers: { Allow: allow } },
  );
}

/** The stream serves upgrades of these paths; a plain request for them gets a hint. */
const streamPaths = new Set([`${apiPrefix}/ws/telemetry`, `${apiPrefix}/telemetry/ws`]);

const pages = ['/docs/', '/redoc', '/openapi.json'];
/** maximum of segments of a path that are compared with those of the operations */
const maxSegments = 8;

/** The path of an operation with its parameters replaced by the segments of a request. */
function filledIn(template: string, segments: readonly string[]): string {
  return template
    .split('/')
    .map((segment, i) => (segment.startsWith('{') ? (segments[i] ?? segment) : segment))
    .join('/');
}

/**
 * False if an operation has parameters and as many segments as a request, but its fixed segments are not close: a
 * parameter matches any segment.
 */
function isClose(template: string, segments: readonly string[]): boolean {
  const parts = template.split('/');
  if (parts.length !== segments.length || !template.includes('{')) return true;
  const fixed = (all: readonly string[]) => all.filter((_, i) => i > 0 && !parts[i]?.startsWith('{')).join('/');
  return nearest(fixed(segments), [fixed(parts)]) !== null;
}

/** The path that looks most like a given one, or null when none is close. */
function nearestPath(path: string, templates: readonly string[]): string | null {
  const segments = path.split('/').slice(0, maxSegments + 1);
  // paths are compared below the base, which the request may omit
  const below = /^\/api(?:\/sim)?(?=\/)/i.exec(path)?.[0] ?? '';
  const relativePath = path.slice(below.length).replace(/\/+$/, '');
  const relativeSegments = segments.slice(below.split('/').length - 1);
  const near = nearest(
    relativePath,
    templates
      .filter((template) => isClose(template, relativeSegments))
      .map((template) => filledIn(template, relativeSegments)),
  );
  if (near !== null) return apiPrefix + near;
  return nearest(path, pages);
}

/** The refusal of a path that no operation has. @param templates paths of the operations, below the prefix */
export function pathRefusal(path: string, templates: readonly string[]): HttpProblem {
  const shortPath = path.slice(0, 200);
  if (streamPaths.has(path))
    return new HttpProblem(
      'not-found',
      `There is nothing at ${shortPath} but the telemetry stream, which is a WebSocket.`,
    );
  const bare = path.replace(/\/+$/, '');
  if (bare !== '' && `${apiPrefix}/`.startsWith(`${bare}/`))
    return new HttpProblem(
      'not-found',
      `${shortPath} is the start of paths. Operations are below ${apiPrefix}; /docs lists them.`,
    );
  const near = nearestPath(path, templates);
  const hint = near === null ? '' : ` Did you mean ${near}?`;
  return new HttpProblem(
    'not-found',
    `There is nothing at ${shortPath}.${hint} Operations are below ${apiPrefix}, and /docs lists them.`,
  );
}

/** printable ASCII, as headers permit */
const headerText = /^[\x21-\x7e]+$/;

/** The parameters of a query. The length of the address bounds them: a limit of the parser would drop the later ones. */
export function parseQuery(text: string): unknown {
  return parse(text, '&', '=', { maxKeys: 0 });
}

/** An operation, and the parameters in its path. */
interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds operations as the router of the HTTP server does. */
export class RouteTable {
  readonly #paths: readonly (RoutePath & { readonly pattern: RegExp })[];
  /** below the prefix */
  readonly templates: readonly string[];

  constructor(routes: readonly Route[]) {
    this.#paths = pathsOf(routes).map((each) => ({ ...each, pattern: patternOf(apiPrefix + each.path) }));
    this.templates = this.#paths.map(({ path }) => path);
  }

  /**
   * The address without trailing slashes; null if there are none, or if nothing is served there.
   * @param url path and query as the request had them
   */
  withoutSlash(url: string): string | null {
    const cut = url.indexOf('?');
    const path = cut < 0 ? url : url.slice(0, cut);
    if (!path.endsWith('/') || !headerText.test(url)) return null;
    const bare = path.replace(/\/+$/, '');
    const isThere = pages.includes(bare) || this.#paths.some(({ pattern }) => pattern.test(bare));
    return isThere ? bare + (cut < 0 ? '' : url.slice(cut)) : null;
  }

  /**
   * The operation of a method and path.
   * @param path with the prefix, without a query
   * @throws HttpProblem `not-found`, `method-not-allowed`; URIError for an invalid escape in a parameter
   */
  find(method: string, path: string): Match {
    for (const { pattern, operations, allow } of this.#paths) {
      const groups = pattern.exec(path);
      if (groups === null) continue;
      const segments = Object.entries(groups.groups ?? {});
      const params = Object.fromEntries(segments.map(([name, text]) => [name, decodeURIComponent(text)]));
      const route = operations.find((each) => each.method === methodOf(method));
      if (route === undefined) throw methodRefusal(method, allow);
      return { route, params };
    }
    throw pathRefusal(path, this.templates);
  }
}

const tables = new WeakMap<readonly Route[], RouteTable>();

/** The table of a list of operations; all simulators of a process share it. */
export function routeTableOf(routes: readonly Route[]): RouteTable {
  const table = tables.get(routes) ?? new RouteTable(routes);
  tables.set(routes, table);
  return table;
}

/** The method of the route that serves a method of a request. As in HTTP, `get` serves HEAD, and case matters. */
function methodOf(method: string): Route['method'] | null {
  if (method === 'GET' || method === 'HEAD') return 'get';
  if (method === 'DELETE') return 'delete';
  if (method === 'PATCH') return 'patch';
  return method === 'POST' ? 'post' : null;
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}
