/** Classic ramp times become slopes of the device until their ramp has ended. */
import { gradientRange } from '../../contract/device.ts';
import type { Gradient } from '../../contract/device.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Origin } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { keptPoint, pointOf } from '../../sunspec/map/layout-table.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import { facesOf, readerOf } from './faces.ts';
import type { BoundFace, ReadPoint } from './faces.ts';

/** The device as the ramps of classic faces use it. */
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
  /** slope during the ramp */
  readonly pctPerS: number;
}

/** A change of a setting: the ramp of its slope ends, and another one may begin. */
interface Change {
  readonly time: PointSlot;
  /** null: no ramp begins */
  readonly begins: { readonly pctPerS: number; readonly seconds: number } | null;
}

/**
 * A ramp moves power from the setting in force to the new one within the ramp time, then restores the former slope. A
 * change of the setting without a ramp time ends the ramp. The participant acts after the gradient, whose slope ends
 * when a write touches its register.
 */
export class FaceRamps implements CommitParticipant {
  readonly #options: FaceRampsOptions;
  readonly #faces: readonly BoundFace[];
  readonly #running = new Map<Slope, Ramp>();
  #levels: ReadonlyMap<BoundFace, number> = new Map();
  /** changes by the present commit */
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
        if (begins || this.#running.get(name)?.time === time) this.#stop(name, by);
        if (begins) this.#start(name, time, begins.pctPerS, begins.seconds, by);
      }
    };
  }

  /** Drops all ramps without restoring the former slopes. */
  clear(): void {
    for (const { timer } of this.#running.values()) this.#options.scheduler.cancel(timer);
    this.#running.clear();
    this.#changes = new Map();
  }

  #start(name: Slope, time: PointSlot, pctPerS: number, seconds: number, by: Origin): void {
    const { gradient, scheduler, now, recordWriter } = this.#options;
    const rampSlope = Math.max(gradientRange.min, Math.min(gradientRange.max, pctPerS));
    const timer = scheduler.at(addSeconds(now(), seconds), this.#endOf(name));
    this.#running.set(name, { time, timer, pctPerS: rampSlope, former: gradient.now[name] });
    gradient.set({ [name]: rampSlope });
    recordWriter(by);
  }

  /** The end of a ramp time. */
  #endOf(name: Slope): () => void {
    return () => {
      this.#stop(name, byReversion);
      this.#options.refresh();
    };
  }

  /** State that a restart keeps; restored after the scheduler. */
  kept(): Kept {
    return keptRecord(
      () => ({
        running: Array.from(this.#running, ([name, { time, timer, former, pctPerS }]) => ({
          name,
          time: keptPoint(time),
          former,
          pctPerS,
          ...keptTimer(timer),
        })),
      }),
      ({ running }) => {
        const { bank, scheduler } = this.#options;
        this.#running.clear();
        for (const { name, time: point, former, pctPerS, ...kept } of running) {
          const time = pointOf(bank.layout, point);
          if (!time) continue;
          const timer = scheduler.again(kept, this.#endOf(name));
          this.#running.set(name, { time, timer, former, pctPerS });
        }
      },
    );
  }

  #stop(name: Slope, by: Origin): void {
    const ramp = this.#running.get(name);
    if (!ramp) return;
    const { gradient, scheduler, recordWriter } = this.#options;
    scheduler.cancel(ramp.timer);
    this.#running.delete(name);
    // a slope set since by other means stays
    if (gradient.now[name] !== ramp.pctPerS) return;
    gradient.set({ [name]: ramp.former });
    recordWriter(by);
  }
}
