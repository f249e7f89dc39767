import type { WallClock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';

const linesPerWindow = 10;
const windowMs = 1000;

/**
 * Log lines that a peer can cause at will: at most 10 in a second, then one line with the count of
 * the rest. Debug lines pass freely, since they are made only when asked for.
 */
export class LimitedLog {
  readonly #logger: Logger;
  readonly #clock: WallClock;
  #windowStart = -Infinity;
  #written = 0;
  #suppressed = 0;

  constructor(logger: Logger, clock: WallClock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  debug(message: string, deviceIndex?: number): void {
    this.#logger.debug(message, deviceIndex);
  }

  info(message: string, deviceIndex?: number): void {
    if (this.#admit()) this.#logger.info(message, deviceIndex);
  }

  error(message: string, deviceIndex?: number): void {
    if (this.#admit()) this.#logger.error(message, deviceIndex);
  }

  /** Writes the count line of a second that is over (or, with `force`, of this one). */
  flush(force = false): void {
    if (!force && this.#clock.monotonicMs() - this.#windowStart < windowMs) return;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    if (suppressed > 0) this.#logger.info(`${suppressed} more lines of this kind were left out`);
  }

  #admit(): boolean {
    const now = this.#clock.monotonicMs();
    if (now - this.#windowStart >= windowMs) {
      this.flush();
      this.#windowStart = now;
      this.#written = 0;
    }
    this.#written += 1;
    if (this.#written <= linesPerWindow) return true;
    this.#suppressed += 1;
    return false;
  }
}
