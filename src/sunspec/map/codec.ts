/**
 * Register encodings of the SunSpec point types (Device Information Model Specification, data types):
 * big-endian, most significant register first, one reserved value per type for "not implemented".
 */
import type { PointDef, PointType } from './types.ts';

interface NumberCodec {
  readonly min: number;
  readonly max: number;
  get(dv: DataView, at: number): number;
  set(dv: DataView, at: number, raw: number): void;
  /** true if the raw value at `at` is the type's "not implemented" */
  absent(dv: DataView, at: number): boolean;
  clear(dv: DataView, at: number): void;
  /** for integers of one or two registers, the value that means "not implemented" */
  readonly absentRaw?: number;
}

const two32 = 2 ** 32;

/** 64-bit integers are limited to 2^53 - 1: at 100 MW an energy counter in Wh reaches this in 10,000 years. */
const uint64: NumberCodec = {
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
  get: (dv, at) => dv.getUint32(at) * two32 + dv.getUint32(at + 4),
  set(dv, at, raw) {
    dv.setUint32(at, Math.floor(raw / two32));
    // setUint32 takes the low 32 bits of a number
    dv.setUint32(at + 4, raw);
  },
  absent: (dv, at) => dv.getUint32(at) === 0xffffffff && dv.getUint32(at + 4) === 0xffffffff,
  clear(dv, at) {
    dv.setUint32(at, 0xffffffff);
    dv.setUint32(at + 4, 0xffffffff);
  },
};

const int64: NumberCodec = {
  min: Number.MIN_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
  get: (dv, at) => dv.getInt32(at) * two32 + dv.getUint32(at + 4),
  set(dv, at, raw) {
    dv.setInt32(at, Math.floor(raw / two32));
    dv.setUint32(at + 4, raw);
  },
  absent: (dv, at) => dv.getUint32(at) === 0x80000000 && dv.getUint32(at + 4) === 0,
  clear(dv, at) {
    dv.setUint32(at, 0x80000000);
    dv.setUint32(at + 4, 0);
  },
};

function unsigned16(max: number, absentRaw: number): NumberCodec {
  return {
    min: 0,
    max,
    get: (dv, at) => dv.getUint16(at),
    set: (dv, at, raw) => dv.setUint16(at, raw),
    absent: (dv, at) => dv.getUint16(at) === absentRaw,
    clear: (dv, at) => dv.setUint16(at, absentRaw),
    absentRaw,
  };
}

function signed16(min: number, max: number): NumberCodec {
  return {
    min,
    max,
    get: (dv, at) => dv.getInt16(at),
    set: (dv, at, raw) => dv.setInt16(at, raw),
    absent: (dv, at) => dv.getInt16(at) === -0x8000,
    clear: (dv, at) => dv.setInt16(at, -0x8000),
    absentRaw: -0x8000,
  };
}

function unsigned32(max: number, absentRaw: number): NumberCodec {
  return {
    min: 0,
    max,
    get: (dv, at) => dv.getUint32(at),
    set: (dv, at, raw) => dv.setUint32(at, raw),
    absent: (dv, at) => dv.getUint32(at) === absentRaw,
    clear: (dv, at) => dv.setUint32(at, absentRaw),
    absentRaw,
  };
}

const int32: NumberCodec = {
  min: -0x7fffffff,
  max: 0x7fffffff,
  get: (dv, at) => dv.getInt32(at),
  set: (dv, at, raw) => dv.setInt32(at, raw),
  absent: (dv, at) => dv.getInt32(at) === -0x80000000,
  clear: (dv, at) => dv.setInt32(at, -0x80000000),
  absentRaw: -0x80000000,
};

/** The shortest decimal number of a 32-bit float: 0.88 and not 0.8799999952316284. Whole numbers stay as they are. */
export function decimalOf(float32: number): number {
  if (Number.isInteger(float32)) return float32;
  for (const digits of [6, 7, 8, 9]) {
    const decimal = Number(float32.toPrecision(digits));
    if (Math.fround(decimal) === float32) return decimal;
  }
  return float32;
}

const float32: NumberCodec = {
  min: -3.4028234663852886e38,
  max: 3.4028234663852886e38,
  get: (dv, at) => decimalOf(dv.getFloat32(at)),
  set: (dv, at, raw) => dv.setFloat32(at, raw),
  absent: (dv, at) => Number.isNaN(dv.getFloat32(at)),
  clear: (dv, at) => dv.setFloat32(at, NaN),
};

const float64: NumberCodec = {
  min: -Number.MAX_VALUE,
  max: Number.MAX_VALUE,
  get: (dv, at) => dv.getFloat64(at),
  set: (dv, at, raw) => dv.setFloat64(at, raw),
  absent: (dv, at) => Number.isNaN(dv.getFloat64(at)),
  clear: (dv, at) => dv.setFloat64(at, NaN),
};

const acc32Modulus = 2 ** 32;

/** An amount as shown by a 32-bit counter of whole steps, which wraps to 0. */
export function acc32Amount(amount: number, step: number): number {
  const steps = Math.floor(amount / step);
  // counters are shown in every tick, and a division costs more than the rest
  return (steps < acc32Modulus ? steps : steps % acc32Modulus) * step;
}

const numberCodecs: Partial<Record<PointType, NumberCodec>> = {
  int16: signed16(-0x7fff, 0x7fff),
  uint16: unsigned16(0xfffe, 0xffff),
  count: unsigned16(0xfffe, 0xffff),
  acc16: unsigned16(0xffff, 0),
  enum16: unsigned16(0xfffe, 0xffff),
  // bit 15 is reserved
  bitfield16: unsigned16(0x7fff, 0xffff),
  int32,
  uint32: unsigned32(0xfffffffe, 0xffffffff),
  acc32: unsigned32(0xffffffff, 0),
  enum32: unsigned32(0xfffffffe, 0xffffffff),
  bitfield32: unsigned32(0x7fffffff, 0xffffffff),
  ipaddr: unsigned32(0xffffffff, 0),
  int64,
  uint64,
  acc64: {
    ...uint64,
    absent: (dv, at) => dv.getUint32(at) === 0 && dv.getUint32(at + 4) === 0,
    clear: (dv, at) => uint64.set(dv, at, 0),
  },
  float32,
  float64,
  sunssf: signed16(-10, 10),
  pad: signed16(-0x8000, 0x7fff),
};

/** The numeric codec of a point type; undefined for strings, EUI-48 and IPv6 addresses. */
export function numberCodec(type: PointType): NumberCodec | undefined {
  return numberCodecs[type];
}

/** True for the floating-point types. */
export function isFloat(type: PointType): boolean {
  return type === 'float32' || type === 'float64';
}

/** Text of a string point: UTF-8 up to the first NUL. */
export function getText(dv: DataView, at: number, registers: number): string {
  const bytes = Buffer.from(dv.buffer, dv.byteOffset + at, registers * 2);
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

/** Writes text NUL-padded, cut at a whole character when too long. */
export function setText(dv: DataView, at: number, registers: number, text: string): void {
  const size = registers * 2;
  // most text is short ASCII, some of it written in every tick: creating a Buffer takes longer than filling it
  let done = 0;
  while (done < size && done < text.length && text.charCodeAt(done) < 0x80) {
    dv.setUint8(at + done, text.charCodeAt(done));
    done += 1;
  }
  if (done === size) return;
  if (done === text.length) {
    while (done < size) dv.setUint8(at + done++, 0);
    return;
  }
  const bytes = Buffer.from(dv.buffer, dv.byteOffset + at, registers * 2);
  bytes.fill(0);
  bytes.write(text, 'utf8');
}

/** Fills a point with its type's "not implemented" value (all zero for text and IP addresses). */
export function clearPoint(dv: DataView, at: number, def: PointDef): void {
  const codec = numberCodecs[def.type];
  if (codec) codec.clear(dv, at);
  else if (def.type === 'eui48') {
    setText(dv, at, def.size, '');
    dv.setUint16(at + 2, 0xffff);
    dv.setUint32(at + 4, 0xffffffff);
  } else setText(dv, at, def.size, '');
}

/** True if a bit of a field of up to 32 bits is set; signed bit operators reach 31 only. @param mask 2 ** bit number */
export function hasBit(field: number, mask: number): boolean {
  return Math.floor(field / mask) % 2 === 1;
}

/** `raw` x 10^`sf`, by division for negative exponents so that 1234 at -1 is exactly 123.4. */
export function applyScale(raw: number, sf: number): number {
  return sf < 0 ? raw / 10 ** -sf : raw * 10 ** sf;
}

/** The register number nearest to `value` at scale factor `sf`; not yet limited to the type. */
export function removeScale(value: number, sf: number): number {
  return nearest(sf < 0 ? value * 10 ** -sf : value / 10 ** sf);
}

/** The whole number nearest to `value`, half away from zero: -0.5 and 0.5 must be mirror images. */
export function nearest(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}
