/** Groups and variations of measured values: the parts of an object of each. IEEE 1815 annex A */
import type { PointKind } from '../points.ts';

/** `bit` and `pair` are packed: one or two bits for each point, the lowest index in the lowest bits. */
export type ObjectForm = 'bit' | 'pair' | 'state' | 'u16' | 'u32' | 'i16' | 'i32' | 'f32' | 'f64' | 'octets';

export interface ObjectType {
  readonly group: number;
  readonly variation: number;
  readonly kind: PointKind;
  readonly form: ObjectForm;
  /** an octet of flags stands first; `state` has its bits in it */
  readonly flags: boolean;
  readonly time: 'none' | 'absolute' | 'relative';
  readonly isEvent: boolean;
  /** octets of one object; 0: packed, or as long as the variation says */
  readonly size: number;
  /** the variation that shows flags which this one cannot */
  readonly withFlags?: number;
}

const formOctets: Readonly<Record<ObjectForm, number>> = {
  bit: 0,
  pair: 0,
  state: 0,
  u16: 2,
  u32: 4,
  i16: 2,
  i32: 4,
  f32: 4,
  f64: 8,
  octets: 0,
};
const timeOctets = { none: 0, absolute: 6, relative: 2 } as const;

type Row = readonly [variation: number, form: ObjectForm, parts?: string, withFlags?: number];

/** Parts: `f` flags, `t` time, `r` relative time. */
function typesOf(group: number, kind: PointKind, isEvent: boolean, rows: readonly Row[]): readonly ObjectType[] {
  return rows.map(([variation, form, parts = '', withFlags]) => {
    const flags = parts.includes('f');
    const time = parts.includes('t') ? 'absolute' : parts.includes('r') ? 'relative' : 'none';
    const size = formOctets[form] + (flags ? 1 : 0) + timeOctets[time];
    return { group, variation, kind, form, flags, time, isEvent, size, ...(withFlags !== undefined && { withFlags }) };
  });
}

const counterEvents: readonly Row[] = [
  [1, 'u32', 'f'],
  [2, 'u16', 'f'],
  [5, 'u32', 'ft'],
  [6, 'u16', 'ft'],
];
const stateEvents: readonly Row[] = [
  [1, 'state', 'f'],
  [2, 'state', 'ft'],
  [3, 'state', 'fr'],
];
const analogEvents: readonly Row[] = [
  [1, 'i32', 'f'],
  [2, 'i16', 'f'],
  [3, 'i32', 'ft'],
  [4, 'i16', 'ft'],
  [5, 'f32', 'f'],
  [6, 'f64', 'f'],
  [7, 'f32', 'ft'],
  [8, 'f64', 'ft'],
];
const packed = (form: 'bit' | 'pair'): readonly Row[] => [
  [1, form, '', 2],
  [2, 'state', 'f'],
];

const types: readonly ObjectType[] = [
  ...typesOf(1, 'binaryInput', false, packed('bit')),
  ...typesOf(2, 'binaryInput', true, stateEvents),
  ...typesOf(3, 'doubleBit', false, packed('pair')),
  ...typesOf(4, 'doubleBit', true, stateEvents),
  ...typesOf(10, 'binaryOutput', false, packed('bit')),
  ...typesOf(11, 'binaryOutput', true, stateEvents.slice(0, 2)),
  ...typesOf(20, 'counter', false, [
    [1, 'u32', 'f'],
    [2, 'u16', 'f'],
    [5, 'u32', '', 1],
    [6, 'u16', '', 2],
  ]),
  ...typesOf(21, 'frozenCounter', false, [
    [1, 'u32', 'f'],
    [2, 'u16', 'f'],
    [5, 'u32', 'ft'],
    [6, 'u16', 'ft'],
    [9, 'u32', '', 1],
    [10, 'u16', '', 2],
  ]),
  ...typesOf(22, 'counter', true, counterEvents),
  ...typesOf(23, 'frozenCounter', true, counterEvents),
  ...typesOf(30, 'analogInput', false, [
    [1, 'i32', 'f'],
    [2, 'i16', 'f'],
    [3, 'i32', '', 1],
    [4, 'i16', '', 2],
    [5, 'f32', 'f'],
    [6, 'f64', 'f'],
  ]),
  ...typesOf(32, 'analogInput', true, analogEvents),
  ...typesOf(40, 'analogOutput', false, [
    [1, 'i32', 'f'],
    [2, 'i16', 'f'],
    [3, 'f32', 'f'],
    [4, 'f64', 'f'],
  ]),
  ...typesOf(42, 'analogOutput', true, analogEvents),
  ...typesOf(110, 'octetString', false, [[0, 'octets']]),
  ...typesOf(111, 'octetString', true, [[0, 'octets']]),
];

const byNumber = new Map(types.map((type) => [type.group * 256 + type.variation, type]));

/** The type of a variation; undefined: no such variation. Octet strings have one for all lengths. */
export function objectType(group: number, variation: number): ObjectType | undefined {
  return byNumber.get(group * 256 + (group === 110 || group === 111 ? 0 : variation));
}

/** Kind and purpose of a group of measured values; undefined: it is none. */
export function groupFacts(group: number): { readonly kind: PointKind; readonly isEvent: boolean } | undefined {
  return types.find((type) => type.group === group);
}

/** Variations of a group, for documents. */
export function variationsOf(group: number): readonly number[] {
  return types.filter((type) => type.group === group).map(({ variation }) => variation);
}
