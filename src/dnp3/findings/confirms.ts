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

export class ConfirmsJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  readonly #solicited = new OneFamily();
  readonly #unsolicited = new OneFamily();
  /** unsolicited fragment that is sent again and again */
  #attempts = 0;
  #attempted: Outgoing | null = null;
  #hasRequestSince = false;
  #requestedMs = 0;
  #isLate = false;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  sent(fragment: Outgoing): void {
    const { nowMs, ageMs } = this.#dialogue;
    const family = fragment.isUnsolicited ? this.#unsolicited : this.#solicited;
    if (fragment.isUnsolicited) this.#countAttempt(fragment, ageMs >= startUpMs ? 1 : 0);
    else if (fragment.isFirst) this.#isLate = nowMs - this.#requestedMs > lateMs;
    family.sent(fragment, nowMs);
  }

  requested({ cast, isRetry, octets }: Incoming): void {
    const { rules, nowMs } = this.#dialogue;
    this.#hasRequestSince = true;
    const waitingMs = this.#solicited.end(nowMs);
    const isLate = this.#isLate;
    this.#requestedMs = nowMs;
    // a repeated request shows that the response has not arrived; an early one ends the series
    if (waitingMs === null || waitingMs < confirmWaitMs || isLate || isRetry || cast !== 'unicast') return;
    this.#dialogue.broken(rules.unconfirmed, () => ({
      text: `sent a request ${Math.round(waitingMs / 1000)} s after a response with CON, and no confirm before it`,
      facts: { waited_ms: Math.round(waitingMs) },
      excerpt: octets,
      sinceMs: this.#dialogue.wallMs - waitingMs,
    }));
  }

  confirmed(seq: number, isUnsolicited: boolean): void {
    const { rules, nowMs } = this.#dialogue;
    const [family, other] = isUnsolicited ? [this.#unsolicited, this.#solicited] : [this.#solicited, this.#unsolicited];
    const outcome = family.confirm(seq, nowMs);
    if (isUnsolicited) this.#attempts = 0;
    if (outcome === 'awaited') {
      this.#dialogue.exercised(rules.unconfirmed, rules.confirm_sequence, rules.confirm_unasked);
      if (isUnsolicited && this.#attempted?.hasObjects === false) this.#dialogue.exercised(rules.null_unconfirmed);
      return;
    }
    if (outcome === 'former') return;
    const isAwaited = family.isWaiting || other.awaitedSeq === seq;
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
    this.#attempts = 0;
    this.#attempted = null;
  }

  /** @param weight 0: it does not count */
  #countAttempt(fragment: Outgoing, weight: 0 | 1): void {
    const isAgain = this.#attempted?.seq === fragment.seq && this.#attempted.hasObjects === fragment.hasObjects;
    if (!isAgain) this.#hasRequestSince = false;
    // the attempt that goes out now is not yet one without a confirm
    const unconfirmed = isAgain ? this.#attempts : 0;
    this.#attempts = unconfirmed + weight;
    this.#attempted = fragment;
    const max = fragment.hasObjects ? eventAttempts : nullAttempts;
    if (unconfirmed < max || !this.#hasRequestSince) return;
    const { unconfirmed: events, null_unconfirmed: empty } = this.#dialogue.rules;
    this.#dialogue.broken(fragment.hasObjects ? events : empty, () => ({
      text: `left ${unconfirmed} attempts of an unsolicited response unconfirmed, and sent requests meanwhile`,
      facts: { attempts: unconfirmed, sequence: fragment.seq },
    }));
    this.#attempts = 0;
    this.#attempted = null;
  }
}
