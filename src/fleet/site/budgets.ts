/**
 * Parts of the limits of a fleet that its shards have while the clock runs. A shard shares its part among its own devices
 * with its present loads. What it may count on from other shards is apart: it ends as soon as nobody renews it.
 */
import type { ClaimSums, FleetLimits, RatingSums } from '../../contract/fleet-site.ts';
import { siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteLimitsW } from '../../contract/site.ts';
import { noPowerOf } from './messages.ts';
import type { ShardBudget } from './messages.ts';
import type { SharedSums, SiteRules, SumShare } from './rules.ts';

/** A living shard. */
export interface BudgetedShard {
  readonly shard: string;
  /** null: none of its ticks has come */
  readonly ratings: RatingSums | null;
  /** null: it does not know of limits of the fleet yet */
  readonly claims: ClaimSums | null;
  /** false: it may be gone. Nobody counts on it, and its last budget stays its own. */
  readonly isRenewed: boolean;
}

export interface Budgets {
  readonly binding: SharedSums['binding'];
  readonly of: ReadonlyMap<string, ShardBudget>;
}

const byName = (of: (name: SiteLimitName) => number | null): SiteLimitsW => ({
  export: of('export'),
  import: of('import'),
  generation: of('generation'),
  load: of('load'),
});

const isInjecting = (name: SiteLimitName) => name === 'export' || name === 'generation';
const finite = (powerW: number) => (powerW === Infinity ? null : Math.max(0, powerW));

/** Powers that no share limits: they count against the part of their shard before anything is divided. */
function fixedW({ claims }: BudgetedShard, name: SiteLimitName): number {
  if (claims === null) return 0;
  if (name === 'import') return claims.maxLoadW + claims.sleepW;
  return name === 'load' ? claims.sleepW : 0;
}

/** Parts of one limit: what no share limits, and the rest by rating. Their sum is at most the limit. */
function partsOf(limitW: number, shards: readonly BudgetedShard[], name: SiteLimitName): readonly number[] {
  const rating = ({ ratings }: BudgetedShard) => (isInjecting(name) ? ratings?.maxInjectW : ratings?.maxAbsorbW) ?? 0;
  const sumOf = (of: (shard: BudgetedShard) => number) => shards.reduce((total, shard) => total + of(shard), 0);
  const fixedTotal = sumOf((shard) => fixedW(shard, name));
  const ratedTotal = sumOf(rating);
  // loads beyond the limit leave nothing to divide
  const factor = fixedTotal > limitW ? limitW / fixedTotal : 1;
  const restW = limitW - fixedTotal * factor;
  return shards.map(
    (shard) => fixedW(shard, name) * factor + (ratedTotal > 0 ? (restW * rating(shard)) / ratedTotal : 0),
  );
}

/** Parts that need nobody: their sum is the limit, whatever the devices do. */
function safeParts(limitsW: SiteLimitsW, shards: readonly BudgetedShard[]): ReadonlyMap<string, SiteLimitsW> {
  const parts = new Map(
    siteLimitNames.map((name) => {
      const limitW = limitsW[name];
      return [name, limitW === null ? null : partsOf(limitW, shards, name)] as const;
    }),
  );
  return new Map(shards.map(({ shard }, i) => [shard, byName((name) => parts.get(name)?.[i] ?? null)]));
}

/** Net powers that a shard surely stays below, where its loads and devices are as it has claimed; negative: it gives. */
function netOf(claims: ClaimSums, { injectW, absorbW }: SumShare) {
  const surely = (shareW: number, demandW: number, reachW: number) => Math.max(0, Math.min(shareW, demandW, reachW));
  const injectedW = surely(injectW, claims.injectW, claims.reachInjectW);
  const absorbedW = surely(absorbW, claims.absorbW, claims.reachAbsorbW);
  return {
    export: injectW - claims.minLoadW - claims.sleepW - absorbedW,
    import: absorbW + claims.maxLoadW + claims.sleepW - injectedW,
  };
}

type Counted = BudgetedShard & { readonly claims: ClaimSums };

/** Budgets of the shards that claim, of what the limits leave them. */
function sharedParts(
  limitsW: SiteLimitsW,
  shards: readonly Counted[],
  safe: ReadonlyMap<string, SiteLimitsW>,
  rules: Pick<SiteRules, 'shareSums'>,
) {
  const { shares, binding } = rules.shareSums(
    limitsW,
    shards.map(({ claims }) => claims),
  );
  const parts = shards.map(({ shard, claims }, i) => {
    const share = shares[i] ?? { injectW: 0, absorbW: 0 };
    return { shard, share, net: netOf(claims, share) };
  });
  /** factor by which the parts of a net limit shrink where no shard counts on another */
  const aloneOf = (name: 'export' | 'import') => {
    const total = parts.reduce((sum, { net }) => sum + Math.max(0, net[name]), 0);
    return Math.min(1, total > 0 ? (limitsW[name] ?? Infinity) / total : 1);
  };
  const alone = { export: aloneOf('export'), import: aloneOf('import') };
  const budgets = parts.map(({ shard, share, net }): readonly [string, ShardBudget] => {
    const { injectW, absorbW } = share;
    const netW = (name: 'export' | 'import', factor: number) =>
      limitsW[name] === null ? null : Math.max(0, net[name]) * factor;
    return [
      shard,
      {
        // a shard that gives to others must not take it back for its own devices
        shared: {
          export: netW('export', 1),
          import: netW('import', 1),
          generation: finite(injectW),
          load: finite(absorbW),
        },
        alone: {
          export: netW('export', alone.export),
          import: netW('import', alone.import),
          generation: limitsW.generation === null ? null : finite(injectW),
          load: limitsW.load === null ? null : finite(absorbW),
        },
        safe: safe.get(shard) ?? noBudget,
      },
    ];
  });
  return { binding, budgets };
}

const noBudget = byName(() => null);

/**
 * The budgets of all living shards.
 * @param former those that were sent last
 */
export function budgetsOf(
  limits: FleetLimits,
  shards: readonly BudgetedShard[],
  former: ReadonlyMap<string, ShardBudget>,
  rules: Pick<SiteRules, 'shareSums'>,
): Budgets {
  const safe = safeParts(
    byName((name) => limits[name] && limits[name].limitW),
    shards,
  );
  const safeOf = (shard: string) => safe.get(shard) ?? noPowerOf(limits);
  const budgetBy = (partW: SiteLimitsW, shard: string): ShardBudget => ({
    shared: partW,
    alone: partW,
    safe: safeOf(shard),
  });
  // one whose first tick is to come has nothing yet
  const present = shards.filter(({ ratings }) => ratings !== null);
  const renewed = present.filter(({ isRenewed }) => isRenewed);
  const counted = renewed.filter((shard): shard is Counted => shard.claims !== null);
  const kept = present
    .filter(({ isRenewed }) => !isRenewed)
    .map(({ shard }) => ({ shard, budget: former.get(shard) ?? budgetBy(safeOf(shard), shard) }));
  const left = byName((name) => {
    const limit = limits[name];
    const keptW = kept.reduce((total, { budget }) => total + (budget.shared[name] ?? 0), 0);
    return limit && Math.max(0, limit.limitW - keptW);
  });
  const { binding, budgets } =
    counted.length < renewed.length
      ? {
          binding: [],
          budgets: [...safeParts(left, renewed)].map(([shard, partW]) => [shard, budgetBy(partW, shard)] as const),
        }
      : sharedParts(left, counted, safe, rules);
  return {
    binding,
    of: new Map<string, ShardBudget>([
      ...shards.map(({ shard }) => [shard, budgetBy(noPowerOf(limits), shard)] as const),
      ...kept.map(({ shard, budget }) => [shard, { ...budget, safe: safeOf(shard) }] as const),
      ...budgets,
    ]),
  };
}
