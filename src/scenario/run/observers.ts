/** Observes the subjects of assertions. */
import type { Device } from '../../contract/device.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { MessageTest, SignalValue, Subject, ValueTest, AnsweredSubject } from '../model.ts';
import { messageText, signalText, valueText } from '../file/words.ts';
import { devicesOf, isGone, withoutDevice } from './observation.ts';
import type { SubjectObserver, Observation, Since, RunSources } from './observation.ts';
import { readTest, testMeets } from './conditions.ts';
import { findingObserver } from './findings.ts';
import type { RunEvent } from './journal.ts';
import { isMessage } from './messages.ts';
import type { Signals } from './signals.ts';

/** Part of the answer of `GET answers`. */
interface Answers {
  /** total, including those not listed */
  readonly count: number;
  readonly answers: readonly {
    readonly command: string;
    readonly told: { readonly name: string };
    readonly explanation: string | null;
  }[];
}

/** Maximum of commands that are not done, and of refusals, in the text of a failure. */
const maxNamed = 5;

/** @param sinceMs wall time of the first command that counts */
function answeredObserver(
  { device, protocol, except }: AnsweredSubject,
  { host }: RunSources,
  sinceMs: number,
): SubjectObserver {
  const since = new Date(sinceMs).toISOString();
  return {
    async observe() {
      const devices = devicesOf(host, device);
      if (devices === null) return withoutDevice(device);
      const broken: string[] = [];
      let count = 0;
      for (const { index } of devices) {
        const query = { device: index, since, done: false, ...(protocol !== null && { protocol }) };
        const { status, body } = await host.perform({ method: 'GET', path: '/answers', query });
        if (status >= 400 && isGone(host, index, device)) continue;
        if (status >= 400) {
          broken.push((body as { readonly detail: string }).detail);
          continue;
        }
        const { answers, count: all } = body as Answers;
        count += all;
        for (const { told, command, explanation } of answers)
          if (!except.includes(told.name) && !except.includes(command)) broken.push(explanation ?? 'It is not done.');
      }
      return { holds: broken.length === 0, text: () => answersText(broken, count) };
    },
    history: () => '',
    end: () => undefined,
  };
}

function answersText(broken: readonly string[], count: number): string {
  if (broken.length === 0) return count === 0 ? 'no command was answered positively' : 'all of it is done';
  const more = broken.length > maxNamed ? ` There are ${broken.length - maxNamed} more.` : '';
  return broken.slice(0, maxNamed).join(' ') + more;
}

/** Minimum and maximum with their instants. */
class Extremes {
  #low: readonly [number, SimTime] | null = null;
  #high: readonly [number, SimTime] | null = null;

  add(value: SignalValue, instant: SimTime): void {
    if (typeof value !== 'number') return;
    if (this.#low === null || value < this.#low[0]) this.#low = [value, instant];
    if (this.#high === null || value > this.#high[0]) this.#high = [value, instant];
  }

  words(begin: SimTime): string {
    if (this.#low === null || this.#high === null || this.#low[0] === this.#high[0]) return '';
    const at = ([value, t]: readonly [number, SimTime]) =>
      `${valueText(value)} after ${valueText(secondsBetween(begin, t))} s`;
    return `lowest ${at(this.#low)}, highest ${at(this.#high)}`;
  }
}

function lackText({ signal, since }: ValueTest, signals: Signals): string {
  const { lack } = signals.reader(signal);
  if (since !== null && !signals.hasMark(since)) return `no step with the mark ${since} has been done so far`;
  return lack ?? `${signalText(signal)} has no value`;
}

function observedText({ since }: ValueTest, value: SignalValue, unit: string | null): string {
  const amount = `${valueText(value)}${unit === null ? '' : ` ${unit}`}`;
  return since === null ? `it was ${amount}` : `the difference was ${amount}`;
}

function valueObserver(test: ValueTest, { signals }: RunSources, begin: SimTime): SubjectObserver {
  const extremes = new Extremes();
  const reader = signals.reader(test.signal);
  const observation = (value: SignalValue, instant: SimTime): Observation => {
    extremes.add(value, instant);
    const text = () => (value === null ? lackText(test, signals) : observedText(test, value, reader.unit));
    return { holds: testMeets(test, value, signals), text };
  };
  return {
    observe(instant) {
      const value = readTest(test, signals);
      return value instanceof Promise ? value.then((read) => observation(read, instant)) : observation(value, instant);
    },
    history: () => extremes.words(begin),
    end: () => undefined,
  };
}

/** Counts messages, or checks their order. @param from position in the journal of the first one that counts */
function messageObserver(
  tests: readonly MessageTest[],
  count: { readonly atLeast: number; readonly atMost: number } | null,
  { journal }: RunSources,
  from: number,
): SubjectObserver {
  let number = 0;
  const reader = journal.reader(from);
  /** True for the next message of a sequence, or for any message to count. */
  const meets = (event: RunEvent) => {
    const next = count === null ? tests.slice(number, number + 1) : tests;
    return next.some((test) => isMessage(test, event));
  };
  return {
    observe() {
      while (reader.next(meets)) number += 1;
      if (count !== null)
        return { holds: number >= count.atLeast && number <= count.atMost, text: () => `there were ${number}` };
      const missing = tests[number];
      return {
        holds: missing === undefined,
        text: () => (missing === undefined ? 'all came' : `missing: ${messageText(missing)}`),
      };
    },
    history: () => '',
    end() {
      reader.end();
    },
  };
}

type Scope = Extract<Subject, { readonly kind: 'no_alarm' | 'nothing_left' }>;

function alarmsWithout(except: readonly string[], alarms: Device['alarms']): Observation {
  const words = alarms
    .filter(({ code }) => !except.includes(code))
    .map(({ deviceIndex, code, message }) => `device ${deviceIndex}: ${code}, ${message}`);
  return {
    holds: words.length === 0,
    text: () => (words.length === 0 ? 'there was none' : words.slice(0, 5).join('; ')),
  };
}

function alarmObserver({ device, except }: Scope, { host }: RunSources): SubjectObserver {
  return {
    observe() {
      const devices = devicesOf(host, device);
      if (devices === null) return withoutDevice(device);
      const alarms = devices.map((each) => each.alarms);
      if (alarms.some((each) => each instanceof Promise))
        return Promise.all(alarms.map((each) => Promise.resolve(each))).then((read) =>
          alarmsWithout(except, read.flat()),
        );
      return alarmsWithout(except, (alarms as readonly Device['alarms'][]).flat());
    },
    history: () => '',
    end: () => undefined,
  };
}

interface Changes {
  readonly changes: readonly {
    readonly point: string;
    readonly start_value: unknown;
    readonly value: unknown;
    /** symbol at the start, of an enumeration only */
    readonly start_symbol?: string | null;
    readonly symbol?: string | null;
    readonly changed_by: { readonly source: string } | null;
  }[];
}

function leftObserver({ device, except }: Scope, { host }: RunSources): SubjectObserver {
  return {
    async observe() {
      const differences: string[] = [];
      const devices = devicesOf(host, device);
      if (devices === null) return withoutDevice(device);
      for (const { index } of devices) {
        const { status, body } = await host.perform({
          method: 'GET',
          path: '/registers/changes',
          query: { device: index },
        });
        if (status >= 400 && isGone(host, index, device)) continue;
        if (status >= 400) differences.push(`device ${index}: ${(body as { readonly detail: string }).detail}`);
        const list = status < 400 ? (body as Changes).changes : [];
        for (const { point, changed_by: by, ...change } of list) {
          if (except.includes(point)) continue;
          const present = change.symbol ?? valueText(change.value);
          const start = change.start_symbol ?? valueText(change.start_value);
          differences.push(
            `device ${index}: ${point} is ${present} instead of ${start}${by === null ? '' : `, set by ${by.source}`}`,
          );
        }
      }
      return {
        holds: differences.length === 0,
        text: () => (differences.length === 0 ? 'there was none' : differences.slice(0, 10).join('; ')),
      };
    },
    history: () => '',
    end: () => undefined,
  };
}

/** Part of the answer of `GET consistency`. */
interface Consistency {
  readonly consistent: boolean;
  readonly quantities: readonly {
    readonly presentations: readonly { readonly cause: string; readonly explanation: string | null }[];
  }[];
}

function consistencyObserver(device: number | null, { host }: RunSources): SubjectObserver {
  return {
    async observe() {
      const devices = devicesOf(host, device);
      if (devices === null) return withoutDevice(device);
      const words: string[] = [];
      for (const { index } of devices) {
        const { status, body } = await host.perform({ method: 'GET', path: '/consistency', query: { device: index } });
        if (status >= 400 && isGone(host, index, device)) continue;
        if (status >= 400) words.push((body as { readonly detail: string }).detail);
        else if (!(body as Consistency).consistent) words.push(...disagreements(body as Consistency, index));
      }
      return {
        holds: words.length === 0,
        text: () => (words.length === 0 ? 'they agree' : words.slice(0, 5).join(' ')),
      };
    },
    history: () => '',
    end: () => undefined,
  };
}

/** Differences that are unexplained or come from a fault. */
function disagreements({ quantities }: Consistency, index: number): readonly string[] {
  const presentations = quantities.flatMap((quantity) => quantity.presentations);
  const wrong = presentations.filter(({ cause }) => cause === 'fault' || cause === 'unexplained');
  return wrong.map(({ explanation }) => `Device ${index}: ${explanation ?? 'differs.'}`);
}

/** @param begin begin of the assertion */
export function observerOf(subject: Subject, sources: RunSources, begin: SimTime, since: Since): SubjectObserver {
  switch (subject.kind) {
    case 'value':
      return valueObserver(subject.test, sources, begin);
    case 'messages':
      return messageObserver(subject.tests, subject.count, sources, since.events);
    case 'no_alarm':
      return alarmObserver(subject, sources);
    case 'nothing_left':
      return leftObserver(subject, sources);
    case 'consistent':
      return consistencyObserver(subject.device, sources);
    case 'answered':
      return answeredObserver(subject, sources, since.wallMs);
    case 'no_findings':
    case 'finding':
    case 'exercised':
      return findingObserver(subject, sources, since.findings);
  }
}
