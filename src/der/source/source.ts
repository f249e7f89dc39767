import type { DeviceDetail, IvCurve, IvPoint, SourceCommand } from '../../contract/device.ts';
import type { BatteryTree } from '../../contract/kinds/battery.ts';
import type { EvseSession } from '../../contract/kinds/evse.ts';
import type { WeatherNow } from '../surroundings/environment.ts';

/** Names of `alarms.active`, raised and cleared by the model itself. */
export type SourceCondition = string;

/** A type whose members the code that fills it may assign. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What a 714 port is, and what it shows of its source; power is positive into the inverter. */
export interface DcPort {
  readonly type: 'PV' | 'ESS' | 'EV' | 'INJ' | 'ABS' | 'BIDIR' | 'DC_DC';
  readonly name: string;
  readonly voltageV: number;
  readonly currentA: number;
  readonly powerW: number;
  /** those of the source's conditions that belong to this port; absent: none ever */
  readonly conditions?: ReadonlySet<SourceCondition>;
}

/** A PV array as each tick may ask for it: its curve is worked out by whoever wants it, and whenever. */
export interface PvArray {
  readonly irradianceWm2: number;
  /** never changes; another object whenever the curve is another */
  readonly solved: { curve(points: number): { readonly curve: readonly IvPoint[] } };
}

/** What surrounds a source during one sub-step. */
export interface SourceInput extends WeatherNow {
  /** mean voltage at the AC terminals, of nominal */
  terminalPu: number;
  /** local AC load at the site, W */
  loadW: number;
  /** the device answers to low frequency: what is kept for that may be used */
  frequencySupport: boolean;
  /** simulated seconds per real second; a model may get coarser where nobody could watch it */
  rate: number;
}

/** What the inverter asks of its source for one sub-step, at the DC terminals. */
export interface DcRequest {
  /** power that a set-point or a function asks for, W; null: nobody asks */
  readonly targetW: number | null;
  /** what ratings, limits and functions admit, W; floor <= 0 <= ceiling, or both on one side when a function forces power */
  readonly floorW: number;
  readonly ceilingW: number;
}

/**
 * The primary source behind an inverter. Per sub-step: `prepare`, `answer`, `draw`. DC power is positive out of the
 * source. Every number that it shows is finite.
 */
export interface DcSource {
  /** Brings the source to the end of a sub-step of `dtS`, no longer than `longestStepS` was, under this weather. */
  prepare(dtS: number, input: SourceInput): void;
  /** Jumps to the steady state of this weather: a fresh process starts settled. */
  settle(input: SourceInput): void;
  /** DC power that can be drawn in the prepared sub-step, W, steady over all of it */
  readonly availableDcW: number;
  /** what could be drawn once ramps of the source are over, W; absent: the same as `availableDcW` */
  readonly potentialDcW?: number;
  /** DC power that can be taken in during the prepared sub-step, W; 0 for a source that only gives */
  readonly absorbableDcW: number;
  /** what could be taken in once ramps of the source are over, W; absent: the same as `absorbableDcW` */
  readonly potentialAbsorbableDcW?: number;
  /** least power, W, below which the source gives nothing at all; absent: 0 */
  readonly minOutputDcW?: number;
  /** least power, W, below which the source takes in nothing at all; absent: 0 */
  readonly minAbsorbedDcW?: number;
  /** how fast what it gives, and what it takes in, rises by a ramp of the source, W per second; absent: at once */
  readonly outputRampDcWS?: number;
  readonly absorbedRampDcWS?: number;
  /**
   * The DC power at which the source runs when asked like this: within floor..ceiling and -absorbable..available.
   * Does not change what `availableDcW` says for this sub-step; may be called several times in one.
   */
  answer(request: DcRequest): number;
  /** on the way from standstill to full readiness */
  readonly starting: boolean;
  /** nothing moves by itself any more: sub-steps of a second are exact */
  readonly settled: boolean;
  /** longest next sub-step that keeps the model exact, s; Infinity: no wish */
  readonly maxStepS: number;
  /** Works at this DC power, -`absorbableDcW`..`availableDcW`. @param energized false: the input is open */
  draw(dcW: number, energized: boolean): void;
  /** reactive current beside that of the functions, pu of the rated one, + injected: support during a dip */
  readonly reactiveCurrentPu?: number;
  /** power of each phase beyond an even share, W, + out of the source, together 0; absent or null: none */
  readonly phaseSkewW?: readonly [number, number, number] | null;
  /** a drawn power holds over the whole sub-step, and its energy is counted like that; absent: it moves steadily from one to the next */
  readonly heldPower?: true;
  /** the ports of model 714, in order */
  readonly ports: readonly DcPort[];
  /** alarm codes that hold now */
  readonly conditions: ReadonlySet<SourceCondition>;
  /** State of this moment for REST and history: a new object at each call, cheap enough for every tick. */
  detail(): DeviceDetail;
  /** strings, modules and cells of a storage */
  tree?(): BatteryTree;
  /** charging sessions, newest first */
  sessions?(): readonly EvseSession[];
  /** absent: there is none */
  readonly array?: PvArray | undefined;
  /** @throws SimError COMMAND_NOT_APPLICABLE without any curve, UNKNOWN_RESOURCE for a port without one */
  curve(port: number | undefined, points: number): IvCurve;
  /** Carries out a command of this kind whole. @throws SimError COMMAND_NOT_APPLICABLE, COMMAND_BAD_VALUE, COMMAND_CONFLICT */
  command(command: SourceCommand): void;
  /** Clears latched faults of the source. */
  clearFaults(): void;
  /** Back to the start values: overrides end, counters and contents as on the first day. */
  restart(): void;
}
