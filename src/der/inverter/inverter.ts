/**
 * One inverter: service state, protective functions, active and reactive power, limits, energy. Advanced in
 * sub-steps of simulated time; keeps its own doubles, while the registers get rounded copies from `publish.ts`.
 */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { ActiveDecider } from '../../contract/grid-trace.ts';
import type { RandomStream } from '../../core/random.ts';
import type { ControlFunction } from '../../contract/device.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { FeederImpedance } from '../surroundings/grid/feeder.ts';
import type { DcSource } from '../source/source.ts';
import { meanPu, nominalLnV, phaseCount, phaseShares } from './ac.ts';
import { ActivePower } from './active-power.ts';
import type { Capability } from './capability.ts';
import { DcLink } from './dc-link.ts';
import { EnergyMeter } from './energy.ts';
import { EnterService } from './enter-service.ts';
import { Protection } from './protection.ts';
import type { ProtectionRatings, TripCause } from './protection.ts';
import { rampTowards } from './ramp.ts';
import { ReactivePower } from './reactive-power.ts';
import { isEnergized, nextPhase } from './service.ts';
import type { ServicePhase } from './service.ts';
import type { Settings } from './settings.ts';
import { slowedToVoltage } from './voltage-loop.ts';
import type { TripKind } from './trip.ts';

/** What does not change while the device runs. */
export interface InverterRatings extends ProtectionRatings {
  readonly wMaxRtgW: number;
  readonly capability: Capability;
  /** null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
  /** DC ports of the source */
  readonly portCount: number;
  /** gives all it can when nobody asks; anything else has a wish of its own, a storage that of rest */
  readonly generator: boolean;
  /** rated apparent power, VA */
  readonly vaMaxRtgVa: number;
  /** the line to the grid; null: a stiff grid */
  readonly feeder: FeederImpedance | null;
}

const quickStepS = 0.02;
const movingStepS = 0.1;
/** interface.md 5.3: control functions are never stepped more coarsely */
export const longestStepS = 1;
const negligibleW = 1e-3;

export class Inverter {
  readonly ratings: InverterRatings;
  readonly meter: EnergyMeter;
  readonly link: DcLink;
  readonly activePower: ActivePower;
  readonly reactivePower = new ReactivePower();
  readonly protection: Protection;
  /** output at the terminals, + into the grid */
  pW = 0;
  qVar = 0;
  phase: ServicePhase = 'in_service';
  lastTrip: TripCause | null = null;
  /** the source could give more than the rating takes */
  clipped = false;
  /** the apparent-power or current limit takes active power away */
  squeezed = false;
  /** apparent power that rating and current limit admit in the last sub-step, VA */
  circleVa = 0;
  /** voltage of the curves in the last sub-step, percent of 702.VNom */
  curvePct = 100;

  readonly #enterService: EnterService;
  #settings: Settings;
  /** falls while shutting down, rises again when a stop is taken back */
  #stopCeilingW: number;
  #moving = false;
  #switchClosed = true;
  /** in service under this grid with nothing pending: no decision can change until one of its inputs does */
  #calmUnder: GridValues | null = null;
  /** grid of the last sub-step: a change of it sets things moving */
  #lastGrid: GridValues | null = null;

  constructor(ratings: InverterRatings, settings: Settings, source: DcSource, random: RandomStream) {
    this.ratings = ratings;
    this.link = new DcLink(ratings, source);
    this.meter = new EnergyMeter(phaseCount(ratings.wiring), ratings.portCount);
    this.activePower = new ActivePower(settings, ratings.generator);
    this.protection = new Protection(ratings);
    this.#settings = this.#slowed(settings);
    this.#enterService = new EnterService(random);
    this.#stopCeilingW = ratings.wMaxRtgW;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** The switch and the operator's stop; closed means may connect. */
  get switchClosed(): boolean {
    return this.#switchClosed;
  }

  set switchClosed(closed: boolean) {
    this.#switchClosed = closed;
    this.#calmUnder = null;
  }

  /** Takes over settings that a write has changed; physics follows from the next sub-step on. */
  applySettings(settings: Settings): void {
    this.reactivePower.reorder(this.#settings, settings);
    this.#settings = this.#slowed(settings);
    this.#moving = true;
    this.#calmUnder = null;
  }

  #slowed(settings: Settings): Settings {
    return slowedToVoltage(settings, this.ratings.feeder, this.ratings.vaMaxRtgVa, quickStepS);
  }

  /** What holds the output at zero for the moment, or null. */
  get ceasedBy(): TripKind | null {
    return this.protection.cessation.kind;
  }

  /** Functions that set or limited the output in the last sub-step, or hold the device out of service. */
  activeFunctions(): Set<ControlFunction> {
    const active = new Set<ControlFunction>();
    if (this.phase === 'tripped' && this.lastTrip !== null) {
      const name = causeFunctions[this.lastTrip];
      if (name) active.add(name);
    }
    if (this.phase === 'waiting' || this.phase === 'ceased') active.add('enter_service');
    if (!isEnergized(this.phase)) return active;
    this.activePower.collectActive(this.#settings, active);
    const { acting, targetVar, commandVar } = this.reactivePower;
    const name = this.ceasedBy === null ? acting : causeFunctions[this.ceasedBy];
    if (name && (this.ceasedBy !== null || targetVar !== 0 || commandVar !== 0)) active.add(name);
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
    const due = this.#enterService.delayDue(this.#settings.enterService);
    return due === null ? 0 : Math.max(0, secondsBetween(t, due));
  }

  /** Ceiling of the ramp after entering service at `t`, W; null: no ramp is under way. */
  enterRamp(t: SimTime): number | null {
    if (this.phase !== 'ramping') return null;
    return this.ratings.wMaxRtgW * this.#enterService.admitted(t, this.#settings.enterService);
  }

  /** Whether the enter-service delay is under way: the grid is good and only time is missing. */
  get enterDelayRuns(): boolean {
    return this.#enterService.waiting;
  }

  /** Longest sub-step that keeps every function exact from `t` on, and the next instant at which one must end. */
  nextStep(t: SimTime, motion: 'still' | 'slow' | 'fast', grid: GridValues, source: DcSource): number {
    const settled = !this.#moving && grid === this.#lastGrid && source.settled && this.phase !== 'shutting_down';
    let stepS = settled ? longestStepS : movingStepS;
    if (motion === 'slow') stepS = Math.min(stepS, movingStepS);
    if (motion === 'fast' || this.protection.measuring || this.#swift) stepS = quickStepS;
    stepS = Math.min(stepS, source.maxStepS);
    let next = Math.min(
      addSeconds(t, stepS),
      this.protection.nextDue(t),
      this.#enterService.nextDue(t, this.#settings.enterService),
    );
    if (this.phase === 'shutting_down') {
      // the device opens when nothing flows any more
      const toZeroS = Math.max(this.#stopCeilingW / this.#wRateWS(), this.reactivePower.secondsToZero(this.#settings));
      next = Math.min(next, addSeconds(t, toZeroS));
    }
    return Math.max(next, t + 1);
  }

  /** Jumps to the settled state behind the enter-service delay and ramp (fresh process in service). */
  settle(grid: GridValues, source: DcSource): void {
    const { operator } = this.#settings;
    if (operator === 'STOP') this.phase = 'off';
    else if (this.#mustCease()) this.phase = 'ceased';
    this.activePower.skipRamps(this.#settings);
    this.protection.begin(grid);
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
    const steady = source.heldPower !== true && wasEnergized && (fromW === 0) === (this.pW === 0);
    const span = { fromW, toW: this.pW, fromVar, toVar: this.qVar, steady };
    this.meter.add(dtS, span, phaseShares(this.ratings.wiring, grid), source);
  }

  /** Out of service at once, nothing flows, as after a trip without a cause: only `acknowledge` and time end it. */
  halt(): void {
    this.protection.clear();
    this.#calmUnder = null;
    this.#enterService.endRamp();
    this.#enterService.breakOff();
    this.phase = 'tripped';
    this.lastTrip = null;
    this.#stopOutput();
  }

  /** Acknowledges a halt (reset): back through enter service. Counts and trips under way go on: their cause ends them. */
  acknowledge(): void {
    this.#calmUnder = null;
    if (this.phase === 'tripped' && this.lastTrip === null) this.phase = 'waiting';
  }

  /** As a device that has just been built takes its settings: the order of reactive functions is that of a start. */
  restart(): void {
    this.reactivePower.forgetOrder();
    this.#switchClosed = true;
    this.#calmUnder = null;
    this.meter.clear();
  }

  #mustCease(): boolean {
    const { enterService, operator } = this.#settings;
    return !enterService.permit || operator === 'ENTER_STANDBY';
  }

  /** A way that needs short steps: a quick response, or a voltage that moves with it. */
  get #swift(): boolean {
    if (!this.#moving) return false;
    if (this.ratings.feeder) return true;
    const { voltVar, voltWatt, droop } = this.#settings;
    const quick = (on: boolean, responseS: number) => on && responseS > 0 && responseS < 1;
    return (
      quick(voltVar.enabled && this.reactivePower.moving, voltVar.responseS) ||
      quick(voltWatt.enabled && this.activePower.moving, voltWatt.responseS) ||
      quick(this.activePower.droop.moving, droop.responseS)
    );
  }

  /** Protection and service state at `t`, the start of a sub-step: sets the timers that `nextStep` must not pass. */
  decide(t: SimTime, grid: GridValues): void {
    if (this.#calmUnder === grid) return;
    if (this.#calmUnder !== null && this.protection.quiet(grid, this.#settings)) {
      this.#calmUnder = grid;
      return;
    }
    const wasEnergized = isEnergized(this.phase);
    const { trip, inWindow, causeStands, cessationChanged } = this.protection.update(
      t,
      grid,
      this.#settings,
      wasEnergized,
      this.lastTrip,
    );
    if (cessationChanged) this.#moving = true;
    const cease = this.#mustCease();
    if (!inWindow || cease || this.phase !== 'waiting') this.#enterService.breakOff();
    const input = {
      stop: !this.#switchClosed || this.#settings.operator === 'STOP',
      cease,
      trip: trip !== null,
      causeStands,
      inWindow,
      atZero: this.ceasedBy !== null || Math.max(Math.abs(this.pW), Math.abs(this.qVar)) <= negligibleW,
    };
    // a chain such as off -> waiting -> ramping -> in_service may happen at one instant
    for (let i = 0; i < 4; i += 1) {
      if (this.phase === 'waiting' && inWindow && !cease) this.#enterService.wait(t);
      const delayDue = this.#enterService.delayDue(this.#settings.enterService);
      const rampEnd = this.#enterService.rampEnd(this.#settings.enterService);
      const next = nextPhase(this.phase, {
        ...input,
        delayOver: delayDue !== null && delayDue <= t,
        rampOver: rampEnd === null || rampEnd <= t,
      });
      if (next === this.phase) break;
      if (next === 'tripped') this.lastTrip = trip;
      this.#enter(next, t);
    }
    // what watches a device in service begins with it
    if (!wasEnergized && isEnergized(this.phase)) this.protection.update(t, grid, this.#settings, true, this.lastTrip);
    this.#calmUnder = this.phase === 'in_service' && this.protection.calm ? grid : null;
  }

  #enter(phase: ServicePhase, t: SimTime): void {
    if (phase === 'ramping' && this.phase !== 'shutting_down') {
      this.#enterService.ramp(t);
      this.#stopCeilingW = this.ratings.wMaxRtgW;
      // limits were not felt while out of service: they apply at once
      this.activePower.skipRamps(this.#settings);
    }
    if (phase !== 'ramping') this.#enterService.endRamp();
    if (phase === 'shutting_down') this.#stopCeilingW = Math.abs(this.pW);
    if (this.phase === 'waiting') {
      this.#enterService.breakOff();
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
    if (admitted >= 1) return ceiling;
    return {
      ceilingW: Math.min(ceiling.ceilingW, admitted * this.ratings.wMaxRtgW),
      decider: 'cessation',
      varShare: admitted,
    };
  }

  #phaseCeiling(end: SimTime, dtS: number): ServiceCeiling {
    const { wMaxRtgW } = this.ratings;
    switch (this.phase) {
      case 'in_service':
        if (this.#stopCeilingW < wMaxRtgW)
          this.#stopCeilingW = rampTowards(this.#stopCeilingW, wMaxRtgW, this.#wRateWS(), dtS);
        return { ceilingW: this.#stopCeilingW, decider: 'ramp' };
      case 'ramping':
        return { ceilingW: this.enterRamp(end) ?? wMaxRtgW, decider: 'enter_service' };
      case 'shutting_down':
        this.#stopCeilingW = rampTowards(this.#stopCeilingW, 0, this.#wRateWS(), dtS);
        return { ceilingW: this.#stopCeilingW, decider: 'ramp' };
      case 'waiting':
      case 'ceased':
      case 'off':
      case 'tripped':
        return { ceilingW: 0, decider: 'out_of_service' };
    }
  }

  #wRateWS(): number {
    const { wRampPctS, wRampOfCurrent, aMaxA, wMaxW, vNomV } = this.#settings;
    const referenceW = wRampOfCurrent ? aMaxA * nominalLnV(this.ratings.wiring, vNomV) : wMaxW;
    return (wRampPctS / 100) * referenceW;
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
    this.link.read(source);
    this.curvePct = (meanPu(ratings.wiring, grid) * 100 * ratings.vNomRtgV) / settings.vNomV;
    this.activePower.follow(settings, this.curvePct, dtS);
    if (!isEnergized(this.phase)) {
      this.#stopOutput();
      this.#moving = false;
      source.draw(0, false);
      return;
    }
    // the autonomous reference starts at its setting, everything else settled; a fault is no voltage to get used to
    if (this.ceasedBy === null) this.reactivePower.follow(settings, this.curvePct, Number.isFinite(dtS) ? dtS : 0);
    this.#advanceActive(grid, dtS, ceiling);
    this.clipped = ratings.generator && this.link.exceeds(settings.wMaxW, negligibleW);
    this.#advanceReactive(grid, source, dtS, ceiling.varShare ?? 1);
    this.#moving = this.activePower.moving || this.reactivePower.moving || this.#stopCeilingW < ratings.wMaxRtgW;
    source.draw(this.link.dcW(this.pW), true);
  }

  #advanceActive(grid: GridValues, dtS: number, { ceilingW, decider }: ServiceCeiling): void {
    this.activePower.step(
      {
        settings: this.#settings,
        nominalHz: this.ratings.nominalHz,
        hz: this.protection.measurableHz(grid),
        link: this.link,
        serviceCeilingW: ceilingW,
        serviceDecider: decider,
        outputW: this.pW,
        free: this.phase === 'in_service' && this.ceasedBy === null,
        rampWS: this.#wRateWS(),
      },
      dtS,
    );
  }

  #advanceReactive(grid: GridValues, source: DcSource, dtS: number, varShare: number): void {
    const { ratings, activePower, reactivePower } = this;
    const settings = this.#settings;
    const volts = meanPu(ratings.wiring, grid) * nominalLnV(ratings.wiring, ratings.vNomRtgV);
    this.circleVa = Math.min(settings.vaMaxVa, volts * settings.aMaxA);
    reactivePower.step(
      {
        settings,
        capability: ratings.capability,
        wantedW: activePower.wantedW,
        sVa: this.circleVa,
        vPct: this.curvePct,
        // without a source there is no converter running; on the way out reactive power goes with the active
        running: (source.availableDcW > 0 || source.absorbableDcW > 0) && this.phase !== 'shutting_down',
      },
      dtS,
    );
    if (this.ceasedBy !== null) {
      this.pW = 0;
      this.qVar = 0;
      this.squeezed = false;
      return;
    }
    this.pW = reactivePower.pW;
    this.qVar = reactivePower.qVar * varShare;
    const { reactiveCurrentPu = 0 } = source;
    if (reactiveCurrentPu !== 0) {
      const supportVar = ((reactiveCurrentPu * this.curvePct) / 100) * ratings.vaMaxRtgVa;
      [this.pW, this.qVar] = withSupport(this.pW, this.qVar + supportVar, this.circleVa);
    }
    this.squeezed = Math.abs(activePower.wantedW) - Math.abs(this.pW) > negligibleW;
  }
}

/** P and Q within the circle. Reactive current of a dip comes first: active power gets what the current limit leaves. */
function withSupport(pW: number, qVar: number, circleVa: number): readonly [pW: number, qVar: number] {
  const keptVar = Math.max(-circleVa, Math.min(circleVa, qVar));
  const roomW = Math.sqrt(Math.max(0, circleVa ** 2 - keptVar ** 2));
  return [Math.max(-roomW, Math.min(roomW, pW)), keptVar];
}

interface ServiceCeiling {
  readonly ceilingW: number;
  readonly decider: ActiveDecider;
  /** part of the reactive power that may flow; absent: all of it */
  readonly varShare?: number;
}

/** The function behind a trip or a cessation; relays have no register. */
const causeFunctions: Partial<Readonly<Record<TripCause, ControlFunction>>> = {
  lowVoltage: 'lv_trip',
  highVoltage: 'hv_trip',
  lowFrequency: 'lf_trip',
  highFrequency: 'hf_trip',
  island: 'anti_islanding',
};
