/** Points of a map decoded from registers as a master has read them, scale factors included. */
import { Buffer } from 'node:buffer';
import { applyScale, isFloat, numberCodec } from '../../sunspec/map/codec.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';

/** Registers of a point, big-endian. @throws SimError where they cannot be read */
export type WordsOf = (slot: PointSlot) => Buffer;

export interface DecodedPoint {
  /** number in the register; null: "not implemented" */
  readonly raw: number | null;
  /** exponent of ten of the scale factor; null: the point has none */
  readonly exponent: number | null;
  /** in the unit of the point; a symbol of an enumeration */
  readonly value: number | string | null;
  /** step in the unit of the point; null: a float, or no quantity */
  readonly resolution: number | null;
}

function rawOf(slot: PointSlot, words: Buffer): number | null {
  const codec = numberCodec(slot.def.type);
  const octets = Buffer.from(words);
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  if (codec === undefined) return null;
  // of accumulators "not implemented" is 0, as it is before anything was counted
  return codec.absent(view, 0) && !slot.def.type.startsWith('acc') ? null : codec.get(view, 0);
}

/** The scale-factor point of a point: in its own group, or at the top of the model. */
function scalePoint(layout: Layout, { modelId, path, def: { sf } }: PointSlot): PointSlot | undefined {
  if (typeof sf !== 'string') return undefined;
  const group = path.slice(0, path.lastIndexOf('.') + 1);
  return layout.slot(modelId, group + sf) ?? layout.slot(modelId, sf);
}

function exponentOf(layout: Layout, slot: PointSlot, wordsOf: WordsOf): number | null {
  const { sf } = slot.def;
  if (typeof sf === 'number') return sf;
  const scale = scalePoint(layout, slot);
  return scale === undefined ? null : rawOf(scale, wordsOf(scale));
}

/** @throws SimError as `wordsOf` */
export function decodePoint(layout: Layout, slot: PointSlot, wordsOf: WordsOf): DecodedPoint {
  const { def } = slot;
  const raw = rawOf(slot, wordsOf(slot));
  if (def.symbols !== undefined) {
    const symbol = Object.entries(def.symbols).find(([, number]) => number === raw)?.[0];
    return { raw, exponent: null, value: symbol ?? raw, resolution: null };
  }
  const exponent = exponentOf(layout, slot, wordsOf);
  const value = raw === null ? null : applyScale(raw, exponent ?? 0);
  return { raw, exponent, value, resolution: isFloat(def.type) ? null : Number(`1e${exponent ?? 0}`) };
}
