/**
 * Makes the tables of IEEE 2030.5 documents from structural tables of the schema (names, order, types, ranges):
 * `npm run generate:csip -- DIRECTORY_WITH_SCHEMA_TABLES`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

type Child = readonly [name: string, type: string, min: number, max: number | 'unbounded'];
type Attribute = readonly [name: string, type: string, use?: string, fallback?: string];

interface JsonType {
  readonly base?: string;
  readonly attributes?: readonly Attribute[];
  readonly elements?: readonly Child[];
  readonly value?: string;
}

interface JsonSchema {
  readonly types: Readonly<Record<string, JsonType>>;
  readonly simpleTypes: Readonly<Record<string, { readonly base: string } & Readonly<Record<string, unknown>>>>;
}

interface JsonExtension {
  readonly append: Readonly<Record<string, readonly Child[]>>;
  readonly types: Readonly<Record<string, JsonType>>;
  readonly simpleTypes: JsonSchema['simpleTypes'];
}

/** Documents that a client reads or writes; the types that they need follow. */
const roots = [
  'DeviceCapability',
  'Time',
  'EndDeviceList',
  'EndDevice',
  'SelfDevice',
  'Registration',
  'FunctionSetAssignmentsList',
  'FunctionSetAssignments',
  'DERList',
  'DER',
  'DERCapability',
  'DERSettings',
  'DERStatus',
  'DERAvailability',
  'DERProgramList',
  'DERProgram',
  'DERControlList',
  'DERControl',
  'DefaultDERControl',
  'DERCurveList',
  'DERCurve',
  'ResponseSetList',
  'ResponseSet',
  'ResponseList',
  'DERControlResponse',
  'MirrorUsagePointList',
  'MirrorUsagePoint',
  'MirrorMeterReadingList',
  'MirrorMeterReading',
  'SubscriptionList',
  'Subscription',
  'NotificationList',
  'Notification',
  'LogEventList',
  'LogEvent',
  'DeviceInformation',
  'DeviceStatus',
  'PowerStatus',
  'Configuration',
  'Error',
];

const integers = new Set([
  'unsignedByte',
  'unsignedShort',
  'unsignedInt',
  'unsignedLong',
  'byte',
  'short',
  'int',
  'long',
]);

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('name the directory with the schema tables');
const load = <T>(file: string): T => JSON.parse(readFileSync(join(directory, file), 'utf8')) as T;
const older = load<JsonSchema>('schema-2018.json');
const newer = load<JsonSchema>('schema-2023.json');
const extension = load<JsonExtension>('csip-aus-1.3.json');

const bare = (type: string) => type.replace(/^csipaus:/, '');
const hook = ([name, type]: Child) => name.startsWith('##') || type === 'Revision2_3Type';

/** Members of a type, those of its bases first. */
function members(schema: JsonSchema, type: string): { attributes: Attribute[]; elements: Child[] } {
  const own = schema.types[type] ?? {};
  const base = own.base === undefined ? { attributes: [], elements: [] } : members(schema, own.base);
  return {
    attributes: [...base.attributes, ...(own.attributes ?? [])],
    elements: [...base.elements, ...(own.elements ?? []).filter((each) => !hook(each))],
  };
}

const output = fileURLToPath(new URL('../src/csip/xml/documents.ts', import.meta.url));

/** The TypeScript type of a member. */
function typeText(name: string): string {
  if (name in older.types || name in newer.types) {
    const type = older.types[name] ?? newer.types[name];
    // text with attributes: the codec gives the text alone
    return type?.value === undefined ? name : typeText(type.value);
  }
  const simple =
    older.simpleTypes[name] ??
    newer.simpleTypes[name] ??
    extension.simpleTypes[name] ??
    extension.simpleTypes[bare(name)];
  const base = simple?.base ?? name;
  if (simple) return typeText(base);
  if (integers.has(base)) return 'number';
  return base === 'boolean' ? 'boolean' : 'string';
}

/** Types reachable from the roots in either revision. */
function reachable(): string[] {
  const found = new Set<string>();
  const visit = (type: string) => {
    if (found.has(type)) return;
    const known = older.types[type] ?? newer.types[type];
    if (!known || known.value !== undefined) return;
    found.add(type);
    for (const schema of [older, newer]) for (const [, child] of members(schema, type).elements) visit(child);
    for (const [, child] of extension.append[type] ?? []) visit(bare(child));
  };
  for (const root of roots) visit(root);
  return [...found].sort();
}

function interfaceText(type: string): string {
  const lines = new Map<string, string>();
  for (const schema of [older, newer]) {
    if (!(type in schema.types)) continue;
    const { attributes, elements } = members(schema, type);
    for (const [name, child, use] of attributes)
      if (!lines.has(name)) lines.set(name, `readonly ${name}${use === 'required' ? '' : '?'}: ${typeText(child)};`);
    for (const [name, child, min, max] of elements) {
      if (lines.has(name)) continue;
      const required = min > 0 && (!(type in older.types) || schema === older);
      const text = typeText(child);
      lines.set(name, `readonly ${name}${required ? '' : '?'}: ${max === 1 ? text : `readonly ${text}[]`};`);
    }
  }
  for (const [name, child] of extension.append[type] ?? [])
    lines.set(name, `readonly ${name}?: ${typeText(bare(child))};`);
  return `export interface ${type} {\n${[...lines.values()].map((line) => `  ${line}\n`).join('')}}`;
}

const types = reachable();
const header =
  '// Generated by scripts/generate-csip-tables.ts from structural facts of IEEE 2030.5 and CSIP-AUS. Do not edit.';
const aus = 'export interface ConnectionPoint {\n  readonly href?: string;\n  readonly connectionPointId: string;\n}';
const documents = `/** Root elements that a client reads or writes. */\nexport interface Documents {\n${[...roots, 'ConnectionPoint'].map((name) => `  readonly ${name}: ${name};\n`).join('')}}`;
writeFileSync(output, `${header}\n\n${[...types.map(interfaceText), aus, documents].join('\n\n')}\n`);
