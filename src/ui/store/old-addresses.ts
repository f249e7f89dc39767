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

/** Parts of protocols that have another name now. */
const movedParts: Readonly<Record<string, string>> = { connection: 'state', trace: 'messages', settings: 'client' };

/** The part of a protocol was a setting of the address, and messages stood in the only part. */
function movedProtocol([name = '', part]: readonly string[], query: URLSearchParams): Route | null {
  const old = query.get(`${name}-part`);
  const opensMessage = query.has(`${name}-message`) || query.get('refused') === 'only';
  const to = old === null ? (opensMessage ? 'messages' : null) : (movedParts[old] ?? old);
  if (part !== undefined || to === null) return null;
  const rest = without(query, `${name}-part`, 'trace-message');
  const message = query.get('trace-message');
  if (message !== null) rest.set(`${name}-message`, message);
  return { path: ['protocols', name, to], query: rest };
}

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
  if (view === 'protocols') return movedProtocol(rest, query);
  // the page of the client on its own port has no views
  if (view === '' && query.has('csip-part')) return movedProtocol(['csip'], query);
  const to = moved[view];
  if (to === undefined) return null;
  const place = query.get('of') === 'site' ? 'site' : (device ?? firstDevice);
  const path = [...to.replace('{device}', place).split('/'), ...rest];
  return { path, query: to.includes('{device}') ? without(query, 'device', 'of') : query };
}
