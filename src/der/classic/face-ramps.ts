/** Ramp times of classic faces: slopes in force until the ramp has ended. */
import { gradientRange } from '../../contract/gradient.ts';
import type { Gradient } from '../../contract/gradient.ts';
import type { Origin } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { facesOf, readerOf } from './bound-faces.ts';
import type { BoundFace } from './bound-faces.ts';
import type { ReadPoint } from './faces.ts';

export interface FaceRampsOptions {
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  readonly now: () => SimTime;
  readonly gradient: { readonly now: Gradient; set(change: Partial<Gradient>): void };
  /** makes physics read its settings again */
  readonly refresh: () => void;
  /** remembers the writer of the gradient */
  readonly recordWriter: (by: Origin) => void;
}

type Slope = keyof Gradient;
const byReversion: Origin = { source: 'reversion' };
const slopeOf = { w: 'wPctPerS', var: 'varPctPerS' } as const satisfies Record<'w' | 'var', Slope>;

interface Ramp {
  /** ramp time of the face: changes of other settings do not end it */
  readonly time: PointSlot;
  readonly timer: Timer;
  /** slope before the ramp */
  readonly former: number | null;
  readonly own: number;
}

/** A setting of a slope has changed: a ramp of it ends, and another one may begin. */
interface Change {
  readonly time: PointSlot;
  /** null: no ramp begins */
  readonly begins: { readonly pctPerS: number; readonly seconds: number } | null;
}

/**
 * A ramp goes from the setting in force to the new one within the ramp time, then restores the former slope. A change
 * of the setting without a ramp time ends it. The participant acts after the gradient, which ends when a write touches
 * its register.
 */
export class FaceRamps implements CommitParticipant {
  readonly #options: FaceRampsOptions;
  readonly #faces: readonly BoundFace[];
  readonly #standing = new Map<Slope, Ramp>();
  #levels: ReadonlyMap<BoundFace, number> = new Map();
  /** of the commit at hand */
  #changes: ReadonlyMap<Slope, Change> = new Map();

  constructor(options: FaceRampsOptions) {
    this.#options = options;
    this.#faces = facesOf(options.bank.layout).filter(({ ramp }) => ramp !== null);
  }

  /** Records the levels before the faces move, from which ramps begin. */
  begin(): void {
    const { bank } = this.#options;
    const read = readerOf(bank.layout, (slot) => bank.value(slot));
    this.#levels = new Map(this.#faces.map((face) => [face, face.ramp?.levelPct(read) ?? 0]));
  }

  /** Records the ramps of the write after the faces have moved. @param acting classic faces that were written */
  end(commit: Commit, acting: readonly BoundFace[], read: ReadPoint): void {
    const changes = new Map<Slope, Change>();
    for (const face of this.#faces) {
      const { ramp, current } = face;
      if (ramp === null || !commit.points.some((slot) => current.has(slot))) continue;
      const distance = Math.abs(ramp.levelPct(read) - (this.#levels.get(face) ?? 0));
      if (distance === 0) continue;
      const seconds = acting.includes(face) ? commit.value(ramp.time) : 0;
      const name = slopeOf[ramp.power];
      const { time } = ramp;
      if (typeof seconds === 'number' && seconds > 0)
        changes.set(name, { time, begins: { pctPerS: distance / seconds, seconds } });
      else if (!changes.has(name)) changes.set(name, { time, begins: null });
    }
    this.#changes = changes;
  }

  prepare({ by }: Commit): FollowUp | null {
    const changes = this.#changes;
    this.#changes = new Map();
    if (changes.size === 0) return null;
    return () => {
      for (const [name, change] of changes) {
        const { time, begins } = change;
        if (begins || this.#standing.get(name)?.time === time) this.#stop(name, by);
        if (begins) this.#start(name, time, begins.pctPerS, begins.seconds, by);
      }
    };
  }

  /** Drops all ramps; their slopes are gone. */
  clear(): void {
    for (const { timer } of this.#standing.values()) this.#options.scheduler.cancel(timer);
    this.#standing.clear();
    this.#changes = new Map();
  }

  #start(name: Slope, time: PointSlot, pctPerS: number, seconds: number, by: Origin): void {
    const { gradient, scheduler, now, refresh, recordWriter } = this.#options;
    const rampSlope = Math.max(gradientRange.min, Math.min(gradientRange.max, pctPerS));
    const timer = scheduler.at(addSeconds(now(), seconds), () => {
      this.#stop(name, byReversion);
      refresh();
    });
    this.#standing.set(name, { time, timer, own: rampSlope, former: gradient.now[name] });
    gradient.set({ [name]: rampSlope });
    recordWriter(by);
  }

  #stop(name: Slope, by: Origin): void {
    const ramp = this.#standing.get(name);
    if (!ramp) return;
    const { gradient, scheduler, recordWriter } = this.#options;
    scheduler.cancel(ramp.timer);
    this.#standing.delete(name);
    // a slope set since by other means stays
    if (gradient.now[name] !== ramp.own) return;
    gradient.set({ [name]: ramp.former });
    recordWriter(by);
  }
}
