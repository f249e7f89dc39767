/** Participants of a commit: the phases in which the bank calls them, and what they may do. */
import { SimError } from '../../core/errors.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { adopt, reportAdoption } from './adoption.ts';
import type { Layout, PointSlot } from './layout.ts';
import type { AnyPointValue } from './types.ts';
import { readPoint, writePoint } from './view.ts';

/**
 * Outcome of an adoption request: the stored set is checked and copied inside the commit (`ADOPT`), or nothing is
 * adopted and the result point reads this word.
 */
export type AdoptionOutcome = 'ADOPT' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';

/** An earlier value of a point, to be restored. */
export interface Former {
  /** registers as in `Bank.raw` */
  readonly raw: readonly number[];
  /** undefined: a start value */
  readonly writer: Provenance | undefined;
  /** state that a participant keeps beside the registers, from `rankOf` */
  readonly rank: number | undefined;
}

/** Called once the registers hold the change. */
export type FollowUp = () => void;

/**
 * Takes part in the commits of one bank. The bank calls each phase for all participants in their order:
 *
 * 1. `admit`, before anything is copied. A participant that throws refuses the change.
 * 2. `prepare`, when all checks have passed. Participants may set points of the candidate and change their own
 *    state, such as timers. They must not throw and must not write a bank: banks of one shape share the candidate.
 * 3. The follow-ups that `prepare` returned, when the registers hold the change: effects outside the registers. One
 *    that throws is reported and stops neither the commit nor the others.
 *
 * Listeners of `Bank.onChange` are called after all participants.
 */
export interface CommitParticipant {
  /** @throws SimError where this writer may not write now */
  admit?(by: Origin): void;
  /** @returns the follow-up of the change; null: none */
  prepare?(commit: Commit): FollowUp | null;
  /**
   * State beside the value of a point that a change of the point overwrites: the position of an enable among others
   * (the last one counts), or the gradient that a ramp replaces. A commit that restores the point restores it too
   * (`Commit.restored`).
   */
  rankOf?(slot: PointSlot): number | undefined;
  /** Called instead of the other phases after a reset to start values. @param points settings that differed */
  reloaded?(points: readonly PointSlot[], by: Origin): void;
}

/** A checked change on the candidate image. Valid during `prepare` only, since banks share the image. */
export class Commit {
  readonly by: Origin;
  /** points that this change restores: restoring an enable does not count as enabling the function */
  readonly restored: ReadonlyMap<PointSlot, Former>;
  readonly layout: Layout;
  readonly #image: Buffer;
  #points: readonly PointSlot[];
  readonly #adoptions: Set<PointSlot>;
  readonly #adopted: PointSlot[] = [];
  readonly #mirrored = new Map<PointSlot, PointSlot>();
  #effective: readonly PointSlot[];
  #open = true;

  /** @param adoptions requests among the points that are still to be carried out */
  constructor(
    layout: Layout,
    image: Buffer,
    points: readonly PointSlot[],
    adoptions: readonly PointSlot[],
    by: Origin,
    restored: ReadonlyMap<PointSlot, Former>,
  ) {
    this.layout = layout;
    this.#image = image;
    this.#points = points;
    this.restored = restored;
    this.#adoptions = new Set(adoptions);
    this.#effective = points;
    this.by = by;
  }

  /** Points of the change event, in the order in which they were written; points set by `mirror` come last. */
  get points(): readonly PointSlot[] {
    return this.#points;
  }

  /** Points that `mirror` has set, by the written points that they follow. */
  get mirrored(): ReadonlyMap<PointSlot, PointSlot> {
    return this.#mirrored;
  }

  /** The points without those that an earlier participant withheld. */
  get effective(): readonly PointSlot[] {
    return this.#effective;
  }

  /** Adoption requests that no participant has settled yet. */
  get adoptions(): readonly PointSlot[] {
    return [...this.#adoptions];
  }

  /** Points that adoptions have written beside those of the change event. */
  get adopted(): readonly PointSlot[] {
    return this.#adopted;
  }

  value(slot: PointSlot): AnyPointValue {
    return readPoint(this.layout, this.#candidate(), slot);
  }

  /** Sets any point, status points too: access is not checked. */
  set(slot: PointSlot, value: AnyPointValue): void {
    writePoint(this.layout, this.#candidate(), slot, value);
  }

  /**
   * Sets a point that mirrors or carries out another point of this change: it becomes part of the change, with the
   * writer of the other point.
   */
  mirror(slot: PointSlot, value: AnyPointValue, twin: PointSlot): void {
    this.set(slot, value);
    if (this.#points.includes(slot)) return;
    this.#mirrored.set(slot, this.#mirrored.get(twin) ?? twin);
    this.#points = [...this.#points, slot];
    this.#effective = [...this.#effective, slot];
  }

  /** Later participants do not act on these points; they are written all the same. */
  withhold(slots: ReadonlySet<PointSlot>): void {
    if (slots.size > 0) this.#effective = this.#effective.filter((slot) => !slots.has(slot));
  }

  /** Settles an adoption request; does nothing for one that is settled. */
  settle(request: PointSlot, outcome: AdoptionOutcome): void {
    if (!this.#adoptions.delete(request)) return;
    const image = this.#candidate();
    this.#adopted.push(
      ...(outcome === 'ADOPT'
        ? adopt(this.layout, image, request)
        : reportAdoption(this.layout, image, request, outcome)),
    );
  }

  /** Ends the use of the candidate, which other banks share. */
  close(): void {
    this.#open = false;
  }

  #candidate(): Buffer {
    if (!this.#open) throw new SimError('INTERNAL', 'the candidate of a commit was used after the commit');
    return this.#image;
  }
}
