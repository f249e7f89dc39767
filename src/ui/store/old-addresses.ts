/** Earlier addresses of the page and their new places, so that bookmarks and links in reports still lead somewhere. */

export interface Route {
  /** view, then its parts */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** By first part of the old path; `{device}` takes the device out of the query. */
const moved: Readonly<Record<string, string>> = {
  'grid-support': 'devices/{device}/grid-support',
  registers: 'devices/{device}/registers',
  faults: 'inputs/faults',
  peers: 'compare/report-cards',
  logs: 'events/log',
};

/** Device of an old address without one; the old page took the first, whose index is 0 until it is removed. */
const firstDevice = '0';

function without(query: URLSearchParams, ...names: readonly string[]): URLSearchParams {
  const rest = new URLSearchParams(query);
  for (const name of names) rest.delete(name);
  return rest;
}

/** The new place of an address; null: the address has not moved. */
export function movedTo({ path: [view = '', ...rest], query }: Route): Route | null {
  const device = query.get('device');
  if (view === 'devices')
    return device === null || rest.length > 0
      ? null
      : { path: ['devices', device, 'picture'], query: without(query, 'device') };
  if (view === 'events' && rest[0] === 'commands')
    return { path: ['events', 'timeline'], query: new URLSearchParams([...query, ['kind', 'command']]) };
  const to = moved[view];
  if (to === undefined) return null;
  const place = query.get('of') === 'site' ? 'site' : (device ?? firstDevice);
  const path = [...to.replace('{device}', place).split('/'), ...rest];
  return { path, query: to.includes('{device}') ? without(query, 'device', 'of') : query };
}
