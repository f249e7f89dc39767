/**
 * The view and its settings are in the fragment of the address (`#/inputs/grid?on=3`), so that links work. The pages of
 * a device have it in their path (`#/devices/3/grid-support/volt-var`), other views in the setting `device`.
 */
import { signal } from '@preact/signals';
import { movedTo } from './old-addresses';
import type { Route } from './old-addresses';

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

function hashOf(path: readonly string[], query: URLSearchParams): string {
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** The route of the present address. An old address gives way to the new one without a step of "back". */
function read(): Route {
  const present = parse(location.hash);
  const next = movedTo(present);
  if (next === null) return present;
  history.replaceState(null, '', hashOf(next.path, next.query));
  return next;
}

export const route = signal<Route>(read());
addEventListener('hashchange', () => {
  route.value = read();
});

/** Settings that are kept from view to view. */
const shared = ['device', 'api'];

const isOfDevice = ([view, device = '']: readonly string[]) => view === 'devices' && /^\d+$/.test(device);

/**
 * Address of a view, for links.
 * @param path such as `inputs/grid`
 * @param settings null removes a setting; `device` and `api` are kept unless they are among them
 */
export function href(path: string, settings: Readonly<Record<string, string | number | null>> = {}): string {
  const query = new URLSearchParams();
  for (const name of shared) {
    const value = param(name);
    if (value !== null) query.set(name, value);
  }
  const parts = path.split('/');
  if (parts[0] === 'devices') query.delete('device');
  for (const [name, value] of Object.entries(settings)) {
    if (value === null) query.delete(name);
    else query.set(name, String(value));
  }
  return hashOf(parts, query);
}

/**
 * Address of a page of a device. Without a device it is that of the list.
 * @param device index, or `site` for the meter of the connection point
 * @param page such as `registers` or `grid-support/volt-var`
 */
export function deviceHref(
  device: number | string | null | undefined,
  page: string,
  settings: Readonly<Record<string, string | number | null>> = {},
): string {
  return device === null || device === undefined ? href('devices') : href(`devices/${device}/${page}`, settings);
}

/** Opens another view; "back" returns. */
export function go(path: string, settings: Readonly<Record<string, string | number | null>> = {}): void {
  location.hash = href(path, settings);
}

/** A setting of the view. null: not in the address. */
export function param(name: string): string | null {
  const { path, query } = route.value;
  if (name === 'device' && isOfDevice(path)) return path[1] ?? null;
  return query.get(name);
}

/**
 * Changes a setting of the view in the address; "back" leaves the view, and does not undo the change.
 * @param value null removes the setting
 */
export function setParam(name: string, value: string | number | null): void {
  const { path, query: before } = route.peek();
  const query = new URLSearchParams(before);
  const isPart = name === 'device' && isOfDevice(path);
  if (isPart || value === null || value === '') query.delete(name);
  else query.set(name, String(value));
  const next = isPart ? ['devices', String(value), ...path.slice(2)] : path;
  history.replaceState(null, '', hashOf(next, query));
  route.value = parse(location.hash);
}

/** Takes another part of the view in place of the present one, without a step of "back"; settings stay. */
export function replacePath(path: string): void {
  history.replaceState(null, '', hashOf(path.split('/'), route.peek().query));
  route.value = parse(location.hash);
}
