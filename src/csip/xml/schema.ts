/** Documents of IEEE 2030.5 as values with the names of the schema, and the compiled tables of `tables.ts`. */
import { memo } from '../../core/lazy.ts';
import type { NotifiedResource, Documents } from './documents.ts';
import { documentNames, scalars, types } from './tables.ts';
import type { Row, ScalarFacts } from './tables.ts';
import type { Issue } from '../../core/errors.ts';

/** Vocabulary of an element: IEEE 2030.5, or the extension of CSIP-AUS. */
export type Vocabulary = 'sep' | 'aus';

export interface Member {
  /** without `@` */
  readonly name: string;
  readonly isAttribute: boolean;
  readonly vocabulary: Vocabulary;
  /** null: a type with members, named by `type` */
  readonly scalar: ScalarFacts | null;
  readonly type: string;
  readonly isRequired: boolean;
  /** maximum of occurrences; above 1 the value is a list */
  readonly maxOccurs: number;
  readonly since: Row[3];
  /** in the order of a document, attributes first */
  readonly place: number;
}

interface DocumentType {
  /** in the order of a document, attributes first */
  readonly members: readonly Member[];
  readonly byName: ReadonlyMap<string, Member>;
  /** members that every revision requires */
  readonly required: readonly Member[];
}

function memberOf([name, type, occurs, since]: Row, place: number): Member {
  return {
    place,
    name: name.replace('@', ''),
    isAttribute: name.startsWith('@'),
    vocabulary: since?.startsWith('aus') === true ? 'aus' : 'sep',
    scalar: scalars[type] ?? null,
    type,
    isRequired: occurs === '1' || occurs === '1..10',
    maxOccurs: occurs === '*' ? Infinity : occurs === '1..10' ? 10 : 1,
    since,
  };
}

const compiled = memo(() => {
  const all = new Map<string, DocumentType>();
  for (const [name, rows] of Object.entries(types)) {
    const members = rows.map(memberOf);
    const required = members.filter(({ isRequired, since }) => isRequired && since === undefined);
    all.set(name, { members, byName: new Map(members.map((member) => [member.name, member])), required });
  }
  return all;
});

/** The type of a member that is not a scalar. @throws Error for an unknown type */
export function documentType(name: string): DocumentType {
  const type = compiled().get(name);
  if (!type) throw new Error(`there is no type ${name}`);
  return type;
}

/** The types of controls and curves, where a member that cannot be read must not count as absent. */
export const controlTypes = memo((): ReadonlySet<string> => {
  const all = new Set(['DERControlBase', 'DERCurve']);
  for (const name of all) for (const { scalar, type } of documentType(name).members) if (scalar === null) all.add(type);
  return all;
});

const names: ReadonlySet<string> = new Set(documentNames);
export const isDocumentName = (name: string): name is DocumentName => names.has(name);

/** The vocabulary of a document's root. */
export const vocabularyOf = (name: DocumentName): Vocabulary => (name === 'ConnectionPoint' ? 'aus' : 'sep');

/** Member of `Notification`, of the type in `xsi:type`: a resource of IEEE 2030.5, but no other notification. */
export const polymorphic = 'Resource';
const notNotified: ReadonlySet<string> = new Set(['Notification', 'NotificationList', 'Error', 'ConnectionPoint']);
export const isNotifiable = (name: string): name is NotifiedResource['name'] =>
  isDocumentName(name) && !notNotified.has(name);

export const sepNamespace = 'urn:ieee:std:2030.5:ns';
export const ausNamespaces = { '1.2': 'https://csipaus.org/ns', '1.3': 'https://csipaus.org/ns/v1.3' } as const;
export const xsiNamespace = 'http://www.w3.org/2001/XMLSchema-instance';
/** Used before the publication of 2030.5-2018, and never written. */
export const draftNamespace = 'http://ieee.org/2030.5';
/** Vocabulary by namespace. */
export const vocabularies: ReadonlyMap<string, Vocabulary> = new Map([
  [sepNamespace, 'sep'],
  [draftNamespace, 'sep'],
  [ausNamespaces['1.2'], 'aus'],
  [ausNamespaces['1.3'], 'aus'],
]);

/** Revision of the standard that a server speaks. */
export type Revision = '2018' | '2023';

/** A member that the peer has sent and whose value was not read. */
export interface UnreadMember {
  /** `value`: its text does not fit; `namespace`: it is in no namespace that has it */
  readonly reason: 'value' | 'namespace';
  readonly detail: string;
}

/** A way in which a document departs from its schema; all but some values are read all the same. */
export type DepartureKind =
  /** a value outside its type, or a member that comes twice */
  | 'value'
  /** an element before one that precedes it in the schema */
  | 'order'
  /** a required member is absent */
  | 'missing'
  /** an element in place of the attribute of its name */
  | 'attribute'
  /** an element in a namespace of IEEE 2030.5 or CSIP-AUS that does not have it */
  | 'namespace';

export interface Departure {
  readonly kind: DepartureKind;
  /** JSON pointer into the value of the document */
  readonly path: string;
  readonly detail: string;
}

/** A received document: any member may be missing. */
export type Received<T> = T extends readonly (infer Item)[]
  ? readonly Received<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: Received<T[Name]> | undefined } & {
        /** by name, in a DERControlBase, a DERCurve and the values in them; absent: none */
        readonly unread?: Readonly<Record<string, UnreadMember>>;
      }
    : T;

export type DocumentName = keyof Documents;

/** A document to send; complete, so that its schema accepts it. */
export type OutgoingDocument = {
  [Name in DocumentName]: { readonly name: Name; readonly value: Documents[Name] };
}[DocumentName];

/** A document received from a peer. */
export type ReceivedDocument = {
  [Name in DocumentName]: { readonly name: Name; readonly value: Received<Documents[Name]> };
}[DocumentName] & {
  /** Parts that did not fit the schema, by JSON pointer into `value`; absent: none. Missing members are not noted. */
  readonly notes?: readonly Issue[];
  /** All that the schema does not allow, missing members too; absent: nothing, or it was not asked for. */
  readonly departures?: readonly Departure[];
};
