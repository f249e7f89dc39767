/**
 * One inverter: service state, protective functions, active and reactive power, limits, energy. Advanced in
 * sub-steps of simulated time; keeps its own doubles, while the registers get rounded copies from `publish.ts`.
 */
import { addSeconds, secondsBetween } from '../../core/clock.ts';
import type { SimTime } from '../../core/clock.ts';
import type { ActiveDecider } from '../../core/grid-trace.ts';
import type { RandomStream } from '../../core/random.ts';
import type { ControlFunction } from '../../sunspec/map/device.ts';
import type { GridValues } from '../environment.ts';
import type { DcSource } from '../source/source.ts';
import { meanPu, nominalLnV, phaseCount, phaseShares } from './ac.ts';
import { ActivePower } from './active-power.ts';
import type { Capability } from './capability.ts';
import { acFromDc, dcFromAc } from './efficiency.ts';
import { EnergyMeter } from './energy.ts';
import { Protection } from './protection.ts';
import type { ProtectionRatings, TripCause } from './protection.ts';
import { rampTowards } from './ramp.ts';
import { ReactivePower } from './reactive-power.ts';
import { isEnergized, nextPhase } from './service.ts';
import type { ServicePhase } from './service.ts';
import { slowedToVoltage } from './settings.ts';
import type { Settings } from './settings.ts';
import type { TripKind } from './trip.ts';

/** What does not change while the device runs. */
export interface InverterRatings extends ProtectionRatings {
  readonly wMaxRtgW: number;
  readonly capability: Capability;
  readonly efficiencyNominal: number;
  /** DC ports of the source */
  readonly portCount: number;
  /** the device rests without a set-point instead of giving what it can */
  readonly storage: boolean;
  /** the curves of voltage respond no quicker, s; 0 at a stiff grid */
  readonly leastResponseS: number;
}

const quickStepS = 0.02;
const movingStepS = 0.1;
/** interface.md 5.3: control functions are never stepped more coarsely */
export const longestStepS = 1;
const negligibleW = 1e-3;

export class Inverter {
  readonly ratings: InverterRatings;
  readonly meter: EnergyMeter;
  readonly activePower: ActivePower;
  readonly reactivePower = new ReactivePower();
  readonly protection: Protection;
  /** output at the terminals, + into the grid */
  pW = 0;
  qVar = 0;
  /** AC power that the source could give now, and that it could take */
  availableW = 0;
  absorbableW = 0;
  phase: ServicePhase = 'in_service';
  lastTrip: TripCause | null = null;
  /** the source could give more than the rating takes */
  clipped = false;
  /** the apparent-power or current limit takes active power away */
  squeezed = false;
  /** voltage of the curves in the last sub-step, percent of 702.VNom */
  curvePct = 100;

  readonly #random: RandomStream;
  #settings: Settings;
  /** falls while shutting down, rises again when a stop is taken back */
  #stopCeilingW: number;
  #enterRampFrom: SimTime | null = null;
  #delayFrom: SimTime | null = null;
  /** this delay's part of 703.ESRndTms, 0 to 1 */
  #delayRandom = 0;
  #moving = false;
  #switchClosed = true;
  /** in service under this grid with nothing pending: no decision can change until one of its inputs does */
  #calmUnder: GridValues | null = null;
  /** grid of the last sub-step: a change of it sets things moving */
  #lastGrid: GridValues | null = null;

  constructor(ratings: InverterRatings, settings: Settings, random: RandomStream) {
    this.ratings = ratings;
    this.meter = new EnergyMeter(phaseCount(ratings.wiring), ratings.portCount);
    this.activePower = new ActivePower(settings, ratings.storage);
    this.protection = new Protection(ratings);
    this.#settings = slowedToVoltage(settings, ratings.leastResponseS);
    this.#random = random;
    this.#stopCeilingW = ratings.wMaxRtgW;
  }

  get settings(): Settings { return this.#settings; }

  /** The switch and the operator's stop; closed means may connect. */
  get switchClosed(): boolean { return this.#switchClosed; }

  set switchClosed(closed: boolean) {
    this.#switchClosed = closed;
    this.#calmUnder = null;
  }

  /** Takes over settings that a write has changed; physics follows from the next sub-step on. */
  applySettings(settings: Settings): void {
    this.reactivePower.reorder(this.#settings, settings);
    this.#settings = slowedToVoltage(settings, this.ratings.leastResponseS);
    this.#moving = true;
    this.#calmUnder = null;
  }

  /** What holds the output at zero for the moment, or null. */
  get ceasedBy(): TripKind | null { return this.protection.cessation.kind; }

  /** Functions that set or limited the output in the last sub-step. */
  activeFunctions(): Set<ControlFunction> {
    const active = new Set<ControlFunction>();
    if (!isEnergized(this.phase)) return active;
    this.activePower.note(this.#settings, active);
    const { acting, targetVar, commandVar } = this.reactivePower;
    if (acting && (targetVar !== 0 || commandVar !== 0)) active.add(acting);
    if (this.ceasedBy !== null) active.add(cessationFunctions[this.ceasedBy]);
    return active;
  }

  /** Whether this grid is so far from every threshold that none can matter. */
  ignores(grid: GridValues): boolean {
    return this.phase !== 'waiting' && this.protection.quiet(grid, this.#settings);
  }

  /** Where this grid stands to all thresholds, as a word that changes when it crosses one. */
  standing(grid: GridValues): string {
    return this.protection.standing(grid, this.#settings);
  }

  /** Seconds of the enter-service delay that are left at `t`; 0 when it does not run. */
  enterDelayRemainingS(t: SimTime): number {
    const due = this.#delayDue();
    return due === null ? 0 : Math.max(0, secondsBetween(t, due));
  }

  /** Ceiling of the ramp after entering service at `t`, W; null: no ramp is under way. */
  enterRamp(t: SimTime): number | null {
    return this.phase === 'ramping' && this.#enterRampFrom !== null ? this.#enterCeilingW(t) : null;
  }

  /** Whether the enter-service delay is under way: the grid is good and only time is missing. */
  get enterDelayRuns(): boolean { return this.#delayFrom !== null; }

  /** Longest sub-step that keeps every function exact from `t` on, and the next instant at which one must end. */
  nextStep(t: SimTime, motion: 'still' | 'slow' | 'fast', grid: GridValues, source: DcSource): number {
    const settled = !this.#moving && grid === this.#lastGrid && source.settled && ['in_service', 'ceased', 'off'].includes(this.phase);
    let stepS = settled ? longestStepS : movingStepS;
    if (motion === 'slow') stepS = Math.min(stepS, movingStepS);
    if (motion === 'fast' || this.protection.measuring || this.#swift) stepS = quickStepS;
    let next: number = addSeconds(t, stepS);
    next = Math.min(next, this.protection.nextDue(t));
    const delayDue = this.#delayDue();
    if (delayDue !== null && delayDue > t) next = Math.min(next, delayDue);
    const rampEnd = this.#enterRampEnd();
    if (rampEnd !== null && rampEnd > t) next = Math.min(next, rampEnd);
    // on the way out of service the device opens when nothing flows any more
    const toZeroS = Math.max(this.#stopCeilingW / this.#wRateWS(), this.reactivePower.secondsToZero(this.#settings));
    if (this.phase === 'shutting_down') next = Math.min(next, addSeconds(t, toZeroS));
    return Math.max(next, t + 1);
  }

  /** Jumps to the settled state behind the enter-service delay and ramp (fresh process in service). */
  settle(grid: GridValues, source: DcSource): void {
    const { operator } = this.#settings;
    if (operator === 'STOP') this.phase = 'off';
    else if (this.#mustCease()) this.phase = 'ceased';
    this.activePower.skipRamps(this.#settings, this.ratings.storage);
    this.#output(grid, source, Infinity, { ceilingW: this.ratings.wMaxRtgW, decider: 'ramp' });
    this.#moving = false;
  }

  /**
   * Advances from `t` by `dtS`, a sub-step no longer than `nextStep`; ramps and the source stand at its end.
   * The source must have been prepared for this sub-step.
   */
  step(t: SimTime, dtS: number, grid: GridValues, source: DcSource): void {
    this.#lastGrid = grid;
    const [fromW, fromVar] = [this.pW, this.qVar];
    const wasEnergized = isEnergized(this.phase);
    this.#output(grid, source, dtS, this.#serviceCeiling(addSeconds(t, dtS), dtS));
    // starting and stopping are steps, anything else went there steadily
    const steady = wasEnergized && (fromW === 0) === (this.pW === 0);
    const span = { fromW, toW: this.pW, fromVar, toVar: this.qVar, steady };
    this.meter.add(dtS, span, phaseShares(this.ratings.wiring, grid), source.ports);
  }

  /** Out of service at once, nothing flows, as after a trip without a cause: only `clearTrips` and time end it. */
  halt(): void {
    this.protection.clear();
    this.#calmUnder = null;
    this.#enterRampFrom = null;
    this.#delayFrom = null;
    this.phase = 'tripped';
    this.lastTrip = null;
    this.#stopOutput();
  }

  /** Begins all trip counts anew (reset). A device whose cause is gone returns through enter service. */
  clearTrips(): void {
    this.protection.clear();
    this.#calmUnder = null;
    if (this.phase === 'tripped' && this.lastTrip === null) this.phase = 'waiting';
  }

  #mustCease(): boolean {
    const { enterService, operator } = this.#settings;
    return !enterService.permit || operator === 'ENTER_STANDBY';
  }

  /** A response so quick that its way needs short steps. */
  get #swift(): boolean {
    if (!this.#moving) return false;
    const { voltVar, voltWatt, droop } = this.#settings;
    const quick = (on: boolean, responseS: number) => on && responseS > 0 && responseS < 1;
    return quick(voltVar.enabled && this.reactivePower.moving, voltVar.responseS)
      || quick(voltWatt.enabled && this.activePower.moving, voltWatt.responseS)
      || quick(this.activePower.droop.moving, droop.responseS);
  }

  /** Protection and service state at `t`, the start of a sub-step: sets the timers that `nextStep` must not pass. */
  decide(t: SimTime, grid: GridValues): void {
    if (this.#calmUnder === grid) return;
    if (this.#calmUnder !== null && this.protection.quiet(grid, this.#settings)) {
      this.#calmUnder = grid;
      return;
    }
    const wasEnergized = isEnergized(this.phase);
    const { trip, inWindow, causeStands, cessationChanged } = this.protection.update(t, grid, this.#settings, wasEnergized, this.lastTrip);
    if (cessationChanged) this.#moving = true;
    const cease = this.#mustCease();
    if (!inWindow || cease || this.phase !== 'waiting') this.#delayFrom = null;
    const input = {
      stop: !this.#switchClosed || this.#settings.operator === 'STOP', cease, trip: trip !== null, causeStands, inWindow,
      atZero: this.ceasedBy !== null || Math.max(Math.abs(this.pW), Math.abs(this.qVar)) <= negligibleW,
    };
    // a chain such as off -> waiting -> ramping -> in_service may happen at one instant
    for (let i = 0; i < 4; i += 1) {
      if (this.phase === 'waiting' && inWindow && !cease && this.#delayFrom === null) {
        this.#delayFrom = t;
        this.#delayRandom = this.#random.next();
      }
      const delayDue = this.#delayDue();
      const rampEnd = this.#enterRampEnd();
      const next = nextPhase(this.phase, {
        ...input, delayOver: delayDue !== null && delayDue <= t, rampOver: rampEnd === null || rampEnd <= t,
      });
      if (next === this.phase) break;
      if (next === 'tripped') this.lastTrip = trip;
      this.#enter(next, t);
    }
    // what watches a device in service begins with it
    if (!wasEnergized && isEnergized(this.phase)) this.protection.update(t, grid, this.#settings, true, this.lastTrip);
    this.#calmUnder = this.phase === 'in_service' && this.protection.calm ? grid : null;
  }

  /** End of the delay under way; a change of its settings counts at once. */
  #delayDue(): SimTime | null {
    const { delayS, randomDelayS } = this.#settings.enterService;
    return this.#delayFrom === null ? null : addSeconds(this.#delayFrom, delayS + this.#delayRandom * randomDelayS);
  }

  #enterRampEnd(): SimTime | null {
    return this.#enterRampFrom === null ? null : addSeconds(this.#enterRampFrom, this.#settings.enterService.rampS);
  }

  #enter(phase: ServicePhase, t: SimTime): void {
    if (phase === 'ramping' && this.phase !== 'shutting_down') {
      this.#enterRampFrom = t;
      this.#stopCeilingW = this.ratings.wMaxRtgW;
      // limits were not felt while out of service: they apply at once
      this.activePower.skipRamps(this.#settings, this.ratings.storage);
    }
    if (phase !== 'ramping') this.#enterRampFrom = null;
    if (phase === 'shutting_down') this.#stopCeilingW = Math.abs(this.pW);
    if (this.phase === 'waiting') {
      this.#delayFrom = null;
      this.lastTrip = null;
    }
    this.phase = phase;
    this.#moving = true;
    if (!isEnergized(phase)) this.protection.cessation.clear();
  }

  /** Most power in either direction that the service phase and a cessation admit at the end of a sub-step. */
  #serviceCeiling(end: SimTime, dtS: number): ServiceCeiling {
    const ceiling = this.#phaseCeiling(end, dtS);
    const { cessation } = this.protection;
    const admitted = cessation.pending ? cessation.admitted(end, this.ratings.parameters) : 1;
    return admitted < 1 ? { ceilingW: Math.min(ceiling.ceilingW, admitted * this.ratings.wMaxRtgW), decider: 'cessation' } : ceiling;
  }

  #phaseCeiling(end: SimTime, dtS: number): ServiceCeiling {
    const { wMaxRtgW } = this.ratings;
    switch (this.phase) {
      case 'in_service':
        if (this.#stopCeilingW < wMaxRtgW) this.#stopCeilingW = rampTowards(this.#stopCeilingW, wMaxRtgW, this.#wRateWS(), dtS);
        return { ceilingW: this.#stopCeilingW, decider: 'ramp' };
      case 'ramping': return { ceilingW: this.#enterCeilingW(end), decider: 'enter_service' };
      case 'shutting_down':
        this.#stopCeilingW = rampTowards(this.#stopCeilingW, 0, this.#wRateWS(), dtS);
        return { ceilingW: this.#stopCeilingW, decider: 'ramp' };
      case 'waiting':
      case 'ceased':
      case 'off':
      case 'tripped': return { ceilingW: 0, decider: 'out_of_service' };
    }
  }

  /** IEEE 1547-2018 4.10.3: a ceiling from 0 to 100 % of rated over the duration. */
  #enterCeilingW(t: SimTime): number {
    const { rampS } = this.#settings.enterService;
    if (this.#enterRampFrom === null || rampS <= 0) return this.ratings.wMaxRtgW;
    return this.ratings.wMaxRtgW * Math.min(1, secondsBetween(this.#enterRampFrom, t) / rampS);
  }

  #wRateWS(): number {
    const { wRampPctS, wRampOfCurrent, aMaxA, wMaxW, vNomV } = this.#settings;
    const referenceW = wRampOfCurrent ? aMaxA * nominalLnV(this.ratings.wiring, vNomV) : wMaxW;
    return wRampPctS / 100 * referenceW;
  }

  #stopOutput(): void {
    this.pW = 0;
    this.qVar = 0;
    this.clipped = false;
    this.squeezed = false;
    this.reactivePower.clear();
    this.activePower.stop();
  }

  #output(grid: GridValues, source: DcSource, dtS: number, ceiling: ServiceCeiling): void {
    const { ratings } = this;
    const settings = this.#settings;
    const dc0W = ratings.wMaxRtgW / ratings.efficiencyNominal;
    this.availableW = acFromDc(source.availableDcW, dc0W, ratings.efficiencyNominal);
    this.absorbableW = source.absorbableDcW > 0 ? dcFromAc(source.absorbableDcW, dc0W, ratings.efficiencyNominal) : 0;
    this.curvePct = meanPu(ratings.wiring, grid) * 100 * ratings.vNomRtgV / settings.vNomV;
    this.activePower.follow(settings, this.curvePct, dtS);
    // the autonomous reference starts at its setting, everything else settled
    this.reactivePower.follow(settings, this.curvePct, Number.isFinite(dtS) ? dtS : 0);
    if (!isEnergized(this.phase)) {
      this.#stopOutput();
      this.#moving = false;
      source.draw(0, false);
      return;
    }
    this.#advanceActive(grid, dtS, ceiling);
    this.clipped = source.availableDcW > dcFromAc(Math.min(settings.wMaxW, ratings.wMaxRtgW), dc0W, ratings.efficiencyNominal) + negligibleW;
    this.#advanceReactive(grid, source.availableDcW > 0 || source.absorbableDcW > 0, dtS);
    this.#moving = this.activePower.moving || this.reactivePower.moving || ceiling.ceilingW < ratings.wMaxRtgW;
    source.draw(this.#dcPowerW(source, dc0W), true);
  }

  #advanceActive(grid: GridValues, dtS: number, { ceilingW, decider }: ServiceCeiling): void {
    const { nominalHz, storage } = this.ratings;
    this.activePower.step({
      settings: this.#settings, nominalHz, storage, hz: this.protection.measurableHz(grid),
      availableW: this.availableW, absorbableW: this.absorbableW, serviceCeilingW: ceilingW, serviceDecider: decider,
      outputW: this.pW, free: this.phase === 'in_service' && this.ceasedBy === null, rampWS: this.#wRateWS(),
    }, dtS);
  }

  #advanceReactive(grid: GridValues, hasSource: boolean, dtS: number): void {
    const { ratings, activePower, reactivePower } = this;
    const settings = this.#settings;
    const volts = meanPu(ratings.wiring, grid) * nominalLnV(ratings.wiring, ratings.vNomRtgV);
    const sVa = Math.min(settings.vaMaxVa, volts * settings.aMaxA);
    reactivePower.step({
      settings, capability: ratings.capability, wantedW: activePower.wantedW, sVa, vPct: this.curvePct,
      // without a source there is no converter running; on the way out reactive power goes with the active
      running: hasSource && this.phase !== 'shutting_down',
    }, dtS);
    const ceased = this.ceasedBy !== null;
    this.pW = ceased ? 0 : reactivePower.pW;
    this.qVar = ceased ? 0 : reactivePower.qVar;
    this.squeezed = !ceased && Math.abs(activePower.wantedW) - Math.abs(this.pW) > negligibleW;
  }

  /** DC power behind the AC power; in the dim of dawn and dusk the converter itself uses up what there is. */
  #dcPowerW(source: DcSource, dc0W: number): number {
    const { efficiencyNominal } = this.ratings;
    if (this.pW < 0) return -acFromDc(-this.pW, dc0W, efficiencyNominal);
    return this.availableW > 0 ? dcFromAc(this.pW, dc0W, efficiencyNominal) : source.availableDcW;
  }

}

interface ServiceCeiling {
  readonly ceilingW: number;
  readonly decider: ActiveDecider;
}

const cessationFunctions: Readonly<Record<TripKind, ControlFunction>> = {
  lowVoltage: 'lv_trip', highVoltage: 'hv_trip', lowFrequency: 'lf_trip', highFrequency: 'hf_trip',
};
