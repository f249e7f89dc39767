import type { ModbusContext } from '../server/context.ts';
import type { Framing } from './framing.ts';

/**
 * Lateness of a timer, ms, above which the process counts as busy. The wait then lasts longer by this time, since
 * octets may still be in the driver, which needs several turns of the event loop to pass them on.
 */
const busyMs = 10;

/** Calls `silence` of a framing when its stream has been silent for `awaitedSilenceMs`. */
export class SilenceWatch {
  readonly #framing: Framing;
  readonly #context: Pick<ModbusContext, 'clock' | 'later'>;
  readonly #lastMs: () => number;
  readonly #then: () => void;
  #waiting = false;
  #closed = false;

  /**
   * @param lastMs monotonic time of the last octets
   * @param then called when the framing may have completed further frames
   */
  constructor(
    framing: Framing,
    context: Pick<ModbusContext, 'clock' | 'later'>,
    lastMs: () => number,
    then: () => void,
  ) {
    this.#framing = framing;
    this.#context = context;
    this.#lastMs = lastMs;
    this.#then = then;
  }

  /** Starts the wait after `Framing.next` has returned `more`. */
  watch(): void {
    if (this.#waiting || this.#framing.awaitedSilenceMs === 0) return;
    this.#waiting = true;
    this.#wait(Math.max(1, Math.ceil(this.#leftMs())));
  }

  #wait(ms: number): void {
    const { clock, later } = this.#context;
    const dueMs = clock.monotonicMs() + ms;
    later(ms, () => {
      if (clock.monotonicMs() - dueMs > busyMs) this.#wait(busyMs);
      // octets that are read before this callback prolong the wait
      else
        setImmediate(() => {
          this.#look();
        });
    });
  }

  close(): void {
    this.#closed = true;
  }

  #leftMs(): number {
    return this.#framing.awaitedSilenceMs - (this.#context.clock.monotonicMs() - this.#lastMs());
  }

  #look(): void {
    this.#waiting = false;
    if (this.#closed || this.#framing.awaitedSilenceMs === 0) return;
    if (this.#leftMs() > 0) {
      this.watch();
    } else {
      this.#framing.silence();
      this.#then();
    }
  }
}
