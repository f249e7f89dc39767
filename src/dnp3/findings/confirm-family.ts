/** Fragments with CON of one counter: those of responses, or those of unsolicited responses. */
import type { Outgoing } from './dialogue.ts';

/** Time in which a late confirm may come. */
const formerMs = 60_000;
const numbers = 16;

export class OneFamily {
  /** by number: monotonic ms of the last fragment with CON that is not confirmed */
  readonly #askedMs = new Float64Array(numbers).fill(-Infinity);
  /** number of the last confirm, which may be repeated; null: none */
  #confirmedSeq: number | null = null;
  #awaited: { readonly seq: number; readonly sinceMs: number } | null = null;
  /** number of the last fragment, if it did not ask for a confirm; null: it did */
  #unaskedSeq: number | null = null;

  get isWaiting(): boolean {
    return this.#awaited !== null;
  }

  /** null: no fragment waits */
  get awaitedSeq(): number | null {
    return this.#awaited?.seq ?? null;
  }

  sent({ seq, asksForConfirm }: Outgoing, nowMs: number): void {
    if (asksForConfirm) this.#askedMs[seq] = nowMs;
    this.#awaited = asksForConfirm ? { seq, sinceMs: nowMs } : null;
    this.#unaskedSeq = asksForConfirm ? null : seq;
  }

  /** `former`: of a fragment before, again or late; `unasked`: of the last one, which needs none */
  confirm(seq: number, nowMs: number): 'awaited' | 'former' | 'unasked' | 'wrong' {
    const isAwaited = this.#awaited?.seq === seq;
    const isLate = nowMs - (this.#askedMs[seq] ?? -Infinity) <= formerMs;
    if (!isAwaited && !isLate) {
      if (seq === this.#unaskedSeq) return 'unasked';
      return seq === this.#confirmedSeq ? 'former' : 'wrong';
    }
    this.#askedMs[seq] = -Infinity;
    this.#confirmedSeq = seq;
    if (isAwaited) this.#awaited = null;
    return isAwaited ? 'awaited' : 'former';
  }

  /** Ends the wait. @returns its time, ms; null: no fragment waited */
  end(nowMs: number): number | null {
    const waitedMs = this.#awaited === null ? null : nowMs - this.#awaited.sinceMs;
    this.#awaited = null;
    return waitedMs;
  }
}
