/** The common interface of the faults that act at one device, and the registers in force for its physics. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import { holds } from '../../sunspec/faults/targets.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { AdoptionOutcome, Commit, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { keptPoint, unscaledPointOf } from '../../sunspec/map/layout-table.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { createMapView, readPoint } from '../../sunspec/map/view.ts';
import type { MapView } from '../../sunspec/map/view.ts';

/** The device as its faults use it. */
export interface EffectHost {
  readonly deviceIndex: number;
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  /** registers from which physics reads its settings under faults */
  readonly effective: EffectiveRegisters;
  /** True if the device is off. */
  isDown(): boolean;
  now(): SimTime;
  /** Faults in force at any device. */
  activeFaults(): readonly ActiveFault[];
  /** Makes physics read its settings again. */
  refresh(): void;
  /** @param forget true: reset settings and curves */
  powerDown(forget: boolean, by: Origin): void;
  powerUp(): void;
}

/** A register write of a master or client, about to be committed. */
export interface WriteUnderFaults {
  /** points that it changes for physics; for a completed adoption also those of set 1 */
  readonly changed: readonly PointSlot[];
  readonly commit: Commit;
  /** points withheld from physics; each belongs to the first fault that strikes it */
  readonly withheld: Set<PointSlot>;
}

/** One fault at one device. */
export interface Effect {
  readonly fault: ActiveFault;
  /** called when the fault begins and at the end of each tick */
  update?(): void;
  /** Applies the fault to a write. @returns a function to call once the registers hold the write; null: none */
  prepare?(write: WriteUnderFaults): FollowUp | null;
  /** @returns the outcome of an adoption; null: the fault does not strike it */
  adopting?(request: PointSlot, by: Origin): AdoptionOutcome | null;
  /** called after a reset of the device, which has cleared its timers */
  restart?(): void;
  /** @param spent true: the count of the fault is spent, and struck writes stay struck */
  end?(spent: boolean): void;
  /** limit in force, percent of WMax */
  readonly limitPct?: number | null;
  readonly alarmCodes?: readonly string[];
  /** true: timers run, which go on when the count of the fault is spent */
  readonly isUnderWay?: boolean;
  /** state that a restart keeps, restored after registers and timers of the device; absent: none */
  kept?(): Kept;
}

/** True if the condition of a fault holds and the fault strikes at this occasion, which it counts. */
export function strikesNow(
  fault: ActiveFault,
  { bank, deviceIndex }: Pick<EffectHost, 'bank' | 'deviceIndex'>,
): boolean {
  return holds(bank, fault.facts.when) && fault.strikes(deviceIndex);
}

/** The origin of writes in the name of a fault. */
export function originOf({ facts }: ActiveFault): Origin {
  return { source: 'fault', peer: `${facts.kind.kind} ${facts.id}` };
}

/** The value of a held point from before the withheld write. */
interface Hold {
  words: Buffer;
  /** id of the fault */
  readonly by: number;
  /** numbers of the first and the last withheld write */
  readonly since: number;
  last: number;
}

/** The registers in force for physics: held points keep their value from before the withheld write. */
export class EffectiveRegisters {
  readonly #bank: RegisterBank;
  /** created when the first point is held */
  #physics: { readonly image: Buffer; readonly map: MapView } | null = null;
  readonly #held = new Map<PointSlot, Hold>();
  #writes = 0;

  constructor(bank: RegisterBank) {
    this.#bank = bank;
  }

  get holding(): boolean {
    return this.#held.size > 0;
  }

  /** True if the last write of a point has not reached physics. */
  holds(slot: PointSlot): boolean {
    return this.#held.has(slot);
  }

  /** The value in force for physics, if the last write of a point is withheld; undefined: the register. */
  heldValue(slot: PointSlot): AnyPointValue | undefined {
    return this.#physics && this.holds(slot) ? readPoint(this.#bank.layout, this.#physics.image, slot) : undefined;
  }

  get map(): MapView {
    return this.#physics && this.holding ? this.#physics.map : this.#bank.map;
  }

  /** Copies the registers of the bank, except held points. */
  takeOver(): void {
    if (!this.#physics || !this.holding) return;
    const { image } = this.#physics;
    this.#committedImage().copy(image);
    for (const [slot, { words }] of this.#held) words.copy(image, this.#at(slot));
  }

  /**
   * Holds points at their present value; called before the write is committed.
   * @returns the number of this write, for `arrive`
   */
  hold(slots: Iterable<PointSlot>, by: ActiveFault): number {
    this.#writes += 1;
    if (!this.#physics) this.#physics = this.#copy();
    else if (!this.holding) this.#committedImage().copy(this.#physics.image);
    const { image } = this.#physics;
    for (const slot of slots) {
      const hold = this.#held.get(slot);
      if (hold?.by === by.facts.id) hold.last = this.#writes;
      else
        this.#held.set(slot, {
          words: Buffer.from(image.subarray(this.#at(slot), this.#at(slot) + slot.def.size * 2)),
          by: by.facts.id,
          since: this.#writes,
          last: this.#writes,
        });
    }
    return this.#writes;
  }

  /**
   * Applies a delayed write, except to points already reached by a later one.
   * @param write number of the newest write in `words`
   */
  arrive(write: number, words: ReadonlyMap<PointSlot, Buffer>, by: ActiveFault): void {
    for (const [slot, arrived] of words) {
      const hold = this.#held.get(slot);
      if (hold?.by !== by.facts.id || write < hold.since) continue;
      if (write >= hold.last) this.#held.delete(slot);
      else hold.words = arrived;
    }
  }

  /** Lets points follow the bank again. @param by releases only points held by this fault */
  release(slots: Iterable<PointSlot>, by?: ActiveFault): void {
    for (const slot of slots) if (by === undefined || this.#held.get(slot)?.by === by.facts.id) this.#held.delete(slot);
  }

  /** Releases all points held by a fault. @param by its id */
  releaseAll(by: number): void {
    for (const [slot, hold] of this.#held) if (hold.by === by) this.#held.delete(slot);
  }

  /** State that a restart keeps, restored after the bank. */
  kept(): Kept {
    return keptRecord(
      () => ({
        writes: this.#writes,
        held: Array.from(this.#held, ([slot, { words, ...hold }]) => ({
          slot: keptPoint(slot),
          words: words.toString('hex'),
          ...hold,
        })),
      }),
      ({ writes, held }) => {
        this.#writes = writes;
        this.#held.clear();
        for (const { slot: point, words, ...hold } of held) {
          const slot = unscaledPointOf(this.#bank.layout, point);
          if (slot) this.#held.set(slot, { words: Buffer.from(words, 'hex'), ...hold });
        }
        if (!this.holding) return;
        this.#physics ??= this.#copy();
        this.takeOver();
      },
    );
  }

  #copy(): { readonly image: Buffer; readonly map: MapView } {
    const image = Buffer.from(this.#committedImage());
    return { image, map: createMapView(this.#bank.layout, image) };
  }

  clear(): void {
    this.#held.clear();
  }

  /** All committed registers. */
  #committedImage(): Buffer {
    return this.#bank.image();
  }

  #at(slot: PointSlot): number {
    return (slot.address - this.#bank.layout.base) * 2;
  }
}
