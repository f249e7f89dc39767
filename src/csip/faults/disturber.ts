/** Carries out the faults of an IEEE 2030.5 client on each request that it sends, and on the documents in them. */
import { targetOf } from '../../fault-kinds/rows.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultSource } from '../../core/faults/registry.ts';
import {
  clockSkewFault,
  delayFault,
  dropFault,
  duplicateFault,
  malformedXmlFault,
  missingElementFault,
  staleFault,
  suppressFault,
  tlsFailureFault,
  wrongContentTypeFault,
  wrongLfdiFault,
  wrongMultiplierFault,
  wrongStatusFault,
  wrongSubjectFault,
} from '../../fault-kinds/csip.ts';
import type { Disturbable, Disturbance, ExchangeDisturber } from '../transport/exchange.ts';
import type { OutgoingDocument } from '../xml/schema.ts';

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
function withSkew(document: OutgoingDocument, skewS: number): OutgoingDocument {
  return documentWith(document, (name, value) =>
    times.has(name) && typeof value === 'number' ? Math.max(0, value + skewS) : undefined,
  );
}

const lfdis: ReadonlySet<string> = new Set(['endDeviceLFDI', 'deviceLFDI', 'lFDI']);

/** A different hexadecimal digit. */
const otherDigit = (digit: string) => ((parseInt(digit, 16) + 1) % 16).toString(16).toUpperCase();

/** @param lfdi null: the original with another last digit */
function withLfdi(document: OutgoingDocument, lfdi: string | null): OutgoingDocument {
  return documentWith(document, (name, value) => {
    if (!lfdis.has(name) || typeof value !== 'string') return undefined;
    return lfdi?.toUpperCase() ?? value.slice(0, -1) + otherDigit(value.slice(-1));
  });
}

/** @param status for a DERControlResponse; other documents stay the same */
function withStatus(document: OutgoingDocument, status: number): OutgoingDocument {
  return document.name === 'DERControlResponse' ? { ...document, value: { ...document.value, status } } : document;
}

/** @param mrid event of a DERControlResponse; null: the original with another first digit */
function withSubject(document: OutgoingDocument, mrid: string | null): OutgoingDocument {
  if (document.name !== 'DERControlResponse') return document;
  const { subject } = document.value;
  return {
    ...document,
    value: { ...document.value, subject: mrid?.toUpperCase() ?? otherDigit(subject.slice(0, 1)) + subject.slice(1) },
  };
}

/** True if a document has one of these members, at any depth. */
function hasMember(document: OutgoingDocument, names: readonly string[]): boolean {
  let hasAny = false;
  documentWith(document, (name, value) => {
    hasAny ||= value !== undefined && names.includes(name);
    return undefined;
  });
  return hasAny;
}

/** Members with a power of ten. */
const powers: readonly string[] = ['multiplier', 'powerOfTenMultiplier'];

/**
 * Removes elements from the octets, since the writer refuses a document without a required element.
 * @param elements local names of letters and digits
 */
function withoutElements(xml: Buffer, elements: readonly string[]): Buffer {
  const text = elements.reduce(
    (left, name) =>
      left.replaceAll(new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?(?:/>|>[^]*?</(?:\\w+:)?${name}>)`, 'g'), ''),
    xml.toString('utf8'),
  );
  return Buffer.from(text);
}

/** Changes every power of ten in the octets, in range or not. */
function withMultipliers(xml: Buffer, shift: number): Buffer {
  const element = new RegExp(`(<(?:${powers.join('|')})>)(-?\\d+)(?=</)`, 'g');
  return Buffer.from(
    xml.toString('utf8').replaceAll(element, (_all, tag: string, power: string) => tag + String(Number(power) + shift)),
  );
}

type Malformation = 'truncated' | 'not_closed' | 'wrong_namespace' | 'empty';

/** A malformed version of the octets of a document. */
function malformed(xml: Buffer, mode: Malformation): Buffer {
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

/** A disturbance to which faults add their changes. */
type Draft = { -readonly [Name in keyof Disturbance]: Disturbance[Name] };

/** Maximum of addresses whose first document a `stale` fault remembers. */
const maxRemembered = 1000;

/**
 * The decisions about a request, in this order. Only a fault whose decision is reached counts a strike:
 * 1. the first `drop`, `suppress` or `tls_failure` that strikes is the whole disturbance: the request is not sent, or
 * its connection fails;
 * 2. delays add up;
 * 3. faults of documents change the document in order of injection, then the octets and headers.
 * A request about no single device is affected only by faults for all devices and without a condition.
 */
export function createCsipDisturber(options: FaultSource): ExchangeDisturber {
  return new RequestDisturber(options);
}

class RequestDisturber implements ExchangeDisturber {
  readonly #options: FaultSource;
  #faults: readonly ActiveFault[] = [];
  /** first document by address, for each `stale` fault */
  readonly #first = new Map<ActiveFault, Map<string, OutgoingDocument>>();

  constructor(options: FaultSource) {
    this.#options = options;
    const { registry } = options;
    const update = () => {
      this.#faults = registry.active.filter(({ protocol }) => protocol === 'csip');
      for (const fault of this.#first.keys()) if (!this.#faults.includes(fault)) this.#first.delete(fault);
    };
    registry.onChange(update);
    update();
  }

  get active(): boolean {
    return this.#faults.length > 0;
  }

  disturb(request: Disturbable): Disturbance | null {
    const matching = this.#faults.filter((fault) => this.#matches(fault, request));
    if (matching.length === 0) return null;
    const strikes = (fault: ActiveFault) => fault.strikes(request.deviceIndex);
    for (const fault of matching) {
      if (fault.isOf(dropFault) && strikes(fault)) return { drop: true };
      if (fault.isOf(suppressFault) && request.method !== 'GET' && strikes(fault)) return { suppress: true };
      if (fault.isOf(tlsFailureFault) && strikes(fault)) return { tls: fault.parameters.mode };
    }
    const draft: Draft = {};
    for (const fault of matching) this.#apply(fault, request, draft, strikes);
    return Object.keys(draft).length === 0 ? null : draft;
  }

  #matches(fault: ActiveFault, { deviceIndex, resource, path }: Disturbable): boolean {
    if (fault.isOver) return false;
    const { resources } = targetOf(fault.facts.target);
    if (resources !== undefined && !resources.some((name) => name === resource || name === path)) return false;
    if (deviceIndex === null) return fault.isOfAll && fault.facts.when === null;
    return fault.concerns(deviceIndex) && this.#options.holds(fault, deviceIndex);
  }

  #apply(fault: ActiveFault, request: Disturbable, draft: Draft, strikes: (fault: ActiveFault) => boolean): void {
    if (fault.isOf(delayFault)) {
      if (!strikes(fault)) return;
      const { delay_ms: delayMs, jitter_ms: jitterMs } = fault.parameters;
      draft.delayMs = (draft.delayMs ?? 0) + delayMs + fault.random.next() * jitterMs;
    } else if (fault.isOf(duplicateFault)) {
      if (request.method !== 'GET' && strikes(fault)) draft.twice = true;
    } else if (request.body !== null) {
      this.#changeDocument(fault, request, draft.body ?? request.body, draft, strikes);
    }
  }

  /** Applies faults of documents. @param body after the changes of earlier faults */
  #changeDocument(
    fault: ActiveFault,
    request: Disturbable,
    body: OutgoingDocument,
    draft: Draft,
    strikes: (fault: ActiveFault) => boolean,
  ): void {
    const rewrite = octetChange(fault, body);
    if (rewrite !== null) {
      if (!strikes(fault)) return;
      const { rewrite: before = (xml: Buffer) => xml } = draft;
      draft.rewrite = (xml) => rewrite(before(xml));
    } else if (fault.isOf(wrongContentTypeFault)) {
      if (strikes(fault)) draft.contentType = fault.parameters.content_type;
    } else {
      const next = fault.isOf(staleFault) ? this.#stale(fault, request, body) : changedDocument(fault, body);
      // a fault that changes nothing does not count a strike
      if (next !== null && strikes(fault)) draft.body = next;
    }
  }

  /** The first document sent to an address. null: `body` is the first, or the request is not a PUT. */
  #stale(fault: ActiveFault, { method, path }: Disturbable, body: OutgoingDocument): OutgoingDocument | null {
    if (method !== 'PUT') return null;
    const bodies = this.#first.get(fault) ?? new Map<string, OutgoingDocument>();
    this.#first.set(fault, bodies);
    const firstBody = bodies.get(path) ?? null;
    if (firstBody === null && bodies.size < maxRemembered) bodies.set(path, body);
    return firstBody;
  }
}

/** The change that a fault makes to the octets of a document. null: the fault does not change octets. */
function octetChange(fault: ActiveFault, body: OutgoingDocument): ((xml: Buffer) => Buffer) | null {
  if (fault.isOf(malformedXmlFault)) return (xml) => malformed(xml, fault.parameters.mode);
  if (fault.isOf(missingElementFault) && hasMember(body, fault.parameters.elements))
    return (xml) => withoutElements(xml, fault.parameters.elements);
  if (fault.isOf(wrongMultiplierFault) && hasMember(body, powers))
    return (xml) => withMultipliers(xml, fault.parameters.shift);
  return null;
}

/** The document as changed by the fault. null: unchanged. */
function changedDocument(fault: ActiveFault, body: OutgoingDocument): OutgoingDocument | null {
  const next = documentAfter(fault, body);
  return JSON.stringify(next.value) === JSON.stringify(body.value) ? null : next;
}

function documentAfter(fault: ActiveFault, body: OutgoingDocument): OutgoingDocument {
  if (fault.isOf(clockSkewFault)) return withSkew(body, fault.parameters.skew_s);
  if (fault.isOf(wrongLfdiFault)) return withLfdi(body, fault.parameters.lfdi ?? null);
  if (fault.isOf(wrongStatusFault)) return withStatus(body, fault.parameters.status);
  if (fault.isOf(wrongSubjectFault)) return withSubject(body, fault.parameters.mrid ?? null);
  return body;
}
