/** Judges whether a device has what it said that it would have; the reason needs no knowledge of the simulator. */
import type { Provenance } from '../../core/origin.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { faultsExplaining } from './explanations.ts';
import type { Explanation } from './explanations.ts';
import type { AnswerCause, Answered, Claim, Found, Value } from './model.ts';

export interface Judged extends Answered {
  /** null: nothing is owed any more, or nothing shows it */
  readonly done: boolean | null;
  readonly cause: AnswerCause;
  /** null: it is done to the digit */
  readonly explanation: string | null;
  /** faults that explain what is not done */
  readonly explanations: readonly Explanation[];
}

export interface JudgeContext {
  readonly deviceIndex: number;
  readonly faults: Pick<FaultRegistry, 'active' | 'ended'>;
  /** date of a simulated instant, ms since the epoch */
  readonly dateMs: (at: SimTime) => number;
  /** why the device takes nothing now, in words; null: it takes commands */
  readonly hindrance: string | null;
}

/** Of doubles that went through different sums. */
const relativeNoise = 1e-9;

const doneOf: Readonly<Record<AnswerCause, boolean | null>> = {
  done: true,
  rounding: true,
  superseded: null,
  expired: null,
  not_done: false,
  unknown: null,
};

function words(value: Value): string {
  if (value === null) return 'nothing';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value);
}

/** 0: the same; Infinity: not to be compared as numbers */
function distance(a: Value, b: Value): number {
  if (a === b) return 0;
  if (typeof a !== 'number' || typeof b !== 'number') return Infinity;
  const gap = Math.abs(a - b);
  return gap <= Math.max(Math.abs(b), 1e-3) * relativeNoise ? 0 : gap;
}

/** The writer in a sentence: `rest (127.0.0.1:50123)`. */
function writerText({ source, peer }: Provenance): string {
  return peer === undefined ? source : `${source} (${peer})`;
}

class Judge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** @param next the next answered command of the same subject; undefined: there is none */
  judge(answered: Answered, next: Answered | undefined): Judged {
    const { claim } = answered;
    const { found } = claim;
    const plain = (cause: AnswerCause, reason: string | null, explanations: readonly Explanation[] = []): Judged => ({
      ...answered,
      done: doneOf[cause],
      cause,
      explanation: reason === null ? null : `${this.#told(answered)}; ${reason}.`,
      explanations,
    });
    if (claim.reason !== undefined || found === null) return plain('unknown', claim.reason ?? 'nothing shows it');
    const held = holding(claim, found);
    if (held !== null) {
      if (found.followed === undefined || distance(found.followed, claim.value) === 0)
        return plain(held, held === 'done' ? null : rounding(claim, found));
      if (next !== undefined) return plain('superseded', this.#supersededBy(next));
      const keeps = `${found.holder} has ${words(found.value)}, but the device acts by ${words(found.followed)}`;
      return this.#broken(answered, keeps, plain);
    }
    const has = `${found.holder} has ${words(found.value)}`;
    if (next !== undefined) return plain('superseded', `${has}: ${this.#supersededBy(next)}`);
    if (claim.ended !== undefined) return plain('expired', `${has}: ${claim.ended}`);
    const writer = this.#laterWriter(answered, found);
    if (writer?.source === 'reversion') return plain('expired', `${has}: it reverted at ${this.#clock(writer.at)}`);
    if (writer !== null && writer.source !== 'fault')
      return plain('superseded', `${has}: ${writerText(writer)} wrote it at ${this.#clock(writer.at)}`);
    return this.#broken(answered, has, plain);
  }

  #broken(
    { exchange, claim: { found } }: Answered,
    has: string,
    plain: (cause: AnswerCause, reason: string, explanations: readonly Explanation[]) => Judged,
  ): Judged {
    const { faults, deviceIndex, hindrance } = this.#context;
    const explanations = faultsExplaining(faults, exchange.protocol, {
      deviceIndex,
      place: found?.place ?? '',
      sinceMs: exchange.wallMs,
    });
    if (explanations.length > 0) return plain('not_done', `${has}: ${faultWords(explanations)}`, explanations);
    return plain(
      'not_done',
      hindrance === null ? `${has}, and nothing explains it` : `${has}: ${hindrance}`,
      explanations,
    );
  }

  /** The last writer where that is not the command itself; null: it is, or nothing was written since. */
  #laterWriter({ exchange }: Answered, { writer, place }: Found): Provenance | null {
    if (writer === null || writer.wallMs < exchange.wallMs) return null;
    if (writer.source !== exchange.protocol || writer.peer !== (exchange.writerPeer ?? exchange.peer)) return writer;
    if (writer.wallMs <= exchange.answeredWallMs) return null;
    const { faults, deviceIndex } = this.#context;
    // a fault delays or alters a write in the name of its writer
    const explanations = faultsExplaining(faults, exchange.protocol, { deviceIndex, place, sinceMs: exchange.wallMs });
    return explanations.length > 0 ? null : writer;
  }

  #told({ exchange, claim }: Answered): string {
    const { peerName, answer, at } = exchange;
    return `${peerName} ${claim.did} at ${this.#clock(at)} and was answered with ${answer}`;
  }

  #supersededBy({ exchange, claim }: Answered): string {
    return `${exchange.peerName} ${claim.did} at ${this.#clock(exchange.at)}`;
  }

  /** `HH:MM:SS UTC` of the simulated clock */
  #clock(at: SimTime): string {
    return `${new Date(this.#context.dateMs(at)).toISOString().slice(11, 19)} UTC`;
  }
}

/** The cause for which a value counts as done; null: it is not what was asked for. */
function holding({ value, holds, resolution = 0 }: Claim, held: Found): 'done' | 'rounding' | null {
  if (holds !== undefined) return holds ? 'done' : null;
  const gap = distance(held.value, value);
  if (gap === 0) return 'done';
  return gap <= (resolution / 2) * (1 + relativeNoise) ? 'rounding' : null;
}

function rounding({ resolution = 0 }: Claim, { holder, value }: Found): string {
  return `${holder} has ${words(value)} in steps of ${resolution}: rounding`;
}

function faultWords(explanations: readonly Explanation[]): string {
  const each = explanations.map(
    ({ fault: { facts }, isOn }) => `fault '${facts.kind.kind}' (${facts.id}) ${isOn ? 'is' : 'was'} on`,
  );
  return each.join(', ');
}

/** @param answered in the order of their answers */
export function judged(answered: readonly Answered[], context: JudgeContext): readonly Judged[] {
  const judge = new Judge(context);
  const next = new Map<string, Answered>();
  const wide: Answered[] = [];
  const verdicts: Judged[] = [];
  for (const each of answered.toReversed()) {
    const { subject } = each.claim;
    const other = wide.find(({ exchange, claim }) => exchange !== each.exchange && claim.takesOver?.(subject) === true);
    verdicts.push(judge.judge(each, next.get(subject) ?? other));
    next.set(subject, each);
    if (each.claim.takesOver !== undefined) wide.push(each);
  }
  return verdicts.reverse();
}
