/** Judges the answers of a central system to the calls of the station: that they come, in time, and what they say. */
import type { Deadline } from '../../core/findings/rule.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import type { SentCall } from '../rpc/caller.ts';
import { isObject } from '../rpc/frames.ts';
import type { Payload } from '../rpc/model.ts';
import type { JudgeContext } from './context.ts';

/** Time in which an answer has to come, ms; a station may be set to a shorter one. */
const inTimeMs = 30_000;
/** Time after which an answer does not come any more, ms. */
const neverMs = 120_000;
/** Calls that timed out, of which an answer may still come. */
const maxAwaited = 20;
/** CALLERRORs for the end of one transaction, in a row. */
const maxStopErrors = 3;
const maxTransactionId = 2 ** 31 - 1;

/** Messages that every central system has to know. */
const coreActions: ReadonlySet<string> = new Set([
  'Authorize',
  'BootNotification',
  'Heartbeat',
  'MeterValues',
  'StartTransaction',
  'StatusNotification',
  'StopTransaction',
  'TransactionEvent',
]);

/** Codes that call a valid message unknown, wrong in form, or failed inside. */
const wrongCodes: ReadonlySet<string> = new Set([
  'FormatViolation',
  'FormationViolation',
  'InternalError',
  'NotImplemented',
  'NotSupported',
  'OccurenceConstraintViolation',
  'OccurrenceConstraintViolation',
  'PropertyConstraintViolation',
  'ProtocolError',
  'TypeConstraintViolation',
]);

interface Awaited {
  readonly action: string;
  readonly sentMs: number;
  readonly deadline: Deadline;
}

interface TransactionEnd {
  readonly rule: OcppRule;
  readonly transactionId: unknown;
}

/** The end of a transaction that a call reports; null: it reports none. */
function endOf({ action, payload: { transactionId, eventType, transactionInfo } }: SentCall): TransactionEnd | null {
  if (action === 'StopTransaction') return { rule: 'stop_refused', transactionId };
  if (action !== 'TransactionEvent' || eventType !== 'Ended' || !isObject(transactionInfo)) return null;
  return { rule: 'ended_refused', transactionId: transactionInfo.transactionId };
}

/** The frames of the present connection, as far as answers need them. */
export interface Traffic {
  /** frames that have come in */
  readonly count: number;
  /** time of the last frame on which a fault could act, monotonic ms */
  readonly disturbedMs: number;
}

export class AnswerJudge {
  readonly #at: JudgeContext;
  readonly #traffic: () => Traffic;
  readonly #awaited = new Map<string, Awaited>();
  /** frames that had come in when the call in flight was sent */
  #countAtSent = 0;
  #stopErrors: { readonly transactionId: unknown; readonly count: number } = { transactionId: null, count: 0 };

  constructor(at: JudgeContext, traffic: () => Traffic) {
    this.#at = at;
    this.#traffic = traffic;
  }

  sent(): void {
    this.#countAtSent = this.#traffic().count;
  }

  answered(call: SentCall, reply: Payload | null): void {
    if (!this.#isJudged(call)) return;
    this.#inTime(call);
    if (coreActions.has(call.action)) this.#at.kept('call_error_wrong');
    const end = endOf(call);
    if (end !== null) {
      this.#stopErrors = { transactionId: null, count: 0 };
      this.#at.kept(end.rule);
    }
    if (reply === null) return;
    if (call.action === 'StartTransaction') this.#started(call, reply);
    if (call.action === 'TransactionEvent') this.#eventAnswered(call, reply);
  }

  refused(call: SentCall, code: string): void {
    if (!this.#isJudged(call)) return;
    this.#inTime(call);
    const { action, id: messageId } = call;
    if (!coreActions.has(action) || !wrongCodes.has(code)) return;
    const text = `${action} is answered with the error ${code}`;
    this.#at.broken({ rule: 'call_error_wrong', text, action, messageId, facts: { code } });
    const end = endOf(call);
    if (end !== null) this.#stopRefused(call, end, code);
  }

  timedOut(call: SentCall): void {
    if (!this.#isJudged(call)) return;
    const { findings, rules, peer, deviceIndex, station, wall } = this.#at;
    const { id, action, durationMs } = call;
    // without any frame since the call the line may be dead, and a shorter time than 30 s was set on purpose
    if (peer === null || this.#traffic().count === this.#countAtSent || durationMs < inTimeMs) {
      this.#at.undecided('answer_missing');
      return;
    }
    const waitMs = Math.max(neverMs - durationMs, 1);
    const deadline = findings.waitFor({
      rule: rules.answer_missing,
      peer,
      deviceIndex,
      waitMs,
      presence: 'connected',
      key: action,
      expired: () => ({
        text: `${action} is not answered within ${neverMs / 1000} s`,
        facts: { station, action, message_id: id },
        sinceMs: wall.nowMs() - neverMs,
      }),
    });
    this.#awaited.set(id, { action, sentMs: wall.monotonicMs() - durationMs, deadline });
    for (const oldest of this.#awaited.keys()) {
      if (this.#awaited.size <= maxAwaited) break;
      this.#awaited.delete(oldest);
    }
  }

  late(messageId: string): void {
    const awaited = this.#awaited.get(messageId);
    if (awaited === undefined) return;
    this.#awaited.delete(messageId);
    const { action, sentMs, deadline } = awaited;
    deadline.met();
    const seconds = Math.round((this.#at.wall.monotonicMs() - sentMs) / 1000);
    const text = `the answer to ${action} came ${seconds} s after it was sent`;
    this.#at.broken({ rule: 'answer_late', text, action, messageId, facts: { seconds } });
  }

  /** A fault acts on frames: it may have taken an answer. */
  disturbed(): void {
    for (const { deadline } of this.#awaited.values()) deadline.drop();
    this.#awaited.clear();
  }

  closed(): void {
    this.#awaited.clear();
  }

  /** False for calls that a user has made up, or that a fault may have changed on their way or on that of the answer. */
  #isJudged({ isJudged, durationMs }: SentCall): boolean {
    return isJudged && this.#at.wall.monotonicMs() - durationMs > this.#traffic().disturbedMs;
  }

  #inTime({ durationMs }: SentCall): void {
    if (durationMs >= inTimeMs) return;
    this.#at.kept('answer_late');
    this.#at.kept('answer_missing');
  }

  #stopRefused({ id: messageId, action }: SentCall, { rule, transactionId }: TransactionEnd, code: string): void {
    const before = this.#stopErrors;
    const count = before.transactionId === transactionId ? before.count + 1 : 1;
    this.#stopErrors = { transactionId, count };
    if (count < maxStopErrors) return;
    const text = `the end of transaction ${String(transactionId)} is refused with ${code} for the ${count}. time in a row`;
    this.#at.broken({ rule, text, action, messageId, facts: { code, count } });
  }

  #started({ id: messageId, action }: SentCall, { transactionId, idTagInfo }: Payload): void {
    // the id of a refused start is never used
    const isAccepted = isObject(idTagInfo) && idTagInfo.status === 'Accepted';
    if (typeof transactionId !== 'number' || !isAccepted) return;
    const rule = 'transaction_id_range';
    if (transactionId >= 0 && transactionId <= maxTransactionId) this.#at.kept(rule);
    else this.#at.broken({ rule, text: `the transaction has the id ${transactionId}`, action, messageId });
    // a twin is found by the transactions of the station
    this.#at.kept('transaction_id');
  }

  #eventAnswered({ id: messageId, action, payload }: SentCall, reply: Payload): void {
    const { idToken, eventType, offline } = payload;
    if (!isObject(idToken) || idToken.type === 'NoAuthorization' || eventType === 'Ended' || offline === true) return;
    if (isObject(reply.idTokenInfo)) this.#at.kept('id_token_info_missing');
    else {
      const text = `the answer to the event ${String(eventType)} with a token has no idTokenInfo`;
      this.#at.broken({ rule: 'id_token_info_missing', text, action, messageId });
    }
  }
}
