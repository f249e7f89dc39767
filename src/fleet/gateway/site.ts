/** The site of a whole fleet: powers of its shards at their newest ticks, and the limits that concern all of them. */
import { siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteLimitNow } from '../../contract/site.ts';
import type { AssetType } from '../../contract/device.ts';
import { plainOrigin } from '../../core/origin.ts';
import { HttpProblem } from '../../api/http/errors.ts';
import { ownerIn, siteAnswer, siteBodySchema, sitePatch, siteRoutes } from '../../api/site.ts';
import type { KindPower, ShownSite } from '../../api/site.ts';
import { FleetError } from '../link.ts';
import type { TickSite } from '../messages.ts';
import type { SiteKeeper, SiteShard } from '../site/keeper.ts';
import type { ForwardedReply } from './forward.ts';
import { missingOf } from './lists.ts';
import { datesOf, fleetTime } from './time.ts';
import type { TimedFleet, TimeRequest } from './time.ts';
import type { FleetView } from './view.ts';

/** Rounding of sums, W. */
const negligibleW = 1e-3;

export interface LimitedFleet extends TimedFleet {
  readonly site: Pick<SiteKeeper, 'now' | 'change'>;
}

/** Living shards in the order of their devices. */
export function siteShards(view: Pick<FleetView, 'places' | 'shards' | 'ticks'>): readonly SiteShard[] {
  return view.places().flatMap(({ name, isLost }) => {
    const shard = view.shards.get(name);
    if (isLost || shard === undefined) return [];
    const newest = view.ticks.newest(name);
    // the last tick of an earlier process says nothing about this one
    const head = newest?.head.session === shard.lease.session ? newest.head : null;
    const { ratings = null, claims = null } = head?.site ?? {};
    return [{ shard: name, seenMs: shard.seenMs, ratings, claims, tick: head?.tick ?? null }];
  });
}

const sum = (sites: readonly TickSite[], of: (site: TickSite) => number) =>
  sites.reduce((total, site) => total + of(site), 0);

function kindsOf(sites: readonly TickSite[]): ShownSite['byKind'] {
  const kinds: Partial<Record<AssetType, KindPower>> = {};
  for (const { kinds: ofShard } of sites)
    for (const [kind, [injectW, absorbW]] of Object.entries(ofShard)) {
      const powers = (kinds[kind as AssetType] ??= { deliveredW: 0, absorbedW: 0 });
      powers.deliveredW += injectW;
      powers.absorbedW += absorbW;
    }
  return kinds;
}

export class SiteOperations {
  readonly #fleet: LimitedFleet;

  constructor(fleet: LimitedFleet) {
    this.#fleet = fleet;
  }

  /** @throws HttpProblem, SimError */
  async answer({ operationId, query, body, by }: TimeRequest): Promise<ForwardedReply> {
    // a request of another gateway comes over the wire
    siteRoutes.find((route) => route.operationId === operationId)?.check({ params: {}, query, body });
    if (operationId === 'set_site') {
      this.#checkVersions();
      const limits = siteBodySchema().parse(body);
      const { sim, wallMs } = fleetTime(this.#fleet);
      await reached(
        this.#fleet.site.change(sitePatch(limits), { ...plainOrigin(by), at: sim, wallMs }, ownerIn(limits, by).owner),
      );
    }
    const bytes = Buffer.from(JSON.stringify(this.#shown()));
    return { status: 200, type: 'application/json', headers: {}, bytes };
  }

  /** A shard of an earlier version would not keep a limit. @throws HttpProblem `fleet-unsupported` */
  #checkVersions(): void {
    const { places, newest } = this.#fleet;
    const older = places().find(({ name, isLost }) => {
      const tick = newest(name);
      return !isLost && tick !== null && tick.head.site === undefined;
    });
    if (older !== undefined)
      throw new HttpProblem(
        'fleet-unsupported',
        `The shard "${older.name}" is of a version without limits of the fleet: update it, or set limits of single shards.`,
      );
  }

  #shown() {
    const { places, newest, site } = this.#fleet;
    const time = fleetTime(this.#fleet);
    const parts = places().map((place) => {
      const head = place.isLost ? undefined : newest(place.name)?.head;
      return { place, tick: head?.tick ?? 0, site: head?.site };
    });
    const sites = parts.flatMap((part) => part.site ?? []);
    const [generationW, consumptionW, loadW] = [
      sum(sites, (each) => each.generationW),
      sum(sites, (each) => each.consumptionW),
      sum(sites, (each) => each.loadW),
    ];
    const netW = generationW - consumptionW - loadW;
    const presentW = { export: netW, import: -netW, generation: generationW, load: consumptionW };
    const { limits, owners, binding, mode } = site.now;
    const limitNow = (name: SiteLimitName): SiteLimitNow => ({
      ...limits[name],
      binding: binding.includes(name),
      exceeded: presentW[name] > (limits[name].limitW ?? Infinity) + negligibleW,
    });
    const byName = <T>(of: (name: SiteLimitName) => T) =>
      Object.fromEntries(siteLimitNames.map((name) => [name, of(name)])) as Record<SiteLimitName, T>;
    const shown: ShownSite = {
      devices: null,
      netW,
      generationW,
      consumptionW,
      loadW,
      limits: byName(limitNow),
      tickLimitsW: byName((name) => limits[name].limitW),
      owners,
      byKind: kindsOf(sites),
      ...(mode !== null && { mode }),
      missing: parts.flatMap(({ place, site: ofShard }) =>
        ofShard === undefined ? [missingOf(place, 'shard-lost')] : [],
      ),
      tick: Math.min(...parts.flatMap((part) => (part.site === undefined ? [] : [part.tick])), time.tick),
      simMs: time.dateMs,
    };
    return siteAnswer.reply(shown, { plant: { dateMs: datesOf(time) } });
  }
}

async function reached(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    const reason = `The limits of the fleet cannot be kept: ${error.message}.`;
    throw new HttpProblem(error.code === 'timeout' ? 'upstream-timeout' : 'fleet-offline', reason);
  }
}
