/**
 * The connection points of the site: sums the powers of the devices and shares the limits among them. Devices advance
 * one after the other, so for each short piece of time a limit is divided into one bound per device.
 */
import { keptParts, keptRecord, keptThen } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { microsPerSecond, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Provenance } from '../../core/origin.ts';
import type { ClaimSums, FleetBudget, FleetClaims, LedPiece, RatingSums } from '../../contract/fleet-site.ts';
import { siteLimitNames } from '../../contract/site.ts';
import type {
  SiteCut,
  SiteLimitName,
  SiteLimitNow,
  SiteLimitsW,
  SiteNow,
  SitePatch,
  SiteTarget,
} from '../../contract/site.ts';
import { Allocation } from './allocation.ts';
import { budgetLimits, claimsOf, fleetCut, noBudgetW, sumsOf } from './fleet-scope.ts';
import type { Metering } from './metering.ts';
import { scopeDevices, SiteScope, SiteScopes } from './scopes.ts';
import type { SiteDevice, SiteSurroundings } from './surroundings.ts';

/** Limits are shared again after at most this time, at whole seconds. */
const maxPieceMicros = microsPerSecond;
/** Rounding of sums, W. */
const negligibleW = 1e-3;

/** The scopes with limits, bound to the present devices by position. */
interface Bound {
  readonly devices: readonly SiteDevice[];
  /** null: the fleet around the site, behind all others */
  readonly scopes: readonly (SiteScope | null)[];
  /** limits of each scope that the allocation shares */
  readonly limits: readonly SiteScope['inForce'][];
  /** positions of the devices of each scope */
  readonly members: readonly (readonly number[])[];
  /** positions of the scopes whose limits depend on local loads */
  readonly loaded: readonly number[];
  readonly allocation: Allocation;
  /** true: the shares are those of the leader of the fleet */
  readonly isLed: boolean;
}

/** State of a site without meters. */
const nothingKept = keptParts({});

type Powers = Pick<SiteNow, 'netW' | 'generationW' | 'consumptionW' | 'loadW'>;

export class Site {
  /** null: no meters */
  readonly #metering: Pick<Metering, keyof Metering> | null;
  readonly #devices: () => readonly SiteDevice[];
  readonly #surroundings: SiteSurroundings;
  readonly #scopes = new SiteScopes();
  /** limits at the end of the last tick of the scopes whose limits were set since */
  readonly #tickLimits = new Map<string, SiteLimitsW>();
  #bound: Bound | null = null;
  /** limits have changed since the last sharing */
  #stale = false;
  #anyLimit = false;
  /** devices still have bounds */
  #boundsSet = false;
  /** end of the present bounds */
  #end = 0;
  /** limits of the fleet around the site; null: none */
  #fleet: FleetBudget | null = null;
  /** end of shares that the leader of the fleet has made */
  #ledUntil = 0;
  /** number of changes of the limits of the own scopes */
  #revision = 0;
  /** devices of the last `measure`, with their powers and local loads by position */
  #measured: readonly SiteDevice[] = [];
  #powerW = new Float64Array(0);
  #loadW = new Float64Array(0);
  #whole: Powers = { netW: 0, generationW: 0, consumptionW: 0, loadW: 0 };

  constructor(
    devices: () => readonly SiteDevice[],
    surroundings: SiteSurroundings,
    metering: Pick<Metering, keyof Metering> | null = null,
  ) {
    this.#metering = metering;
    this.#devices = devices;
    this.#surroundings = surroundings;
  }

  /**
   * State that a restart keeps; the bounds themselves are in the devices, which are restored before. An allocation for
   * other devices than the present ones is not kept: the next piece of time makes a new one.
   */
  kept(): Kept {
    return keptParts({
      scopes: keptThen(this.#scopes.kept(), () => {
        this.#changed();
      }),
      sharing: this.#keptSharing(),
      powers: this.#keptPowers(),
      metering: this.#metering?.kept() ?? nothingKept,
    });
  }

  #keptSharing(): Kept {
    return keptRecord(
      () => {
        // the fleet is joined anew after a restart, and brings its limits then
        const isOwn = this.#bound?.scopes.at(-1) !== null;
        const bound = isOwn && this.#bound?.devices === this.#devices() ? this.#bound : null;
        return {
          stale: this.#stale,
          boundsSet: this.#boundsSet,
          end: this.#end,
          indexes: bound && bound.devices.map(({ index }) => index),
          bound: bound && {
            scopes: bound.scopes.map((scope) => ({
              devices: scope?.devices ?? null,
              present: this.#scopes.of(scope?.devices ?? null) === scope,
            })),
            limits: bound.limits,
            allocation: bound.allocation.kept().save(),
          },
        };
      },
      ({ stale, boundsSet, end, indexes, bound }) => {
        const devices = this.#devices();
        this.#boundsSet = boundsSet;
        this.#stale = stale;
        this.#end = end;
        this.#bound = null;
        if (!bound || !indexes || !sameIndexes(devices, indexes)) return;
        // a scope that has ended since the last sharing has no limit
        const scopeOf = (members: readonly number[] | null, present: boolean) =>
          (present ? this.#scopes.of(members) : null) ?? new SiteScope(members);
        this.#bound = boundOf(
          devices,
          bound.scopes.map((scope) => scopeOf(scope.devices, scope.present)),
          bound.limits,
        );
        this.#bound.allocation.kept().restore(bound.allocation);
      },
    );
  }

  #keptPowers(): Kept {
    return keptRecord(
      () => ({
        indexes: this.#measured.map(({ index }) => index),
        powerW: [...this.#powerW],
        loadW: [...this.#loadW],
        whole: this.#whole,
        tickLimits: [...this.#tickLimits],
      }),
      ({ indexes, powerW, loadW, whole, tickLimits }) => {
        this.#tickLimits.clear();
        for (const [key, limits] of tickLimits) this.#tickLimits.set(key, limits);
        const devices = this.#devices();
        if (!sameIndexes(devices, indexes)) return;
        this.#measured = devices;
        this.#powerW = Float64Array.from(powerW);
        this.#loadW = Float64Array.from(loadW);
        this.#whole = whole;
      },
    );
  }

  /** Powers of the last `measure`, and the present limits. */
  get now(): SiteNow {
    return this.#stateOf(null);
  }

  /** As `now`, of a device or group. @throws SimError COMMAND_BAD_VALUE for an empty list */
  of(devices: readonly number[]): SiteNow {
    return this.#stateOf(scopeDevices(devices));
  }

  /** The whole site, then the devices and groups with limits, inner ones before outer ones. */
  get scopes(): SiteNow[] {
    const parts = this.#scopes.limited.filter(({ devices }) => devices !== null);
    return [this.now, ...parts.map(({ devices }) => this.#stateOf(devices))];
  }

  /** Devices of each group with limits. */
  get groups(): readonly (readonly number[])[] {
    return this.#scopes.groups;
  }

  /**
   * The limit that holds a device at its present power; null: none, or the limit has ended. One that is set in its place
   * counts from the next sharing on.
   */
  cutOf(deviceIndex: number): SiteCut | null {
    if (!this.#bound) return null;
    const { devices, scopes, limits, allocation } = this.#bound;
    const position = positionOf(devices, deviceIndex);
    const cut = allocation.cutOf(position, devices[position]?.siteShare.powerW ?? 0);
    const scope = cut && scopes[cut.scope];
    if (cut && scope === null) return this.#fleet && fleetCut(this.#fleet, cut.limit);
    const tightest = cut && limits[cut.scope]?.[cut.limit];
    if (!cut || !scope || !tightest || scope.tightest(cut.limit) === null) return null;
    return { devices: scope.devices, limit: cut.limit, limitW: tightest.limitW, owner: tightest.owner };
  }

  /**
   * Sets or ends limits of one owner, all or none of them; devices follow from the next piece of time on.
   * @throws SimError as `SiteScopes.set`
   */
  set(patch: SitePatch, by: Provenance, target: SiteTarget = {}): void {
    const { devices: named } = target;
    const devices = named === undefined || named.length === 0 ? null : scopeDevices(named);
    const before = limitsOf(this.#scopes.of(devices));
    this.#scopes.set(patch, by, target);
    const key = tickKey(devices);
    if (!this.#tickLimits.has(key)) this.#tickLimits.set(key, before);
    this.#changed();
  }

  /** Ends the scope of a removed device, and removes the device from its groups. */
  forget(deviceIndex: number): void {
    this.#scopes.forget(deviceIndex);
    this.#changed();
  }

  #changed(): void {
    this.#stale = true;
    this.#revision += 1;
    this.#anyLimit = this.#scopes.anyLimit;
  }

  /** Takes over the powers of devices and loads, and shows them in every meter, while no tick runs. */
  measure(): void {
    this.#takeOver();
    this.#metering?.publish(this.#devices());
  }

  /** Measures the flows of the meters at the end of a tick, to which all devices have advanced. */
  beginPublish(): void {
    this.#metering?.measure(this.#devices());
  }

  /** Shows the measured flows in the map of a device that has just shown its own values. */
  published(deviceIndex: number): void {
    this.#metering?.showIn(deviceIndex);
  }

  /** Takes over the powers of devices and loads, and shows the meter of the connection point, when all are published. */
  endPublish(): void {
    this.#tickLimits.clear();
    this.#takeOver();
    this.#metering?.showConnection();
  }

  #takeOver(): void {
    const devices = this.#devices();
    if (devices.length !== this.#powerW.length) {
      this.#powerW = new Float64Array(devices.length);
      this.#loadW = new Float64Array(devices.length);
    }
    this.#measured = devices;
    let generationW = 0,
      consumptionW = 0,
      loadW = 0;
    devices.forEach(({ siteShare }, i) => {
      const { powerW } = siteShare;
      if (powerW > 0) generationW += powerW;
      else consumptionW -= powerW;
      loadW += siteShare.loadW;
      this.#powerW[i] = powerW;
      this.#loadW[i] = siteShare.loadW;
    });
    this.#whole = { netW: generationW - consumptionW - loadW, generationW, consumptionW, loadW };
  }

  /** Counts the metered energies up to the instant that `share` returned, to which all devices have advanced. */
  advanced(to: SimTime): void {
    this.#metering?.advance(to);
  }

  /**
   * Sets the bounds of every device from `from` on; all devices have advanced to `from`. Bounds stay until their piece
   * of time is over, also beyond `to`, so that results do not depend on the length of ticks.
   * @returns the earliest of the end of the bounds (where there is a limit), `to`, and the end of the meters' interval
   */
  share(from: SimTime, to: SimTime): SimTime {
    return this.#share(from, this.#metering?.begin(this.#devices(), from, to) ?? to);
  }

  /** The instant at which `share` ends a piece from `from` at the latest; Infinity: it does not. */
  nextCut(from: SimTime): number {
    const metered = this.#metering?.nextCut(from) ?? Infinity;
    return this.anyLimit ? Math.min(metered, this.nextSharing(from)) : metered;
  }

  /** True if limits are in force. */
  get anyLimit(): boolean {
    return this.#anyLimit || this.#fleet !== null;
  }

  /** Limits of the fleet around the site, and the part of them that the devices have; null: none. */
  get fleet(): FleetBudget | null {
    return this.#fleet;
  }

  /** Devices follow from the next piece of time on, unless the leader of the fleet has shared it. */
  setFleet(fleet: FleetBudget | null): void {
    this.#fleet = fleet;
    this.#stale = true;
    if (fleet === null) this.#ledUntil = 0;
  }

  /** Claims of the devices, which have all advanced to `from`, up to `end`. */
  claims(from: SimTime, end: SimTime): FleetClaims {
    return claimsOf(this.#devices(), this.#surroundings, { from, end, revision: this.#revision }, this.#scopes.limited);
  }

  /** Sums of the ratings of devices that can inject and absorb now. */
  get ratings(): RatingSums {
    let [maxInjectW, maxAbsorbW] = [0, 0];
    for (const { siteShare } of this.#devices()) {
      maxInjectW += siteShare.maxInjectW;
      maxAbsorbW += siteShare.maxAbsorbW;
    }
    return { maxInjectW, maxAbsorbW };
  }

  /** Sums of the claims of the second from `from` on. */
  claimSums(from: SimTime): ClaimSums {
    return sumsOf(this.claims(from, (from + maxPieceMicros) as SimTime));
  }

  /** Takes over the shares of a piece of time that the leader of the fleet has made; null: the fleet has no limits. */
  lead(piece: LedPiece | null): void {
    if (piece === null) {
      if (this.#fleet !== null) this.setFleet(null);
      return;
    }
    const { limits, endUs, shares } = piece;
    this.#ledUntil = endUs;
    this.#fleet = { budgetW: noBudgetW, binding: [], mode: 'shared', ...this.#fleet, limits };
    if (shares === null) return;
    const bound = this.#bindScopes(true);
    bound.allocation.take(shares);
    this.#admit(bound);
  }

  #share(from: SimTime, to: SimTime): SimTime {
    if (!this.anyLimit) {
      if (this.#boundsSet) this.#clearBounds();
      return to;
    }
    if (from < this.#ledUntil) return Math.min(this.#ledUntil, to) as SimTime;
    const bound = this.#bind();
    const end = this.nextSharing(from);
    if (end !== this.#end || !this.#loadsExpected(bound, from, end)) {
      this.#gather(bound, from, end);
      this.#allocate(bound);
      this.#end = end;
    }
    return Math.min(end, to) as SimTime;
  }

  #clearBounds(): void {
    for (const { siteShare } of this.#devices()) siteShare.admit(-Infinity, Infinity);
    this.#bound = null;
    this.#boundsSet = false;
  }

  #powersOf(devices: readonly number[]): Powers {
    let generationW = 0,
      consumptionW = 0,
      loadW = 0;
    for (const index of devices) {
      const position = positionOf(this.#measured, index);
      const powerW = this.#powerW[position] ?? 0;
      if (powerW > 0) generationW += powerW;
      else consumptionW -= powerW;
      loadW += this.#loadW[position] ?? 0;
    }
    return { netW: generationW - consumptionW - loadW, generationW, consumptionW, loadW };
  }

  /** Power of a device as the sums have it, W; 0 for one that joined after them. */
  powerOf(index: number): number {
    return this.#powerW[positionOf(this.#measured, index)] ?? 0;
  }

  #stateOf(devices: readonly number[] | null): SiteNow {
    const scope = this.#scopes.of(devices);
    const powers = devices === null ? this.#whole : this.#powersOf(devices);
    const limits = Object.fromEntries(
      siteLimitNames.map((name) => [name, limitNow(scope, name, powers, this.#binds(scope, name))]),
    ) as Record<SiteLimitName, SiteLimitNow>;
    return {
      devices,
      ...powers,
      limits,
      tickLimitsW: this.#tickLimits.get(tickKey(devices)) ?? limitsOf(scope),
      owners: scope?.owners ?? [],
      ...(devices === null && this.#fleet && { mode: this.#fleet.mode }),
    };
  }

  /** True if the last sharing limited devices because of a limit that has not been changed since. */
  #binds(scope: SiteScope | null, name: SiteLimitName): boolean {
    if (!scope || !this.anyLimit || !this.#bound || scope.fresh[name]) return false;
    const position = this.#bound.scopes.indexOf(scope);
    return position >= 0 && this.#bound.allocation.binds(position, name);
  }

  /** The scopes as the allocation needs them; created again after a change of limits or devices. */
  #bind(): Bound {
    const devices = this.#devices();
    if (!this.#stale && this.#bound?.devices === devices && !this.#bound.isLed) return this.#bound;
    return this.#bindScopes(false);
  }

  #bindScopes(isLed: boolean): Bound {
    const scopes = this.#scopes.limited;
    const limits = scopes.map(({ inForce }) => inForce);
    const bound = this.#fleet
      ? boundOf(this.#devices(), [...scopes, null], [...limits, budgetLimits(this.#fleet, isLed)], isLed)
      : boundOf(this.#devices(), scopes, limits);
    for (const { fresh } of scopes) for (const name of siteLimitNames) fresh[name] = false;
    this.#end = 0;
    this.#stale = false;
    return (this.#bound = bound);
  }

  /** Pieces with limits end at whole seconds and where a load jumps. */
  nextSharing(from: SimTime): SimTime {
    let end = (Math.floor(from / maxPieceMicros) + 1) * maxPieceMicros;
    for (const { index } of this.#devices()) end = Math.min(end, this.#surroundings.nextEvent(index, from));
    return Math.max(end, from + 1) as SimTime;
  }

  /** Reads demands and loads of the devices for the next piece. */
  #gather({ devices, members, loaded, allocation }: Bound, from: SimTime, end: SimTime): void {
    const { injecting, absorbing, reachW, minLoadW, maxLoadW, sleepW } = allocation;
    const pieceS = secondsBetween(from, end);
    devices.forEach(({ siteShare }, i) => {
      const { demandW } = siteShare;
      injecting.demandW[i] = Math.max(0, demandW);
      injecting.weightW[i] = siteShare.maxInjectW;
      injecting.minW[i] = siteShare.minInjectW;
      absorbing.demandW[i] = Math.max(0, -demandW);
      absorbing.weightW[i] = siteShare.maxAbsorbW;
      absorbing.minW[i] = siteShare.minAbsorbW;
      reachW[i] = siteShare.reachW(pieceS);
    });
    members.forEach((positions, s) => {
      sleepW[s] = positions.reduce((sum, position) => sum + (devices[position]?.siteShare.sleepW ?? 0), 0);
    });
    for (const s of loaded) {
      const atStartW = this.#loadOf(devices, members[s] ?? [], from);
      const atEndW = this.#loadOf(devices, members[s] ?? [], end);
      minLoadW[s] = Math.min(atStartW, atEndW);
      maxLoadW[s] = Math.max(atStartW, atEndW);
    }
  }

  #loadOf(devices: readonly SiteDevice[], members: readonly number[], t: SimTime): number {
    let sum = 0;
    for (const position of members) sum += this.#surroundings.loadW(devices[position]?.index ?? -1, t);
    return sum;
  }

  /** True if the loads of the rest of a piece are in the range for which its bounds were computed. */
  #loadsExpected({ devices, members, loaded, allocation }: Bound, from: SimTime, end: SimTime): boolean {
    return loaded.every((s) =>
      [from, end].every((t) => {
        const loadW = this.#loadOf(devices, members[s] ?? [], t);
        const [lowestW, highestW] = [allocation.minLoadW[s] ?? 0, allocation.maxLoadW[s] ?? 0];
        return loadW >= lowestW - negligibleW && loadW <= highestW + negligibleW;
      }),
    );
  }

  #allocate(bound: Bound): void {
    bound.allocation.allocate();
    this.#admit(bound);
  }

  #admit({ devices, allocation }: Bound): void {
    const { injecting, absorbing } = allocation;
    devices.forEach(({ siteShare }, i) => {
      siteShare.admit(0 - (absorbing.shareW[i] ?? 0), injecting.shareW[i] ?? 0);
    });
    this.#boundsSet = true;
  }
}

/** @param limits of each scope */
function boundOf(
  devices: readonly SiteDevice[],
  scopes: Bound['scopes'],
  limits: Bound['limits'],
  isLed = false,
): Bound {
  const all = [...devices.keys()];
  const members = scopes.map((scope) => scope?.devices?.map((index) => positionOf(devices, index)) ?? all);
  const limitW = (s: number, name: SiteLimitName) => limits[s]?.[name]?.limitW ?? Infinity;
  const allocation = new Allocation(
    members.map((positions, s) => ({
      members: positions,
      limitsW: {
        export: limitW(s, 'export'),
        import: limitW(s, 'import'),
        generation: limitW(s, 'generation'),
        load: limitW(s, 'load'),
      },
    })),
    devices.length,
  );
  const loaded = [...scopes.keys()].filter((s) => limits[s]?.export ?? limits[s]?.import);
  return { devices, scopes, limits, members, loaded, allocation, isLed };
}

function sameIndexes(devices: readonly SiteDevice[], indexes: readonly number[]): boolean {
  return devices.length === indexes.length && devices.every(({ index }, i) => index === indexes[i]);
}

function limitsOf(scope: SiteScope | null): SiteLimitsW {
  const limitOf = (name: SiteLimitName) => scope?.tightest(name)?.limitW ?? null;
  return {
    export: limitOf('export'),
    import: limitOf('import'),
    generation: limitOf('generation'),
    load: limitOf('load'),
  };
}

const tickKey = (devices: readonly number[] | null) => devices?.join() ?? '';

function limitNow(scope: SiteScope | null, name: SiteLimitName, powers: Powers, binding: boolean): SiteLimitNow {
  const { netW, generationW, consumptionW } = powers;
  const presentW = { export: netW, import: -netW, generation: generationW, load: consumptionW }[name];
  const tightest = scope?.tightest(name) ?? null;
  return {
    limitW: tightest?.limitW ?? null,
    owner: tightest?.owner ?? null,
    setBy: scope?.setBy(name) ?? null,
    binding,
    exceeded: tightest !== null && presentW > tightest.limitW + negligibleW,
  };
}

/** Position of a device in a list by ascending index; -1 when it is not there. */
function positionOf(devices: readonly SiteDevice[], index: number): number {
  let [low, high] = [0, devices.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const middleIndex = devices[middle]?.index ?? 0;
    if (middleIndex === index) return middle;
    if (middleIndex < index) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
