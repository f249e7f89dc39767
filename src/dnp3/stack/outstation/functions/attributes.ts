/** Device attributes: g0. IEEE 1815 annex A.1 */
import { Buffer } from 'node:buffer';
import type { DeviceAttribute } from '../types.ts';

/** Data types of attributes. */
const dataType = { text: 1, unsigned: 2, list: 254 } as const;
/** Variations of all attributes in one answer, and of their list. */
const allVariation = 254;
const listVariation = 255;
const maxTextOctets = 255;

function encoded(value: string | number): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value, 'utf8').subarray(0, maxTextOctets);
    return Buffer.concat([Buffer.from([dataType.text, text.length]), text]);
  }
  const octets = Buffer.alloc(4);
  octets.writeUInt32LE(value >>> 0);
  const width = value <= 0xff ? 1 : value <= 0xffff ? 2 : 4;
  return Buffer.concat([Buffer.from([dataType.unsigned, width]), octets.subarray(0, width)]);
}

/** One attribute of set 0 with its header. */
function object(variation: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, variation, 0x00, 0, 0]), data]);
}

/**
 * The objects of a read.
 * @returns one piece for each attribute; null: the device has no such attribute
 */
export function readAttributes(variation: number, attributes: readonly DeviceAttribute[]): readonly Buffer[] | null {
  const sorted = attributes.toSorted((a, b) => a.variation - b.variation);
  if (variation === listVariation) {
    // none of them can be written
    const pairs = sorted.flatMap((each) => [each.variation, 0]);
    return [object(listVariation, Buffer.from([dataType.list, pairs.length, ...pairs]))];
  }
  const wanted = variation === allVariation ? sorted : sorted.filter((each) => each.variation === variation);
  return wanted.length === 0 ? null : wanted.map((each) => object(each.variation, encoded(each.value)));
}
