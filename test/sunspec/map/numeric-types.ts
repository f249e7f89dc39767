/** The point types of SunSpec with their registers, ranges and reserved values, for tests of the codec. */
import type { PointDef, PointType } from '../../../src/sunspec/map/types.ts';

export const two53 = Number.MAX_SAFE_INTEGER;

/** Registers, range of real values and "not implemented" bytes of every numeric type, as the data types clause lists them. */
export const numeric: readonly (readonly [PointType, number, number, number, string])[] = [
  ['int16', 1, -32767, 32767, '8000'],
  ['uint16', 1, 0, 65534, 'ffff'],
  ['count', 1, 0, 65534, 'ffff'],
  ['acc16', 1, 0, 65535, '0000'],
  ['enum16', 1, 0, 65534, 'ffff'],
  ['bitfield16', 1, 0, 0x7fff, 'ffff'],
  ['int32', 2, -2147483647, 2147483647, '80000000'],
  ['uint32', 2, 0, 4294967294, 'ffffffff'],
  ['acc32', 2, 0, 4294967295, '00000000'],
  ['enum32', 2, 0, 4294967294, 'ffffffff'],
  ['bitfield32', 2, 0, 0x7fffffff, 'ffffffff'],
  ['ipaddr', 2, 0, 4294967295, '00000000'],
  ['int64', 4, -two53, two53, '8000000000000000'],
  ['uint64', 4, 0, two53, 'ffffffffffffffff'],
  ['acc64', 4, 0, two53, '0000000000000000'],
  ['sunssf', 1, -10, 10, '8000'],
];
export const floats: readonly (readonly [PointType, number, number, string])[] = [
  ['float32', 2, 3.4028234663852886e38, '7fc00000'],
  ['float64', 4, Number.MAX_VALUE, '7ff8000000000000'],
];
export const others: readonly (readonly [PointType, number, string])[] = [
  ['pad', 1, '8000'],
  ['string', 3, '000000000000'],
  ['ipv6addr', 8, '00'.repeat(16)],
  ['eui48', 4, '0000ffffffffffff'],
];

export function point(name: string, type: PointType, size: number, more: Partial<PointDef> = {}): PointDef {
  return { name, type, size, label: name, access: 'RW', ...more };
}

/** The same number written by the plain two's complement rule. */
export function bigEndian(raw: number, registers: number): string {
  return BigInt.asUintN(registers * 16, BigInt(raw))
    .toString(16)
    .padStart(registers * 4, '0');
}
