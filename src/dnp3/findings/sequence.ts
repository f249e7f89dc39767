/** Judges the form of fragments and the sequence numbers of requests. */
import type { Buffer } from 'node:buffer';
import { functionCodes, readControl } from '../stack/application/types.ts';
import type { Dialogue, Incoming, Outgoing, TopicJudge } from './dialogue.ts';

const modulus = 16;
/** Pause after which a master that counts from 0 has begun anew. */
const pauseMs = 10_000;
/** Numbers that are left out where a gateway loses requests, and how often in a row that is a case all the same. */
const [maxLost, maxGaps] = [3, 3];

/** A fragment that is no request in words, and the rule that it breaks; null: it is a request. */
function flawOf(fragment: Buffer): { readonly rule: 'request_form' | 'fragment_odd'; readonly text: string } | null {
  const [octet, functionCode] = fragment;
  if (octet === undefined || functionCode === undefined)
    return { rule: 'fragment_odd', text: 'with fewer than two octets' };
  const { fir, fin, uns } = readControl(octet);
  if (functionCode >= functionCodes.response)
    return { rule: 'fragment_odd', text: `with the function ${functionCode} of a response` };
  if (!fir || !fin) return { rule: 'request_form', text: `without ${fir ? 'FIN' : 'FIR'}` };
  return uns ? { rule: 'fragment_odd', text: 'with UNS' } : null;
}

export class SequenceJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  /** the last request; null: the next number is not known */
  #last: { readonly seq: number; readonly atMs: number } | null = null;
  /** fragments of its answer */
  #fragments = 0;
  /** requests in a row before which numbers were left out */
  #gaps = 0;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  requested({ control: { seq }, cast, isRetry, functionCode, octets }: Incoming): void {
    const { rules, nowMs } = this.#dialogue;
    if (cast !== 'unicast') {
      this.#last = null;
      return;
    }
    this.#dialogue.exercised(rules.request_form, rules.fragment_odd);
    const last = this.#last;
    const fragments = this.#fragments;
    this.#last = { seq, atMs: nowMs };
    this.#fragments = 0;
    // the number of an OPERATE belongs to its SELECT
    if (last === null || isRetry || functionCode === functionCodes.operate) return;
    const step = (seq - last.seq + modulus) % modulus;
    const isNext = (step >= 1 && step <= Math.max(1, fragments)) || fragments >= modulus;
    this.#gaps = isNext ? 0 : this.#gaps + 1;
    const isLoss = step > 1 && step <= Math.max(1, fragments) + maxLost && this.#gaps < maxGaps;
    if (isNext) this.#dialogue.exercised(rules.sequence);
    else if (isLoss) rules.sequence.undecided(this.#dialogue.peer);
    else if (seq !== 0 || nowMs - last.atMs < pauseMs)
      this.#dialogue.broken(rules.sequence, () => ({
        text: `sent a new request with the number ${seq} after one with the number ${last.seq}`,
        facts: { sequence: seq, last: last.seq, fragments, function: functionCode },
        excerpt: octets,
      }));
  }

  sent({ isFirst, isUnsolicited }: Outgoing): void {
    if (!isUnsolicited) this.#fragments = isFirst ? 1 : this.#fragments + 1;
  }

  /** Requests of the time without power are lost as well. */
  restarted(): void {
    this.#last = null;
  }

  lost(): void {
    this.#last = null;
  }

  dropped(fragment: Buffer): void {
    this.#last = null;
    const flaw = flawOf(fragment);
    if (flaw === null) return;
    const text = `sent a fragment ${flaw.text}`;
    this.#dialogue.broken(this.#dialogue.rules[flaw.rule], () => ({ text, excerpt: fragment }), flaw.text);
  }
}
