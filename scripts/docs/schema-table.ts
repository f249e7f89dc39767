/** JSON schemas as tables of a page. */
import { z } from 'zod';

export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly examples?: readonly unknown[];
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** A row of a table: path, type, range, meaning and example. */
type Row = readonly [path: string, type: string, range: string, meaning: string, example: string];

export const inputSchema = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' }) as Schema;

/** Cells of a Markdown table. */
export const cells = (texts: readonly string[]): string =>
  `| ${texts.map((text) => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')).join(' | ')} |`;

export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  [heads, heads.map(() => '---'), ...rows].map(cells);

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);

const choicesOf = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf;

function typeOf(schema: Schema): string {
  const choices = choicesOf(schema);
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (choices) return [...new Set(choices.flatMap((choice) => typeOf(choice).split(' or ')))].join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return 'word';
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'values'}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object' && !schema.properties)
    return `object of ${typeOf(schema.additionalProperties)}`;
  const types = [schema.type ?? 'any'].flat();
  return types.map((type) => ({ string: 'text', integer: 'whole number' })[type] ?? type).join(' or ');
}

const maxWords = 12;

function rangeOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, enum: words, maxLength, maxItems } = schema;
  if (words) {
    const first = words.slice(0, maxWords).map((word) => `\`${String(word)}\``);
    return [...first, ...(words.length > maxWords ? [`and ${words.length - maxWords} more`] : [])].join(', ');
  }
  const bounds = [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`below ${exclusiveMaximum}`]),
  ];
  if (maxLength !== undefined) bounds.push(`at most ${maxLength} characters`);
  if (maxItems !== undefined) bounds.push(`at most ${maxItems}`);
  return bounds.length > 0 ? bounds.join(' ') : (choicesOf(schema) ?? []).map(rangeOf).filter(Boolean).join('; ');
}

/** Schemas of the members below a value, with what stands between its name and theirs. */
function partsOf(schema: Schema): readonly (readonly [between: string, part: Schema])[] {
  const { items, properties, additionalProperties } = schema;
  const choices = choicesOf(schema) ?? [];
  return [
    ...choices.flatMap((choice) => partsOf(choice)),
    ...(properties ? [['.', schema] as const] : []),
    ...(items ? partsOf(items).map(([between, part]) => [`[]${between}`, part] as const) : []),
    ...(typeof additionalProperties === 'object'
      ? partsOf(additionalProperties).map(([between, part]) => [`.NAME${between}`, part] as const)
      : []),
  ];
}

function rowsOf(schema: Schema, prefix: string): readonly Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const [example] = member.examples ?? [];
    const row: Row = [
      `\`${path}\``,
      `${typeOf(member)}${isRequired ? ', required' : ''}`,
      rangeOf(member),
      member.description ?? '',
      example === undefined ? '' : `\`${JSON.stringify(example)}\``,
    ];
    return [row, ...partsOf(member).flatMap(([between, part]) => rowsOf(part, `${path}${between}`))];
  });
}

const onceEach = (rows: readonly Row[]) => [...new Map(rows.map((row) => [row[0], row])).values()];

/** Rows of the members of an object and of all below them, each path once. */
export const membersOf = (schema: Schema): readonly Row[] => onceEach(rowsOf(schema, ''));

/** Rows of the members of all forms that a value may have. */
export const membersBelow = (schema: Schema): readonly Row[] =>
  onceEach(partsOf(schema).flatMap(([, part]) => rowsOf(part, '')));

export const memberTable = (rows: readonly Row[]): readonly string[] =>
  table(['Member', 'Type', 'Range', 'Meaning', 'Example'], rows);
