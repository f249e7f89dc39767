/**
 * One inverter: service state, protective functions, active and reactive power, limits, energy. Advanced in
 * sub-steps of simulated time; keeps its own doubles, while the registers get rounded copies from `publish.ts`.
 */
import { addSeconds, secondsBetween } from '../../core/clock.ts';
import type { SimTime } from '../../core/clock.ts';
import type { RandomStream } from '../../core/random.ts';
import type { ControlFunction } from '../../sunspec/map/device.ts';
import type { GridValues } from '../environment.ts';
import type { DcSource } from '../source/source.ts';
import { extremePu, meanPu, nominalLnV, phaseCount, phaseShares } from './ac.ts';
import type { Wiring } from './ac.ts';
import { acFromDc, dcFromAc } from './efficiency.ts';
import { EnergyMeter } from './energy.ts';
import { rampCeiling, rampTowards } from './ramp.ts';
import {
  activeRoom, actingReactive, clampVar, limitToCircle, priorityOf, reactiveFunctions, reactiveTarget, reorderReactive,
} from './reactive-power.ts';
import type { ReactiveFunction } from './reactive-power.ts';
import { isEnergized, nextPhase } from './service.ts';
import type { ServicePhase } from './service.ts';
import type { Settings } from './settings.ts';
import { TripTimers } from './trip.ts';
import type { TripKind } from './trip.ts';

/** What does not change while the device runs. */
export interface InverterRatings {
  readonly wiring: Wiring;
  readonly wMaxRtgW: number;
  readonly nominalHz: number;
  /** what the grid's per unit refers to: 702.VNomRtg, line to neutral on single phase, else line to line */
  readonly vNomRtgV: number;
  readonly efficiencyNominal: number;
  /** DC ports of the source */
  readonly portCount: number;
}

const quickStepS = 0.02;
const movingStepS = 0.1;
/** interface.md 5.3: control functions are never stepped more coarsely */
export const longestStepS = 1;
const negligibleW = 1e-3;

export class Inverter {
  readonly ratings: InverterRatings;
  readonly meter: EnergyMeter;
  /** output at the terminals, + into the grid */
  pW = 0;
  qVar = 0;
  /** AC power that the source could give now */
  availableW = 0;
  phase: ServicePhase = 'in_service';
  lastTrip: TripKind | null = null;
  /** functions that set or limited the output in the last sub-step */
  readonly active = new Set<ControlFunction>();
  /** the source could give more than the rating takes */
  clipped = false;
  /** the apparent-power or current limit takes active power away */
  squeezed = false;

  readonly #trips = new TripTimers();
  readonly #random: RandomStream;
  #settings: Settings;
  #reactiveOrder: readonly ReactiveFunction[] = reactiveFunctions;
  #limitW: number;
  #setPointW: number;
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

  constructor(ratings: InverterRatings, settings: Settings, random: RandomStream) {
    this.ratings = ratings;
    this.meter = new EnergyMeter(phaseCount(ratings.wiring), ratings.portCount);
    this.#settings = settings;
    this.#random = random;
    this.#stopCeilingW = ratings.wMaxRtgW;
    this.#limitW = this.#limitTarget();
    this.#setPointW = this.#setPointTarget();
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
    this.#reactiveOrder = reorderReactive(this.#reactiveOrder, this.#settings, settings);
    this.#settings = settings;
    this.#moving = true;
    this.#calmUnder = null;
  }

  get pendingTrips(): readonly TripKind[] { return this.#trips.pending(); }

  /** Seconds of the enter-service delay that are left at `t`; 0 when it does not run. */
  enterDelayRemainingS(t: SimTime): number {
    const due = this.#delayDue();
    return due === null ? 0 : Math.max(0, secondsBetween(t, due));
  }

  /** Whether the enter-service delay is under way: the grid is good and only time is missing. */
  get enterDelayRuns(): boolean { return this.#delayFrom !== null; }

  /** Longest sub-step that keeps every function exact from `t` on, and the next instant at which one must end. */
  nextStep(t: SimTime, gridMoves: boolean, grid: GridValues, source: DcSource): number {
    let stepS = this.#moving || !source.settled || !['in_service', 'ceased', 'off'].includes(this.phase) ? movingStepS : longestStepS;
    if (gridMoves) stepS = this.#nearLimits(grid) ? quickStepS : Math.min(stepS, movingStepS);
    let next: number = addSeconds(t, stepS);
    next = Math.min(next, this.#trips.nextDue(t));
    const delayDue = this.#delayDue();
    if (delayDue !== null && delayDue > t) next = Math.min(next, delayDue);
    const rampEnd = this.#enterRampEnd();
    if (rampEnd !== null && rampEnd > t) next = Math.min(next, rampEnd);
    return Math.max(next, t + 1);
  }

  /** Jumps to the settled state behind the enter-service delay and ramp (fresh process in service). */
  settle(grid: GridValues, source: DcSource): void {
    const { operator } = this.#settings;
    if (operator === 'STOP') this.phase = 'off';
    else if (this.#mustCease()) this.phase = 'ceased';
    this.#limitW = this.#limitTarget();
    this.#setPointW = this.#setPointTarget();
    this.#output(grid, source, 0, this.ratings.wMaxRtgW, true);
    this.#moving = false;
  }

  /**
   * Advances from `t` by `dtS`, a sub-step no longer than `nextStep`; ramps and the source stand at its end.
   * The source must have been prepared for this sub-step.
   */
  step(t: SimTime, dtS: number, grid: GridValues, source: DcSource): void {
    const [fromW, fromVar] = [this.pW, this.qVar];
    const wasEnergized = isEnergized(this.phase);
    this.#output(grid, source, dtS, this.#serviceCeiling(addSeconds(t, dtS), dtS), false);
    const steady = wasEnergized && fromW > 0 === this.pW > 0;
    const span = { fromW, toW: this.pW, fromVar, toVar: this.qVar, steady };
    this.meter.add(dtS, span, phaseShares(this.ratings.wiring, grid), source.ports);
  }

  /** Out of service at once, nothing flows, as after a trip without a cause: only `clearTrips` and time end it. */
  halt(): void {
    this.#trips.clear();
    this.#enterRampFrom = null;
    this.#delayFrom = null;
    this.#calmUnder = null;
    this.active.clear();
    this.phase = 'tripped';
    this.lastTrip = null;
    this.pW = 0;
    this.qVar = 0;
    this.clipped = false;
    this.squeezed = false;
  }

  /** Begins all trip counts anew (reset). A device whose cause is gone returns through enter service. */
  clearTrips(): void {
    this.#trips.clear();
    this.#calmUnder = null;
    if (this.phase === 'tripped' && this.lastTrip === null) this.phase = 'waiting';
  }

  #limitTarget(): number {
    const { maxPowerPct, wMaxW } = this.#settings;
    return maxPowerPct === null ? wMaxW : wMaxW * maxPowerPct / 100;
  }

  #setPointTarget(): number {
    const { setPointW, wMaxW } = this.#settings;
    // a demand to charge is one for nothing here; a ramp below zero would only delay the way back
    return setPointW === null ? wMaxW : Math.max(0, Math.min(wMaxW, setPointW));
  }

  #mustCease(): boolean {
    const { enterService, operator } = this.#settings;
    return !enterService.permit || operator === 'ENTER_STANDBY';
  }

  /** Lowest and highest phase voltage in percent of 702.VNom, the reference of every voltage threshold. */
  #extremePct(grid: GridValues): readonly [number, number] {
    const [low, high] = extremePu(this.ratings.wiring, grid);
    const factor = 100 * this.ratings.vNomRtgV / this.#settings.vNomV;
    // 1.1 x 100 lies above 110 in doubles: a voltage on a threshold is not beyond it
    return [Math.round(low * factor * 1e9) / 1e9, Math.round(high * factor * 1e9) / 1e9];
  }

  #nearLimits(grid: GridValues): boolean {
    const [low, high] = this.#extremePct(grid);
    return low < 89 || high > 109 || Math.abs(grid.hz - this.ratings.nominalHz) > 1.1;
  }

  #inWindow([low, high]: readonly [number, number], hz: number): boolean {
    const { enterService: e } = this.#settings;
    return low >= e.vLowPct && high <= e.vHighPct && hz >= e.hzLow && hz <= e.hzHigh;
  }

  /** Protection and service state at `t`, the start of a sub-step: sets the timers that `nextStep` must not pass. */
  decide(t: SimTime, grid: GridValues): void {
    if (this.#calmUnder === grid) return;
    const { operator, trips } = this.#settings;
    const extremes = this.#extremePct(grid);
    const trip = this.#trips.update(t, { lowestPct: extremes[0], highestPct: extremes[1], hz: grid.hz }, trips);
    const inWindow = this.#inWindow(extremes, grid.hz);
    const cease = this.#mustCease();
    if (!inWindow || cease || this.phase !== 'waiting') this.#delayFrom = null;
    const input = {
      stop: !this.#switchClosed || operator === 'STOP',
      cease,
      trip: trip !== null, causeStands: this.lastTrip !== null && this.#trips.pending().includes(this.lastTrip), inWindow, atZero: this.pW <= negligibleW && Math.abs(this.qVar) <= negligibleW,
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
    this.#calmUnder = this.phase === 'in_service' && this.#trips.pending().length === 0 ? grid : null;
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
      this.#limitW = this.#limitTarget();
      this.#setPointW = this.#setPointTarget();
    }
    if (phase !== 'ramping') this.#enterRampFrom = null;
    if (phase === 'shutting_down') this.#stopCeilingW = this.pW;
    if (this.phase === 'waiting') {
      this.#delayFrom = null;
      this.lastTrip = null;
    }
    this.phase = phase;
    this.#moving = true;
  }

  /** Highest power that the service phase admits at the end of a sub-step. */
  #serviceCeiling(end: SimTime, dtS: number): number {
    const { wMaxRtgW } = this.ratings;
    switch (this.phase) {
      case 'in_service':
        if (this.#stopCeilingW < wMaxRtgW) this.#stopCeilingW = rampTowards(this.#stopCeilingW, wMaxRtgW, this.#wRateWS(), dtS);
        return this.#stopCeilingW;
      case 'ramping': {
        // IEEE 1547-2018 4.10.3: a ceiling from 0 to 100 % of rated over the duration
        const { rampS } = this.#settings.enterService;
        if (this.#enterRampFrom === null || rampS <= 0) return wMaxRtgW;
        return wMaxRtgW * Math.min(1, secondsBetween(this.#enterRampFrom, end) / rampS);
      }
      case 'shutting_down':
        this.#stopCeilingW = rampTowards(this.#stopCeilingW, 0, this.#wRateWS(), dtS);
        return this.#stopCeilingW;
      case 'waiting':
      case 'ceased':
      case 'off':
      case 'tripped': return 0;
    }
  }

  #wRateWS(): number {
    const { wRampPctS, wRampOfCurrent, aMaxA, wMaxW, vNomV } = this.#settings;
    const referenceW = wRampOfCurrent ? aMaxA * nominalLnV(this.ratings.wiring, vNomV) : wMaxW;
    return wRampPctS / 100 * referenceW;
  }

  #output(grid: GridValues, source: DcSource, dtS: number, ceilingW: number, settled: boolean): void {
    const { ratings } = this;
    const settings = this.#settings;
    const dc0W = ratings.wMaxRtgW / ratings.efficiencyNominal;
    this.availableW = acFromDc(source.availableDcW, dc0W, ratings.efficiencyNominal);
    // clearing makes a new table even when there is nothing in it
    if (this.active.size > 0) this.active.clear();
    if (!isEnergized(this.phase)) {
      this.pW = 0;
      this.qVar = 0;
      this.clipped = false;
      this.squeezed = false;
      this.#moving = false;
      source.draw(0, false);
      return;
    }
    const limit = this.#limitTarget();
    const setPoint = this.#setPointTarget();
    const rate = this.#wRateWS();
    if (!settled) {
      this.#limitW = rampCeiling(this.#limitW, limit, this.pW, rate, dtS);
      this.#setPointW = rampCeiling(this.#setPointW, setPoint, this.pW, rate, dtS);
    }
    const sourceW = Math.min(this.availableW, settings.wMaxW);
    const mostDcW = dcFromAc(Math.min(settings.wMaxW, ratings.wMaxRtgW), dc0W, ratings.efficiencyNominal);
    this.clipped = source.availableDcW > mostDcW + negligibleW;
    const wantedW = Math.max(0, Math.min(sourceW, this.#limitW, this.#setPointW, ceilingW));
    this.#note(wantedW, sourceW, ceilingW);
    const moved = this.#react(grid, wantedW, source.availableDcW > 0, dtS, settled);
    this.#moving = moved || this.#limitW !== limit || this.#setPointW !== setPoint || ceilingW < ratings.wMaxRtgW;
    // in the dim of dawn and dusk the converter itself uses up what there is
    source.draw(this.availableW > 0 ? dcFromAc(this.pW, dc0W, ratings.efficiencyNominal) : source.availableDcW, true);
  }

  #note(wantedW: number, sourceW: number, ceilingW: number): void {
    if (wantedW >= sourceW - negligibleW) return;
    if (wantedW >= ceilingW - negligibleW) this.active.add(this.phase === 'ramping' ? 'enter_service' : 'ramp');
    if (wantedW >= this.#limitW - negligibleW) this.active.add('max_power');
    if (wantedW >= this.#setPointW - negligibleW) this.active.add('active_power');
  }

  /** Reactive power and the limits on both; returns whether Q is still on its way. */
  #react(grid: GridValues, wantedW: number, hasSource: boolean, dtS: number, settled: boolean): boolean {
    const settings = this.#settings;
    const acting = actingReactive(this.#reactiveOrder, settings, wantedW);
    const volts = meanPu(this.ratings.wiring, grid) * nominalLnV(this.ratings.wiring, this.ratings.vNomRtgV);
    const sVa = Math.min(settings.vaMaxVa, volts * settings.aMaxA);
    const vars = reactiveTarget(settings, acting, wantedW, sVa);
    // without a source there is no converter running; on the way out reactive power goes with the active
    const target = hasSource && this.phase !== 'shutting_down' ? clampVar(settings, vars) : 0;
    const base = Math.max(settings.varMaxInjVar, settings.varMaxAbsVar);
    // a lowered capability binds at once: it is also what the rate refers to, so that 0 would hold Q for ever
    const q = settled ? target : rampTowards(clampVar(settings, this.qVar), target, settings.varRampPctS / 100 * base, dtS);
    if (acting && target !== 0) this.active.add(acting);
    const before = this.qVar;
    const roomW = Math.min(wantedW, activeRoom(settings, acting, q, sVa));
    [this.pW, this.qVar] = limitToCircle(roomW, q, sVa, priorityOf(settings, acting));
    this.squeezed = wantedW - this.pW > negligibleW;
    // held back by the circle is not on the way
    return q !== target && this.qVar !== before;
  }
}
