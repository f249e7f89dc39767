/**
 * Lists that are longer than their schema permits, found before the schema looks at their items: zod checks all items
 * of a list first, and makes an issue for each wrong one.
 */
import { pointerStep } from '../../core/errors.ts';
import { z as zod } from 'zod';
import type { z } from 'zod';

type Schema = z.core.$ZodType;

export interface LongList {
  /** JSON pointer */
  readonly name: string;
  readonly maxItems: number;
}

/** The alternatives of a schema, without wrappers and unions. */
function plain(schema: Schema): readonly Schema[] {
  if (
    schema instanceof zod.ZodOptional ||
    schema instanceof zod.ZodNullable ||
    schema instanceof zod.ZodDefault ||
    schema instanceof zod.ZodReadonly
  )
    return plain(schema.def.innerType);
  if (schema instanceof zod.ZodPipe) return plain(schema.def.in);
  if (schema instanceof zod.ZodUnion) return schema.def.options.flatMap(plain);
  return [schema];
}

/** The maximum length of a list; Infinity: no maximum. */
export function maxItems(list: z.ZodArray): number {
  const checks = (list.def.checks ?? []).map(
    (check) => check._zod.def as { readonly maximum?: number; readonly length?: number },
  );
  return Math.min(...checks.map(({ maximum = Infinity, length = Infinity }) => Math.min(maximum, length)));
}

function childrenOf(schema: Schema): readonly Schema[] {
  if (schema instanceof zod.ZodArray) return [schema.element];
  if (schema instanceof zod.ZodRecord) return [schema.valueType];
  return schema instanceof zod.ZodObject ? Object.values(membersOf(schema)) : [];
}

function membersOf({ shape }: z.ZodObject): Readonly<Record<string, Schema>> {
  return shape;
}

const withLists = new WeakMap<Schema, boolean>();

/** True if values of this schema can contain lists: most cannot. */
function hasLists(schema: Schema): boolean {
  let cached = withLists.get(schema);
  if (cached === undefined) {
    cached = plain(schema).some((part) => part instanceof zod.ZodArray || childrenOf(part).some(hasLists));
    withLists.set(schema, cached);
  }
  return cached;
}

function collect(schemas: readonly Schema[], input: unknown, pointer: string, tooLong: LongList[]): void {
  if (typeof input !== 'object' || input === null) return;
  const meant = schemas.flatMap(plain).filter(hasLists);
  if (Array.isArray(input)) {
    const lists = meant.filter((schema): schema is z.ZodArray => schema instanceof zod.ZodArray);
    const max = Math.max(-Infinity, ...lists.map(maxItems));
    if (lists.length > 0 && input.length > max) {
      tooLong.push({ name: pointer, maxItems: max });
      return;
    }
    const items = lists.map(({ element }) => element).filter(hasLists);
    if (items.length > 0)
      input.forEach((item, i) => {
        collect(items, item, `${pointer}/${i}`, tooLong);
      });
    return;
  }
  for (const [name, members] of givenMembers(meant, input)) {
    collect(members, (input as Readonly<Record<string, unknown>>)[name], pointer + pointerStep(name), tooLong);
  }
}

/** The members of an object that may hold lists, with their schemas. */
function givenMembers(schemas: readonly Schema[], input: object): ReadonlyMap<string, readonly Schema[]> {
  const members = new Map<string, Schema[]>();
  const add = (name: string, schema: Schema) => {
    if (Object.hasOwn(input, name) && hasLists(schema)) members.set(name, [...(members.get(name) ?? []), schema]);
  };
  for (const schema of schemas) {
    if (schema instanceof zod.ZodObject)
      for (const [name, member] of Object.entries(membersOf(schema))) add(name, member);
    if (schema instanceof zod.ZodRecord) for (const name of Object.keys(input)) add(name, schema.valueType);
  }
  return members;
}

/** The lists in `input` with more items than `schema` permits; items of a list that is too long are not visited. */
export function longLists(schema: z.ZodType, input: unknown): readonly LongList[] {
  if (!hasLists(schema)) return [];
  const tooLong: LongList[] = [];
  collect([schema], input, '', tooLong);
  return tooLong;
}
