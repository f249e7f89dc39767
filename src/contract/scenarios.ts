/** Scenarios as REST and reports show them. */
import type { Origin } from '../core/origin.ts';

/** `error`: it could not be carried on; `stopped`: on request */
export const runStates = ['running', 'passed', 'failed', 'stopped', 'error'] as const;
export type RunState = (typeof runStates)[number];

/** `fast`: as fast as the machine can, on the paused clock; `real`: at the rate of the running clock */
export const runPaces = ['fast', 'real'] as const;
export type RunPace = (typeof runPaces)[number];

export const stepStates = ['waiting', 'running', 'done', 'failed', 'skipped'] as const;
export type StepState = (typeof stepStates)[number];

export interface ActionResult {
  /** `POST /controls/grid` */
  readonly name: string;
  /** of the answer; null: it has not come */
  readonly status: number | null;
  readonly isExpected: boolean;
  /** words of a refusal */
  readonly detail: string | null;
}

export interface StepResult {
  readonly place: string;
  readonly name: string;
  readonly state: StepState;
  /** simulated seconds since the start of the scenario; null: not yet */
  readonly atS: number | null;
  readonly actions: readonly ActionResult[];
  /** why it failed, or was skipped */
  readonly message: string | null;
}

export const assertionStates = ['pending', 'passed', 'failed', 'dropped'] as const;
export type AssertionState = (typeof assertionStates)[number];

export interface AssertionResult {
  readonly place: string;
  readonly name: string;
  readonly state: AssertionState;
  /** why, in a sentence */
  readonly message: string;
  /** simulated seconds since the start of the scenario */
  readonly beganS: number;
  readonly decidedS: number | null;
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
  /** why it could not be carried on */
  readonly error: string | null;
  readonly startedBy: Origin;
  /** wall clock, ms since the epoch */
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** simulated date, ms since the epoch */
  readonly simStartMs: number;
  /** simulated seconds that have passed */
  readonly simS: number;
  /** of a scenario that has a fixed duration; 0: unknown */
  readonly expectedS: number;
  readonly ticks: number;
  readonly steps: readonly StepResult[];
  readonly stepsDone: number;
  /** steps of the scenario, without those of rules */
  readonly stepsInAll: number;
  readonly assertions: readonly AssertionResult[];
  readonly failures: readonly string[];
  readonly devices: readonly { readonly index: number; readonly name: string; readonly type: string }[];
  series(): readonly SignalSeries[];
}
