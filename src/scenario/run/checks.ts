/** Assertions under way. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Expectation, Window } from '../model.ts';
import { comparisonText, signalText, sinceText, subjectText, valueText, windowText } from '../file/words.ts';
import type { Observation } from './observed.ts';
import { lookerOf } from './lookers.ts';
import type { Looker, Sight, Since } from './looker.ts';

export type Verdict = 'pending' | 'passed' | 'failed';

/** One assertion from its beginning to its verdict. */
export class Check {
  readonly expectation: Expectation;
  readonly begin: SimTime;
  verdict: Verdict = 'pending';
  /** why, in a sentence; empty while pending */
  message = '';
  decidedAt: SimTime | null = null;
  /** there will be no verdict */
  isDropped = false;
  readonly #looker: Looker;
  readonly #from: SimTime;
  readonly #until: number;
  #last: Sight | null = null;

  constructor(expectation: Expectation, observation: Observation, begin: SimTime, since: Since) {
    this.expectation = expectation;
    this.begin = begin;
    const { window } = expectation;
    this.#looker = lookerOf(expectation.subject, observation, begin, since);
    this.#from = window.kind === 'for' ? addSeconds(begin, window.afterS) : begin;
    this.#until = endOf(window, begin);
  }

  /** The next instant at which the verdict may fall although nothing changes. */
  get due(): number {
    return this.verdict === 'pending' && !this.isDropped ? this.#until : Infinity;
  }

  /** Whether it is decided when its step is done, whatever steps follow at the same instant. */
  get isImmediate(): boolean {
    return this.expectation.window.kind === 'now' && !this.#waitsForMessages;
  }

  /** Looks at the present instant; decides where that is possible. */
  look(now: SimTime): void | Promise<void> {
    if (this.verdict !== 'pending' || this.isDropped || now < this.#from) return;
    const sight = this.#looker.look(now);
    if (sight instanceof Promise) return sight.then((seen) => this.#judge(seen, now));
    this.#judge(sight, now);
  }

  #judge(sight: Sight, now: SimTime): void {
    this.#last = sight;
    const { kind } = this.expectation.window;
    const isOver = now >= this.#until;
    if (kind === 'for') {
      if (!sight.holds && !this.#waitsForMessages) this.#decide('failed', now);
      else if (isOver) this.#decide(sight.holds ? 'passed' : 'failed', now);
    } else if (sight.holds && !(this.#isBounded && !isOver)) this.#decide('passed', now);
    else if (isOver || kind === 'now') this.#decide('failed', now);
  }

  /** Messages come one by one: their number is judged at the end of a window. */
  get #waitsForMessages(): boolean {
    return this.expectation.subject.kind === 'messages';
  }

  /** Whether more messages would break it. */
  get #isBounded(): boolean {
    const { subject } = this.expectation;
    return subject.kind === 'messages' && subject.count !== null && subject.count.atMost !== Infinity;
  }

  /** The scenario ends: what held so far has passed, what had not come true has failed. */
  close(now: SimTime): void {
    if (this.verdict !== 'pending') return;
    const { window } = this.expectation;
    if (window.kind !== 'for') this.#decide('failed', now);
    else if (window.s === Infinity) this.#decide(this.#last?.holds === true ? 'passed' : 'failed', now);
    else if (this.#last?.holds === false) this.#decide('failed', now);
    else this.#drop(now);
  }

  /** Its window was cut short: it neither held nor failed. */
  #drop(now: SimTime): void {
    this.message = `the scenario ended ${this.#sinceBegin(now)}, before the window was over`;
    this.#looker.end();
    this.isDropped = true;
  }

  /** The scenario was stopped before the verdict fell. */
  drop(): void {
    this.#looker.end();
  }

  #decide(verdict: 'passed' | 'failed', now: SimTime): void {
    this.verdict = verdict;
    this.decidedAt = now;
    this.message = this.#words(now);
    this.#looker.end();
  }

  #sinceBegin(now: SimTime): string {
    const { window } = this.expectation;
    const isWhole = window.kind === 'for' && window.s === Infinity;
    return `${valueText(secondsBetween(this.begin, now))} s after the ${isWhole ? 'start' : 'step'}`;
  }

  #words(now: SimTime): string {
    const found = this.#last?.found() ?? 'the scenario ended before it was looked at';
    if (this.verdict === 'passed') return found;
    const { window, subject, title } = this.expectation;
    const wanted =
      subject.kind === 'value'
        ? `${signalText(subject.test.signal)}${sinceText(subject.test)} must be ${comparisonText(subject.test.comparison)}`
        : subjectText(subject) + windowText(window);
    const history = this.#looker.history();
    const when =
      window.kind === 'now'
        ? ''
        : window.kind === 'within'
          ? `did not come true within ${valueText(window.s)} s; `
          : `broken ${this.#sinceBegin(now)}; `;
    const titled = title === null ? '' : `${title}: `;
    return `${titled}${wanted}: ${when}${found}${history === '' ? '' : ` (${history})`}`;
  }
}

function endOf(window: Window, begin: SimTime): number {
  if (window.kind === 'now') return begin;
  if (window.kind === 'within') return addSeconds(begin, window.s);
  return window.s === Infinity ? Infinity : addSeconds(begin, window.afterS + window.s);
}
