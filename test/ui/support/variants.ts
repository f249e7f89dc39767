/** Replies that the description allows, made from its examples. */
import { deref } from './description.ts';
import type { Json } from './description.ts';

/**
 * `example`: as in the description; `nulls`: what may be null is null; `least`: members that may be absent are; `empty`: no
 * list has an entry that it need not have.
 */
export type Variant = 'example' | 'nulls' | 'least' | 'empty';

export const variants: readonly Variant[] = ['example', 'nulls', 'least', 'empty'];

const alternatives = (schema: Json): readonly Json[] => (schema.anyOf ?? schema.oneOf ?? [schema]).map(deref);

function allowsNull(schema: Json): boolean {
  const { type, enum: options } = schema;
  if (schema.anyOf ?? schema.oneOf) return alternatives(schema).some(allowsNull);
  return type === 'null' || (Array.isArray(type) && type.includes('null')) || (options?.includes(null) ?? false);
}

/** Whether an alternative is the one that describes an object: its constants and required members tell. */
function describes(schema: Json, value: Json): boolean {
  if (Array.isArray(value)) return schema.items !== undefined;
  if (value === null || typeof value !== 'object') return schema.properties === undefined;
  const { properties = {}, required = [], additionalProperties } = schema;
  if (schema.properties === undefined && additionalProperties === undefined) return false;
  const isClosed = additionalProperties === false;
  return (
    required.every((name: string) => name in value) &&
    Object.entries(value).every(([name, member]) => {
      const options = properties[name] && deref(properties[name]).enum;
      return options?.length === 1 ? options[0] === member : !isClosed || name in properties;
    })
  );
}

/** @param schema of the value */
export function varied(schema: Json, value: Json, variant: Variant): Json {
  const own = deref(schema ?? {});
  if (variant === 'example' || value === undefined) return value;
  if (variant === 'nulls' && allowsNull(own)) return null;
  if (value === null || typeof value !== 'object') return value;
  const shape = alternatives(own).find((each) => describes(each, value)) ?? own;
  if (Array.isArray(value)) {
    const items = value.map((item) => varied(shape.items, item, variant));
    return variant === 'empty' ? items.slice(0, shape.minItems ?? 0) : items;
  }
  const { properties = {}, required = [], additionalProperties = {} } = shape;
  const entries = Object.entries<Json>(value)
    .filter(([name]) => variant !== 'least' || !(name in properties) || required.includes(name))
    .filter(([name]) => variant !== 'empty' || name in properties)
    .map(([name, member]) => [name, varied(properties[name] ?? additionalProperties, member, variant)] as const);
  return Object.fromEntries(entries);
}
