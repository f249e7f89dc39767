/** A scenario ready to run: with parameters, loops and included files resolved. */
import { csipControlStates } from '../contract/csip-reports.ts';
import { pointerStep } from '../core/errors.ts';
import type { FindingProtocol } from '../core/findings/identity.ts';
import type { Severity } from '../core/findings/rule.ts';

/** A request to the REST interface, for `ScenarioHost.perform`. */
export interface ScenarioRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
}

/** Source of a number or word that conditions and assertions compare. */
export type Signal =
  /** a point of the registers: `701.W` */
  | { readonly kind: 'point'; readonly device: number; readonly point: string }
  /** a member of the snapshot of a device: `metrics.power_kw` */
  | { readonly kind: 'snapshot'; readonly device: number; readonly member: string }
  /** a member of the answer to a GET */
  | { readonly kind: 'answer'; readonly request: ScenarioRequest; readonly pointer: string };

export type SignalValue = number | string | boolean | null;

/** Bounds of a value; all of them must hold. */
export interface Comparison {
  readonly equals?: SignalValue;
  readonly not?: SignalValue;
  readonly above?: number;
  readonly below?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly between?: readonly [number, number];
  /** allowed deviation from each of these bounds, in the unit of the signal */
  readonly tolerance?: number;
}

/** A signal and the comparison that it must meet. */
export interface ValueTest {
  readonly signal: Signal;
  /** compares the difference from the value at this mark instead of the value */
  readonly since: string | null;
  readonly comparison: Comparison;
}

export const messageProtocols = ['modbus', 'csip', 'ocpp', 'dnp3'] as const;
export type MessageProtocol = (typeof messageProtocols)[number];

/** Messages with these members; objects and lists are compared recursively. */
export interface MessageTest {
  readonly protocol: MessageProtocol;
  /** OCPP station; null: the first one */
  readonly station: string | null;
  readonly match: Readonly<Record<string, unknown>>;
}

/** A write to the registers. */
export interface WriteTest {
  readonly device: number | null;
  readonly model: number;
  /** null: any point of the model */
  readonly point: string | null;
  /** null: any outside of simulator and scenario */
  readonly source: string | null;
}

/** States of an IEEE 2030.5 event; `started`: active, and carried out by the device. */
export const csipEventStates = [...csipControlStates, 'started'] as const;

/** An IEEE 2030.5 event in a state; null: any. */
export interface CsipEventTest {
  readonly state: (typeof csipEventStates)[number];
  /** upper case */
  readonly mrid: string | null;
  readonly device: number | null;
  /** LFDI of the EndDevice, upper case */
  readonly lfdi: string | null;
  /** mRID, or address on the server */
  readonly program: string | null;
}

export type Condition =
  | { readonly kind: 'value'; readonly test: ValueTest; readonly forS: number }
  | { readonly kind: 'message'; readonly test: MessageTest }
  | { readonly kind: 'write'; readonly test: WriteTest }
  | { readonly kind: 'csip_event'; readonly test: CsipEventTest }
  | { readonly kind: 'all' | 'any'; readonly conditions: readonly Condition[] };

/** The condition for the start of a step. */
export type Trigger =
  | { readonly kind: 'now' }
  /** seconds after the start of the scenario */
  | { readonly kind: 'at'; readonly offsetS: number }
  /** seconds after the previous step */
  | { readonly kind: 'after'; readonly delayS: number }
  /** the next time of day, seconds since midnight of the clock's zone */
  | { readonly kind: 'time'; readonly ofDayS: number }
  /** next match in the time zone of the clock */
  | { readonly kind: 'cron'; readonly pattern: string }
  | {
      readonly kind: 'when';
      readonly condition: Condition;
      /** simulated seconds */
      readonly timeoutS: number;
      /** real seconds during which the simulated clock stands still; null: it runs */
      readonly realTimeoutS: number | null;
    };

/** The period in which an assertion must hold. */
export type Window =
  | { readonly kind: 'now' }
  /** must become true within these seconds */
  | { readonly kind: 'within'; readonly s: number }
  /** must hold at every tick from `afterS` on for `s` seconds; Infinity: until the end of the scenario */
  | { readonly kind: 'for'; readonly afterS: number; readonly s: number };

export type Subject =
  | { readonly kind: 'value'; readonly test: ValueTest }
  /** messages since the start of the step, or of the whole run */
  | { readonly kind: 'messages'; readonly tests: readonly MessageTest[]; readonly count: CountTest | null }
  | { readonly kind: 'no_alarm'; readonly device: number | null; readonly except: readonly string[] }
  /** `registers/changes` shows no difference from the start */
  | { readonly kind: 'nothing_left'; readonly device: number | null; readonly except: readonly string[] }
  /** every protocol presents the same values */
  | { readonly kind: 'consistent'; readonly device: number | null }
  | AnsweredSubject
  | FindingSubject;

/** Findings about peers since the start of the step, or in `always` and `finally` since the start of the run. */
export type FindingSubject =
  | {
      readonly kind: 'no_findings';
      /** the mildest one that counts */
      readonly severity: Severity;
      /** null: every protocol */
      readonly protocol: FindingProtocol | null;
      /** ids of rules that do not count */
      readonly except: readonly string[];
    }
  /** a peer breaks a rule, repetitions included */
  | { readonly kind: 'finding'; readonly rule: string; readonly atLeast: number }
  /** each of the rules has come up */
  | { readonly kind: 'exercised'; readonly rules: readonly string[] };

const findingKinds: ReadonlySet<string> = new Set([
  'no_findings',
  'finding',
  'exercised',
] satisfies FindingSubject['kind'][]);

/** True if one of the assertions is about findings. */
export const judgesPeers = (expectations: readonly Expectation[]): boolean =>
  expectations.some(({ subject }) => findingKinds.has(subject.kind));

/**
 * All commands that were answered positively have been carried out: those since the start of the step, or in `always`
 * and `finally` since the start of the run.
 */
export interface AnsweredSubject {
  readonly kind: 'answered';
  readonly device: number | null;
  /** null: every enabled protocol */
  readonly protocol: MessageProtocol | null;
  /** names of messages or commands that do not count */
  readonly except: readonly string[];
}

/** Number of messages; null in `Subject`: the tests must be met in order. */
interface CountTest {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface Expectation {
  readonly place: Place;
  /** text for the report */
  readonly name: string;
  /** names of the step and the assertion in the file; null: none */
  readonly title: string | null;
  readonly subject: Subject;
  readonly window: Window;
}

export interface Action {
  readonly place: Place;
  /** text for the report: `POST /controls/grid` */
  readonly name: string;
  readonly request: ScenarioRequest;
  /** expected status; null: any below 400 */
  readonly status: number | null;
}

export interface Step {
  readonly place: Place;
  readonly name: string;
  /** name in the file; null: none */
  readonly title: string | null;
  readonly trigger: Trigger;
  readonly actions: readonly Action[];
  readonly expectations: readonly Expectation[];
  /** name under which values are remembered; null: none */
  readonly mark: string | null;
}

/** Steps that run each time the trigger becomes true, parallel to the steps of the scenario. */
export interface Rule {
  readonly place: Place;
  readonly name: string;
  readonly trigger:
    | Extract<Trigger, { readonly kind: 'cron' | 'when' }>
    | { readonly kind: 'every'; readonly s: number };
  readonly steps: readonly Step[];
}

export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** parameters in force: those of the caller, else of the file */
  readonly parameters: Readonly<Record<string, SignalValue>>;
  readonly steps: readonly Step[];
  readonly rules: readonly Rule[];
  /** must hold from start to end */
  readonly always: readonly Expectation[];
  /** run at the end, also after a failure or a stop */
  readonly finally: readonly Step[];
  /** signals to plot in addition to those of assertions */
  readonly plots: readonly { readonly place: Place; readonly signal: Signal }[];
  /** minimum duration, simulated s; 0: until its steps and assertions are done */
  readonly durationS: number;
  /** simulated s after which the run is aborted as failed */
  readonly timeoutS: number;
  readonly onFailure: 'continue' | 'stop';
  /** octets after substitution of parameters and expansion of loops */
  readonly filledBytes: number;
}

/** A place in a file, or in the body of a request. */
export interface Place {
  /** file name as the user gave it; null: a request */
  readonly file: string | null;
  /** from 1; null: unknown */
  readonly line: number | null;
  readonly path: readonly PropertyKey[];
}

/** `steps[3].grid` */
function keyText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

/** `storm.yaml:12: steps[3].grid`; in a request the JSON pointer `/steps/3/grid`. */
export function placeText({ file, line, path }: Place): string {
  if (file === null) return path.map(pointerStep).join('');
  const where = line === null ? file : `${file}:${line}`;
  return [where, ...(path.length === 0 ? [] : [keyText(path)])].join(': ');
}

export function allSteps({ steps, rules, finally: last }: Scenario): readonly Step[] {
  return [...steps, ...rules.flatMap((rule) => rule.steps), ...last];
}

export function allExpectations(scenario: Scenario): readonly Expectation[] {
  return [...allSteps(scenario).flatMap(({ expectations }) => expectations), ...scenario.always];
}

/** The conditions of a trigger, including those of groups. */
function leavesOf(trigger: Trigger | { readonly kind: 'every' }): readonly Condition[] {
  if (trigger.kind !== 'when') return [];
  const { condition } = trigger;
  return condition.kind === 'all' || condition.kind === 'any' ? condition.conditions : [condition];
}

function allConditions(scenario: Scenario): readonly Condition[] {
  return [...allSteps(scenario), ...scenario.rules].flatMap(({ trigger }) => leavesOf(trigger));
}

/** Messages that the scenario awaits or counts. */
export function messageTests(scenario: Scenario): readonly MessageTest[] {
  const awaited = allConditions(scenario).flatMap((leaf) => (leaf.kind === 'message' ? [leaf.test] : []));
  const counted = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'messages' ? subject.tests : [],
  );
  return [...awaited, ...counted];
}

/** True if points of the registers are compared. */
export function comparesPoints(scenario: Scenario): boolean {
  return valueTests(scenario).some(({ test }) => test.signal.kind === 'point');
}

/** True if a step or rule waits for a write to the registers. */
export function waitsForWrites(scenario: Scenario): boolean {
  return allConditions(scenario).some(({ kind }) => kind === 'write');
}

/** Assertions about answered commands, whose messages must be recorded. */
export function answeredSubjects(scenario: Scenario): readonly AnsweredSubject[] {
  return allExpectations(scenario).flatMap(({ subject }) => (subject.kind === 'answered' ? [subject] : []));
}

/** Comparisons of values in assertions, steps and rules, with their places for messages. */
export function valueTests(scenario: Scenario): readonly { readonly place: Place; readonly test: ValueTest }[] {
  const ofChecks = allExpectations(scenario).flatMap(({ place, subject }) =>
    subject.kind === 'value' ? [{ place, test: subject.test }] : [],
  );
  const awaited = [...allSteps(scenario), ...scenario.rules].flatMap(({ place, trigger }) =>
    leavesOf(trigger).flatMap((leaf) => (leaf.kind === 'value' ? [{ place, test: leaf.test }] : [])),
  );
  return [...ofChecks, ...awaited];
}

/** Signals that are compared relative to a mark. */
export function markedSignals(scenario: Scenario): readonly Signal[] {
  return valueTests(scenario).flatMap(({ test }) => (test.since === null ? [] : [test.signal]));
}

/** Signals that the report plots. */
export function plottedSignals(scenario: Scenario): readonly Signal[] {
  const ofChecks = allExpectations(scenario).flatMap(({ subject }) =>
    subject.kind === 'value' ? [subject.test.signal] : [],
  );
  return [...ofChecks, ...scenario.plots.map(({ signal }) => signal)];
}
