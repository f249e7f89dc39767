/**
 * Active power: the order of IEEE 1547-2018 4.7 and 5.4, 6.5.2.7 between limit, set-point, volt-watt, droop and
 * enter-service ramp, for devices that only deliver and for those that also take.
 */
import type { ActiveDecider } from '../../contract/grid-trace.ts';
import type { ControlFunction } from '../../contract/device.ts';
import { interpolate } from './curve.ts';
import { FrequencyDroop } from './droop.ts';
import { rampCommand, rampTowards, respond } from './ramp.ts';
import type { Settings } from './settings.ts';
import { SiteBound } from './site-bound.ts';

export interface ActiveInput {
  readonly settings: Settings;
  readonly nominalHz: number;
  /** null: the voltage is too low to measure it */
  readonly hz: number | null;
  readonly link: SourceLink;
  /** most power in either direction that the service phase admits, and which function says so */
  readonly serviceCeilingW: number;
  readonly serviceDecider: ActiveDecider;
  /** output of the last sub-step, W */
  readonly outputW: number;
  /** the output follows the functions: in service and not in cessation */
  readonly free: boolean;
  /** change of commands, W per second (704.WRmp) */
  readonly rampWS: number;
}

/** The source as active power sees it, at the AC terminals. */
export interface SourceLink {
  /** AC power that the source can give, and take, W */
  readonly availableW: number;
  readonly absorbableW: number;
  /** the same, but behind the ramps of the source */
  readonly potentialW: number;
  readonly potentialAbsorbableW: number;
  /** AC power at which the source runs when asked for `targetW`; null: nobody asks */
  answerW(targetW: number | null, floorW: number, ceilingW: number): number;
}

const negligibleW = 1e-3;
/** A percentage this close to its target has reached it. */
const negligiblePct = 1e-4;

export class ActivePower {
  readonly droop = new FrequencyDroop();
  /** what the connection point admits */
  readonly site = new SiteBound();
  /** what the functions together ask for, W */
  wantedW = 0;
  /** the same without the connection point */
  freeW = 0;
  decidedBy: ActiveDecider = 'source';
  /** a function keeps the power below what the source and the ratings would give */
  held = false;
  /** ramped limit and set-point, W */
  limitW: number;
  setPointW: number;
  limitTargetW: number;
  setPointTargetW: number;
  /** volt-watt: percent that the curve asks for and that the response has reached; base, W */
  voltWattTargetPct = 100;
  voltWattPct = 100;
  voltWattBaseW = 0;
  /** a ramp or response is under way */
  moving = false;
  /** gives all it can when nobody asks; any other source has a wish of its own, a storage that of rest */
  readonly #generator: boolean;
  /** a set-point is on, or the way back from it is not yet done */
  #asked = false;
  /** droop holds the power above limit or set-point */
  #raised = false;
  /** set-point, or the wish without one at the moment when droop began, W */
  #commandW = 0;
  /** on the way to what another policy gives, W; null: there */
  #glideW: number | null = null;
  #ceilingW = 0;
  #ceilingBy: ActiveDecider = 'source';
  /** the least ceiling beside what source and rating give, W */
  #openCeilingW = Infinity;
  /** how the source was asked for `freeW`, W; target null: nobody asked */
  readonly #asking = { targetW: null as number | null, floorW: 0, ceilingW: 0 };
  /** what all functions but droop gave in the last step, W */
  #normalW = 0;

  constructor(settings: Settings, generator: boolean) {
    this.#generator = generator;
    this.limitW = this.limitTargetW = limitTarget(settings);
    this.setPointW = this.setPointTargetW = this.#commandOf(settings) ?? this.#restW(settings);
    this.#asked = settings.setPointW !== null;
  }

  /** Commands that were not felt apply at once, and droop begins anew: on the way back into service. */
  skipRamps(settings: Settings): void {
    this.limitW = this.limitTargetW = limitTarget(settings);
    this.setPointW = this.setPointTargetW = this.#commandOf(settings) ?? this.#restW(settings);
    this.#asked = settings.setPointW !== null;
    this.#glideW = null;
    this.droop.reset();
  }

  /** A source has changed its policy: the power goes to what it gives now with 704.WRmp. */
  glideFrom(outputW: number): void {
    this.#glideW = outputW;
  }

  /** Nothing flows: droop has no power to start from. */
  stop(): void {
    this.wantedW = 0;
    this.freeW = 0;
    this.decidedBy = 'out_of_service';
    this.held = false;
    this.moving = false;
    this.droop.reset();
    this.site.arrive();
  }

  /** Names the functions that set or hold the power in the last step. */
  note(settings: Settings, active: Set<ControlFunction>): void {
    const { side, outputW } = this.droop;
    const reached = (ceilingW: number) => this.held && this.wantedW >= ceilingW - negligibleW;
    if (settings.maxPowerPct !== null && side !== 'under' && reached(this.limitW)) active.add('max_power');
    if (settings.setPointW !== null && side !== 'under' && Math.abs(this.wantedW - this.setPointW) <= negligibleW)
      active.add('active_power');
    if (this.voltWattPct < 100 && reached((this.voltWattPct / 100) * this.voltWattBaseW)) active.add('volt_watt');
    const raised = side === 'under' && this.wantedW > Math.min(this.limitW, this.setPointW) + negligibleW;
    if (raised || (side !== null && reached(outputW))) active.add('freq_droop');
    if (this.decidedBy === 'ramp' || this.decidedBy === 'enter_service') active.add(this.decidedBy);
  }

  /** The response of volt-watt follows the voltage, whether or not the device is in service. */
  follow({ voltWatt }: Settings, vPct: number, dtS: number): void {
    this.voltWattTargetPct = voltWatt.enabled ? interpolate(voltWatt.points, vPct) : 100;
    this.voltWattPct = respond(this.voltWattPct, this.voltWattTargetPct, voltWatt.responseS, dtS, negligiblePct);
  }

  /** Advances by `dtS`; Infinity goes to the end of all ramps and responses. */
  step(input: ActiveInput, dtS: number): void {
    const { settings, link } = input;
    const most = Math.min(link.availableW, settings.wMaxW);
    const least = -Math.min(link.absorbableW, settings.chargeMaxW);
    this.#rampCommands(input, most, least, dtS);
    this.voltWattBaseW = settings.voltWatt.ofAvailable ? Math.min(link.potentialW, settings.wMaxW) : settings.wMaxW;
    const voltWattW = this.voltWattPct >= 100 ? Infinity : (this.voltWattPct / 100) * this.voltWattBaseW;
    const wayBackW = this.#wayBackW(settings);
    const cappedW = Math.max(least, Math.min(most, this.limitW, voltWattW, wayBackW, secondLimitW(settings)));
    const normalW = this.#answer(input, this.#target(settings), least, cappedW);
    this.#normalW = normalW;
    // a wish that moves by itself while droop acts is no command
    if (this.#asked || this.droop.side === null) this.#commandW = this.setPointW;
    if (input.hz !== null) {
      this.droop.advance(
        settings.droop,
        {
          hz: input.hz,
          nominalHz: input.nominalHz,
          wMaxW: settings.wMaxW,
          presentW: input.outputW,
          normalW,
          capW: Math.min(this.limitW, this.#commandW),
          free: input.free,
          // the source may still be on its way there
          mostW: Math.min(link.potentialW, settings.wMaxW),
        },
        dtS,
      );
    }
    this.#decide(input, most, least, voltWattW, cappedW);
    if (this.#glideW !== null) this.#glide(input, this.#glideW, least, dtS);
    this.freeW = this.wantedW;
    const siteMoves = this.site.inForce && this.#boundBySite(input, dtS);
    this.moving =
      siteMoves ||
      this.#glideW !== null ||
      this.limitW !== this.limitTargetW ||
      this.setPointW !== this.setPointTargetW ||
      this.voltWattPct !== this.voltWattTargetPct ||
      this.droop.moving;
  }

  #rampCommands(input: ActiveInput, most: number, least: number, dtS: number): void {
    const { settings, outputW, rampWS } = input;
    this.limitTargetW = limitTarget(settings);
    // what droop has added or taken away is not the commands' doing: a ramp that began there would count it twice
    const feltW = this.droop.side === null ? outputW : this.#normalW;
    this.limitW = rampCommand(this.limitW, this.limitTargetW, feltW, rampWS, dtS);
    const command = this.#commandOf(settings);
    this.setPointTargetW =
      command ?? (this.#generator ? settings.wMaxW : this.#answer(input, null, least, Math.max(least, most)));
    if (command !== null) this.#asked = true;
    this.setPointW = this.#asked
      ? rampCommand(this.setPointW, this.setPointTargetW, feltW, rampWS, dtS)
      : this.setPointTargetW;
    if (command === null && this.setPointW === this.setPointTargetW) this.#asked = false;
  }

  /** On the rise from a set-point that has ended: no source goes ahead of the ramp, whatever its policy. */
  #wayBackW({ setPointW }: Settings): number {
    return this.#asked && setPointW === null && this.setPointW < this.setPointTargetW ? this.setPointW : Infinity;
  }

  /** What the source is asked for, or null. */
  #target({ wMaxW }: Settings): number | null {
    return this.#asked ? Math.min(wMaxW, this.setPointW) : null;
  }

  /** The source knows its own reach: what it is told are the limits beside, so that it sees what was asked for. */
  #answer({ link, settings }: ActiveInput, targetW: number | null, floorW: number, ceilingW: number): number {
    const openW = floorW <= -link.absorbableW ? -settings.chargeMaxW : floorW;
    const withinW = targetW === null ? null : Math.max(openW, Math.min(ceilingW, targetW));
    return link.answerW(withinW, Math.min(openW, ceilingW), ceilingW);
  }

  /**
   * The least of the ceilings, then what the source makes of it. While droop acts on low frequency it stands in the place
   * of limit and set-point (IEEE 1547.1-2020 5.16).
   */
  #decide(input: ActiveInput, most: number, least: number, voltWattW: number, cappedW: number): void {
    const { settings, serviceCeilingW, link } = input;
    const { side, outputW: droopW } = this.droop;
    // from low to high frequency at once: the power raised above the commands comes back by the response, not in a step
    this.#raised =
      side === 'under' || (side === 'over' && this.#raised && droopW > Math.min(this.limitW, this.setPointW));
    this.#ceilingW = most;
    this.#openCeilingW = Infinity;
    this.#ceilingBy = link.availableW > settings.wMaxW ? 'w_max' : 'source';
    if (!this.#raised) {
      this.#cap(this.limitW, settings.maxPowerPct !== null ? 'max_power' : 'ramp');
      this.#cap(this.#wayBackW(settings), 'ramp');
    }
    if (side !== null) this.#cap(droopW, 'freq_droop');
    this.#cap(voltWattW, 'volt_watt');
    this.#cap(secondLimitW(settings), 'second_limiter');
    this.#cap(serviceCeilingW, input.serviceDecider);
    const leastBy: ActiveDecider = -serviceCeilingW > least ? input.serviceDecider : 'charge_limit';
    const floorW = Math.max(least, -serviceCeilingW);
    if (this.#ceilingW < floorW) {
      this.#ceilingW = floorW;
      // a device that only delivers is at zero because of the ceiling
      if (floorW < 0) this.#ceilingBy = leastBy;
    }
    const targetW = this.#raised ? this.#ceilingW : this.#target(settings);
    // with no function but those that `normalW` has seen the source need not be asked again
    this.#ask(targetW, this.#raised ? this.#ceilingW : floorW, this.#ceilingW);
    const known = side === null && !this.#raised && floorW === least && this.#ceilingW === cappedW;
    this.wantedW = known ? this.#normalW : this.#answer(input, targetW, this.#asking.floorW, this.#ceilingW);
    this.#name(settings, targetW, floorW, leastBy);
  }

  #ask(targetW: number | null, floorW: number, ceilingW: number): void {
    this.#asking.targetW = targetW;
    this.#asking.floorW = floorW;
    this.#asking.ceilingW = ceilingW;
  }

  #glide(input: ActiveInput, fromW: number, least: number, dtS: number): void {
    const glideW = rampTowards(Math.min(fromW, this.#ceilingW), this.wantedW, input.rampWS, dtS);
    this.#glideW = glideW === this.wantedW ? null : glideW;
    if (this.#glideW === null) return;
    this.#ask(glideW, Math.min(least, glideW), glideW);
    this.wantedW = this.#answer(input, glideW, this.#asking.floorW, glideW);
    this.decidedBy = 'ramp';
    this.held = true;
  }

  /**
   * The bounds of the connection point come last: no function reaches beyond them, droop included.
   * @returns whether a bound that is felt is on its way
   */
  #boundBySite(input: ActiveInput, dtS: number): boolean {
    const { site } = this;
    const moves = site.follow(this.freeW, input.rampWS, dtS);
    // a source on its way beyond a bound decides by where the way leads
    const demandW = this.demandW(input.settings, input.link);
    if (demandW <= site.ceilingW && demandW >= site.floorW) return moves;
    const { targetW, floorW, ceilingW } = this.#asking;
    const boundCeilingW = Math.max(site.floorW, Math.min(ceilingW, site.ceilingW));
    this.wantedW = this.#answer(input, targetW, Math.min(boundCeilingW, Math.max(floorW, site.floorW)), boundCeilingW);
    if (Math.abs(this.wantedW - this.freeW) <= negligibleW) return moves;
    this.decidedBy = 'site';
    this.held = true;
    return moves;
  }

  /** What the device would run at without the connection point once ramps of its source are over, W. */
  demandW({ wMaxW, chargeMaxW }: Settings, link: SourceLink): number {
    const { freeW } = this;
    const { targetW, floorW } = this.#asking;
    if (freeW > 0 && freeW >= link.availableW - negligibleW) {
      return Math.max(freeW, Math.min(link.potentialW, wMaxW, this.#openCeilingW, targetW ?? Infinity));
    }
    if (freeW < 0 && freeW <= negligibleW - link.absorbableW) {
      const mostW = Math.min(link.potentialAbsorbableW, floorW <= -link.absorbableW ? chargeMaxW : -floorW);
      return Math.min(freeW, Math.max(-mostW, targetW ?? -Infinity));
    }
    return freeW;
  }

  /** Which of ceiling, set-point, floor and source decided. */
  #name(settings: Settings, targetW: number | null, floorW: number, leastBy: ActiveDecider): void {
    const { wantedW } = this;
    const asked = targetW !== null && !this.#raised && targetW < this.#ceilingW;
    // a wish that lies below every ceiling is free of them, even where it meets one
    const free = targetW === null && !this.#generator && this.setPointW <= this.#ceilingW + negligibleW;
    this.held = false;
    if (!asked && !free && wantedW >= this.#ceilingW - negligibleW) {
      this.decidedBy = this.#ceilingBy;
      this.held = this.#ceilingBy !== 'source' && this.#ceilingBy !== 'w_max' && this.#ceilingBy !== 'charge_limit';
    } else if (asked && Math.abs(wantedW - Math.max(floorW, targetW)) <= negligibleW) {
      const bound = targetW < floorW - negligibleW;
      this.decidedBy = bound ? leastBy : settings.setPointW !== null ? 'active_power' : 'ramp';
      this.held = this.decidedBy !== 'charge_limit';
    } else {
      this.decidedBy = !this.#generator && targetW === null && Math.abs(wantedW) <= negligibleW ? 'idle' : 'source';
    }
  }

  #cap(ceilingW: number, by: ActiveDecider): void {
    this.#openCeilingW = Math.min(this.#openCeilingW, ceilingW);
    if (ceilingW >= this.#ceilingW) return;
    this.#ceilingW = ceilingW;
    this.#ceilingBy = by;
  }

  /** The set-point within the ratings, or null. */
  #commandOf({ setPointW, wMaxW, chargeMaxW }: Settings): number | null {
    // a demand to charge is one for nothing on a device that cannot; a ramp below zero would only delay the way back
    return setPointW === null ? null : Math.max(-chargeMaxW, Math.min(wMaxW, setPointW));
  }

  #restW({ wMaxW }: Settings): number {
    return this.#generator ? wMaxW : 0;
  }
}

/** What fault injection adds: a limit that no register shows. */
function secondLimitW({ secondLimitPct, wMaxW }: Settings): number {
  return secondLimitPct === undefined ? Infinity : (wMaxW * secondLimitPct) / 100;
}

function limitTarget({ maxPowerPct, wMaxW }: Settings): number {
  return maxPowerPct === null ? wMaxW : (wMaxW * maxPowerPct) / 100;
}
