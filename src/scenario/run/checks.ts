/** Assertions under observation. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Expectation, Window } from '../model.ts';
import { comparisonText, signalText, sinceText, subjectText, valueText, windowText } from '../file/words.ts';
import type { RunSources, SubjectObserver, Observation, Since } from './observation.ts';
import { observerOf } from './observers.ts';

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
  readonly #observer: SubjectObserver;
  readonly #from: SimTime;
  readonly #until: number;
  #last: Observation | null = null;

  constructor(expectation: Expectation, sources: RunSources, begin: SimTime, since: Since) {
    this.expectation = expectation;
    this.begin = begin;
    const { window } = expectation;
    this.#observer = observerOf(expectation.subject, sources, begin, since);
    this.#from = window.kind === 'for' ? addSeconds(begin, window.afterS) : begin;
    this.#until = endOf(window, begin);
  }

  /** The next instant at which the verdict may be reached without an event. */
  get due(): number {
    return this.verdict === 'pending' && !this.isDropped ? this.#until : Infinity;
  }

  /** True if the assertion is decided when its step is done, before other steps at the same instant. */
  get isImmediate(): boolean {
    return this.expectation.window.kind === 'now' && !this.#waitsForMessages;
  }

  /** Observes the subject at the present instant, and decides if possible. */
  observe(instant: SimTime): void | Promise<void> {
    if (this.verdict !== 'pending' || this.isDropped || instant < this.#from) return;
    const observation = this.#observer.observe(instant);
    if (observation instanceof Promise) return observation.then((result) => this.#judge(result, instant));
    this.#judge(observation, instant);
  }

  #judge(observation: Observation, instant: SimTime): void {
    this.#last = observation;
    const { kind } = this.expectation.window;
    const isOver = instant >= this.#until;
    if (kind === 'for') {
      if (!observation.holds && !this.#waitsForMessages) this.#decide('failed', instant);
      else if (isOver) this.#decide(observation.holds ? 'passed' : 'failed', instant);
    } else if (observation.holds && !(this.#isBounded && !isOver)) this.#decide('passed', instant);
    else if (isOver || kind === 'now') this.#decide('failed', instant);
  }

  /** Messages arrive one by one: their number is judged at the end of a window. */
  get #waitsForMessages(): boolean {
    return this.expectation.subject.kind === 'messages';
  }

  /** True if further messages can break the assertion. */
  get #isBounded(): boolean {
    const { subject } = this.expectation;
    return subject.kind === 'messages' && subject.count !== null && subject.count.atMost !== Infinity;
  }

  /**
   * Decides at the end of the scenario: if its window is open to the end, an assertion that holds passes; if the window
   * is cut short, it gets no verdict; all others fail.
   */
  close(instant: SimTime): void {
    if (this.verdict !== 'pending') return;
    const { window } = this.expectation;
    if (window.kind !== 'for') this.#decide('failed', instant);
    else if (window.s === Infinity) this.#decide(this.#last?.holds === true ? 'passed' : 'failed', instant);
    else if (this.#last?.holds === false) this.#decide('failed', instant);
    else this.#endUndecided(instant);
  }

  /** Ends without a verdict, and says that the window was cut short. */
  #endUndecided(instant: SimTime): void {
    this.message = `the scenario ended ${this.#sinceBegin(instant)}, before the window was over`;
    this.#observer.end();
    this.isDropped = true;
  }

  /** Ends without a verdict and without a message: the scenario was stopped. */
  cancel(): void {
    this.#observer.end();
  }

  #decide(verdict: 'passed' | 'failed', instant: SimTime): void {
    this.verdict = verdict;
    this.decidedAt = instant;
    this.message = this.#words(instant);
    this.#observer.end();
  }

  #sinceBegin(instant: SimTime): string {
    const { window } = this.expectation;
    const isWhole = window.kind === 'for' && window.s === Infinity;
    return `${valueText(secondsBetween(this.begin, instant))} s after the ${isWhole ? 'start' : 'step'}`;
  }

  #words(instant: SimTime): string {
    const observation = this.#last?.text() ?? 'the scenario ended before the first observation';
    if (this.verdict === 'passed') return observation;
    const { window, subject, title } = this.expectation;
    const requirement =
      subject.kind === 'value'
        ? `${signalText(subject.test.signal)}${sinceText(subject.test)} must be ${comparisonText(subject.test.comparison)}`
        : subjectText(subject) + windowText(window);
    const history = this.#observer.history();
    const when =
      window.kind === 'now'
        ? ''
        : window.kind === 'within'
          ? `did not come true within ${valueText(window.s)} s; `
          : `broken ${this.#sinceBegin(instant)}; `;
    const prefix = title === null ? '' : `${title}: `;
    return `${prefix}${requirement}: ${when}${observation}${history === '' ? '' : ` (${history})`}`;
  }
}

function endOf(window: Window, begin: SimTime): number {
  if (window.kind === 'now') return begin;
  if (window.kind === 'within') return addSeconds(begin, window.s);
  return window.s === Infinity ? Infinity : addSeconds(begin, window.afterS + window.s);
}
