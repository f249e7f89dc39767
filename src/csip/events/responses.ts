/**
 * The responses that one EndDevice owes, in a slot of the store: each is kept until the server has accepted or refused
 * it. Responses to one address (replyTo) are sent one at a time and in order, so that the 7 of a superseded event
 * arrives before the 2 of the winner. A response that waited at the end of an earlier process may have reached the
 * server, whose answer was not stored any more: the sender looks for it in the ResponseList of the server first.
 */
import { z } from 'zod';
import { errorText, SimError } from '../../core/errors.ts';
import { BackOff } from '../../core/net/back-off.ts';
import type { BackOffForm } from '../../core/net/back-off.ts';
import { instant, readEach, recordOf, serial } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { owedMembers } from './model.ts';
import type { OwedResponse } from './model.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Later } from '../../core/time/timers.ts';
import type { SepExchange } from '../transport/exchange.ts';
import { isPassing } from '../transport/exchange.ts';
import { DeliveredResponses } from './delivered.ts';

/** Maximum of waiting responses; beyond it the oldest is given up. */
const maxWaiting = 1_000;
/** Maximum of finished responses; they are kept for views, and so that a restart repeats none. */
const maxDone = 200;
/** Maximum of superfluous journal lines; beyond it the journal is rewritten. */
const maxIdle = 300;

type ResponseResult = 'queued' | 'sent' | 'refused' | 'dropped';

/** A response and its delivery state. */
export interface QueuedResponse extends OwedResponse {
  readonly id: number;
  readonly result: ResponseResult;
  /** time of the final answer of the server, ms since the epoch on the wall clock; null: no final answer */
  readonly sentAtMs: number | null;
  readonly attempts: number;
  /** status of the last answer; null: no answer */
  readonly httpStatus: number | null;
  readonly lastError: string | null;
}

/** Outcome of one attempt. */
type SendOutcome =
  | { readonly kind: 'sent'; readonly httpStatus: number }
  /** final: a repetition would be refused as well */
  | { readonly kind: 'refused'; readonly httpStatus: number; readonly error: string }
  | { readonly kind: 'dropped'; readonly error: string }
  /** to be repeated; `retryAfterMs`: delay that the server asks for */
  | {
      readonly kind: 'failed';
      readonly httpStatus: number | null;
      readonly error: string;
      readonly retryAfterMs?: number;
    };

const responseForm = recordOf<QueuedResponse>({
  ...owedMembers,
  id: serial,
  result: z.enum(['queued', 'sent', 'refused', 'dropped']),
  sentAtMs: instant.nullable(),
  attempts: serial,
  httpStatus: z.int().nullable(),
  lastError: z.string().nullable(),
});

interface ResponseQueueOptions {
  readonly slot: Slot;
  readonly log: Pick<Logger, 'warning'>;
  readonly wall: WallClock;
  /** delays after failures; each address counts its failures separately */
  readonly backOff: BackOffForm;
}

interface Lane {
  /** id of the response under way; null: none */
  sending: number | null;
  readonly backOff: BackOff;
  /** earliest time of the next attempt, on `WallClock.monotonicMs` */
  retryMs: number;
}

const isDone = ({ result }: QueuedResponse): boolean => result !== 'queued';
const stepOf = ({ mrid, status }: Pick<OwedResponse, 'mrid' | 'status'>): string => `${mrid} ${status}`;

export class ResponseQueue {
  readonly #options: ResponseQueueOptions;
  /** by id, which is the order of creation */
  readonly #responses = new Map<number, QueuedResponse>();
  readonly #lanes = new Map<string, Lane>();
  /** `<mRID> <status>` of responses of an earlier process: a schedule saved before them may owe them again */
  #restored: Set<string>;
  /** ids of responses of an earlier process without a final answer: the server may have them */
  readonly #unsure = new Set<number>();
  /** ids of responses that are not yet in the journal */
  readonly #unwritten = new Set<number>();
  #nextId = 1;
  #lines = 0;

  private constructor(options: ResponseQueueOptions, entries: readonly QueuedResponse[]) {
    this.#options = options;
    this.#lines = entries.length;
    for (const entry of entries) {
      this.#responses.set(entry.id, entry);
      this.#nextId = Math.max(this.#nextId, entry.id + 1);
    }
    for (const response of this.waiting) this.#unsure.add(response.id);
    this.#restored = this.#stepsAfter(0);
  }

  /** Opens the queue of a slot, which may hold responses of an earlier process. */
  static async open(options: ResponseQueueOptions): Promise<ResponseQueue> {
    return new ResponseQueue(options, await readEach(options.slot, responseForm, options.log));
  }

  /** Id of the last response that was put; 0: none. */
  get lastId(): number {
    return this.#nextId - 1;
  }

  /**
   * Continues with the schedule of an earlier process.
   * @param lastId `lastId` when the schedule was stored, which may owe later responses again
   */
  resume(lastId: number): void {
    this.#restored = this.#stepsAfter(lastId);
  }

  #stepsAfter(lastId: number): Set<string> {
    return new Set([...this.#responses.values()].filter(({ id }) => id > lastId).map(stepOf));
  }

  /** True if the server may have the response already, from an earlier process. */
  isUnsure(id: number): boolean {
    return this.#unsure.has(id);
  }

  /**
   * Resolves when the responses are durable; they are sent only then.
   * @throws SimError STORE_FULL: they will be sent, but do not survive a restart
   */
  async put(owed: readonly OwedResponse[]): Promise<void> {
    // responses of the user (4, 5) may repeat, and a restored schedule never owes them again
    const newResponses = owed.filter(
      ({ mrid, status }) => status === 4 || status === 5 || !this.#restored.delete(stepOf({ mrid, status })),
    );
    const undelivered = { result: 'queued', sentAtMs: null, attempts: 0, httpStatus: null, lastError: null } as const;
    const queued = newResponses.map((response) => ({ ...response, id: this.#nextId++, ...undelivered }));
    for (const response of queued) this.#responses.set(response.id, response);
    const dropped = this.#dropOldest();
    const remaining = queued.filter(({ id }) => this.#responses.get(id)?.result === 'queued');
    for (const { id } of remaining) this.#unwritten.add(id);
    try {
      await this.#write([...dropped, ...remaining]);
    } finally {
      for (const { id } of remaining) this.#unwritten.delete(id);
    }
  }

  /** Responses without a final answer, oldest first. */
  get waiting(): readonly QueuedResponse[] {
    return [...this.#responses.values()].filter((response) => !isDone(response));
  }

  /** All responses, newest first. */
  list(mrid?: string): readonly QueuedResponse[] {
    const all = [...this.#responses.values()].reverse();
    return mrid === undefined ? all : all.filter((response) => response.mrid === mrid);
  }

  /** The oldest sendable response of each address; it is under way until `settle`. */
  take(): readonly QueuedResponse[] {
    const nowMs = this.#options.wall.monotonicMs();
    return this.#heads().flatMap((response) => {
      const lane = this.#lane(response.replyTo);
      if (lane.retryMs > nowMs) return [];
      lane.sending = response.id;
      return [response];
    });
  }

  /** ms until `take` returns a response; null: none waits, or all wait behind one under way */
  get nextInMs(): number | null {
    const nowMs = this.#options.wall.monotonicMs();
    const waits = this.#heads().map(({ replyTo }) => Math.max(0, this.#lane(replyTo).retryMs - nowMs));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /**
   * Records the outcome of a response from `take`.
   * @throws SimError STORE_FULL: a restart may send it again
   */
  async settle(id: number, outcome: SendOutcome): Promise<void> {
    const response = this.#responses.get(id);
    if (response === undefined) return;
    const lane = this.#lane(response.replyTo);
    if (lane.sending === id) lane.sending = null;
    if (isDone(response)) return;
    const { kind } = outcome;
    const attempts = response.attempts + 1;
    const httpStatus = kind === 'dropped' ? null : outcome.httpStatus;
    const lastError = kind === 'sent' ? null : outcome.error;
    const tried = { ...response, attempts, httpStatus, lastError };
    if (kind !== 'failed' || httpStatus !== null) this.#unsure.delete(id);
    if (kind === 'failed') {
      // the number of attempts need not survive a restart
      this.#responses.set(id, tried);
      lane.retryMs = this.#options.wall.monotonicMs() + lane.backOff.nextMs(outcome.retryAfterMs);
      return;
    }
    lane.backOff.reset();
    lane.retryMs = 0;
    await this.#finish({ ...tried, result: kind, sentAtMs: kind === 'dropped' ? null : this.#options.wall.nowMs() });
  }

  /** Ends all back-off delays, because the server is reachable again. */
  retryNow(): void {
    for (const lane of this.#lanes.values()) {
      lane.backOff.reset();
      lane.retryMs = 0;
    }
  }

  /** Gives up the oldest responses beyond the maximum, except those under way. */
  #dropOldest(): readonly QueuedResponse[] {
    const { waiting } = this;
    const idle = waiting.filter(({ id, replyTo }) => this.#lanes.get(replyTo)?.sending !== id);
    const lastError = `more than ${maxWaiting} responses were waiting`;
    const dropped = idle
      .slice(0, Math.max(0, waiting.length - maxWaiting))
      .map((response): QueuedResponse => ({ ...response, result: 'dropped', lastError }));
    for (const response of dropped) this.#responses.set(response.id, response);
    if (dropped.length > 0) this.#forget();
    return dropped;
  }

  async #finish(response: QueuedResponse): Promise<void> {
    this.#responses.set(response.id, response);
    this.#forget();
    await this.#write([response]);
  }

  /** Removes the oldest finished responses, and the lanes of addresses without a waiting response. */
  #forget(): void {
    const done = this.list().filter(isDone);
    for (const { id } of done.slice(maxDone)) this.#responses.delete(id);
    const waitingAddresses = new Set(this.waiting.map(({ replyTo }) => replyTo));
    // a response under way counts as waiting
    for (const replyTo of this.#lanes.keys()) if (!waitingAddresses.has(replyTo)) this.#lanes.delete(replyTo);
  }

  /** The oldest waiting response of each address with none under way. */
  #heads(): readonly QueuedResponse[] {
    const heads = new Map<string, QueuedResponse>();
    for (const response of this.waiting) if (!heads.has(response.replyTo)) heads.set(response.replyTo, response);
    return [...heads.values()].filter(
      ({ id, replyTo }) => !this.#unwritten.has(id) && this.#lane(replyTo).sending === null,
    );
  }

  #lane(replyTo: string): Lane {
    const existing = this.#lanes.get(replyTo);
    if (existing) return existing;
    const lane: Lane = { sending: null, backOff: new BackOff(this.#options.backOff), retryMs: 0 };
    this.#lanes.set(replyTo, lane);
    return lane;
  }

  async #write(entries: readonly QueuedResponse[]): Promise<void> {
    if (entries.length === 0) return;
    const { slot } = this.#options;
    this.#lines += entries.length;
    try {
      if (this.#lines <= this.#responses.size + maxIdle) await slot.append(...(entries as unknown as JsonValue[]));
      else await this.#rewrite();
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'STORE_FULL') throw error;
      await this.#rewrite().catch((full: unknown) => {
        throw new SimError('STORE_FULL', `responses are not kept over a restart: ${errorText(full)}`);
      });
    }
  }

  /** Rewrites the journal with the present state of each response. */
  async #rewrite(): Promise<void> {
    this.#lines = this.#responses.size;
    await this.#options.slot.replace([...this.#responses.values()] as unknown as JsonValue[]);
  }
}

interface ResponseSenderOptions {
  readonly queue: ResponseQueue;
  readonly exchange: SepExchange;
  readonly lfdi: string;
  readonly deviceIndex: number | null;
  readonly later: Later;
  readonly log: Logger;
}

/** Sends the queued responses of an EndDevice while its server can be reached. */
export class ResponseSender {
  readonly #options: ResponseSenderOptions;
  readonly #delivered: DeliveredResponses;
  #reachable = false;
  #closed = false;
  #cancel: (() => void) | null = null;

  constructor(options: ResponseSenderOptions) {
    this.#options = options;
    this.#delivered = new DeliveredResponses(options);
  }

  /** As `ResponseQueue.lastId`. */
  get lastId(): number {
    return this.#options.queue.lastId;
  }

  /** As `ResponseQueue.resume`. */
  resume(lastId: number): void {
    this.#options.queue.resume(lastId);
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

  reachable(isReachable: boolean): void {
    if (isReachable && !this.#reachable) this.#options.queue.retryNow();
    this.#reachable = isReachable;
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

  /** A 4xx status is final, except for 408 and 429. */
  async #outcome(response: QueuedResponse): Promise<SendOutcome> {
    const { exchange, lfdi, deviceIndex, queue } = this.#options;
    const { mrid, status, createdS, replyTo } = response;
    try {
      if (queue.isUnsure(response.id) && (await this.#delivered.has(response)))
        return { kind: 'sent', httpStatus: 200 };
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
