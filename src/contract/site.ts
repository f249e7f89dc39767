/**
 * The connection points of a plant: that of the whole site, of one device, and of a group of devices. Each is a *scope*
 * with separate powers and limits.
 */
import type { Origin, Provenance } from '../core/origin.ts';

/**
 * `export`, `import`: net power out of and into the scope, with the local loads beside its devices; `generation`,
 * `load`: sums of the powers that its devices inject and absorb.
 */
export const siteLimitNames = ['export', 'import', 'generation', 'load'] as const;
export type SiteLimitName = (typeof siteLimitNames)[number];

/** The highest limit that can be set, W. */
export const maxSiteLimitW = 1e9;
/** Maximum number of groups of devices with limits. */
export const maxSiteGroups = 100;
/** Maximum number of owners of limits in one scope. */
export const maxSiteOwners = 32;
/** Maximum number of characters of the name of an owner. */
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
  /** owner of that limit, the earliest one if limits are equal; null: no limit */
  readonly owner: string | null;
  /** writer of that limit; with no limit the last writer that ended one; null: as started */
  readonly setBy: Provenance | null;
  /** true: the last allocation limited devices because of this limit */
  readonly binding: boolean;
  /** true: the power of the last tick is beyond the limit */
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

/** Limits by their name, W; null: no limit. */
export type SiteLimitsW = Readonly<Record<SiteLimitName, number | null>>;

export const fleetSiteModes = ['shared', 'fallback'] as const;
/** `shared`: by the leader of the fleet; `fallback`: it is away, and each process keeps to a part that is safe. */
export type FleetSiteMode = (typeof fleetSiteModes)[number];

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
  /** limits in force when the last tick ended, W, whatever was set since; null: no limit */
  readonly tickLimitsW: SiteLimitsW;
  /** owners in the order of their first limit */
  readonly owners: readonly SiteOwnerNow[];
  /** of the whole site, while a fleet around it has limits: who divides them; absent: it has none */
  readonly mode?: FleetSiteMode;
}

/** The limit that reduces the power of a device. */
export interface SiteCut {
  /** devices of the scope; null: the whole site */
  readonly devices: readonly number[] | null;
  readonly limit: SiteLimitName;
  readonly limitW: number;
  readonly owner: string;
}
