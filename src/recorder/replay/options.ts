/** Options of a replay, and the timeouts of a replayed server. */

/** `fast`: each request after the previous answer; `wall`, `sim`: not before its recorded offset */
export const paces = ['fast', 'wall', 'sim'] as const;
type Pace = (typeof paces)[number];

export interface ReplayOptions {
  readonly pace: Pace;
  /** simulated seconds per second of the target, for the pace `sim` */
  readonly rate: number;
  /** `exact`: every value must be equal; a number: percent by which measurements may differ; `any`: by any amount */
  readonly measurementTolerance: 'exact' | number | 'any';
  /** points and members that are not compared: `701.W`, `701` (the whole model), or `Hb` (in any model) */
  readonly ignore: readonly string[];
  /** PIN of Registrations, which is masked in a recording */
  readonly pin: string;
  /** maximum time for an answer, and for the next request to a server, ms */
  readonly timeoutMs: number;
  /** time to wait for unexpected octets or messages, ms */
  readonly silenceMs: number;
}

export const defaultReplayOptions: ReplayOptions = {
  pace: 'fast',
  rate: 1,
  measurementTolerance: 'any',
  ignore: [],
  pin: '111115',
  timeoutMs: 5000,
  silenceMs: 300,
};

interface Timed {
  readonly wallMs: number;
  readonly simS: number;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Holds requests back until their recorded offset from the first request. */
export class Pacer {
  readonly #options: Pick<ReplayOptions, 'pace' | 'rate'>;
  #first: Timed | null = null;
  #startMs = 0;

  constructor(options: Pick<ReplayOptions, 'pace' | 'rate'>) {
    this.#options = options;
  }

  async until(message: Timed): Promise<void> {
    const { pace, rate } = this.#options;
    if (pace === 'fast') return;
    if (this.#first === null) {
      this.#first = message;
      this.#startMs = performance.now();
      return;
    }
    const offsetMs =
      pace === 'wall' ? message.wallMs - this.#first.wallMs : ((message.simS - this.#first.simS) / rate) * 1000;
    const leftMs = this.#startMs + offsetMs - performance.now();
    if (leftMs > 0) await wait(leftMs);
  }
}

/** Maximum time until the first client, ms. */
export const firstClientMs = 120_000;

/** Calls back after a period without `touch`. */
export class Idle {
  readonly #ms: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param firstMs period until the first `touch` */
  constructor(firstMs: number, ms: number, onIdle: () => void) {
    this.#ms = ms;
    this.#onIdle = onIdle;
    this.#timer = setTimeout(onIdle, firstMs);
  }

  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onIdle, this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
