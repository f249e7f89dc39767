/**
 * Holds: timed controls of remote parties, as events of IEEE 2030.5 or controls of OCPP are. A hold writes points when
 * it begins and restores the former values at its end. A hold has no clock: its owner decides when it ends.
 *
 * - Every point has a *base*, its value and writer before the first hold of an owner, handed on when another hold of
 *   this owner takes the point over. The end restores the base, whatever holds came in between.
 * - A point that was last written by another writer is *left* alone. An end also restores the writer of the base, so
 *   when holds of two owners overlap and the later hold ends, the earlier one is in force again; when the earlier hold
 *   ends first, its base becomes the base of the later one. No order of ends leaves a value of an ended hold behind.
 * - Beside its own values a hold writes those that it needs to last: RvrtTms = 0 of the reversion groups that it
 *   touches, so that no timer of a master ends it early; and where it enables a function of reactive power, DISABLED
 *   for the others of the five, because the function enabled last acts. The end restores the order in which they were
 *   enabled.
 */
import type { SimTime } from '../../core/time/clock.ts';
import { SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Origin, Provenance, Source } from '../../core/origin.ts';
import type { AdoptChange, Bank } from './bank.ts';
import { reactiveEnables } from './grid-support/state.ts';
import type { Layout, PointSlot } from './layout.ts';
import { restoredBase } from './kept-points.ts';
import type { Base } from './kept-points.ts';
import { keptPoint, keptScale, pointOf } from './layout-table.ts';
import { reversionTimers } from './timers.ts';
import { isInSet1 } from './layout.ts';
import type { AnyPointValue } from './types.ts';
import { pointName } from './view.ts';
import { keptWriter, restoredWriter } from './writer-marks.ts';

/** A value for a point, as `Bank.adopt` accepts it. */
export interface HoldValue {
  readonly slot: PointSlot;
  readonly value: AnyPointValue;
}

/** A hold that is to begin. */
export interface NewHold {
  /** unique among the holds of its owner; with the source it is the writer of its points */
  readonly id: string;
  readonly source: Source;
  readonly values: readonly HoldValue[];
}

/** Holds that end and a hold that begins, at one instant. */
export interface HoldChange {
  readonly end?: readonly string[];
  readonly begin?: NewHold;
}

/** The points of an ended hold by their outcome; each point is in one list. */
export interface EndedHold {
  readonly id: string;
  /** have their base again */
  readonly restored: readonly PointSlot[];
  /** written by another writer since */
  readonly left: readonly PointSlot[];
  /** taken over, with their base, by another hold of the same owner */
  readonly handedOver: readonly PointSlot[];
}

/** One point of a hold that lasts. */
export interface HeldPoint {
  readonly slot: PointSlot;
  /** value in the register at the begin */
  readonly value: AnyPointValue;
  /** the value that its end restores unless the point is overwritten */
  readonly base: AnyPointValue;
  /** true: the last writer is another writer or a later hold */
  readonly overwritten: boolean;
  /** true: not requested, but the hold needs the point to last */
  readonly added: boolean;
}

interface Entry {
  readonly value: AnyPointValue;
  readonly added: boolean;
  /** the writer of the point while this hold has it, compared by identity: no other write has this object */
  readonly mark: Provenance | undefined;
  base: Base;
  /** reason why another hold of the owner has the point; null: none has it */
  lost: 'handed over' | 'overwritten before' | null;
}

interface Control {
  readonly id: string;
  readonly points: Map<PointSlot, Entry>;
}

/** A point of a hold as state that a restart keeps; null in the place of undefined. */
function keptEntry(bank: Bank, slot: PointSlot, { value, added, mark, base, lost }: Entry) {
  return {
    slot: keptPoint(slot),
    value,
    added,
    lost,
    mark: keptWriter(bank, mark),
    base: {
      value: base.value,
      raw: base.raw,
      rank: base.rank ?? null,
      writer: keptWriter(bank, base.writer),
    },
  };
}

function restoredEntry(bank: Bank, slot: PointSlot, kept: ReturnType<typeof keptEntry>): Entry {
  const { value, added, lost, mark } = kept;
  const base = { ...kept.base, rank: kept.base.rank ?? undefined, writer: restoredWriter(bank, kept.base.writer) };
  return {
    value,
    added,
    lost,
    mark: restoredWriter(bank, mark),
    base: restoredBase(bank, slot, base, keptScale(slot, kept.slot)),
  };
}

/** A change that is planned and not yet written. */
interface Plan {
  readonly ended: readonly EndedHold[];
  readonly restore: readonly (readonly [PointSlot, Entry])[];
  /** timers that stay at 0 for a hold that continues */
  readonly timersAtZero: readonly (readonly [PointSlot, Entry, Control])[];
  readonly write: readonly Write[];
}

interface Write extends HoldValue {
  readonly added: boolean;
  readonly base: Base;
  /** the entry that another hold of the owner loses, and why; null: no other hold has the point */
  readonly former: { readonly entry: Entry; readonly lost: NonNullable<Entry['lost']> } | null;
}

/** The holds of all owners on one bank: where holds overlap, bases are handed on between owners. */
const onBank = new WeakMap<Bank, Set<Holds>>();

/** Points of the simulation model 64414 are commands to surroundings, which have their own timed changes. */
const surroundingsModel = 64414;

/** @throws SimError MAP_BAD_VALUE for a point that no end could restore */
function checkHoldable(slot: PointSlot): void {
  const detail =
    slot.def.effect === 'latch'
      ? 'is a command, not a state: it cannot be held'
      : slot.modelId === surroundingsModel
        ? 'belongs to the surroundings: it cannot be held'
        : null;
  if (detail === null) return;
  const name = pointName(slot);
  throw new SimError('MAP_BAD_VALUE', `${name}: ${detail}`, [{ name, detail }]);
}

interface RequiredValue {
  readonly value: AnyPointValue;
  readonly added: boolean;
}

/** The values of a hold with those that it needs to last. @throws SimError MAP_BAD_VALUE */
function completed(layout: Layout, values: readonly HoldValue[]): Map<PointSlot, RequiredValue> {
  const required = new Map<PointSlot, RequiredValue>();
  for (const { slot, value } of values) {
    checkHoldable(slot);
    required.set(slot, { value, added: false });
  }
  const enables = reactiveEnables(layout);
  if (enables.some((slot) => isOn(slot, required.get(slot)?.value))) {
    for (const slot of enables) if (!required.has(slot)) required.set(slot, { value: 'DISABLED', added: true });
  }
  const timers = reversionTimers(layout);
  for (const slot of [...required.keys()]) {
    const timer = timers.get(slot);
    if (timer && !required.has(timer)) required.set(timer, { value: 0, added: true });
  }
  return required;
}

/** True for ENABLED, as a symbol or as its number. */
function isOn({ def }: PointSlot, value: AnyPointValue | undefined): boolean {
  return value === 'ENABLED' || (value !== undefined && value === def.symbols?.['ENABLED']);
}

/** The model whose set 1 an error concerns; null: another error. */
function brokenSet(layout: Layout, error: unknown): number | null {
  if (!(error instanceof SimError) || error.code !== 'MAP_BAD_VALUE') return null;
  const name = error.issues[0]?.name ?? '';
  const slot = layout.named(name);
  return slot && isInSet1(slot) ? slot.modelId : null;
}

/** The holds of one owner (a protocol, or REST) on one bank. */
export class Holds {
  readonly #bank: Bank;
  readonly #owner: string;
  readonly #controls = new Map<string, Control>();
  readonly #resetListeners = new Set<(ids: readonly string[], at: SimTime) => void>();
  readonly #stopFollowing: () => void;

  /** @param owner name in the log, as `csip` or `rest` */
  constructor(bank: Bank, owner: string) {
    this.#bank = bank;
    this.#owner = owner;
    const all = onBank.get(bank) ?? new Set();
    onBank.set(bank, all.add(this));
    this.#stopFollowing = bank.onReload((_by, at) => {
      this.#forget(at);
    });
  }

  /** Ids of the holds that last, oldest first. */
  get ids(): readonly string[] {
    return [...this.#controls.keys()];
  }

  /** The points of a hold that lasts, the requested ones first. @throws SimError UNKNOWN_RESOURCE */
  points(id: string): readonly HeldPoint[] {
    return [...this.#control(id).points].map(([slot, entry]) => ({
      slot,
      value: entry.value,
      base: entry.base.value,
      overwritten: !this.#has(slot, entry),
      added: entry.added,
    }));
  }

  /**
   * Ends holds and begins one, in one commit; after a refusal nothing has changed. A change that only ends holds has
   * the source `reversion`: local control does not prevent it, and no range refuses a base. A curve that other writers
   * have changed in part, and that could not be in force with the rest restored, is left as it is.
   * @returns the outcome for the points of each ended hold
   * @throws SimError UNKNOWN_RESOURCE for an id without a hold, COMMAND_CONFLICT if `begin` has the id of a hold that
   *   lasts, and while the device is off (the holds then continue), MAP_BAD_VALUE for a point that cannot be held; for
   *   a begin all of `Bank.adopt`
   */
  change(change: HoldChange): readonly EndedHold[] {
    return this.#carryOut(change, (by, edit, plan) => {
      this.#bank.adopt(by, edit, () => {
        this.#apply(plan, change);
      });
    });
  }

  /** Checks as `change` does, including whether this writer may write now, and changes nothing. @throws SimError as `change` */
  check(change: HoldChange): void {
    this.#carryOut(change, (by, edit) => {
      this.#bank.checkAdopt(by, edit);
    });
  }

  /**
   * Calls `listener` with the ids of the holds that a reset of the device has ended, and the instant of the reset; the
   * points have their start values again. The returned function unsubscribes the listener.
   */
  onReset(listener: (ids: readonly string[], at: SimTime) => void): () => void {
    this.#resetListeners.add(listener);
    return () => {
      this.#resetListeners.delete(listener);
    };
  }

  /**
   * State that a restart keeps, restored after the bank; bases and marks are compared by the numbers of writers. A
   * device that starts anew has no holds.
   */
  kept(): Kept {
    return keptRecord(
      () => ({
        controls: Array.from(this.#controls.values(), ({ id, points }) => ({
          id,
          points: Array.from(points, ([slot, entry]) => keptEntry(this.#bank, slot, entry)),
        })),
      }),
      ({ controls }) => {
        this.#controls.clear();
        if (this.#bank.restored === null) return;
        for (const { id, points } of controls) {
          const entries = points.flatMap((point) => {
            const slot = pointOf(this.#bank.layout, point.slot);
            return slot ? [[slot, restoredEntry(this.#bank, slot, point)] as const] : [];
          });
          this.#controls.set(id, { id, points: new Map(entries) });
        }
      },
    );
  }

  /** Forgets all holds of this owner and writes nothing; no hold may begin afterwards. */
  close(): void {
    this.#stopFollowing();
    this.#controls.clear();
    onBank.get(this.#bank)?.delete(this);
  }

  /** Writes or checks a change. */
  #carryOut(change: HoldChange, adopt: (by: Origin, edit: AdoptChange, plan: Plan) => void): readonly EndedHold[] {
    const { end = [], begin } = change;
    const ending = new Set(end.map((id) => this.#control(id)));
    if (begin && this.#controls.has(begin.id) && !end.includes(begin.id)) {
      throw new SimError('COMMAND_CONFLICT', `There is a hold ${begin.id} already.`);
    }
    const required = begin ? completed(this.#bank.layout, begin.values) : new Map<PointSlot, RequiredValue>();
    const by: Origin = begin
      ? { source: begin.source, peer: begin.id }
      : { source: 'reversion', peer: `${this.#owner} ${end.join(', ')}` };
    const leftSets = new Set<number>();
    for (;;) {
      const plan = this.#plan(ending, required, leftSets);
      try {
        const edit: AdoptChange = (_, set, restore) => {
          for (const [slot, { base }] of plan.restore) restore(slot, base);
          for (const [slot] of plan.timersAtZero) set(slot, 0);
          for (const { slot, value } of plan.write) set(slot, value);
        };
        adopt(by, edit, plan);
        return plan.ended;
      } catch (error) {
        const model = brokenSet(this.#bank.layout, error);
        const writesSet = plan.write.some(({ slot }) => slot.modelId === model && isInSet1(slot));
        if (model === null || writesSet || leftSets.has(model)) throw error;
        leftSets.add(model);
      }
    }
  }

  /** @param leftSets models whose set 1 is left as it is */
  #plan(
    ending: ReadonlySet<Control>,
    required: ReadonlyMap<PointSlot, RequiredValue>,
    leftSets: ReadonlySet<number>,
  ): Plan {
    const restore: [PointSlot, Entry][] = [];
    const timersAtZero: [PointSlot, Entry, Control][] = [];
    const ended = [...ending].map(({ id, points }): EndedHold => {
      const [restored, left, handedOver]: [PointSlot[], PointSlot[], PointSlot[]] = [[], [], []];
      for (const [slot, entry] of points) {
        const heir = this.#heirOfTimer(slot, ending);
        if (entry.lost === 'handed over') handedOver.push(slot);
        else if (!this.#has(slot, entry)) left.push(slot);
        else if (required.has(slot)) handedOver.push(slot);
        else if (leftSets.has(slot.modelId) && isInSet1(slot)) left.push(slot);
        else if (heir) {
          handedOver.push(slot);
          timersAtZero.push([slot, entry, heir]);
        } else {
          restored.push(slot);
          restore.push([slot, entry]);
        }
      }
      return { id, restored, left, handedOver };
    });
    const write = [...required].map(([slot, { value, added }]) => ({
      slot,
      value,
      added,
      ...this.#baseAndFormer(slot),
    }));
    return { ended, restore, timersAtZero, write };
  }

  /** Updates the holds once the registers have the change, before any listener is called. */
  #apply({ ended, timersAtZero, write }: Plan, { begin }: HoldChange): void {
    for (const { id, left } of ended) {
      const { points } = this.#control(id);
      for (const slot of left) handOn(this.#bank, slot, points.get(slot));
    }
    for (const { slot, former } of write) {
      if (!former) continue;
      if (former.lost === 'overwritten before') handOn(this.#bank, slot, former.entry);
      former.entry.lost = former.lost;
    }
    for (const { id } of ended) this.#controls.delete(id);
    for (const [slot, { base }, heir] of timersAtZero) heir.points.set(slot, this.#entry(slot, true, base));
    if (!begin) return;
    this.#controls.set(begin.id, {
      id: begin.id,
      points: new Map(write.map(({ slot, added, base }) => [slot, this.#entry(slot, added, base)])),
    });
  }

  #entry(slot: PointSlot, added: boolean, base: Base): Entry {
    const bank = this.#bank;
    return { value: bank.value(slot), added, base, mark: bank.provenance(slot), lost: null };
  }

  /** The base of a point that a new hold writes, and the hold that loses the point. */
  #baseAndFormer(slot: PointSlot): Pick<Write, 'base' | 'former'> {
    const bank = this.#bank;
    const current = { value: bank.value(slot), ...bank.former(slot) };
    for (const { points } of this.#controls.values()) {
      const entry = points.get(slot);
      if (!entry || entry.lost !== null) continue;
      return this.#has(slot, entry)
        ? { base: entry.base, former: { entry, lost: 'handed over' } }
        : { base: current, former: { entry, lost: 'overwritten before' } };
    }
    return { base: current, former: null };
  }

  /** A continuing hold that a timer, restored to its base, would end early. */
  #heirOfTimer(timer: PointSlot, ending: ReadonlySet<Control>): Control | undefined {
    if (!timer.path.endsWith('RvrtTms')) return undefined;
    const timers = reversionTimers(this.#bank.layout);
    return [...this.#controls.values()].find(
      (control) =>
        !ending.has(control) &&
        [...control.points].some(([slot, entry]) => timers.get(slot) === timer && this.#hasOrRegains(slot, entry)),
    );
  }

  /** True if the hold is still the last writer of the point. */
  #has(slot: PointSlot, { mark, lost }: Entry): boolean {
    return lost === null && this.#bank.provenance(slot) === mark;
  }

  /** True if the hold has the point, or will have it again when later holds of other owners end. */
  #hasOrRegains(slot: PointSlot, entry: Entry): boolean {
    if (entry.lost !== null) return false;
    return this.#has(slot, entry) || [...(onBank.get(this.#bank) ?? [])].some((holds) => holds.covers(slot, entry));
  }

  #control(id: string): Control {
    const control = this.#controls.get(id);
    if (!control) throw new SimError('UNKNOWN_RESOURCE', `There is no hold ${id}.`);
    return control;
  }

  #forget(at: SimTime): void {
    const { ids } = this;
    this.#controls.clear();
    if (ids.length > 0) for (const listener of this.#resetListeners) listener(ids, at);
  }

  /** True if a hold of this owner covers this value and will restore it. */
  covers(slot: PointSlot, { mark }: Entry): boolean {
    return [...this.#controls.values()].some(({ points }) => {
      const entry = points.get(slot);
      return entry !== undefined && entry.base.writer === mark && this.#hasOrRegains(slot, entry);
    });
  }

  /** Holds whose base is the value of an ended hold get the base of that hold, so that the value does not return. */
  inherit(slot: PointSlot, { mark, base }: Entry): void {
    for (const { points } of this.#controls.values()) {
      const entry = points.get(slot);
      if (entry && entry.base.writer === mark) entry.base = base;
    }
  }
}

function handOn(bank: Bank, slot: PointSlot, entry: Entry | undefined): void {
  if (entry) for (const holds of onBank.get(bank) ?? []) holds.inherit(slot, entry);
}
