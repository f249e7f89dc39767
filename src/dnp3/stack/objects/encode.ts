/** Octets of one measured value. */
import type { Buffer } from 'node:buffer';
import { quality } from '../points.ts';
import type { PointState } from '../points.ts';
import type { ObjectType } from './table.ts';

const limits = { i16: 0x7fff, i32: 0x7fff_ffff } as const;

/** Half away from zero, as the DER profile has it. */
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
    // of nearly all values
    buffer[at] = value;
    buffer[at + 1] = value >> 8;
    buffer[at + 2] = value >> 16;
    buffer[at + 3] = value >> 24;
    return 0;
  }
  const limit = limits[form];
  const rounded = roundHalfAway(value);
  const kept = Math.min(Math.max(rounded, -limit - 1), limit);
  if (form === 'i16') buffer.writeInt16LE(kept, at);
  else buffer.writeInt32LE(kept, at);
  return kept === rounded ? 0 : quality.overRange;
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
      const kept = Math.min(Math.max(value, -maxFloat32), maxFloat32);
      buffer.writeFloatLE(kept, at);
      return kept === value ? 0 : quality.overRange;
    }
    case 'f64':
      buffer.writeDoubleLE(value, at);
      return 0;
    default:
      return 0;
  }
}

function modulo(value: number, size: number): number {
  const rest = Math.floor(value) % size;
  return rest < 0 ? rest + size : rest;
}

/**
 * Writes one object that is not packed; there must be room for `type.size` octets.
 * A value that no number can show is 0, not online, with REFERENCE_ERR. IEEE 1815 11.6
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
