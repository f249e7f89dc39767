/** JSON Schemas (2020-12) of what a kind of fault takes, for forms and checks outside of this process. */
import { z } from 'zod';
import type { FaultKind } from '../core/faults/kinds.ts';
import { targetMembersOf } from './request.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface KindSchemas {
  /** of the parameters as one object, with ranges, defaults, units in the descriptions, and nested lists and objects */
  readonly parameters: JsonSchema;
  /** of the members that select the target as one object; closed and empty where the kind takes none */
  readonly target: JsonSchema;
}

const made = new WeakMap<FaultKind, KindSchemas>();

function targetSchema(row: FaultKind): JsonSchema {
  const members = Object.entries(targetMembersOf(row));
  const shape = Object.fromEntries(members.map(([name, { schema }]) => [name, schema.optional()]));
  const needs = members.flatMap(([name, { needs: other }]) => (other === undefined ? [] : [[name, [other]]]));
  return {
    ...z.toJSONSchema(z.strictObject(shape), { io: 'input' }),
    ...(needs.length > 0 && { dependentRequired: Object.fromEntries(needs) as JsonSchema }),
  };
}

/** Schemas of the members that only this kind has in a request; made at the first call for it. */
export function kindSchemas(row: FaultKind): KindSchemas {
  const known = made.get(row);
  if (known !== undefined) return known;
  const schemas = { parameters: z.toJSONSchema(row.parameters, { io: 'input' }), target: targetSchema(row) };
  made.set(row, schemas);
  return schemas;
}
