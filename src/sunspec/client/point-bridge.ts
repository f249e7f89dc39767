/** Encodings of the register map for the registers of another device; the client's only file that uses the map. */
import type { ReadingValue } from '../../contract/sunspec-client.ts';
import { didYouMean, givenText } from '../../core/nearest.ts';
import { applyScale, clearPoint, getText, hasBit, isFloat, numberCodec, removeScale, setText } from '../map/codec.ts';
import type { PointDef } from '../map/types.ts';

const minScale = -10;
const maxScale = 10;

export interface Decoded {
  readonly value: ReadingValue;
  readonly symbol?: string | null;
  readonly bits?: readonly string[];
  readonly implemented: boolean;
  readonly note?: string;
}

const absent: Decoded = { value: null, implemented: false };

function viewOf(words: Buffer): DataView {
  return new DataView(words.buffer, words.byteOffset, words.byteLength);
}

function isEnum({ type }: PointDef): boolean {
  return type.startsWith('enum');
}

function isBitfield({ type }: PointDef): boolean {
  return type.startsWith('bitfield');
}

function isWide({ type }: PointDef): boolean {
  return type === 'int64' || type === 'uint64' || type === 'acc64';
}

/** A whole number times a power of ten, as text. */
function decimalText(raw: bigint, sf: number): string {
  if (sf >= 0) return (raw * 10n ** BigInt(sf)).toString();
  const digits = (raw < 0n ? -raw : raw).toString().padStart(1 - sf, '0');
  const cut = digits.length + sf;
  const fraction = digits.slice(cut).replace(/0+$/, '');
  return `${raw < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction === '' ? '' : `.${fraction}`}`;
}

function textOf(def: PointDef, words: Buffer): Decoded {
  if (words.every((octet) => octet === 0)) return absent;
  if (def.type === 'string') return { value: getText(viewOf(words), 0, def.size).trimEnd(), implemented: true };
  if (def.type === 'eui48' && words.readUIntBE(2, 6) === 0xffffffffffff) return absent;
  return { value: words.toString('hex'), implemented: true };
}

function bitNames(symbols: Readonly<Record<string, number>> | undefined, raw: number): string[] {
  const names = new Map(Object.entries(symbols ?? {}).map(([name, bit]) => [bit, name]));
  return Array.from({ length: 32 }, (_, bit) => bit)
    .filter((bit) => hasBit(raw, 2 ** bit))
    .map((bit) => names.get(bit) ?? `BIT_${bit}`);
}

function symbolOf(symbols: Readonly<Record<string, number>> | undefined, raw: number): string | null {
  return Object.entries(symbols ?? {}).find(([, value]) => value === raw)?.[0] ?? null;
}

/** The exponent in the register of a scale factor; null: not implemented, or not a valid exponent. */
export function scaleIn(words: Buffer): number | null {
  const raw = words.readInt16BE(0);
  return raw >= minScale && raw <= maxScale ? raw : null;
}

function wideNumber(def: PointDef, words: Buffer, sf: number): Decoded {
  const exact = def.type === 'int64' ? words.readBigInt64BE(0) : words.readBigUInt64BE(0);
  // with all digits, including those that a positive exponent adds
  const digits = sf > 0 ? exact * 10n ** BigInt(sf) : exact;
  const fits = digits <= BigInt(Number.MAX_SAFE_INTEGER) && digits >= BigInt(Number.MIN_SAFE_INTEGER);
  if (fits) return { value: applyScale(Number(exact), sf), implemented: true };
  return { value: decimalText(exact, sf), implemented: true, note: 'as text, since the number is beyond 2^53' };
}

function numberOf(def: PointDef, words: Buffer, sf: number): Decoded {
  const codec = numberCodec(def.type);
  if (!codec || def.type === 'pad') return absent;
  const dv = viewOf(words);
  if (codec.absent(dv, 0)) return absent;
  if (isWide(def)) return wideNumber(def, words, sf);
  const raw = codec.get(dv, 0);
  if (!Number.isFinite(raw)) return { value: null, implemented: true, note: 'not a finite number' };
  if (isEnum(def)) return { value: raw, symbol: symbolOf(def.symbols, raw), implemented: true };
  if (isBitfield(def))
    return {
      value: raw,
      bits: bitNames(def.symbols, raw),
      implemented: true,
      ...(raw > codec.max && { note: 'its highest bit is reserved' }),
    };
  if (def.type === 'sunssf' && scaleIn(words) === null) {
    return { value: raw, implemented: true, note: `outside of ${minScale} to ${maxScale}` };
  }
  return { value: applyScale(raw, sf), implemented: true };
}

/**
 * Decodes the registers of a point.
 * @param sf exponent in force; null: the point has a scale factor, but the device gives no usable one
 */
export function decode(def: PointDef, words: Buffer, sf: number | null): Decoded {
  if (!numberCodec(def.type)) return textOf(def, words);
  const decoded = numberOf(def, words, sf ?? 0);
  if (sf !== null || !decoded.implemented) return decoded;
  return { value: null, implemented: true, note: 'without a usable scale factor the registers have no value' };
}

/** Registers of a point, or the error in the value. */
export type Encoded =
  | { readonly words: Buffer }
  | { readonly fault: string; readonly allowed?: readonly (string | number)[] };

function encodeText(def: PointDef, value: ReadingValue): Encoded {
  if (def.type !== 'string') return { fault: 'addresses cannot be written by name' };
  if (typeof value !== 'string') return { fault: 'must be text' };
  if (Buffer.byteLength(value) > def.size * 2) return { fault: `is longer than ${def.size * 2} bytes` };
  const words = Buffer.alloc(def.size * 2);
  setText(viewOf(words), 0, def.size, value);
  return { words };
}

/** The number of a symbol; undefined: no such symbol. */
function enumRaw(symbols: Readonly<Record<string, number>>, value: string | number): number | undefined {
  if (typeof value === 'number') return Object.values(symbols).includes(value) ? value : undefined;
  return Object.hasOwn(symbols, value) ? symbols[value] : undefined;
}

function encodeNumber(def: PointDef, value: number, sf: number): Encoded {
  const codec = numberCodec(def.type);
  if (!codec || !Number.isFinite(value)) return { fault: 'must be a finite number' };
  const raw = isFloat(def.type) ? value : removeScale(value, sf);
  if (raw < codec.min || raw > codec.max) {
    return { fault: `${value} does not fit ${applyScale(codec.min, sf)}..${applyScale(codec.max, sf)}` };
  }
  const words = Buffer.alloc(def.size * 2);
  codec.set(viewOf(words), 0, raw);
  return { words };
}

/**
 * Encodes a value; only null gives the registers that mean "not implemented".
 * @param sf exponent in force; null: the device gives no usable one
 */
export function encode(def: PointDef, value: ReadingValue, sf: number | null): Encoded {
  if (value === null) {
    const words = Buffer.alloc(def.size * 2);
    clearPoint(viewOf(words), 0, def);
    return { words };
  }
  if (!numberCodec(def.type)) return encodeText(def, value);
  if (isEnum(def) && def.symbols) {
    const raw = enumRaw(def.symbols, value);
    return raw === undefined
      ? {
          fault:
            `${givenText(value)} is not one of its ` +
            `symbols${typeof value === 'string' ? didYouMean(value, Object.keys(def.symbols)) : ''}`,
          allowed: Object.keys(def.symbols),
        }
      : encodeNumber(def, raw, 0);
  }
  if (typeof value !== 'number') return { fault: 'must be a number' };
  if ((isEnum(def) || isBitfield(def)) && !Number.isInteger(value)) return { fault: 'must be a whole number' };
  if (sf === null) return { fault: 'the device gives no usable scale factor for it' };
  return encodeNumber(def, value, sf);
}
