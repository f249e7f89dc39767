import { pointerStep } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import type { ReceivedDocument } from './document.ts';
import { readScalar } from './scalars.ts';
import type { Scalar } from './scalars.ts';
import {
  documentType,
  isDocumentName,
  isNotifiable,
  polymorphic,
  vocabularies,
  vocabularyOf,
  xsiNamespace,
} from './schema.ts';
import type { Member, Vocabulary } from './schema.ts';
import type { ScalarFacts } from './tables.ts';
import { attributePrefix, elementOf, elementText, localName, refuseXml, withoutEntities } from './tree.ts';
import type { XmlElement } from './tree.ts';

/** Maximum of notes of one document; more would only fill the log. */
const maxNotes = 100;

type Values = Record<string, unknown>;

/** A tag with its namespace; `vocabulary` null: neither IEEE 2030.5 nor CSIP-AUS. */
interface Named {
  readonly vocabulary: Vocabulary | null;
  readonly local: string;
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
      named = { vocabulary: vocabularies.get(namespace) ?? null, local: localName(tag) };
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
export class DocumentReader {
  readonly #notes: Issue[] = [];

  /** @throws SimError PEER_ERROR */
  read(root: XmlElement): ReceivedDocument {
    // one scope per document: a shared one would keep every tag that peers send
    const scope = new Scope(new Map()).within(root);
    const { vocabulary, local } = scope.named(root.tag);
    const shown = root.tag.slice(0, 80);
    if (!isDocumentName(local)) return refuseXml(`has the root ${shown}, which a client does not use`);
    if (vocabulary !== vocabularyOf(local))
      refuseXml(`has the root ${shown} in no namespace of IEEE 2030.5 or CSIP-AUS`);
    const value = this.#members(local, root, scope, '');
    // the tables give the value the type of this name
    const document = { name: local, value } as unknown as ReceivedDocument;
    return this.#notes.length === 0 ? document : { ...document, notes: this.#notes };
  }

  #members(type: string, { attributes, children }: XmlElement, scope: Scope, path: string): Values {
    const values = { __proto__: null } as unknown as Values;
    const { byName } = documentType(type);
    for (const key in attributes) {
      const name = key.slice(attributePrefix.length);
      const member = byName.get(name);
      if (member?.isAttribute !== true || member.scalar === null) continue;
      const value = this.#scalar(withoutEntities(attributes[key] ?? ''), member.scalar, `${path}${pointerStep(name)}`);
      if (value !== undefined) values[name] = value;
    }
    for (const node of children) {
      const child = elementOf(node);
      if (child) this.#child(values, byName, child, scope, path);
    }
    return values;
  }

  #child(values: Values, byName: ReadonlyMap<string, Member>, child: XmlElement, outer: Scope, path: string): void {
    const scope = outer.within(child);
    const { vocabulary, local } = scope.named(child.tag);
    const member = byName.get(local);
    if (member === undefined || member.isAttribute || member.vocabulary !== vocabulary || isDisabled(child)) return;
    if (member.maxOccurs === 1) {
      const at = `${path}${pointerStep(local)}`;
      if (local in values) {
        this.#note(at, 'comes more than once; the first is read');
        return;
      }
      const value = this.#value(member, child, scope, at);
      if (value !== undefined) values[local] = value;
      return;
    }
    const list = (values[local] ??= []) as unknown[];
    const value = this.#value(member, child, scope, `${path}${pointerStep(local)}/${list.length}`);
    if (value !== undefined) list.push(value);
  }

  #value({ name, type, scalar }: Member, element: XmlElement, scope: Scope, path: string): unknown {
    if (scalar) return this.#scalar(elementText(element.children), scalar, path);
    if (name !== polymorphic) return this.#members(type, element, scope, path);
    const actual = scope.typeOf(element);
    if (actual === null || !isNotifiable(actual)) {
      this.#note(
        path,
        actual === null ? 'has no xsi:type' : `has the type ${actual.slice(0, 80)}, which a client does not use`,
      );
      return undefined;
    }
    return { name: actual, value: this.#members(actual, element, scope, `${path}/value`) };
  }

  #scalar(text: string, facts: ScalarFacts, path: string): Scalar | undefined {
    const read = readScalar(text, facts);
    if (read.note !== undefined) this.#note(path, read.note);
    return read.value;
  }

  #note(name: string, detail: string): void {
    if (this.#notes.length < maxNotes) this.#notes.push({ name, detail });
  }
}
