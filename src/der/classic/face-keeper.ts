/** Keeps the two faces of a setting equal: a write of either moves the other in the same commit. */
import { errorText } from '../../core/errors.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { plainOrigin } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import type { RandomStream } from '../../core/random.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { Commit, CommitParticipant } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { assignTo, facesOf, readerOf } from './faces.ts';
import type { BoundFace, ReadPoint } from './faces.ts';
import type { FaceRamps } from './face-ramps.ts';

/** A face as the state names it: by its classic points. */
const faceName = ({ face }: BoundFace): string => face.classic.join(' ');

export interface FaceKeeperOptions {
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  readonly now: () => SimTime;
  /** random numbers of the device, for the delays within windows */
  readonly random: RandomStream;
  readonly ramps: FaceRamps;
  readonly warn: (message: string) => void;
}

/** Classic faces delayed by one window of one write. */
interface Batch {
  readonly timer: Timer;
  readonly faces: Set<BoundFace>;
  /** writer of the faces */
  readonly by: Origin;
}

/** Position in a write of the last point of a face; -1: none. */
const lastOf = (points: readonly PointSlot[], of: ReadonlySet<PointSlot>) =>
  points.findLastIndex((slot) => of.has(slot));

const sharesSetting = (a: BoundFace, b: BoundFace) => [...a.current].some((slot) => b.current.has(slot));

/** The point of a write that decides a face; the points that mirror it get its writer. */
const decisive = (points: readonly PointSlot[], of: ReadonlySet<PointSlot>) => points.findLast((slot) => of.has(slot));

/**
 * The participant that keeps faces equal. Of a write with both faces of a setting the later point counts. A write of a
 * classic face with a window acts after a random part of it; until then the faces differ, and a later write of either
 * face replaces it.
 */
export class FaceKeeper implements CommitParticipant {
  readonly #options: FaceKeeperOptions;
  readonly #faces: readonly BoundFace[];
  readonly #waiting = new Map<BoundFace, Batch>();
  /** values of classic faces as last written */
  readonly #written = new Map<BoundFace, Values>();
  /** classic faces whose window has ended, during the write that follows; null: any other write */
  #released: readonly BoundFace[] | null = null;

  constructor(options: FaceKeeperOptions) {
    this.#options = options;
    this.#faces = facesOf(options.bank.layout);
  }

  prepare(commit: Commit): null {
    const { points } = commit;
    const moved = this.#released ?? this.#movedBy(points);
    const waited = this.#forgetOverruled(commit, moved);
    const acting = this.#released ?? this.#delay(moved, commit);
    const read = readerOf(commit.layout, (slot) => commit.value(slot));
    const { ramps } = this.#options;
    ramps.begin();
    if (this.#released === null) {
      const changing = acting.filter((face) => waited.has(face) || !this.#repeats(face, commit));
      // a repeated face beside one that moves the same setting is a change like any other
      const repeated = new Set(
        acting.filter((face) => !changing.includes(face) && !changing.some((other) => sharesSetting(face, other))),
      );
      // twice: a setting may depend on another one that moves in the same change
      for (const face of [...acting, ...acting]) this.#move(face, commit, read, repeated.has(face));
    }
    this.#refresh(commit, read, acting, moved);
    ramps.end(commit, acting, read);
    for (const face of acting) this.#written.set(face, valuesOf(face.classic, commit));
    return null;
  }

  /** Faces moved by their classic points, in the order of the write. */
  #movedBy(points: readonly PointSlot[]): readonly BoundFace[] {
    return this.#faces
      .map((face) => ({ face, classic: lastOf(points, face.classic), current: lastOf(points, face.current) }))
      .filter(({ classic, current }) => classic >= 0 && classic > current)
      .sort((a, b) => a.classic - b.classic)
      .map(({ face }) => face);
  }

  /**
   * A write of either face cancels a delayed one; the end of a timer or a control, being older, does not.
   * @returns the faces no longer delayed
   */
  #forgetOverruled({ points, by }: Commit, moved: readonly BoundFace[]): ReadonlySet<BoundFace> {
    const overruled = [...this.#waiting.keys()].filter(
      (face) => moved.includes(face) || (lastOf(points, face.current) >= 0 && by.source !== 'reversion'),
    );
    for (const face of overruled) this.#forget(face);
    return new Set(overruled);
  }

  /** Cancels the delays of all windows. */
  clear(): void {
    for (const face of [...this.#waiting.keys()]) {
      this.#forget(face);
      this.#resetClassic(face);
    }
  }

  reloaded(): void {
    for (const face of [...this.#waiting.keys()]) this.#forget(face);
    this.#written.clear();
    this.#options.ramps.clear();
  }

  /** State that a restart keeps; restored after the scheduler. */
  kept(): Kept {
    return keptParts({
      random: this.#options.random.kept(),
      windows: this.#keptWindows(),
      written: this.#keptWritten(),
    });
  }

  #keptWindows(): Kept {
    return keptRecord(
      () => {
        const batches = [...new Set(this.#waiting.values())];
        return {
          batches: batches.map(({ timer, by }) => ({ by: plainOrigin(by), ...keptTimer(timer) })),
          // in the order in which they were written, each with its batch
          faces: Array.from(this.#waiting, ([face, batch]) => [faceName(face), batches.indexOf(batch)] as const),
        };
      },
      ({ batches, faces }) => {
        this.#waiting.clear();
        const restored = batches.map(({ by, ...kept }): Batch => {
          const batchFaces = new Set<BoundFace>();
          const timer = this.#options.scheduler.again(kept, () => {
            this.#release(batchFaces, by);
          });
          return { timer, faces: batchFaces, by };
        });
        for (const [name, batchAt] of faces) {
          const [face, batch] = [this.#faceOf(name), restored[batchAt]];
          if (!face || !batch) continue;
          batch.faces.add(face);
          this.#waiting.set(face, batch);
        }
      },
    );
  }

  /** @param name a number is the place among the faces, in form 1 of the state */
  #faceOf(name: string | number): BoundFace | undefined {
    return typeof name === 'number' ? this.#faces[name] : this.#faces.find((face) => faceName(face) === name);
  }

  #keptWritten(): Kept {
    return keptRecord(
      () => ({
        faces: Array.from(this.#written, ([face, values]) => ({
          at: faceName(face),
          values: Array.from(face.classic, (slot) => values.get(slot) ?? null),
        })),
      }),
      ({ faces }) => {
        this.#written.clear();
        for (const { at, values } of faces) {
          const face = this.#faceOf(at);
          if (face) this.#written.set(face, new Map([...face.classic].map((slot, i) => [slot, values[i] ?? null])));
        }
      },
    );
  }

  /** Delays writes of classic faces that have a window. @returns the faces that act now */
  #delay(moved: readonly BoundFace[], commit: Commit): readonly BoundFace[] {
    const { scheduler, random, now } = this.#options;
    const batches = new Map<PointSlot, Batch>();
    return moved.filter((face) => {
      const { window } = face;
      const seconds = window && commit.value(window);
      if (window === null || typeof seconds !== 'number' || seconds <= 0) return true;
      let batch = batches.get(window);
      if (batch === undefined) {
        const faces = new Set<BoundFace>();
        const by = commit.by;
        const timer = scheduler.at(addSeconds(now(), random.next() * seconds), () => {
          this.#release(faces, by);
        });
        batch = { timer, faces, by };
        batches.set(window, batch);
      }
      batch.faces.add(face);
      this.#waiting.set(face, batch);
      return false;
    });
  }

  /** Ends a window: the current faces follow the classic ones, with the writer of the delayed write. */
  #release(faces: ReadonlySet<BoundFace>, by: Origin): void {
    const { bank, warn } = this.#options;
    const { layout } = bank;
    const released = [...faces];
    for (const face of released) this.#waiting.delete(face);
    const read = readerOf(layout, (slot) => bank.value(slot));
    const values: { readonly slot: PointSlot; readonly value: AnyPointValue }[] = [];
    for (const { face } of released)
      assignTo(layout, face.toCurrent(read), (slot, value) => values.push({ slot, value }));
    this.#released = released;
    try {
      bank.assign(by, values);
    } catch (error) {
      const model = released[0]?.window?.modelId ?? 0;
      warn(`a write of model ${model} that waited within its window was refused: ${errorText(error)}`);
      for (const face of released) this.#resetClassic(face);
    } finally {
      this.#released = null;
    }
  }

  #forget(face: BoundFace): void {
    const batch = this.#waiting.get(face);
    if (!batch) return;
    this.#waiting.delete(face);
    batch.faces.delete(face);
    if (batch.faces.size === 0) this.#options.scheduler.cancel(batch.timer);
  }

  /** Resets a classic face whose write had no effect to the current one. */
  #resetClassic({ face }: BoundFace): void {
    const { bank } = this.#options;
    const read = readerOf(bank.layout, (slot) => bank.value(slot));
    assignTo(bank.layout, face.toClassic(read), (slot, value) => {
      bank.publish(slot, value);
    });
  }

  /** True if a write repeats the values shown by a face. */
  #repeats({ classic, current }: BoundFace, commit: Commit): boolean {
    const { bank } = this.#options;
    if (lastOf(commit.points, current) >= 0) return false;
    return [...classic].every((slot) => commit.value(slot) === bank.value(slot));
  }

  /** @param repeated true: the classic face is unchanged; timers of the current one restart, and its values stay */
  #move(bound: BoundFace, commit: Commit, read: ReadPoint, repeated: boolean): void {
    const twin = decisive(commit.points, bound.classic);
    if (twin === undefined || (repeated && bound.window === null)) return;
    assignTo(commit.layout, bound.face.toCurrent(read), (slot, value) => {
      commit.mirror(slot, repeated ? commit.value(slot) : value, twin);
    });
  }

  /**
   * Updates classic faces after a write or move. A face keeps its values, or regains the values last written, while
   * they mean the same as the current face: several forms of a setting can be equal.
   */
  #refresh(commit: Commit, read: ReadPoint, acting: readonly BoundFace[], moved: readonly BoundFace[]): void {
    for (const bound of this.#faces) {
      const twin = decisive(commit.points, bound.sources);
      if (twin === undefined || this.#waiting.has(bound)) continue;
      const at = acting.indexOf(bound);
      // of several written classic faces of one point the last one acts
      const overruled =
        at >= 0 && acting.slice(at + 1).some(({ current }) => [...bound.current].some((one) => current.has(one)));
      if (moved.includes(bound) && !overruled) continue;
      const isCurrentWritten = bound.current.has(twin);
      const classicValues = valuesOf(bound.classic, commit);
      const lastValues = this.#written.get(bound);
      const equalValues = [classicValues, ...(lastValues ? [lastValues] : [])].find((values) =>
        means(bound, values, commit),
      );
      if (equalValues === classicValues && !isCurrentWritten) continue;
      if (equalValues) for (const [slot, value] of equalValues) commit.mirror(slot, value, twin);
      else
        assignTo(commit.layout, bound.face.toClassic(read), (slot, value) => {
          commit.mirror(slot, value, twin);
        });
    }
  }
}

type Values = ReadonlyMap<PointSlot, AnyPointValue>;

const valuesOf = (slots: ReadonlySet<PointSlot>, commit: Commit): Values =>
  new Map(Array.from(slots, (slot) => [slot, commit.value(slot)] as const));

/** True if values of a classic face mean the same as the current one. */
function means({ face }: BoundFace, classic: Values, commit: Commit): boolean {
  const read = readerOf(commit.layout, (slot) => classic.get(slot) ?? commit.value(slot));
  let same = true;
  assignTo(commit.layout, face.toCurrent(read), (slot, value) => {
    if (commit.value(slot) !== value) same = false;
  });
  return same;
}
