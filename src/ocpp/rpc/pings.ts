/** Pings of one connection (WebSocketPingInterval): the other end is gone when one is not answered before the next. */
import type { Later } from '../../core/time/timers.ts';

export interface PingsOptions {
  readonly later: Later;
  readonly ping: () => void;
  /** No pong has come in time. */
  readonly lost: () => void;
}

export class Pings {
  readonly #options: PingsOptions;
  #end: (() => void) | null = null;
  #isDue = false;

  constructor(options: PingsOptions) {
    this.#options = options;
  }

  /** @param intervalS from now on; 0: none */
  start(intervalS: number): void {
    this.stop();
    this.#isDue = false;
    if (intervalS > 0) this.#next(intervalS);
  }

  pong(): void {
    this.#isDue = false;
  }

  stop(): void {
    this.#end?.();
    this.#end = null;
  }

  #next(intervalS: number): void {
    this.#end = this.#options.later(intervalS * 1000, () => {
      if (this.#isDue) {
        this.#options.lost();
        return;
      }
      this.#isDue = true;
      this.#options.ping();
      this.#next(intervalS);
    });
  }
}
