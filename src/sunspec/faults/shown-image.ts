/** The registers under reading faults, computed point by point and cached until something changes them. */
import { Buffer } from 'node:buffer';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { MapImage } from './reading-image.ts';
import type { ReadingEffect } from './reading-image.ts';

/** A fault with its effect on one device. */
export interface Acting {
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

function isSame(a: readonly Acting[], b: readonly Acting[]): boolean {
  return a.length === b.length && a.every((acting, i) => acting === b[i]);
}

/**
 * One device under its reading faults. There may be a thousand faults, and many reads between two ticks: an effect is
 * applied to a point once, until the point, the striking faults or the instant of a moving fault change.
 */
export class ShownImage {
  readonly #layout: Layout;
  readonly #image: MapImage;
  /** the true octets of the computed points */
  readonly #origin: Buffer;
  /** 1 at the index of each computed point */
  readonly #made: Uint8Array;
  #striking: readonly Acting[] = [];
  /** masks of the striking effects */
  #masks: readonly Uint8Array[] = [];
  #isSteady = true;
  #at: SimTime | null = null;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#image = new MapImage(layout, Buffer.alloc(2 * layout.imageSize));
    this.#origin = Buffer.alloc(2 * layout.imageSize);
    this.#made = new Uint8Array(layout.slots.length);
  }

  /**
   * All registers of the map, with the faults applied to these points.
   * @param truth all registers; a new buffer is returned
   * @param striking in the order of application
   */
  show(truth: Buffer, points: readonly PointSlot[], striking: readonly Acting[], instant: SimTime): Buffer {
    if (!isSame(striking, this.#striking)) {
      this.#striking = striking;
      this.#masks = striking.map(({ effect }) => maskOf(effect.slots));
      this.#isSteady = striking.every(({ effect }) => effect.isSteady === true);
      this.#made.fill(0);
    } else if (instant !== this.#at && !this.#isSteady) {
      this.#made.fill(0);
    }
    this.#at = instant;
    if (striking.some(({ effect }) => effect.apply !== undefined)) this.#makeTogether(truth, points);
    else for (const point of points) if (!this.#isMade(truth, point)) this.#make(truth, point);
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

  #isMade(truth: Buffer, point: PointSlot): boolean {
    if (this.#made[point.index] !== 1) return false;
    const [from, to] = this.#octets(point);
    return truth.compare(this.#origin, from, to, from, to) === 0;
  }

  #make(truth: Buffer, point: PointSlot): void {
    const [from, to] = this.#octets(point);
    truth.copy(this.#origin, from, from, to);
    truth.copy(this.#image.bytes, from, from, to);
    this.#change(point, 0, this.#striking.length);
    this.#made[point.index] = 1;
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

  /** As `#make`, for effects that depend on several points. */
  #makeTogether(truth: Buffer, points: readonly PointSlot[]): void {
    if (points.every(({ index }) => this.#made[index] === 1) && truth.equals(this.#origin)) return;
    truth.copy(this.#origin);
    truth.copy(this.#image.bytes);
    this.#made.fill(0);
    const joint = this.#striking.flatMap(({ effect }) => (effect.apply === undefined ? [] : (effect.reads ?? [])));
    const needed = [...new Set([...points, ...joint])];
    let from = 0;
    this.#striking.forEach(({ effect }, i) => {
      if (effect.apply === undefined) return;
      for (const point of needed) this.#change(point, from, i);
      effect.apply(this.#image);
      from = i + 1;
    });
    for (const point of needed) this.#change(point, from, this.#striking.length);
    for (const { index } of points) this.#made[index] = 1;
  }
}
