/** Counts and errors of the clients of a soak, and the ports of the present life of the simulator. */
import { createHistogram } from 'node:perf_hooks';

/** Figures of one sort of client, as they go to the parent process. */
export interface TallyReport {
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
  /** of answers, ms; 0 without one */
  readonly p99Ms: number;
  /** number of errors that nothing excuses */
  readonly errors: number;
  /** errors while the simulator was down or a client had cut its own connection */
  readonly excused: number;
  readonly firstErrors: readonly string[];
}

const shownErrors = 20;

export class Tally {
  readonly name: string;
  readonly #counts: Record<string, number> = {};
  readonly #latency = createHistogram();
  readonly #firstErrors: string[] = [];
  readonly #isExcused: () => boolean;
  #errors = 0;
  #excused = 0;

  /** @param isExcused true while errors are expected */
  constructor(name: string, isExcused: () => boolean) {
    this.name = name;
    this.#isExcused = isExcused;
  }

  add(count: string, by = 1): void {
    this.#counts[count] = (this.#counts[count] ?? 0) + by;
  }

  answered(ms: number): void {
    this.#latency.record(Math.max(1, Math.round(ms * 1000)));
  }

  error(text: string): void {
    if (this.#isExcused()) {
      this.#excused += 1;
      return;
    }
    this.#errors += 1;
    if (this.#firstErrors.length < shownErrors) this.#firstErrors.push(`${new Date().toISOString()} ${text}`);
  }

  report(): TallyReport {
    return {
      name: this.name,
      counts: { ...this.#counts },
      p99Ms: this.#latency.count === 0 ? 0 : this.#latency.percentile(99) / 1000,
      errors: this.#errors,
      excused: this.#excused,
      firstErrors: [...this.#firstErrors],
    };
  }
}

export interface Ports {
  readonly http: number;
  readonly modbus: number;
  readonly dnp3: number;
}

/** Open while the simulator is up. */
export class Gate {
  #ports: Ports | null = null;
  #waiting: ((ports: Ports) => void)[] = [];
  /** number of the life */
  life = 0;
  isEnded = false;
  /** vehicles leave, and no new ones come */
  isLeaving = false;
  /** monotonic ms until which clients that cut their connections meet errors of their own making */
  excusedUntilMs = 0;

  /** Ports of the present life, or of the next one when it begins. */
  open(): Promise<Ports> {
    if (this.#ports !== null) return Promise.resolve(this.#ports);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  get isOpen(): boolean {
    return this.#ports !== null;
  }

  readonly isExcused = (): boolean => this.#ports === null || this.isEnded || performance.now() < this.excusedUntilMs;

  begin(ports: Ports): void {
    this.life += 1;
    this.#ports = ports;
    for (const resolve of this.#waiting.splice(0)) resolve(ports);
  }

  close(): void {
    this.#ports = null;
  }
}

/** A wait of real time. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms)).unref();
  });

/** @throws Error when the work takes longer */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${what}: nothing within ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
