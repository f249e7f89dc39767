/** Documents that are sent, with faults in them. Members have the names of the standard, at any depth. */
import type { OutgoingDocument } from '../xml/document.ts';

type Member = (name: string, value: unknown) => unknown;

/** A copy in which each member is what the visitor makes of it; undefined leaves it as it is, and goes into it. */
function changed(value: unknown, visit: Member): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => changed(item, visit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const made = visit(name, member);
      return [name, made === undefined ? changed(member, visit) : made];
    }),
  );
}

function documentWith({ name, value }: OutgoingDocument, visit: Member): OutgoingDocument {
  return { name, value: changed(value, visit) } as OutgoingDocument;
}

/** Members of type TimeType in documents that a client sends. */
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

/** @param skewS added to every time; none becomes negative */
export function withSkew(document: OutgoingDocument, skewS: number): OutgoingDocument {
  return documentWith(document, (name, value) =>
    times.has(name) && typeof value === 'number' ? Math.max(0, value + skewS) : undefined,
  );
}

const lfdis: ReadonlySet<string> = new Set(['endDeviceLFDI', 'deviceLFDI', 'lFDI']);

/** Another hexadecimal digit. */
const otherDigit = (digit: string) => ((parseInt(digit, 16) + 1) % 16).toString(16).toUpperCase();

/** @param lfdi null: its own with another last digit */
export function withLfdi(document: OutgoingDocument, lfdi: string | null): OutgoingDocument {
  return documentWith(document, (name, value) => {
    if (!lfdis.has(name) || typeof value !== 'string') return undefined;
    return lfdi?.toUpperCase() ?? value.slice(0, -1) + otherDigit(value.slice(-1));
  });
}

/** @param status of a DERControlResponse; other documents stay as they are */
export function withStatus(document: OutgoingDocument, status: number): OutgoingDocument {
  return document.name === 'DERControlResponse' ? { ...document, value: { ...document.value, status } } : document;
}

/** @param mrid of the event that a DERControlResponse names; null: its own with another first digit */
export function withSubject(document: OutgoingDocument, mrid: string | null): OutgoingDocument {
  if (document.name !== 'DERControlResponse') return document;
  const { subject } = document.value;
  return {
    ...document,
    value: { ...document.value, subject: mrid?.toUpperCase() ?? otherDigit(subject.slice(0, 1)) + subject.slice(1) },
  };
}

/** Whether a document has one of these members, at any depth. */
export function hasMember(document: OutgoingDocument, names: readonly string[]): boolean {
  let found = false;
  documentWith(document, (name, value) => {
    found ||= value !== undefined && names.includes(name);
    return undefined;
  });
  return found;
}

/** Members with a power of ten. */
export const powers: readonly string[] = ['multiplier', 'powerOfTenMultiplier'];

/**
 * Octets without some elements. Made from the octets, because the writer refuses a document that lacks a required one.
 * @param elements local names, of letters and digits
 */
export function withoutElements(xml: Buffer, elements: readonly string[]): Buffer {
  const text = elements.reduce(
    (left, name) =>
      left.replaceAll(new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?(?:/>|>[^]*?</(?:\\w+:)?${name}>)`, 'g'), ''),
    xml.toString('utf8'),
  );
  return Buffer.from(text);
}

/** Octets in which every power of ten is another, in range or not. */
export function withMultipliers(xml: Buffer, shift: number): Buffer {
  const element = new RegExp(`(<(?:${powers.join('|')})>)(-?\\d+)(?=</)`, 'g');
  return Buffer.from(
    xml.toString('utf8').replaceAll(element, (_all, tag: string, power: string) => tag + String(Number(power) + shift)),
  );
}

export type Malformation = 'truncated' | 'not_closed' | 'wrong_namespace' | 'empty';

/** The octets of a document, broken. */
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
