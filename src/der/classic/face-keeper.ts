/** Keeps the two faces of a setting equal: a write of either moves the other in the same commit. */
import { gradientRange } from '../../contract/gradient.ts';
import type { Gradient } from '../../contract/gradient.ts';
import { errorText } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import type { RandomStream } from '../../core/random.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { RegisterBank } from '../../sunspec/map/bank.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { assignTo, facesOf, readerOf } from './bound-faces.ts';
import type { BoundFace } from './bound-faces.ts';
import type { ReadPoint } from './faces.ts';

export interface FaceKeeperOptions {
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  readonly now: () => SimTime;
  /** of the device; draws the delays within windows */
  readonly random: RandomStream;
  readonly gradient: { readonly now: Gradient; set(change: Partial<Gradient>): void };
  readonly warn: (message: string) => void;
}

/** Writes of classic faces that wait within one window. */
interface Waiting {
  readonly timer: Timer;
  readonly by: Origin;
  readonly faces: Set<BoundFace>;
}

/** Place of the last of a face's points in a write; -1: it has none of them. */
const lastOf = (points: readonly PointSlot[], of: ReadonlySet<PointSlot>) =>
  points.findLastIndex((slot) => of.has(slot));

const gradientOf = { w: 'wPctPerS', var: 'varPctPerS' } as const satisfies Record<'w' | 'var', keyof Gradient>;

/**
 * The participant that keeps faces equal. Of a write with both faces of a setting the later point counts. A write of a
 * classic face with a window acts after a random part of it; until then the faces differ, and a write of the other face
 * takes its place. A ramp time stands as a gradient until the setting is written without one.
 */
export class FaceKeeper implements CommitParticipant {
  readonly #options: FaceKeeperOptions;
  readonly #faces: readonly BoundFace[];
  /** by the point of the window */
  readonly #waiting = new Map<PointSlot, Waiting>();
  /** gradients before the ramps of classic writes, where these still stand */
  readonly #before = new Map<keyof Gradient, { readonly former: number | null; readonly own: number }>();
  /** the write that a window has let through */
  #letThrough = false;

  constructor(options: FaceKeeperOptions) {
    this.#options = options;
    this.#faces = facesOf(options.bank.layout);
  }

  prepare(commit: Commit): FollowUp | null {
    const { points } = commit;
    const moved = this.#faces
      .map((face) => ({ face, classic: lastOf(points, face.classic), current: lastOf(points, face.current) }))
      .filter(({ classic, current }) => classic >= 0 && classic > current)
      .sort((a, b) => a.classic - b.classic)
      .map(({ face }) => face);
    const acting = moved.filter((face) => !this.#mustWait(face, commit));
    const read = readerOf(commit.layout, (slot) => commit.value(slot));
    const before = this.#levels(commit, moved);
    // twice: a setting may depend on another one that moves in the same change
    for (const { face } of [...acting, ...acting]) {
      assignTo(commit.layout, face.toCurrent(read), (slot, value) => {
        commit.mirror(slot, value);
      });
    }
    this.#forgetOverruled(commit.points, moved);
    this.#refresh(commit, read, moved, acting);
    const ramps = this.#ramps(commit, acting, before, read);
    return ramps.length === 0
      ? null
      : () => {
          for (const ramp of ramps) ramp();
        };
  }

  /** Ends the waits of all windows without their effect. */
  clear(): void {
    for (const { timer } of this.#waiting.values()) this.#options.scheduler.cancel(timer);
    this.#waiting.clear();
  }

  reloaded(): void {
    this.clear();
    this.#before.clear();
  }

  /** Puts a write of a classic face off where its window says so. @returns whether it waits now */
  #mustWait(bound: BoundFace, commit: Commit): boolean {
    const { window } = bound;
    const seconds = window && commit.value(window);
    if (window === null || typeof seconds !== 'number' || seconds <= 0 || this.#letThrough) return false;
    const { scheduler, random, now } = this.#options;
    const known = this.#waiting.get(window);
    // the points of one write wait together; a later write waits anew
    if (known && known.by === commit.by && known.timer.waiting && known.faces.size > 0 && !known.faces.has(bound)) {
      known.faces.add(bound);
      return true;
    }
    if (known) scheduler.cancel(known.timer);
    const waiting: Waiting = {
      by: commit.by,
      faces: new Set([...(known?.faces ?? []), bound]),
      timer: scheduler.at(addSeconds(now(), random.next() * seconds), () => {
        this.#letGo(window, waiting);
      }),
    };
    this.#waiting.set(window, waiting);
    return true;
  }

  /** The delay is over: the current face follows the classic one, in the name of its writer. */
  #letGo(window: PointSlot, { by, faces }: Waiting): void {
    this.#waiting.delete(window);
    const { bank, warn } = this.#options;
    const slots = new Set([...faces].flatMap(({ classic }) => [...classic]));
    const values = Array.from(slots, (slot) => ({ slot, value: bank.value(slot) }));
    this.#letThrough = true;
    try {
      bank.assign(by, values);
    } catch (error) {
      warn(`a write of model ${window.modelId} that waited within its window was refused: ${errorText(error)}`);
    } finally {
      this.#letThrough = false;
    }
  }

  /** Writes of current faces take the place of classic ones that wait. */
  #forgetOverruled(points: readonly PointSlot[], moved: readonly BoundFace[]): void {
    for (const [window, { faces, timer }] of this.#waiting) {
      for (const face of faces) if (!moved.includes(face) && lastOf(points, face.current) >= 0) faces.delete(face);
      if (faces.size > 0) continue;
      this.#options.scheduler.cancel(timer);
      this.#waiting.delete(window);
    }
  }

  /** Classic faces follow what was written or moved; one that was written itself keeps its value. */
  #refresh(commit: Commit, read: ReadPoint, moved: readonly BoundFace[], acting: readonly BoundFace[]): void {
    const { points } = commit;
    const waits = (face: BoundFace) => [...this.#waiting.values()].some(({ faces }) => faces.has(face));
    for (const bound of this.#faces) {
      if (lastOf(points, bound.sources) < 0 || waits(bound)) continue;
      const at = acting.indexOf(bound);
      // of several classic faces of one point the last one counts
      const overruled =
        at >= 0 && acting.slice(at + 1).some(({ current }) => [...bound.current].some((one) => current.has(one)));
      if (moved.includes(bound) && !overruled) continue;
      assignTo(commit.layout, bound.face.toClassic(read), (slot, value) => {
        commit.mirror(slot, value);
      });
    }
  }

  /** The levels from which ramps begin, by face. */
  #levels(commit: Commit, moved: readonly BoundFace[]): ReadonlyMap<BoundFace, number> {
    const { bank } = this.#options;
    const read = readerOf(commit.layout, (slot) => bank.value(slot));
    return new Map(moved.flatMap((face) => (face.ramp ? [[face, face.ramp.levelPct(read)] as const] : [])));
  }

  /** Ramps of the settings that classic faces have moved; current faces move without one, and end those that stand. */
  #ramps(
    commit: Commit,
    acting: readonly BoundFace[],
    before: ReadonlyMap<BoundFace, number>,
    read: ReadPoint,
  ): (() => void)[] {
    const slopes = new Map<keyof Gradient, number | null>();
    for (const bound of this.#faces) {
      const { ramp, current } = bound;
      if (!ramp || lastOf(commit.points, current) < 0) continue;
      const name = gradientOf[ramp.power];
      const seconds = acting.includes(bound) ? commit.value(ramp.time) : 0;
      const from = before.get(bound);
      const to = ramp.levelPct(read);
      if (typeof seconds !== 'number' || seconds <= 0 || from === undefined) slopes.set(name, slopes.get(name) ?? null);
      else if (Math.abs(to - from) > 0) slopes.set(name, Math.abs(to - from) / seconds);
    }
    return [...slopes].map(([name, slope]) => () => {
      this.#setSlope(name, slope);
    });
  }

  #setSlope(name: keyof Gradient, slope: number | null): void {
    const { gradient } = this.#options;
    const standing = this.#before.get(name);
    // one that was set since by other means stays
    const stands = standing !== undefined && gradient.now[name] === standing.own;
    if (slope === null) {
      this.#before.delete(name);
      if (stands) gradient.set({ [name]: standing.former });
      return;
    }
    const own = Math.max(gradientRange.min, Math.min(gradientRange.max, slope));
    this.#before.set(name, { own, former: stands ? standing.former : gradient.now[name] });
    gradient.set({ [name]: own });
  }
}
