/** Captures of disturbances as REST shows them: sub-steps of the devices, and what each of them did. */
import type { Origin } from '../core/origin.ts';
import { SimError } from '../core/errors.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { CurveFunction, TripFunction } from '../sunspec/map/grid-support/functions.ts';
import type { AssetType } from './device.ts';

/** Bounds of captures; memory in bytes, times in simulated seconds. */
export const captureBounds = {
  captures: 50,
  pinned: 10,
  /** octets of the pinned captures that outlive the process, as compressed text: less than a slot of the store holds */
  keptBytes: 7 * 2 ** 20,
  bytes: 64 * 2 ** 20,
  /** devices that record from the begin */
  devices: 200,
  beforeS: 1,
  /** time in sub-steps after the last device has settled; disturbances that are nearer share a capture */
  restS: 2,
  subStepsS: 30,
  /** time in ticks, for the way back to service */
  ticksS: 600,
  /** captures of one fast scenario that stay although no step has failed in them */
  ofFastRun: 10,
} as const;

/** `cut`: a bound has ended it before every device was back. */
export const captureStates = ['recording', 'complete', 'cut'] as const;
export type CaptureState = (typeof captureStates)[number];

export const captureTriggerKinds = ['grid_event', 'grid_change', 'threshold', 'trip', 'alarm', 'request'] as const;
export type CaptureTriggerKind = (typeof captureTriggerKinds)[number];

export const verdictWords = [
  'against_the_rule',
  'tripped',
  'still_out',
  'interrupted',
  'ceased_and_came_back',
  'rode_through',
  'not_concerned',
] as const;
export type VerdictWord = (typeof verdictWords)[number];

type Scalar = number | string | boolean | null;
/** Members of a request that changes the grid. */
export type CallBody = Readonly<Record<string, Scalar | Readonly<Record<string, Scalar>>>>;

/** A disturbance in a capture. Seconds count from the begin of the capture, as in all its parts. */
export interface CaptureTrigger {
  readonly kind: CaptureTriggerKind;
  readonly tS: number;
  readonly title: string;
  /** null: the whole site */
  readonly deviceIndex: number | null;
  /** null: nobody, a device did it by itself */
  readonly by: Origin | null;
  /** the request that does the same again; null: none */
  readonly call: { readonly path: string; readonly body: CallBody } | null;
}

export const captureMarkKinds = ['begin', 'trip', 'grid_back', 'device_back'] as const;

export interface CaptureMark {
  readonly number: number;
  readonly kind: (typeof captureMarkKinds)[number];
  readonly tS: number;
  /** devices that the mark is about; none: the grid */
  readonly devices: readonly number[];
  readonly text: string;
}

export const performanceCategories = ['I', 'II', 'III'] as const;
/** Abnormal operating performance category of IEEE 1547-2018. */
export type PerformanceCategory = (typeof performanceCategories)[number];

/** A threshold that some devices of a capture had at its begin. */
export interface CaptureThreshold {
  readonly function: CurveFunction & TripFunction;
  readonly action: 'trip' | 'cessation';
  readonly quantity: 'voltage' | 'frequency';
  /** percent of 702.VNom, or Hz */
  readonly value: number;
  readonly timeS: number;
  /** null: the devices do not state it */
  readonly category: PerformanceCategory | null;
  readonly devices: readonly number[];
  readonly text: string;
}

export interface CaptureVerdict {
  readonly deviceIndex: number;
  readonly name: string;
  readonly assetType: AssetType;
  /** the larger of the ratings for both directions */
  readonly ratingKw: number;
  readonly verdict: VerdictWord;
  readonly reason: string;
  /** null: no function decided it */
  readonly function: TripFunction | null;
  readonly category: PerformanceCategory | null;
  /** clause of IEEE 1547-2018; null: none applies */
  readonly clause: string | null;
  /** time left to the trip, negative: by how much the time was exceeded, s; null: no threshold was exceeded */
  readonly marginS: number | null;
  readonly beforeKw: number;
  /** power that was farthest from that before */
  readonly duringKw: number;
  readonly afterKw: number;
  /** time from the return of the grid to the power before; null: not back, or never away */
  readonly backAfterS: number | null;
}

/** Columns of one device, all of the same length. */
export interface CaptureColumns {
  readonly length: number;
  /** bounds of the rows: percent of 702.VNom, and Hz */
  readonly extremes: {
    readonly lowPct: number;
    readonly highPct: number;
    readonly lowHz: number;
    readonly highHz: number;
  };
  readonly tS: Float64Array;
  readonly gridVPct: Float32Array;
  readonly vLowPct: Float64Array;
  readonly vHighPct: Float64Array;
  readonly fHz: Float64Array;
  readonly pKw: Float32Array;
  readonly qKvar: Float32Array;
  readonly possibleKw: Float32Array;
  /** positions in `serviceWords` */
  readonly state: Uint8Array;
  /** 1: the row is reached along a slope */
  readonly ramp: Uint8Array;
  /** 1: the row is the end of a tick, not of a sub-step */
  readonly tick: Uint8Array;
}

export interface DeviceRows {
  readonly deviceIndex: number;
  /** 702.VNom at the begin, the base of its percents, per unit of 702.VNomRtg, the base of `voltage_pu` of the grid */
  readonly vNomPu: number;
  readonly columns: CaptureColumns;
}

/** Parts of a capture beside its rows, computed when they are read. */
export interface CaptureReport {
  readonly marks: readonly CaptureMark[];
  readonly thresholds: readonly CaptureThreshold[];
  readonly verdicts: readonly CaptureVerdict[];
  readonly summary: string;
}

export interface Capture {
  readonly id: number;
  readonly state: CaptureState;
  readonly pinned: boolean;
  /** zero of its seconds */
  readonly start: SimTime;
  /** wall time of the begin, ms since the epoch */
  readonly startedWallMs: number;
  /** end of what is recorded */
  readonly endS: number;
  readonly triggers: readonly CaptureTrigger[];
  /** name of the scenario that ran at the begin; null: none */
  readonly scenario: string | null;
  /** devices with rows, in the order in which they joined */
  readonly rows: readonly DeviceRows[];
  /** devices in the scope that were too many to be recorded */
  readonly devicesLeftOut: number;
  readonly bytes: number;
  report(): CaptureReport;
  /** As `report`, in parts: it yields when other work may run. Rows that come meanwhile are not in it. */
  reporting(): Generator<undefined, CaptureReport>;
}

/** The captures of a process, newest last. */
export interface CaptureBook {
  /** max captures that are kept; 0: off */
  readonly capacity: number;
  readonly bytes: number;
  readonly list: readonly Capture[];
  /** @throws SimError UNKNOWN_RESOURCE */
  get(id: number): Capture;
  /** Begins a capture of the present, or adds to the one under way. @throws SimError COMMAND_CONFLICT while it is off */
  start(by: Origin, deviceIndex?: number): Capture;
  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT when too many are pinned */
  pin(id: number, pinned: boolean): Capture;
  /** Drops a capture; one under way ends. @throws SimError UNKNOWN_RESOURCE */
  remove(id: number): Capture;
  /** Resolves when a restart would show the pinned captures that have ended as they are now. */
  pinsAreKept(): Promise<void>;
}

function none(): never {
  throw new SimError('UNKNOWN_RESOURCE', 'this interface keeps no captures');
}

/** The captures of an interface that keeps none. */
export const noCaptures: CaptureBook = {
  capacity: 0,
  bytes: 0,
  list: [],
  get: none,
  start: none,
  pin: none,
  remove: none,
  pinsAreKept: () => Promise.resolve(),
};
