/**
 * The connection points of a plant: that of the whole site, of one device, and of a group of devices. Each is a *scope*
 * with powers and limits of its own.
 */
import type { Origin, Provenance } from '../core/origin.ts';

/**
 * Net power out of and into the scope (with the local loads beside its devices); sum of what its devices inject, and of
 * what they absorb.
 */
export const siteLimitNames = ['export', 'import', 'generation', 'load'] as const;
export type SiteLimitName = (typeof siteLimitNames)[number];

/** The highest limit that can be set, W. */
export const maxSiteLimitW = 1e9;
/** Groups of devices with limits at one time. */
export const maxSiteGroups = 100;
/** Owners of limits in one scope at one time. */
export const maxSiteOwners = 32;
/** Characters of the name of an owner. */
export const maxSiteOwnerLength = 128;

/** A limit rounded to milliwatts, the last decimal that REST shows, so that the limit in force is the one shown. */
export function resolvedLimitW(limitW: number | null): number | null {
  return limitW === null ? null : Math.round(limitW * 1000) / 1000;
}

/** The owner of limits set by an origin that names none: its source. REST and dashboard are one owner. */
export function siteOwnerOf({ source }: Origin): string {
  return source === 'dashboard' ? 'rest' : source;
}

/** Limits to set, W; null ends the limit of the owner, absent ones stay. */
export type SitePatch = { readonly [name in SiteLimitName]?: number | null };

/** Owner and scope of the limits that a patch sets. */
export interface SiteTarget {
  /** text that begins with the source, as `csip:<lfdi>`; absent: `siteOwnerOf` the writer */
  readonly owner?: string;
  /** indexes of one device or a group; absent: the whole site */
  readonly devices?: readonly number[];
}

export interface SiteLimitNow {
  /** the tightest of the owners' limits, W; null: no limit */
  readonly limitW: number | null;
  /** owner of that limit, of equal ones the owner that was there first; null: no limit */
  readonly owner: string | null;
  /** writer of that limit; without one the last writer that ended one; null: as started */
  readonly setBy: Provenance | null;
  /** the last allocation limited devices because of it */
  readonly binding: boolean;
  /** the power of the last tick lies beyond it */
  readonly exceeded: boolean;
}

/** The limits of one owner in one scope; at least one is not null. */
export interface SiteOwnerNow {
  readonly owner: string;
  /** W */
  readonly limitsW: Readonly<Record<SiteLimitName, number | null>>;
  /** last change of any of them */
  readonly changedBy: Provenance;
}

/** Powers of a scope at the end of the last tick, W, and its limits. */
export interface SiteNow {
  /** ascending indexes; null: the whole site */
  readonly devices: readonly number[] | null;
  /** injection less absorption less local loads; positive = exported into the grid */
  readonly netW: number;
  /** sum over the devices that inject */
  readonly generationW: number;
  /** sum over the devices that absorb, a magnitude */
  readonly consumptionW: number;
  /** sum of the local loads beside the devices */
  readonly loadW: number;
  readonly limits: Readonly<Record<SiteLimitName, SiteLimitNow>>;
  /** owners in the order of their first limit */
  readonly owners: readonly SiteOwnerNow[];
}

/** The limit that holds the power of a device. */
export interface SiteCut {
  /** devices of the scope; null: the whole site */
  readonly devices: readonly number[] | null;
  readonly limit: SiteLimitName;
  readonly limitW: number;
  readonly owner: string;
}
