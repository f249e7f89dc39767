/** Parses requests. A count is checked against the octets present before anything is allocated for it. */
import { Buffer } from 'node:buffer';
import { analogOutputOctets, crobOctets } from '../objects.ts';
import { readControl, functionCodes, iin } from './types.ts';
import type { ObjectHeader, ObjectRange, Request, RequestObject } from './types.ts';

const maxHeaders = 64;
/** control and function code */
const requestHeaderOctets = 2;

/** Functions whose objects carry values; all others name points alone. */
const carriesValues: ReadonlySet<number> = new Set([
  functionCodes.write,
  functionCodes.select,
  functionCodes.operate,
  functionCodes.directOperate,
  functionCodes.directOperateNr,
]);

/** Octets of one object in a request that carries values; `bits`: packed, null: no request carries it. */
function valueOctets(group: number, variation: number): number | 'bits' | null {
  switch (group) {
    case 12:
      return variation === 1 ? crobOctets : null;
    case 41:
      return analogOutputOctets[variation] ?? null;
    case 34:
      return { 1: 2, 2: 4, 3: 4 }[variation] ?? null;
    case 50:
      return { 1: 6, 2: 10, 3: 6, 4: 11 }[variation] ?? null;
    case 80:
      return variation === 1 ? 'bits' : null;
    case 110:
      return variation > 0 ? variation : null;
    default:
      return null;
  }
}

interface RangeField {
  readonly range: ObjectRange;
  /** octets of the index before each object; 0: none */
  readonly prefix: number;
  /** number of objects; Infinity: all that the outstation has */
  readonly count: number;
  readonly end: number;
}

/** Octets of each index of a span, by its qualifier. */
const spanWidths = [1, 2] as const;

function readUInt(octets: Buffer, at: number, width: number): number {
  return octets.readUIntLE(at, width);
}

/** The range field after group, variation and qualifier; null: not valid. */
function rangeAt(octets: Buffer, at: number, qualifier: number): RangeField | null {
  switch (qualifier) {
    case 0x00:
    case 0x01: {
      const width = spanWidths[qualifier];
      if (octets.length < at + 2 * width) return null;
      const start = readUInt(octets, at, width);
      const stop = readUInt(octets, at + width, width);
      if (start > stop) return null;
      return { range: { kind: 'span', start, stop }, prefix: 0, count: stop - start + 1, end: at + 2 * width };
    }
    case 0x06:
      return { range: { kind: 'all' }, prefix: 0, count: Infinity, end: at };
    case 0x07:
    case 0x08: {
      const width = qualifier === 0x07 ? 1 : 2;
      if (octets.length < at + width) return null;
      const count = readUInt(octets, at, width);
      return count === 0 ? null : { range: { kind: 'count', count }, prefix: 0, count, end: at + width };
    }
    case 0x17:
    case 0x28: {
      const width = qualifier === 0x17 ? 1 : 2;
      if (octets.length < at + width) return null;
      const count = readUInt(octets, at, width);
      const end = at + width;
      // each index must be present, so that the octets bound the list
      if (count === 0 || octets.length - end < count * width) return null;
      return { range: { kind: 'indexes', indexes: [] }, prefix: width, count, end };
    }
    default:
      return null;
  }
}

interface ParsedObjects {
  readonly range: ObjectRange;
  readonly objects: readonly RequestObject[];
  readonly end: number;
}

/** Indexes without values. */
function namesAt(octets: Buffer, { range, prefix, count, end }: RangeField): ParsedObjects {
  if (range.kind !== 'indexes') return { range, objects: [], end };
  const indexes = Array.from({ length: count }, (_, i) => readUInt(octets, end + i * prefix, prefix));
  return { range: { kind: 'indexes', indexes }, objects: [], end: end + count * prefix };
}

function valuesAt(octets: Buffer, parsed: RangeField, size: number): ParsedObjects | null {
  const { range, prefix, count, end } = parsed;
  const entryOctets = prefix + size;
  if (range.kind === 'all' || octets.length - end < count * entryOctets) return null;
  const objects = Array.from({ length: count }, (_, i): RequestObject => {
    const at = end + i * entryOctets;
    const index = prefix > 0 ? readUInt(octets, at, prefix) : range.kind === 'span' ? range.start + i : null;
    return { index, octets: octets.subarray(at + prefix, at + entryOctets) };
  });
  const indexes = objects.map(({ index }) => index ?? 0);
  return {
    range: range.kind === 'indexes' ? { kind: 'indexes', indexes } : range,
    objects,
    end: end + count * entryOctets,
  };
}

/** One bit for each index; the objects are one octet each, 0 or 1. */
function bitsAt(octets: Buffer, { range, end }: RangeField): ParsedObjects | null {
  if (range.kind !== 'span') return null;
  const count = range.stop - range.start + 1;
  const length = Math.ceil(count / 8);
  if (octets.length - end < length) return null;
  const objects = Array.from({ length: count }, (_, i): RequestObject => {
    const octet = octets.subarray(end + (i >> 3), end + (i >> 3) + 1);
    return { index: range.start + i, octets: ((octet[0] ?? 0) >> (i & 7)) & 1 ? oneOctet : zeroOctet };
  });
  return { range, objects, end: end + length };
}
const zeroOctet = Buffer.from([0]);
const oneOctet = Buffer.from([1]);

/** The next header; a number: bits of IIN2 that refuse the request. */
function headerAt(octets: Buffer, at: number, withValues: boolean): { header: ObjectHeader; end: number } | number {
  if (octets.length < at + 3) return iin.parameterError;
  const [group = 0, variation = 0, qualifier = 0] = octets.subarray(at, at + 3);
  const size = withValues ? valueOctets(group, variation) : 0;
  if (size === null) return iin.objectUnknown;
  const parsed = rangeAt(octets, at + 3, qualifier);
  if (parsed === null) return iin.parameterError;
  const parsedObjects = !withValues
    ? namesAt(octets, parsed)
    : size === 'bits'
      ? bitsAt(octets, parsed)
      : valuesAt(octets, parsed, size);
  if (parsedObjects === null) return iin.parameterError;
  const { range, objects, end } = parsedObjects;
  return { header: { group, variation, qualifier, range, objects, octets: octets.subarray(at, end) }, end };
}

/**
 * Parses a fragment.
 * @returns null: not a request, and dropped without an answer: too short, not a single fragment, a response, or UNS set
 *   without CONFIRM
 */
export function parseRequest(fragment: Buffer): Request | null {
  const [octet, functionCode] = fragment;
  if (octet === undefined || functionCode === undefined) return null;
  const control = readControl(octet);
  if (!control.fir || !control.fin || functionCode >= functionCodes.response) return null;
  if (control.uns && functionCode !== functionCodes.confirm) return null;
  const headers: ObjectHeader[] = [];
  let refusal = 0;
  for (let at = requestHeaderOctets; at < fragment.length; ) {
    const next =
      headers.length === maxHeaders ? iin.parameterError : headerAt(fragment, at, carriesValues.has(functionCode));
    if (typeof next === 'number') {
      refusal = next;
      break;
    }
    headers.push(next.header);
    at = next.end;
  }
  return { control, functionCode, headers: refusal === 0 ? headers : [], refusal, octets: fragment };
}
