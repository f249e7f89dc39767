/** Packs objects of a response into one fragment after the other, with as few headers as their order allows. */
import { Buffer } from 'node:buffer';
import { writeObject } from '../objects/encode.ts';
import type { ObjectType } from '../objects/table.ts';
import type { PointState } from '../points.ts';
import { responseHeaderOctets } from './control.ts';

const byteRange = { qualifier: 0x00, octets: 2, max: 0xff };
const wordRange = { qualifier: 0x01, octets: 4, max: 0xffff };
/** count and index of two octets each */
const eventQualifier = 0x28;
/** count of one octet, no index */
const countQualifier = 0x07;
const headerOctets = 3;
const indexOctets = 2;

/** The header that the last object belongs to. */
interface OpenHeader {
  readonly group: number;
  readonly variation: number;
  /** where the stop, or the count, stands */
  readonly field: number;
  readonly isEvent: boolean;
  readonly range: typeof byteRange;
  last: number;
  count: number;
}

export class FragmentWriter {
  readonly #buffer: Buffer;
  readonly #limit: number;
  #at = 0;
  #open: OpenHeader | null = null;

  /** @param fragmentOctets of the whole fragment, its header included */
  constructor(fragmentOctets: number) {
    this.#limit = fragmentOctets - responseHeaderOctets;
    this.#buffer = Buffer.allocUnsafe(this.#limit);
  }

  get isEmpty(): boolean {
    return this.#at === 0;
  }

  /** Octets of the objects so far; the writer is empty afterwards. */
  take(): Buffer {
    const objects = Buffer.from(this.#buffer.subarray(0, this.#at));
    this.#at = 0;
    this.#open = null;
    return objects;
  }

  /** A static object. @returns false: it has no room, and nothing is written */
  addStatic(type: ObjectType, index: number, state: PointState): boolean {
    if (type.form === 'octets') return this.#addOctets(type, index, state);
    const open = this.#open;
    const extends_ =
      open !== null &&
      open.last + 1 === index &&
      open.variation === type.variation &&
      open.group === type.group &&
      !open.isEvent &&
      index <= open.range.max;
    const header = extends_ ? open : this.#openStatic(type, type.variation, index, this.#sizeOf(type, 0));
    if (header === null) return false;
    const size = this.#sizeOf(type, header.count);
    if (this.#at + size > this.#limit) return false;
    this.#writeStatic(type, header, state, size);
    header.last = index;
    header.count += 1;
    this.#buffer[header.field] = index & 0xff;
    if (header.range === wordRange) this.#buffer[header.field + 1] = index >> 8;
    return true;
  }

  /** An event. @param time as `writeObject` @returns as `addStatic` */
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

  /** Objects with their headers as they are. @returns as `addStatic` */
  addRaw(octets: Buffer): boolean {
    if (this.#at + octets.length > this.#limit) return false;
    octets.copy(this.#buffer, this.#at);
    this.#at += octets.length;
    this.#open = null;
    return true;
  }

  /** One object without index, for example a time. @returns as `addStatic` */
  addSingle(group: number, variation: number, octets: Buffer): boolean {
    return this.addRaw(Buffer.concat([Buffer.from([group, variation, countQualifier, 1]), octets]));
  }

  /** Octets that one more object takes. @param count objects of the header so far */
  #sizeOf({ form, size }: ObjectType, count: number): number {
    if (form === 'bit') return (count & 7) === 0 ? 1 : 0;
    if (form === 'pair') return (count & 3) === 0 ? 1 : 0;
    return size;
  }

  #writeStatic(type: ObjectType, { count }: OpenHeader, state: PointState, size: number): void {
    const { form } = type;
    if (form !== 'bit' && form !== 'pair') {
      writeObject(this.#buffer, this.#at, type, state);
      this.#at += size;
      return;
    }
    if (size === 1) this.#buffer[this.#at++] = 0;
    const value = typeof state.value === 'number' ? state.value : 0;
    const shifted = form === 'bit' ? (value ? 1 : 0) << (count & 7) : (value & 3) << (2 * (count & 3));
    this.#buffer[this.#at - 1] = (this.#buffer[this.#at - 1] ?? 0) | shifted;
  }

  #addOctets({ group }: ObjectType, index: number, { value }: PointState): boolean {
    if (typeof value === 'number') return false;
    const range = index <= byteRange.max ? byteRange : wordRange;
    if (this.#at + headerOctets + range.octets + value.length > this.#limit) return false;
    // each string has a length, and so a variation, of its own
    this.#openStatic({ group }, value.length, index, value.length);
    value.copy(this.#buffer, this.#at);
    this.#at += value.length;
    this.#open = null;
    return true;
  }

  #openStatic({ group }: Pick<ObjectType, 'group'>, variation: number, index: number, size: number): OpenHeader | null {
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
    this.#buffer[this.#at++] = group;
    this.#buffer[this.#at++] = variation;
    this.#buffer[this.#at++] = qualifier;
  }
}
