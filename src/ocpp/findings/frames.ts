/** The frame of a central system that is judged now: which rules it tests and has broken, and the evidence that it is. */
import type { Case } from '../../core/findings/rule.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import { isObject } from '../rpc/frames.ts';
import type { Frame } from '../rpc/frames.ts';
import type { HeardFrame } from '../rpc/transport.ts';
import type { PayloadIssue } from '../rpc/model.ts';
import type { Found, JudgeContext } from './context.ts';

/** Time after the opening of a connection in which answers to calls of an earlier one may come, ms. */
const settlingMs = 60_000;
/** Longest text of a frame that is kept for a finding which comes after it. */
const maxKeptText = 2048;

const rulesOfCalls: readonly OcppRule[] = [
  'schema',
  'time_zoneless',
  'frame',
  'id_long',
  'action_unknown',
  'action_direction',
];
/** Rules that a second call of a connection is a test of. */
const rulesOfNextCalls: readonly OcppRule[] = ['id_reused', 'call_overlap', 'call_overlap_16'];

/** Rules that a frame is a test of, by its kind. */
const rulesByKind: Readonly<Record<Frame['kind'], readonly OcppRule[]>> = {
  call: rulesOfCalls,
  result: ['schema', 'time_zoneless', 'frame', 'answer_unknown'],
  error: ['error_code', 'frame', 'answer_unknown'],
  send: [],
  result_error: [],
  invalid: [],
};

/** Rules whose breach keeps a call from its handler. */
const rulesOfUnserved: readonly OcppRule[] = ['schema', 'time_zoneless', 'action_unknown'];

const zoneless = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** True if the place that an issue names has a time without zone. */
function isZoneless(payload: unknown, description: string): boolean {
  const [, path] = /^\/(\S+) must be a date and time/.exec(description) ?? [];
  if (path === undefined) return false;
  const value = path
    .split('/')
    .reduce<unknown>(
      (at, name) => (isObject(at) || Array.isArray(at) ? (at as Record<string, unknown>)[name] : undefined),
      payload,
    );
  return typeof value === 'string' && zoneless.test(value);
}

export class FrameJudge {
  readonly #at: JudgeContext;
  readonly #redact: (text: string) => string;
  #heard: HeardFrame | null = null;
  /** the last frame, for what is found after it */
  #last: { readonly id: string | null; readonly text: string | null; readonly wireId: number | null } | null = null;
  /** rules that the frame at hand has broken */
  readonly #broken = new Set<OcppRule>();
  #calls = 0;
  #openedMs = 0;
  /** frames of the present connection */
  count = 0;
  /** time of the last frame, monotonic ms */
  lastMs = 0;

  /** @param redact removes secrets from the text of a frame */
  constructor(at: JudgeContext, redact: (text: string) => string) {
    this.#at = at;
    this.#redact = redact;
  }

  opened(): void {
    this.#openedMs = this.#at.wall.monotonicMs();
    this.#calls = this.count = 0;
  }

  closed(): void {
    this.#last = null;
  }

  begin(heard: HeardFrame): void {
    this.#heard = heard;
    this.#broken.clear();
    this.count += 1;
    this.lastMs = this.#at.wall.monotonicMs();
  }

  /** Counts the rules that the frame at hand has kept. */
  judge({ kind }: Frame): void {
    for (const rule of rulesByKind[kind]) this.#at.kept(rule);
    if (kind !== 'call') return;
    if (this.#calls > 0) for (const rule of rulesOfNextCalls) this.#at.kept(rule);
    this.#calls += 1;
  }

  /** The frame at hand; null: none. */
  get heard(): HeardFrame | null {
    return this.#heard;
  }

  end(): void {
    if (this.#heard === null) return;
    const { frame, text, wireId } = this.#heard;
    this.#last = { id: frame.id, text: text.length <= maxKeptText ? text : null, wireId };
    this.#heard = null;
  }

  /** True if a rule is broken that keeps the call at hand from its handler. */
  get isUnserved(): boolean {
    return rulesOfUnserved.some((rule) => this.#broken.has(rule));
  }

  hasBroken(rule: OcppRule): boolean {
    return this.#broken.has(rule);
  }

  noteBroken(rule: OcppRule): void {
    this.#broken.add(rule);
  }

  /** The rule that a payload against its schema breaks; null: none. */
  ruleOf({ description }: PayloadIssue): OcppRule | null {
    const frame = this.#heard?.frame;
    // it counts as no frame at all
    if (frame?.kind === 'invalid') return null;
    // a number that only this program cannot hold
    if (frame !== undefined && 'changedNumber' in frame && description.startsWith('the number ')) return null;
    const payload = frame !== undefined && 'payload' in frame ? frame.payload : null;
    return isZoneless(payload, description) ? 'time_zoneless' : 'schema';
  }

  /** True for what looks wrong to the station, and is right or cannot be decided. */
  isTrap({ rule }: Found): boolean {
    const frame = this.#heard?.frame;
    if (rule === 'error_code') return frame?.kind === 'error' && frame.code === 'OccurrenceConstraintViolation';
    if (rule !== 'answer_unknown') return false;
    this.noteBroken(rule);
    const isUnreadable = frame?.kind === 'error' && frame.id === '-1' && this.#at.version !== '1.6';
    const isSettling = this.#at.wall.monotonicMs() - this.#openedMs < settlingMs;
    if (isSettling) this.#at.undecided(rule);
    return isUnreadable || isSettling;
  }

  /** A function that makes the evidence later, of the frame at hand now. */
  evidenceOf(messageId: string | null): () => Pick<Case, 'message' | 'excerpt'> {
    const heard = this.#heard;
    return () => {
      const frame = heard === null ? this.#last : { id: heard.frame.id, text: heard.text, wireId: heard.wireId };
      if (frame === null || frame.id !== messageId) return {};
      return {
        message: frame.wireId === null ? null : { channel: `ocpp/${this.#at.station}`, id: frame.wireId },
        ...(frame.text !== null && { excerpt: this.#redact(frame.text) }),
      };
    };
  }
}
