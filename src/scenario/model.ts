/** A scenario as it is run: parameters, loops and included files have been put in. */
import { csipControlStates } from '../contract/csip-events.ts';
import type { Place } from './place.ts';

/** A request to the interface, as `api.perform` carries it out. */
export interface ScenarioRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
}

/** Where a number or word comes from that conditions and assertions compare. */
export type Signal =
  /** a point of the registers: `701.W` */
  | { readonly kind: 'point'; readonly device: number; readonly point: string }
  /** a member of the snapshot of a device: `metrics.power_kw` */
  | { readonly kind: 'snapshot'; readonly device: number; readonly member: string }
  /** a member of the answer to a GET */
  | { readonly kind: 'answer'; readonly request: ScenarioRequest; readonly pointer: string };

export type SignalValue = number | string | boolean | null;

/** Every member that is given must hold. */
export interface Comparison {
  readonly equals?: SignalValue;
  readonly not?: SignalValue;
  readonly above?: number;
  readonly below?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly between?: readonly [number, number];
  /** allowed deviation, in the unit of the signal, from every bound above */
  readonly tolerance?: number;
}

/** A signal and the comparison that it is to meet. */
export interface ValueTest {
  readonly signal: Signal;
  /** compares the difference from the value at this mark, not the value */
  readonly since: string | null;
  readonly comparison: Comparison;
}

export const messageProtocols = ['modbus', 'csip', 'ocpp', 'dnp3'] as const;
export type MessageProtocol = (typeof messageProtocols)[number];

/** Messages whose members have these values; objects and lists are compared member by member. */
export interface MessageTest {
  readonly protocol: MessageProtocol;
  /** of the station, with OCPP; null: that of the first one */
  readonly station: string | null;
  readonly match: Readonly<Record<string, unknown>>;
}

/** A write to the registers by anybody but the simulator itself. */
export interface WriteTest {
  readonly device: number | null;
  readonly model: number;
  /** null: any point of the model */
  readonly point: string | null;
  /** null: any */
  readonly source: string | null;
}

/** States of an event of IEEE 2030.5; `started`: active, and the device carries it out. */
export const csipEventStates = [...csipControlStates, 'started'] as const;

/** An event of IEEE 2030.5 in a state; null: any. */
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

/** What a step waits for. */
export type Trigger =
  | { readonly kind: 'now' }
  /** seconds after the start of the scenario */
  | { readonly kind: 'at'; readonly offsetS: number }
  /** seconds after the step before */
  | { readonly kind: 'after'; readonly delayS: number }
  /** the next time of day, seconds since midnight of the clock's zone */
  | { readonly kind: 'time'; readonly ofDayS: number }
  /** the next match, in the zone of the clock */
  | { readonly kind: 'cron'; readonly pattern: string }
  | {
      readonly kind: 'when';
      readonly condition: Condition;
      /** simulated seconds */
      readonly timeoutS: number;
      /** real seconds for which the clock stands still meanwhile; null: it runs */
      readonly realTimeoutS: number | null;
    };

/** When an assertion is decided. */
export type Window =
  | { readonly kind: 'now' }
  /** it must come true within these seconds */
  | { readonly kind: 'within'; readonly s: number }
  /** it must hold at every tick, from `afterS` on for `s` seconds; Infinity: to the end of the scenario */
  | { readonly kind: 'for'; readonly afterS: number; readonly s: number };

export type Subject =
  | { readonly kind: 'value'; readonly test: ValueTest }
  /** messages since the step began, or of the whole run */
  | { readonly kind: 'messages'; readonly tests: readonly MessageTest[]; readonly count: CountTest | null }
  | { readonly kind: 'no_alarm'; readonly device: number | null; readonly except: readonly string[] }
  /** nothing differs from the start in `registers/changes` */
  | { readonly kind: 'nothing_left'; readonly device: number | null; readonly except: readonly string[] }
  /** every protocol presents the same quantities */
  | { readonly kind: 'consistent'; readonly device: number | null }
  | AnsweredSubject;

/**
 * Commands of peers since the step began that were answered positively are done; in `always` and `finally` those since
 * the start.
 */
export interface AnsweredSubject {
  readonly kind: 'answered';
  readonly device: number | null;
  /** null: all that are on */
  readonly protocol: MessageProtocol | null;
  /** names of what was told, or of commands, that are not judged */
  readonly except: readonly string[];
}

/** Number of messages; null of `Subject`: the tests must be met one after the other. */
export interface CountTest {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface Expectation {
  readonly place: Place;
  /** words for the report */
  readonly name: string;
  /** names that the file gives its step and itself; null: none */
  readonly title: string | null;
  readonly subject: Subject;
  readonly window: Window;
}

export interface Action {
  readonly place: Place;
  /** words for the report: `POST /controls/grid` */
  readonly name: string;
  readonly request: ScenarioRequest;
  /** status of the answer that is expected; null: any below 400 */
  readonly status: number | null;
}

export interface Step {
  readonly place: Place;
  readonly name: string;
  /** name that the file gives it; null: none */
  readonly title: string | null;
  readonly trigger: Trigger;
  readonly actions: readonly Action[];
  readonly expectations: readonly Expectation[];
  /** name for later differences; null: none */
  readonly mark: string | null;
}

/** Steps that run each time the trigger comes true, beside the steps of the scenario. */
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
  /** in force, after those of the caller */
  readonly parameters: Readonly<Record<string, SignalValue>>;
  readonly steps: readonly Step[];
  readonly rules: readonly Rule[];
  /** hold from the start to the end */
  readonly always: readonly Expectation[];
  /** run at the end, whatever happened */
  readonly finally: readonly Step[];
  /** signals that the report plots beside those of assertions */
  readonly plots: readonly { readonly place: Place; readonly signal: Signal }[];
  /** it lasts at least as long, simulated s; 0: until its steps and assertions are done */
  readonly durationS: number;
  /** simulated s after which it is ended as failed */
  readonly timeoutS: number;
  readonly onFailure: 'continue' | 'stop';
}
