/** The settings as physics takes them while faults keep writes from it. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { RegisterBank } from '../../sunspec/map/bank.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { createMapView } from '../../sunspec/map/view.ts';
import type { MapView } from '../../sunspec/map/view.ts';

/** A point that stays as it was in force. */
interface Hold {
  words: Buffer;
  readonly by: ActiveFault;
  /** number of the first and of the last write that it has been kept through */
  readonly since: number;
  last: number;
}

/** The registers of a bank, but for held points, which have the value that was in force when they were taken hold of. */
export class FeltSettings {
  readonly #bank: RegisterBank;
  /** made when the first point is held */
  #own: { readonly image: Buffer; readonly map: MapView } | null = null;
  readonly #held = new Map<PointSlot, Hold>();
  #writes = 0;

  constructor(bank: RegisterBank) {
    this.#bank = bank;
  }

  get holding(): boolean {
    return this.#held.size > 0;
  }

  get map(): MapView {
    return this.#own && this.holding ? this.#own.map : this.#bank.map;
  }

  /** Takes over what the bank holds now, but for what is held. */
  follow(): void {
    if (!this.#own || !this.holding) return;
    const { image } = this.#own;
    this.#all().copy(image);
    for (const [slot, { words }] of this.#held) words.copy(image, this.#at(slot));
  }

  /**
   * Keeps points at what is in force, a write before they follow it.
   * @returns the number of this write, for `arrive`
   */
  hold(slots: Iterable<PointSlot>, by: ActiveFault): number {
    this.#writes += 1;
    if (!this.#own) {
      const image = Buffer.from(this.#all());
      this.#own = { image, map: createMapView(this.#bank.layout, image) };
    } else if (!this.holding) this.#all().copy(this.#own.image);
    const { image } = this.#own;
    for (const slot of slots) {
      const known = this.#held.get(slot);
      if (known?.by === by) known.last = this.#writes;
      else
        this.#held.set(slot, {
          words: Buffer.from(image.subarray(this.#at(slot), this.#at(slot) + slot.def.size * 2)),
          by,
          since: this.#writes,
          last: this.#writes,
        });
    }
    return this.#writes;
  }

  /**
   * A write that was held up takes effect, as far as no later one has reached physics by another way.
   * @param write number of the newest one, where several arrive together
   */
  arrive(write: number, words: ReadonlyMap<PointSlot, Buffer>, by: ActiveFault): void {
    for (const [slot, arrived] of words) {
      const hold = this.#held.get(slot);
      if (hold?.by !== by || write < hold.since) continue;
      if (write >= hold.last) this.#held.delete(slot);
      else hold.words = arrived;
    }
  }

  /** Points follow the bank again. @param by only where this fault holds them */
  release(slots: Iterable<PointSlot>, by?: ActiveFault): void {
    for (const slot of slots) if (by === undefined || this.#held.get(slot)?.by === by) this.#held.delete(slot);
  }

  /** All that a fault holds follows the bank again. */
  releaseAll(by: ActiveFault): void {
    this.release([...this.#held.keys()], by);
  }

  clear(): void {
    this.#held.clear();
  }

  /** The registers as they are; a write that is not yet committed is not in them. */
  #all(): Buffer {
    return this.#bank.read(this.#bank.layout.base, this.#bank.layout.size);
  }

  #at(slot: PointSlot): number {
    return (slot.address - this.#bank.layout.base) * 2;
  }
}
