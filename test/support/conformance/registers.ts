/** SunSpec data types as a master reads them, independent of the simulator's own codec. */
import type { Point } from './definitions.ts';

interface NumberType {
  readonly min: number;
  readonly max: number;
  readonly absent: bigint;
  readonly signed: boolean;
}

const unsigned = (bits: bigint, max: number, absent: bigint): NumberType => ({
  min: 0,
  max,
  absent: absent & ((1n << bits) - 1n),
  signed: false,
});
const signed = (bits: bigint, max: number): NumberType => ({ min: -max, max, absent: 1n << (bits - 1n), signed: true });
const all = -1n;

const numberTypes: Readonly<Record<string, NumberType>> = {
  int16: signed(16n, 0x7fff),
  uint16: unsigned(16n, 0xfffe, all),
  count: unsigned(16n, 0xfffe, all),
  acc16: unsigned(16n, 0xffff, 0n),
  enum16: unsigned(16n, 0xfffe, all),
  bitfield16: unsigned(16n, 0x7fff, all),
  int32: signed(32n, 0x7fff_ffff),
  uint32: unsigned(32n, 0xffff_fffe, all),
  acc32: unsigned(32n, 0xffff_ffff, 0n),
  enum32: unsigned(32n, 0xffff_fffe, all),
  bitfield32: unsigned(32n, 0x7fff_ffff, all),
  ipaddr: unsigned(32n, 0xffff_ffff, 0n),
  int64: signed(64n, Number.MAX_SAFE_INTEGER),
  uint64: unsigned(64n, Number.MAX_SAFE_INTEGER, all),
  acc64: unsigned(64n, Number.MAX_SAFE_INTEGER, 0n),
  sunssf: { min: -10, max: 10, absent: 0x8000n, signed: true },
};

function bits(words: readonly number[]): bigint {
  return words.reduce((value, word) => (value << 16n) | BigInt(word), 0n);
}

/** The type of a number; undefined for text and padding. */
export function numberTypeOf({ type }: Point): NumberType | undefined {
  return numberTypes[type];
}

/** Whether the registers hold the "not implemented" value of the type. */
export function isAbsent(point: Point, words: readonly number[]): boolean {
  const type = numberTypeOf(point);
  return type === undefined
    ? point.type === 'string' && words.every((word) => word === 0)
    : bits(words) === type.absent;
}

/** The number in the registers, without its scale. */
export function numberIn(point: Point, words: readonly number[]): number {
  const width = 16 * words.length;
  const value = bits(words);
  return Number(numberTypeOf(point)?.signed === true ? BigInt.asIntN(width, value) : value);
}

export function wordsOf(point: Point, number: number): number[] {
  const value = BigInt.asUintN(16 * point.size, BigInt(number));
  return Array.from({ length: point.size }, (_, i) => Number((value >> BigInt(16 * (point.size - 1 - i))) & 0xffffn));
}

export function textIn(words: readonly number[]): string {
  return Buffer.from(words.flatMap((word) => [word >> 8, word & 0xff]))
    .toString('utf8')
    .replace(/\0.*$/s, '');
}
