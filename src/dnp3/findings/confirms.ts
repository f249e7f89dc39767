/** Judges the confirms of a master. */
import { OneFamily } from './confirm-family.ts';
import type { Dialogue, Incoming, Outgoing, TopicJudge } from './dialogue.ts';

/** Wait of the outstation for a confirm, 5 s, and one more. */
const confirmWaitMs = 6000;
/** Time of an answer after which the master may have stopped waiting for it. */
const lateMs = 1000;
/** Masters discard unsolicited responses in their first minute. */
const startUpMs = 60_000;
/** Attempts without a confirm that are a case: of the response without objects, and of events. */
const [nullAttempts, eventAttempts] = [5, 3];
/** Responses in a row without a confirm that are a case: a gateway to a serial line may lose one. */
const maxUnconfirmed = 3;

export class ConfirmsJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  readonly #solicited = new OneFamily();
  readonly #unsolicited = new OneFamily();
  /** unsolicited fragment that is sent again and again */
  #attempts = 0;
  #attempted: Outgoing | null = null;
  #attemptMs = 0;
  #hasRequestSince = false;
  #requestedMs = 0;
  #isLate = false;
  /** responses in a row that were left unconfirmed */
  #unconfirmed = 0;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  sent(fragment: Outgoing): void {
    const { nowMs, ageMs } = this.#dialogue;
    const family = fragment.isUnsolicited ? this.#unsolicited : this.#solicited;
    if (fragment.isUnsolicited) this.#countAttempt(fragment, ageMs < startUpMs);
    else if (fragment.isFirst) this.#isLate = nowMs - this.#requestedMs > lateMs;
    family.sent(fragment, nowMs);
  }

  requested({ cast, isRetry, octets }: Incoming): void {
    const { rules, nowMs } = this.#dialogue;
    // an earlier request may have crossed the attempt
    if (nowMs - this.#attemptMs >= lateMs) this.#hasRequestSince = true;
    const waitingMs = this.#solicited.end(nowMs);
    const isLate = this.#isLate;
    this.#requestedMs = nowMs;
    // a repeated request shows that the response has not arrived; an early one ends the series
    if (waitingMs === null || waitingMs < confirmWaitMs || isLate || isRetry || cast !== 'unicast') return;
    this.#unconfirmed += 1;
    const responses = this.#unconfirmed;
    if (responses < maxUnconfirmed) return;
    this.#unconfirmed = 0;
    this.#dialogue.broken(rules.unconfirmed, () => ({
      text: `left ${responses} responses with CON unconfirmed, and sent a request ${Math.round(waitingMs / 1000)} s after the last one`,
      facts: { responses, waited_ms: Math.round(waitingMs) },
      excerpt: octets,
      sinceMs: this.#dialogue.wallMs - waitingMs,
    }));
  }

  confirmed(seq: number, isUnsolicited: boolean): void {
    const { rules, nowMs } = this.#dialogue;
    const [family, other] = isUnsolicited ? [this.#unsolicited, this.#solicited] : [this.#solicited, this.#unsolicited];
    const outcome = family.confirm(seq, nowMs);
    if (isUnsolicited) this.#attempts = 0;
    else this.#unconfirmed = 0;
    if (outcome === 'awaited') {
      this.#dialogue.exercised(rules.unconfirmed, rules.confirm_sequence, rules.confirm_unasked);
      if (isUnsolicited && this.#attempted?.hasObjects === false) this.#dialogue.exercised(rules.null_unconfirmed);
      return;
    }
    if (outcome === 'former') return;
    const isAwaited = outcome === 'wrong' && (family.isWaiting || other.awaitedSeq === seq);
    const what = `confirmed ${isUnsolicited ? 'an unsolicited response' : 'a response'} with the number ${seq}`;
    const facts = { sequence: seq, unsolicited: isUnsolicited, awaited: family.awaitedSeq };
    if (isAwaited)
      this.#dialogue.broken(rules.confirm_sequence, () => ({ text: `${what}, which was not sent`, facts }));
    else this.#dialogue.broken(rules.confirm_unasked, () => ({ text: `${what}, which asked for none`, facts }));
    // one mistake is one case
    this.#solicited.end(nowMs);
  }

  lost(): void {
    this.#solicited.end(this.#dialogue.nowMs);
  }

  restarted(): void {
    this.#solicited.end(this.#dialogue.nowMs);
    this.#attempts = this.#unconfirmed = 0;
    this.#attempted = null;
  }

  /** Counts attempts that a request has followed without a confirm. @param isStart true: none counts */
  #countAttempt(fragment: Outgoing, isStart: boolean): void {
    const former = this.#attempted;
    const isAgain = former?.seq === fragment.seq && former.hasObjects === fragment.hasObjects;
    if (isStart || !isAgain) this.#attempts = 0;
    else if (this.#hasRequestSince) this.#attempts += 1;
    this.#attempted = fragment;
    this.#attemptMs = isStart ? Infinity : this.#dialogue.nowMs;
    this.#hasRequestSince = false;
    const attempts = this.#attempts;
    if (attempts < (fragment.hasObjects ? eventAttempts : nullAttempts)) return;
    this.#attempts = 0;
    const { unconfirmed, null_unconfirmed: nullUnconfirmed } = this.#dialogue.rules;
    this.#dialogue.broken(fragment.hasObjects ? unconfirmed : nullUnconfirmed, () => ({
      text: `left ${attempts} attempts of an unsolicited response unconfirmed, and sent a request after each`,
      facts: { attempts, sequence: fragment.seq },
    }));
  }
}
