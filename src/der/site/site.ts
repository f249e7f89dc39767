/**
 * The connection point of the site: sums the powers of the devices and shares the limits among them. Devices advance
 * one after the other. So for each short piece of time a limit is divided into one bound per device.
 */
import { microsPerSecond, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Provenance } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import { maxSiteLimitW, resolvedLimitW, siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteLimitNow, SiteNow, SitePatch } from '../../contract/site.ts';
import type { SiteShare } from '../inverter/site-share.ts';
import { createClaims, shareRoom } from './sharing.ts';
import type { Claims } from './sharing.ts';

export interface SiteDevice {
  readonly index: number;
  /** the public members only: any object with them serves */
  readonly siteShare: Pick<SiteShare, keyof SiteShare>;
}

/** Part of the environment that the site uses. */
export interface SiteSurroundings {
  /** local load beside a device, W */
  loadW(deviceIndex: number, t: SimTime): number;
  /** the next instant after `t` at which something jumps or bends */
  nextEvent(deviceIndex: number, t: SimTime): number;
}

/** Limits are shared again after at most this time, at whole seconds. */
const maxPieceMicros = microsPerSecond;
/** Rounds for the shares of both directions to converge, before injection counts on no absorption. */
const maxRounds = 8;
/** Rounding of sums, W. */
const negligibleW = 1e-3;

interface Limit {
  limitW: number | null;
  setBy: Provenance | null;
  binding: boolean;
}

export class Site {
  readonly #devices: () => readonly SiteDevice[];
  readonly #surroundings: SiteSurroundings;
  readonly #limits: Readonly<Record<SiteLimitName, Limit>>;
  #anyLimit = false;
  /** devices still have bounds */
  #boundsSet = false;
  #demands = createDemands(0);
  #now: Omit<SiteNow, 'limits'> = { netW: 0, generationW: 0, consumptionW: 0, loadW: 0 };

  constructor(devices: () => readonly SiteDevice[], surroundings: SiteSurroundings) {
    this.#devices = devices;
    this.#surroundings = surroundings;
    const open = (): Limit => ({ limitW: null, setBy: null, binding: false });
    this.#limits = { export: open(), import: open(), generation: open(), load: open() };
  }

  /** Powers of the last `measure`, and the present limits. */
  get now(): SiteNow {
    const limits = Object.fromEntries(siteLimitNames.map((name) => [name, this.#limitNow(name)])) as Record<
      SiteLimitName,
      SiteLimitNow
    >;
    return { ...this.#now, limits };
  }

  /**
   * Sets or ends limits, all or none of them, rounded to 1 mW; devices follow from the next piece of time on.
   * @throws SimError COMMAND_BAD_VALUE for a limit outside 0..`maxSiteLimitW`, or for none at all
   */
  set(patch: SitePatch, by: Provenance): void {
    const named = siteLimitNames.filter((name) => patch[name] !== undefined);
    if (named.length === 0)
      throw new SimError('COMMAND_BAD_VALUE', `give at least one limit of ${siteLimitNames.join(', ')}`);
    const issues = named.flatMap((name) => {
      const limitW = patch[name] ?? null;
      return limitW === null || (limitW >= 0 && limitW <= maxSiteLimitW)
        ? []
        : [{ name, detail: `given ${limitW} W; allowed: 0 to ${maxSiteLimitW} W, or null for no limit` }];
    });
    if (issues.length > 0) throw new SimError('COMMAND_BAD_VALUE', 'a limit of the site is out of range', issues);
    for (const name of named)
      Object.assign(this.#limits[name], { limitW: resolvedLimitW(patch[name] ?? null), setBy: by, binding: false });
    this.#anyLimit = siteLimitNames.some((name) => this.#limits[name].limitW !== null);
  }

  /** Takes over the powers of devices and loads at the end of a tick. */
  measure(): void {
    let generationW = 0,
      consumptionW = 0,
      loadW = 0;
    for (const { siteShare } of this.#devices()) {
      const { powerW } = siteShare;
      if (powerW > 0) generationW += powerW;
      else consumptionW -= powerW;
      loadW += siteShare.loadW;
    }
    this.#now = { netW: generationW - consumptionW - loadW, generationW, consumptionW, loadW };
  }

  /**
   * Sets the bounds of every device from `from` on; all devices have advanced to `from`.
   * @returns the end of the bounds, at most `to`; `to` itself without a limit
   */
  share(from: SimTime, to: SimTime): SimTime {
    if (!this.#anyLimit) {
      if (this.#boundsSet) this.#clearBounds();
      return to;
    }
    const end = this.#pieceEnd(from, to);
    const demands = this.#gather(secondsBetween(from, end));
    this.#allocate(demands, from, end);
    this.#devices().forEach(({ siteShare }, i) => {
      siteShare.admit(0 - (demands.absorbing.shareW[i] ?? 0), demands.injecting.shareW[i] ?? 0);
    });
    this.#boundsSet = true;
    return end;
  }

  #clearBounds(): void {
    for (const { siteShare } of this.#devices()) siteShare.admit(-Infinity, Infinity);
    this.#boundsSet = false;
  }

  #limitNow(name: SiteLimitName): SiteLimitNow {
    const { limitW, setBy, binding } = this.#limits[name];
    const { netW, generationW, consumptionW } = this.#now;
    const presentW = { export: netW, import: -netW, generation: generationW, load: consumptionW }[name];
    return { limitW, setBy, binding, exceeded: limitW !== null && presentW > limitW + negligibleW };
  }

  #limitW(name: SiteLimitName): number {
    return this.#limits[name].limitW ?? Infinity;
  }

  /** Pieces end at whole seconds, so that results do not depend on ticks, and where a load jumps. */
  #pieceEnd(from: SimTime, to: SimTime): SimTime {
    let end = Math.min(to, (Math.floor(from / maxPieceMicros) + 1) * maxPieceMicros);
    for (const { index } of this.#devices()) end = Math.min(end, this.#surroundings.nextEvent(index, from));
    return Math.max(end, from + 1) as SimTime;
  }

  /** Reads the demands of the devices for the next piece; fills and returns the one `Demands` of this site. */
  #gather(pieceS: number): Demands {
    const devices = this.#devices();
    if (this.#demands.reachW.length !== devices.length) this.#demands = createDemands(devices.length);
    const { injecting, absorbing, reachW } = this.#demands;
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
    return this.#demands;
  }

  /** Lowest and highest sum of the local loads, of the two ends of the piece. */
  #loads(from: SimTime, end: SimTime): readonly [minW: number, maxW: number] {
    let atStartW = 0,
      atEndW = 0;
    for (const { index } of this.#devices()) {
      atStartW += this.#surroundings.loadW(index, from);
      atEndW += this.#surroundings.loadW(index, end);
    }
    return [Math.min(atStartW, atEndW), Math.max(atStartW, atEndW)];
  }

  /**
   * Fills the shares. Power absorbed inside the site leaves room for injection, and the other way round: each direction
   * counts on the power that the other one surely reaches under its share. Where the rounds do not converge, injection
   * counts on no absorption.
   */
  #allocate({ injecting, absorbing, reachW }: Demands, from: SimTime, end: SimTime): void {
    const [minLoadW, maxLoadW] = this.#loads(from, end);
    for (const name of siteLimitNames) this.#limits[name].binding = false;
    shareRoom(absorbing, this.#limitW('load'));
    let absorbedW = assuredW(absorbing, reachW, -1);
    for (let round = 0; ; round += 1) {
      this.#shareUnder(injecting, 'generation', 'export', this.#limitW('export') + minLoadW + absorbedW);
      const injectedW = assuredW(injecting, reachW, 1);
      this.#shareUnder(absorbing, 'load', 'import', this.#limitW('import') - maxLoadW + injectedW);
      const nextAbsorbedW = assuredW(absorbing, reachW, -1);
      if (!(nextAbsorbedW < absorbedW)) break;
      absorbedW = round < maxRounds ? nextAbsorbedW : 0;
    }
  }

  /** Shares the tighter one: the limit of this direction, or the room that the net limit leaves. */
  #shareUnder(claims: Claims, own: SiteLimitName, net: SiteLimitName, netRoomW: number): void {
    const ownW = this.#limitW(own);
    const binds = shareRoom(claims, Math.max(0, Math.min(ownW, netRoomW)));
    this.#limits[own].binding = binds && ownW <= netRoomW;
    this.#limits[net].binding = binds && netRoomW < ownW;
  }
}

/** Demands of the devices in both directions, and the power that each surely reaches, + injected; by position. */
interface Demands {
  readonly injecting: Claims;
  readonly absorbing: Claims;
  readonly reachW: Float64Array;
}

function createDemands(count: number): Demands {
  return { injecting: createClaims(count), absorbing: createClaims(count), reachW: new Float64Array(count) };
}

/** Power that the devices together surely have in one direction within their shares, W. */
function assuredW({ demandW, shareW }: Claims, reachW: Float64Array, sign: 1 | -1): number {
  let sum = 0;
  for (let i = 0; i < shareW.length; i += 1) {
    sum += Math.max(0, Math.min(shareW[i] ?? 0, demandW[i] ?? 0, sign * (reachW[i] ?? 0)));
  }
  return sum;
}
