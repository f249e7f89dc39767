/** Groups and variations of measured values and controls, and the octets of their objects. IEEE 1815 annex A */
import type { Buffer } from 'node:buffer';
import { quality } from './points.ts';
import type { PointKind, PointState } from './points.ts';

/** `bit` and `pair` are packed: one or two bits for each point, the lowest index in the lowest bits. */
type ObjectForm = 'bit' | 'pair' | 'state' | 'u16' | 'u32' | 'i16' | 'i32' | 'f32' | 'f64' | 'octets';

export interface ObjectType {
  readonly group: number;
  readonly variation: number;
  readonly kind: PointKind;
  readonly form: ObjectForm;
  /** true: an octet of flags comes first; a `state` has its value there */
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

/** Kind of a group of measured values; `isEvent`: its objects are events. undefined: another group. */
export function groupFacts(group: number): { readonly kind: PointKind; readonly isEvent: boolean } | undefined {
  return types.find((type) => type.group === group);
}

/** Variations of a group, for documents. */
export function variationsOf(group: number): readonly number[] {
  return types.filter((type) => type.group === group).map(({ variation }) => variation);
}

const limits = { i16: 0x7fff, i32: 0x7fff_ffff } as const;

/** Rounds halves away from zero, as the DER profile does. */
export function roundHalfAway(value: number): number {
  return value < 0 ? 0 - Math.round(-value) : Math.round(value);
}

/** Writes an instant of ms since the epoch as 48 bits. */
export function writeTime48(buffer: Buffer, at: number, ms: number): void {
  buffer.writeUIntLE(Math.min(Math.max(0, Math.round(ms)), 2 ** 48 - 1), at, 6);
}

function binaryFlags({ kind, form }: ObjectType, { value, flags }: PointState): number {
  if (form !== 'state' || typeof value !== 'number') return flags;
  return (flags & (kind === 'doubleBit' ? 0x3f : 0x7f)) | (kind === 'doubleBit' ? (value & 3) << 6 : value ? 0x80 : 0);
}

function writeInteger(buffer: Buffer, at: number, form: 'i16' | 'i32', value: number): number {
  if (form === 'i32' && (value | 0) === value) {
    // the case of nearly all values
    buffer[at] = value;
    buffer[at + 1] = value >> 8;
    buffer[at + 2] = value >> 16;
    buffer[at + 3] = value >> 24;
    return 0;
  }
  const limit = limits[form];
  const rounded = roundHalfAway(value);
  const clamped = Math.min(Math.max(rounded, -limit - 1), limit);
  if (form === 'i16') buffer.writeInt16LE(clamped, at);
  else buffer.writeInt32LE(clamped, at);
  return clamped === rounded ? 0 : quality.overRange;
}

const maxFloat32 = 3.4028234663852886e38;

/** @returns flags that the variation adds */
function writeNumber(buffer: Buffer, at: number, { form }: ObjectType, value: number): number {
  switch (form) {
    case 'i16':
    case 'i32':
      return writeInteger(buffer, at, form, value);
    case 'u16':
      buffer.writeUInt16LE(modulo(value, 0x1_0000), at);
      return 0;
    case 'u32':
      buffer.writeUInt32LE(modulo(value, 0x1_0000_0000), at);
      return 0;
    case 'f32': {
      const clamped = Math.min(Math.max(value, -maxFloat32), maxFloat32);
      buffer.writeFloatLE(clamped, at);
      return clamped === value ? 0 : quality.overRange;
    }
    case 'f64':
      buffer.writeDoubleLE(value, at);
      return 0;
    default:
      return 0;
  }
}

function modulo(value: number, size: number): number {
  const remainder = Math.floor(value) % size;
  return remainder < 0 ? remainder + size : remainder;
}

/**
 * Writes one object that is not packed; there must be room for `type.size` octets.
 * A value that is not finite is written as 0, not online, with REFERENCE_ERR. IEEE 1815 11.6
 * @param time ms since the epoch, or since the common time of occurrence
 */
export function writeObject(buffer: Buffer, at: number, type: ObjectType, state: PointState, time = 0): void {
  const value = typeof state.value === 'number' && Number.isFinite(state.value) ? state.value : null;
  let flags = value === null ? (state.flags & ~quality.online) | quality.referenceError : binaryFlags(type, state);
  const valueAt = at + (type.flags ? 1 : 0);
  flags |= writeNumber(buffer, valueAt, type, value ?? 0);
  if (type.flags) buffer[at] = flags;
  if (type.time === 'none') return;
  const timeAt = at + type.size - (type.time === 'absolute' ? 6 : 2);
  if (type.time === 'absolute') writeTime48(buffer, timeAt, time);
  else buffer.writeUInt16LE(Math.min(Math.max(0, Math.round(time)), 0xffff), timeAt);
}

/** True if a variation without flags may show a value: its flags are those of a healthy point, and it fits. */
export function isPlain(type: ObjectType, { value, flags }: PointState): boolean {
  if (flags !== quality.online || typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (type.form !== 'i16' && type.form !== 'i32') return true;
  const rounded = roundHalfAway(value);
  return rounded >= -limits[type.form] - 1 && rounded <= limits[type.form];
}

/** Octets of a control in a request, g12v1 and g41; the status octet is the last. IEEE 1815 annex A.6, A.18 */
export const crobOctets = 11;
export const analogOutputOctets: Readonly<Record<number, number>> = { 1: 5, 2: 3, 3: 5, 4: 9 };

/** Operation types of a control code, bits 0 to 3. */
const operation = { nul: 0, pulseOn: 1, pulseOff: 2, latchOn: 3, latchOff: 4 } as const;
/** Trip-close codes, bits 6 and 7. */
const tripClose = { nul: 0, close: 1, trip: 2 } as const;

/**
 * The state that a control code requests; null: the outstation does not support the code. Every output is latched, so a
 * pulse is a latch.
 */
export function stateOfCode(code: number): 0 | 1 | null {
  const type = code & 0x0f;
  const side = code >> 6;
  // the clear and queue bits belong to sequences of pulses, which a latched output does not have
  if ((code & 0x30) !== 0) return null;
  if (side === tripClose.close) return type === operation.pulseOn || type === operation.latchOn ? 1 : null;
  if (side === tripClose.trip)
    return type === operation.pulseOn || type === operation.pulseOff || type === operation.latchOff ? 0 : null;
  if (side !== tripClose.nul) return null;
  if (type === operation.pulseOn || type === operation.latchOn) return 1;
  return type === operation.pulseOff || type === operation.latchOff ? 0 : null;
}

/** The value of an analog output block, wire units; may be NaN or infinite. */
export function analogValue(variation: number, octets: Buffer): number {
  switch (variation) {
    case 1:
      return octets.readInt32LE(0);
    case 2:
      return octets.readInt16LE(0);
    case 3:
      return octets.readFloatLE(0);
    default:
      return octets.readDoubleLE(0);
  }
}
