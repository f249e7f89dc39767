/** The registers as reading faults show them: made point by point, and kept until something changes them. */
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

/** By the array of points, which faults without a target share: 1 at the index of each. */
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

/** Whether an effect changes one of these points. */
export function concernsAny({ slots }: ReadingEffect, points: readonly PointSlot[]): boolean {
  const mask = maskOf(slots);
  return points.some(({ index }) => mask[index] === 1);
}

function isSame(a: readonly Acting[], b: readonly Acting[]): boolean {
  return a.length === b.length && a.every((acting, i) => acting === b[i]);
}

/**
 * What one device shows under its reading faults. There may be a thousand of them, and many reads between two ticks: an
 * effect is applied to a point once, until the point, the instant or the striking faults change.
 */
export class ShownImage {
  readonly #layout: Layout;
  readonly #image: MapImage;
  /** the octets that the points of the image were made from */
  readonly #origin: Buffer;
  /** by the index of a point: 1 where the image has it */
  readonly #made: Uint8Array;
  #striking: readonly Acting[] = [];
  #at: SimTime | null = null;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#image = new MapImage(layout, Buffer.alloc(2 * layout.size));
    this.#origin = Buffer.alloc(2 * layout.size);
    this.#made = new Uint8Array(layout.slots.length);
  }

  /**
   * All registers of the map, with these points as the faults show them.
   * @param truth all registers; a new buffer is returned
   * @param striking in the order in which they act
   */
  show(truth: Buffer, points: readonly PointSlot[], striking: readonly Acting[], now: SimTime): Buffer {
    if (now !== this.#at || !isSame(striking, this.#striking)) {
      this.#made.fill(0);
      this.#striking = striking;
      this.#at = now;
    }
    if (striking.some(({ effect }) => effect.apply !== undefined)) this.#makeTogether(truth, points);
    else for (const point of points) if (!this.#isMade(truth, point)) this.#make(truth, point);
    const shown = Buffer.from(truth);
    for (const point of points) {
      const [from, to] = this.#octets(point);
      this.#image.bytes.copy(shown, from, from, to);
    }
    return shown;
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
    for (const { effect } of this.#striking) {
      if (maskOf(effect.slots)[point.index] === 1) effect.change?.(this.#image, point);
    }
    this.#made[point.index] = 1;
  }

  /** The same where an effect changes points by what others hold: none of them is made alone. */
  #makeTogether(truth: Buffer, points: readonly PointSlot[]): void {
    if (points.every(({ index }) => this.#made[index] === 1) && truth.equals(this.#origin)) return;
    truth.copy(this.#origin);
    truth.copy(this.#image.bytes);
    this.#made.fill(0);
    const joint = this.#striking.flatMap(({ effect }) => (effect.apply === undefined ? [] : (effect.reads ?? [])));
    const needed = [...new Set([...points, ...joint])];
    for (const { effect } of this.#striking) {
      if (effect.apply !== undefined) {
        effect.apply(this.#image);
        continue;
      }
      const mask = maskOf(effect.slots);
      for (const point of needed) if (mask[point.index] === 1) effect.change?.(this.#image, point);
    }
    for (const { index } of points) this.#made[index] = 1;
  }
}
