/** A document kept up to date at a resource of the server by PUT, with retries. */
import type { CsipDocument, CsipSentDocument } from '../../contract/csip-reports.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { BackOff, fullJitter } from '../../core/net/back-off.ts';
import type { Jitter } from '../../core/net/back-off.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { Turns } from '../../core/turns.ts';
import type { SepExchange } from '../transport/exchange.ts';
import { isPassing, retryWaits } from '../transport/exchange.ts';
import type { DocumentName, OutgoingDocument } from '../xml/schema.ts';

/** Dependencies of everything that sends reports. */
export interface Sending {
  readonly exchange: SepExchange;
  readonly wall: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  readonly log: Logger;
  /** called at the first 404 of a series */
  readonly onLost: (resource: DocumentName) => void;
}

/** Minimum interval of polls and posts, s; a shorter interval of the server is raised to it. */
export const minRateS = 1;

/** True for `isPassing`, and for 404: the walk often restores a lost resource at the same URI. */
export function passesLater(status: number): boolean {
  return isPassing(status) || status === 404;
}

export interface SheetOptions extends Sending {
  readonly deviceIndex: number | null;
  /** builds the present document */
  readonly make: () => OutgoingDocument;
  /** minimum time between two changes that are sent, ms of wall time */
  readonly minGapMs: number;
}

type Attempt = 'done' | 'again';

export class Sheet {
  readonly #options: SheetOptions;
  readonly #backOff: BackOff;
  #href: string | null = null;
  readonly #turns = new Turns();
  #isPending = false;
  #cancelTimer: (() => void) | null = null;
  #lastAttemptMs = -Infinity;
  #last: CsipSentDocument | null = null;
  #stopped = false;

  constructor(options: SheetOptions) {
    this.#options = options;
    this.#backOff = new BackOff(fullJitter(retryWaits, options.jitter));
  }

  /** null: never sent */
  get last(): CsipSentDocument | null {
    return this.#last;
  }

  /** null: the server has no place for the document */
  get href(): string | null {
    return this.#href;
  }

  /** Sets the href; sends at once to a new href. @returns a promise that resolves after the attempt */
  follow(href: string | null): Promise<void> {
    if (href === this.#href) return Promise.resolve();
    this.#href = href;
    return href === null ? Promise.resolve() : this.send();
  }

  /** Sends at once, or after a request in flight. @returns a promise that never rejects, resolved after the attempt */
  send(): Promise<void> {
    this.#isPending = true;
    return this.#turns.take(() => this.#run());
  }

  /** Sends as soon as the minimum gap since the last attempt is over. */
  sendSoon(): void {
    const { wall, minGapMs } = this.#options;
    const waitMs = this.#lastAttemptMs + minGapMs - wall.monotonicMs();
    if (waitMs > 0) this.#wait(waitMs);
    else void this.send();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
  }

  #wait(ms: number): void {
    if (this.#stopped) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.later(ms, () => void this.send());
  }

  async #run(): Promise<void> {
    // the previous turn may have sent the document
    if (!this.#isPending || this.#href === null || this.#stopped) return;
    this.#isPending = false;
    this.#cancelTimer?.();
    if ((await this.#attempt(this.#href)) === 'again') this.#wait(this.#backOff.nextMs());
    else this.#backOff.reset();
  }

  async #attempt(href: string): Promise<Attempt> {
    const { exchange, wall, deviceIndex, make, onLost } = this.#options;
    this.#lastAttemptMs = wall.monotonicMs();
    const body = make();
    try {
      const request = { method: 'PUT', href, resource: body.name, body, deviceIndex } as const;
      const { status, arrived } = await exchange.request(request);
      // one search per series of 404: a server without the resource must not be searched again and again
      if (status === 404 && this.#last?.httpStatus !== 404) onLost(body.name);
      this.#note(href, body, status < 400 ? 'accepted' : 'refused', status);
      if (arrived !== undefined && this.#last !== null)
        this.#last = { ...this.#last, arrived: arrived && (arrived.value as unknown as CsipDocument) };
      return passesLater(status) ? 'again' : 'done';
    } catch (error) {
      this.#note(href, body, 'failed', null, errorText(error));
      return 'again';
    }
  }

  #note(
    href: string,
    { name, value }: OutgoingDocument,
    result: CsipSentDocument['result'],
    httpStatus: number | null,
    reason = httpStatus === null ? '' : `status ${httpStatus}`,
  ): void {
    const { wall, log, deviceIndex } = this.#options;
    if ((result === 'refused' || result === 'failed') && this.#last?.result !== result)
      log.warning(`the server did not accept ${name}: ${reason}`, deviceIndex ?? undefined);
    // documents consist of strings, numbers, booleans, objects and arrays only
    const body = value as unknown as CsipDocument;
    this.#last = { sentAtMs: wall.nowMs(), result, httpStatus, href, body };
  }
}
