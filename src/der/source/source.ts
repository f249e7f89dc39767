/** Interface of a device to its DC source. */
import type { DeviceDetail, IvCurve, IvPoint, SourceCommand } from '../../contract/device.ts';
import type { BatteryTree } from '../../contract/kinds/battery.ts';
import type { EvseSession, EvseExternalLimit } from '../../contract/kinds/evse.ts';
import type { Kept } from '../../core/kept.ts';
import type { Origin } from '../../core/origin.ts';
import type { StorageFlow } from '../inverter/storage-flow.ts';
import type { WeatherNow } from '../surroundings/environment.ts';
import type { EvseConnectorTransition, EvseStationTransition } from '../../contract/kinds/evse-transitions.ts';

/** Name of an alarm in `alarms.active`; the model raises and clears it. */
export type SourceCondition = string;

/** A type whose members the code that fills it may assign. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** One port of model 714 with the readings of its source; power is positive into the inverter. */
export interface DcPort {
  readonly type: 'PV' | 'ESS' | 'EV' | 'INJ' | 'ABS' | 'BIDIR' | 'DC_DC';
  readonly name: string;
  readonly voltageV: number;
  readonly currentA: number;
  readonly powerW: number;
  /** the conditions of the source that belong to this port; absent: the port never has any */
  readonly conditions?: ReadonlySet<SourceCondition>;
}

/** A PV array in a snapshot of a tick; its curve is computed only when a reader asks for it. */
export interface PvArray {
  readonly irradianceWm2: number;
  /** immutable; replaced when the curve changes */
  readonly solved: { curve(points: number): { readonly curve: readonly IvPoint[] } };
}

export type Phases = readonly [number, number, number];

/** Loads on single phases, W and var by phase, + out of the source. */
export interface PhaseLoads {
  readonly watts: Phases;
  readonly vars: Phases;
}

/** Surroundings of a source during one sub-step. */
export interface SourceInput extends WeatherNow {
  /** mean voltage at the AC terminals, per unit of nominal */
  terminalPu: number;
  /** voltage of each phase at the AC terminals, line to neutral, V; 0 for a phase that the device does not have */
  phaseLnV: [number, number, number];
  /** local AC load at the site, W */
  loadW: number;
  /** the device responds to low frequency: reserves kept for that may be used */
  frequencySupport: boolean;
  /** simulated seconds per real second; at high rates a model may use coarser dynamics */
  rate: number;
}

/** Request of the inverter for one sub-step, at the DC terminals. */
export interface DcRequest {
  /** set-point of a control or a function, W; null: none */
  readonly targetW: number | null;
  /**
   * range that ratings, limits and functions allow, W; floor <= 0 <= ceiling, or both on one side when a function
   * forces power
   */
  readonly floorW: number;
  readonly ceilingW: number;
}

/** A constant power for some time. */
export interface PowerCourse {
  readonly dcW: number;
  /** at its beginning */
  readonly fromDcW: number;
  /** slope of the set-point that the power follows, W per second; null: it follows none */
  readonly setPointRampWS: number | null;
  /** true: it is a share of what the source could give */
  readonly isShare: boolean;
  /** as that of `decideVar` */
  readonly decidedVar: number | null;
  /** Infinity: once ramps are over, with the stock that the source has now */
  readonly dtS: number;
  /** mean voltage at the AC terminals, per unit of nominal */
  readonly terminalPu: number;
}

/** Converts between the power of a fuel cell stack and the DC power of its port, W, + fuel cell; within the ratings. */
export interface StackPort {
  dcW(stackW: number): number;
  stackW(dcW: number): number;
}

/** A charging station's transitions, and its surroundings in the device. */
export interface StationPort {
  /** Calls `listener` at once for every transition, also within a sub-step. @returns a function that removes it */
  onTransition(listener: TransitionListener): () => void;
  /** Calls the one `listener` for each session that begins or ends. */
  onSession(listener: SessionListener): void;
  /** Reports changed limits; called between sub-steps while there are listeners. */
  reportLimits(): void;
  attach(outside: StationOutside): void;
}

/**
 * The primary source behind an inverter. Per sub-step: `prepare`, `answer`, `draw`. DC power is positive out of the
 * source. All numbers are finite.
 */
export interface DcSource {
  /** Advances the source to the end of a sub-step of `dtS`, at most the last `maxStepS`, under this weather. */
  prepare(dtS: number, input: SourceInput): void;
  /**
   * The weather has jumped to `input` between two sub-steps; until the next jump the weather moves continuously. Absent: the
   * source has no lag for which that matters.
   */
  weatherJumps?(input: SourceInput): void;
  /** Jumps to the steady state of this weather: the state at the start of the device. */
  settle(input: SourceInput): void;
  /** DC power that can be drawn constantly over the prepared sub-step, W */
  readonly availableDcW: number;
  /** `availableDcW` once ramps of the source are over, W; absent: no ramps */
  readonly potentialDcW?: number;
  /** bound on the discharge of a storage, W; Infinity: no bound below the limits of the storage; absent: no storage */
  dischargeLimitDcW?: number;
  /** true: `dischargeLimitDcW` is below the power of the storage; absent: no storage */
  readonly dischargeLimited?: boolean;
  /**
   * bound on the charge of a storage from the grid, W: the inverter applies it, the source shows it; Infinity: no bound
   * below the ratings; absent: no storage, or a storage that can charge without the grid
   */
  chargeLimitDcW?: number;
  /** Bounds the power of a storage by DC watts; absent: no storage. */
  boundFlow?(flow: StorageFlow): void;
  /** DC power that can be absorbed during the prepared sub-step, W; 0 for a pure generator */
  readonly absorbableDcW: number;
  /** `absorbableDcW` once ramps of the source are over, W; absent: no ramps */
  readonly potentialAbsorbableDcW?: number;
  /** minimum output, W: below it the source delivers nothing; absent: 0 */
  readonly minOutputDcW?: number;
  /** minimum absorbed power, W: below it the source absorbs nothing; absent: 0 */
  readonly minAbsorbedDcW?: number;
  /** ramp by which the output of the source rises, W per second; absent: no ramp */
  readonly outputRampDcWS?: number;
  /** ramp by which the absorbed power rises, W per second; absent: no ramp */
  readonly absorbedRampDcWS?: number;
  /**
   * The DC power at which the source runs for this request: within floor..ceiling and -absorbable..available.
   * Does not change `availableDcW` of this sub-step; may be called several times per sub-step.
   */
  answer(request: DcRequest): number;
  /** the start sequence is under way */
  readonly starting: boolean;
  /** no dynamics are under way: sub-steps of one second are exact */
  readonly settled: boolean;
  /** maximum next sub-step that keeps the model exact, s; Infinity: no limit */
  readonly maxStepS: number;
  /**
   * The source after `dtS` under other voltages of the phases, for questions alone: what is asked of it changes nothing
   * here. Absent: its powers do not depend on the voltage, and `answer` has no effect.
   * @param dtS Infinity: once ramps are over
   */
  triedAt?(dtS: number, phaseLnV: Phases): DcSource;
  /** Takes a DC power as that of `draw`, without time passing. Absent: nothing that a question reads depends on it. */
  planFor?(dcW: number): void;
  /**
   * True if the source, as it is, surely gives `dcW` for `dtS`: no ramp, bound, timer or dip of it comes first, its
   * weather aside. Absent: it does where it is settled.
   */
  holds?(course: PowerCourse): boolean;
  /** Operates at this DC power, -`absorbableDcW`..`availableDcW`. @param energized false: the input is open */
  draw(dcW: number, energized: boolean): void;
  /** reactive current on top of that of the functions, pu of rated, + injected: support during a voltage dip */
  readonly reactiveCurrentPu?: number;
  /** part of the drawn power that is on single phases; absent or null: none, all phases share the power */
  readonly phaseLoads?: PhaseLoads | null;
  /**
   * reactive power that the loads of the source draw by themselves, var, + injected: after `answer` with the planned
   * power, after `draw` with the drawn one; absent: the inverter alone decides it
   */
  readonly ownVar?: number;
  /**
   * Reactive power that a function sets for all loads of the source, after `draw`, var, + injected; null: the
   * loads draw `ownVar`. Absent: the source has no loads with reactive power.
   */
  decideVar?(decidedVar: number | null): void;
  /**
   * power is constant over a sub-step, and energy is counted so; absent: power moves linearly from one sub-step to the
   * next
   */
  readonly heldPower?: true;
  /** the ports of model 714, in order */
  readonly ports: readonly DcPort[];
  /** active alarm codes */
  readonly conditions: ReadonlySet<SourceCondition>;
  /** Present state for REST and history: a new object per call, cheap enough for every tick. */
  detail(): DeviceDetail;
  /** strings, modules and cells of a storage */
  tree?(): BatteryTree;
  /** charging sessions, newest first */
  sessions?(): readonly EvseSession[];
  /** absent: the source is no charging station */
  readonly station?: StationPort;
  /** absent: the source is no fuel cell */
  readonly stack?: StackPort;
  /** absent: the source has no PV array */
  readonly array?: PvArray | undefined;
  /** @throws SimError COMMAND_NOT_APPLICABLE without any curve, UNKNOWN_RESOURCE for a port without a curve */
  curve(port: number | undefined, points: number): IvCurve;
  /**
   * Carries out a command in full or not at all.
   * @throws SimError COMMAND_NOT_APPLICABLE, COMMAND_BAD_VALUE, COMMAND_CONFLICT
   */
  command(command: SourceCommand, by?: Origin): void;
  /** Clears latched faults of the source. */
  clearFaults(by?: Origin): void;
  /** Returns to the start values: overrides end, counters and contents are reset. */
  restart(by?: Origin): void;
  /** State that a restart keeps; for the time between two sub-steps. */
  kept(): Kept;
  /** The part of it that also fits other parameters: charge, contents, counters; absent: none. Restored only. */
  lasting?(): Kept;
}

/** A transition without its instant on the simulated clock, which the device adds. */
export type SourceTransition = Omit<EvseConnectorTransition, 'at'> | Omit<EvseStationTransition, 'at'>;
export type TransitionListener = (transition: SourceTransition) => void;

/** @param atS simulated seconds since the start of the device */
export type SessionListener = (change: 'started' | 'ended', session: EvseSession, by: Origin, atS: number) => void;

/** State of the device around the station, as the station sees it. */
export interface StationOutside {
  /** live conductors of the supply */
  readonly supplyPhases: 1 | 2 | 3;
  /** the device is off: it reboots */
  readonly down: boolean;
  /** the connection point decided the power of the last sub-step */
  readonly siteHolds: boolean;
  /** limit on the consumption of the station from outside; null: no limit */
  readonly limit: EvseExternalLimit | null;
}
