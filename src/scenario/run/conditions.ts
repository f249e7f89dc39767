/** Observes the conditions for which steps and rules wait. */
import type { CsipEvent } from '../../contract/csip-reports.ts';
import type { Source } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Condition, SignalValue, ValueTest, WriteTest, CsipEventTest } from '../model.ts';
import { testText, valueText, conditionText, csipEventText } from '../file/words.ts';
import { meets } from './compare.ts';
import type { JournalReader, RunEvent } from './journal.ts';
import type { RunSources, ObservedCondition } from './observation.ts';
import { isMessage } from './messages.ts';
import type { Signals } from './signals.ts';
import type { ScenarioHost } from './host.ts';

/** Persistent states: an event that is already in such a state meets a condition. */
const lasting: readonly CsipEventTest['state'][] = ['scheduled', 'active', 'started'];

/** Events that met a condition of a run, by condition. Each meets it once, so that a rule runs once for each event. */
const usedEventsOf = new WeakMap<ScenarioHost, Map<CsipEventTest, Set<string>>>();

function usedEvents(test: CsipEventTest, host: ScenarioHost): Set<string> {
  const ofHost = usedEventsOf.get(host) ?? new Map<CsipEventTest, Set<string>>();
  usedEventsOf.set(host, ofHost);
  const used = ofHost.get(test) ?? new Set<string>();
  ofHost.set(test, used);
  return used;
}

const pathOf = (href: string): string => (URL.canParse(href) ? new URL(href).pathname : href);

/** True if an event matches a test, apart from its state. */
function concerns({ mrid, device, lfdi, program }: CsipEventTest, event: CsipEvent): boolean {
  return (
    (mrid === null || event.mrid === mrid) &&
    (device === null || event.deviceIndices.includes(device)) &&
    (lfdi === null || event.endDeviceLfdi === lfdi) &&
    (program === null ||
      event.programMrid?.toUpperCase() === program.toUpperCase() ||
      [event.programHref, pathOf(event.programHref)].includes(program))
  );
}

const isIn = (state: CsipEventTest['state'], event: CsipEvent): boolean =>
  state === 'started' ? event.state === 'active' && event.started : event.state === state;

const keyOf = ({ endDeviceLfdi, mrid }: CsipEvent): string => `${endDeviceLfdi} ${mrid}`;

/** A condition that stays met after the first matching event. */
class ObservedCsipEvent implements ObservedCondition {
  readonly position = null;
  readonly #test: CsipEventTest;
  readonly #host: ScenarioHost;
  readonly #used: Set<string>;
  readonly #end: () => void;
  #met: string | null = null;

  constructor(test: CsipEventTest, { host, wake }: RunSources) {
    this.#test = test;
    this.#host = host;
    this.#used = usedEvents(test, host);
    // an event that the test names by its mRID may have reached its final state earlier
    if (lasting.includes(test.state) || test.mrid !== null) for (const event of host.csip.events()) this.#take(event);
    this.#end = host.csip.onEvent((event) => {
      this.#take(event);
      if (this.#met !== null) wake();
    });
  }

  #take(event: CsipEvent): void {
    if (this.#met !== null || !isIn(this.#test.state, event) || !concerns(this.#test, event)) return;
    if (!this.#used.has(keyOf(event))) this.#met = keyOf(event);
  }

  isMet(): boolean {
    return this.#met !== null;
  }

  holds(): boolean {
    return false;
  }

  /** The next start or end of an event on the simulated clock, at which a tick must end. */
  get due(): number {
    if (this.#met !== null) return Infinity;
    const { csip, plant } = this.#host;
    const dues = csip.events().flatMap((event) => (concerns(this.#test, event) ? event.nextAt : []));
    return Math.min(Infinity, ...dues.filter((due) => due > plant.now));
  }

  lastObservation(): string {
    const words = csipEventText(this.#test);
    if (this.#met !== null) return `${words} came`;
    const states = this.#host.csip.events().map(({ mrid, state }) => `${mrid} is ${state}`);
    const list = states.length === 0 ? 'no event is known' : `known: ${states.slice(0, 5).join(', ')}`;
    return `${words} did not come; ${list}`;
  }

  take(): void {
    if (this.#met !== null) this.#used.add(this.#met);
  }

  end(): void {
    this.#end();
  }
}

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

class ObservedValue implements ObservedCondition {
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

  isMet(instant: SimTime): boolean | Promise<boolean> {
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

  lastObservation(): string {
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

/** A condition that stays met once a message or write has arrived. */
class ObservedEvent implements ObservedCondition {
  readonly due = Infinity;
  readonly #words: string;
  readonly #meets: (event: RunEvent) => boolean;
  readonly #reader: JournalReader;
  #hasArrived = false;

  constructor(words: string, reader: JournalReader, meets: (event: RunEvent) => boolean) {
    this.#words = words;
    this.#reader = reader;
    this.#meets = meets;
  }

  get position(): number | null {
    return this.#hasArrived ? this.#reader.position : null;
  }

  isMet(): boolean {
    if (!this.#hasArrived && this.#reader.next(this.#meets) !== null) {
      this.#hasArrived = true;
      // a group may still wait long for its other conditions
      this.#reader.end();
    }
    return this.#hasArrived;
  }

  holds(): boolean {
    return false;
  }

  lastObservation(): string {
    return this.#hasArrived ? `${this.#words} came` : `${this.#words} did not come`;
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

/** Several conditions of which all, or one, must be met; conditions met by events stay met. */
class ObservedGroup implements ObservedCondition {
  readonly #parts: readonly ObservedCondition[];
  readonly #all: boolean;

  constructor(parts: readonly ObservedCondition[], all: boolean) {
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

  isMet(instant: SimTime): Promise<boolean> {
    return this.#combined((part) => part.isMet(instant));
  }

  holds(): Promise<boolean> {
    return this.#combined((part) => part.holds());
  }

  async #combined(read: (part: ObservedCondition) => boolean | Promise<boolean>): Promise<boolean> {
    const results: boolean[] = [];
    for (const part of this.#parts) results.push(await read(part));
    return this.#all ? results.every(Boolean) : results.some(Boolean);
  }

  lastObservation(): string {
    return this.#parts.map((part) => part.lastObservation()).join('; ');
  }

  end(): void {
    for (const part of this.#parts) part.end();
  }
}

/** Starts observing a condition. @param from position in the journal of the first event that counts */
export function observe(condition: Condition, sources: RunSources, from: number): ObservedCondition {
  const event = (meets: (event: RunEvent) => boolean) =>
    new ObservedEvent(conditionText(condition), sources.journal.reader(from), meets);
  switch (condition.kind) {
    case 'value':
      return new ObservedValue(condition.test, condition.forS, sources.signals);
    case 'message':
      return event((arrival) => isMessage(condition.test, arrival));
    case 'write':
      return event((arrival) => isWrite(condition.test, arrival));
    case 'csip_event':
      return new ObservedCsipEvent(condition.test, sources);
    case 'all':
    case 'any':
      return new ObservedGroup(
        condition.conditions.map((part) => observe(part, sources, from)),
        condition.kind === 'all',
      );
  }
}
