/** One run of a scenario: flows of steps and rules, assertions, and the clock. */
import type { RunPace, RunReport, RunState } from '../../contract/scenarios.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Expectation, Rule, Scenario, Signal, Step, Trigger } from '../model.ts';
import { answeredSubjects, markedSignals, messageTests, plottedSignals } from '../model-parts.ts';
import { placeText } from '../place.ts';
import { valueText } from '../file/words.ts';
import { Check } from './checks.ts';
import { observe } from './conditions.ts';
import type { Observation } from './conditions.ts';
import type { ScenarioAnswer, ScenarioHost } from './host.ts';
import { endless, Instants } from './instants.ts';
import { Feeds } from './messages.ts';
import { createPace } from './pace.ts';
import type { Pace } from './pace.ts';
import { RunRecord } from './record.ts';
import type { StepRecord } from './record.ts';
import { SeriesBook } from './series.ts';
import { Signals } from './signals.ts';
import { Waits } from './waits.ts';
import type { Wait } from './waits.ts';

/** Real ms between two looks at a condition for which the clock stands. */
const standingLookMs = 20;

export interface RunOptions {
  readonly pace: RunPace;
  readonly by: Origin;
}

/** How a wait has ended. */
type Ended<T> = { readonly isMet: true; readonly begun: T } | { readonly isMet: false; readonly words: string };

export class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #host: ScenarioHost;
  readonly #by: Origin;
  readonly #pace: Pace;
  readonly #giveClockBack: () => void;
  readonly #waits = new Waits();
  readonly #signals: Signals;
  readonly #feeds: Feeds;
  readonly #observation: Observation;
  readonly #start: SimTime;
  readonly #startTick: number;
  readonly #startedAtMs: number;
  readonly #record: RunRecord;
  readonly #series: SeriesBook;
  readonly #marked: readonly Signal[];
  readonly #instants: Instants;
  /** assertions without a verdict */
  #open: Check[] = [];
  #state: RunState = 'running';
  #error: string | null = null;
  #endedAtMs: number | null = null;
  /** set as soon as no further step is to begin */
  #isEnding = false;
  /** the steps of `finally` run: neither a failure nor a stop keeps one of them from it */
  #isLast = false;
  /** flows that do not wait */
  #busy = 0;
  #onQuiet: (() => void) | null = null;
  #onWake: (() => void) | null = null;
  readonly #finished: Promise<RunReport>;

  constructor(scenario: Scenario, host: ScenarioHost, { pace, by }: RunOptions) {
    this.#scenario = scenario;
    this.#host = host;
    this.#by = by;
    const { plant, wall } = host;
    this.#giveClockBack = host.ownClock();
    this.#pace = createPace(pace, plant, { source: 'scenario', peer: scenario.name });
    this.#pace.begin();
    this.#start = plant.now;
    this.#startTick = plant.latest.tick;
    this.#startedAtMs = wall.nowMs();
    this.#record = new RunRecord(this.#start);
    this.#signals = new Signals(host);
    const wake = () => {
      this.#wake();
    };
    this.#feeds = new Feeds(host, wake);
    this.#observation = { host, signals: this.#signals, feeds: this.#feeds, wake };
    this.#instants = new Instants(plant, this.#start);
    this.#marked = markedSignals(scenario);
    this.#series = new SeriesBook(
      plottedSignals(scenario).map((signal) => this.#signals.reader(signal)),
      this.#start,
    );
    this.#finished = this.#run();
  }

  /** Its report when it is over. Never rejects. */
  get finished(): Promise<RunReport> {
    return this.#finished;
  }

  /** Ends it; the steps of `finally` still run. */
  stop(): void {
    if (this.#state !== 'running') return;
    this.#isEnding = !this.#isLast;
    this.#state = 'stopped';
    this.#wake();
  }

  get report(): RunReport {
    const { plant } = this.#host;
    const scenario = this.#scenario;
    return {
      name: scenario.name,
      description: scenario.description,
      parameters: scenario.parameters,
      pace: this.#pace.kind,
      state: this.#endedAtMs === null ? 'running' : this.#state,
      error: this.#error,
      startedBy: this.#by,
      startedAtMs: this.#startedAtMs,
      endedAtMs: this.#endedAtMs,
      simStartMs: plant.dateMs(this.#start),
      simS: secondsBetween(this.#start, this.#endSim ?? plant.now),
      expectedS: Math.max(
        scenario.durationS,
        ...scenario.steps.map(({ trigger }) => (trigger.kind === 'at' ? trigger.offsetS : 0)),
      ),
      ticks: (this.#endTick ?? plant.latest.tick) - this.#startTick,
      steps: this.#record.steps,
      stepsDone: this.#record.stepsDone,
      stepsInAll: scenario.steps.length + scenario.finally.length,
      assertions: this.#record.assertions.map((each) =>
        each.state === 'pending' && this.#endedAtMs !== null ? { ...each, state: 'dropped' as const } : each,
      ),
      failures: this.#record.failures,
      devices: plant.devices.map(({ index, name, deviceType: type }) => ({ index, name, type })),
      series: () => this.#series.results,
    };
  }

  #endSim: SimTime | null = null;
  #endTick: number | null = null;

  async #run(): Promise<RunReport> {
    const endTicks = this.#host.plant.onTick(({ sim }) => {
      this.#series.sample(sim);
    });
    try {
      await this.#carryOut();
    } catch (error) {
      // the clock was taken away, or the simulator stops
      this.#error = errorText(error);
      this.#state = error instanceof SimError && error.code === 'STOPPING' ? 'stopped' : 'error';
    }
    endTicks();
    await this.#close();
    return this.report;
  }

  async #carryOut(): Promise<void> {
    const { steps, rules, always, durationS, timeoutS } = this.#scenario;
    const problems = await this.#feeds.open(messageTests(this.#scenario));
    for (const problem of [...problems, ...(await this.#feeds.record(answeredSubjects(this.#scenario)))])
      throw new SimError('COMMAND_CONFLICT', problem);
    await this.#signals.mark('start', this.#marked);
    this.#series.sample(this.#now);
    this.#expect(always);
    let isDone = false;
    this.#flow(async () => {
      await this.#steps(steps, false);
      await this.#last(durationS);
      isDone = true;
    });
    for (const rule of rules) this.#flow(() => this.#rule(rule));
    const deadline = addSeconds(this.#start, timeoutS);
    await this.#loop(() => isDone && !this.#hasOpenWindow(), deadline);
    await this.#endFlows();
    await this.#finally();
  }

  /** Waits until the scenario has lasted so long. */
  async #last(durationS: number): Promise<void> {
    if (durationS > 0) await this.#until(addSeconds(this.#start, durationS), null, () => undefined);
  }

  async #finally(): Promise<void> {
    const { finally: last } = this.#scenario;
    if (last.length === 0) return;
    this.#isLast = true;
    this.#isEnding = false;
    let isDone = false;
    this.#flow(async () => {
      await this.#steps(last, false);
      isDone = true;
    });
    const after = addSeconds(this.#now, this.#scenario.timeoutS);
    await this.#loop(() => isDone && !this.#hasOpenWindow(), after);
    await this.#endFlows();
  }

  /** No further step begins; assertions that are still open get their verdict. */
  async #endFlows(): Promise<void> {
    this.#isEnding = true;
    this.#waits.clear();
    for (const check of this.#open) check.close(this.#now);
    await this.#settled();
  }

  async #close(): Promise<void> {
    const { plant, wall } = this.#host;
    this.#isEnding = true;
    this.#waits.clear();
    for (const check of this.#open) check.drop();
    this.#record.close();
    await this.#feeds.end();
    this.#endSim = plant.now;
    this.#endTick = plant.latest.tick;
    try {
      this.#pace.end();
    } catch {
      // the simulator stops
    }
    this.#giveClockBack();
    if (this.#state === 'running') this.#state = this.#record.failures.length === 0 ? 'passed' : 'failed';
    this.#endedAtMs = wall.nowMs();
  }

  /** Whether no further step is to begin; it changes while a flow waits. */
  #ends(): boolean {
    return this.#isEnding;
  }

  get #now(): SimTime {
    return this.#host.plant.now;
  }

  /** Whether an assertion waits for its verdict and not for the end. */
  #hasOpenWindow(): boolean {
    return this.#open.some(({ due }) => due !== Infinity);
  }

  // ---- time

  /** Lets time pass until `isOver`, or fails at the deadline. */
  async #loop(isOver: () => boolean, deadline: SimTime): Promise<void> {
    for (;;) {
      await this.#settled();
      if (this.#isEnding || isOver()) return;
      if (this.#now >= deadline) {
        this.#fail(`the scenario did not end within ${valueText(this.#scenario.timeoutS)} s`);
        return;
      }
      const due = Math.min(deadline, this.#waits.due, ...this.#open.map((check) => check.due));
      if (this.#waits.standsUntilMs !== null && this.#pace.kind === 'fast') await this.#stand();
      else await this.#pace.advance(due);
    }
  }

  /** Lets everything happen that can at the present instant. */
  async #settled(): Promise<void> {
    for (;;) {
      if (this.#pace.kind === 'fast') await this.#quiet();
      await this.#feeds.poll();
      await this.#look();
      if (!(await this.#waits.finishDue(this.#now, this.#host.wall.monotonicMs()))) return;
      // with the running clock actions may take longer than a tick: the flow goes on when they are done
      if (this.#pace.kind === 'real') return;
    }
  }

  /** Looks at every open assertion. */
  async #look(): Promise<void> {
    const now = this.#now;
    for (const check of this.#open) {
      const look = check.look(now);
      if (look !== undefined) await look;
    }
    if (this.#open.some(({ verdict }) => verdict !== 'pending')) this.#sort();
  }

  #sort(): void {
    for (const { verdict, expectation, message } of this.#open)
      if (verdict === 'failed') this.#fail(`${placeText(expectation.place)}: ${message}`);
    this.#open = this.#open.filter(({ verdict }) => verdict === 'pending');
  }

  #fail(words: string): void {
    this.#record.failures.push(words);
    if (this.#scenario.onFailure === 'stop' && !this.#isLast) {
      this.#isEnding = true;
      this.#wake();
    }
  }

  /** No simulated time passes for a moment. */
  #stand(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#host.later(standingLookMs, () => {
        this.#wake();
      });
      this.#onWake = () => {
        cancel();
        resolve();
      };
    });
  }

  #wake(): void {
    const onWake = this.#onWake;
    this.#onWake = null;
    onWake?.();
    this.#pace.wake();
  }

  /** Resolves when every flow waits. */
  #quiet(): Promise<void> {
    if (this.#busy === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  #rest(): void {
    this.#busy -= 1;
    if (this.#busy > 0) return;
    const onQuiet = this.#onQuiet;
    this.#onQuiet = null;
    onQuiet?.();
    this.#wake();
  }

  // ---- flows

  /** Begins a flow. A failure in it is one of the program. */
  #flow(work: () => Promise<void>): void {
    this.#busy += 1;
    work().then(
      () => {
        this.#rest();
      },
      (error: unknown) => {
        this.#error = errorText(error);
        this.#state = 'error';
        this.#isEnding = true;
        this.#rest();
      },
    );
  }

  async #steps(steps: readonly Step[], isOfRule: boolean): Promise<void> {
    let last = this.#now;
    // those of the scenario are shown before they begin
    const records = isOfRule ? null : steps.map((step) => this.#record.step(step, false));
    for (const [n, step] of steps.entries()) {
      if (this.#ends()) return;
      const record = records?.[n] ?? this.#record.step(step, true);
      const ended = await this.#triggered(step.trigger, last, () => this.#begin(record));
      last = this.#now;
      if (this.#ends() && !ended.isMet) return;
      if (ended.isMet) await this.#complete(record, ended.begun);
      else {
        record.state = 'failed';
        record.at = last;
        record.message = ended.words;
        this.#fail(`${placeText(step.place)}: ${ended.words}`);
      }
    }
  }

  async #rule({ trigger, steps }: Rule): Promise<void> {
    let last = this.#now;
    while (!this.#ends()) {
      const wait: Trigger = trigger.kind === 'every' ? { kind: 'after', delayS: trigger.s } : endless(trigger);
      const { isMet } = await this.#triggered(wait, last, () => undefined);
      if (!isMet || this.#ends()) return;
      last = this.#now;
      await this.#steps(steps, true);
      if (trigger.kind === 'when') await this.#over(trigger);
    }
  }

  /** Waits until the condition of a rule does not hold any more: it runs once each time that it comes true. */
  async #over({ condition }: Extract<Rule['trigger'], { readonly kind: 'when' }>): Promise<void> {
    if (condition.kind !== 'value') return;
    const observed = observe(condition, this.#observation);
    const isOver = {
      due: Infinity,
      look: async (now: SimTime) => !(await observed.look(now)),
      seen: () => '',
      end: () => {
        observed.end();
      },
    };
    await this.#wait({ due: Infinity, observed: isOver, deadline: Infinity, realDeadlineMs: null }, () => undefined);
  }

  /** Begins the actions of a step, all of them at the present instant. */
  #begin(record: StepRecord): Promise<readonly ScenarioAnswer[]> {
    record.state = 'running';
    record.at = this.#now;
    return Promise.all(record.step.actions.map(({ request }) => this.#host.perform(request)));
  }

  async #complete(record: StepRecord, answers: Promise<readonly ScenarioAnswer[]>): Promise<void> {
    const { step } = record;
    // before the answers: what the actions cause at once belongs to the step
    const checks = this.#expect(step.expectations, record.at ?? this.#now);
    const refusal = record.answered(await answers);
    if (step.mark !== null) await this.#signals.mark(step.mark, this.#marked);
    record.state = refusal === null ? 'done' : 'failed';
    record.message = refusal;
    if (refusal !== null) this.#fail(`${placeText(step.place)}: ${refusal}`);
    // before the next step, which may change the same thing at the same instant
    for (const check of checks) if (check.isImmediate) await check.look(this.#now);
  }

  #expect(expectations: readonly Expectation[], begin: SimTime = this.#now): readonly Check[] {
    const sinceMs = this.#isLast ? this.#startedAtMs : this.#host.wall.nowMs();
    const checks = expectations.map((expectation) => new Check(expectation, this.#observation, begin, sinceMs));
    this.#record.checks.push(...checks);
    this.#open.push(...checks);
    return checks;
  }

  // ---- waits

  /** Waits for a trigger, and calls `begin` at its very instant. */
  #triggered<T>(trigger: Trigger, last: SimTime, begin: () => T): Promise<Ended<T>> {
    if (trigger.kind !== 'when') {
      const due = this.#instants.dueOf(trigger, last);
      if (due === null) return Promise.resolve({ isMet: false, words: 'the pattern has no match within five years' });
      return this.#until(due, null, begin);
    }
    const { condition, timeoutS, realTimeoutS } = trigger;
    const observed = observe(condition, this.#observation);
    const words = () => {
      const limit = realTimeoutS === null ? `${valueText(timeoutS)} s` : `${valueText(realTimeoutS)} s of real time`;
      return `waited ${limit} in vain: ${observed.seen()}`;
    };
    const wait = {
      due: Infinity,
      observed,
      deadline: addSeconds(this.#now, Math.min(timeoutS, 1e9)),
      realDeadlineMs: realTimeoutS === null ? null : this.#host.wall.monotonicMs() + realTimeoutS * 1000,
    };
    return this.#wait(wait, begin, words);
  }

  #until<T>(due: number, observed: null, begin: () => T): Promise<Ended<T>> {
    if (due <= this.#now) return Promise.resolve({ isMet: true, begun: begin() });
    return this.#wait({ due, observed, deadline: Infinity, realDeadlineMs: null }, begin);
  }

  #wait<T>(rule: Omit<Wait, 'go'>, begin: () => T, words: () => string = () => ''): Promise<Ended<T>> {
    return new Promise((resolve) => {
      const wait: Wait = {
        ...rule,
        go: (isMet) => {
          this.#busy += 1;
          resolve(isMet ? { isMet, begun: begin() } : { isMet, words: words() });
        },
      };
      this.#waits.add(wait);
      // the running clock does not stop at the instant by itself
      if (this.#pace.kind === 'real' && rule.due !== Infinity)
        this.#host.plant.at(rule.due as SimTime, () => {
          if (!this.#isEnding) this.#waits.finish(wait, true);
        });
      this.#rest();
    });
  }
}
