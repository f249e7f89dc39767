/** Sends the queued responses of an EndDevice while its server can be reached. */
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import type { Later } from '../core/time/timers.ts';
import type { OwedResponse } from './events/model.ts';
import type { QueuedResponse, ResponseQueue, SendOutcome } from './events/response-queue.ts';
import type { SepExchange } from './transport/exchange.ts';
import { isPassing } from './transport/retries.ts';

export interface ResponseSenderOptions {
  readonly queue: ResponseQueue;
  readonly exchange: SepExchange;
  readonly lfdi: string;
  readonly deviceIndex: number | null;
  readonly later: Later;
  readonly log: Logger;
}

export class ResponseSender {
  readonly #options: ResponseSenderOptions;
  #reachable = false;
  #closed = false;
  #cancel: (() => void) | null = null;

  constructor(options: ResponseSenderOptions) {
    this.#options = options;
  }

  /** Newest first. */
  list(mrid?: string): readonly QueuedResponse[] {
    return this.#options.queue.list(mrid);
  }

  async owe(responses: readonly OwedResponse[]): Promise<void> {
    try {
      await this.#options.queue.put(responses);
    } finally {
      this.#send();
    }
  }

  reachable(yes: boolean): void {
    if (yes && !this.#reachable) this.#options.queue.retryNow();
    this.#reachable = yes;
    this.#send();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #send(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#closed || !this.#reachable) return;
    const { queue, later } = this.#options;
    for (const response of queue.take()) void this.#post(response);
    const waitMs = queue.nextInMs;
    if (waitMs !== null) this.#cancel = later(waitMs, () => this.#send());
  }

  async #post(response: QueuedResponse): Promise<void> {
    const { queue, log, deviceIndex } = this.#options;
    const outcome = await this.#outcome(response);
    if (outcome.kind === 'refused')
      log.warning(
        `the server refuses response ${response.status} to ${response.mrid}: ${outcome.error}`,
        deviceIndex ?? undefined,
      );
    try {
      await queue.settle(response.id, outcome);
    } catch (error) {
      log.error(errorText(error), deviceIndex ?? undefined);
    }
    this.#send();
  }

  /** 4xx is final, except for those that ask to retry later. */
  async #outcome({ mrid, status, createdS, replyTo }: QueuedResponse): Promise<SendOutcome> {
    const { exchange, lfdi, deviceIndex } = this.#options;
    try {
      const { status: httpStatus, retryAfterMs } = await exchange.request({
        method: 'POST',
        href: replyTo,
        resource: 'DERControlResponse',
        deviceIndex,
        body: {
          name: 'DERControlResponse',
          value: { createdDateTime: Math.floor(createdS), endDeviceLFDI: lfdi, status, subject: mrid },
        },
      });
      if (httpStatus < 400) return { kind: 'sent', httpStatus };
      const error = `the server answers ${httpStatus}`;
      if (!isPassing(httpStatus)) return { kind: 'refused', httpStatus, error };
      return { kind: 'failed', httpStatus, error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    } catch (error) {
      return { kind: 'failed', httpStatus: null, error: errorText(error) };
    }
  }
}
