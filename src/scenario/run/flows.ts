/** The flows of a run: its steps in order, its rules in parallel, and their waits. */
import { errorText, SimError } from '../../core/errors.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { placeText } from '../model.ts';
import type { Condition, Expectation, Rule, Step, Trigger } from '../model.ts';
import { valueText } from '../file/words.ts';
import type { Check } from './checks.ts';
import { observe } from './conditions.ts';
import type { RunSources, ObservedCondition } from './observation.ts';
import type { ScenarioAnswer, ScenarioHost } from './host.ts';
import { endless } from './calendar.ts';
import type { Instants } from './calendar.ts';
import type { RunRecord, StepRecord } from './record.ts';
import type { Story } from './story.ts';

/** Conditions that end a wait. */
interface WaitRule {
  /** instant at which the wait ends; Infinity: only the condition ends it */
  readonly due: number;
  readonly observed: Pick<ObservedCondition, 'isMet' | 'due' | 'end'> | null;
  /** instant at which the condition is given up */
  readonly deadline: number;
  /**
   * deadline of monotonic real time while the simulated clock stands still; null: the simulated clock runs, and
   * `deadline` applies
   */
  readonly realDeadlineMs: number | null;
}

/** The wait of one flow. */
interface Wait extends WaitRule {
  /** Continues the flow; called once. @param isMet false: given up, or the run has ended */
  readonly go: (isMet: boolean) => void;
}

/** The waits of one part of a run in order of their start. */
class Waits {
  readonly #waits = new Set<Wait>();

  add(wait: Wait): void {
    this.#waits.add(wait);
  }

  #finish(wait: Wait, isMet: boolean): boolean {
    if (!this.#waits.delete(wait)) return false;
    wait.observed?.end();
    wait.go(isMet);
    return true;
  }

  /** Ends the waits that are due. @returns true if a wait has ended */
  async finishDue(instant: SimTime, monotonicMs: number): Promise<boolean> {
    let anyDone = false;
    for (const wait of [...this.#waits]) {
      const isMet = wait.due <= instant || (wait.observed !== null && (await wait.observed.isMet(instant)));
      const isGivenUp = wait.realDeadlineMs === null ? wait.deadline <= instant : wait.realDeadlineMs <= monotonicMs;
      if (isMet || isGivenUp) anyDone = this.#finish(wait, isMet) || anyDone;
    }
    return anyDone;
  }

  /** The next instant at which a wait may end without an event. */
  get due(): number {
    let due = Infinity;
    for (const { due: end, deadline, observed, realDeadlineMs } of this.#waits)
      due = Math.min(due, end, observed?.due ?? Infinity, realDeadlineMs === null ? deadline : Infinity);
    return due;
  }

  /** True if the clock stands still for a wait. */
  get stands(): boolean {
    return [...this.#waits].some(({ realDeadlineMs }) => realDeadlineMs !== null);
  }

  /** Ends all waits as given up. */
  clear(): void {
    for (const wait of [...this.#waits]) this.#finish(wait, false);
  }
}

/** Maximum of starts of a rule at one instant; more would never end. */
const maxRoundsAtOnce = 1000;

/** The parts of a run that its flows use. */
interface FlowRun {
  readonly host: ScenarioHost;
  readonly sources: RunSources;
  readonly instants: Instants;
  readonly record: RunRecord;
  readonly story: Story;
  /** Starts assertions. @param from position in the journal of the first event that counts */
  expect(expectations: readonly Expectation[], begin: SimTime, from: number, isOfRule: boolean): readonly Check[];
  /** Remembers values under a name. */
  mark(name: string): Promise<void>;
  fail(words: string): void;
  /** Aborts the scenario. */
  break(error: unknown): void;
  /** Called when a flow waits or has ended. */
  rest(): void;
}

/** Position of a flow. */
interface Cursor {
  /** instant of the previous step */
  last: SimTime;
  /** position in the journal from which events count for the next step */
  events: number;
}

/** Result of a wait. */
type Ended<T> = { readonly isMet: true; readonly begun: T } | { readonly isMet: false; readonly words: string };

/** The flows of one part of a run. After its end no step begins. */
export class Flows {
  readonly waits = new Waits();
  readonly #run: FlowRun;
  /** number of flows that do not wait */
  #busy = 0;
  #isEnded = false;

  constructor(run: FlowRun) {
    this.#run = run;
  }

  get isBusy(): boolean {
    return this.#busy > 0;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
    this.waits.clear();
  }

  /** Starts a flow; an error in it aborts the run. */
  begin(work: () => Promise<void>): void {
    this.#busy += 1;
    work().then(
      () => {
        this.#rest();
      },
      (error: unknown) => {
        this.#run.break(error);
        this.#rest();
      },
    );
  }

  #rest(): void {
    this.#busy -= 1;
    this.#run.rest();
  }

  get #now(): SimTime {
    return this.#run.host.plant.now;
  }

  /** Runs steps. @param events see `Cursor` */
  async steps(steps: readonly Step[], events: number, isOfRule: boolean): Promise<void> {
    const { record: runRecord } = this.#run;
    const cursor: Cursor = { last: this.#now, events };
    // steps of the scenario are listed before they start
    const records = isOfRule ? null : steps.map((step) => runRecord.step(step, false));
    for (const [n, step] of steps.entries()) {
      if (this.#isEnded) return;
      const record = records?.[n] ?? runRecord.step(step, true);
      const ended = await this.#triggered(step.trigger, cursor, () => this.#start(record, cursor));
      if (ended.isMet) await this.#complete(record, ended.begun);
      else {
        if (this.#ended()) {
          if (ended.words !== '') record.message = ended.words;
          return;
        }
        cursor.last = this.#now;
        record.giveUp(ended.words, cursor.last);
        this.#fail(step, ended.words);
      }
    }
  }

  #fail({ place, title }: Step, words: string): void {
    this.#run.fail([placeText(place), ...(title === null ? [] : [title]), words].join(': '));
  }

  /** Reads the field anew: after an earlier check the compiler assumes false, even after an `await`. */
  #ended(): boolean {
    return this.#isEnded;
  }

  /** Waits without a step. */
  async waitUntil(until: SimTime): Promise<void> {
    await this.#until(until, () => undefined);
  }

  /** Runs the steps of a rule each time its trigger becomes true. */
  async rule({ place, trigger, steps }: Rule): Promise<void> {
    const cursor: Cursor = { last: this.#now, events: this.#run.sources.journal.end };
    let [at, rounds] = [cursor.last, 0];
    const wait: Trigger = trigger.kind === 'every' ? { kind: 'after', delayS: trigger.s } : endless(trigger);
    while (!this.#ended()) {
      const ended = await this.#triggered(wait, cursor, () => undefined);
      if (!ended.isMet || this.#ended()) return;
      [rounds, at] = at === cursor.last ? [rounds + 1, at] : [1, cursor.last];
      if (rounds > maxRoundsAtOnce)
        throw new SimError('COMMAND_CONFLICT', `${placeText(place)} began ${maxRoundsAtOnce} times at one instant`);
      // keeps events that arrive while the steps run
      const reader = this.#run.sources.journal.reader(cursor.events);
      await this.steps(steps, cursor.events, true);
      if (trigger.kind === 'when') await this.#waitUntilFalse(trigger.condition);
      reader.end();
    }
  }

  /** Waits until a condition is false again: a rule runs once for each time it becomes true. */
  async #waitUntilFalse(condition: Condition): Promise<void> {
    const observed = observe(condition, this.#run.sources, this.#run.sources.journal.end);
    if (!(await observed.holds())) {
      observed.end();
      return;
    }
    const isOver = {
      due: Infinity,
      isMet: async () => !(await observed.holds()),
      end: () => {
        observed.end();
      },
    };
    await this.#wait(
      { due: Infinity, observed: isOver, deadline: Infinity, realDeadlineMs: null },
      () => undefined,
      () => '',
    );
  }

  /** Starts the actions and assertions of a step at the present instant. */
  #start(record: StepRecord, { events }: Cursor): Begun {
    const { host } = this.#run;
    const { step } = record;
    record.state = 'running';
    record.at = this.#now;
    // a rule may begin thousands
    if (!record.isOfRule) this.#run.story.step(step.name);
    // assertions start before the actions, whose immediate effects belong to the step
    const checks = this.#run.expect(step.expectations, record.at, events, record.isOfRule);
    return { checks, answers: Promise.all(step.actions.map(({ request }) => host.perform(request))) };
  }

  async #complete(record: StepRecord, { checks, answers }: Begun): Promise<void> {
    const { step } = record;
    const refusal = record.setAnswers(await answers);
    if (step.mark !== null) await this.#run.mark(step.mark);
    record.state = refusal === null ? 'done' : 'failed';
    record.message = refusal;
    if (refusal !== null) this.#fail(step, refusal);
    // before the next step, which may change the same value at the same instant
    for (const check of checks) if (check.isImmediate) await check.observe(this.#now);
  }

  /** Waits for a trigger; then moves the cursor and calls `begin` at the same instant. */
  async #triggered<T>(trigger: Trigger, cursor: Cursor, begin: () => T): Promise<Ended<T>> {
    const { host, sources, instants } = this.#run;
    /** @param events position after the events that met the trigger */
    const started = (events = sources.journal.end) => {
      cursor.last = this.#now;
      cursor.events = events;
      return begin();
    };
    if (trigger.kind !== 'when') {
      const due = instants.dueOf(trigger, cursor.last);
      if (due === null) return { isMet: false, words: 'the pattern has no match within five years' };
      return this.#until(due, () => started());
    }
    const { condition, timeoutS, realTimeoutS } = trigger;
    const observed = observe(condition, sources, cursor.events);
    const words = () => {
      if (this.#isEnded) return `the scenario ended before: ${observed.lastObservation()}`;
      const limit = realTimeoutS === null ? `${valueText(timeoutS)} s` : `${valueText(realTimeoutS)} s of real time`;
      return `waited ${limit} in vain: ${observed.lastObservation()}`;
    };
    const rule = {
      due: Infinity,
      observed,
      deadline: addSeconds(this.#now, Math.min(timeoutS, 1e9)),
      realDeadlineMs: realTimeoutS === null ? null : host.wall.monotonicMs() + realTimeoutS * 1000,
    };
    const met = () => {
      observed.take?.();
      return started(observed.position ?? undefined);
    };
    return this.#wait(rule, met, words);
  }

  #until<T>(due: number, begin: () => T): Promise<Ended<T>> {
    if (due <= this.#now) return Promise.resolve({ isMet: true, begun: begin() });
    return this.#wait({ due, observed: null, deadline: Infinity, realDeadlineMs: null }, begin, () => '');
  }

  #wait<T>(rule: WaitRule, begin: () => T, words: () => string): Promise<Ended<T>> {
    if (this.#isEnded) {
      rule.observed?.end();
      return Promise.resolve({ isMet: false, words: '' });
    }
    return new Promise((resolve, reject) => {
      this.waits.add({
        ...rule,
        go: (isMet) => {
          this.#busy += 1;
          try {
            resolve(isMet ? { isMet, begun: begin() } : { isMet, words: words() });
          } catch (error) {
            reject(error instanceof Error ? error : new Error(errorText(error)));
          }
        },
      });
      this.#rest();
    });
  }
}

/** A step that has started. */
interface Begun {
  readonly checks: readonly Check[];
  readonly answers: Promise<readonly ScenarioAnswer[]>;
}
