/** The connection point of the site: its power and its limits. */
import type { Provenance } from '../core/origin.ts';

/** Net power out of and into the site; sum of what devices inject, and of what they absorb. */
export const siteLimitNames = ['export', 'import', 'generation', 'load'] as const;
export type SiteLimitName = (typeof siteLimitNames)[number];

/** The highest limit that can be set, W. */
export const maxSiteLimitW = 1e9;

/** A limit rounded to milliwatts, the last decimal that REST shows, so that the limit in force is the one shown. */
export function resolvedLimitW(limitW: number | null): number | null {
  return limitW === null ? null : Math.round(limitW * 1000) / 1000;
}

/** Limits to set, W; null ends one, absent ones stay. */
export type SitePatch = { readonly [name in SiteLimitName]?: number | null };

export interface SiteLimitNow {
  /** W; null: no limit */
  readonly limitW: number | null;
  /** last writer; null: as started */
  readonly setBy: Provenance | null;
  /** the last allocation limited devices because of it */
  readonly binding: boolean;
  /** the power of the last tick lies beyond it */
  readonly exceeded: boolean;
}

/** Powers at the end of the last tick, W. */
export interface SiteNow {
  /** injection less absorption less local loads; positive = exported into the grid */
  readonly netW: number;
  /** sum over the devices that inject */
  readonly generationW: number;
  /** sum over the devices that absorb, a magnitude */
  readonly consumptionW: number;
  /** sum of the local loads beside the devices */
  readonly loadW: number;
  readonly limits: Readonly<Record<SiteLimitName, SiteLimitNow>>;
}
