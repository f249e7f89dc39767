/** The implementation table of the device profile: objects, functions and qualifiers that an outstation accepts. */
import { functionCodes, silentFunctions } from '../stack/application/types.ts';
import { variationsOf } from '../stack/objects.ts';
import { createFunctionSet } from '../stack/outstation/functions.ts';
import { defaultLimits } from '../stack/outstation/types.ts';

/** Groups of static values, and of the events that points make. */
const staticGroups = [1, 10, 20, 21, 30, 40] as const;
export const eventGroups = [2, 22, 23, 32] as const;

const { read, write, response, assignClass } = functionCodes;
const controls = [
  functionCodes.select,
  functionCodes.operate,
  functionCodes.directOperate,
  functionCodes.directOperateNr,
] as const;
const freezes = [
  functionCodes.immediateFreeze,
  functionCodes.immediateFreezeNr,
  functionCodes.freezeClear,
  functionCodes.freezeClearNr,
] as const;
const unsolicitedFunctions = [functionCodes.enableUnsolicited, functionCodes.disableUnsolicited] as const;

/** Qualifiers, hexadecimal. */
const [spans, indexes, counts, all] = [['0', '1'], ['17', '28'], ['7', '8'], ['6']] as const;
const points = [...spans, ...all, ...indexes];

/** Variations of a group with the requests for them, and the qualifiers of the answer; absent: no objects. */
interface Row {
  readonly group: number;
  readonly variations: readonly number[];
  readonly request?: { readonly functions: readonly number[]; readonly qualifiers: readonly string[] };
  readonly answer?: readonly string[];
}

const staticRows = staticGroups.flatMap((group): Row[] => {
  const request = { functions: [read], qualifiers: points };
  return [
    { group, variations: [0], request },
    { group, variations: variationsOf(group), request, answer: spans },
  ];
});

const eventRows = eventGroups.flatMap((group): Row[] => {
  const request = { functions: [read], qualifiers: [...all, ...counts] };
  return [
    { group, variations: [0], request },
    { group, variations: variationsOf(group), request, answer: indexes },
  ];
});

const rows: readonly Row[] = [
  // all attributes, and their list
  { group: 0, variations: [254, 255], request: { functions: [read], qualifiers: [...spans, ...all] }, answer: ['0'] },
  ...staticRows,
  ...eventRows,
  { group: 20, variations: [0], request: { functions: freezes, qualifiers: points } },
  { group: 12, variations: [1], request: { functions: controls, qualifiers: indexes }, answer: indexes },
  { group: 41, variations: [1, 2, 3, 4], request: { functions: controls, qualifiers: indexes }, answer: indexes },
  { group: 34, variations: [0], request: { functions: [read], qualifiers: [...spans, ...all] } },
  { group: 34, variations: [1, 2, 3], request: { functions: [read], qualifiers: [...spans, ...all] }, answer: ['1'] },
  { group: 34, variations: [1, 2, 3], request: { functions: [write], qualifiers: [...spans, ...indexes] } },
  { group: 50, variations: [1], request: { functions: [read], qualifiers: counts }, answer: ['7'] },
  { group: 50, variations: [1, 3], request: { functions: [write], qualifiers: counts } },
  { group: 51, variations: [1, 2], answer: ['7'] },
  { group: 52, variations: [1, 2], answer: ['7'] },
  { group: 60, variations: [1], request: { functions: [read], qualifiers: all } },
  { group: 60, variations: [2, 3, 4], request: { functions: [read], qualifiers: [...all, ...counts] } },
  { group: 60, variations: [1, 2, 3, 4], request: { functions: [assignClass], qualifiers: all } },
  // points behind a class object get its class; outputs have no class
  ...[1, 20, 21, 30].map(
    (group): Row => ({ group, variations: [0], request: { functions: [assignClass], qualifiers: points } }),
  ),
  { group: 80, variations: [1], request: { functions: [read], qualifiers: [...spans, ...all] }, answer: ['0'] },
  { group: 80, variations: [1], request: { functions: [write], qualifiers: spans } },
];

const unsolicitedRow: Row = {
  group: 60,
  variations: [2, 3, 4],
  request: { functions: unsolicitedFunctions, qualifiers: all },
};

function entries({ group, variations, request, answer }: Row): readonly Element[] {
  const answers = answer && { response: { functionCode: response, qualifierCode: answer } };
  return variations.flatMap((variation): Element[] => {
    const head = { objectGroup: group, variation };
    if (request === undefined) return [{ ...head, ...answers }];
    const { functions, qualifiers } = request;
    return functions.map((functionCode) => ({
      ...head,
      request: { functionCode, qualifierCode: qualifiers },
      ...(silentFunctions.has(functionCode) ? {} : answers),
    }));
  });
}

/** Function codes that are not answered with IIN2.0, as the stack has them. */
export function supportedFunctions(unsolicited: boolean): readonly number[] {
  const functions = createFunctionSet({ limits: defaultLimits, clock: { monotonicMs: () => 0, stamp: () => 0 } });
  const handled = Array.from({ length: response }, (_, code) => code).filter(
    (code) => functions.handler(code) !== undefined,
  );
  // functions carried out by an association itself
  const associationFunctions = [functionCodes.confirm, read, ...(unsolicited ? unsolicitedFunctions : [])];
  return [...new Set([...associationFunctions, ...handled])].sort((a, b) => a - b);
}

/** @param facts `unsolicited`: true if unsolicited responses are configured */
export function implementationTable({ unsolicited }: { readonly unsolicited: boolean }): Element {
  return {
    supportedVariation: [...rows, ...(unsolicited ? [unsolicitedRow] : [])].flatMap(entries),
    supportedFunctionCode: supportedFunctions(unsolicited).map((functionCode) => ({ request: { functionCode } })),
  };
}

/** Content of an element by name; a list repeats its element, `{}` is an empty element. */
export interface Element {
  readonly [name: string]: string | number | boolean | Element | readonly Element[] | readonly string[];
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);

/** Elements as text, one on a line; names that begin with `@` are attributes of their element. */
export function elements(of: Element, indent: string): string {
  return Object.entries(of)
    .filter(([name]) => !name.startsWith('@'))
    .map(([name, content]) =>
      (Array.isArray(content) ? (content as readonly (Element | string)[]) : [content as Element | string])
        .map((each) => element(name, each, indent))
        .join(''),
    )
    .join('');
}

function element(name: string, content: Element | string | number | boolean, indent: string): string {
  if (typeof content !== 'object') return `${indent}<${name}>${escaped(String(content))}</${name}>\n`;
  const attributes = Object.entries(content)
    .filter(([key]) => key.startsWith('@'))
    .map(([key, value]) => ` ${key.slice(1)}="${escaped(value as string)}"`)
    .join('');
  const inner = elements(content, `${indent}  `);
  return inner === ''
    ? `${indent}<${name}${attributes}/>\n`
    : `${indent}<${name}${attributes}>\n${inner}${indent}</${name}>\n`;
}
