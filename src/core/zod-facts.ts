/** Facts of a zod schema at a place of its input, for refusals: members, range of a number. */
import { z } from 'zod';

export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  /** the bound itself is outside */
  readonly above?: boolean;
  readonly below?: boolean;
}

/** Facts about places in the input of a schema. */
export interface SchemaFacts {
  /** names that members may have there; undefined: any, or no object */
  members(path: readonly PropertyKey[]): readonly string[] | undefined;
  /** ranges of the numbers that alternatives of the schema take there, each once; a number without bounds has none */
  ranges(path: readonly PropertyKey[]): readonly NumberRange[];
}

type Schema = z.core.$ZodType;

/** A schema without its wrappers; of a union every alternative. */
function bare(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return bare(schema.def.innerType);
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodPrefault) return bare(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return bare(schema.def.in);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap(bare);
  return [schema];
}

function inside(schema: Schema, step: PropertyKey): readonly Schema[] {
  if (schema instanceof z.ZodArray) return typeof step === 'number' ? bare(schema.def.element) : [];
  if (schema instanceof z.ZodRecord) return bare(schema.def.valueType);
  if (!(schema instanceof z.ZodObject)) return [];
  const shape: Readonly<Record<string, Schema>> = schema.def.shape;
  const member = Object.hasOwn(shape, step) ? shape[String(step)] : undefined;
  return member === undefined ? [] : bare(member);
}

/** The bounds that a number was given; those that make an integer a safe one are none. */
function rangeOf(schema: Schema): NumberRange {
  if (!(schema instanceof z.ZodNumber)) return {};
  const checks = (schema.def.checks ?? []).map((check): object => check._zod.def);
  const range: { min?: number; max?: number; above?: boolean; below?: boolean } = {};
  for (const check of checks as { check?: unknown; value?: unknown; inclusive?: unknown }[]) {
    if (typeof check.value !== 'number') continue;
    if (check.check === 'greater_than' && check.value >= (range.min ?? -Infinity))
      Object.assign(range, { min: check.value, above: check.inclusive === false });
    if (check.check === 'less_than' && check.value <= (range.max ?? Infinity))
      Object.assign(range, { max: check.value, below: check.inclusive === false });
  }
  return range;
}

/** The facts of a schema. */
export function factsOf(schema: Schema): SchemaFacts {
  const at = (path: readonly PropertyKey[]) =>
    path.reduce<readonly Schema[]>((schemas, step) => schemas.flatMap((each) => inside(each, step)), bare(schema));
  return {
    members(path) {
      const names = at(path).flatMap((each) => (each instanceof z.ZodObject ? Object.keys(each.def.shape) : []));
      return names.length === 0 ? undefined : [...new Set(names)];
    },
    ranges(path) {
      const ranges = at(path)
        .map(rangeOf)
        .filter(({ min, max }) => min !== undefined || max !== undefined);
      return [...new Map(ranges.map((range) => [Object.values(range).join(), range])).values()];
    },
  };
}
