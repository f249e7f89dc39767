/** Trace of the power: input, target and output of every grid-support function. */
import type { SimTime } from '../core/time/clock.ts';
import type {
  ActivePowerFunction,
  ReactivePowerFunction,
  TracedFunction,
  TripFunction,
} from '../sunspec/map/grid-support/functions.ts';

/** Units by function: inputs in percent of VNom, Hz or W; targets and outputs in W or var. */
export interface FunctionStep {
  readonly input: number | null;
  /** present target of the function */
  readonly target: number | null;
  /** the target after its filter or ramp */
  readonly output: number | null;
}

/** Names of the functions and limits that can decide active power. */
export type ActiveDecider =
  | ActivePowerFunction
  | 'source'
  | 'w_max'
  | 'charge_limit'
  | 'discharge_limit'
  | 'second_limiter'
  | 'enter_service'
  | 'ramp'
  | 'site'
  | 'idle'
  | 'apparent_power'
  | 'cessation'
  | 'out_of_service';

/** Names of the functions and limits that can decide reactive power. */
export type ReactiveDecider =
  | ReactivePowerFunction
  | 'none'
  | 'capability'
  | 'low_power'
  | 'apparent_power'
  | 'cessation'
  | 'out_of_service';

/** Deciding function or limit of the output in the last sub-step. */
export interface DecidedBy {
  readonly active: ActiveDecider;
  readonly reactive: ReactiveDecider;
}

/** Regions of IEEE 1547-2018 6.4.2 and 6.5.2. */
export const rideThroughModes = [
  'continuous_operation',
  'mandatory_operation',
  'permissive_operation',
  'momentary_cessation',
  'cease_to_energize',
] as const;
export type RideThroughMode = (typeof rideThroughModes)[number];

/** One sub-step of one device. */
export interface GridTraceRow {
  /** end of the sub-step */
  readonly at: SimTime;
  readonly service: ServiceWord;
  readonly rideThrough: RideThroughMode;
  readonly activePowerW: number;
  readonly reactivePowerVar: number;
  /** AC power that the source could deliver */
  readonly availableW: number;
  /** voltage that the curves refer to, percent of 702.VNom */
  readonly voltagePct: number;
  /** lowest phase voltage, percent of 702.VNom */
  readonly lowestVoltagePct: number;
  /** highest phase voltage, percent of 702.VNom */
  readonly highestVoltagePct: number;
  readonly frequencyHz: number;
  readonly activeDecidedBy: ActiveDecider;
  readonly reactiveDecidedBy: ReactiveDecider;
  readonly functions: Readonly<Record<TracedFunction, FunctionStep>>;
  /** seconds to the trip if nothing changes; null: the timer of the function does not run */
  readonly timeToTripS: Readonly<Record<TripFunction, number | null>>;
  /** remaining seconds of the enter-service delay; null: the delay does not run */
  readonly timeToEnterServiceS: number | null;
}

/** Service states of a device, and the cessation inside them; a capture has their positions as codes. */
export const serviceWords = [
  'in_service',
  'ramping',
  'waiting',
  'ceased',
  'shutting_down',
  'off',
  'tripped',
  'momentary_cessation',
] as const;
export type ServiceWord = (typeof serviceWords)[number];

/** The values of a sub-step that captures keep. */
export interface StepValues
  extends Pick<
    GridTraceRow,
    'at' | 'activePowerW' | 'reactivePowerVar' | 'availableW' | 'lowestVoltagePct' | 'highestVoltagePct' | 'frequencyHz'
  > {
  /** the grid before the feeder: mean of the phases, percent of 702.VNom */
  readonly gridVoltagePct: number;
  readonly service: ServiceWord;
  /** true: the powers have come to these values along a slope */
  readonly ramps: boolean;
}

/** One change of the service state or of momentary cessation. */
export interface ServiceTransition {
  readonly at: SimTime;
  readonly from: ServiceWord;
  readonly to: ServiceWord;
  /** the trip that caused the change; null: none */
  readonly cause: string | null;
}

/** The inspection view of one device. */
export interface GridTrace {
  /** the frequency that droop and ride-through refer to */
  readonly nominalHz: number;
  /** the last sub-step */
  readonly now: GridTraceRow;
  /** the last sub-step as captures keep it */
  readonly step: StepValues;
  /** the same values as in `now`, without computing the rest of its row */
  readonly decidedBy: DecidedBy;
  /** `service` of `now`, in the same way */
  readonly service: ServiceWord;
  /** `voltagePct` of `now`, in the same way */
  readonly voltagePct: number;
  /** the latest changes, oldest first */
  readonly transitions: readonly ServiceTransition[];
  /** recorded sub-steps, oldest first */
  readonly rows: readonly GridTraceRow[];
  /** max recorded sub-steps; 0: recording is off */
  readonly capacity: number;
  /** Starts a new recording of the latest `capacity` sub-steps; 0 ends it. */
  record(capacity: number): void;
  /** Calls the listener after each sub-step, in place of an earlier one; null: of none. */
  follow(listener: ((step: StepValues) => void) | null): void;
}

const tripCauses: Readonly<Record<string, string>> = {
  lv_trip: 'low voltage',
  hv_trip: 'high voltage',
  lf_trip: 'low frequency',
  hf_trip: 'high frequency',
  anti_islanding: 'an island',
  rocof: 'the rate of change of frequency',
  vector_shift: 'a vector shift',
};

/** The cause of a trip, as the end of a sentence. */
export const tripCauseText = (cause: string | null) => tripCauses[cause ?? ''] ?? 'a fault';
