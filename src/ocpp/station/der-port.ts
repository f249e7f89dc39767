/** The functions of grid support of a charging station, as block R of OCPP 2.1 sets them. `der-bridge.ts` makes it. */
import type { ActiveDecider, ReactiveDecider } from '../../contract/grid-trace.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { FunctionName, TripName } from '../../sunspec/map/grid-support/functions.ts';
import type {
  FunctionWish,
  PointFacts,
  PointValue,
  RefusedWish,
  TripRegion,
} from '../../sunspec/map/grid-support/wish.ts';
import type { Written } from '../../sunspec/map/point-holds.ts';

/** `limited`: on the way into service; `out`: for any other reason than a trip. */
export type DerService = 'in_service' | 'ceased' | 'tripped' | 'limited' | 'out';

/** Facts for a translation. */
export interface DerFacts extends PointFacts {
  /** True if the station has a function: its points, and its bit of 702.CtrlModes. */
  has(name: FunctionName): boolean;
  /** True if the station has a curve of a trip function. */
  hasCurve(name: TripName, region: TripRegion): boolean;
  /** The points that carry out wishes, or why one of them cannot be. */
  place(wishes: readonly FunctionWish[]): readonly PointValue[] | RefusedWish;
  readonly nominalHz: number;
}

/** Request of a control. */
export interface DerSettings {
  readonly points: readonly PointValue[];
  /** slope of active power, percent of 702.WMax per second; absent: it sets none */
  readonly slopeWPctPerS?: number;
}

/** A control that is to be in force. */
export interface DerWanted {
  readonly id: string;
  readonly settings: DerSettings;
}

/** A trip of voltage or frequency. */
export interface DerTrip {
  readonly name: TripName;
  readonly at: SimTime;
}

/** Why the power is what it is. */
export interface DerCondition {
  readonly at: SimTime;
  readonly service: DerService;
  /** the trip that keeps the station out of service, or the last one since the last look; null: neither */
  readonly trip: DerTrip | null;
  readonly active: ActiveDecider;
  readonly reactive: ReactiveDecider;
  readonly frequencyHz: number;
  readonly nominalHz: number;
  /** the frequency is within the deadband of the droop */
  readonly withinDroopBand: boolean;
  /** extremes over the phases, percent of 702.VNom */
  readonly lowestPct: number;
  readonly highestPct: number;
}

export interface DerPort extends DerFacts {
  /** A text point; null: the station does not have it. */
  text(model: number, path: string): string | null;
  /** The values as the station would take them if nothing kept it from taking them now. */
  check(settings: DerSettings): Written;
  /**
   * Makes exactly these controls be in force. No two of them set the same point. A point that another writer has
   * changed since stays as that writer left it.
   * @returns what has become of each of them
   */
  follow(wanted: readonly DerWanted[]): ReadonlyMap<string, Written>;
  /** The last `follow` is complete: nothing waits for the device to take it. */
  readonly isSettled: boolean;
  /** True if another writer has changed something of a control since. */
  isOverwritten(id: string): boolean;
  /** The condition now. @param since instant of the last look, for trips that are over already */
  condition(since: SimTime): DerCondition;
  /** Calls back after each tick; the returned function ends it. */
  onTick(listener: () => void): () => void;
  /** Calls back when the device has been reset, so that nothing is held any more, or has come back to power. */
  onRestart(listener: () => void): () => void;
  /** Listeners end; nothing is written. */
  close(): void;
}
