/**
 * The connection point of the site: sums what the devices behind it do, and shares its limits among them. Devices advance
 * one after the other, so a limit becomes a bound of each for a short piece of time, such that the bounds together keep it.
 */
import { microsPerSecond, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Provenance } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import { mostSiteLimitW, resolvedLimitW, siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteLimitNow, SiteNow, SitePatch } from '../../contract/site.ts';
import type { SiteShare } from '../inverter/site-share.ts';
import { createClaims, shareRoom } from './sharing.ts';
import type { Claims } from './sharing.ts';

export interface SiteDevice {
  readonly index: number;
  readonly siteShare: SiteShare;
}

/** What the site needs of the surroundings. */
export interface SiteSurroundings {
  /** local load beside a device, W */
  loadW(deviceIndex: number, t: SimTime): number;
  /** the next instant after `t` at which something jumps or bends */
  nextEvent(deviceIndex: number, t: SimTime): number;
}

/** Limits are shared anew after at most this long, at whole seconds. */
const longestPieceMicros = microsPerSecond;
/** Rounds in which both directions may find each other, before one goes without the other. */
const mostRounds = 8;
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
  #limited = false;
  /** devices have bounds that are not yet taken back */
  #shared = false;
  #injecting = createClaims(0);
  #absorbing = createClaims(0);
  #reachW = new Float64Array(0);
  #now: Omit<SiteNow, 'limits'> = { netW: 0, generationW: 0, consumptionW: 0, loadW: 0 };

  constructor(devices: () => readonly SiteDevice[], surroundings: SiteSurroundings) {
    this.#devices = devices;
    this.#surroundings = surroundings;
    const open = (): Limit => ({ limitW: null, setBy: null, binding: false });
    this.#limits = { export: open(), import: open(), generation: open(), load: open() };
  }

  /** Powers of the last `measure`, and the limits of this moment. */
  get now(): SiteNow {
    const limits = Object.fromEntries(siteLimitNames.map((name) => [name, this.#limitNow(name)])) as Record<
      SiteLimitName,
      SiteLimitNow
    >;
    return { ...this.#now, limits };
  }

  /**
   * Sets or ends limits, all or none of them, rounded to 1 mW; devices follow from the next piece of time on.
   * @throws SimError COMMAND_BAD_VALUE for a limit outside 0..`mostSiteLimitW`, or for none at all
   */
  set(patch: SitePatch, by: Provenance): void {
    const named = siteLimitNames.filter((name) => patch[name] !== undefined);
    if (named.length === 0)
      throw new SimError('COMMAND_BAD_VALUE', `give at least one limit of ${siteLimitNames.join(', ')}`);
    const faults = named.flatMap((name) => {
      const limitW = patch[name] ?? null;
      return limitW === null || (limitW >= 0 && limitW <= mostSiteLimitW)
        ? []
        : [{ name, detail: `given ${limitW} W; allowed: 0 to ${mostSiteLimitW} W, or null for no limit` }];
    });
    if (faults.length > 0) throw new SimError('COMMAND_BAD_VALUE', 'a limit of the site is out of range', faults);
    for (const name of named)
      Object.assign(this.#limits[name], { limitW: resolvedLimitW(patch[name] ?? null), setBy: by, binding: false });
    this.#limited = siteLimitNames.some((name) => this.#limits[name].limitW !== null);
  }

  /** Takes over what the devices and loads are at now, the end of a tick. */
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
   * Gives every device its bounds for the time from `from` on, at which all of them stand.
   * @returns how far they hold: no later than `to`; `to` itself where there is no limit
   */
  share(from: SimTime, to: SimTime): SimTime {
    if (!this.#limited) {
      if (this.#shared) this.#release();
      return to;
    }
    const end = this.#pieceEnd(from, to);
    this.#gather(secondsBetween(from, end));
    this.#allocate(from, end);
    this.#shared = true;
    return end;
  }

  #release(): void {
    for (const { siteShare } of this.#devices()) siteShare.admit(-Infinity, Infinity);
    this.#shared = false;
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

  /** Whole seconds do not depend on where ticks fall; a load that jumps does so between two pieces. */
  #pieceEnd(from: SimTime, to: SimTime): SimTime {
    let end = Math.min(to, (Math.floor(from / longestPieceMicros) + 1) * longestPieceMicros);
    for (const { index } of this.#devices()) end = Math.min(end, this.#surroundings.nextEvent(index, from));
    return Math.max(end, from + 1) as SimTime;
  }

  /** What the devices ask for and can be counted on to do within the piece. */
  #gather(pieceS: number): void {
    const devices = this.#devices();
    if (this.#reachW.length !== devices.length) {
      this.#injecting = createClaims(devices.length);
      this.#absorbing = createClaims(devices.length);
      this.#reachW = new Float64Array(devices.length);
    }
    const [inject, absorb] = [this.#injecting, this.#absorbing];
    devices.forEach(({ siteShare }, i) => {
      const { demandW } = siteShare;
      inject.demandW[i] = Math.max(0, demandW);
      inject.weightW[i] = siteShare.mostW;
      inject.leastW[i] = siteShare.leastGivenW;
      absorb.demandW[i] = Math.max(0, -demandW);
      absorb.weightW[i] = siteShare.mostAbsorbedW;
      absorb.leastW[i] = siteShare.leastAbsorbedW;
      this.#reachW[i] = siteShare.reachW(pieceS);
    });
  }

  /** Local loads at their least and most, as far as the ends of the piece tell. */
  #loads(from: SimTime, end: SimTime): readonly [leastW: number, mostW: number] {
    let atStartW = 0,
      atEndW = 0;
    for (const { index } of this.#devices()) {
      atStartW += this.#surroundings.loadW(index, from);
      atEndW += this.#surroundings.loadW(index, end);
    }
    return [Math.min(atStartW, atEndW), Math.max(atStartW, atEndW)];
  }

  /**
   * What is absorbed inside the site leaves room for injection, and the other way round: each direction counts on what
   * the other one surely does under its share. Where the two do not find each other, injection counts on nothing.
   */
  #allocate(from: SimTime, end: SimTime): void {
    const [leastLoadW, mostLoadW] = this.#loads(from, end);
    for (const name of siteLimitNames) this.#limits[name].binding = false;
    shareRoom(this.#absorbing, this.#limitW('load'));
    let absorbedW = this.#counted(this.#absorbing, -1);
    for (let round = 0; ; round += 1) {
      this.#shareUnder(this.#injecting, 'generation', 'export', this.#limitW('export') + leastLoadW + absorbedW);
      const injectedW = this.#counted(this.#injecting, 1);
      this.#shareUnder(this.#absorbing, 'load', 'import', this.#limitW('import') - mostLoadW + injectedW);
      const countedW = this.#counted(this.#absorbing, -1);
      if (!(countedW < absorbedW)) break;
      absorbedW = round < mostRounds ? countedW : 0;
    }
    this.#devices().forEach(({ siteShare }, i) => {
      siteShare.admit(0 - (this.#absorbing.shareW[i] ?? 0), this.#injecting.shareW[i] ?? 0);
    });
  }

  /** Shares the tighter of a limit of one direction and of what the connection point leaves to it. */
  #shareUnder(claims: Claims, own: SiteLimitName, net: SiteLimitName, netRoomW: number): void {
    const ownW = this.#limitW(own);
    const binds = shareRoom(claims, Math.max(0, Math.min(ownW, netRoomW)));
    this.#limits[own].binding = binds && ownW <= netRoomW;
    this.#limits[net].binding = binds && netRoomW < ownW;
  }

  /** Power that devices surely have in one direction within their shares, W. */
  #counted({ demandW, shareW }: Claims, sign: 1 | -1): number {
    let sum = 0;
    for (let i = 0; i < shareW.length; i += 1) {
      sum += Math.max(0, Math.min(shareW[i] ?? 0, demandW[i] ?? 0, sign * (this.#reachW[i] ?? 0)));
    }
    return sum;
  }
}
