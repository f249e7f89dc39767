/** Judges bodies by the description of the API, as the daemon does. */
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { description } from './description.ts';
import type { Json, Operation } from './description.ts';

// a third of the time: each schema is compiled once, and as it is
const fast = { inlineRefs: false, code: { optimize: false } };
const ajv = new Ajv({ strict: false, allErrors: true, logger: false, ...fast });
(formats as unknown as (ajv: Ajv) => void)(ajv);
ajv.addSchema(description, 'api');
const compiled = new Map<string, ValidateFunction>();

/** @returns objections; empty: the schema accepts it */
export function objections(schema: Json, value: unknown): readonly string[] {
  const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
  compiled.set(text, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

/** @returns objections of an operation to a body */
export function bodyObjections({ bodySchema }: Operation, body: unknown): readonly string[] {
  return objections(bodySchema ?? { type: 'object', maxProperties: 0 }, body ?? {});
}
