/** Schemas of request bodies from the API description. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { perform, Problem } from '../api/call';
import type { Schema } from '../kit/schema-form';

type Described = Schema & { readonly $ref?: string };
type Schemas = Readonly<Record<string, Described>>;

interface Description {
  readonly components: { readonly schemas: Schemas };
}

interface Read<T> {
  readonly schema: T | undefined;
  readonly problem: Problem | null;
}

/** Read once per page: the description is long, and constant while the daemon runs. */
let described: Promise<Schemas> | undefined;

async function read(): Promise<Schemas> {
  const { components } = await perform<Description>({ method: 'GET', address: '/openapi.json' });
  return components.schemas;
}

/** Maximum depth of schemas: forms show objects one level deep, and deeper ones as JSON. */
const maxDepth = 6;

/** A schema with its references replaced. */
function resolved(schema: Described, schemas: Schemas, depth = 0): Schema {
  const { $ref: reference, ...own } = schema;
  if (depth > maxDepth) return own;
  const inner = (each: Schema) => resolved(each, schemas, depth + 1);
  const named = reference === undefined ? undefined : schemas[reference.slice(reference.lastIndexOf('/') + 1)];
  if (named !== undefined) return { ...inner(named), ...own };
  return {
    ...own,
    ...(own.items && { items: inner(own.items) }),
    ...(own.anyOf && { anyOf: own.anyOf.map(inner) }),
    ...(own.properties && {
      properties: Object.fromEntries(Object.entries(own.properties).map(([name, member]) => [name, inner(member)])),
    }),
  };
}

function useSchemas(): Read<Schemas> {
  const [schema, setSchemas] = useState<Schemas>();
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    described ??= read();
    described.then(setSchemas, (error: unknown) => {
      described = undefined;
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    });
  }, []);
  return { schema, problem };
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
