/** Judges the answers to BootNotification and Heartbeat: the registration, the interval, and the time. */
import type { Payload } from '../rpc/model.ts';
import { instantOf } from '../station/stack.ts';
import type { JudgeContext } from './context.ts';

const quarterMs = 15 * 60_000;
/** No zone is farther from UTC than UTC+14. */
const maxQuarters = 4 * 14;
/** Difference from a whole number of quarters of an hour that local time may have, ms. */
const nearMs = 90_000;
/** Difference from the clock of this machine that is no matter, ms. */
const rightMs = 60_000;
/** Readings of one kind in a row that make a case. */
const readings = 3;
const pendingMs = 600_000;
const pendingAnswers = 5;
const shortS = 10;
const longS = 86_400;

/** `local`: off by quarters of an hour; `wrong`: off by another time. */
type Offset = 'right' | 'local' | 'wrong';

/** @param offMs time of the central system less that of this machine */
export function offsetOf(offMs: number): Offset {
  const quarters = Math.round(offMs / quarterMs);
  const isOffsetOfZone = Math.abs(quarters) >= 2 && Math.abs(quarters) <= maxQuarters;
  if (isOffsetOfZone && Math.abs(offMs - quarters * quarterMs) <= nearMs) return 'local';
  return Math.abs(offMs) > rightMs ? 'wrong' : 'right';
}

export class BootJudge {
  readonly #at: JudgeContext;
  /** false: times of the central system belong to the simulated clock */
  readonly #isWallTime: boolean;
  #pending: { readonly sinceMs: number; readonly answers: number } | null = null;
  /** of the last answer to BootNotification */
  #status: unknown = null;
  #offset: { readonly kind: Offset; readonly count: number } = { kind: 'right', count: 0 };

  constructor(at: JudgeContext, isWallTime: boolean) {
    this.#at = at;
    this.#isWallTime = isWallTime;
  }

  /** The central system has sent a call: it does something with a station that is pending. */
  called(): void {
    this.#pending = null;
  }

  closed(): void {
    this.#pending = null;
  }

  /** @param durationMs since the call was sent */
  answered(action: string, reply: Payload, messageId: string, durationMs: number): void {
    if (action === 'BootNotification') this.#booted(reply, messageId);
    const isRejected = action === 'BootNotification' && reply.status === 'Rejected';
    if (
      (action === 'BootNotification' || action === 'Heartbeat') &&
      !isRejected &&
      typeof reply.currentTime === 'string'
    )
      this.#timeRead(action, reply.currentTime, messageId, durationMs);
  }

  #booted({ status, interval }: Payload, messageId: string): void {
    const about = { action: 'BootNotification', messageId };
    const seconds = Number(interval);
    this.#waited(status);
    if (status === 'Pending') this.#stillPending(messageId);
    else this.#pending = null;
    if (seconds >= 0) this.#at.kept('interval');
    if (status !== 'Accepted') return;
    this.#at.kept('no_registration');
    if (seconds > 0 && seconds < shortS)
      this.#at.broken({ rule: 'interval_short', text: `the interval is ${seconds} s`, ...about });
    else this.#at.kept('interval_short');
    if (seconds > longS) this.#at.broken({ rule: 'interval_long', text: `the interval is ${seconds} s`, ...about });
    else this.#at.kept('interval_long');
  }

  /** The next answer after one that did not accept the station: what came between has been judged. */
  #waited(status: unknown): void {
    if (this.#status === 'Pending') this.#at.kept('remote_while_pending');
    if (this.#status === 'Rejected') this.#at.kept('call_while_rejected');
    if (this.#status === 'Pending' || this.#status === 'Rejected') this.#at.kept('before_registration');
    this.#status = status;
  }

  #stillPending(messageId: string): void {
    const nowMs = this.#at.wall.monotonicMs();
    const { sinceMs, answers } = this.#pending ?? { sinceMs: nowMs, answers: 0 };
    this.#pending = { sinceMs, answers: answers + 1 };
    if (answers + 1 < pendingAnswers || nowMs - sinceMs < pendingMs) return;
    const minutes = Math.round((nowMs - sinceMs) / 60_000);
    const text = `the station is pending for ${minutes} min and ${answers + 1} answers, and no call came`;
    this.#at.broken({ rule: 'no_registration', text, action: 'BootNotification', messageId, facts: { minutes } });
  }

  #timeRead(action: string, text: string, messageId: string, durationMs: number): void {
    const ms = instantOf(text);
    const year = new Date(ms).getUTCFullYear();
    // the station itself finds times that it cannot use
    if (!(year >= 2010 && year <= 2100)) return;
    this.#at.kept('current_time');
    if (!this.#isWallTime) return;
    const offMs = ms - (this.#at.wall.nowMs() - durationMs / 2);
    const kind = offsetOf(offMs);
    const count = kind === this.#offset.kind ? this.#offset.count + 1 : 1;
    this.#offset = { kind, count };
    if (kind !== 'local') this.#at.kept('time_local');
    if (kind !== 'wrong') this.#at.kept('time_wrong');
    if (kind === 'right' || count < readings) return;
    const offS = Math.round(offMs / 1000);
    const about = { action, messageId, facts: { offset_s: offS } };
    if (kind === 'local')
      this.#at.broken({ rule: 'time_local', text: `currentTime is ${Math.round(offS / 60)} min off UTC`, ...about });
    else this.#at.broken({ rule: 'time_wrong', text: `currentTime is ${offS} s off this machine`, ...about });
  }
}
