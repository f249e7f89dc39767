/** The time of the daemon: ticks that fall behind their rate, and an event loop that stood still. */
import type { TimeTrouble } from '../../contract/attention.ts';
import type { Plant } from '../../contract/plant.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';

/** A rate below this part of the wanted one is late. */
const minReached = 0.8;
/** Trouble is shown for this long after its end, ms. */
const shownMs = 60_000;

interface DaemonWatchOptions {
  readonly plant: Pick<Plant, 'time' | 'health'>;
  readonly eventLoop: { readonly stalls: number };
  readonly wall: WallClock;
  readonly timeline: TimelineSink;
}

interface Trouble {
  /** wall time, ms since the epoch */
  readonly sinceMs: number;
  /** monotonic time of the last look that saw it */
  readonly lastMs: number;
}

/** Looks every few seconds. */
export class DaemonWatch {
  readonly #options: DaemonWatchOptions;
  #late: Trouble | null = null;
  #rates: TimeTrouble['rates'] = null;
  #stall: Trouble | null = null;
  #stalls: number;

  constructor(options: DaemonWatchOptions) {
    this.#options = options;
    this.#stalls = options.eventLoop.stalls;
  }

  /** Trouble now, or until shortly before. */
  get trouble(): TimeTrouble {
    const nowMs = this.#options.wall.monotonicMs();
    const shown = (trouble: Trouble | null) => (trouble && nowMs - trouble.lastMs < shownMs ? trouble.sinceMs : null);
    return { lateSinceMs: shown(this.#late), rates: this.#rates, stalledAtMs: shown(this.#stall) };
  }

  look(): void {
    this.#lookAtRate();
    this.#lookAtLoop();
  }

  #lookAtRate(): void {
    const { plant, wall, timeline } = this.#options;
    if (plant.health.rateHeld) return;
    const { rate, rateEffective } = plant.time;
    if (rateEffective >= minReached * rate) return;
    const isNew = this.trouble.lateSinceMs === null;
    this.#rates = { rate, reached: rateEffective };
    this.#late = {
      sinceMs: isNew || !this.#late ? wall.nowMs() : this.#late.sinceMs,
      lastMs: wall.monotonicMs(),
    };
    if (isNew)
      timeline.add({
        kind: 'clock',
        level: 'bad',
        title: 'Simulation is late',
        text: `The machine reaches ×${rateEffective.toFixed(1)} of the rate ×${rate}.`,
      });
  }

  #lookAtLoop(): void {
    const { eventLoop, wall, timeline } = this.#options;
    if (eventLoop.stalls === this.#stalls) return;
    this.#stalls = eventLoop.stalls;
    this.#stall = { sinceMs: wall.nowMs(), lastMs: wall.monotonicMs() };
    timeline.add({
      kind: 'clock',
      level: 'bad',
      title: 'Simulator stood still',
      text: 'The simulator computed and answered nothing for more than 1 s.',
    });
  }
}
