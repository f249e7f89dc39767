/** Calls as text: in one line, and as commands and programs to take elsewhere. */
import type { Call } from './call';

const prefix = '/api/sim/';

/** Method, path and body in one line. */
export function lineOf({ method, address, body }: Call): string {
  return [method, address, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' ');
}

/** A word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The call as a shell command. */
export function curlOf({ method, address, body }: Call, origin = location.origin): string {
  const parts = ['curl', '-s'];
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) parts.push('-X', method);
  if (body !== undefined)
    parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(body)));
  return [...parts, quoted(`${origin}${address}`)].join(' ');
}

interface Parts {
  /** path as the clients take it, quoted */
  readonly path: string;
  /** empty without a query */
  readonly query: Readonly<Record<string, string | number>>;
}

function partsOf(address: string): Parts {
  const { pathname, searchParams } = new URL(address, location.origin);
  const numeric = (text: string) => (String(Number(text)) === text ? Number(text) : text);
  return {
    path: JSON.stringify(pathname.replace(prefix, '')),
    query: Object.fromEntries([...searchParams].map(([name, text]) => [name, numeric(text)])),
  };
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0;

/** A value of JSON as a literal of Python. */
function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  // JSON leaves out members that are undefined
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${pythonValue(member)}`).join(', ')}}`;
}

/** The call with the client for Python, `clients/python/derbench`. */
export function pythonOf({ method, address, body }: Call, origin = location.origin): string {
  const { path, query } = partsOf(address);
  const values = [path, ...(body === undefined ? [] : [pythonValue(body)])];
  // names of a query may be keywords of Python
  if (!isEmpty(query)) values.push(`**${pythonValue(query)}`);
  return [
    'from derbench import Client',
    `print(Client(${JSON.stringify(origin)}).${method.toLowerCase()}(${values.join(', ')}))`,
  ].join('\n');
}

/** The call with the client of the npm package. */
export function typescriptOf({ method, address, body }: Call, origin = location.origin): string {
  const { path, query } = partsOf(address);
  const options = { ...(!isEmpty(query) && { query }), ...(body !== undefined && { body }) };
  const values = [path, ...(isEmpty(options) ? [] : [JSON.stringify(options)])];
  return [
    "import { Client } from 'derbench';",
    `console.log(await new Client(${JSON.stringify(origin)}).${method.toLowerCase()}(${values.join(', ')}));`,
  ].join('\n');
}
