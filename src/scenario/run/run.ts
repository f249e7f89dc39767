/** One run of a scenario: flows of steps and rules, assertions, and the clock. */
import type { RunPace, RunReport, RunState } from '../../contract/scenarios.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Expectation, Scenario, Signal } from '../model.ts';
import {
  answeredSubjects,
  comparesPoints,
  judgesPeers,
  markedSignals,
  messageTests,
  plottedSignals,
  waitsForWrites,
  placeText,
} from '../model.ts';
import { valueText } from '../file/words.ts';
import { Check } from './checks.ts';
import type { FindingMarks, RunSources } from './observation.ts';
import { checksSince, markFindings, noMarks } from './findings.ts';
import type { ChecksOfPeers } from './findings.ts';
import { Flows } from './flows.ts';
import type { ScenarioHost } from './host.ts';
import { Instants } from './calendar.ts';
import { Journal } from './journal.ts';
import { Feeds } from './messages.ts';
import { createPace, maxStandMs } from './pace.ts';
import type { Pace } from './pace.ts';
import { RunRecord, SeriesBook } from './record.ts';
import { Signals } from './signals.ts';
import { Story } from './story.ts';
import { followWrites } from './writes.ts';

/** Real ms between two observations of a condition for which the clock stands still. */
const standingObserveMs = 20;
/** Real time for which `finally` waits for what peers have to do, ms. */
const maxPendingMs = 30_000;
/** Minimum time limit of the steps of `finally`, simulated s, even if that of the scenario is shorter. */
const minFinallyS = 3600;

/** A limit of simulated time. */
interface TimeLimit {
  readonly begin: SimTime;
  readonly s: number;
}

export interface RunOptions {
  readonly pace: RunPace;
  readonly by: Origin;
}

export class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #host: ScenarioHost;
  readonly #by: Origin;
  readonly #pace: Pace;
  readonly #releaseClock: () => void;
  readonly #journal = new Journal();
  readonly #signals: Signals;
  readonly #feeds: Feeds;
  readonly #sources: RunSources;
  readonly #start: SimTime;
  readonly #startTick: number;
  readonly #startedAtMs: number;
  readonly #record: RunRecord;
  readonly #series: SeriesBook;
  readonly #story: Story;
  readonly #marked: readonly Signal[];
  readonly #instants: Instants;
  /** assertions without a verdict */
  #open: Check[] = [];
  #state: RunState = 'running';
  #error: string | null = null;
  #endedAtMs: number | null = null;
  /** the flows of steps and rules, later the flow of `finally` */
  #flows: Flows;
  /** true while the steps of `finally` run, which failures do not end */
  #isLast = false;
  readonly #findingsAtStart: FindingMarks;
  /** checks of peers at the end of the run; null: it runs */
  #checks: ChecksOfPeers | null = null;
  /** number of calls to `stop` */
  #stops = 0;
  #onRest: (() => void) | null = null;
  #onWake: (() => void) | null = null;
  readonly #finished: Promise<RunReport>;

  constructor(scenario: Scenario, host: ScenarioHost, { pace, by }: RunOptions) {
    this.#scenario = scenario;
    this.#host = host;
    this.#by = by;
    const { plant, wall } = host;
    this.#releaseClock = host.reserveClock();
    this.#pace = createPace(pace, plant, host.later, { source: 'scenario', peer: scenario.name });
    this.#pace.begin();
    this.#start = plant.now;
    this.#startTick = plant.latest.tick;
    this.#startedAtMs = wall.nowMs();
    this.#findingsAtStart = markFindings(host.findings);
    this.#record = new RunRecord(this.#start);
    this.#story = new Story(host.timeline, scenario.name);
    this.#story.begins(by);
    this.#signals = new Signals(host);
    const wake = () => {
      this.#wake();
    };
    this.#feeds = new Feeds(host, this.#journal, wake);
    this.#sources = { host, signals: this.#signals, journal: this.#journal, wake };
    this.#instants = new Instants(plant, this.#start);
    this.#marked = markedSignals(scenario);
    this.#series = new SeriesBook(
      plottedSignals(scenario).map((signal) => this.#signals.reader(signal)),
      this.#start,
    );
    this.#flows = this.#newFlows();
    this.#finished = this.#run();
  }

  /** The report, once the run has ended. Never rejects. */
  get finished(): Promise<RunReport> {
    return this.#finished;
  }

  /** Ends the run; the steps of `finally` still run, unless it is called again. */
  stop(): void {
    if (this.#endedAtMs !== null) return;
    this.#stops += 1;
    if (this.#state === 'running') this.#state = 'stopped';
    if (!this.#isLast || this.#stops > 1) this.#flows.end();
    this.#wake();
  }

  /** Ends the run with an error, without the steps of `finally`: its devices or its clock are gone. */
  abort(error: unknown): void {
    if (this.#endedAtMs !== null) return;
    this.#stops += 2;
    this.#break(error);
  }

  #newFlows(): Flows {
    return new Flows({
      host: this.#host,
      sources: this.#sources,
      instants: this.#instants,
      record: this.#record,
      story: this.#story,
      expect: (...args) => this.#expect(...args),
      mark: (name) => this.#signals.mark(name, this.#marked),
      fail: (words) => {
        this.#fail(words);
      },
      break: (error) => {
        this.#break(error);
      },
      rest: () => {
        this.#rest();
      },
    });
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
      stepsInAll: scenario.steps.length + scenario.finally.length,
      ...this.#record.counts,
      failures: this.#record.failures,
      checksOfPeers: this.#checks,
      devices: plant.devices.map(({ index, name, deviceType: type }) => ({ index, name, type })),
      steps: () => this.#record.steps,
      assertions: () => this.#record.assertions,
      series: () => this.#series.results,
    };
  }

  #endSim: SimTime | null = null;
  #endTick: number | null = null;

  async #run(): Promise<RunReport> {
    const endings = [this.#host.plant.onTick(({ sim }) => this.#series.sample(sim)), this.#followWrites()];
    try {
      await this.#carryOut();
    } catch (error) {
      // another client took the clock, or the simulator is stopping
      this.#break(error);
    }
    for (const end of endings) end();
    await this.#close();
    return this.report;
  }

  /** Aborts the scenario. */
  #break(error: unknown): void {
    this.#error ??= errorText(error);
    this.#state = error instanceof SimError && error.code === 'STOPPING' ? 'stopped' : 'error';
    this.#flows.end();
    this.#wake();
  }

  /**
   * Observes conditions after each write; writes that steps wait for are added to the journal. The returned function
   * removes the listeners.
   */
  #followWrites(): () => void {
    const isJournalled = waitsForWrites(this.#scenario);
    if (!isJournalled && !comparesPoints(this.#scenario)) return () => undefined;
    return followWrites(this.#host.plant, (write) => {
      if (isJournalled) this.#journal.add(write);
      this.#wake();
    });
  }

  async #carryOut(): Promise<void> {
    try {
      await this.#steps();
    } catch (error) {
      // nothing can be carried out, or even end, in a simulator that is stopping
      if (error instanceof SimError && error.code === 'STOPPING') throw error;
      // a recording was refused, or another client took the clock
      this.#break(error);
      await this.#quiet();
      for (const check of this.#open) check.cancel();
      this.#open = [];
    }
    await this.#finally();
  }

  /** @throws SimError COMMAND_CONFLICT with every recording that is refused */
  async #startRecordings(): Promise<void> {
    const problems = [
      ...(await this.#feeds.open(messageTests(this.#scenario))),
      ...(await this.#feeds.record(answeredSubjects(this.#scenario))),
    ];
    if (problems.length > 0) throw new SimError('COMMAND_CONFLICT', [...new Set(problems)].join('; '));
  }

  async #steps(): Promise<void> {
    const { steps, rules, always, durationS, timeoutS } = this.#scenario;
    // before anything that can be refused: the steps of `finally` compare with it
    await this.#signals.mark('start', this.#marked);
    await this.#startRecordings();
    this.#series.sample(this.#now);
    const begin = this.#journal.end;
    this.#expect(always, this.#now, begin, false);
    let isDone = false;
    const flows = this.#flows;
    flows.begin(async () => {
      await flows.steps(steps, begin, false);
      if (durationS > 0) await flows.waitUntil(addSeconds(this.#start, durationS));
      isDone = true;
    });
    for (const rule of rules) flows.begin(() => flows.rule(rule));
    await this.#loop(() => isDone && !this.#hasOpenWindow(), { begin: this.#start, s: timeoutS });
    await this.#endFlows();
  }

  async #finally(): Promise<void> {
    const { finally: last, timeoutS } = this.#scenario;
    if (last.length === 0 || this.#stops > 1) return;
    this.#isLast = true;
    this.#flows = this.#newFlows();
    const flows = this.#flows;
    let isDone = false;
    if (judgesPeers(last.flatMap(({ expectations }) => expectations))) await this.#waitsOver();
    flows.begin(async () => {
      await flows.steps(last, this.#journal.end, false);
      isDone = true;
    });
    const limit = { begin: this.#now, s: Math.max(timeoutS, minFinallyS) };
    await this.#loop(() => isDone && !this.#hasOpenWindow(), limit);
    await this.#endFlows();
  }

  /** Starts no further step, and closes open assertions. */
  async #endFlows(): Promise<void> {
    this.#flows.end();
    await this.#quiet();
    await this.#read();
    await this.#observe();
    for (const check of this.#open) check.close(this.#now);
    this.#removeDecided();
  }

  async #close(): Promise<void> {
    const { plant, wall } = this.#host;
    this.#flows.end();
    for (const check of this.#open) check.cancel();
    this.#record.close();
    await this.#feeds.end();
    this.#endSim = plant.now;
    this.#checks = checksSince(this.#host.findings, this.#findingsAtStart);
    this.#endTick = plant.latest.tick;
    try {
      this.#pace.end();
    } catch {
      // the simulator is stopping
    }
    this.#releaseClock();
    if (this.#state === 'running') this.#state = this.#record.failures.length === 0 ? 'passed' : 'failed';
    this.#endedAtMs = wall.nowMs();
    this.#story.ends(this.#state, this.#error);
  }

  get #now(): SimTime {
    return this.#host.plant.now;
  }

  /** True if an assertion has an open window that ends before the run. */
  #hasOpenWindow(): boolean {
    return this.#open.some(({ due }) => due !== Infinity);
  }

  // ---- time

  /** Passes time until `isOver`, or fails at the end of the limit. */
  async #loop(isOver: () => boolean, { begin, s: limitS }: TimeLimit): Promise<void> {
    const { waits } = this.#flows;
    const deadline = addSeconds(begin, limitS);
    for (;;) {
      await this.#settled();
      if (this.#flows.isEnded || isOver()) return;
      const instant = this.#now;
      if (instant >= deadline) {
        const part = this.#isLast ? 'the steps of finally' : 'the scenario';
        this.#fail(`${part} did not end within ${valueText(limitS)} s`);
        return;
      }
      const dues = [deadline, waits.due, ...this.#open.map(({ due }) => due)];
      if (waits.stands && this.#pace.kind === 'fast') await this.#stand();
      else await this.#pace.advance(Math.min(...dues.filter((due) => due > instant)));
    }
  }

  /** Processes everything that is due at the present instant. */
  async #settled(): Promise<void> {
    do {
      await this.#quiet();
      await this.#read();
      await this.#observe();
      await this.#series.sampleAnswers(this.#now);
    } while (await this.#flows.waits.finishDue(this.#now, this.#host.wall.monotonicMs()));
  }

  /** Reads new messages; fails if some were lost. */
  async #read(): Promise<void> {
    const lost = (await this.#feeds.read()) + this.#journal.takeLost();
    if (lost > 0)
      this.#fail(
        `${lost} messages were not kept until the scenario could compare them: they were too many, or cleared`,
      );
  }

  /** Observes every open assertion. */
  async #observe(): Promise<void> {
    const instant = this.#now;
    for (const check of this.#open) {
      const observation = check.observe(instant);
      if (observation !== undefined) await observation;
    }
    if (this.#open.some(({ verdict }) => verdict !== 'pending')) this.#removeDecided();
  }

  /** Removes decided assertions from the open ones, and reports failures. */
  #removeDecided(): void {
    for (const { verdict, expectation, message } of this.#open)
      if (verdict === 'failed') this.#fail(`${placeText(expectation.place)}: ${message}`);
    this.#open = this.#open.filter(({ verdict, isDropped }) => verdict === 'pending' && !isDropped);
  }

  #fail(words: string): void {
    this.#record.fail(words);
    this.#story.failure(words);
    if (this.#scenario.onFailure === 'stop' && !this.#isLast) {
      this.#flows.end();
      this.#wake();
    }
  }

  #expect(expectations: readonly Expectation[], begin: SimTime, events: number, isOfRule: boolean): readonly Check[] {
    const since = {
      events,
      wallMs: this.#isLast ? this.#startedAtMs : this.#host.wall.nowMs(),
      findings: this.#isLast ? this.#findingsAtStart : this.#marksFor(expectations),
    };
    const checks = expectations.map((expectation) => new Check(expectation, this.#sources, begin, since));
    this.#record.check(checks, isOfRule);
    this.#open.push(...checks);
    return checks;
  }

  /** Waits in real time for what peers have to do, whose verdicts `finally` would miss. */
  async #waitsOver(): Promise<void> {
    const { findings, wall } = this.#host;
    const endMs = wall.monotonicMs() + maxPendingMs;
    while (findings.pending > 0 && this.#stops === 0 && wall.monotonicMs() < endMs) await this.#stand();
  }

  #marksFor(expectations: readonly Expectation[]): FindingMarks {
    return judgesPeers(expectations) ? markFindings(this.#host.findings) : noMarks;
  }

  /** Waits a moment of real time without passing simulated time. */
  #stand(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#host.later(standingObserveMs, () => {
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

  /** Resolves when every flow waits; at the pace `real` also after `maxStandMs` with actions under way. */
  #quiet(): Promise<void> {
    if (!this.#flows.isBusy) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#pace.kind === 'real' ? this.#host.later(maxStandMs, resolve) : () => undefined;
      this.#onRest = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Called when a flow waits or has ended. */
  #rest(): void {
    if (this.#flows.isBusy) return;
    const onRest = this.#onRest;
    this.#onRest = null;
    onRest?.();
    this.#wake();
  }
}
