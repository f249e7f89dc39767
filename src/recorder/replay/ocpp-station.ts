/**
 * Replays the central system towards one recorded station: repeats its calls and its answers to calls of the station.
 */
import { compareJson, differenceInWords } from './document-compare.ts';
import type { JsonRules } from './document-compare.ts';
import type { ReplayOptions } from './options.ts';
import { counted } from './report.ts';
import type { Findings } from './report.ts';
import { isMembers } from './recording.ts';
import type { RecordedMessage } from './recording.ts';

/** The part of an answer after the message id. */
interface RecordedAnswer {
  readonly isError: boolean;
  /** payload of a result; code, description and details of an error */
  readonly parts: readonly unknown[];
}

/** A recorded call of either side and its answer. */
interface OcppStep {
  /** number of the call within its direction, from 1 */
  readonly n: number;
  readonly by: 'station' | 'central';
  readonly message: RecordedMessage;
  readonly action: string;
  readonly payload: unknown;
  /** null: no answer was recorded */
  readonly answer: RecordedAnswer | null;
}

interface OcppScript {
  readonly id: string;
  readonly steps: readonly OcppStep[];
  readonly notes: readonly string[];
}

const typeNumbers = { call: 2, result: 3, error: 4 } as const;
/** Mask of secrets in a recording. A replayed call with it would set a wrong secret. */
const hidden = '(hidden)';

interface Frame {
  readonly message: RecordedMessage;
  readonly parts: readonly unknown[];
}

function frameOf(message: RecordedMessage): Frame | null {
  try {
    const parts: unknown = JSON.parse(message.raw.toString());
    return Array.isArray(parts) ? { message, parts } : null;
  } catch {
    return null;
  }
}

/** Answers by direction and id of their call. */
function answersOf(frames: readonly Frame[]): ReadonlyMap<string, RecordedAnswer> {
  const answers = new Map<string, RecordedAnswer>();
  for (const { message, parts } of frames) {
    const [type, id, ...rest] = parts;
    if (type !== typeNumbers.result && type !== typeNumbers.error) continue;
    answers.set(`${message.direction} ${String(id)}`, { isError: type === typeNumbers.error, parts: rest });
  }
  return answers;
}

/** @param messages of one station */
export function scriptOf(id: string, messages: readonly RecordedMessage[]): OcppScript {
  const frames = messages.flatMap((message) => (message.cut ? [] : (frameOf(message) ?? [])));
  const answers = answersOf(frames);
  const steps: OcppStep[] = [];
  const count = { station: 0, central: 0 };
  let secrets = 0;
  for (const { message, parts } of frames) {
    const [type, callId, action, payload] = parts;
    if (type !== typeNumbers.call || typeof action !== 'string' || !isMembers(payload)) continue;
    const by = message.direction === 'out' ? 'station' : 'central';
    if (by === 'central' && message.raw.includes(hidden)) {
      secrets += 1;
      continue;
    }
    count[by] += 1;
    const back = message.direction === 'out' ? 'in' : 'out';
    const answer = answers.get(`${back} ${String(callId)}`) ?? null;
    steps.push({ n: count[by], by, message, action, payload, answer });
  }
  const cut = messages.length - frames.length;
  const notes = [
    ...(cut > 0 ? [`left out: ${counted(cut, 'message')} of ${id} that were cut or are no frame`] : []),
    ...(secrets > 0
      ? [`left out: ${counted(secrets, 'call')} to ${id} whose secrets the recording does not have`]
      : []),
  ];
  return { id, steps, notes };
}

/** Calls whose number depends on the length of a session. */
const periodic: ReadonlySet<string> = new Set(['Heartbeat', 'MeterValues', 'NotifyPeriodicEventStream']);

const isPeriodic = (action: string) => periodic.has(action);

/** Members with measurements, at any depth. */
const measured = /\/(sampledValue\/|meterStart$|meterStop$|meterValue\/.*\/value$)/;

const callNumber = 2;
const resultNumber = 3;
const errorNumber = 4;

export class ReplayedStation {
  readonly id: string;
  readonly #findings: Findings;
  readonly #rules: JsonRules;
  /** remaining steps in recorded order */
  #left: OcppStep[];
  /** the last answer to each action, for additional calls */
  readonly #lastAnswers = new Map<string, RecordedAnswer>();
  /** calls to the station that are not answered yet, by id */
  readonly #openCalls = new Map<string, OcppStep>();
  #send: ((text: string) => void) | null = null;
  #calls = 0;

  constructor({ id, steps, notes }: OcppScript, options: ReplayOptions, findings: Findings) {
    this.id = id;
    this.#left = [...steps];
    this.#findings = findings;
    this.#rules = { ...options, ids: new Map(), moves: (pointer) => measured.test(pointer) };
    findings.notes.push(...notes);
  }

  /** True if no call is open and only periodic calls of the station are left. */
  get done(): boolean {
    return this.#openCalls.size === 0 && this.#left.every(({ by, action }) => by === 'station' && isPeriodic(action));
  }

  connect(send: (text: string) => void): void {
    this.#send = send;
    this.#speak();
  }

  disconnect(send: (text: string) => void): void {
    if (this.#send === send) this.#send = null;
  }

  hear(text: string): void {
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      frame = null;
    }
    if (!Array.isArray(frame)) {
      this.#findings.differ(`station ${this.id}: a message is no frame: ${text.slice(0, 100)}`);
      return;
    }
    const [type, id, ...rest] = frame as readonly unknown[];
    if (type === callNumber) this.#answer(String(id), String(rest[0]), rest[1]);
    else if (type === resultNumber || type === errorNumber)
      this.#heardAnswer(String(id), { isError: type === errorNumber, parts: rest });
    this.#speak();
  }

  /**
   * Reports overdue answers and calls of the station as missing, and sends the next call of the central system.
   * @returns false: no step is left
   */
  skip(): boolean {
    for (const [id, step] of this.#openCalls) {
      this.#findings.differ(`${this.#inWords(step)}: was answered, is not answered`);
      this.#openCalls.delete(id);
    }
    for (;;) {
      const [first] = this.#left;
      if (first === undefined) return false;
      if (first.by === 'central') break;
      this.#left.shift();
      if (!isPeriodic(first.action)) this.#findings.differ(`${this.#inWords(first)}: is missing`);
    }
    if (this.#send === null) {
      const step = this.#left.shift();
      if (step) this.#findings.differ(`${this.#inWords(step)}: the station is not connected`);
    }
    this.#speak();
    return true;
  }

  /** Sends the next call of the central system, if it is due. */
  #speak(): void {
    while (this.#send !== null && this.#openCalls.size === 0) {
      const at = this.#left.findIndex(({ by, action }) => by === 'central' || !isPeriodic(action));
      const step = this.#left[at];
      if (step?.by !== 'central') return;
      this.#left.splice(at, 1);
      this.#calls += 1;
      const id = `replay-${this.#calls}`;
      this.#openCalls.set(id, step);
      this.#findings.requests += 1;
      this.#send(this.#withIds(JSON.stringify([callNumber, id, step.action, step.payload])));
    }
  }

  /** Replaces recorded ids by those of the new build. */
  #withIds(text: string): string {
    let changed = text;
    for (const [recordedId, replayedId] of this.#rules.ids) changed = changed.replaceAll(recordedId, replayedId);
    return changed;
  }

  #answer(id: string, action: string, payload: unknown): void {
    const at = this.#left.findIndex((step) => step.by === 'station' && step.action === action);
    const step = this.#left[at];
    this.#findings.requests += 1;
    if (step === undefined) {
      if (!isPeriodic(action))
        this.#findings.differ(`station ${this.id}: a further call ${action}, which was not recorded`);
    } else {
      this.#left.splice(at, 1);
      this.#compare(step, step.payload, payload, '');
      if (step.answer) this.#lastAnswers.set(action, step.answer);
    }
    const answer = step ? step.answer : (this.#lastAnswers.get(action) ?? null);
    this.#reply(id, answer, action, step !== undefined);
  }

  #reply(id: string, answer: RecordedAnswer | null, action: string, isRecorded: boolean): void {
    // as in the recording, the call gets no answer
    if (answer === null && isRecorded) return;
    const { isError, parts } = answer ?? {
      isError: true,
      parts: ['NotImplemented', `${action} is not in the recording`, {}],
    };
    this.#send?.(this.#withIds(JSON.stringify([isError ? errorNumber : resultNumber, id, ...parts])));
  }

  #heardAnswer(id: string, replayed: RecordedAnswer): void {
    const step = this.#openCalls.get(id);
    if (step === undefined) {
      this.#findings.differ(`station ${this.id}: an answer to no call (${id})`);
      return;
    }
    this.#openCalls.delete(id);
    const { answer } = step;
    if (answer === null) this.#findings.differ(`${this.#inWords(step)}: was not answered, is answered`);
    else if (answer.isError !== replayed.isError)
      this.#findings.differ(
        `${this.#inWords(step)}: was answered with ${kindOf(answer)}, is answered with ${kindOf(replayed)}`,
      );
    else if (replayed.isError) {
      // descriptions of errors are free text
      if (answer.parts[0] !== replayed.parts[0])
        this.#findings.differ(
          `${this.#inWords(step)}: the error was ${String(answer.parts[0])}, is ${String(replayed.parts[0])}`,
        );
    } else this.#compare(step, answer.parts[0], replayed.parts[0], 'the answer: ');
  }

  #compare(step: OcppStep, recorded: unknown, replayed: unknown, what: string): void {
    const { differences, ignored } = compareJson(recorded, replayed, this.#rules);
    this.#findings.ignored += ignored;
    for (const difference of differences)
      this.#findings.differ(`${this.#inWords(step)}: ${what}${differenceInWords(difference)}`);
  }

  #inWords({ n, by, action }: OcppStep): string {
    return `station ${this.id}, call ${n} of the ${by === 'station' ? 'station' : 'central system'} (${action})`;
  }
}

const kindOf = ({ isError, parts }: RecordedAnswer) => (isError ? `the error ${String(parts[0])}` : 'a result');
