/**
 * Active power: limit, set-point, volt-watt, droop and enter-service ramp in the order of IEEE 1547-2018 4.7, 5.4 and
 * 6.5.2.7, for devices that only inject and for those that also absorb.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { ActiveDecider } from '../../contract/grid-trace.ts';
import type { ControlFunction } from '../../contract/device.ts';
import { interpolate } from './settings.ts';
import { FrequencyDroop } from './droop.ts';
import { rampCommand, rampTowards, respond } from './ramp.ts';
import type { Settings } from './settings.ts';

/**
 * The decision of all functions about active power in one sub-step: range and target of the source, resulting power,
 * and responsible function. `ActivePower` owns one object and refills it in every sub-step, beginning with `start`, so
 * that sub-steps allocate nothing. Between sub-steps it holds the last decision.
 */
export class ActiveDecision {
  /** target of the source, W; null: the source chooses within floor and ceiling */
  targetW: number | null = null;
  floorW = 0;
  floorBy: ActiveDecider = 'charge_limit';
  ceilingW = 0;
  ceilingBy: ActiveDecider = 'source';
  /** lowest ceiling of the functions, W; the source and the settings of 702 are left out */
  functionCeilingW = Infinity;
  /** power of the source, W */
  powerW = 0;
  decidedBy: ActiveDecider = 'source';

  /** Begins a new decision with the ceiling of the source and the settings of 702. */
  start(ceilingW: number, by: ActiveDecider): void {
    this.ceilingW = ceilingW;
    this.ceilingBy = by;
    this.functionCeilingW = Infinity;
  }

  /** Adds the ceiling of one function; the lowest ceiling counts, on a tie the first. */
  cap(ceilingW: number, by: ActiveDecider): void {
    this.functionCeilingW = Math.min(this.functionCeilingW, ceilingW);
    if (ceilingW >= this.ceilingW) return;
    this.ceilingW = ceilingW;
    this.ceilingBy = by;
  }

  /** Sets the floor. Where the ceiling lies below it, the ceiling rises to the floor. */
  raiseTo(floorW: number, by: ActiveDecider): void {
    this.floorW = floorW;
    this.floorBy = by;
    if (this.ceilingW >= floorW) return;
    this.ceilingW = floorW;
    // a device that only delivers is at zero because of the ceiling
    if (floorW < 0) this.ceilingBy = by;
  }

  /** State that a restart keeps: the members that are read between sub-steps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        targetW: this.targetW,
        floorW: this.floorW,
        functionCeilingW: this.functionCeilingW,
        powerW: this.powerW,
      }),
      (saved) => {
        ({
          targetW: this.targetW,
          floorW: this.floorW,
          functionCeilingW: this.functionCeilingW,
          powerW: this.powerW,
        } = saved);
      },
    );
  }

  /** Narrows range and target. */
  narrow(targetW: number | null, floorW: number, ceilingW: number): void {
    this.targetW = targetW;
    this.floorW = floorW;
    this.ceilingW = ceilingW;
  }
}

/** The next bound, as a magnitude. @param freeW power of the device without the bound */
function nextBound(fromW: number, towardsW: number, freeW: number, stepW: number): number {
  // a bound that does not limit the power needs no ramp
  return towardsW <= fromW || fromW >= freeW ? towardsW : Math.min(towardsW, fromW + stepW);
}

/**
 * Bounds of one device at the connection point of the site. A tighter bound holds at once: a ramp must not exceed the
 * limit of the site. After a wider one the power rises with 704.WRmp.
 */
class SiteBound {
  /** upper bound of this sub-step, W; infinite: none */
  ceilingW = Infinity;
  /** lower bound of this sub-step, W; infinite: none */
  floorW = -Infinity;
  /** rate of widening in the last sub-step with a bound, W/s */
  rateWS = Infinity;
  /** true: a bound is in force or ramping out */
  inForce = false;
  #admittedW = Infinity;
  #admittedFloorW = -Infinity;

  /** The lower bound in force or pending, W; -Infinity: none. */
  get admittedFloorW(): number {
    return this.#admittedFloorW;
  }

  /** @param floorW 0 or less; -Infinity: none @param ceilingW 0 or more; Infinity: none */
  admit(floorW: number, ceilingW: number): void {
    this.#admittedFloorW = floorW;
    this.#admittedW = ceilingW;
    this.inForce ||= floorW !== -Infinity || ceilingW !== Infinity;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => this.#state,
      (saved) => {
        this.#state = saved;
      },
    );
  }

  /** Takes over the state of another one, which advances by itself. */
  resume(other: SiteBound): void {
    this.#state = other.#state;
  }

  get #state() {
    return {
      ceilingW: this.ceilingW,
      floorW: this.floorW,
      rateWS: this.rateWS,
      inForce: this.inForce,
      admittedW: this.#admittedW,
      admittedFloorW: this.#admittedFloorW,
    };
  }

  set #state(state) {
    ({
      ceilingW: this.ceilingW,
      floorW: this.floorW,
      rateWS: this.rateWS,
      inForce: this.inForce,
      admittedW: this.#admittedW,
      admittedFloorW: this.#admittedFloorW,
    } = state);
  }

  /** Applies new bounds without a ramp, since no power flows. */
  jump(): void {
    this.ceilingW = this.#admittedW;
    this.floorW = this.#admittedFloorW;
    this.inForce = this.ceilingW !== Infinity || this.floorW !== -Infinity;
  }

  /**
   * Advances by `dtS`; with Infinity to the end of the ramp.
   * @param freeW power of the device without a bound
   * @returns true while a limiting bound moves
   */
  advance(freeW: number, rateWS: number, dtS: number): boolean {
    const stepW = dtS === Infinity ? Infinity : rateWS * dtS;
    this.rateWS = rateWS;
    this.ceilingW = nextBound(this.ceilingW, this.#admittedW, freeW, stepW);
    this.floorW = 0 - nextBound(-this.floorW, -this.#admittedFloorW, -freeW, stepW);
    this.inForce = this.ceilingW !== Infinity || this.floorW !== -Infinity;
    return this.moves(freeW);
  }

  /** True if the last admitted bounds would change the power. @param freeW power of the device without a bound */
  moves(freeW: number): boolean {
    return (
      Math.max(this.floorW, Math.min(this.ceilingW, freeW)) !==
      Math.max(this.#admittedFloorW, Math.min(this.#admittedW, freeW))
    );
  }
}

interface ActiveInput {
  readonly settings: Settings;
  readonly nominalHz: number;
  /** null: the voltage is too low to measure it */
  readonly hz: number | null;
  readonly link: SourceLink;
  /** maximum power in either direction in this service phase, W */
  readonly serviceCeilingW: number;
  /** cause of `serviceCeilingW` */
  readonly serviceDecider: ActiveDecider;
  /** output of the last sub-step, W */
  readonly outputW: number;
  /** true: the output follows the functions (in service, no cessation) */
  readonly free: boolean;
  /** change of commands, W per second (704.WRmp) */
  readonly rampWS: number;
}

/** The source, at the AC terminals. */
interface SourceLink {
  /** AC power that the source can give, W */
  readonly availableW: number;
  /** AC power that the source can absorb, W */
  readonly absorbableW: number;
  /** true: a setting limits the discharge of a storage */
  readonly dischargeLimited: boolean;
  /** `availableW` after the ramps of the source, W */
  readonly potentialW: number;
  /** `absorbableW` after the ramps of the source, W */
  readonly potentialAbsorbableW: number;
  /** minimum power, a magnitude: below it the source absorbs nothing */
  readonly minAbsorbW: number;
  /** AC power of the source with this target (null: none) between the limits, W */
  answerW(targetW: number | null, floorW: number, ceilingW: number): number;
}

const negligibleW = 1e-3;
/** Distance at which a percentage counts as having reached its target. */
const negligiblePct = 1e-4;

/** Deciders that are no function: the source, the settings of model 702, and a device out of service. */
const nonLimitingDeciders: readonly ActiveDecider[] = [
  'source',
  'w_max',
  'charge_limit',
  'discharge_limit',
  'idle',
  'out_of_service',
];

export class ActivePower {
  readonly droop = new FrequencyDroop();
  /** bounds of the connection point */
  readonly site = new SiteBound();
  /** power after all functions and the connection point, before the apparent-power limit, W */
  requestedW = 0;
  /** the function or limit that decided `requestedW` */
  decidedBy: ActiveDecider = 'source';
  /** limit after its ramp, W */
  limitW: number;
  /** set-point after its ramp, W */
  setPointW: number;
  /** target of `limitW`, W */
  limitTargetW: number;
  /** target of `setPointW`, W */
  setPointTargetW: number;
  /** volt-watt: percent on the curve */
  voltWattTargetPct = 100;
  /** volt-watt: percent after the open-loop response */
  voltWattPct = 100;
  /** volt-watt: power of 100 percent, W */
  voltWattBaseW = 0;
  /** a ramp or response is under way */
  moving = false;
  /** true: runs at maximum power without a set-point; false: without one the source chooses, and a storage idles */
  #generator: boolean;
  /** the last decision, without the connection point */
  readonly #decision = new ActiveDecision();
  #commanded = false;
  /** true: droop raises the power above limit or set-point */
  #raised = false;
  /** reference for droop, W: `setPointW` when droop began, updated by later commands */
  #commandW = 0;
  /** power on its ramp to a new policy of the source, W; null: no such ramp */
  #glideW: number | null = null;
  /** power that all functions but droop gave in the last step, W */
  #normalW = 0;

  constructor(settings: Settings, generator: boolean) {
    this.#generator = generator;
    this.limitW = this.limitTargetW = limitTarget(settings);
    this.setPointW = this.setPointTargetW = commandOf(settings) ?? this.#restW(settings);
    this.#commanded = settings.setPointW !== null;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      droop: this.droop.kept(),
      site: this.site.kept(),
      decision: this.#decision.kept(),
      members: keptRecord(
        () => this.#state,
        (saved) => {
          this.#state = saved;
        },
      ),
    });
  }

  /** Takes over the state of other functions, which advance by themselves. */
  resume(other: ActivePower): void {
    this.droop.resume(other.droop);
    this.site.resume(other.site);
    this.#generator = other.#generator;
    this.#state = other.#state;
  }

  get #state() {
    return {
      requestedW: this.requestedW,
      decidedBy: this.decidedBy,
      limitW: this.limitW,
      limitTargetW: this.limitTargetW,
      setPointW: this.setPointW,
      setPointTargetW: this.setPointTargetW,
      voltWattPct: this.voltWattPct,
      voltWattTargetPct: this.voltWattTargetPct,
      voltWattBaseW: this.voltWattBaseW,
      moving: this.moving,
      commanded: this.#commanded,
      raised: this.#raised,
      commandW: this.#commandW,
      glideW: this.#glideW,
      normalW: this.#normalW,
    };
  }

  set #state(state) {
    ({
      requestedW: this.requestedW,
      decidedBy: this.decidedBy,
      limitW: this.limitW,
      limitTargetW: this.limitTargetW,
      setPointW: this.setPointW,
      setPointTargetW: this.setPointTargetW,
      voltWattPct: this.voltWattPct,
      voltWattTargetPct: this.voltWattTargetPct,
      voltWattBaseW: this.voltWattBaseW,
      moving: this.moving,
      commanded: this.#commanded,
      raised: this.#raised,
      commandW: this.#commandW,
      glideW: this.#glideW,
      normalW: this.#normalW,
    } = state);
  }

  /** Power after all functions, without the bounds of the connection point, W. */
  get freeW(): number {
    return this.#decision.powerW;
  }

  /** True if a set-point is enabled, or the power is returning from one. */
  get isCommanded(): boolean {
    return this.#commanded;
  }

  /** True if droop replaces limit and set-point, or the power returns from there. */
  get raised(): boolean {
    return this.#raised;
  }

  /** True if a function keeps the power below the limits of the source and the settings of 702. */
  get held(): boolean {
    return !nonLimitingDeciders.includes(this.decidedBy);
  }

  /** Prepares the return to service: commands written meanwhile apply at once, and droop starts over. */
  skipRamps(settings: Settings): void {
    this.limitW = this.limitTargetW = limitTarget(settings);
    this.setPointW = this.setPointTargetW = commandOf(settings) ?? this.#restW(settings);
    this.#commanded = settings.setPointW !== null;
    this.#glideW = null;
    this.droop.reset();
  }

  /** Ramps the power to a new policy of the source with 704.WRmp. */
  glideFrom(outputW: number): void {
    this.#glideW = outputW;
  }

  /** Sets everything to out of service, 0 W; droop is reset because it has no starting power. */
  stop(): void {
    this.requestedW = 0;
    this.#decision.powerW = 0;
    this.decidedBy = 'out_of_service';
    this.moving = false;
    this.droop.reset();
    this.site.jump();
  }

  /** Adds to `active` the functions that set or limited the power in the last step. */
  collectActive(settings: Settings, active: Set<ControlFunction>): void {
    const { side, outputW } = this.droop;
    const reached = (ceilingW: number) => this.held && this.requestedW >= ceilingW - negligibleW;
    if (settings.maxPowerPct !== null && side !== 'under' && reached(this.limitW)) active.add('max_power');
    if (settings.setPointW !== null && side !== 'under' && Math.abs(this.requestedW - this.setPointW) <= negligibleW)
      active.add('active_power');
    if (this.voltWattPct < 100 && reached((this.voltWattPct / 100) * this.voltWattBaseW)) active.add('volt_watt');
    const raised = side === 'under' && this.requestedW > Math.min(this.limitW, this.setPointW) + negligibleW;
    if (raised || (side !== null && reached(outputW))) active.add('freq_droop');
    if (this.decidedBy === 'ramp' || this.decidedBy === 'enter_service') active.add(this.decidedBy);
  }

  /** Advances the response of volt-watt, which follows the voltage out of service too. */
  follow({ voltWatt }: Settings, vPct: number, dtS: number): void {
    this.voltWattTargetPct = voltWatt.enabled ? interpolate(voltWatt.points, vPct) : 100;
    this.voltWattPct = respond(this.voltWattPct, this.voltWattTargetPct, voltWatt.responseS, dtS, negligiblePct);
  }

  /** Advances by `dtS`; with Infinity to the end of all ramps and responses. */
  step(input: ActiveInput, dtS: number): void {
    const { settings, link } = input;
    const maxW = Math.min(link.availableW, settings.wMaxW);
    const minW = -Math.min(link.absorbableW, settings.chargeMaxW);
    this.#rampCommands(input, minW, maxW, dtS);
    this.voltWattBaseW = settings.voltWatt.ofAvailable ? Math.min(link.potentialW, settings.wMaxW) : settings.wMaxW;
    const voltWattW = this.voltWattPct >= 100 ? Infinity : (this.voltWattPct / 100) * this.voltWattBaseW;
    const cappedW = Math.max(
      minW,
      Math.min(maxW, this.limitW, voltWattW, this.#returnCeilingW(settings), secondLimitW(settings)),
    );
    const normalW = answerW(input, this.#target(settings), minW, cappedW);
    this.#normalW = normalW;
    this.#advanceDroop(input, normalW, dtS);
    const decision = this.#boundDecision(input, minW, maxW, voltWattW);
    // within the bounds of `normalW` the source would answer the same
    const isAnswered =
      this.droop.side === null && !this.#raised && decision.floorW === minW && decision.ceilingW === cappedW;
    decision.powerW = isAnswered ? normalW : answerW(input, decision.targetW, decision.floorW, decision.ceilingW);
    decision.decidedBy = this.#decider(settings, decision);
    if (this.#glideW !== null) this.#glideW = glide(input, decision, this.#glideW, minW, dtS);
    const siteMoves = this.#applySite(input, decision, dtS);
    this.moving =
      siteMoves ||
      this.#glideW !== null ||
      this.limitW !== this.limitTargetW ||
      this.setPointW !== this.setPointTargetW ||
      this.voltWattPct !== this.voltWattTargetPct ||
      this.droop.moving;
  }

  #rampCommands(input: ActiveInput, minW: number, maxW: number, dtS: number): void {
    const { settings, outputW, rampWS } = input;
    this.limitTargetW = limitTarget(settings);
    // starts from the power without droop's contribution, which is added again later
    const startW = this.droop.side === null ? outputW : this.#normalW;
    this.limitW = rampCommand(this.limitW, this.limitTargetW, startW, rampWS, dtS);
    const command = commandOf(settings);
    this.setPointTargetW =
      command ?? (this.#generator ? settings.wMaxW : answerW(input, null, minW, Math.max(minW, maxW)));
    if (command !== null) this.#commanded = true;
    this.setPointW = this.#commanded
      ? rampCommand(this.setPointW, this.setPointTargetW, startW, rampWS, dtS)
      : this.setPointTargetW;
    // changes of the power by the source while droop acts are no commands, but the last step of a return is one
    if (this.#commanded || this.droop.side === null) this.#commandW = this.setPointW;
    if (command === null && this.setPointW === this.setPointTargetW) this.#commanded = false;
  }

  /** Ceiling on the rise after a set-point has ended: no source exceeds the ramp, whatever its policy. */
  #returnCeilingW({ setPointW }: Settings): number {
    return this.#commanded && setPointW === null && this.setPointW < this.setPointTargetW ? this.setPointW : Infinity;
  }

  /** The ramped set-point as target of the source, or null without one. */
  #target({ wMaxW }: Settings): number | null {
    return this.#commanded ? Math.min(wMaxW, this.setPointW) : null;
  }

  #advanceDroop(input: ActiveInput, normalW: number, dtS: number): void {
    if (input.hz === null) return;
    const { settings, link } = input;
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
        // the source may still be ramping to this power
        maxW: Math.min(link.potentialW, settings.wMaxW),
      },
      dtS,
    );
  }

  /**
   * Sets target, floor and ceiling: the lowest ceiling counts. While droop acts on low frequency it replaces limit and
   * set-point (IEEE 1547.1-2020 5.16).
   */
  #boundDecision(input: ActiveInput, minW: number, maxW: number, voltWattW: number): ActiveDecision {
    const { settings, serviceCeilingW, serviceDecider, link } = input;
    const { side, outputW: droopW } = this.droop;
    // if frequency jumps from low to high, power above the commands falls with the droop response, not in a step
    this.#raised =
      side === 'under' || (side === 'over' && this.#raised && droopW > Math.min(this.limitW, this.setPointW));
    const decision = this.#decision;
    const atSource = link.dischargeLimited ? 'discharge_limit' : 'source';
    decision.start(maxW, link.availableW > settings.wMaxW ? 'w_max' : atSource);
    if (!this.#raised) {
      decision.cap(this.limitW, settings.maxPowerPct !== null ? 'max_power' : 'ramp');
      decision.cap(this.#returnCeilingW(settings), 'ramp');
    }
    if (side !== null) decision.cap(droopW, 'freq_droop');
    decision.cap(voltWattW, 'volt_watt');
    decision.cap(secondLimitW(settings), 'second_limiter');
    decision.cap(serviceCeilingW, serviceDecider);
    decision.raiseTo(Math.max(minW, -serviceCeilingW), -serviceCeilingW > minW ? serviceDecider : 'charge_limit');
    if (this.#raised) decision.narrow(decision.ceilingW, decision.ceilingW, decision.ceilingW);
    else decision.targetW = this.#target(settings);
    return decision;
  }

  /** The decider of the power: ceiling, set-point, floor or source. */
  #decider({ setPointW }: Settings, decision: ActiveDecision): ActiveDecider {
    const { targetW, floorW, ceilingW, powerW } = decision;
    const commanded = targetW !== null && !this.#raised && targetW < ceilingW;
    // a source that chooses a power below every ceiling is not limited
    const atDischargeLimit = decision.ceilingBy === 'discharge_limit' && ceilingW > negligibleW;
    const unlimited =
      targetW === null && !this.#generator && !atDischargeLimit && this.setPointW <= ceilingW + negligibleW;
    if (!commanded && !unlimited && powerW >= ceilingW - negligibleW) return decision.ceilingBy;
    if (commanded && Math.abs(powerW - Math.max(floorW, targetW)) <= negligibleW) {
      if (targetW < floorW - negligibleW) return decision.floorBy;
      return setPointW !== null ? 'active_power' : 'ramp';
    }
    return !this.#generator && targetW === null && Math.abs(powerW) <= negligibleW ? 'idle' : 'source';
  }

  /**
   * Applies the bounds of the connection point last: no function exceeds them, droop included.
   * @returns true while a limiting bound moves
   */
  #applySite(input: ActiveInput, decision: ActiveDecision, dtS: number): boolean {
    const { site } = this;
    const { powerW } = decision;
    this.requestedW = powerW;
    this.decidedBy = decision.decidedBy;
    if (!site.inForce) return false;
    const moves = site.advance(powerW, input.rampWS, dtS);
    // a source that ramps beyond a bound counts with the power at the end of its ramp
    const demandW = this.demandW(input.settings, input.link);
    if (demandW <= site.ceilingW && demandW >= site.floorW) return moves;
    const ceilingW = Math.max(site.floorW, Math.min(decision.ceilingW, site.ceilingW));
    const floorW = Math.min(ceilingW, Math.max(decision.floorW, site.floorW));
    // a set-point below the consumption of the converter draws power even if the source absorbs nothing, and `answerW`
    // widens a floor of 0 for it: the bound of the site is applied again
    this.requestedW = Math.max(site.floorW, answerW(input, decision.targetW, floorW, ceilingW));
    if (Math.abs(this.requestedW - powerW) > negligibleW) this.decidedBy = 'site';
    return moves;
  }

  /** Power without the connection point once ramps of the source are over, W. */
  demandW({ wMaxW, chargeMaxW }: Settings, link: SourceLink): number {
    const { powerW, targetW, floorW, functionCeilingW } = this.#decision;
    // a source that turns from absorbing to giving may give nothing yet
    const isBound = powerW > 0 ? powerW >= link.availableW - negligibleW : link.availableW <= 0 && (targetW ?? 0) > 0;
    if (isBound) {
      const demandW = Math.min(link.potentialW, wMaxW, functionCeilingW, targetW ?? Infinity);
      if (demandW > 0) return Math.max(powerW, demandW);
    }
    if (powerW < 0 && powerW <= negligibleW - link.absorbableW) {
      const maxW = Math.min(link.potentialAbsorbableW, floorW <= -link.absorbableW ? chargeMaxW : -floorW);
      return Math.min(powerW, Math.max(-maxW, targetW ?? -Infinity));
    }
    return powerW;
  }

  #restW({ wMaxW }: Settings): number {
    return this.#generator ? wMaxW : 0;
  }
}

/**
 * Power at which the source runs within floor and ceiling, W. The source applies its own limits itself: it gets
 * only the limits of settings and functions, so that the target reaches it unchanged.
 */
function answerW(
  { link, settings, serviceCeilingW }: ActiveInput,
  targetW: number | null,
  floorW: number,
  ceilingW: number,
): number {
  // a source that cannot absorb as little as the enter-service ramp admits must not start and pause repeatedly
  const chargeW =
    serviceCeilingW < link.minAbsorbW ? Math.min(settings.chargeMaxW, serviceCeilingW) : settings.chargeMaxW;
  const chargeFloorW = floorW <= -link.absorbableW ? -chargeW : floorW;
  const withinW = targetW === null ? null : Math.max(chargeFloorW, Math.min(ceilingW, targetW));
  return link.answerW(withinW, Math.min(chargeFloorW, ceilingW), ceilingW);
}

/**
 * Limits a decision to the ramp with 704.WRmp from `fromW` to its power.
 * @returns power on the ramp, W; null: the ramp is over and the decision unchanged
 */
function glide(input: ActiveInput, decision: ActiveDecision, fromW: number, minW: number, dtS: number): number | null {
  // a lower 702.WChaRteMax holds at once
  const boundedW = Math.max(-input.settings.chargeMaxW, Math.min(fromW, decision.ceilingW));
  const glideW = rampTowards(boundedW, decision.powerW, input.rampWS, dtS);
  if (glideW === decision.powerW) return null;
  decision.narrow(glideW, Math.min(minW, glideW), glideW);
  decision.powerW = answerW(input, glideW, decision.floorW, glideW);
  decision.decidedBy = 'ramp';
  return glideW;
}

/** The set-point within 702.WMax and 702.WChaRteMax, W; null without one. */
function commandOf({ setPointW, wMaxW, chargeMaxW }: Settings): number | null {
  // a device that cannot charge takes a negative set-point as 0: a ramp below zero would only delay the return
  return setPointW === null ? null : Math.max(-chargeMaxW, Math.min(wMaxW, setPointW));
}

/** Limit injected as a fault; no register shows it, W. */
function secondLimitW({ secondLimitPct, wMaxW }: Settings): number {
  return secondLimitPct === undefined ? Infinity : (wMaxW * secondLimitPct) / 100;
}

function limitTarget({ maxPowerPct, wMaxW }: Settings): number {
  return maxPowerPct === null ? wMaxW : (wMaxW * maxPowerPct) / 100;
}
