import type { Json } from './http.ts';

export interface Operation {
  /** `get /path` */
  readonly name: string;
  readonly operation: Json;
}

/** The operations of a description; references to named responses are resolved. */
export function collectOperations(document: Json): Operation[] {
  const responseOf = (response: Json): Json =>
    '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)] : response;
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation: {
        ...operation,
        responses: Object.fromEntries(
          Object.entries<Json>(operation.responses).map(([status, response]) => [status, responseOf(response)]),
        ),
      },
    })),
  );
}

interface Found {
  /** as `Schema/member[]/member`; `/*` for further members */
  readonly place: string;
  readonly schema: Json;
  /** a member of an object, with a name of its own */
  readonly member: boolean;
}

function* schemasIn(schema: Json, place: string, member: boolean): Generator<Found> {
  yield { place, schema, member };
  for (const [name, each] of Object.entries<Json>(schema.properties ?? {}))
    yield* schemasIn(each, `${place}/${name}`, true);
  if (schema.items !== undefined) yield* schemasIn(schema.items, `${place}[]`, false);
  if (typeof schema.additionalProperties === 'object')
    yield* schemasIn(schema.additionalProperties, `${place}/*`, false);
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    yield* schemasIn(each, place, false);
}

/** Every schema of a description: named ones, parameters, bodies, replies, and all in them. */
export function membersOf(document: Json): Found[] {
  const operations = collectOperations(document).flatMap(({ name, operation }) => [
    ...(operation.parameters ?? []).map((parameter: Json) => ({
      place: `${name} ${parameter.name}`,
      schema: parameter.schema,
    })),
    ...[operation.requestBody, ...Object.values<Json>(operation.responses)]
      .filter((each) => each !== undefined)
      .flatMap((each) => Object.values<Json>(each.content).map(({ schema }) => ({ place: name, schema }))),
  ]);
  const named = Object.entries<Json>(document.components.schemas).map(([place, schema]) => ({ place, schema }));
  return [...named, ...operations].flatMap(({ place, schema }) => [...schemasIn(schema, place, false)]);
}
