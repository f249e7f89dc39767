/** Pings of one connection (WebSocketPingInterval): the other end is gone when one is not answered before the next. */
import type { Later } from '../../core/time/timers.ts';

interface PingsOptions {
  readonly later: Later;
  readonly ping: () => void;
  readonly nowMs: () => number;
  /** No pong has come in time. @param pingedMs time of the ping, monotonic ms */
  readonly lost: (pingedMs: number) => void;
}

export class Pings {
  readonly #options: PingsOptions;
  #end: (() => void) | null = null;
  #isDue = false;
  #pingedMs = 0;

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
        this.#options.lost(this.#pingedMs);
        return;
      }
      this.#isDue = true;
      this.#pingedMs = this.#options.nowMs();
      this.#options.ping();
      this.#next(intervalS);
    });
  }
}
