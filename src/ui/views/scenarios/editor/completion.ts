/** Proposals for the caret, from the JSON Schema of scenarios. */
import type { Context, Path } from './context';

export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

export interface Proposal {
  readonly text: string;
  readonly note: string;
}

/** A schema as the alternatives that it consists of. */
function* alternatives(schema: Schema, root: Schema, depth = 0): Generator<Schema> {
  if (depth > 8) return;
  yield schema;
  const named = schema.$ref === undefined ? undefined : root.$defs?.[schema.$ref.replace('#/$defs/', '')];
  const inner = [
    ...(named === undefined ? [] : [named]),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
  ];
  for (const each of inner) yield* alternatives(each, root, depth + 1);
}

function* below(schema: Schema, part: string): Generator<Schema> {
  if (part === '*') {
    if (schema.items !== undefined) yield schema.items;
    return;
  }
  const member = schema.properties?.[part];
  if (member !== undefined) yield member;
  else if (typeof schema.additionalProperties === 'object') yield schema.additionalProperties;
}

/** The schemas that a place can have. */
function schemasAt(root: Schema, path: Path): readonly Schema[] {
  let present: readonly Schema[] = [...alternatives(root, root)];
  for (const part of path)
    present = [
      ...new Set(present.flatMap((each) => [...below(each, part)].flatMap((next) => [...alternatives(next, root)]))),
    ];
  return present;
}

function valuesOf(schema: Schema): readonly unknown[] {
  if (schema.enum !== undefined) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  return [schema.type ?? []].flat().includes('boolean') ? [true, false] : [];
}

const starts = (typed: string) => (text: string) => text.toLowerCase().startsWith(typed.toLowerCase());

/** Keys in the order of the schema, or values of the key before the caret. */
export function proposalsAt(root: Schema, { path, valueOf, typed }: Context): readonly Proposal[] {
  if (valueOf !== null) {
    const values = new Set(
      schemasAt(root, [...path, valueOf])
        .flatMap(valuesOf)
        .map(String),
    );
    return [...values].filter(starts(typed)).map((text) => ({ text, note: '' }));
  }
  const notes = new Map<string, string>();
  for (const { properties = {} } of schemasAt(root, path))
    for (const [key, { description = '' }] of Object.entries(properties)) notes.set(key, notes.get(key) || description);
  notes.delete('$schema');
  return [...notes].filter(([key]) => starts(typed)(key)).map(([text, note]) => ({ text, note }));
}
