/**
 * Makes the types and tables of IEEE 2030.5 documents (`documents.ts`, `tables.ts`) from structural tables of the schema
 * (names, order, types, ranges): `npm run generate:csip -- DIRECTORY_WITH_SCHEMA_TABLES [--check]`. The types of the
 * documents that REST shows have a file of their own in the contract.
 *
 * The revision of 2023 only adds to that of 2018, and CSIP-AUS appends. So one table serves all: a row has a mark if it is
 * not in 2018. The generator fails if a member has another place or another cardinality in 2018.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder, deliver, formatted } from './generated.ts';

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

/** Documents that REST shows. */
const shown = ['DERAvailability', 'DERCapability', 'DERSettings', 'DERStatus'];

/** Ranges of the primitive types that tables name; of 64 bits, as far as a number is exact. */
const integers: Readonly<Record<string, readonly [min: number, max: number]>> = {
  unsignedByte: [0, 0xff],
  unsignedShort: [0, 0xffff],
  unsignedInt: [0, 0xffff_ffff],
  unsignedLong: [0, Number.MAX_SAFE_INTEGER],
  byte: [-0x80, 0x7f],
  short: [-0x8000, 0x7fff],
  int: [-0x8000_0000, 0x7fff_ffff],
  long: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

const args = process.argv.slice(2);
const directory = dataFolder(args, 'npm run generate:csip -- DIRECTORY_WITH_SCHEMA_TABLES [--check]');
const load = (file: string): unknown => JSON.parse(readFileSync(join(directory, file), 'utf8'));
const older = load('schema-2018.json') as JsonSchema;
const newer = load('schema-2023.json') as JsonSchema;
const firstAus = load('csip-aus-1.2.json') as JsonExtension;
const aus = load('csip-aus-1.3.json') as JsonExtension;

/** Occurrences of a member: `1`, `?` (0 or 1), `*`, or a range. */
type Occurs = '1' | '?' | '*' | '1..10';
interface Row {
  readonly name: string;
  readonly type: string;
  readonly occurs: Occurs;
  /** null: in every revision */
  readonly since: '2023' | 'aus 1.2' | 'aus 1.3' | null;
}

const bare = (type: string) => type.replace(/^csipaus:/, '');
const hook = ([name, type]: Child) => name.startsWith('##') || type === 'Revision2_3Type';

function occursOf(min: number, max: number | 'unbounded'): Occurs {
  if (max === 1) return min === 0 ? '?' : '1';
  if (max === 'unbounded' && min === 0) return '*';
  if (min === 1 && max === 10) return '1..10';
  throw new Error(`${min}..${max} is not foreseen`);
}

/** The scalar type that a type's text has; null: the type has members. */
function scalarOf(type: string): string | null {
  const known = newer.types[type] ?? older.types[type];
  if (known) {
    const text = known.value ?? known.base;
    return text === undefined ? null : scalarOf(text);
  }
  const extended = aus.simpleTypes[type];
  return extended ? bare(extended.base) : type;
}

/** Members of a type in one revision, those of its bases first; attributes have `@` before their names. */
function membersOf(schema: JsonSchema, type: string): Row[] {
  const own = schema.types[type];
  if (!own) return [];
  const bases = own.base === undefined ? [] : membersOf(schema, own.base);
  const isAttribute = ({ name }: Row) => name.startsWith('@');
  const attributes = (own.attributes ?? []).map(
    ([name, text, use]): Row => ({ name: `@${name}`, type: text, occurs: use === 'required' ? '1' : '?', since: null }),
  );
  const elements = (own.elements ?? [])
    .filter((each) => !hook(each))
    .map(([name, child, min, max]): Row => ({ name, type: child, occurs: occursOf(min, max), since: null }));
  return [...bases.filter(isAttribute), ...attributes, ...bases.filter((row) => !isAttribute(row)), ...elements];
}

/** A type that 2018 does not have, such as one with the attribute `disabled`, stands for its base there. */
const olderName = (type: string): string => {
  const base = newer.types[type]?.base;
  return type in older.types || base === undefined ? type : olderName(base);
};

function rowsOf(type: string): readonly Row[] {
  const [before, now] = [membersOf(older, olderName(type)), membersOf(newer, type)];
  const had = new Map(before.map((row) => [row.name, row]));
  const rows = now.map((row) => (before.length === 0 || had.has(row.name) ? row : { ...row, since: '2023' as const }));
  const kept = rows.filter(({ since }) => since === null);
  if (before.length > 0 && kept.map(({ name }) => name).join() !== before.map(({ name }) => name).join())
    throw new Error(`${type}: the order of 2018 is another one`);
  for (const { name, occurs } of kept)
    if (before.length > 0 && had.get(name)?.occurs !== occurs) throw new Error(`${type}.${name}: other occurrences`);
  const appended = (aus.append[type] ?? []).map(([name, child, min, max]): Row => {
    const first = firstAus.append[type]?.some(([known]) => known === name) === true;
    return { name, type: child, occurs: occursOf(min, max), since: first ? 'aus 1.2' : 'aus 1.3' };
  });
  return [...rows, ...appended];
}

/** Types with members that some types need, and these. */
function reachable(from: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (type: string) => {
    if (found.has(type) || scalarOf(type) !== null) return;
    found.add(type);
    for (const { type: child } of rowsOf(type)) if (child !== 'Resource') visit(child);
  };
  for (const root of from) visit(root);
  return [...found].sort();
}

const tables = new Map<string, readonly Row[]>(reachable(roots).map((type) => [type, rowsOf(type)]));
const connectionPoint = Object.values(aus.types)[0];
tables.set('ConnectionPoint', [
  ...membersOf(older, 'Resource'),
  ...(connectionPoint?.elements ?? []).map(
    ([name, type, min, max]): Row => ({ name, type, occurs: occursOf(min, max), since: 'aus 1.2' }),
  ),
]);

/** Links to one resource are all alike, and so are links to lists: one type stands for each. */
const shapeOf = (type: string) => JSON.stringify(tables.get(type) ?? rowsOf(type));
const collapsed = (type: string) =>
  ['Link', 'ListLink'].find((link) => /Link$/.test(type) && shapeOf(type) === shapeOf(link)) ?? type;
for (const type of ['Link', 'ListLink']) tables.set(type, rowsOf(type));
for (const type of [...tables.keys()]) if (collapsed(type) !== type) tables.delete(type);
const sorted = [...tables].sort(([one], [other]) => (one < other ? -1 : 1));

/** The type of a row by its name in the tables; `Resource` is whatever `xsi:type` says. */
const typeName = (type: string): string => (type === 'Resource' ? 'Resource' : (scalarOf(type) ?? collapsed(type)));

interface Scalar {
  readonly kind: 'boolean' | 'integer' | 'hex' | 'text' | 'uri';
  readonly min?: number;
  readonly max?: number;
}

function scalarFacts(type: string): Scalar {
  const facts = newer.simpleTypes[type];
  const base = facts?.base ?? type;
  const limit = (name: string) => (facts?.[name] === undefined ? undefined : Number(facts[name]));
  const range = integers[base];
  if (range) return { kind: 'integer', min: limit('minInclusive') ?? range[0], max: limit('maxInclusive') ?? range[1] };
  if (base === 'boolean') return { kind: 'boolean' };
  if (base === 'anyURI') return { kind: 'uri' };
  const max = limit('maxLength');
  if (base === 'hexBinary' && max !== undefined) return { kind: 'hex', max };
  if (base === 'string' && max !== undefined) return { kind: 'text', max };
  if (base in newer.simpleTypes) return scalarFacts(base);
  throw new Error(`${type} is not foreseen`);
}

const languageTypes = { boolean: 'boolean', integer: 'number', hex: 'string', text: 'string', uri: 'string' } as const;

function interfaceText(name: string, rows: readonly Row[]): string {
  const lines = rows.map(({ name: member, type, occurs, since }) => {
    const optional = occurs === '?' || occurs === '*' || (since !== null && name !== 'ConnectionPoint');
    const scalar = scalarOf(type);
    const text =
      type === 'Resource'
        ? 'NotifiedResource'
        : scalar === null
          ? collapsed(type)
          : languageTypes[scalarFacts(scalar).kind];
    const many = occurs === '*' || occurs === '1..10';
    return `  readonly ${member.replace('@', '')}${optional ? '?' : ''}: ${many ? `readonly ${text}[]` : text};\n`;
  });
  return `export interface ${name} {\n${lines.join('')}}`;
}

const header =
  '// Generated by scripts/generate-csip-tables.ts from structural facts of IEEE 2030.5 and CSIP-AUS. Do not edit.';
const files = new Map<string, string>();
const add = (path: string, parts: readonly string[]) => {
  files.set(path, formatted(path, `${parts.join('\n\n')}\n`));
};

const names = [...roots, 'ConnectionPoint'];

add('src/csip/xml/documents.ts', [
  header,
  ...sorted.map(([name, rows]) => interfaceText(name, rows)),
  '/** Root elements that a client reads or writes. */\nexport interface Documents ' +
    `{\n${names.map((name) => `  readonly ${name}: ${name};\n`).join('')}}`,
  `type Notifiable = Omit<Documents, 'Notification' | 'NotificationList' | 'Error' | 'ConnectionPoint'>;`,
  '/** The resource inside a notification: its type is that of `xsi:type`. */\nexport type ' +
    'NotifiedResource = {\n  readonly [Name in keyof Notifiable]: { readonly name: Name; readonly value: ' +
    'Notifiable[Name] };\n}[keyof Notifiable];',
]);

type Types = typeof sorted;

function scalarsIn(some: Types): ReadonlyMap<string, Scalar> {
  const scalars = new Map<string, Scalar>();
  for (const [, rows] of some)
    for (const { type } of rows) {
      const scalar = type === 'Resource' ? null : scalarOf(type);
      if (scalar !== null) scalars.set(scalar, scalarFacts(scalar));
    }
  return scalars;
}

const shownTypes = new Set(reachable(shown).map(collapsed));
const ofRest = sorted.filter(([name]) => shownTypes.has(name));
const others = sorted.filter(([name]) => !shownTypes.has(name));
const scalarsOfRest = scalarsIn(ofRest);
const quoted = (facts: object) =>
  Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === 'number' ? value : `'${String(value)}'`}`)
    .join(', ');
const rowText = ({ name, type, occurs, since }: Row) =>
  `    [${[name, typeName(type), occurs, ...(since === null ? [] : [since])].map((each) => `'${each}'`).join(', ')}],\n`;
const scalarLines = (scalars: Iterable<readonly [string, Scalar]>) =>
  [...scalars]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, facts]) => `  ${name}: { ${quoted(facts)} },\n`)
    .join('');
const typeLines = (some: Types) =>
  some.map(([name, rows]) => `  ${name}: [\n${rows.map(rowText).join('')}  ],\n`).join('');

add('src/contract/csip-der-tables.ts', [
  header,
  [
    '/** Text of a member or attribute: the range of a number, the maximum of octets in hex or of characters. */',
    'export interface ScalarFacts {',
    "  readonly kind: 'boolean' | 'integer' | 'hex' | 'text' | 'uri';",
    '  readonly min?: number;',
    '  readonly max?: number;',
    '}',
  ].join('\n'),
  [
    '/** `since` is absent for what the revision of 2018 has already; `@` before a name marks an attribute. */',
    'export type Row = readonly [',
    '  name: string,',
    '  type: string,',
    "  occurs: '1' | '?' | '*' | '1..10',",
    "  since?: '2023' | 'aus 1.2' | 'aus 1.3',",
    '];',
  ].join('\n'),
  `export const derScalars: Readonly<Record<string, ScalarFacts>> = {\n${scalarLines(scalarsOfRest)}};`,
  '/** Members of the documents of a DER and of the types in them, in the order of a document. */\n' +
    `export const derTypes: Readonly<Record<string, readonly Row[]>> = {\n${typeLines(ofRest)}};`,
]);
add('src/csip/xml/tables.ts', [
  header,
  "import { derScalars, derTypes } from '../../contract/csip-der-tables.ts';\n" +
    "import type { Row, ScalarFacts } from '../../contract/csip-der-tables.ts';",
  "export type { Row, ScalarFacts } from '../../contract/csip-der-tables.ts';",
  `/** Root elements of documents. */\nexport const documentNames = [\n${names.map((name) => `  '${name}',\n`).join('')}] as const;`,
  'export const scalars: Readonly<Record<string, ScalarFacts>> = {\n  ...derScalars,\n' +
    `${scalarLines([...scalarsIn(others)].filter(([name]) => !scalarsOfRest.has(name)))}};`,
  '/** Members of each type in the order of a document. */\nexport const types: Readonly<Record<string, readonly Row[]>> = ' +
    `{\n  ...derTypes,\n${typeLines(others)}};`,
]);
process.exitCode = deliver(files, args);
