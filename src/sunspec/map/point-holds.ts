/**
 * The points of the controls that a protocol has in force on one device: one hold per control, with the id of
 * the control.
 */
import { SimError } from '../../core/errors.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Source } from '../../core/origin.ts';
import type { Bank } from './bank.ts';
import { Holds } from './holds.ts';
import type { HoldValue, NewHold } from './holds.ts';
import type { PointSlot } from './layout.ts';
import { keptPoint, pointOf } from './layout-table.ts';
import type { AnyPointValue } from './types.ts';

/** The reason why a device refuses a write for good. */
export interface RefusedWrite {
  readonly refused: 'unsupported' | 'invalid';
  readonly detail: string;
}

/** Outcome of a write: done, to be tried again, or refused for good. */
export type Written = 'done' | 'waiting' | RefusedWrite;

export type PointValues = Map<PointSlot, AnyPointValue>;

/** Id of a hold that is only checked; longer than the id of any control of a protocol, so that the two differ. */
const checkId = 'a check of values, which belongs to no control of any protocol';

/** Error codes of a device that accepts no remote writes at present: it is off, or under local control. */
const waitingCodes: readonly string[] = ['COMMAND_CONFLICT', 'MAP_LOCAL_CONTROL'];
const unsupportedCodes: readonly string[] = ['MAP_NOT_SUPPORTED', 'MAP_NOT_IMPLEMENTED', 'MAP_READ_ONLY'];
const invalidCodes: readonly string[] = ['MAP_BAD_VALUE', 'COMMAND_BAD_VALUE'];

/** Carries out a write. @throws any error that is not a refusal by the device */
export function written(write: () => void): Written {
  try {
    write();
    return 'done';
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    if (waitingCodes.includes(error.code)) return 'waiting';
    if (unsupportedCodes.includes(error.code)) return { refused: 'unsupported', detail: error.message };
    if (invalidCodes.includes(error.code)) return { refused: 'invalid', detail: error.message };
    throw error;
  }
}

const newHold = (id: string, source: Source, values: Iterable<readonly [PointSlot, AnyPointValue]>): NewHold => ({
  id,
  source,
  values: Array.from(values, ([slot, value]) => ({ slot, value })),
});

/**
 * Makes the controls in force hold their points. Each control that begins or changes has a separate commit, because it
 * is the writer of its points, and because the device accepts or refuses each control alone; the last of these commits
 * also ends the other controls. All commits are done at one simulated instant, in one turn, so that no tick and no
 * master sees a part. A control takes points over from a control that lasts or ends within its commit.
 */
export class PointHolds {
  readonly #bank: Bank;
  readonly #holds: Holds;
  readonly #source: Source;
  readonly #live = new Map<string, PointValues>();
  /** the control that wrote a point last */
  readonly #owners = new Map<PointSlot, string>();
  /** points of a control that another writer has overwritten, kept while the control lasts */
  readonly #lost = new Map<string, Set<PointSlot>>();

  /** @param source source of the writes, and owner of the holds */
  constructor(bank: Bank, source: Source) {
    this.#bank = bank;
    this.#holds = new Holds(bank, source);
    this.#source = source;
  }

  /** Controls that hold points, also those that cannot end because the device is off. */
  get ids(): readonly string[] {
    return [...this.#live.keys()];
  }

  /** True if no control holds a point. */
  get isEmpty(): boolean {
    return this.#live.size === 0;
  }

  /** True if another writer has changed a point of a control since. */
  isOverwritten(id: string): boolean {
    if (this.#live.has(id)) this.#noteOverwritten([id]);
    return (this.#lost.get(id)?.size ?? 0) > 0;
  }

  /**
   * Outcome of a write of these values now, without writing.
   * @param source source of the write; `default`: the outcome if the device accepted remote writes
   */
  check(values: readonly HoldValue[], source = this.#source): Written {
    if (values.length === 0) return 'done';
    const begin: NewHold = { id: checkId, source, values };
    return written(() => {
      this.#holds.check({ begin });
    });
  }

  /**
   * Makes exactly these controls hold these points, except points that other writers have overwritten.
   * @param required highest priority first
   * @returns the outcome for the controls whose points had to be written
   */
  follow(required: ReadonlyMap<string, PointValues>): ReadonlyMap<string, Written> {
    this.#noteOverwritten();
    const heldValues = new Map(
      [...required].flatMap(([id, values]) => {
        const lost = this.#lost.get(id);
        const remaining = new Map([...values].filter(([slot]) => lost?.has(slot) !== true));
        return remaining.size > 0 ? [[id, remaining] as const] : [];
      }),
    );
    const begins = [...heldValues.keys()].filter((id) => !this.#live.has(id));
    const newlyHeld = new Set(begins.flatMap((id) => [...(heldValues.get(id)?.keys() ?? [])]));
    const changes = [...heldValues].flatMap(([id, values]) =>
      this.#live.has(id) && !this.#isUpToDate(id, values, newlyHeld) ? [id] : [],
    );
    const ends = [...this.#live.keys()].filter((id) => !heldValues.has(id));
    for (const id of this.#lost.keys()) if (!required.has(id)) this.#lost.delete(id);
    return this.#write(heldValues, { begins, changes, ends });
  }

  /** State that a restart keeps, restored after the bank; empty for a device that starts anew. */
  kept(): Kept {
    return keptParts({ holds: this.#holds.kept(), controls: this.#keptControls() });
  }

  #keptControls(): Kept {
    const slotsAt = (...points: readonly (string | number)[]) =>
      points.flatMap((point) => pointOf(this.#bank.layout, point) ?? []);
    return keptRecord(
      () => ({
        live: Array.from(this.#live, ([id, values]) => ({
          id,
          values: Array.from(values, ([slot, value]) => ({ index: keptPoint(slot), value })),
        })),
        owners: Array.from(this.#owners, ([slot, id]) => ({ index: keptPoint(slot), id })),
        lost: Array.from(this.#lost, ([id, slots]) => ({ id, points: Array.from(slots, keptPoint) })),
      }),
      ({ live, owners, lost }) => {
        this.forget();
        if (this.#bank.restored === null) return;
        for (const { id, values } of live) {
          const points = values.flatMap(({ index, value }) => slotsAt(index).map((slot) => [slot, value] as const));
          this.#live.set(id, new Map(points));
        }
        for (const { index, id } of owners) for (const slot of slotsAt(index)) this.#owners.set(slot, id);
        for (const { id, points } of lost) this.#lost.set(id, new Set(slotsAt(...points)));
      },
    );
  }

  /** Forgets all holds after a reset of the device. */
  forget(): void {
    this.#live.clear();
    this.#owners.clear();
    this.#lost.clear();
  }

  close(): void {
    this.#holds.close();
  }

  /** Notes the points that other writers have overwritten. */
  #noteOverwritten(ids: Iterable<string> = this.#live.keys()): void {
    for (const id of ids) {
      for (const { slot, overwritten, added } of this.#holds.points(id)) {
        if (!overwritten || added || this.#owners.get(slot) !== id) continue;
        const lost = this.#lost.get(id) ?? new Set();
        this.#lost.set(id, lost.add(slot));
      }
    }
  }

  /** True if a control has exactly its points once the beginning controls have written theirs. */
  #isUpToDate(id: string, values: PointValues, newlyHeld: ReadonlySet<PointSlot>): boolean {
    const live = this.#live.get(id) ?? new Map<PointSlot, AnyPointValue>();
    const hasAll = [...values].every(([slot, value]) => this.#owners.get(slot) === id && live.get(slot) === value);
    const lost = this.#lost.get(id);
    const isExtra = (slot: PointSlot) =>
      this.#owners.get(slot) === id && !values.has(slot) && !newlyHeld.has(slot) && lost?.has(slot) !== true;
    return hasAll && ![...live.keys()].some(isExtra);
  }

  #write(
    heldValues: ReadonlyMap<string, PointValues>,
    { begins, changes, ends }: Readonly<Record<'begins' | 'changes' | 'ends', readonly string[]>>,
  ): ReadonlyMap<string, Written> {
    const results = new Map<string, Written>();
    let toEnd = [...ends];
    [...begins, ...changes].forEach((id, i, all) => {
      const values = heldValues.get(id);
      if (!values) return;
      const former = this.#live.has(id) ? [id] : [];
      const end = i === all.length - 1 ? [...toEnd, ...former] : former;
      const result = written(() => this.#holds.change({ end, begin: newHold(id, this.#source, values) }));
      results.set(id, result);
      if (result === 'done') {
        this.#drop(end);
        toEnd = toEnd.filter((each) => !end.includes(each));
        this.#live.set(id, values);
        for (const slot of values.keys()) this.#owners.set(slot, id);
      } else if (result !== 'waiting') toEnd.push(...former);
    });
    // a device that is off refuses an end; the next call tries it again
    if (toEnd.length > 0 && written(() => this.#holds.change({ end: toEnd })) === 'done') this.#drop(toEnd);
    return results;
  }

  #drop(ids: readonly string[]): void {
    for (const id of ids) {
      for (const [slot] of this.#live.get(id) ?? []) if (this.#owners.get(slot) === id) this.#owners.delete(slot);
      this.#live.delete(id);
    }
  }
}
