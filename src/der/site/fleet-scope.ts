/** The fleet around a site: claims of its devices, and limits of which they have a part. */
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { ClaimSums, FleetBudget, FleetClaims } from '../../contract/fleet-site.ts';
import type { SiteCut, SiteLimitName, SiteLimitsW } from '../../contract/site.ts';
import type { SiteScope } from './scopes.ts';
import type { SiteDevice, SiteSurroundings } from './surroundings.ts';

export const noBudgetW: SiteLimitsW = { export: null, import: null, generation: null, load: null };

type LimitsInForce = SiteScope['inForce'];

/** The limits that act on the devices. @param isLed true: those of the fleet itself, whose shares are made elsewhere */
export function budgetLimits({ limits, budgetW }: FleetBudget, isLed: boolean): LimitsInForce {
  const limitOf = (name: SiteLimitName) => {
    if (isLed) return limits[name];
    const limitW = budgetW[name];
    return limitW === null ? null : { limitW, owner: limits[name]?.owner ?? '' };
  };
  return {
    export: limitOf('export'),
    import: limitOf('import'),
    generation: limitOf('generation'),
    load: limitOf('load'),
  };
}

const pairs: Readonly<Record<SiteLimitName, readonly SiteLimitName[]>> = {
  export: ['export', 'generation'],
  generation: ['generation', 'export'],
  import: ['import', 'load'],
  load: ['load', 'import'],
};

/**
 * The limit of the fleet that holds a device.
 * @param name limit of the budget; a budget of gross power may follow from a limit of net power
 */
export function fleetCut({ limits, binding }: FleetBudget, name: SiteLimitName): SiteCut | null {
  const candidates = pairs[name].filter((each) => limits[each] !== null);
  const limit = candidates.find((each) => binding.includes(each)) ?? candidates[0];
  const inForce = limit === undefined ? null : limits[limit];
  return limit === undefined || inForce === null
    ? null
    : { devices: null, limit, limitW: inForce.limitW, owner: inForce.owner };
}

interface Piece {
  readonly from: SimTime;
  readonly end: SimTime;
  readonly revision: number;
}

/** Claims as `Site` reads them for a sharing of its own. */
export function claimsOf(
  devices: readonly SiteDevice[],
  surroundings: SiteSurroundings,
  { from, end, revision }: Piece,
  scopes: readonly SiteScope[],
): FleetClaims {
  const pieceS = secondsBetween(from, end);
  const column = (of: (device: SiteDevice) => number) => Float64Array.from(devices, of);
  return {
    indexes: devices.map(({ index }) => index),
    columns: {
      demandW: column(({ siteShare }) => siteShare.demandW),
      maxInjectW: column(({ siteShare }) => siteShare.maxInjectW),
      minInjectW: column(({ siteShare }) => siteShare.minInjectW),
      maxAbsorbW: column(({ siteShare }) => siteShare.maxAbsorbW),
      minAbsorbW: column(({ siteShare }) => siteShare.minAbsorbW),
      reachW: column(({ siteShare }) => siteShare.reachW(pieceS)),
      sleepW: column(({ siteShare }) => siteShare.sleepW),
      loadAtStartW: column(({ index }) => surroundings.loadW(index, from)),
      loadAtEndW: column(({ index }) => surroundings.loadW(index, end)),
    },
    scopes: scopes.map(({ devices: members, inForce }) => ({
      devices: members,
      limitsW: {
        export: inForce.export?.limitW ?? null,
        import: inForce.import?.limitW ?? null,
        generation: inForce.generation?.limitW ?? null,
        load: inForce.load?.limitW ?? null,
      },
    })),
    revision,
  };
}

/** Sums over the devices, as one device that injects and absorbs at once. */
export function sumsOf({ columns, indexes, scopes }: FleetClaims): ClaimSums {
  const sum = (of: (at: number) => number) => indexes.reduce((total, _, at) => total + of(at), 0);
  const at = (name: keyof FleetClaims['columns'], position: number) => columns[name][position] ?? 0;
  const loads = [sum((i) => at('loadAtStartW', i)), sum((i) => at('loadAtEndW', i))];
  // limits of the process itself bound what its devices can ask of the fleet
  const wholeW = scopes.find(({ devices }) => devices === null)?.limitsW ?? noBudgetW;
  return {
    injectW: Math.min(
      sum((i) => Math.max(0, at('demandW', i))),
      wholeW.generation ?? Infinity,
    ),
    absorbW: Math.min(
      sum((i) => Math.max(0, -at('demandW', i))),
      wholeW.load ?? Infinity,
    ),
    maxInjectW: sum((i) => at('maxInjectW', i)),
    maxAbsorbW: sum((i) => at('maxAbsorbW', i)),
    reachInjectW: sum((i) => Math.max(0, at('reachW', i))),
    reachAbsorbW: sum((i) => Math.max(0, -at('reachW', i))),
    sleepW: sum((i) => at('sleepW', i)),
    minLoadW: Math.min(...loads),
    maxLoadW: Math.max(...loads),
  };
}
