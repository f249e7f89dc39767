/** Faulty variants of documents to send. Members have the names of the standard, at any depth. */
import type { OutgoingDocument } from '../xml/document.ts';

type Member = (name: string, value: unknown) => unknown;

/** A copy with members replaced by the visitor; undefined keeps a member and descends into it. */
function changed(value: unknown, visit: Member): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => changed(item, visit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const replaced = visit(name, member);
      return [name, replaced === undefined ? changed(member, visit) : replaced];
    }),
  );
}

function documentWith({ name, value }: OutgoingDocument, visit: Member): OutgoingDocument {
  return { name, value: changed(value, visit) } as OutgoingDocument;
}

/** Members of type TimeType in documents of a client. */
const times: ReadonlySet<string> = new Set([
  'changedTime',
  'createdDateTime',
  'dateTime',
  'lastUpdateTime',
  'mfDate',
  'nextUpdateTime',
  'readingTime',
  'start',
  'swActTime',
  'updatedTime',
]);

/** @param skewS added to every time, with a minimum of 0 */
export function withSkew(document: OutgoingDocument, skewS: number): OutgoingDocument {
  return documentWith(document, (name, value) =>
    times.has(name) && typeof value === 'number' ? Math.max(0, value + skewS) : undefined,
  );
}

const lfdis: ReadonlySet<string> = new Set(['endDeviceLFDI', 'deviceLFDI', 'lFDI']);

/** A different hexadecimal digit. */
const otherDigit = (digit: string) => ((parseInt(digit, 16) + 1) % 16).toString(16).toUpperCase();

/** @param lfdi null: the original with another last digit */
export function withLfdi(document: OutgoingDocument, lfdi: string | null): OutgoingDocument {
  return documentWith(document, (name, value) => {
    if (!lfdis.has(name) || typeof value !== 'string') return undefined;
    return lfdi?.toUpperCase() ?? value.slice(0, -1) + otherDigit(value.slice(-1));
  });
}

/** @param status for a DERControlResponse; other documents stay the same */
export function withStatus(document: OutgoingDocument, status: number): OutgoingDocument {
  return document.name === 'DERControlResponse' ? { ...document, value: { ...document.value, status } } : document;
}

/** @param mrid event of a DERControlResponse; null: the original with another first digit */
export function withSubject(document: OutgoingDocument, mrid: string | null): OutgoingDocument {
  if (document.name !== 'DERControlResponse') return document;
  const { subject } = document.value;
  return {
    ...document,
    value: { ...document.value, subject: mrid?.toUpperCase() ?? otherDigit(subject.slice(0, 1)) + subject.slice(1) },
  };
}

/** True if a document has one of these members, at any depth. */
export function hasMember(document: OutgoingDocument, names: readonly string[]): boolean {
  let hasAny = false;
  documentWith(document, (name, value) => {
    hasAny ||= value !== undefined && names.includes(name);
    return undefined;
  });
  return hasAny;
}

/** Members with a power of ten. */
export const powers: readonly string[] = ['multiplier', 'powerOfTenMultiplier'];

/**
 * Removes elements from the octets, since the writer refuses a document without a required one.
 * @param elements local names of letters and digits
 */
export function withoutElements(xml: Buffer, elements: readonly string[]): Buffer {
  const text = elements.reduce(
    (left, name) =>
      left.replaceAll(new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?(?:/>|>[^]*?</(?:\\w+:)?${name}>)`, 'g'), ''),
    xml.toString('utf8'),
  );
  return Buffer.from(text);
}

/** Changes every power of ten in the octets, in range or not. */
export function withMultipliers(xml: Buffer, shift: number): Buffer {
  const element = new RegExp(`(<(?:${powers.join('|')})>)(-?\\d+)(?=</)`, 'g');
  return Buffer.from(
    xml.toString('utf8').replaceAll(element, (_all, tag: string, power: string) => tag + String(Number(power) + shift)),
  );
}

export type Malformation = 'truncated' | 'not_closed' | 'wrong_namespace' | 'empty';

/** A malformed version of the octets of a document. */
export function malformed(xml: Buffer, mode: Malformation): Buffer {
  switch (mode) {
    case 'truncated':
      return xml.subarray(0, Math.floor(xml.length / 2));
    case 'not_closed':
      return xml.subarray(0, Math.max(0, xml.lastIndexOf('</')));
    case 'wrong_namespace':
      return Buffer.from(xml.toString('utf8').replace('urn:ieee:std:2030.5:ns', 'http://ieee.org/2030.5'));
    case 'empty':
      return Buffer.alloc(0);
  }
}
