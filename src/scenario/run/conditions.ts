/** Conditions that steps wait for. */
import type { Source } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Change } from '../../sunspec/map/bank.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { Condition, SignalValue, ValueTest, WriteTest } from '../model.ts';
import { testText, valueText, conditionText } from '../file/words.ts';
import { meets } from './compare.ts';
import { ObservedCsipEvent } from './csip-events.ts';
import type { ScenarioHost } from './host.ts';
import type { Feeds } from './messages.ts';
import type { Signals } from './signals.ts';

/** A condition under observation. */
export interface Observed {
  /** Looks again. @returns whether it is met now */
  look(now: SimTime): boolean | Promise<boolean>;
  /** instant at which it may come true although nothing changes; Infinity: none */
  readonly due: number;
  /** What was seen, for the message of a step that waited in vain. */
  seen(): string;
  end(): void;
}

/** What conditions are observed with. */
export interface Observation {
  readonly host: ScenarioHost;
  readonly signals: Signals;
  readonly feeds: Feeds;
  /** looks again soon: something has happened between two ticks */
  readonly wake: () => void;
}

/** The value of a test now, with the comparison. */
export function readTest(test: ValueTest, signals: Signals): SignalValue | Promise<SignalValue> {
  const { signal, since } = test;
  const value = signals.reader(signal).read();
  if (since === null) return value;
  return value instanceof Promise
    ? value.then((known) => signals.difference(signal, since, known))
    : signals.difference(signal, since, value);
}

/** Compares a value as the test asks. */
export function testMeets(test: ValueTest, value: SignalValue, signals: Signals): boolean {
  return meets(value, test.comparison, signals.reader(test.signal).symbols);
}

function then<T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

class ObservedValue implements Observed {
  due = Infinity;
  readonly #test: ValueTest;
  readonly #forS: number;
  readonly #signals: Signals;
  #last: SignalValue = null;
  /** since when the comparison holds; null: it does not */
  #since: SimTime | null = null;

  constructor(test: ValueTest, forS: number, signals: Signals) {
    this.#test = test;
    this.#forS = forS;
    this.#signals = signals;
  }

  look(now: SimTime): boolean | Promise<boolean> {
    return then(readTest(this.#test, this.#signals), (value) => this.#judge(value, now));
  }

  #judge(value: SignalValue, now: SimTime): boolean {
    this.#last = value;
    if (!testMeets(this.#test, value, this.#signals)) {
      this.#since = null;
      this.due = Infinity;
      return false;
    }
    this.#since ??= now;
    this.due = addSeconds(this.#since, this.#forS);
    return now >= this.due;
  }

  seen(): string {
    const { unit } = this.#signals.reader(this.#test.signal);
    return `${testText(this.#test)}: the last value was ${valueText(this.#last)}${unit === null ? '' : ` ${unit}`}`;
  }

  end(): void {
    // it follows nothing
  }
}

/** An event that comes from outside: once it has come, it is met. */
class ObservedEvent implements Observed {
  readonly due = Infinity;
  readonly #words: string;
  readonly #end: () => void;
  #hasCome = false;

  constructor(words: string, follow: (come: () => void) => () => void) {
    this.#words = words;
    this.#end = follow(() => {
      this.#hasCome = true;
    });
  }

  look(): boolean {
    return this.#hasCome;
  }

  seen(): string {
    return this.#hasCome ? `${this.#words} came` : `${this.#words} did not come`;
  }

  end(): void {
    this.#end();
  }
}

/** Writers that a condition without a source does not mean: the simulator itself, and the scenario. */
const own: readonly Source[] = ['default', 'profile', 'reversion', 'fault', 'scenario'];

function isWrite({ model, point, source }: WriteTest, { points, by }: Change): boolean {
  if (source === null ? own.includes(by.source) : by.source !== source) return false;
  return points.some((slot) => slot.modelId === model && (point === null || pointName(slot) === point));
}

function followWrites(test: WriteTest, { host, wake }: Observation, come: () => void): () => void {
  const devices = host.plant.devices.filter(({ index }) => test.device === null || index === test.device);
  const ends = devices.map(({ bank }) =>
    bank.onChange((change) => {
      if (!isWrite(test, change)) return;
      come();
      wake();
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}

/** Several conditions of which all, or one, must be met; what has come stays. */
class ObservedGroup implements Observed {
  readonly #parts: readonly Observed[];
  readonly #all: boolean;

  constructor(parts: readonly Observed[], all: boolean) {
    this.#parts = parts;
    this.#all = all;
  }

  get due(): number {
    return Math.min(...this.#parts.map(({ due }) => due));
  }

  async look(now: SimTime): Promise<boolean> {
    const met: boolean[] = [];
    for (const part of this.#parts) met.push(await part.look(now));
    return this.#all ? met.every(Boolean) : met.some(Boolean);
  }

  seen(): string {
    return this.#parts.map((part) => part.seen()).join('; ');
  }

  end(): void {
    for (const part of this.#parts) part.end();
  }
}

/** Begins to observe a condition. */
export function observe(condition: Condition, observation: Observation): Observed {
  switch (condition.kind) {
    case 'value':
      return new ObservedValue(condition.test, condition.forS, observation.signals);
    case 'message': {
      const { test } = condition;
      return new ObservedEvent(conditionText(condition), (come) => observation.feeds.follow(test, come));
    }
    case 'write': {
      const { test } = condition;
      return new ObservedEvent(conditionText(condition), (come) => followWrites(test, observation, come));
    }
    case 'csip_event':
      return new ObservedCsipEvent(condition.test, observation);
    case 'all':
    case 'any':
      return new ObservedGroup(
        condition.conditions.map((each) => observe(each, observation)),
        condition.kind === 'all',
      );
  }
}
