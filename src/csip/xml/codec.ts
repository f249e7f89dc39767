/**
 * Reads and writes documents of IEEE 2030.5 by the tables of the schema. Reading is lenient, since servers in the field
 * differ; writing gives what the schema of the chosen revision accepts, or fails.
 */
import {
  controlTypes,
  documentType,
  isDocumentName,
  isNotifiable,
  polymorphic,
  vocabularies,
  vocabularyOf,
  xsiNamespace,
  ausNamespaces,
  draftNamespace,
  sepNamespace,
} from './schema.ts';
import type {
  Departure,
  DepartureKind,
  Member,
  OutgoingDocument,
  ReceivedDocument,
  Revision,
  UnreadMember,
  Vocabulary,
} from './schema.ts';
import {
  treeInParts,
  xmlLimits,
  attributePrefix,
  elementOf,
  elementText,
  localName,
  refuseXml,
  withoutEntities,
  noXmlCharacter,
} from './tree.ts';
import type { XmlLimits, XmlElement } from './tree.ts';
import { pointerStep, SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { runWhole } from '../../core/turns.ts';
import type { ScalarFacts } from './tables.ts';
import type { CsipAusVersion } from '../../contract/csip-settings.ts';

type Scalar = string | number | boolean;

/** A value, with a note if it differs from the text; or the reason for its absence, which the schema may allow. */
type ReadScalar =
  | { readonly value: Scalar; readonly note?: string; readonly isAllowed?: never }
  | { readonly value?: never; readonly note: string; readonly isAllowed?: true };

const quoted = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
/** 64-bit types end at the maximum safe integer in the table; peers send larger numbers for "far away". */
const isWide = (max: number) => max === Number.MAX_SAFE_INTEGER;

function readInteger(text: string, { min = 0, max = 0 }: ScalarFacts): ReadScalar {
  if (!/^[+-]?[0-9]{1,40}$/u.test(text)) return { note: `${quoted(text)} is no integer` };
  // turns -0 into 0
  const value = Number(text) + 0;
  const [lower, upper] = isWide(max) ? [min < 0 ? -(2 ** 63) : 0, 2 ** 64] : [min, max];
  return value < lower || value > upper ? { note: `${text} is outside ${min}..${max}` } : { value };
}

function readBoolean(text: string): ReadScalar {
  const word = text.toLowerCase();
  if (word === 'true' || word === '1') return { value: true };
  return word === 'false' || word === '0' ? { value: false } : { note: `${quoted(text)} is no boolean` };
}

/** The usual form of a UUID, which many libraries make for an mRID. */
const uuid = /^\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$/iu;

function readHex(text: string, max: number): ReadScalar {
  if (uuid.test(text)) return { note: `${quoted(text)} is a UUID with hyphens, not hexadecimal digits alone` };
  if (text === '') return { note: `${quoted(text)} is not hexadecimal`, isAllowed: true };
  if (!/^[0-9a-f]+$/iu.test(text)) return { note: `${quoted(text)} is not hexadecimal` };
  const value = text.length % 2 === 0 ? text : `0${text}`;
  if (value.length > 2 * max) return { note: `${quoted(text)} has more than ${max} octets` };
  return value === text ? { value } : { value, note: `${text} has half an octet; it is read as ${value}` };
}

function readText(text: string, max: number): ReadScalar {
  const characters = text.length > max ? Array.from(text) : [];
  if (characters.length <= max) return { value: text };
  return {
    value: characters.slice(0, max).join(''),
    note: `has ${characters.length} characters; the first ${max} are read`,
  };
}

/**
 * The value of a text from a peer. Surrounding space is removed except from strings; 64-bit numbers beyond 2^53 are
 * rounded to the nearest double; hex keeps its case; strings that are too long are cut.
 */
function readScalar(text: string, facts: ScalarFacts): ReadScalar {
  const { kind, max = 0 } = facts;
  if (kind === 'text') return readText(text, max);
  const trimmed = text.trim();
  if (kind === 'integer') return readInteger(trimmed, facts);
  if (kind === 'boolean') return readBoolean(trimmed);
  if (kind === 'hex') return readHex(trimmed, max);
  return trimmed === '' ? { note: 'is an empty URI', isAllowed: true } : { value: trimmed };
}

const everyNoXmlCharacter = new RegExp(noXmlCharacter, 'gu');

/** Keeps valid XML characters only, and writes markup characters as references. */
function escaped(text: string): string {
  return text
    .replace(everyNoXmlCharacter, '')
    .replace(/[&<>"\t\n\r]/gu, (character) => `&#${character.charCodeAt(0)};`);
}

/** The text of a value; or the reason why the schema does not allow it. */
function writeScalar(
  value: unknown,
  { kind, min = 0, max = 0 }: ScalarFacts,
): { readonly text: string } | { readonly reason: string } {
  if (kind === 'integer') {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return { reason: `${String(value)} is no integer` };
    return value < min || value > max ? { reason: `${value} is outside ${min}..${max}` } : { text: String(value) };
  }
  if (kind === 'boolean')
    return typeof value === 'boolean' ? { text: String(value) } : { reason: `${String(value)} is no boolean` };
  if (typeof value !== 'string') return { reason: `a ${typeof value} is no text` };
  if (kind === 'hex') {
    const isHex = /^(?:[0-9a-f]{2})+$/iu.test(value) && value.length <= 2 * max;
    return isHex ? { text: value } : { reason: `${quoted(value)} is not 1..${max} octets in hex` };
  }
  if (kind === 'uri')
    return /^\S+$/u.test(value) ? { text: escaped(value) } : { reason: `${quoted(value)} is not a URI` };
  if (Array.from(value.replace(everyNoXmlCharacter, '')).length > max)
    return { reason: `${quoted(value)} has more than ${max} characters` };
  return { text: escaped(value) };
}

/** Work with pauses. */
type Parts<T> = Generator<undefined, T>;

/** Nodes of a document that are read in one part. */
const visitedAtOnce = 500;

/** Maximum of notes of one document; more would only fill the log. */
const maxNotes = 100;
/** Maximum of departures of one document. */
const maxDepartures = 20;

type Values = Record<string, unknown>;

/** A tag with its namespace; `vocabulary` null: neither IEEE 2030.5 nor CSIP-AUS. */
interface Named {
  readonly vocabulary: Vocabulary | null;
  readonly local: string;
  readonly isDraft: boolean;
}

/** Prefixes in force at an element; the default namespace has the prefix ''. */
class Scope {
  readonly #namespaces: ReadonlyMap<string, string>;
  readonly #tags = new Map<string, Named>();

  constructor(namespaces: ReadonlyMap<string, string>) {
    this.#namespaces = namespaces;
  }

  /** The scope of a child element. */
  within({ attributes }: XmlElement): Scope {
    let namespaces: Map<string, string> | undefined;
    for (const name in attributes) {
      if (!name.startsWith('@_xmlns')) continue;
      const prefix = name === '@_xmlns' ? '' : name.startsWith('@_xmlns:') ? name.slice('@_xmlns:'.length) : null;
      if (prefix === null) continue;
      namespaces ??= new Map(this.#namespaces);
      namespaces.set(prefix, withoutEntities(attributes[name] ?? '').trim());
    }
    return namespaces ? new Scope(namespaces) : this;
  }

  namespaceOf(prefix: string): string | undefined {
    return this.#namespaces.get(prefix);
  }

  named(tag: string): Named {
    let named = this.#tags.get(tag);
    if (!named) {
      const colon = tag.indexOf(':');
      const namespace = this.#namespaces.get(colon < 0 ? '' : tag.slice(0, colon)) ?? '';
      named = {
        vocabulary: vocabularies.get(namespace) ?? null,
        local: localName(tag),
        isDraft: namespace === draftNamespace,
      };
      this.#tags.set(tag, named);
    }
    return named;
  }

  /** The name in `xsi:type`, without its prefix. */
  typeOf({ attributes }: XmlElement): string | null {
    for (const name in attributes) {
      const bare = name.slice(attributePrefix.length);
      if (
        localName(bare) === 'type' &&
        this.namespaceOf(bare.slice(0, Math.max(bare.indexOf(':'), 0))) === xsiNamespace
      )
        return localName(withoutEntities(attributes[name] ?? '').trim());
    }
    return null;
  }
}

function isDisabled({ attributes }: XmlElement): boolean {
  return /^\s*(?:true|1)\s*$/iu.test(attributes[`${attributePrefix}disabled`] ?? '');
}

/** Reads one document. Objects have no prototype, and their keys come from the tables. */
class DocumentReader {
  readonly #notes: Issue[] = [];
  readonly #departures: Departure[] = [];
  /** of the last note, also of one too many */
  #lastDetail = '';
  readonly #maxDepartures: number;
  /** nodes so far */
  #visited = 0;

  /** @param isJudged true: departures from the schema are collected */
  constructor(isJudged: boolean) {
    this.#maxDepartures = isJudged ? maxDepartures : 0;
  }

  /** @throws SimError PEER_ERROR */
  *read(root: XmlElement): Parts<ReceivedDocument> {
    // one scope per document: a shared one would keep every tag that peers send
    const scope = new Scope(new Map()).within(root);
    const { vocabulary, local, isDraft } = scope.named(root.tag);
    const tag = root.tag.slice(0, 80);
    if (!isDocumentName(local)) return refuseXml(`has the root ${tag}, which a client does not use`);
    if (vocabulary !== vocabularyOf(local)) refuseXml(`has the root ${tag} in no namespace of IEEE 2030.5 or CSIP-AUS`);
    if (isDraft) this.#depart('namespace', '', `is in the namespace ${draftNamespace} of a draft`);
    const value = yield* this.#members(local, root, scope, '');
    // the tables give the value the type of this name
    const document = { name: local, value } as unknown as ReceivedDocument;
    return {
      ...document,
      ...(this.#notes.length > 0 && { notes: this.#notes }),
      ...(this.#departures.length > 0 && { departures: this.#departures }),
    };
  }

  *#members(type: string, element: XmlElement, scope: Scope, path: string): Parts<Values> {
    const { attributes, children } = element;
    const values = { __proto__: null } as unknown as Values;
    const { byName, required } = documentType(type);
    for (const key in attributes) {
      const name = key.slice(attributePrefix.length);
      const member = byName.get(name);
      if (member?.isAttribute !== true || member.scalar === null) continue;
      const value = this.#scalar(withoutEntities(attributes[key] ?? ''), member.scalar, `${path}${pointerStep(name)}`);
      if (value !== undefined) values[name] = value;
    }
    const unread = new Map<string, UnreadMember>();
    let last: Member | undefined;
    for (const node of children) {
      if (++this.#visited % visitedAtOnce === 0) yield;
      const child = elementOf(node);
      if (child === null) continue;
      const member = yield* this.#child(values, byName, child, scope, path);
      if (member) unread.set(member.name, member.why);
      last = this.#ordered(byName.get(localName(child.tag)), last, path);
    }
    if (this.#maxDepartures > 0)
      for (const member of required) if (!(member.name in values)) this.#lacks(member, element, path);
    // of two elements of one name, one may be of another vocabulary
    for (const name of unread.keys()) if (name in values) unread.delete(name);
    // beside the modes, elements of foreign namespaces are extensions, which a client skips
    for (const [name, { reason, detail }] of unread) {
      if (reason === 'namespace') this.#noteOnly(`${path}${pointerStep(name)}`, detail);
      if (reason === 'namespace' && !(type === 'DERControlBase' && name.startsWith('opMod'))) unread.delete(name);
    }
    if (controlTypes().has(type) && unread.size > 0) values['unread'] = Object.fromEntries(unread);
    return values;
  }

  /** Reads a child element into `values`. @returns the member that the element stands for, if it is unread, and why */
  *#child(
    values: Values,
    byName: ReadonlyMap<string, Member>,
    child: XmlElement,
    outer: Scope,
    path: string,
  ): Parts<{ readonly name: string; readonly why: UnreadMember } | undefined> {
    const scope = outer.within(child);
    const { vocabulary, local } = scope.named(child.tag);
    const member = byName.get(local);
    if (member?.isAttribute === true && vocabulary === member.vocabulary)
      this.#depart('attribute', `${path}${pointerStep(local)}`, 'is an element, and an attribute in the schema');
    if (member === undefined || member.isAttribute || isDisabled(child)) return undefined;
    // an element in a namespace of its own may be an extension
    if (member.vocabulary !== vocabulary && vocabulary !== null)
      this.#depart('namespace', `${path}${pointerStep(local)}`, 'is in a namespace that does not have it');
    if (member.vocabulary !== vocabulary)
      return { name: local, why: { reason: 'namespace', detail: `${local} is in no namespace that has it` } };
    if (member.maxOccurs === 1) {
      const at = `${path}${pointerStep(local)}`;
      if (local in values) {
        this.#note(at, 'comes more than once; the first is read');
        return undefined;
      }
      const value = yield* this.#value(member, child, scope, at);
      if (value !== undefined) values[local] = value;
      else if (member.scalar?.kind === 'integer' || member.scalar?.kind === 'boolean')
        return { name: local, why: { reason: 'value', detail: `${local}: ${this.#lastDetail}` } };
      return undefined;
    }
    const list = (values[local] ??= []) as unknown[];
    const value = yield* this.#value(member, child, scope, `${path}${pointerStep(local)}/${list.length}`);
    if (value !== undefined) list.push(value);
    return undefined;
  }

  *#value({ name, type, scalar }: Member, element: XmlElement, scope: Scope, path: string): Parts<unknown> {
    if (scalar) return this.#scalar(elementText(element.children), scalar, path);
    if (name !== polymorphic) return yield* this.#members(type, element, scope, path);
    const actual = scope.typeOf(element);
    if (actual === null || !isNotifiable(actual)) {
      this.#note(
        path,
        actual === null ? 'has no xsi:type' : `has the type ${actual.slice(0, 80)}, which a client does not use`,
      );
      return undefined;
    }
    return { name: actual, value: yield* this.#members(actual, element, scope, `${path}/value`) };
  }

  #scalar(text: string, facts: ScalarFacts, path: string): Scalar | undefined {
    const read = readScalar(text, facts);
    if (read.isAllowed === true) this.#noteOnly(path, read.note);
    else if (read.note !== undefined) this.#note(path, read.note);
    return read.value;
  }

  /** Notes an element before its place. @returns the last element in its place; members of CSIP-AUS may be anywhere */
  #ordered(member: Member | undefined, last: Member | undefined, path: string): Member | undefined {
    if (member === undefined || member.isAttribute || member.vocabulary !== 'sep') return last;
    if (last === undefined || member.place >= last.place) return member;
    this.#depart('order', `${path}${pointerStep(member.name)}`, `comes after ${last.name}`);
    return last;
  }

  /** Notes the absence of a required member, unless it is there in another form. */
  #lacks({ name }: Member, { attributes, children }: XmlElement, path: string): void {
    const isThere =
      `${attributePrefix}${name}` in attributes ||
      children.some((node) => localName(elementOf(node)?.tag ?? '') === name);
    if (!isThere) this.#depart('missing', `${path}${pointerStep(name)}`, 'is absent, and required by the schema');
  }

  #depart(kind: DepartureKind, path: string, detail: string): void {
    if (this.#departures.length < this.#maxDepartures) this.#departures.push({ kind, path, detail });
  }

  #note(name: string, detail: string): void {
    this.#depart('value', name, detail);
    this.#noteOnly(name, detail);
  }

  #noteOnly(name: string, detail: string): void {
    this.#lastDetail = detail;
    if (this.#notes.length < maxNotes) this.#notes.push({ name, detail });
  }
}

/** Revision and extension that the server understands. */
export interface BuildOptions {
  readonly revision: Revision;
  /** null: no extension */
  readonly aus: CsipAusVersion | null;
}

const ausPrefix = 'csipaus';
const tagOf = (vocabulary: Vocabulary, name: string) => (vocabulary === 'aus' ? `${ausPrefix}:${name}` : name);

function fail(path: string, reason: string): never {
  throw new SimError('INTERNAL', `${path} of the document: ${reason}`);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes documents for one revision and version. */
class DocumentWriter {
  readonly #options: BuildOptions;

  constructor(options: BuildOptions) {
    this.#options = options;
  }

  /** @throws SimError INTERNAL */
  write({ name, value }: OutgoingDocument): string {
    const { revision, aus } = this.#options;
    if (!isDocumentName(name)) return fail(String(name), 'no such document');
    const vocabulary = vocabularyOf(name);
    if (vocabulary === 'aus' && aus === null) return fail(name, 'belongs to CSIP-AUS');
    const extension = aus === null ? '' : ` xmlns:${ausPrefix}="${ausNamespaces[aus]}"`;
    // IEEE 2030.5-2023 requires it on every document; the schema of 2018 refuses it
    const version = revision === '2023' && vocabulary === 'sep' ? ' schemaVer="2.2"' : '';
    const root = this.#element(
      tagOf(vocabulary, name),
      name,
      value,
      name,
      ` xmlns="${sepNamespace}"${extension}${version}`,
    );
    return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
  }

  #element(tag: string, type: string, value: unknown, path: string, declarations = ''): string {
    if (!isRecord(value)) return fail(path, 'is not an object');
    const { members, byName } = documentType(type);
    for (const name of Object.keys(value))
      if (value[name] !== undefined && !byName.has(name)) fail(`${path}.${name}`, 'the schema does not have it');
    let attributes = declarations;
    let content = '';
    for (const member of members) {
      const { name, isAttribute } = member;
      const memberValue = value[name];
      const at = `${path}.${name}`;
      const isKnown = this.#has(member);
      if (memberValue === undefined) {
        if (member.isRequired && isKnown) fail(at, 'is required');
      } else if (!isKnown) fail(at, `belongs to ${member.since ?? ''}, which the server is not set to`);
      else if (isAttribute) attributes += ` ${name}="${this.#text(member, memberValue, at)}"`;
      else content += this.#occurrences(member, memberValue, at);
    }
    return content === '' ? `<${tag}${attributes}/>` : `<${tag}${attributes}>${content}</${tag}>`;
  }

  #occurrences(member: Member, value: unknown, path: string): string {
    if (member.maxOccurs === 1) return this.#child(member, value, path);
    if (!Array.isArray(value)) return fail(path, 'is not a list');
    const minOccurs = member.isRequired ? 1 : 0;
    if (value.length < minOccurs || value.length > member.maxOccurs) fail(path, `has ${value.length} items`);
    return value.map((each: unknown, index) => this.#child(member, each, `${path}[${index}]`)).join('');
  }

  #child(member: Member, value: unknown, path: string): string {
    const { name, type, vocabulary } = member;
    const tag = tagOf(vocabulary, name);
    if (member.scalar) return `<${tag}>${this.#text(member, value, path)}</${tag}>`;
    if (name !== polymorphic) return this.#element(tag, type, value, path);
    if (!isRecord(value) || typeof value['name'] !== 'string' || !isNotifiable(value['name']))
      return fail(path, 'is not the resource of a notification');
    const { name: actual, value: resource } = value;
    return this.#element(tag, actual, resource, path, ` xmlns:xsi="${xsiNamespace}" xsi:type="${actual}"`);
  }

  #text({ scalar }: Member, value: unknown, path: string): string {
    if (scalar === null) return fail(path, 'is no text');
    const written = writeScalar(value, scalar);
    return 'text' in written ? written.text : fail(path, written.reason);
  }

  /** True if the revision or the extension of the server has a member. */
  #has({ since }: Member): boolean {
    const { revision, aus } = this.#options;
    if (since === undefined) return true;
    if (since === '2023') return revision === '2023';
    return since === 'aus 1.2' ? aus !== null : aus === '1.3';
  }
}

/**
 * Parses a body.
 * Members may come in any order, and any may be missing. Unknown elements, attributes and namespaces are skipped, and
 * so are members with `disabled="true"` (IEEE 2030.5-2023). A member whose text does not fit its type is left out with
 * a note.
 * @param isJudged true: with its `departures`
 * @throws SimError PEER_ERROR: not well-formed, beyond the limits, a declaration (`<!DOCTYPE`), or an unknown document;
 *   SHORTAGE
 */
export function parseDocument(octets: Uint8Array, limits: XmlLimits = xmlLimits, isJudged = false): ReceivedDocument {
  return runWhole(documentInParts(octets, limits, isJudged));
}

/** As `parseDocument`, with pauses; the document is there when all of it has been read. @throws as `parseDocument` */
export function* documentInParts(
  octets: Uint8Array,
  limits: XmlLimits = xmlLimits,
  isJudged = false,
): Parts<ReceivedDocument> {
  return yield* new DocumentReader(isJudged).read(yield* treeInParts(octets, limits));
}

/**
 * The body of a document, with an XML declaration. Characters that XML does not allow are left out of texts.
 * @throws SimError INTERNAL with the path of the member: a value outside its type, a missing required member, a member
 *   that the revision or version does not have
 */
export function buildDocument(document: OutgoingDocument, options: BuildOptions): string {
  return new DocumentWriter(options).write(document);
}
