/**
 * XML of a peer as a tree, within limits. Dangerous content is refused before parsing: document types and with them
 * custom entities, octets that are not UTF-8, and more than the limits.
 */
import { createRequire } from 'node:module';
import type * as fastXmlParser from 'fast-xml-parser';
import { errorText, SimError, checkDescriptorsToRequire } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { runWhole } from '../../core/turns.ts';

const require = createRequire(import.meta.url);

export interface XmlLimits {
  readonly octets: number;
  /** maximum depth of elements */
  readonly nesting: number;
  readonly elements: number;
  /** attributes of one element, including namespace declarations */
  readonly attributes: number;
  /** processing instructions, comments and sections of CDATA */
  readonly instructions: number;
}

export const xmlLimits: XmlLimits = {
  octets: 1024 * 1024,
  nesting: 64,
  elements: 50_000,
  attributes: 32,
  instructions: 1000,
};

/**
 * A node in the form of the parser (`preserveOrder`): `{tag: children, ':@': {'@_name': text}}`; text has the tag
 * `#text`, sections of CDATA `#cdata`, processing instructions a tag that begins with `?`. Texts still contain their
 * entities.
 */
export type XmlNode = Readonly<Record<string, readonly XmlNode[] | string | XmlAttributes>>;
export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlElement {
  /** with its prefix */
  readonly tag: string;
  /** names are prefixed with `@_` */
  readonly attributes: XmlAttributes;
  readonly children: readonly XmlNode[];
}

const attributesKey = ':@';
export const attributePrefix = '@_';
const textTag = '#text';
const cdataTag = '#cdata';
const none: XmlAttributes = {};

/** @throws SimError PEER_ERROR always */
export function refuseXml(reason: string): never {
  throw new SimError('PEER_ERROR', `the XML document ${reason}`);
}

const library = memo(() => {
  checkDescriptorsToRequire();
  return require('fast-xml-parser') as typeof fastXmlParser;
});

/**
 * Version 5 of the library marks validation before parsing as deprecated, in favour of a package with the same code.
 */
interface CheckingParser {
  parse(text: string, check: true): unknown;
}

const parsers = new Map<number, CheckingParser>();

function parserFor(nesting: number): CheckingParser {
  const existing = parsers.get(nesting);
  if (existing) return existing;
  const parser = new (library().XMLParser)({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: attributePrefix,
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    processEntities: false,
    cdataPropName: cdataTag,
    jPath: false,
    // the library counts from below the root
    maxNestedTags: nesting - 1,
    onDangerousProperty: refuseName,
  });
  parsers.set(nesting, parser);
  return parser;
}

/** Names with a meaning in JavaScript; no schema uses them. */
function refuseName(name: string): never {
  return refuseXml(`has the name ${name}, which is reserved`);
}

/** Characters that XML 1.0 does not allow, and unpaired surrogates. */
export const noXmlCharacter = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

function textOf(octets: Uint8Array, limits: XmlLimits): string {
  if (octets.length > limits.octets) refuseXml(`has ${octets.length} octets, more than ${limits.octets}`);
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch {
    return refuseXml('is not in UTF-8');
  }
  const declaration = /<!(?!--|\[CDATA\[)/u.exec(text);
  if (declaration) refuseXml(`has a document type or another declaration at character ${declaration.index + 1}`);
  const control = noXmlCharacter.exec(text);
  if (control) refuseXml(`has a character at ${control.index + 1} that XML does not permit`);
  return text;
}

/** Ends of markup that is no tag, by its beginning. */
const endOf = { '<?': '?>', '<!--': '-->', '<![CDATA[': ']]>' } as const;

/** Characters from which on a text is parsed in pieces, and of one piece. */
const pieceLength = 32 * 1024;
/** Tags that are looked at in one part. */
const tagsAtOnce = 2000;

/** A place between two tags, and the names of the elements that are open there, outermost first. */
interface Cut {
  readonly at: number;
  readonly open: readonly string[];
}

/** The cuts of a text into pieces: none from the first tag on that does not fit the others. */
class Cuts {
  readonly cuts: Cut[] = [];
  readonly #open: string[] = [];
  #isSound = true;
  #last = 0;

  /** Takes the next tag. @param end index of its last character */
  take(text: string, start: number, end: number): void {
    if (!this.#isSound) return;
    if (text[start + 1] === '/') this.#isSound = this.#open.pop() === text.slice(start + 2, end).trim();
    else if (text[end - 1] !== '/') this.#open.push(/^[^\s>]*/u.exec(text.slice(start + 1, end))?.[0] ?? '');
    if (!this.#isSound || this.#open.length === 0 || end + 1 - this.#last < pieceLength) return;
    this.#last = end + 1;
    this.cuts.push({ at: end + 1, open: [...this.#open] });
  }
}

/** Counts what the parser would build, before it does. @returns where the text is cut for it */
function* countMarkup(text: string, limits: XmlLimits): Generator<undefined, readonly Cut[]> {
  const pieces = new Cuts();
  let tags = 0;
  let elements = 0;
  let instructions = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const kind = (['<?', '<!--', '<![CDATA['] as const).find((start) => text.startsWith(start, at));
    if (kind !== undefined) {
      // comments divide texts, so they add nodes too
      if (++instructions > limits.instructions)
        refuseXml(`has more than ${limits.instructions} instructions, comments and sections of CDATA`);
      const end = text.indexOf(endOf[kind], at + kind.length);
      // the parser reports markup that never ends
      if (end < 0) break;
      at = end;
      continue;
    }
    if (text[at + 1] !== '/' && ++elements > limits.elements) refuseXml(`has more than ${limits.elements} elements`);
    const end = endOfTag(text, at, limits.attributes);
    pieces.take(text, at, end);
    if (++tags % tagsAtOnce === 0) yield;
    at = end;
  }
  return pieces.cuts;
}

const blank = /\s/u;

/** Index of the end of a tag, or of the text. @throws SimError PEER_ERROR for more attributes than `maxAttributes` */
function endOfTag(text: string, start: number, maxAttributes: number): number {
  let names = 0;
  let values = 0;
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (sign === '>') return at;
    if (sign === '"' || sign === "'") {
      const end = text.indexOf(sign, at + 1);
      if (end < 0) return text.length;
      at = end;
    } else if (sign === '=') values += 1;
    else if (!'/"\''.includes(sign) && !blank.test(sign) && blank.test(text[at - 1] ?? '')) names += 1;
    if (Math.max(names, values) > maxAttributes) refuseXml(`has an element with more than ${maxAttributes} attributes`);
  }
  return text.length;
}

/** The element of a node. null: text, section of CDATA or instruction. */
export function elementOf(node: XmlNode): XmlElement | null {
  for (const tag in node) {
    if (tag === attributesKey) continue;
    if (tag === textTag || tag === cdataTag || tag.startsWith('?')) return null;
    const attributes = node[attributesKey] as XmlAttributes | undefined;
    return { tag, attributes: attributes ?? none, children: node[tag] as readonly XmlNode[] };
  }
  return null;
}

export const localName = (tag: string): string => tag.slice(tag.indexOf(':') + 1);

function checkName(tag: string): void {
  if (localName(tag) in Object.prototype) refuseName(localName(tag));
}

function checkElement({ tag, attributes, children }: XmlElement): void {
  checkName(tag);
  for (const name in attributes) checkName(name.slice(attributePrefix.length));
  for (const child of children) {
    const element = elementOf(child);
    if (element) checkElement(element);
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(entity: string, name: string): string {
  const predefined = Object.hasOwn(entities, name) ? entities[name] : undefined;
  if (predefined !== undefined) return predefined;
  const digits = /^#(?:x([0-9a-f]{1,8})|([0-9]{1,8}))$/iu.exec(name);
  if (!digits) return refuseXml(`has the entity ${entity.slice(0, 40)}, which XML does not have`);
  const point = digits[1] === undefined ? Number(digits[2]) : parseInt(digits[1], 16);
  if (point > 0x10ffff || noXmlCharacter.test(String.fromCodePoint(point)))
    return refuseXml(`has the entity ${entity}, which is no character of XML`);
  return String.fromCodePoint(point);
}

/** Decodes entities: the five of XML, and numeric references. @throws SimError PEER_ERROR */
export function withoutEntities(text: string): string {
  return text.includes('&') ? text.replace(/&([^;&]*);?/gu, decoded) : text;
}

/** The text of an element, without that of child elements. @throws SimError PEER_ERROR */
export function elementText(children: readonly XmlNode[]): string {
  let text = '';
  for (const node of children) {
    const plain = node[textTag];
    if (typeof plain === 'string') text += withoutEntities(plain);
    for (const { [textTag]: part } of (node[cdataTag] ?? []) as readonly XmlNode[])
      if (typeof part === 'string') text += part;
  }
  return text;
}

const isBlank = (node: XmlNode): boolean => {
  const text = node[textTag];
  return typeof text === 'string' ? text.trim() === '' : !(cdataTag in node);
};

/** True if the text ends with a tag, apart from comments and instructions; the parser ignores text after the root. */
function endsWithTag(text: string): boolean {
  let end = text.trimEnd();
  for (;;) {
    const start = end.endsWith('-->') ? '<!--' : end.endsWith('?>') ? '<?' : null;
    if (start === null) return end.endsWith('>');
    end = end.slice(0, end.lastIndexOf(start)).trimEnd();
  }
}

/** Where a piece begins in the whole text: lines before it, and columns before it in its first line. */
interface Begin {
  readonly lines: number;
  readonly columns: number;
}

/** Message of the parser with its position in the whole text. Messages of the validation alone end with a position. */
function placed(message: string, { lines, columns }: Begin): string {
  const [, reason = message, line, column = ''] = /^(.*):([0-9]+):([0-9]+|undefined)$/su.exec(message) ?? [];
  if (line === undefined || column === 'undefined') return reason.slice(0, 200);
  const place = `line ${Number(line) + lines}, column ${Number(column) + (line === '1' ? columns : 0)}`;
  return `${place}: ${reason.slice(0, 200)}`;
}

/** With blanks: the parser permits an XML declaration in the first characters, but only the first piece may have one. */
const startTag = (name: string) => `<${name}        >`;
const endTag = (name: string) => `</${name}>`;

/** Children of the elements still open at the end of the nodes, outermost first; the tree is still being built. */
function openChildren(nodes: readonly XmlNode[], depth: number): XmlNode[][] {
  const open: XmlNode[][] = [];
  for (let last = nodes.at(-1); open.length < depth && last !== undefined; ) {
    const children = (elementOf(last)?.children ?? []) as XmlNode[];
    open.push(children);
    last = children.at(-1);
  }
  return open;
}

/**
 * Adds the nodes of a piece to the tree.
 * @param depth number of elements that the piece begins in: each is the first node in the one around it
 */
function join(tree: XmlNode[], piece: readonly XmlNode[], depth: number): void {
  const places = [tree, ...openChildren(tree, depth)];
  let nodes = piece;
  for (const [level, place] of places.entries()) {
    const [around] = nodes;
    for (const node of level < depth ? nodes.slice(1) : nodes) place.push(node);
    nodes = (around === undefined ? null : elementOf(around))?.children ?? [];
  }
}

/** The nodes of a text; its pieces are parsed with the tags of the elements around them. */
function* nodesOf(text: string, cuts: readonly Cut[], nesting: number): Generator<undefined, readonly XmlNode[]> {
  const tree: XmlNode[] = [];
  let start: Cut = { at: 0, open: [] };
  let lines = 0;
  for (const end of [...cuts, { at: text.length, open: [] }]) {
    const head = start.open.map(startTag).join('');
    const body = text.slice(start.at, end.at);
    const columns = start.at === 0 ? 0 : start.at - 1 - text.lastIndexOf('\n', start.at - 1) - head.length;
    const piece = parsed(`${head}${body}${end.open.toReversed().map(endTag).join('')}`, nesting, { lines, columns });
    for (const element of piece.map(elementOf)) if (element) checkElement(element);
    if (start.at === 0) tree.push(...piece);
    else join(tree, piece, start.open.length);
    lines += body.split('\n').length - 1;
    start = end;
    yield;
  }
  return tree;
}

function parsed(text: string, nesting: number, begin: Begin): readonly XmlNode[] {
  try {
    return parserFor(nesting).parse(text, true) as readonly XmlNode[];
  } catch (error) {
    if (error instanceof SimError) throw error;
    return refuseXml(`cannot be read: ${placed(errorText(error), begin)}`);
  }
}

/**
 * The root of a document.
 * @throws SimError PEER_ERROR with the reason and, where possible, the place; SHORTAGE
 */
export function parseTree(octets: Uint8Array, limits: XmlLimits): XmlElement {
  return runWhole(treeInParts(octets, limits));
}

/** As `parseTree`, with pauses. @throws as `parseTree` */
export function* treeInParts(octets: Uint8Array, limits: XmlLimits): Generator<undefined, XmlElement> {
  const text = textOf(octets, limits);
  const cuts = yield* countMarkup(text, limits);
  const nodes = yield* nodesOf(text, cuts, limits.nesting);
  const roots = nodes.map(elementOf).filter((element) => element !== null);
  const [root] = roots;
  const isOne = endsWithTag(text) && nodes.every((node) => elementOf(node) !== null || isBlank(node));
  if (root === undefined || roots.length > 1 || !isOne) return refuseXml('is not one root element alone');
  return root;
}
