/** The description of the API, as the simulator serves it. It is made before the process has a window. */

// any: JSON Schema is read by its keywords, as in test/support/http.ts
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Operation {
  readonly method: string;
  /** template below `/api/sim/`, such as `ocpp/{id}/messages` */
  readonly path: string;
  readonly queryNames: readonly string[];
  readonly bodySchema: Json;
  readonly bodyExample: Json;
  readonly replySchema: Json;
  readonly replyExample: Json;
}

interface Served {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

// by its address: the types of the program are those of Node.js, and the types here are those of a page
const whole = (await import(new URL('../../../src/api/description/whole.ts', import.meta.url).href)) as {
  wholeDescription(): Served;
};
export const description: Served = JSON.parse(JSON.stringify(whole.wholeDescription())) as Served;

function operationOf(method: string, path: string, operation: Json): Operation {
  const reply = (operation.responses['200'] ?? operation.responses['201'] ?? operation.responses['202'])?.content;
  const body = operation.requestBody?.content['application/json'];
  const json = reply?.['application/json'];
  return {
    method: method.toUpperCase(),
    path: path.replace('/api/sim/', ''),
    queryNames: (operation.parameters ?? []).filter((each: Json) => each.in === 'query').map((each: Json) => each.name),
    bodySchema: body?.schema,
    bodyExample: body?.example,
    replySchema: json?.schema,
    replyExample: json?.example ?? Object.values<Json>(reply ?? {})[0]?.example,
  };
}

export const operations: readonly Operation[] = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => operationOf(method, path, operation)),
);

const exact = operations.filter(({ path }) => !path.includes('{'));
const templates = operations
  .filter(({ path }) => path.includes('{'))
  .map((operation) => ({ operation, matches: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`) }));

/** The operation that a call makes; undefined: the API has none. @param path below `/api/sim/`, without its query */
export function operationAt(method: string, path: string): Operation | undefined {
  return (
    exact.find((each) => each.method === method && each.path === path) ??
    templates.find(({ operation, matches }) => operation.method === method && matches.test(path))?.operation
  );
}

/** The schema without a reference at its top. */
export function deref(schema: Json): Json {
  const reference: string | undefined = schema.$ref;
  return reference === undefined ? schema : deref(description.components.schemas[reference.split('/').at(-1) ?? '']);
}
