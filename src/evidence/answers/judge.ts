/**
 * Judges claims: a claim is done if the device has the state that its positive answer promised. If not, the explanation
 * comes from the protocol, or from faults that make a device answer positively without an effect.
 */
import {
  alterWriteFault,
  ignoreWriteFault,
  lateWriteFault,
  lenientWritesFault,
  partialWriteFault,
} from '../../fault-kinds/modbus-map.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import type { Provenance } from '../../core/origin.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { AnswerCause, Answered, Claim, ActualValue, Value, AnswerProtocol } from './model.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import { wrongStatusFault, wrongSubjectFault } from '../../fault-kinds/csip.ts';
import {
  adoptionFault,
  enableEdgeFault,
  ignoreEffectFault,
  lateEffectFault,
  rebootFault,
  silentRevertFault,
} from '../../fault-kinds/device-effect.ts';
import { ignoreCallFault } from '../../fault-kinds/ocpp.ts';

type Kind = Pick<FaultKind, 'protocol' | 'kind'>;

/** Faults of the device, which concern every protocol. */
const ofDevice: readonly Kind[] = [
  ignoreEffectFault,
  lateEffectFault,
  enableEdgeFault,
  adoptionFault,
  silentRevertFault,
  rebootFault,
];

/** Kinds that can make a positive answer of a protocol untrue. */
export const falseAnswerKinds: Readonly<Record<AnswerProtocol, readonly Kind[]>> = {
  modbus: [ignoreWriteFault, lateWriteFault, alterWriteFault, partialWriteFault, lenientWritesFault, ...ofDevice],
  csip: [wrongStatusFault, wrongSubjectFault, ...ofDevice],
  ocpp: [ignoreCallFault, ...ofDevice],
  dnp3: ofDevice,
};

/** A fault that has struck, and is in force or has ended since the command. */
export interface Explanation {
  readonly fault: ActiveFault;
  /** true: still in force */
  readonly isOn: boolean;
}

const isOneOf = (kinds: readonly Kind[], { protocol, facts }: ActiveFault): boolean =>
  kinds.some((kind) => kind.protocol === protocol && kind.kind === facts.kind.kind);

/** True if the target of a fault may include a place; places other than points are not checked. */
function mayConcern(fault: ActiveFault, place: string): boolean {
  const { points } = targetOf(fault.facts.target);
  const dot = place.indexOf('.');
  if (points === undefined || !/^\d+(:\d+)?\./.test(place)) return true;
  const model = place.slice(0, dot);
  // an adoption request concerns all points of its model
  const isRequest = /\.Adpt(Crv|Ctl)/.test(place);
  return points.some(
    (name) => name === place || name === model || place.startsWith(`${name}.`) || (isRequest && name.startsWith(model)),
  );
}

/**
 * The faults that can explain why a device does not have the state that it answered.
 * @param sinceMs wall time of the command
 */
function faultsExplaining(
  registry: Pick<FaultRegistry, 'active' | 'ended'>,
  protocol: AnswerProtocol,
  { deviceIndex, place, sinceMs }: { readonly deviceIndex: number; readonly place: string; readonly sinceMs: number },
): readonly Explanation[] {
  const kinds = falseAnswerKinds[protocol];
  const fits = (fault: ActiveFault) =>
    isOneOf(kinds, fault) && fault.strikeCount > 0 && fault.concerns(deviceIndex) && mayConcern(fault, place);
  const inForce = registry.active.filter(fits).map((fault) => ({ fault, isOn: true }));
  const ended = registry.ended.filter(({ fault, endedAtMs }) => endedAtMs >= sinceMs && fits(fault));
  return [...inForce, ...ended.map(({ fault }) => ({ fault, isOn: false }))];
}

export interface Judged extends Answered {
  /** null: the command was superseded or has expired, or nothing shows its effect */
  readonly done: boolean | null;
  readonly cause: AnswerCause;
  /** null: done exactly */
  readonly explanation: string | null;
  /** faults that explain what is not done */
  readonly explanations: readonly Explanation[];
}

export interface JudgeContext {
  readonly deviceIndex: number;
  readonly faults: Pick<FaultRegistry, 'active' | 'ended'>;
  /** date of a simulated instant, ms since the epoch */
  readonly dateMs: (at: SimTime) => number;
  /** reason why the device accepts no commands at present; null: it accepts them */
  readonly hindrance: string | null;
}

/** Relative error of doubles that were summed in different orders. */
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

/** Difference of two values; 0: equal but for noise, Infinity: different and not both numbers. */
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

  /** @param next the next answered command of the same subject; undefined: none */
  judge(answered: Answered, next: Answered | undefined): Judged {
    const { claim } = answered;
    const { actual } = claim;
    const verdict = (cause: AnswerCause, reason: string | null, explanations: readonly Explanation[] = []): Judged => ({
      ...answered,
      done: doneOf[cause],
      cause,
      explanation: reason === null ? null : `${this.#answeredText(answered)}; ${reason}.`,
      explanations,
    });
    if (claim.reason !== undefined || actual === null) return verdict('unknown', claim.reason ?? 'nothing shows it');
    const held = holding(claim, actual);
    if (held !== null) {
      if (actual.followed === undefined || distance(actual.followed, claim.value) === 0)
        return verdict(held, held === 'done' ? null : rounding(claim, actual));
      if (next !== undefined) return verdict('superseded', this.#commandText(next));
      const state = `${actual.holder} has ${words(actual.value)}, but the device acts by ${words(actual.followed)}`;
      return this.#notDone(answered, state, verdict);
    }
    const has = `${actual.holder} has ${words(actual.value)}`;
    if (next !== undefined) return verdict('superseded', `${has}: ${this.#commandText(next)}`);
    if (claim.ended !== undefined) return verdict('expired', `${has}: ${claim.ended}`);
    const writer = this.#laterWriter(answered, actual);
    if (writer?.source === 'reversion') return verdict('expired', `${has}: it reverted at ${this.#clock(writer.at)}`);
    if (writer !== null && writer.source !== 'fault')
      return verdict('superseded', `${has}: ${writerText(writer)} wrote it at ${this.#clock(writer.at)}`);
    return this.#notDone(answered, has, verdict);
  }

  #notDone(
    { exchange, claim: { actual } }: Answered,
    has: string,
    verdict: (cause: AnswerCause, reason: string, explanations: readonly Explanation[]) => Judged,
  ): Judged {
    const { faults, deviceIndex, hindrance } = this.#context;
    const explanations = faultsExplaining(faults, exchange.protocol, {
      deviceIndex,
      place: actual?.place ?? '',
      sinceMs: exchange.wallMs,
    });
    if (explanations.length > 0) return verdict('not_done', `${has}: ${faultWords(explanations)}`, explanations);
    return verdict(
      'not_done',
      hindrance === null ? `${has}, and nothing explains it` : `${has}: ${hindrance}`,
      explanations,
    );
  }

  /** The last writer since the command; null: none, the command itself, or a fault in its name. */
  #laterWriter({ exchange }: Answered, { writer, place }: ActualValue): Provenance | null {
    if (writer === null || writer.wallMs < exchange.wallMs) return null;
    if (writer.source !== exchange.protocol || writer.peer !== (exchange.writerPeer ?? exchange.peer)) return writer;
    if (writer.wallMs <= exchange.answeredWallMs) return null;
    const { faults, deviceIndex } = this.#context;
    // a fault delays or alters a write in the name of its writer
    const explanations = faultsExplaining(faults, exchange.protocol, { deviceIndex, place, sinceMs: exchange.wallMs });
    return explanations.length > 0 ? null : writer;
  }

  #answeredText({ exchange, claim }: Answered): string {
    const { peerName, answer, at } = exchange;
    return `${peerName} ${claim.did} at ${this.#clock(at)} and was answered with ${answer}`;
  }

  #commandText({ exchange, claim }: Answered): string {
    return `${exchange.peerName} ${claim.did} at ${this.#clock(exchange.at)}`;
  }

  /** `HH:MM:SS UTC` of the simulated clock */
  #clock(at: SimTime): string {
    return `${new Date(this.#context.dateMs(at)).toISOString().slice(11, 19)} UTC`;
  }
}

/** The cause by which a value fulfils a claim; null: not fulfilled. */
function holding({ value, holds, resolution = 0 }: Claim, held: ActualValue): 'done' | 'rounding' | null {
  if (holds !== undefined) return holds ? 'done' : null;
  const gap = distance(held.value, value);
  if (gap === 0) return 'done';
  return gap <= (resolution / 2) * (1 + relativeNoise) ? 'rounding' : null;
}

function rounding({ resolution = 0 }: Claim, { holder, value }: ActualValue): string {
  return `${holder} has ${words(value)} in steps of ${resolution}: rounding`;
}

function faultWords(explanations: readonly Explanation[]): string {
  const texts = explanations.map(
    ({ fault: { facts }, isOn }) => `fault '${facts.kind.kind}' (${facts.id}) ${isOn ? 'is' : 'was'} on`,
  );
  return texts.join(', ');
}

/** Judges all claims of a device. @param answered claims in the order of the answers */
export function judged(answered: readonly Answered[], context: JudgeContext): readonly Judged[] {
  const judge = new Judge(context);
  const next = new Map<string, Answered>();
  const takingOver: Answered[] = [];
  const verdicts: Judged[] = [];
  for (const current of answered.toReversed()) {
    const { subject } = current.claim;
    const other = takingOver.find(
      ({ exchange, claim }) => exchange !== current.exchange && claim.takesOver?.(subject) === true,
    );
    verdicts.push(judge.judge(current, next.get(subject) ?? other));
    next.set(subject, current);
    if (current.claim.takesOver !== undefined) takingOver.push(current);
  }
  return verdicts.reverse();
}
