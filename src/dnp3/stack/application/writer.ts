/** Packs objects of a response into one fragment after the other, with as few headers as their order allows. */
import { Buffer } from 'node:buffer';
import { writeObject } from '../objects.ts';
import type { ObjectType } from '../objects.ts';
import type { PointState, PointValue } from '../points.ts';
import { responseHeaderOctets } from './types.ts';

const byteRange = { qualifier: 0x00, octets: 2, max: 0xff };
const wordRange = { qualifier: 0x01, octets: 4, max: 0xffff };
/** count and index of two octets each */
const eventQualifier = 0x28;
/** count of one octet, no index */
const countQualifier = 0x07;
const headerOctets = 3;
const noOctets = Buffer.alloc(0);
const indexOctets = 2;

/** Points whose present values are written; `at` is the place of a point in `specs`. */
export interface StaticPoints {
  readonly specs: readonly { readonly index: number }[];
  value(at: number): PointValue;
  flags(at: number): number;
}

/** The header that the last object belongs to. */
interface OpenHeader {
  readonly group: number;
  readonly variation: number;
  /** offset of the stop index, or of the count */
  readonly field: number;
  readonly isEvent: boolean;
  readonly range: typeof byteRange;
  last: number;
  count: number;
}

/** The buffer of the last writer that was emptied; fragments are built one after the other. */
let spare: Buffer | null = null;

export class FragmentWriter {
  /** without octets while the writer is empty */
  #buffer: Buffer = noOctets;
  readonly #limit: number;
  #at = 0;
  #open: OpenHeader | null = null;

  /** @param fragmentOctets of the whole fragment, its header included */
  constructor(fragmentOctets: number) {
    this.#limit = fragmentOctets - responseHeaderOctets;
  }

  get isEmpty(): boolean {
    return this.#at === 0;
  }

  /** Returns the octets of the objects so far, and empties the writer. */
  take(): Buffer {
    const objects = Buffer.from(this.#buffer.subarray(0, this.#at));
    if (this.#buffer !== noOctets) spare = this.#buffer;
    this.#buffer = noOctets;
    this.#at = 0;
    this.#open = null;
    return objects;
  }

  /** Gives the writer a buffer before its first octet. */
  #begin(): void {
    if (this.#buffer !== noOctets) return;
    this.#buffer = spare !== null && spare.length >= this.#limit ? spare : Buffer.allocUnsafeSlow(this.#limit);
    spare = null;
  }

  /**
   * Adds static objects of one type with consecutive indexes, as many as fit.
   * @returns the place after the last point that is written
   */
  addStatics(type: ObjectType, points: StaticPoints, begin: number, end: number): number {
    let place = begin;
    while (place < end) {
      const added = type.size > 0 ? this.#addSized(type, points, place, end) : this.#addPacked(type, points, place);
      if (added === 0) break;
      place += added;
    }
    return place;
  }

  /** Adds objects under one header. @returns their number; 0: no room */
  #addSized(type: ObjectType, points: StaticPoints, begin: number, end: number): number {
    const index = points.specs[begin]?.index ?? 0;
    const header = this.#headerFor(type, index, type.size);
    if (header === null) return 0;
    const room = Math.floor((this.#limit - this.#at) / type.size);
    const count = Math.min(end - begin, room, header.range.max - index + 1);
    let at = this.#at;
    const state = { value: 0 as PointValue, flags: 0 };
    for (let place = begin; place < begin + count; place += 1) {
      state.value = points.value(place);
      state.flags = points.flags(place);
      writeObject(this.#buffer, at, type, state);
      at += type.size;
    }
    this.#at = at;
    this.#extend(header, index, count);
    return count;
  }

  /** Adds one packed object or string. @returns 1; 0: no room */
  #addPacked(type: ObjectType, points: StaticPoints, place: number): number {
    const spec = points.specs[place];
    if (spec === undefined) return 1;
    const state = { value: points.value(place), flags: points.flags(place) };
    if (type.form === 'octets') return this.#addOctets(type, spec.index, state) ? 1 : 0;
    const header = this.#headerFor(type, spec.index, 1);
    if (header === null) return 0;
    const perOctet = type.form === 'bit' ? 8 : 4;
    const isNewOctet = header.count % perOctet === 0;
    if (isNewOctet && this.#at >= this.#limit) return 0;
    if (isNewOctet) this.#buffer[this.#at++] = 0;
    const value = typeof state.value === 'number' ? state.value : 0;
    const bits = type.form === 'bit' ? (value ? 1 : 0) : value & 3;
    const shift = (header.count % perOctet) * (8 / perOctet);
    this.#buffer[this.#at - 1] = (this.#buffer[this.#at - 1] ?? 0) | (bits << shift);
    this.#extend(header, spec.index, 1);
    return 1;
  }

  /** The open header if an object of this index continues it, otherwise a new one; null: no room. */
  #headerFor({ group, variation }: ObjectType, index: number, size: number): OpenHeader | null {
    const open = this.#open;
    const isNext =
      open !== null &&
      open.last + 1 === index &&
      open.variation === variation &&
      open.group === group &&
      !open.isEvent &&
      index <= open.range.max;
    return isNext ? open : this.#openStatic(group, variation, index, size);
  }

  /** Extends a header by `count` objects that are written from `index` on. */
  #extend(header: OpenHeader, index: number, count: number): void {
    if (count === 0) return;
    header.last = index + count - 1;
    header.count += count;
    this.#buffer[header.field] = header.last & 0xff;
    if (header.range === wordRange) this.#buffer[header.field + 1] = header.last >> 8;
  }

  /** Adds an event. @param time as `writeObject` @returns false: no room, and nothing is written */
  addEvent(type: ObjectType, index: number, state: PointState, time = 0): boolean {
    const octets = type.form === 'octets' && typeof state.value !== 'number' ? state.value : null;
    const variation = octets?.length ?? type.variation;
    const size = octets?.length ?? type.size;
    const open = this.#open;
    const fits = open?.isEvent === true && open.group === type.group && open.variation === variation;
    if (!fits && !this.#openEvent(type.group, variation, size)) return false;
    const header = this.#open;
    if (header === null || this.#at + indexOctets + size > this.#limit) return false;
    this.#buffer.writeUInt16LE(index, this.#at);
    if (octets === null) writeObject(this.#buffer, this.#at + indexOctets, type, state, time);
    else octets.copy(this.#buffer, this.#at + indexOctets);
    this.#at += indexOctets + size;
    header.count += 1;
    this.#buffer.writeUInt16LE(header.count, header.field);
    return true;
  }

  /** Adds octets of objects with their headers. @returns as `addEvent` */
  addRaw(octets: Buffer): boolean {
    if (this.#at + octets.length > this.#limit) return false;
    this.#begin();
    octets.copy(this.#buffer, this.#at);
    this.#at += octets.length;
    this.#open = null;
    return true;
  }

  /** Adds one object without index, for example a time. @returns as `addEvent` */
  addSingle(group: number, variation: number, octets: Buffer): boolean {
    return this.addRaw(Buffer.concat([Buffer.from([group, variation, countQualifier, 1]), octets]));
  }

  #addOctets({ group }: ObjectType, index: number, { value }: PointState): boolean {
    if (typeof value === 'number') return false;
    const range = index <= byteRange.max ? byteRange : wordRange;
    if (this.#at + headerOctets + range.octets + value.length > this.#limit) return false;
    // each string has its header, because its length is the variation
    this.#openStatic(group, value.length, index, value.length);
    value.copy(this.#buffer, this.#at);
    this.#at += value.length;
    this.#open = null;
    return true;
  }

  #openStatic(group: number, variation: number, index: number, size: number): OpenHeader | null {
    const range = index <= byteRange.max ? byteRange : wordRange;
    if (this.#at + headerOctets + range.octets + size > this.#limit) return null;
    this.#writeHeader(group, variation, range.qualifier);
    if (range === byteRange) this.#buffer[this.#at] = this.#buffer[this.#at + 1] = index;
    else {
      this.#buffer.writeUInt16LE(index, this.#at);
      this.#buffer.writeUInt16LE(index, this.#at + 2);
    }
    const field = this.#at + range.octets / 2;
    this.#at += range.octets;
    this.#open = { group, variation, field, isEvent: false, range, last: index, count: 0 };
    return this.#open;
  }

  #openEvent(group: number, variation: number, size: number): boolean {
    if (this.#at + headerOctets + 2 + indexOctets + size > this.#limit) return false;
    this.#writeHeader(group, variation, eventQualifier);
    const field = this.#at;
    this.#buffer.writeUInt16LE(0, field);
    this.#at += 2;
    this.#open = { group, variation, field, isEvent: true, range: wordRange, last: 0, count: 0 };
    return true;
  }

  #writeHeader(group: number, variation: number, qualifier: number): void {
    this.#begin();
    this.#buffer[this.#at++] = group;
    this.#buffer[this.#at++] = variation;
    this.#buffer[this.#at++] = qualifier;
  }
}
