/**
 * The view and its settings are in the fragment of the address (`#/grid-support/volt-var?device=3`), so that links
 * work.
 */
import { signal } from '@preact/signals';

interface Route {
  /** view, then its parts */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Decodes a part of the address. A typed address may have a percent sign that begins no escape: its part stays. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(query),
  };
}

export const route = signal<Route>(parse(location.hash));
addEventListener('hashchange', () => {
  route.value = parse(location.hash);
});

function hashOf(path: readonly string[], query: URLSearchParams): string {
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Settings that are kept from view to view. */
const shared = ['device', 'api'];

/**
 * Address of a view, for links.
 * @param path such as `grid-support/volt-var`
 * @param settings null removes a setting; `device` and `api` are kept unless they are among them
 */
export function href(path: string, settings: Readonly<Record<string, string | number | null>> = {}): string {
  const query = new URLSearchParams();
  for (const name of shared) {
    const value = route.value.query.get(name);
    if (value !== null) query.set(name, value);
  }
  for (const [name, value] of Object.entries(settings)) {
    if (value === null) query.delete(name);
    else query.set(name, String(value));
  }
  return hashOf(path.split('/'), query);
}

/** Opens another view; "back" returns. */
export function go(path: string, settings: Readonly<Record<string, string | number | null>> = {}): void {
  location.hash = href(path, settings);
}

/** A setting of the view. null: not in the address. */
export function param(name: string): string | null {
  return route.value.query.get(name);
}

/**
 * Changes a setting of the view in the address; "back" leaves the view, and does not undo the change.
 * @param value null removes the setting
 */
export function setParam(name: string, value: string | number | null): void {
  const query = new URLSearchParams(route.peek().query);
  if (value === null || value === '') query.delete(name);
  else query.set(name, String(value));
  history.replaceState(null, '', hashOf(route.peek().path, query));
  route.value = parse(location.hash);
}
