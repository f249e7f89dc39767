/** The rules of the site of one process, which the leader of a fleet runs for all of them. */
import type { ClaimSums, FleetClaims, FleetLimits, FleetShares } from '../../contract/fleet-site.ts';
import type { SiteLimitName, SiteLimitNow, SiteLimitsW, SiteNow, SitePatch } from '../../contract/site.ts';
import type { Provenance } from '../../core/origin.ts';
import type { JsonValue } from '../../core/store.ts';

/** Limits of the whole fleet as replies show them. */
export interface ShownLimits extends Pick<SiteNow, 'owners'> {
  readonly limits: Readonly<Record<SiteLimitName, Pick<SiteLimitNow, 'limitW' | 'owner' | 'setBy'>>>;
}

/** Shares of shards, W; Infinity: no limit. */
export interface SumShare {
  readonly injectW: number;
  readonly absorbW: number;
}

export interface SharedSums {
  readonly shares: readonly SumShare[];
  /** limits because of which shards get less than they claim */
  readonly binding: readonly SiteLimitName[];
}

/** Shares a piece of time among devices; null: the present shares stay. */
export interface DeviceSharing {
  share(
    claims: readonly FleetClaims[],
    limits: FleetLimits,
    revision: number,
    endUs: number,
  ): readonly FleetShares[] | null;
}

export interface SiteRules {
  /**
   * @param book null: no limit yet
   * @returns the book after the change
   * @throws SimError as `Plant.setSite`
   */
  change(book: JsonValue | null, patch: SitePatch, by: Provenance, owner: string | undefined): JsonValue;
  shown(book: JsonValue | null): ShownLimits;
  /** A sharing that keeps its shares until their end. */
  createSharing(): DeviceSharing;
  /** Shares limits among shards, each as one device that injects and absorbs at once. */
  shareSums(limitsW: SiteLimitsW, claims: readonly ClaimSums[]): SharedSums;
}
