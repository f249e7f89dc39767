/** Schemas of request bodies, and texts of operations, from the API description. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { perform, Problem } from '../api/call';
import type { Schema } from '../kit/schema-form';

type Described = Schema & { readonly $ref?: string };
type Schemas = Readonly<Record<string, Described>>;

interface Description {
  readonly components: { readonly schemas: Schemas };
  /** by path and method */
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly description?: string }>>>>;
}

interface Read<T> {
  readonly schema: T | undefined;
  readonly problem: Problem | null;
}

/** Read once per page: the description is long, and constant while the daemon runs. */
let descriptionRead: Promise<Description> | undefined;

/** Depth up to which references are replaced: forms show objects one level deep, and deeper ones as JSON. */
const maxDepth = 6;

/** A schema with its references replaced, down to `maxDepth`. */
function resolved(schema: Described, schemas: Schemas, depth = 0): Schema {
  const { $ref: reference, ...rest } = schema;
  if (depth > maxDepth) return rest;
  const inner = (part: Schema) => resolved(part, schemas, depth + 1);
  const named = reference === undefined ? undefined : schemas[reference.slice(reference.lastIndexOf('/') + 1)];
  if (named !== undefined) return { ...inner(named), ...rest };
  return {
    ...rest,
    ...(rest.items && { items: inner(rest.items) }),
    ...(rest.anyOf && { anyOf: rest.anyOf.map(inner) }),
    ...(rest.properties && {
      properties: Object.fromEntries(Object.entries(rest.properties).map(([name, member]) => [name, inner(member)])),
    }),
  };
}

function useDescription(): { readonly description: Description | undefined; readonly problem: Problem | null } {
  const [description, setDescription] = useState<Description>();
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    descriptionRead ??= perform<Description>({ method: 'GET', address: '/openapi.json' });
    descriptionRead.then(setDescription, (error: unknown) => {
      descriptionRead = undefined;
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    });
  }, []);
  return { description, problem };
}

function useSchemas(): Read<Schemas> {
  const { description, problem } = useDescription();
  return { schema: description?.components.schemas, problem };
}

/** The text about a POST operation; empty until the description is read. */
export function usePostText(path: string): string {
  return useDescription().description?.paths[`/api/sim/${path}`]?.['post']?.description ?? '';
}

/** A schema by its name in the API, such as `VoltVarRequest`. */
export function useSchema(name: string): Read<Schema> {
  const { schema: schemas, problem } = useSchemas();
  const schema = useMemo(() => {
    const named = schemas?.[name];
    return schemas && named && resolved(named, schemas);
  }, [schemas, name]);
  return { schema, problem };
}

/** The schema of a fault by protocol and kind. */
export function useFaultSchema(protocol: string, kind: string): Read<Schema> {
  const { schema: schemas, problem } = useSchemas();
  const schema = useMemo(() => {
    if (schemas === undefined) return undefined;
    const faultSchema = Object.values(schemas).find(
      ({ properties = {} }) => properties['protocol']?.enum?.[0] === protocol && properties['kind']?.enum?.[0] === kind,
    );
    return faultSchema && resolved(faultSchema, schemas);
  }, [schemas, protocol, kind]);
  return { schema, problem };
}
