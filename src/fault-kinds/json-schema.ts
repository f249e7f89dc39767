/** JSON Schemas (2020-12) of the members of a fault, for external forms and checks. */
import { z } from 'zod';
import type { FaultKind } from '../core/faults/kinds.ts';
import { targetMembersOf } from './request.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface KindSchemas {
  /** parameters as one object, with ranges, defaults, units in descriptions, and nested lists and objects */
  readonly parameters: JsonSchema;
  /** members of the target as one object; closed and empty if the kind has none */
  readonly target: JsonSchema;
}

const schemasByKind = new WeakMap<FaultKind, KindSchemas>();

function targetSchema(row: FaultKind): JsonSchema {
  const members = Object.entries(targetMembersOf(row));
  const shape = Object.fromEntries(members.map(([name, { schema }]) => [name, schema.optional()]));
  const needs = members.flatMap(([name, { needs: other }]) => (other === undefined ? [] : [[name, [other]]]));
  return {
    ...z.toJSONSchema(z.strictObject(shape), { io: 'input' }),
    ...(needs.length > 0 && { dependentRequired: Object.fromEntries(needs) as JsonSchema }),
  };
}

/** Schemas of the members that only this kind has, made at the first call. */
export function kindSchemas(row: FaultKind): KindSchemas {
  const existing = schemasByKind.get(row);
  if (existing !== undefined) return existing;
  const schemas = { parameters: z.toJSONSchema(row.parameters, { io: 'input' }), target: targetSchema(row) };
  schemasByKind.set(row, schemas);
  return schemas;
}
