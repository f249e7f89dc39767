/** The exchange of one client, with what its state shows: counts, the last contact, and a requested loss of communication. */
import { errorText, SimError } from '../core/errors.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { SepAnswer, SepExchange, SepRequest } from './transport/exchange.ts';

/** A requested loss of communication; wall time, ms since the epoch. */
export interface AskedLoss {
  readonly sinceMs: number;
  /** null: until it is ended */
  readonly untilMs: number | null;
}

export interface LineOptions {
  readonly clock: WallClock;
  readonly later: Later;
  /** the loss has ended, by request or by time */
  readonly restored: () => void;
}

export class Line implements SepExchange {
  readonly #options: LineOptions;
  #exchange: SepExchange | null = null;
  #loss: AskedLoss | null = null;
  #endLoss: (() => void) | null = null;
  /** requests, answers and requests without an answer */
  sent = 0;
  received = 0;
  failed = 0;
  /** wall time, ms; null: never */
  lastContactMs: number | null = null;
  lastError: string | null = null;
  lastErrorMs: number | null = null;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  get origin(): string {
    return this.#exchange?.origin ?? '';
  }

  get negotiated(): SepExchange['negotiated'] {
    return this.#exchange?.negotiated ?? null;
  }

  get loss(): AskedLoss | null {
    return this.#loss;
  }

  /** Replaces the present exchange, which is closed. */
  use(exchange: SepExchange | null): Promise<void> {
    const old = this.#exchange;
    this.#exchange = exchange;
    return old?.close() ?? Promise.resolve();
  }

  /** Makes the server unreachable. @param durationS null: until `restore` */
  lose(durationS: number | null): void {
    const { clock, later } = this.#options;
    this.#endLoss?.();
    const sinceMs = this.#loss?.sinceMs ?? clock.nowMs();
    this.#loss = { sinceMs, untilMs: durationS === null ? null : clock.nowMs() + durationS * 1000 };
    this.#endLoss = durationS === null ? null : later(durationS * 1000, () => this.restore());
  }

  restore(): void {
    this.#endLoss?.();
    this.#endLoss = null;
    if (this.#loss === null) return;
    this.#loss = null;
    this.#options.restored();
  }

  async request(request: SepRequest): Promise<SepAnswer> {
    const exchange = this.#exchange;
    if (exchange === null) throw new SimError('NOT_CONNECTED', 'the client is disconnected');
    this.sent += 1;
    try {
      this.#checkLoss();
      const answer = await exchange.request(request);
      // an answer that was on its way is lost too
      this.#checkLoss();
      this.received += 1;
      this.lastContactMs = this.#options.clock.nowMs();
      return answer;
    } catch (error) {
      this.failed += 1;
      this.fail(errorText(error));
      throw error;
    }
  }

  /** Records an error outside of any request. */
  fail(reason: string): void {
    this.lastError = reason;
    this.lastErrorMs = this.#options.clock.nowMs();
  }

  #checkLoss(): void {
    if (this.#loss !== null) throw new SimError('PEER_ERROR', 'communication is interrupted, as it was asked for');
  }

  async close(): Promise<void> {
    this.#endLoss?.();
    this.#endLoss = null;
    this.#loss = null;
    await this.use(null);
  }
}
