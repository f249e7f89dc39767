/** The results of a run, with samples of signals for plots. */
import type { ActionResult, AssertionResult, StepResult, StepState, SignalSeries } from '../../contract/scenarios.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { placeText } from '../model.ts';
import type { Action, Step, SignalValue } from '../model.ts';
import { signalText } from '../file/words.ts';
import type { Check } from './checks.ts';
import { boundsOf } from './compare.ts';
import type { ScenarioAnswer } from './host.ts';
import type { SignalReader } from './signals.ts';

/** Maximum of results of rule steps, whose number is unlimited. */
const maxRuleSteps = 5000;
const maxRuleChecks = 5000;
/** Maximum of failures that are listed; more are only counted. */
const maxFailures = 1000;

function actionResult({ name, status: expectedStatus }: Action, answer: ScenarioAnswer | null): ActionResult {
  if (answer === null) return { name, status: null, isExpected: true, detail: null };
  const { status, body } = answer;
  const isExpected = expectedStatus === null ? status < 400 : status === expectedStatus;
  const { detail = null, errors = [] } = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly detail?: string;
    readonly errors?: readonly { readonly name: string; readonly detail: string }[];
  };
  // the sentence of a refusal may already contain its cause
  const causes = errors.filter((error) => detail?.includes(error.detail) !== true);
  const words = [detail, ...causes.map((error) => `${error.name}: ${error.detail}`)].filter((text) => text !== null);
  return { name, status, isExpected, detail: status < 400 ? null : words.join('; ') };
}

/** One step of a run. */
export class StepRecord {
  readonly step: Step;
  readonly isOfRule: boolean;
  state: StepState = 'waiting';
  at: SimTime | null = null;
  message: string | null = null;
  #actions: readonly ActionResult[] = [];

  constructor(step: Step, isOfRule: boolean) {
    this.step = step;
    this.isOfRule = isOfRule;
    this.#actions = step.actions.map((action) => actionResult(action, null));
  }

  /** Stores the answers of the actions. @returns message of the first unexpected answer; null: none */
  setAnswers(answers: readonly ScenarioAnswer[]): string | null {
    this.#actions = this.step.actions.map((action, n) => actionResult(action, answers[n] ?? null));
    const at = this.#actions.findIndex(({ isExpected }) => !isExpected);
    const unexpected = this.#actions[at];
    if (unexpected === undefined) return null;
    const expectedStatus = this.step.actions[at]?.status ?? null;
    const { name, status, detail } = unexpected;
    const expected = expectedStatus === null ? '' : `, not ${expectedStatus}`;
    return `${name} was answered with ${String(status)}${expected}${detail === null ? '' : `: ${detail}`}`;
  }

  /** Marks the step as given up. */
  giveUp(words: string, at: SimTime): void {
    this.state = 'failed';
    this.at = at;
    this.message = words;
  }

  result(start: SimTime): StepResult {
    const { step, state, at, message } = this;
    return {
      place: placeText(step.place),
      name: step.name,
      state,
      atS: at === null ? null : secondsBetween(start, at),
      actions: this.#actions,
      message,
    };
  }
}

/** The steps and assertions of one run in order of their start. */
export class RunRecord {
  readonly #start: SimTime;
  readonly #steps: StepRecord[] = [];
  #ofRules: StepRecord[] = [];
  #isClosed = false;
  /** assertions of the steps of the scenario and of `always` */
  readonly #checks: Check[] = [];
  #checksOfRules: Check[] = [];
  readonly #failures: string[] = [];
  #failuresNotKept = 0;
  /** number of steps of rules that were dropped */
  #stepsForgotten = 0;
  readonly #forgotten = { passed: 0, failed: 0 };

  constructor(start: SimTime) {
    this.#start = start;
  }

  step(step: Step, isOfRule: boolean): StepRecord {
    const record = new StepRecord(step, isOfRule);
    if (!isOfRule) this.#steps.push(record);
    else this.#keepOfRule(record);
    return record;
  }

  #keepOfRule(record: StepRecord): void {
    this.#ofRules.push(record);
    if (this.#ofRules.length <= maxRuleSteps) return;
    const newer = this.#ofRules.slice(maxRuleSteps / 2);
    this.#stepsForgotten += this.#ofRules.length - newer.length;
    this.#ofRules = newer;
  }

  check(checks: readonly Check[], isOfRule: boolean): void {
    (isOfRule ? this.#checksOfRules : this.#checks).push(...checks);
    if (this.#checksOfRules.length > maxRuleChecks) this.#forgetChecks();
  }

  /** Drops the older half of the assertions of rules, except those without a verdict. */
  #forgetChecks(): void {
    const half = this.#checksOfRules.length / 2;
    this.#checksOfRules = this.#checksOfRules.filter(({ verdict }, n) => {
      if (n >= half || verdict === 'pending') return true;
      this.#forgotten[verdict] += 1;
      return false;
    });
  }

  fail(words: string): void {
    if (this.#failures.length < maxFailures) this.#failures.push(words);
    else this.#failuresNotKept += 1;
  }

  /** One sentence per failure. */
  get failures(): readonly string[] {
    const more = this.#failuresNotKept;
    return more === 0 ? this.#failures : [...this.#failures, `${more} more failures, which are not listed`];
  }

  get #allChecks(): readonly Check[] {
    return [...this.#checks, ...this.#checksOfRules];
  }

  #count(outcome: 'passed' | 'failed'): number {
    return this.#allChecks.filter(({ verdict }) => verdict === outcome).length + this.#forgotten[outcome];
  }

  /** Ends the run: pending steps will not run. */
  close(): void {
    this.#isClosed = true;
    for (const record of [...this.#steps, ...this.#ofRules]) {
      if (record.state !== 'waiting' && record.state !== 'running') continue;
      record.state = 'skipped';
      record.message ??= 'the scenario ended before';
    }
  }

  get stepsDone(): number {
    return this.#steps.filter(({ state }) => state !== 'waiting' && state !== 'running').length;
  }

  get steps(): readonly StepResult[] {
    const all = [...this.#steps, ...this.#ofRules];
    return all.map((record) => record.result(this.#start));
  }

  get counts() {
    return {
      stepsDone: this.stepsDone,
      stepsForgotten: this.#stepsForgotten,
      assertionsPassed: this.#count('passed'),
      assertionsFailed: this.#count('failed'),
      assertionsForgotten: this.#forgotten.passed + this.#forgotten.failed,
      assertionsInAll: this.#allChecks.length + this.#forgotten.passed + this.#forgotten.failed,
    };
  }

  get assertions(): readonly AssertionResult[] {
    return this.#allChecks.map(({ expectation, verdict, message, begin, decidedAt }) => ({
      place: placeText(expectation.place),
      name: expectation.name,
      state: verdict === 'pending' && this.#isClosed ? 'dropped' : verdict,
      message,
      signal: expectation.subject.kind === 'value' ? signalText(expectation.subject.test.signal) : null,
      bounds: expectation.subject.kind === 'value' ? boundsOf(expectation.subject.test) : null,
      beganS: secondsBetween(this.#start, begin),
      decidedS: decidedAt === null ? null : secondsBetween(this.#start, decidedAt),
    }));
  }
}

/** Maximum of samples of one signal; beyond it every second sample is dropped. */
const maxSamples = 2048;

class Series {
  readonly #reader: SignalReader;
  #samples: (readonly [number, number])[] = [];
  /** ticks per sample */
  #stride = 1;
  #ticks = 0;

  constructor(reader: SignalReader) {
    this.#reader = reader;
  }

  sample(s: number): void {
    this.#ticks += 1;
    if (this.#ticks % this.#stride !== 0) return;
    const value = this.#reader.read();
    if (!(value instanceof Promise)) this.#add(s, value);
  }

  async sampleAnswer(s: number): Promise<void> {
    this.#add(s, await this.#reader.read());
  }

  #add(s: number, value: SignalValue): void {
    if (typeof value !== 'number') return;
    this.#samples.push([s, value]);
    if (this.#samples.length < maxSamples) return;
    this.#samples = this.#samples.filter((_, n) => n % 2 === 1);
    this.#stride *= 2;
  }

  get result(): SignalSeries {
    return { signal: signalText(this.#reader.signal), unit: this.#reader.unit, samples: this.#samples };
  }
}

/** Ticks per sample of a signal that needs a request. */
const requestStride = 20;

/** The plotted signals of one run. */
export class SeriesBook {
  /** signals that are read without a request */
  readonly #series: readonly Series[];
  /** signals that are read by a request */
  readonly #ofAnswers: readonly Series[];
  #ticks = 0;
  #isDue = false;
  readonly #begin: SimTime;

  constructor(readers: readonly SignalReader[], begin: SimTime) {
    const unique = [...new Set(readers)];
    const isAnswer = ({ signal }: SignalReader) => signal.kind === 'answer';
    this.#series = unique.filter((reader) => !isAnswer(reader)).map((reader) => new Series(reader));
    this.#ofAnswers = unique.filter(isAnswer).map((reader) => new Series(reader));
    this.#begin = begin;
  }

  sample(instant: SimTime): void {
    const s = secondsBetween(this.#begin, instant);
    for (const series of this.#series) series.sample(s);
    this.#isDue ||= this.#ticks % requestStride === 0;
    this.#ticks += 1;
  }

  /** Samples signals that need a request, every `requestStride` ticks. */
  async sampleAnswers(instant: SimTime): Promise<void> {
    if (!this.#isDue) return;
    this.#isDue = false;
    const s = secondsBetween(this.#begin, instant);
    for (const series of this.#ofAnswers) await series.sampleAnswer(s);
  }

  /** Series with at least one number. */
  get results(): readonly SignalSeries[] {
    return [...this.#series, ...this.#ofAnswers]
      .map(({ result }) => result)
      .filter(({ samples }) => samples.length > 0);
  }
}
