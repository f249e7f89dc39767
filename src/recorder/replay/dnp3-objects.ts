/** Values, control results and indications in a DNP3 response. */
import type { Buffer } from 'node:buffer';
import { analogOutputOctets, analogValue, crobOctets, objectType } from '../../dnp3/stack/objects.ts';
import type { ObjectType } from '../../dnp3/stack/objects.ts';

export interface Dnp3Value {
  /** `AI 536`, `control AO 88` */
  readonly name: string;
  readonly text: string;
  /** null: not numeric, or not online */
  readonly number: number | null;
  /** true for analog inputs and counters, which differ from run to run */
  readonly moves: boolean;
}

export interface Dnp3Content {
  /** all bits, IIN1 in the low octet */
  readonly iin: number;
  /** static values and controls by name */
  readonly values: ReadonlyMap<string, Dnp3Value>;
  /** number of objects that are not compared: events, whose content varies, and times */
  readonly others: number;
  /** true if a part could not be read */
  readonly partial: boolean;
}

const responseHeaderOctets = 4;
const names = {
  binaryInput: 'BI',
  doubleBit: 'DBI',
  binaryOutput: 'BO',
  counter: 'CTR',
  frozenCounter: 'frozen CTR',
  analogInput: 'AI',
  analogOutput: 'AO',
  octetString: 'string',
} as const;
/** First words of point names, such as `AI` of `AI 536`. */
export const pointKinds: readonly string[] = Object.values(names);
const moving: ReadonlySet<string> = new Set(['AI', 'CTR', 'frozen CTR']);
const onlineBit = 0x01;

/** Octets of an object that is not a measured value. null: unknown. */
function otherOctets(group: number, variation: number): number | null {
  if (group === 12) return variation === 1 ? crobOctets : null;
  if (group === 41) return analogOutputOctets[variation] ?? null;
  if (group === 34) return { 1: 2, 2: 4, 3: 4 }[variation] ?? null;
  const times: Readonly<Record<string, number>> = { '50.1': 6, '50.4': 11, '51.1': 6, '51.2': 6, '52.1': 2, '52.2': 2 };
  return times[`${group}.${variation}`] ?? null;
}

/** The objects of one header. */
interface Block {
  readonly group: number;
  readonly variation: number;
  readonly type: ObjectType | undefined;
  /** octets of one object without its index; 0: packed bits */
  readonly size: number;
}

class Reader {
  readonly #octets: Buffer;
  readonly values = new Map<string, Dnp3Value>();
  others = 0;
  #at = responseHeaderOctets;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  /** @returns false: unreadable */
  read(): boolean {
    while (this.#at + 3 <= this.#octets.length) if (!this.#header()) return false;
    return this.#at === this.#octets.length;
  }

  #header(): boolean {
    const [group = 0, variation = 0, qualifier = 0] = this.#octets.subarray(this.#at, this.#at + 3);
    this.#at += 3;
    const type = objectType(group, variation);
    const isString = group === 110 || group === 111;
    const size = isString ? variation : group === 80 ? 0 : (type?.size ?? otherOctets(group, variation));
    const width = { 0x00: 1, 0x01: 2, 0x07: 1, 0x08: 2, 0x17: 1, 0x28: 2 }[qualifier];
    if (size === null || width === undefined) return false;
    const block = { group, variation, type, size };
    if (qualifier <= 0x01) return this.#span(block, width);
    const count = this.#number(width);
    if (count === null) return false;
    for (let i = 0; i < count; i += 1) {
      const index = qualifier <= 0x08 ? i : this.#number(width);
      if (index === null || !this.#object(block, index)) return false;
    }
    return true;
  }

  #number(width: number): number | null {
    if (this.#at + width > this.#octets.length) return null;
    this.#at += width;
    return this.#octets.readUIntLE(this.#at - width, width);
  }

  #span(block: Block, width: number): boolean {
    const [first, last] = [this.#number(width), this.#number(width)];
    if (first === null || last === null || last < first) return false;
    if (block.size === 0 && block.group !== 110) return this.#packed(block, first, last);
    for (let index = first; index <= last; index += 1) if (!this.#object(block, index)) return false;
    return true;
  }

  #packed({ group, type }: Block, first: number, last: number): boolean {
    const bits = type?.form === 'pair' ? 2 : 1;
    const octets = Math.ceil(((last - first + 1) * bits) / 8);
    if (this.#at + octets > this.#octets.length) return false;
    for (let index = first; index <= last && type !== undefined && group !== 80; index += 1) {
      const bit = (index - first) * bits;
      const value = ((this.#octets[this.#at + (bit >> 3)] ?? 0) >> (bit & 7)) & (bits === 2 ? 3 : 1);
      this.#keep(`${names[type.kind]} ${index}`, String(value), value, false);
    }
    this.#at += octets;
    return true;
  }

  #object({ group, variation, type, size }: Block, index: number): boolean {
    if (this.#at + size > this.#octets.length) return false;
    const octets = this.#octets.subarray(this.#at, this.#at + size);
    this.#at += size;
    if (group === 12) this.#keep(`control BO ${index}`, `status ${octets.at(-1) ?? 0}`, null, false);
    else if (group === 41) {
      const value = analogValue(variation, octets);
      this.#keep(`control AO ${index}`, `${value}, status ${octets.at(-1) ?? 0}`, null, false);
    } else if (type === undefined || type.isEvent || type.time !== 'none') this.others += 1;
    else this.#static(type, index, octets);
    return true;
  }

  #static(type: ObjectType, index: number, octets: Buffer): void {
    const name = `${names[type.kind]} ${index}`;
    if (type.form === 'octets') {
      this.#keep(name, JSON.stringify(octets.toString('latin1')), null, false);
      return;
    }
    const flags = type.flags ? (octets[0] ?? 0) : onlineBit;
    const value = type.form === 'state' ? stateOf(type, flags) : numberOf(type, octets, type.flags ? 1 : 0);
    const isOnline = (flags & onlineBit) !== 0;
    const isMoving = moving.has(names[type.kind]);
    this.#keep(name, isOnline ? String(value) : `${value}, not online`, isOnline ? value : null, isMoving);
  }

  #keep(name: string, text: string, number: number | null, moves: boolean): void {
    this.values.set(name, { name, text, number, moves });
  }
}

const stateOf = ({ kind }: ObjectType, flags: number) => (kind === 'doubleBit' ? flags >> 6 : flags >> 7);

function numberOf({ form }: ObjectType, octets: Buffer, at: number): number {
  switch (form) {
    case 'i16':
      return octets.readInt16LE(at);
    case 'i32':
      return octets.readInt32LE(at);
    case 'u16':
      return octets.readUInt16LE(at);
    case 'u32':
      return octets.readUInt32LE(at);
    case 'f32':
      return octets.readFloatLE(at);
    case 'f64':
      return octets.readDoubleLE(at);
    default:
      return 0;
  }
}

/** The content of all fragments of one response. */
export function contentOf(fragments: readonly Buffer[]): Dnp3Content {
  const values = new Map<string, Dnp3Value>();
  let [others, iin, partial] = [0, 0, false];
  for (const fragment of fragments) {
    if (fragment.length < responseHeaderOctets) continue;
    iin |= fragment.readUInt16LE(2);
    const reader = new Reader(fragment);
    if (!reader.read()) partial = true;
    others += reader.others;
    for (const [name, value] of reader.values) values.set(name, value);
  }
  return { iin, values, others, partial };
}
