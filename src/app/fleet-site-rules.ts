/** The rules of the site of one process for the leader of a fleet, which knows no devices of its own. */
import type { ClaimSums } from '../contract/fleet-site.ts';
import { siteLimitNames } from '../contract/site.ts';
import type { SiteLimitName, SiteLimitsW } from '../contract/site.ts';
import type { JsonValue } from '../core/store.ts';
import { Allocation } from '../der/site/allocation.ts';
import { FleetAllocation } from '../der/site/fleet-allocation.ts';
import { SiteScopes } from '../der/site/scopes.ts';
import type { SharedSums, ShownLimits, SiteRules } from '../fleet/site/rules.ts';

/** The limits of a book. @throws SimError INTERNAL */
function scopesOf(book: JsonValue | null): SiteScopes {
  const scopes = new SiteScopes();
  if (book !== null) scopes.kept().restore(book);
  return scopes;
}

function shownOf({ whole }: SiteScopes): ShownLimits {
  const limitOf = (name: SiteLimitName) => {
    const { limitW = null, owner = null } = whole.tightest(name) ?? {};
    return { limitW, owner, setBy: whole.setBy(name) };
  };
  return {
    limits: {
      export: limitOf('export'),
      import: limitOf('import'),
      generation: limitOf('generation'),
      load: limitOf('load'),
    },
    owners: whole.owners,
  };
}

const sum = (claims: readonly ClaimSums[], of: (each: ClaimSums) => number) =>
  claims.reduce((total, each) => total + of(each), 0);

/** Each shard has two positions: one that injects, and one that absorbs. */
function shareSums(limitsW: SiteLimitsW, claims: readonly ClaimSums[]): SharedSums {
  if (claims.length === 0) return { shares: [], binding: [] };
  const positions = claims.flatMap((_, i) => [2 * i, 2 * i + 1]);
  const limitOf = (name: SiteLimitName) => limitsW[name] ?? Infinity;
  const scope = {
    members: positions,
    limitsW: {
      export: limitOf('export'),
      import: limitOf('import'),
      generation: limitOf('generation'),
      load: limitOf('load'),
    },
  };
  const allocation = new Allocation([scope], positions.length);
  const { injecting, absorbing, reachW } = allocation;
  claims.forEach((each, i) => {
    injecting.demandW[2 * i] = each.injectW;
    injecting.weightW[2 * i] = each.maxInjectW;
    reachW[2 * i] = each.reachInjectW;
    absorbing.demandW[2 * i + 1] = each.absorbW;
    absorbing.weightW[2 * i + 1] = each.maxAbsorbW;
    reachW[2 * i + 1] = -each.reachAbsorbW;
  });
  allocation.minLoadW[0] = sum(claims, ({ minLoadW }) => minLoadW);
  allocation.maxLoadW[0] = sum(claims, ({ maxLoadW }) => maxLoadW);
  allocation.sleepW[0] = sum(claims, ({ sleepW }) => sleepW);
  allocation.allocate();
  return {
    shares: claims.map((_, i) => ({
      injectW: injecting.shareW[2 * i] ?? 0,
      absorbW: absorbing.shareW[2 * i + 1] ?? 0,
    })),
    binding: siteLimitNames.filter((name) => allocation.binds(0, name)),
  };
}

export const fleetSiteRules: SiteRules = {
  change(book, patch, by, owner) {
    const scopes = scopesOf(book);
    scopes.set(patch, by, owner === undefined ? {} : { owner });
    return scopes.kept().save();
  },
  shown: (book) => shownOf(scopesOf(book)),
  createSharing: () => new FleetAllocation(),
  shareSums,
};
