/**
 * The registers under reading faults. One request sees a copy in which whole points change; the copy is computed point
 * by point and cached while registers, faults and instant stay the same.
 */
import { Buffer } from 'node:buffer';
import { SimError } from '../../core/errors.ts';
import type { Kept } from '../../core/kept.ts';
import { applyScale, clearPoint, isFloat, numberCodec, removeScale, setText } from '../map/codec.ts';
import type { PointBank } from '../map/bank.ts';
import { memoPerLayoutAndKey } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { layoutDigest } from '../map/layout-table.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { SimTime } from '../../core/time/clock.ts';

export class MapImage {
  readonly layout: Layout;
  readonly bytes: Buffer;
  readonly #view: DataView;

  /** @param bytes all registers of the layout; the setters change them */
  constructor(layout: Layout, bytes: Buffer) {
    this.layout = layout;
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Number in the register; null: not implemented, or not a number. */
  raw(slot: PointSlot): number | null {
    const codec = numberCodec(slot.def.type);
    const at = this.#at(slot);
    return codec === undefined || codec.absent(this.#view, at) ? null : codec.get(this.#view, at);
  }

  /** Sets the number in the register, rounded and kept within the type. */
  setRaw(slot: PointSlot, raw: number): void {
    const codec = numberCodec(slot.def.type);
    if (codec === undefined) return;
    const whole = isFloat(slot.def.type) ? raw : removeScale(raw, 0);
    codec.set(this.#view, this.#at(slot), Math.min(codec.max, Math.max(codec.min, whole)));
  }

  /** Value in the unit of the point; null: not implemented, or not a number. */
  number(slot: PointSlot): number | null {
    const raw = this.raw(slot);
    return raw === null ? null : applyScale(raw, slot.sf);
  }

  /** Sets a value in the unit of the point, kept within the type. */
  setNumber(slot: PointSlot, value: number): void {
    this.setRaw(slot, isFloat(slot.def.type) ? value : removeScale(value, slot.sf));
  }

  /** Applies functions one after the other to the value of a point, in its unit; points without a value are skipped. */
  changeNumber(slot: PointSlot, changes: readonly NonNullable<ReadingEffect['number']>[]): void {
    const codec = numberCodec(slot.def.type);
    if (codec === undefined) return;
    const [view, at, { sf }, whole] = [this.#view, this.#at(slot), slot, !isFloat(slot.def.type)];
    for (const change of changes) {
      if (codec.absent(view, at)) return;
      const value = change(applyScale(codec.get(view, at), sf), slot);
      const raw = whole ? removeScale(value, sf) : value;
      // each result is rounded, as if the faults were applied separately
      codec.set(view, at, Math.min(codec.max, Math.max(codec.min, raw)));
    }
  }

  setText(slot: PointSlot, text: string): void {
    setText(this.#view, this.#at(slot), slot.def.size, text);
  }

  /** Sets the "not implemented" value of the type. */
  clear(slot: PointSlot): void {
    clearPoint(this.#view, this.#at(slot), slot.def);
  }

  setWords(slot: PointSlot, words: readonly number[]): void {
    words.slice(0, slot.def.size).forEach((word, i) => {
      this.#view.setUint16(this.#at(slot) + 2 * i, word);
    });
  }

  #at(slot: PointSlot): number {
    return 2 * (slot.address - this.layout.base);
  }
}

/** Begin and end of runs of adjacent points, in octets from the marker, and the total size of the runs in octets. */
interface Runs {
  readonly runs: readonly { readonly at: number; readonly end: number }[];
  readonly size: number;
}

/** @param slots points in map order */
const runsOf = memoPerLayoutAndKey((layout, slots: readonly PointSlot[]): Runs => {
  const runs: { at: number; end: number }[] = [];
  for (const { address, def } of slots) {
    const at = 2 * (address - layout.base);
    const last = runs.at(-1);
    if (last?.end === at) last.end += 2 * def.size;
    else runs.push({ at, end: at + 2 * def.size });
  }
  return { runs, size: runs.reduce((sum, { at, end }) => sum + end - at, 0) };
});

const copies = new WeakMap<PointBank, WeakRef<Buffer>>();

/** A read-only copy of all registers; shared until one of them changes. */
function copyOf(bank: PointBank): Buffer {
  const image = bank.image();
  const lastCopy = copies.get(bank)?.deref();
  if (lastCopy?.equals(image) === true) return lastCopy;
  const copy = Buffer.from(image);
  copies.set(bank, new WeakRef(copy));
  return copy;
}

/** Registers of some points at one moment. */
export class Sample {
  readonly #runs: Runs['runs'];
  /** all registers when `#isWhole`, otherwise the runs joined */
  #bytes: Buffer;
  readonly #isWhole: boolean;
  readonly #layout: string;
  /** `#bytes` as text, made once: a sample stays as it is, and may be saved each second; null: not yet made */
  #text: string | null = null;

  /** @param slots points in map order */
  constructor(bank: PointBank, slots: readonly PointSlot[]) {
    const { imageSize } = bank.layout;
    this.#layout = layoutDigest(bank.layout);
    const { runs, size } = runsOf(bank.layout, slots);
    this.#runs = runs;
    // from half of the registers on a shared copy is smaller: many faults may sample a device at one moment
    this.#isWhole = size > imageSize;
    if (this.#isWhole) {
      this.#bytes = copyOf(bank);
    } else {
      const image = bank.image();
      this.#bytes = Buffer.concat(
        runs.map(({ at, end }) => image.subarray(at, end)),
        size,
      );
    }
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return {
      save: () => (this.#text ??= `${this.#bytes.toString('base64')} ${this.#layout}`),
      restore: (saved) => {
        // form 1 of the state has no layout
        const [octets = '', layout = this.#layout] = typeof saved === 'string' ? saved.split(' ') : [];
        if (layout !== this.#layout) throw new SimError('INTERNAL', 'a kept sample is one of another register map');
        const bytes = Buffer.from(octets, 'base64');
        if (bytes.length !== this.#bytes.length)
          throw new SimError('INTERNAL', `a kept sample has ${bytes.length} octets, not ${this.#bytes.length}`);
        this.#bytes = bytes;
        this.#text = null;
      },
    };
  }

  /** Copies one of the points into an image. */
  show(image: MapImage, { address, def }: PointSlot): void {
    const from = 2 * (address - image.layout.base);
    const start = this.#isWhole ? from : this.#place(from);
    this.#bytes.copy(image.bytes, from, start, start + 2 * def.size);
  }

  /** Index in `#bytes` of an octet of the image. */
  #place(octet: number): number {
    let before = 0;
    for (const { at, end } of this.#runs) {
      if (octet < end) return before + octet - at;
      before += end - at;
    }
    return before;
  }
}

/**
 * The effect of one fault on the registers of one device. Without `change`, `number` and `apply` the effect refuses
 * reads of a partial point.
 */
export interface ReadingEffect {
  /** points that a request must touch to be struck */
  readonly slots: readonly PointSlot[];
  /** changes one of the points, independent of the others */
  readonly change?: (image: MapImage, slot: PointSlot) => void;
  /** the changed value of a point, in its unit, instead of `change`; points without a value stay */
  readonly number?: (value: number, slot: PointSlot) => number;
  /** true if a changed point depends only on its true value, so that it stays the same over ticks */
  readonly isSteady?: true;
  /** changes all points together instead of `change`, depending on other points */
  readonly apply?: (image: MapImage) => void;
  /** points whose values `apply` uses */
  readonly reads?: readonly PointSlot[];
  /** applied after the effects of all other faults */
  readonly last?: true;
  /** called at each tick, after its results are in the registers */
  readonly sample?: () => void;
  /** state that a restart keeps, restored after the registers; absent: none */
  readonly kept?: () => Kept;
}

/** A fault with its effect on one device. */
export interface ReadingFault {
  readonly fault: ActiveFault;
  readonly effect: ReadingEffect;
}

/** 1 at the index of each point; by the array, which faults without a target share */
const masks = new WeakMap<readonly PointSlot[], Uint8Array>();

function maskOf(slots: readonly PointSlot[]): Uint8Array {
  let mask = masks.get(slots);
  if (mask === undefined) {
    mask = new Uint8Array(slots.reduce((size, { index }) => Math.max(size, index + 1), 0));
    for (const { index } of slots) mask[index] = 1;
    masks.set(slots, mask);
  }
  return mask;
}

/** True if an effect changes one of these points. */
export function concernsAny({ slots }: ReadingEffect, points: readonly PointSlot[]): boolean {
  const mask = maskOf(slots);
  return points.some(({ index }) => mask[index] === 1);
}

function isSame(a: readonly ReadingFault[], b: readonly ReadingFault[]): boolean {
  return a.length === b.length && a.every((fault, i) => fault === b[i]);
}

/**
 * One device under its reading faults. There may be a thousand faults, and many reads between two ticks: an effect is
 * applied to a point once, until the point or the striking faults change, or, unless all of them are steady, the
 * instant.
 */
export class ShownImage {
  readonly #layout: Layout;
  readonly #image: MapImage;
  /** the true octets of the computed points */
  readonly #origin: Buffer;
  /** 1 at the index of each computed point */
  readonly #computed: Uint8Array;
  #striking: readonly ReadingFault[] = [];
  /** masks of the striking effects */
  #masks: readonly Uint8Array[] = [];
  #isSteady = true;
  #at: SimTime | null = null;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#image = new MapImage(layout, Buffer.alloc(2 * layout.imageSize));
    this.#origin = Buffer.alloc(2 * layout.imageSize);
    this.#computed = new Uint8Array(layout.slots.length);
  }

  /**
   * All registers of the map, with the faults applied to these points.
   * @param truth all registers; a new buffer is returned
   * @param striking faults in the order of application
   */
  show(truth: Buffer, points: readonly PointSlot[], striking: readonly ReadingFault[], instant: SimTime): Buffer {
    if (!isSame(striking, this.#striking)) {
      this.#striking = striking;
      this.#masks = striking.map(({ effect }) => maskOf(effect.slots));
      this.#isSteady = striking.every(({ effect }) => effect.isSteady === true);
      this.#computed.fill(0);
    } else if (instant !== this.#at && !this.#isSteady) {
      this.#computed.fill(0);
    }
    this.#at = instant;
    if (striking.some(({ effect }) => effect.apply !== undefined)) this.#computeTogether(truth, points);
    else for (const point of points) if (!this.#isComputed(truth, point)) this.#compute(truth, point);
    const image = Buffer.from(truth);
    for (const point of points) {
      const [from, to] = this.#octets(point);
      this.#image.bytes.copy(image, from, from, to);
    }
    return image;
  }

  #octets({ address, def: { size } }: PointSlot): readonly [number, number] {
    const from = 2 * (address - this.#layout.base);
    return [from, from + 2 * size];
  }

  #isComputed(truth: Buffer, point: PointSlot): boolean {
    if (this.#computed[point.index] !== 1) return false;
    const [from, to] = this.#octets(point);
    return truth.compare(this.#origin, from, to, from, to) === 0;
  }

  #compute(truth: Buffer, point: PointSlot): void {
    const [from, to] = this.#octets(point);
    truth.copy(this.#origin, from, from, to);
    truth.copy(this.#image.bytes, from, from, to);
    this.#change(point, 0, this.#striking.length);
    this.#computed[point.index] = 1;
  }

  /** Applies striking effects to a point, consecutive changes of its value together. */
  #change(point: PointSlot, from: number, to: number): void {
    let numbers: NonNullable<ReadingEffect['number']>[] = [];
    for (let i = from; i < to; i += 1) {
      const effect = this.#striking[i]?.effect;
      if (effect === undefined || this.#masks[i]?.[point.index] !== 1) continue;
      if (effect.number !== undefined) {
        numbers.push(effect.number);
        continue;
      }
      this.#image.changeNumber(point, numbers);
      numbers = [];
      effect.change?.(this.#image, point);
    }
    this.#image.changeNumber(point, numbers);
  }

  /** As `#compute`, for effects that depend on several points. */
  #computeTogether(truth: Buffer, points: readonly PointSlot[]): void {
    if (points.every(({ index }) => this.#computed[index] === 1) && truth.equals(this.#origin)) return;
    truth.copy(this.#origin);
    truth.copy(this.#image.bytes);
    this.#computed.fill(0);
    const readPoints = this.#striking.flatMap(({ effect }) => (effect.apply === undefined ? [] : (effect.reads ?? [])));
    const needed = [...new Set([...points, ...readPoints])];
    let from = 0;
    this.#striking.forEach(({ effect }, i) => {
      if (effect.apply === undefined) return;
      for (const point of needed) this.#change(point, from, i);
      effect.apply(this.#image);
      from = i + 1;
    });
    for (const point of needed) this.#change(point, from, this.#striking.length);
    for (const { index } of points) this.#computed[index] = 1;
  }
}
