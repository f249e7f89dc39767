/** Schemas of request bodies, from the description of the API. */
import { useEffect, useState } from 'preact/hooks';
import { perform, Problem } from '../api/perform';
import type { Schema } from '../kit/schema-form';

type Schemas = Readonly<Record<string, Schema>>;

interface Description {
  readonly components: { readonly schemas: Schemas };
}

/** Read once for a page: the description is long, and does not change while the daemon runs. */
let described: Promise<Schemas> | undefined;

async function read(): Promise<Schemas> {
  const { components } = await perform<Description>({ method: 'GET', address: '/openapi.json' });
  return components.schemas;
}

/** A schema by its name in the API, such as `VoltVarRequest`. */
export function useSchema(name: string): { readonly schema: Schema | undefined; readonly problem: Problem | null } {
  const [schemas, setSchemas] = useState<Schemas>();
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    described ??= read();
    described.then(setSchemas, (error: unknown) => {
      described = undefined;
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    });
  }, []);
  return { schema: schemas?.[name], problem };
}
