/**
 * The offset of a station's clock over a restart: until the first answer of the central system its messages have the
 * time that they would have had without the restart.
 */
import { z } from 'zod';
import type { Logger } from '../../core/log/log.ts';
import { formOf, readOne } from '../../core/slot-values.ts';
import type { Slot } from '../../core/store.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';

interface KeptOffsetOptions {
  readonly clock: RemoteClock;
  readonly wall: Pick<WallClock, 'monotonicMs'>;
  readonly slot: Slot;
  readonly log: Pick<Logger, 'warning'>;
  /** The store has refused the offset. */
  readonly failed: (error: unknown) => void;
}

/** s; a central system may be in any of the years that it may name */
const maxOffsetS = 100 * 366 * 86_400;

const offsetForm = formOf<{ readonly offsetS: number }>(
  z.strictObject({ offsetS: z.number().min(-maxOffsetS).max(maxOffsetS) }),
);

export class KeptOffset {
  readonly #options: KeptOffsetOptions;

  constructor(options: KeptOffsetOptions) {
    this.#options = options;
  }

  /** Sets the clock by the local calendar and the offset of the earlier process. @throws what the store throws */
  async load(): Promise<void> {
    const { clock, wall, slot, log } = this.#options;
    const kept = await readOne(slot, offsetForm, log);
    if (kept !== null) clock.sync(clock.nowMs() + 1000 * kept.offsetS, wall.monotonicMs());
  }

  /** The central system has set the clock. */
  readonly save = (): void => {
    const { clock, slot, failed } = this.#options;
    if (clock.offsetS === null) return;
    // the time of an answer varies by milliseconds
    slot.replace([{ offsetS: Math.round(100 * clock.offsetS) / 100 }]).catch(failed);
  };
}
