/** Observes the conditions for which steps wait. */
import type { Source } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Condition, SignalValue, ValueTest, WriteTest } from '../model.ts';
import { testText, valueText, conditionText } from '../file/words.ts';
import { meets } from './compare.ts';
import { ObservedCsipEvent } from './csip-events.ts';
import type { JournalReader, RunEvent } from './journal.ts';
import type { Observation, Observed } from './observed.ts';
import { isMessage } from './messages.ts';
import type { Signals } from './signals.ts';

/** The present value of a test, relative to its mark. */
export function readTest(test: ValueTest, signals: Signals): SignalValue | Promise<SignalValue> {
  const { signal, since } = test;
  const value = signals.reader(signal).read();
  if (since === null) return value;
  return value instanceof Promise
    ? value.then((read) => signals.difference(signal, since, read))
    : signals.difference(signal, since, value);
}

/** Compares a value as the test demands. */
export function testMeets(test: ValueTest, value: SignalValue, signals: Signals): boolean {
  return meets(value, test.comparison, signals.reader(test.signal).symbols);
}

function then<T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

class ObservedValue implements Observed {
  due = Infinity;
  readonly position = null;
  readonly #test: ValueTest;
  readonly #forS: number;
  readonly #signals: Signals;
  #last: SignalValue = null;
  /** start of the time for which the comparison has held; null: it does not hold */
  #since: SimTime | null = null;

  constructor(test: ValueTest, forS: number, signals: Signals) {
    this.#test = test;
    this.#forS = forS;
    this.#signals = signals;
  }

  look(instant: SimTime): boolean | Promise<boolean> {
    return then(readTest(this.#test, this.#signals), (value) => this.#judge(value, instant));
  }

  #judge(value: SignalValue, instant: SimTime): boolean {
    this.#last = value;
    this.due = Infinity;
    if (!testMeets(this.#test, value, this.#signals)) {
      this.#since = null;
      return false;
    }
    this.#since ??= instant;
    const due = addSeconds(this.#since, this.#forS);
    if (instant >= due) return true;
    this.due = due;
    return false;
  }

  holds(): boolean | Promise<boolean> {
    return then(readTest(this.#test, this.#signals), (value) => testMeets(this.#test, value, this.#signals));
  }

  seen(): string {
    return `${testText(this.#test)}: ${lastSeen(this.#test, this.#last, this.#signals)}`;
  }

  end(): void {
    // nothing to release
  }
}

function lastSeen(test: ValueTest, value: SignalValue, signals: Signals): string {
  const { unit, lack } = signals.reader(test.signal);
  if (value === null && lack !== null && lack !== undefined) return lack;
  return `the last value was ${valueText(value)}${unit === null ? '' : ` ${unit}`}`;
}

/** An external event; once it has arrived the condition stays met. */
class ObservedEvent implements Observed {
  readonly due = Infinity;
  readonly #words: string;
  readonly #meets: (event: RunEvent) => boolean;
  readonly #reader: JournalReader;
  #hasCome = false;

  constructor(words: string, reader: JournalReader, meets: (event: RunEvent) => boolean) {
    this.#words = words;
    this.#reader = reader;
    this.#meets = meets;
  }

  get position(): number | null {
    return this.#hasCome ? this.#reader.position : null;
  }

  look(): boolean {
    if (!this.#hasCome && this.#reader.next(this.#meets) !== null) {
      this.#hasCome = true;
      // a group may still wait long for its other conditions
      this.#reader.end();
    }
    return this.#hasCome;
  }

  holds(): boolean {
    return false;
  }

  seen(): string {
    return this.#hasCome ? `${this.#words} came` : `${this.#words} did not come`;
  }

  end(): void {
    this.#reader.end();
  }
}

/** Sources that do not count if a condition names none: the simulator itself and the scenario. */
const internalSources: readonly Source[] = ['default', 'profile', 'reversion', 'fault', 'scenario'];

function isWrite({ device, model, point, source }: WriteTest, event: RunEvent): boolean {
  if (event.kind !== 'write' || (device !== null && event.device !== device)) return false;
  const { points, by } = event.change;
  if (source === null ? internalSources.includes(by.source) : by.source !== source) return false;
  return points.some((slot) => slot.modelId === model && (point === null || slot.path === point));
}

/** Several conditions of which all, or one, must be met; those met by events stay met. */
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

  get position(): number | null {
    const positions = this.#parts.flatMap(({ position }) => position ?? []);
    return positions.length === 0 ? null : Math.max(...positions);
  }

  take(): void {
    for (const part of this.#parts) part.take?.();
  }

  look(instant: SimTime): Promise<boolean> {
    return this.#every((part) => part.look(instant));
  }

  holds(): Promise<boolean> {
    return this.#every((part) => part.holds());
  }

  async #every(ask: (part: Observed) => boolean | Promise<boolean>): Promise<boolean> {
    const met: boolean[] = [];
    for (const part of this.#parts) met.push(await ask(part));
    return this.#all ? met.every(Boolean) : met.some(Boolean);
  }

  seen(): string {
    return this.#parts.map((part) => part.seen()).join('; ');
  }

  end(): void {
    for (const part of this.#parts) part.end();
  }
}

/** Starts observing a condition. @param from position in the journal of the first event that counts */
export function observe(condition: Condition, observation: Observation, from: number): Observed {
  const event = (meets: (event: RunEvent) => boolean) =>
    new ObservedEvent(conditionText(condition), observation.journal.reader(from), meets);
  switch (condition.kind) {
    case 'value':
      return new ObservedValue(condition.test, condition.forS, observation.signals);
    case 'message':
      return event((each) => isMessage(condition.test, each));
    case 'write':
      return event((each) => isWrite(condition.test, each));
    case 'csip_event':
      return new ObservedCsipEvent(condition.test, observation);
    case 'all':
    case 'any':
      return new ObservedGroup(
        condition.conditions.map((each) => observe(each, observation, from)),
        condition.kind === 'all',
      );
  }
}
