/**
 * The limits of the whole fleet in a gateway: all of them know the limits, and the one that leads changes them, shares
 * them in steps, and tells the shards their budgets while the clock runs.
 */
import type { ClaimSums, FleetClaims, FleetLimits, LedPiece, RatingSums } from '../../contract/fleet-site.ts';
import { siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SitePatch } from '../../contract/site.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Provenance } from '../../core/origin.ts';
import type { SimTime, WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { StepSharing } from '../clock/barrier.ts';
import { replaceShared } from '../clock/store.ts';
import { FleetError } from '../link.ts';
import type { FleetLink, Stop } from '../link.ts';
import { budgetsOf } from './budgets.ts';
import { readBudgets, sharesSubject } from './messages.ts';
import type { BudgetMessage, ShardBudget } from './messages.ts';
import { decodedSite, encodedSite, siteEntry, siteKey } from './record.ts';
import type { SiteRecord } from './record.ts';
import type { DeviceSharing, ShownLimits, SiteRules } from './rules.ts';

/** between two looks at what has come */
const lookMs = 100;
/** shards hear of the leader at least so often */
const tellMs = 500;
const retryMs = 1000;
/** nobody counts on a shard whose lease was not renewed for so long */
export const renewedMs = 1250;
/** the leader is away when it has told nothing for so long */
export const silentMs = 5000;

/** A living shard with what its newest tick says of its site. */
export interface SiteShard {
  readonly shard: string;
  /** monotonic ms of the last renewal of its lease */
  readonly seenMs: number;
  readonly ratings: RatingSums | null;
  readonly claims: ClaimSums | null;
  /** number of its newest tick; null: none has come */
  readonly tick: number | null;
}

export interface SiteKeeperOptions {
  readonly link: Pick<FleetLink, 'state' | 'onState' | 'shared' | 'publish' | 'subscribe'>;
  readonly prefix: string;
  readonly wall: Pick<WallClock, 'monotonicMs' | 'nowMs'>;
  readonly later: Later;
  readonly isLeader: () => boolean;
  /** the fleet of the clock; null: no shard has started yet */
  readonly fleet: () => string | null;
  /** in the order of their devices */
  readonly shards: () => readonly SiteShard[];
  readonly rules: SiteRules;
  readonly log: Pick<Logger, 'info' | 'warning'>;
}

/** Limits of the fleet, and whether they restrict devices. */
export interface FleetSiteNow extends ShownLimits {
  readonly binding: readonly SiteLimitName[];
  /** null: the fleet has no limits */
  readonly mode: 'shared' | 'fallback' | null;
}

const hasLimit = (limits: FleetLimits) => siteLimitNames.some((name) => limits[name] !== null);

export class SiteKeeper implements StepSharing {
  readonly #options: SiteKeeperOptions;
  #record: SiteRecord | null = null;
  #stops: Stop[] = [];
  #cancel: Stop = () => undefined;
  #stopRetry: Stop = () => undefined;
  #sharing: DeviceSharing;
  /** budgets of the last message of this gateway */
  #sent: ReadonlyMap<string, ShardBudget> = new Map();
  /** revision, shards and ticks of the last message */
  #sentKey = '';
  #sentMs = -Infinity;
  /** the last message of any leader */
  #heard: { readonly message: BudgetMessage; readonly ms: number } | null = null;

  constructor(options: SiteKeeperOptions) {
    this.#options = options;
    this.#sharing = options.rules.createSharing();
  }

  start(): void {
    const { link, prefix, wall, log } = this.#options;
    const onFailure = (error: unknown) => {
      log.warning(`the limits of the fleet: ${errorText(error)}`);
    };
    this.#stops = [
      link.onState((state) => {
        if (state === 'connected') void this.#restore();
      }),
      link.shared.watch(siteKey, ({ value }) => {
        try {
          if (value !== null) this.#take(decodedSite(value));
        } catch (error) {
          onFailure(error);
        }
      }),
      link.subscribe(sharesSubject(prefix), (body) => {
        try {
          this.#heard = { message: readBudgets(body), ms: wall.monotonicMs() };
        } catch (error) {
          onFailure(error);
        }
      }),
    ];
    this.#plan();
  }

  stop(): void {
    this.#cancel();
    this.#stopRetry();
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  #take(record: SiteRecord): void {
    if (this.#record === null || record.revision > this.#record.revision) this.#record = record;
  }

  /** The limits of the present fleet; null: none were set yet. */
  get #present(): SiteRecord | null {
    return this.#record?.fleet === this.#options.fleet() ? this.#record : null;
  }

  /** Limits as shards hear them: those of a fleet that has ended bind none of its shards that is still there. */
  get #told(): Pick<SiteRecord, 'revision' | 'limits'> | null {
    return this.#present ?? (this.#record && { revision: this.#record.revision, limits: null });
  }

  get now(): FleetSiteNow {
    const { rules, wall } = this.#options;
    const present = this.#present;
    const heard = this.#heard?.message.revision === present?.revision ? this.#heard : null;
    const isHeard = heard !== null && wall.monotonicMs() - heard.ms < silentMs;
    return {
      ...rules.shown(present?.book ?? null),
      binding: isHeard ? heard.message.binding : [],
      mode: this.isLimited ? (isHeard ? 'shared' : 'fallback') : null,
    };
  }

  /** Sets or ends limits of one owner. @throws SimError as `Plant.setSite`; FleetError */
  async change(patch: SitePatch, by: Provenance, owner: string | undefined): Promise<void> {
    const { link, rules, log, wall, fleet: fleetNow } = this.#options;
    const fleet = fleetNow();
    if (fleet === null) throw new FleetError('no-responder', 'no shard has joined the fleet yet');
    const record = await replaceShared<SiteRecord>(link, siteEntry, (stored) => {
      // a server may have lost its store
      const present = stored ?? this.#record;
      const book = rules.change(present?.fleet === fleet ? present.book : null, patch, by, owner);
      const limits = limitsOf(rules.shown(book));
      // a gateway that is new to a server without its store knows no former revision, but its shards do
      const revision = Math.max((present?.revision ?? 0) + 1, Math.floor(wall.nowMs()));
      return { v: 1, fleet, revision, limits: hasLimit(limits) ? limits : null, book };
    });
    if (record !== null) this.#take(record);
    log.info(`limits of the whole fleet by ${by.source}: ${textOf(record?.limits ?? null)}`);
    this.#look();
  }

  get isLimited(): boolean {
    return (this.#present?.limits ?? null) !== null;
  }

  /** A new leader shares anew. */
  beginTerm(): void {
    this.#sharing = this.#options.rules.createSharing();
    this.#sent = new Map();
    this.#sentKey = '';
    void this.#restore();
  }

  /** Writes the limits again on a server that has lost its store. */
  async #restore(): Promise<void> {
    const { link, later, log, isLeader } = this.#options;
    this.#stopRetry();
    const record = this.#present;
    if (record === null || !isLeader()) return;
    try {
      await link.shared.create(siteKey, encodedSite(record));
    } catch (error) {
      if (error instanceof FleetError && error.code === 'conflict') return;
      if (link.state !== 'connected' || this.#stops.length === 0) return;
      log.warning(`the limits of the fleet cannot be written again: ${errorText(error)}`);
      this.#stopRetry = later(retryMs, () => void this.#restore());
    }
  }

  share(claims: readonly FleetClaims[], endUs: SimTime): readonly LedPiece[] {
    const { limits = null, revision = 0 } = this.#present ?? {};
    if (limits === null) return [];
    const shares = this.#sharing.share(claims, limits, revision, endUs);
    return claims.map((_, i) => ({ limits, endUs, shares: shares?.[i] ?? null }));
  }

  #plan(): void {
    this.#cancel = this.#options.later(lookMs, () => {
      this.#look();
      this.#plan();
    });
  }

  /** Tells the shards their budgets where something has changed, and from time to time. */
  #look(): void {
    const { isLeader, wall, shards } = this.#options;
    const record = this.#told;
    if (record === null || !isLeader()) return;
    const nowMs = wall.monotonicMs();
    const present = shards().map(({ seenMs, ...shard }) => ({ ...shard, isRenewed: nowMs - seenMs < renewedMs }));
    const key = JSON.stringify([
      record.revision,
      present.map(({ shard, isRenewed, tick }) => [shard, isRenewed, tick]),
    ]);
    if (key === this.#sentKey && nowMs - this.#sentMs < tellMs) return;
    this.#sentKey = key;
    this.#sentMs = nowMs;
    this.#tell(record, present);
  }

  #tell({ limits, revision }: Pick<SiteRecord, 'revision' | 'limits'>, shards: Parameters<typeof budgetsOf>[1]): void {
    const { link, prefix, rules, wall } = this.#options;
    const { binding, of } = limits === null ? noBudgets : budgetsOf(limits, shards, this.#sent, rules);
    this.#sent = of;
    const message: BudgetMessage = { revision, limits, binding, budgets: Object.fromEntries(of) };
    link.publish(sharesSubject(prefix), Buffer.from(JSON.stringify(message)));
    // it comes back some time later
    this.#heard = { message, ms: wall.monotonicMs() };
  }
}

/** Limits in force in words. */
const textOf = (limits: FleetLimits | null) =>
  siteLimitNames.flatMap((name) => (limits?.[name] ? [`${name} ${limits[name].limitW / 1000} kW`] : [])).join(', ') ||
  'none';

const noBudgets: ReturnType<typeof budgetsOf> = { binding: [], of: new Map() };

function limitsOf({ limits }: ShownLimits): FleetLimits {
  const limitOf = (name: SiteLimitName) => {
    const { limitW, owner } = limits[name];
    return limitW === null ? null : { limitW, owner: owner ?? '' };
  };
  return {
    export: limitOf('export'),
    import: limitOf('import'),
    generation: limitOf('generation'),
    load: limitOf('load'),
  };
}
