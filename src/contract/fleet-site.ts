/**
 * The site of one process as a part of a fleet, whose limits concern the devices of all its processes. Powers in W, by
 * position of the device.
 */
import type { SimTime } from '../core/time/clock.ts';
import type { FleetSiteMode, SiteLimitName, SiteLimitsW } from './site.ts';

/** A limit of the fleet in force. */
export interface FleetLimit {
  readonly limitW: number;
  readonly owner: string;
}
export type FleetLimits = Readonly<Record<SiteLimitName, FleetLimit | null>>;

/** Limits of the fleet, and the part of them that one process has. */
export interface FleetBudget {
  readonly limits: FleetLimits;
  /** limits that act on the devices of this process; null: none */
  readonly budgetW: SiteLimitsW;
  /** limits of the fleet that restrict devices now */
  readonly binding: readonly SiteLimitName[];
  readonly mode: FleetSiteMode;
}

export const claimColumns = [
  'demandW',
  'maxInjectW',
  'minInjectW',
  'maxAbsorbW',
  'minAbsorbW',
  'reachW',
  'sleepW',
  'loadAtStartW',
  'loadAtEndW',
] as const;
export type ClaimColumn = (typeof claimColumns)[number];

/** A connection point inside one process with limits of its own. */
export interface ClaimedScope {
  /** ascending indexes; null: all devices of the process */
  readonly devices: readonly number[] | null;
  readonly limitsW: SiteLimitsW;
}

/** Claims of the devices of one process for a piece of time. */
export interface FleetClaims {
  /** ascending indexes of the devices */
  readonly indexes: readonly number[];
  readonly columns: Readonly<Record<ClaimColumn, Float64Array>>;
  /** inner ones before outer ones */
  readonly scopes: readonly ClaimedScope[];
  /** counts changes of the limits of these scopes */
  readonly revision: number;
}

/** Shares of one direction. Positions of scopes are those of the claims; the fleet is the last one. */
export interface SideShares {
  readonly shareW: Float64Array;
  /** scope that cut the share below the demand, or -1 */
  readonly cutBy: Int32Array;
  /** scope that ends the growth beyond the demand, or -1 */
  readonly endedBy: Int32Array;
  /** by scope: devices get less than their demands */
  readonly binds: readonly boolean[];
  /** by scope: the limit of the net power is the tighter one */
  readonly netTighter: readonly boolean[];
}

/** Shares of the devices of one process. */
export interface FleetShares {
  readonly injecting: SideShares;
  readonly absorbing: SideShares;
}

/** A piece of time that the leader of the fleet has shared. */
export interface LedPiece {
  readonly limits: FleetLimits;
  /** end of the shares */
  readonly endUs: SimTime;
  /** null: the present ones stay */
  readonly shares: FleetShares | null;
}

/** Ratings of the devices of one process that can inject and absorb now. */
export interface RatingSums {
  readonly maxInjectW: number;
  readonly maxAbsorbW: number;
}

/** Sums of the claims of one process. */
export interface ClaimSums extends RatingSums {
  /** power that devices would inject and absorb without limits */
  readonly injectW: number;
  readonly absorbW: number;
  /** power that they surely reach in one second if it is admitted */
  readonly reachInjectW: number;
  readonly reachAbsorbW: number;
  /** consumption of sleeping devices, which cannot be limited */
  readonly sleepW: number;
  /** local loads beside the devices: the lower and the higher sum of now and one second later */
  readonly minLoadW: number;
  readonly maxLoadW: number;
}

/** The site of a process as the fleet drives it. */
export interface FleetPart {
  /** null: no limits of a fleet */
  readonly budget: FleetBudget | null;
  /** Takes over a budget from the next piece of time on. */
  setBudget(budget: FleetBudget | null): void;
  /** Claims from the instant that all devices have reached to `endUs`. */
  claims(endUs: SimTime): FleetClaims;
  sums(): ClaimSums;
  ratings(): RatingSums;
  /** Takes over the shares of a piece of time. null: the fleet has no limits. */
  lead(piece: LedPiece | null): void;
}
