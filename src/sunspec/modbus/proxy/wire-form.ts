/** Encodings of values in registers: types, sizes, orders of octets and registers, reserved values. */
import { Buffer } from 'node:buffer';
import type { ProxyMap, ProxyRegister, RegisterType } from './schema.ts';

interface NumberType {
  readonly registers: number;
  readonly min: number;
  readonly max: number;
  /** the reserved value that means "no value" */
  readonly sentinel: number | bigint;
  readonly whole: boolean;
  write(bytes: Buffer, value: number | bigint): void;
  /** exact for numbers accepted by `write`; beyond 2^53 digits are lost */
  read(bytes: Buffer): number;
}

const safe = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

const uint16: NumberType = {
  registers: 1,
  min: 0,
  max: 0xffff,
  sentinel: 0xffff,
  whole: true,
  write: (bytes, value) => {
    bytes.writeUInt16BE(Number(value));
  },
  read: (bytes) => bytes.readUInt16BE(),
};
const uint32: NumberType = {
  registers: 2,
  min: 0,
  max: 0xffff_ffff,
  sentinel: 0xffff_ffff,
  whole: true,
  write: (bytes, value) => {
    bytes.writeUInt32BE(Number(value));
  },
  read: (bytes) => bytes.readUInt32BE(),
};

const numberTypes: Readonly<Record<Exclude<RegisterType, 'string'>, NumberType>> = {
  uint16,
  uint32,
  bitfield16: uint16,
  bitfield32: uint32,
  int16: {
    registers: 1,
    min: -0x8000,
    max: 0x7fff,
    sentinel: -0x8000,
    whole: true,
    write: (bytes, value) => {
      bytes.writeInt16BE(Number(value));
    },
    read: (bytes) => bytes.readInt16BE(),
  },
  int32: {
    registers: 2,
    min: -0x8000_0000,
    max: 0x7fff_ffff,
    sentinel: -0x8000_0000,
    whole: true,
    write: (bytes, value) => {
      bytes.writeInt32BE(Number(value));
    },
    read: (bytes) => bytes.readInt32BE(),
  },
  uint64: {
    registers: 4,
    min: 0,
    max: safe.max,
    sentinel: 0xffff_ffff_ffff_ffffn,
    whole: true,
    write: (bytes, value) => {
      bytes.writeBigUInt64BE(BigInt(value));
    },
    read: (bytes) => Number(bytes.readBigUInt64BE()),
  },
  int64: {
    registers: 4,
    ...safe,
    sentinel: -0x8000_0000_0000_0000n,
    whole: true,
    write: (bytes, value) => {
      bytes.writeBigInt64BE(BigInt(value));
    },
    read: (bytes) => Number(bytes.readBigInt64BE()),
  },
  float32: {
    registers: 2,
    min: -3.4028234663852886e38,
    max: 3.4028234663852886e38,
    sentinel: NaN,
    whole: false,
    write: (bytes, value) => {
      bytes.writeFloatBE(Number(value));
    },
    read: (bytes) => bytes.readFloatBE(),
  },
  float64: {
    registers: 4,
    min: -Number.MAX_VALUE,
    max: Number.MAX_VALUE,
    sentinel: NaN,
    whole: false,
    write: (bytes, value) => {
      bytes.writeDoubleBE(Number(value));
    },
    read: (bytes) => bytes.readDoubleBE(),
  },
};

/** Register content of a missing point; null: a read is refused. */
type Absent = number | bigint | null;

export interface NumberForm {
  readonly kind: 'number';
  readonly registers: number;
  /** lowest number with a value */
  readonly min: number;
  /** highest number with a value */
  readonly max: number;
  readonly whole: boolean;
  /**
   * Writes `value` (a whole number if `whole`, from `min` to `max`), or the absent value for null.
   * @returns false: refused
   */
  write(value: number | null, out: Buffer, at: number): boolean;
  /** The number in the registers; null: "no value". */
  read(bytes: Buffer, at: number): number | null;
}

export interface TextForm {
  readonly kind: 'text';
  readonly registers: number;
  /** Writes text as UTF-8, NUL-padded, cut at a whole character; null as empty text. @returns false: refused */
  write(text: string | null, out: Buffer, at: number): boolean;
  /** The text up to the first NUL. */
  read(bytes: Buffer, at: number): string;
}

export type WireForm = NumberForm | TextForm;

/** Registers of an entry; a string without a size counts as one register. */
export function registersOf({ type, size }: Pick<ProxyRegister, 'type' | 'size'>): number {
  return type === 'string' ? (size ?? 1) : numberTypes[type].registers;
}

/** Minimum and maximum number that a type can hold; null for text. */
export function limitsOf(type: RegisterType): { readonly min: number; readonly max: number } | null {
  return type === 'string' ? null : numberTypes[type];
}

/** Converts the octets of a value to or from the order of the wire; both directions are the same exchange. */
function reorder(bytes: Buffer, swapBytes: boolean, swapWords: boolean): Buffer {
  // reversing all octets reverses both orders; `swap16` reverses the octets of each register
  if (swapWords) bytes.reverse();
  if (swapBytes !== swapWords) bytes.swap16();
  return bytes;
}

function absentOf(register: ProxyRegister, map: Pick<ProxyMap, 'absent'>, { sentinel }: NumberType): Absent {
  // constants, commands and kept values always have a value, so no number is reserved
  if (register.constant !== undefined || register.commands !== undefined || register.keeps !== undefined) return 0;
  const policy = register.absent ?? map.absent ?? 'sentinel';
  switch (policy) {
    case 'sentinel':
      return sentinel;
    case 'zero':
      return 0;
    case 'refuse':
      return null;
    default:
      return policy;
  }
}

function numberForm(type: NumberType, absent: Absent, swapBytes: boolean, swapWords: boolean): NumberForm {
  const { registers, whole, sentinel } = type;
  const reserved = absent !== null && Object.is(absent, sentinel) && typeof absent === 'number' ? absent : undefined;
  const scratch = Buffer.alloc(2 * registers);
  return {
    kind: 'number',
    registers,
    whole,
    min: type.min === reserved ? type.min + 1 : type.min,
    max: type.max === reserved ? type.max - 1 : type.max,
    write(value, out, at) {
      const encodedValue = value ?? absent;
      if (encodedValue === null) return false;
      type.write(scratch, encodedValue);
      reorder(scratch, swapBytes, swapWords).copy(out, at);
      return true;
    },
    read(bytes, at) {
      bytes.copy(scratch, 0, at, at + scratch.length);
      const value = type.read(reorder(scratch, swapBytes, swapWords));
      return Object.is(value, reserved) || !Number.isFinite(value) ? null : value;
    },
  };
}

function textForm(registers: number, swapBytes: boolean, refusesAbsent: boolean): TextForm {
  const scratch = Buffer.alloc(2 * registers);
  return {
    kind: 'text',
    registers,
    write(text, out, at) {
      if (text === null && refusesAbsent) return false;
      scratch.fill(0).write(text ?? '', 'utf8');
      reorder(scratch, swapBytes, false).copy(out, at);
      return true;
    },
    read(bytes, at) {
      bytes.copy(scratch, 0, at, at + scratch.length);
      reorder(scratch, swapBytes, false);
      const end = scratch.indexOf(0);
      return scratch.toString('utf8', 0, end < 0 ? scratch.length : end);
    },
  };
}

/** The form of an entry under the defaults of the map. */
export function wireFormOf(
  register: ProxyRegister,
  map: Pick<ProxyMap, 'absent' | 'byte_order' | 'word_order'>,
): WireForm {
  const swapBytes = (register.byte_order ?? map.byte_order) === 'little';
  const swapWords = (register.word_order ?? map.word_order) === 'little';
  if (register.type === 'string')
    return textForm(registersOf(register), swapBytes, (register.absent ?? map.absent) === 'refuse');
  const type = numberTypes[register.type];
  return numberForm(type, absentOf(register, map, type), swapBytes, swapWords);
}
