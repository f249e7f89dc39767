/** Judges the statuses and headers of the answers of a server to what the client sends. */
import type { DocumentName } from '../xml/schema.ts';
import type { SeenAnswer } from '../transport/exchange.ts';
import { isPassing } from '../transport/exchange.ts';
import { pathOf, Remembered } from './model.ts';
import type { CsipRules, JudgeParts } from './model.ts';

/** Resources whose address a client needs once it has posted them. */
const addressed: ReadonlySet<DocumentName> = new Set(['EndDevice', 'DER', 'MirrorUsagePoint', 'Subscription']);
/** Statuses of DERControlResponse that only the revision of 2023 has. */
const newStatuses: ReadonlySet<number> = new Set([251]);
const failuresWithinMs = 600_000;
const maxFailing = 16;

type Rule = CsipRules[keyof CsipRules];

export interface AnswerJudgeOptions {
  /** true: the server lists the event, for one of the EndDevices of the connection */
  readonly lists: (mrid: string) => boolean;
}

export class AnswerJudge {
  readonly #parts: JudgeParts;
  readonly #options: AnswerJudgeOptions;
  /** instants of the latest failures by method and path, on `WallClock.monotonicMs` */
  readonly #failures = new Remembered<readonly number[]>(maxFailing);

  constructor(parts: JudgeParts, options: AnswerJudgeOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  answered(seen: SeenAnswer): void {
    const { request, status, headers, isDisturbed } = seen;
    const { rules } = this.#parts;
    this.#serverErrors(seen);
    if (status === 429 || status === 503) this.#decide(rules.retry_after_missing, seen, 'retry-after' in headers);
    // a fault of this simulator has changed what the server had to judge
    if (isDisturbed) return;
    if (request.method === 'PUT') this.#decide(rules.put_unserved, seen, status !== 405 && status !== 501);
    if (request.method !== 'POST') return;
    if (status === 201 && addressed.has(request.resource))
      this.#decide(rules.created_location, seen, 'location' in headers);
    this.#refusal(seen);
  }

  /** Counts a case, or an occasion without one. */
  #decide(rule: Rule, { request, status, url, message }: SeenAnswer, isRight: boolean, key = ''): void {
    const { peer } = this.#parts;
    if (isRight) {
      rule.exercised(peer);
      return;
    }
    const { method, resource, deviceIndex } = request;
    rule.broken(
      peer,
      deviceIndex,
      () => ({
        text: `the server answered ${status} to the ${method} of ${resource}`,
        facts: { method, path: pathOf(url), status },
        message,
      }),
      `${resource} ${key}`,
    );
  }

  #serverErrors(seen: SeenAnswer): void {
    const { rules, peer, clock } = this.#parts;
    const { status, request, url, headers } = seen;
    const rule = rules.server_errors;
    const key = `${request.method} ${pathOf(url)}`;
    // 501 is about the method, and a server that is busy or in maintenance may say so
    const isAnnounced = status === 503 && 'retry-after' in headers;
    if (status < 500 || status === 501 || isAnnounced) {
      rule.exercised(peer);
      return;
    }
    const nowMs = clock.monotonicMs();
    const within = (this.#failures.get(key) ?? []).filter((atMs) => nowMs - atMs <= failuresWithinMs);
    const failures = [...within, nowMs].slice(-rule.param('failures'));
    this.#failures.set(key, failures);
    if (failures.length >= rule.param('failures')) this.#decide(rule, seen, false, key);
  }

  /** Judges final refusals of what the server has asked for or offered. */
  #refusal(seen: SeenAnswer): void {
    const { rules, peer } = this.#parts;
    const { request, status, document } = seen;
    const { body } = request;
    const isRight = status < 400;
    if (!isRight && (isPassing(status) || status === 409)) return;
    if (body?.name === 'DERControlResponse') {
      const { subject, status: answer = 0 } = body.value;
      const isDue = this.#options.lists(subject.toUpperCase()) && !newStatuses.has(answer);
      if (isRight || isDue) this.#decide(rules.response_refused, seen, isRight, `${subject} ${answer}`);
      else rules.response_refused.undecided(peer);
    } else if (body?.name === 'MirrorUsagePoint' || body?.name === 'MirrorMeterReading') {
      if (status !== 404) this.#decide(rules.readings_refused, seen, isRight);
    } else if (body?.name === 'Subscription') {
      if (isRight || document?.name !== 'Error') this.#decide(rules.subscription_refused, seen, isRight);
      else rules.subscription_refused.undecided(peer);
    }
  }
}
