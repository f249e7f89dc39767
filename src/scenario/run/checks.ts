/** Assertions under observation. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Expectation, Window } from '../model.ts';
import { comparisonText, signalText, sinceText, subjectText, valueText, windowText } from '../file/words.ts';
import type { Observation, Looker, Sight, Since } from './observed.ts';
import { lookerOf } from './lookers.ts';

export type Verdict = 'pending' | 'passed' | 'failed';

/** One assertion from its start to its verdict. */
export class Check {
  readonly expectation: Expectation;
  readonly begin: SimTime;
  verdict: Verdict = 'pending';
  /** reason in a sentence; empty while pending */
  message = '';
  decidedAt: SimTime | null = null;
  /** true if there will be no verdict */
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

  /** The next instant at which the verdict may be reached without an event. */
  get due(): number {
    return this.verdict === 'pending' && !this.isDropped ? this.#until : Infinity;
  }

  /** True if it is decided when its step is done, before other steps at the same instant. */
  get isImmediate(): boolean {
    return this.expectation.window.kind === 'now' && !this.#waitsForMessages;
  }

  /** Looks at the present instant, and decides if possible. */
  look(instant: SimTime): void | Promise<void> {
    if (this.verdict !== 'pending' || this.isDropped || instant < this.#from) return;
    const sight = this.#looker.look(instant);
    if (sight instanceof Promise) return sight.then((seen) => this.#judge(seen, instant));
    this.#judge(sight, instant);
  }

  #judge(sight: Sight, instant: SimTime): void {
    this.#last = sight;
    const { kind } = this.expectation.window;
    const isOver = instant >= this.#until;
    if (kind === 'for') {
      if (!sight.holds && !this.#waitsForMessages) this.#decide('failed', instant);
      else if (isOver) this.#decide(sight.holds ? 'passed' : 'failed', instant);
    } else if (sight.holds && !(this.#isBounded && !isOver)) this.#decide('passed', instant);
    else if (isOver || kind === 'now') this.#decide('failed', instant);
  }

  /** Messages arrive one by one: their number is judged at the end of a window. */
  get #waitsForMessages(): boolean {
    return this.expectation.subject.kind === 'messages';
  }

  /** True if more messages would break it. */
  get #isBounded(): boolean {
    const { subject } = this.expectation;
    return subject.kind === 'messages' && subject.count !== null && subject.count.atMost !== Infinity;
  }

  /** Decides at the end of the scenario: a window that is open to the end passes if it held, else the assertion fails. */
  close(instant: SimTime): void {
    if (this.verdict !== 'pending') return;
    const { window } = this.expectation;
    if (window.kind !== 'for') this.#decide('failed', instant);
    else if (window.s === Infinity) this.#decide(this.#last?.holds === true ? 'passed' : 'failed', instant);
    else if (this.#last?.holds === false) this.#decide('failed', instant);
    else this.#drop(instant);
  }

  /** Ends without a verdict, and says that the window was cut short. */
  #drop(instant: SimTime): void {
    this.message = `the scenario ended ${this.#sinceBegin(instant)}, before the window was over`;
    this.#looker.end();
    this.isDropped = true;
  }

  /** Ends without a verdict and without a word: the scenario was stopped. */
  drop(): void {
    this.#looker.end();
  }

  #decide(verdict: 'passed' | 'failed', instant: SimTime): void {
    this.verdict = verdict;
    this.decidedAt = instant;
    this.message = this.#words(instant);
    this.#looker.end();
  }

  #sinceBegin(instant: SimTime): string {
    const { window } = this.expectation;
    const isWhole = window.kind === 'for' && window.s === Infinity;
    return `${valueText(secondsBetween(this.begin, instant))} s after the ${isWhole ? 'start' : 'step'}`;
  }

  #words(instant: SimTime): string {
    const observation = this.#last?.found() ?? 'the scenario ended before it was looked at';
    if (this.verdict === 'passed') return observation;
    const { window, subject, title } = this.expectation;
    const requirement =
      subject.kind === 'value'
        ? `${signalText(subject.test.signal)}${sinceText(subject.test)} must be ${comparisonText(subject.test.comparison)}`
        : subjectText(subject) + windowText(window);
    const history = this.#looker.history();
    const when =
      window.kind === 'now'
        ? ''
        : window.kind === 'within'
          ? `did not come true within ${valueText(window.s)} s; `
          : `broken ${this.#sinceBegin(instant)}; `;
    const titled = title === null ? '' : `${title}: `;
    return `${titled}${requirement}: ${when}${observation}${history === '' ? '' : ` (${history})`}`;
  }
}

function endOf(window: Window, begin: SimTime): number {
  if (window.kind === 'now') return begin;
  if (window.kind === 'within') return addSeconds(begin, window.s);
  return window.s === Infinity ? Infinity : addSeconds(begin, window.afterS + window.s);
}
