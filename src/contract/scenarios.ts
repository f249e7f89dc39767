/** Scenarios as REST, reports and result files show them. */
import type { Origin } from '../core/origin.ts';
import { SimError } from '../core/errors.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { TimelineEntry } from '../core/timeline/entry.ts';
import type { Capture } from './captures.ts';

/** `error`: the scenario failed to run; `stopped`: on request */
export const runStates = ['running', 'passed', 'failed', 'stopped', 'error'] as const;
export type RunState = (typeof runStates)[number];

/** `fast`: as fast as the machine can, on the paused clock; `real`: at the rate of the running clock */
export const runPaces = ['fast', 'real'] as const;
export type RunPace = (typeof runPaces)[number];

export const stepStates = ['waiting', 'running', 'done', 'failed', 'skipped'] as const;
export type StepState = (typeof stepStates)[number];

export interface ActionResult {
  /** method and path, such as `POST /controls/grid` */
  readonly name: string;
  /** status of the answer; null: not received */
  readonly status: number | null;
  readonly isExpected: boolean;
  /** reason of a refusal; null: none */
  readonly detail: string | null;
}

export interface StepResult {
  /** file, line and path of the step, as text */
  readonly place: string;
  readonly name: string;
  readonly state: StepState;
  /** simulated seconds since the start of the scenario; null: not yet */
  readonly atS: number | null;
  readonly actions: readonly ActionResult[];
  /** why the step failed or was skipped */
  readonly message: string | null;
}

export const assertionStates = ['pending', 'passed', 'failed', 'dropped'] as const;
type AssertionState = (typeof assertionStates)[number];

export interface AssertionResult {
  /** file, line and path of the assertion, as text */
  readonly place: string;
  readonly name: string;
  readonly state: AssertionState;
  /** reason of the state, in a sentence */
  readonly message: string;
  /** the compared signal; null: none */
  readonly signal: string | null;
  /** values that it allows the signal; null: not numbers, or a difference since a mark */
  readonly bounds: Bounds | null;
  /** simulated seconds since the start of the scenario */
  readonly beganS: number;
  readonly decidedS: number | null;
}

/** Lowest and highest value; null: any. */
export interface Bounds {
  readonly low: number | null;
  readonly high: number | null;
}

/** Samples of one signal: seconds since the start of the scenario, and the value. */
export interface SignalSeries {
  readonly signal: string;
  readonly unit: string | null;
  readonly samples: readonly (readonly [s: number, value: number])[];
}

/** One run of a scenario, under way or over. */
export interface RunReport {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, string | number | boolean | null>>;
  readonly pace: RunPace;
  readonly state: RunState;
  /** reason of the error */
  readonly error: string | null;
  readonly startedBy: Origin;
  /** wall clock, ms since the epoch */
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** simulated date, ms since the epoch */
  readonly simStartMs: number;
  /** simulated seconds that have passed */
  readonly simS: number;
  /** fixed duration of the scenario; 0: unknown */
  readonly expectedS: number;
  readonly ticks: number;
  readonly stepsDone: number;
  /** steps of rules whose results were dropped because there were too many */
  readonly stepsForgotten: number;
  /** steps of the scenario, without the steps of rules */
  readonly stepsInAll: number;
  readonly assertionsPassed: number;
  readonly assertionsFailed: number;
  readonly assertionsInAll: number;
  /** assertions of rules whose results were dropped; the other counts include them */
  readonly assertionsForgotten: number;
  readonly failures: readonly string[];
  /** rules for the protocols of all peers, and those that came up; null: it runs */
  readonly checksOfPeers: { readonly exercised: number; readonly rules: number } | null;
  readonly devices: readonly { readonly index: number; readonly name: string; readonly type: string }[];
  steps(): readonly StepResult[];
  assertions(): readonly AssertionResult[];
  series(): readonly SignalSeries[];
}

/** A scenario that the process keeps, with its last run. */
export interface KeptScenario {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** name of the bundled scenario; null: added with its content */
  readonly bundled: string | null;
  readonly parameters: RunReport['parameters'];
  readonly addedBy: Origin;
  /** wall clock, ms since the epoch */
  readonly addedAtMs: number;
  /** settings of the scenario that a running simulator ignores */
  readonly unusedSettings: readonly string[];
  /** true: it waits for a peer or judges one */
  readonly needsPeer: boolean;
  /** present or last run; null: none, or its results were dropped for those of later runs */
  readonly run: RunReport | null;
}

/** Text of a scenario as a request had it. */
export interface ScenarioText {
  /** JSON or YAML */
  readonly content: string;
  readonly isYaml: boolean;
}

/** A run of a scenario: under way, or one of the last that have ended. */
export interface KeptRun {
  readonly id: string;
  /** id of the scenario that it is a run of; null: a run beside */
  readonly scenarioId: string | null;
  /** name of the bundled scenario; null: the scenario came with its content */
  readonly bundled: string | null;
  /** true: on a simulator of its own */
  readonly isBeside: boolean;
  /** text of a request that ran beside; null: another run, or one of a version that did not keep it */
  readonly text: ScenarioText | null;
  readonly report: RunReport;
}

/** A scenario that comes with the program. */
export interface BundledScenario {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** standard and clauses that it is after; null: none */
  readonly standard: string | null;
  /** simulated seconds that a run takes, about */
  readonly takesS: number;
  /** types and profiles of its devices, in words */
  readonly devices: string;
  /** true: it waits for a peer or judges one */
  readonly needsPeer: boolean;
}

/** A bundled scenario, compared with the running simulator. */
export interface ComparedScenario extends BundledScenario {
  /** reasons why the simulator does not fit it; empty: it fits */
  readonly differences: readonly string[];
}

/** A scenario by its content, by its YAML text, or by the name of a bundled one. */
export type ScenarioAddition = { readonly content: unknown } | { readonly yaml: string } | { readonly bundled: string };

/** A valid scenario that is not kept. */
export interface CheckedScenario {
  readonly name: string;
  readonly description: string;
  readonly parameters: RunReport['parameters'];
  /** with `finally` */
  readonly steps: number;
  readonly rules: number;
  readonly assertions: number;
  /** true: it waits for a peer or judges one */
  readonly needsPeer: boolean;
  /** reasons why the running simulator does not fit it; empty: it fits */
  readonly differences: readonly string[];
  /** settings of its `config` that a running simulator ignores */
  readonly unusedSettings: readonly string[];
}

export interface ScenarioStart {
  /** absent: fast when the clock is paused, else real */
  readonly pace?: RunPace;
  /** override the parameters in the file */
  readonly parameters?: RunReport['parameters'];
}

/** A kept scenario, a bundled one, or what a run had. */
export type TextChoice = { readonly id: string } | { readonly bundled: string } | { readonly run: string };

/** The source of a draft: a capture, or entries of the timeline with the simulated date of an instant. */
export type DraftSource =
  | { readonly capture: Capture }
  | { readonly entries: readonly TimelineEntry[]; readonly dateMs: (at: SimTime) => number };

export const reportFormats = ['json', 'junit', 'html'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** Scenarios of a running simulator: at most `maxScenarios` are kept, one is checked and one runs at a time. */
export interface ScenarioBook {
  readonly maxScenarios: number;
  list(): readonly KeptScenario[];
  /** Reads the scenarios of an earlier process: their `needsPeer` is false before. */
  readEarlier(): Promise<void>;
  readonly runs: ScenarioRuns;
  bundled(): Promise<readonly ComparedScenario[]>;
  /** @throws SimError UNKNOWN_RESOURCE */
  get(id: string): KeptScenario;
  /**
   * Checks a scenario and keeps it.
   * @throws SimError COMMAND_BAD_VALUE with issues as JSON pointers, COMMAND_CONFLICT when too many are kept, or when
   *   the scenario is written for other devices, COMMAND_QUEUE_FULL when too many wait to be checked, STOPPING
   */
  add(addition: ScenarioAddition, by: Origin): Promise<KeptScenario>;
  /** Checks a scenario without keeping it. @throws SimError as `add`, but not for another simulator */
  check(addition: ScenarioAddition): Promise<CheckedScenario>;
  /**
   * The text of a scenario, or the one that a run had: YAML as it was given, else JSON.
   * @throws SimError UNKNOWN_RESOURCE, also for a run whose text is gone, COMMAND_BAD_VALUE for an unknown name
   */
  text(of: TextChoice): Promise<string>;
  /** The text of a scenario that makes the same again. @throws SimError COMMAND_CONFLICT for a capture that records */
  draft(source: DraftSource): Promise<Generator<undefined, string>>;
  /** The JSON Schema of scenario files. @throws SimError UNKNOWN_RESOURCE before the build has made it */
  schema(): Promise<string>;
  /**
   * Runs a scenario on a simulator of its own, with the devices of its `config`, on free ports.
   * @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT when two run already, COMMAND_QUEUE_FULL, STOPPING
   */
  startBeside(addition: ScenarioAddition, start: ScenarioStart, by: Origin): Promise<KeptRun>;
  /**
   * Runs beside what an earlier run had, with its pace and parameters unless others are given.
   * @throws SimError as `startBeside`, UNKNOWN_RESOURCE also when the text of the run is gone
   */
  startAgain(run: string, start: ScenarioStart, by: Origin): Promise<KeptRun>;
  /**
   * @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE, STOPPING, COMMAND_CONFLICT when a scenario runs already or
   *   the devices no longer fit, COMMAND_QUEUE_FULL when too many wait to be checked
   */
  start(id: string, start: ScenarioStart, by: Origin): Promise<KeptScenario>;
  /**
   * Ends a run; its `finally` steps still run, and a second call of `stop` skips them. Resolves when the run is over,
   * or after a short wait while it continues.
   * @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT when the scenario does not run
   */
  stop(id: string): Promise<KeptScenario>;
  /** Forgets a scenario. @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT while it runs */
  remove(id: string): Promise<void>;
  /**
   * The result of the last run as a document.
   * @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT before a run has ended
   */
  report(id: string, format: ReportFormat): Promise<string>;
}

/** The runs under way and the last ones that have ended; at most `maxRuns`. */
export interface ScenarioRuns {
  readonly maxRuns: number;
  /** Newest first. */
  list(): readonly KeptRun[];
  /** @throws SimError UNKNOWN_RESOURCE */
  get(id: string): KeptRun;
  /** Ends a run as `ScenarioBook.stop` does. @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT when it has ended */
  stop(id: string): Promise<KeptRun>;
  /** Forgets a run. @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT while it runs */
  remove(id: string): Promise<KeptRun>;
  /** The result as a document. @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT while it runs */
  report(id: string, format: ReportFormat): Promise<string>;
}

/** The scenario that owns the clock; `controls/time` is refused to others meanwhile. */
export interface ClockOwner {
  /** null: none */
  readonly name: string | null;
}

function none(): never {
  throw new SimError('UNKNOWN_RESOURCE', 'this interface keeps no scenarios');
}

/** The scenarios of an interface that keeps none. */
export const noScenarios: ScenarioBook = {
  maxScenarios: 0,
  runs: { maxRuns: 0, list: () => [], get: none, stop: none, remove: none, report: none },
  list: () => [],
  readEarlier: () => Promise.resolve(),
  bundled: () => Promise.resolve([]),
  get: none,
  add: none,
  check: none,
  text: none,
  draft: none,
  schema: none,
  startBeside: none,
  startAgain: none,
  start: none,
  stop: none,
  remove: none,
  report: none,
};

/** Seconds to the microsecond, without the rounding errors of sums. */
export function plainSeconds(s: number): number;
export function plainSeconds(s: number | null): number | null;
export function plainSeconds(s: number | null): number | null {
  return s === null ? null : Number(s.toFixed(6));
}

export function stepJson({ place, name, state, atS, actions, message }: StepResult) {
  return {
    place,
    name,
    state,
    at_s: plainSeconds(atS),
    actions: actions.map(({ name: action, status, isExpected, detail }) => ({
      name: action,
      status,
      expected: isExpected,
      detail,
    })),
    message,
  };
}

export function assertionJson({ place, name, state, message, signal, bounds, beganS, decidedS }: AssertionResult) {
  return {
    place,
    name,
    state,
    message,
    signal,
    bounds,
    began_s: plainSeconds(beganS),
    decided_s: plainSeconds(decidedS),
  };
}
