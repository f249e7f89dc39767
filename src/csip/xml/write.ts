import type { CsipAusVersion } from '../../contract/csip-settings.ts';
import { SimError } from '../../core/errors.ts';
import type { OutgoingDocument, Revision } from './document.ts';
import { writeScalar } from './scalars.ts';
import {
  ausNamespaces,
  documentType,
  isDocumentName,
  isNotifiable,
  polymorphic,
  sepNamespace,
  vocabularyOf,
  xsiNamespace,
} from './schema.ts';
import type { Member, Vocabulary } from './schema.ts';

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
export class DocumentWriter {
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
    const least = member.isRequired ? 1 : 0;
    if (value.length < least || value.length > member.maxOccurs) fail(path, `has ${value.length} items`);
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

  /** True if the revision of the server has a member. */
  #has({ since }: Member): boolean {
    const { revision, aus } = this.#options;
    if (since === undefined) return true;
    if (since === '2023') return revision === '2023';
    return since === 'aus 1.2' ? aus !== null : aus === '1.3';
  }
}
