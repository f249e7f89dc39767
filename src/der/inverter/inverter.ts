/**
 * One inverter: service state, protective functions, active and reactive power, limits, energy. Advanced in
 * sub-steps of simulated time; keeps its own doubles, while the registers get rounded copies from `publish.ts`.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import { simStepS } from '../../contract/plant.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { RandomStream } from '../../core/random.ts';
import type { ControlFunction } from '../../contract/device.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { DcSource, PhaseLoads } from '../source/source.ts';
import { nominalLnV, phaseCount, phaseShares } from './ac.ts';
import { ActivePower } from './active-power.ts';
import { causeFunctions, Protection } from './protection.ts';
import { DcLink } from './dc-link.ts';
import { EnergyMeter } from './energy.ts';
import { advanceOutput, stopOutput, takeUpLoads } from './output.ts';
import type { InverterRatings, Output, ServiceCeiling } from './output.ts';
import { EnterService, isEnergized, nextPhase } from './service.ts';
import type { TripCause } from './protection.ts';
import { rampTowards } from './ramp.ts';
import { trial } from './trial.ts';
import type { Trial } from './trial.ts';
import type { FormerRanks } from './reactive-power.ts';
import { ReactivePower } from './reactive-power.ts';
import type { ServicePhase } from './service.ts';
import { equalBounds } from './storage-flow.ts';
import type { Settings } from './settings.ts';
import { slowedToVoltage } from './voltage-loop.ts';
import type { TripKind } from './trip.ts';

const quickStepS = 0.02;
const movingStepS = 0.1;
const negligibleW = 1e-3;

/**
 * A grid of an earlier sub-step as state that a restart keeps. Only its identity counts: `present` is the grid of the
 * next sub-step if nothing changes, and `former` any other.
 */
type KeptGrid = 'present' | 'former' | null;

/** Stands for each former grid; no sub-step has it. */
const formerGrid: GridValues = { aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0, island: false };

function keptGrid(grid: GridValues | null, present: GridValues | null): KeptGrid {
  if (grid === null) return null;
  return grid === present ? 'present' : 'former';
}

function restoredGrid(kept: KeptGrid, present: GridValues | null): GridValues | null {
  if (kept === null) return null;
  return (kept === 'present' ? present : null) ?? formerGrid;
}

export class Inverter implements Output {
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
  /** the source could give more than 702.WMax allows */
  clipped = false;
  /** the apparent-power or current limit reduces the active power */
  apparentPowerLimited = false;
  /** apparent power that the limits of 702 allowed in the last sub-step, VA */
  circleVa = 0;
  /** mean voltage, the input of the curves, in the last sub-step, percent of 702.VNom */
  curvePct = 100;
  /** loads of the source at single phases; null: none */
  phaseLoads: PhaseLoads | null = null;

  readonly #enterService: EnterService;
  #settings: Settings;
  /** falls while shutting down, rises again when a stop is revoked */
  #stopCeilingW: number;
  #moving = false;
  #switchClosed = true;
  /**
   * grid under which the device is in service without running timers: `decide` has nothing to do until an input changes
   */
  #noTimersUnderGrid: GridValues | null = null;
  /** grid of the last sub-step: after a change the output is not settled */
  #lastGrid: GridValues | null = null;

  constructor(ratings: InverterRatings, settings: Settings, source: DcSource, random: RandomStream) {
    this.ratings = ratings;
    this.link = new DcLink(ratings, source);
    this.meter = new EnergyMeter(phaseCount(ratings.wiring), ratings.portCount);
    this.activePower = new ActivePower(settings, ratings.generator);
    this.protection = new Protection(ratings);
    this.#settings = this.#slowed(settings);
    this.link.limitStorage(settings);
    this.#enterService = new EnterService(random);
    this.#stopCeilingW = ratings.wMaxRtgW;
  }

  /** Share of the rated power, with its sign. */
  get loadShare(): number {
    return this.pW / this.ratings.wMaxRtgW;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** The switch of the device; closed: it may connect. */
  get switchClosed(): boolean {
    return this.#switchClosed;
  }

  set switchClosed(closed: boolean) {
    this.#switchClosed = closed;
    this.#noTimersUnderGrid = null;
  }

  /**
   * Takes over settings that a write has changed; physics follows from the next sub-step on.
   * @param former functions of reactive power that regain these ranks
   */
  applySettings(settings: Settings, former?: FormerRanks): void {
    this.reactivePower.reorder(this.#settings, settings, former);
    if (!equalBounds(settings.storageFlow, this.#settings.storageFlow)) this.activePower.glideFrom(this.pW);
    this.#settings = this.#slowed(settings);
    this.link.limitStorage(settings);
    this.#moving = true;
    this.#noTimersUnderGrid = null;
  }

  /**
   * State that a restart keeps. Settings follow from the registers: `resume` comes before.
   * @param presentGrid the grid of the next sub-step if nothing changes; null: it will be a new object
   */
  kept(presentGrid: () => GridValues | null): Kept {
    return keptParts({
      meter: this.meter.kept(),
      link: this.link.kept(),
      activePower: this.activePower.kept(),
      reactivePower: this.reactivePower.kept(),
      protection: this.protection.kept(),
      enterService: this.#enterService.kept(),
      members: this.#keptMembers(presentGrid),
    });
  }

  /** The part of it that also fits other ratings: counters, the switch and the last trip. Restored only. */
  lasting(): Kept {
    return keptParts({
      meter: this.meter.kept(),
      members: keptRecord(
        () => ({ lastTrip: this.lastTrip, switchClosed: this.#switchClosed }),
        ({ lastTrip, switchClosed }) => {
          this.lastTrip = lastTrip;
          this.#switchClosed = switchClosed;
        },
      ),
    });
  }

  #keptMembers(presentGrid: () => GridValues | null): Kept {
    return keptRecord(
      () => {
        const present = presentGrid();
        return {
          pW: this.pW,
          qVar: this.qVar,
          phase: this.phase,
          lastTrip: this.lastTrip,
          clipped: this.clipped,
          apparentPowerLimited: this.apparentPowerLimited,
          circleVa: this.circleVa,
          curvePct: this.curvePct,
          phaseLoads: this.phaseLoads,
          stopCeilingW: this.#stopCeilingW,
          moving: this.#moving,
          switchClosed: this.#switchClosed,
          noTimersUnder: keptGrid(this.#noTimersUnderGrid, present),
          last: keptGrid(this.#lastGrid, present),
        };
      },
      ({ noTimersUnder, last, ...members }) => {
        ({
          pW: this.pW,
          qVar: this.qVar,
          phase: this.phase,
          lastTrip: this.lastTrip,
          clipped: this.clipped,
          apparentPowerLimited: this.apparentPowerLimited,
          circleVa: this.circleVa,
          curvePct: this.curvePct,
          phaseLoads: this.phaseLoads,
          stopCeilingW: this.#stopCeilingW,
          moving: this.#moving,
          switchClosed: this.#switchClosed,
        } = members);
        // the grid at the terminals depends on the power
        const present = presentGrid();
        this.#noTimersUnderGrid = restoredGrid(noTimersUnder, present);
        this.#lastGrid = restoredGrid(last, present);
      },
    );
  }

  /** Takes over the settings that a restart has kept in the registers. Nothing ramps to them: they were in force. */
  resume(settings: Settings): void {
    this.#settings = this.#slowed(settings);
    this.link.limitStorage(settings);
  }

  #slowed(settings: Settings): Settings {
    return slowedToVoltage(settings, this.ratings.feeder, this.ratings.vaMaxRtgVa, quickStepS);
  }

  /** True if the powers of the last sub-step follow a ramp, a response or the way back from a cessation. */
  get ramps(): boolean {
    if (!isEnergized(this.phase) || this.ceasedBy !== null) return false;
    return this.#moving || this.phase === 'ramping' || this.protection.cessation.returns;
  }

  /** The curve whose momentary cessation holds the output at zero, or null. */
  get ceasedBy(): TripKind | null {
    return this.protection.cessation.kind;
  }

  /** Functions that set or limited the output in the last sub-step, or keep the device out of service. */
  activeFunctions(): Set<ControlFunction> {
    const active = new Set<ControlFunction>();
    if (this.phase === 'tripped' && this.lastTrip !== null) {
      const name = causeFunctions[this.lastTrip];
      if (name) active.add(name);
    }
    if (this.phase === 'waiting' || this.phase === 'ceased') active.add('enter_service');
    if (!isEnergized(this.phase)) return active;
    this.activePower.collectActive(this.#settings, active);
    const { activeFunction, targetVar, commandVar } = this.reactivePower;
    const name = this.ceasedBy === null ? activeFunction : causeFunctions[this.ceasedBy];
    if (name && (this.ceasedBy !== null || targetVar !== 0 || commandVar !== 0)) active.add(name);
    return active;
  }

  /** True if no threshold can be crossed under this grid, so that the search for a crossing is skipped. */
  canSkip(grid: GridValues): boolean {
    return this.phase !== 'waiting' && this.protection.insideDeadband(grid, this.#settings);
  }

  /** A text that changes when the grid crosses any threshold. */
  thresholdState(grid: GridValues): string {
    return this.protection.thresholdState(grid, this.#settings);
  }

  /** Remaining seconds of the enter-service delay at `t`; 0 when it does not run. */
  enterDelayRemainingS(t: SimTime): number {
    const due = this.#enterService.delayDue(this.#settings.enterService);
    return due === null ? 0 : Math.max(0, secondsBetween(t, due));
  }

  /** Ceiling of the enter-service ramp at `t`, W; null: no ramp runs. */
  enterRamp(t: SimTime): number | null {
    if (this.phase !== 'ramping') return null;
    return this.ratings.wMaxRtgW * this.#enterService.admittedShare(t, this.#settings.enterService);
  }

  /** True if the enter-service delay runs. */
  get enterDelayRuns(): boolean {
    return this.#enterService.delayRuns;
  }

  /** End of the longest sub-step from `t` on that keeps every function exact. */
  nextStep(t: SimTime, motion: 'still' | 'slow' | 'fast', grid: GridValues, source: DcSource): number {
    const { site, freeW } = this.activePower;
    const settled =
      !this.#moving &&
      !site.moves(freeW) &&
      grid === this.#lastGrid &&
      source.settled &&
      this.phase !== 'shutting_down';
    let stepS = settled ? simStepS : movingStepS;
    if (motion === 'slow') stepS = Math.min(stepS, movingStepS);
    if (motion === 'fast' || this.protection.measuring || this.#needsQuickSteps) stepS = quickStepS;
    stepS = Math.min(stepS, source.maxStepS);
    let next = Math.min(
      addSeconds(t, stepS),
      this.protection.nextDue(t),
      this.#enterService.nextDue(t, this.#settings.enterService),
    );
    if (this.phase === 'shutting_down') {
      // the device opens once nothing flows
      const toZeroS = Math.max(this.#stopCeilingW / this.rampWS, this.reactivePower.secondsToZero(this.#settings));
      // at zero already, what still flows ends by itself
      if (toZeroS > 0) next = Math.min(next, addSeconds(t, toZeroS));
    }
    return Math.max(next, t + 1);
  }

  /** Jumps to the settled state after the enter-service delay and ramp: a new process starts in service. */
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
   * Advances from `t` by `dtS`, a sub-step that ends at `nextStep` at the latest.
   * The source must have been prepared for this sub-step.
   */
  step(t: SimTime, dtS: number, grid: GridValues, source: DcSource): void {
    this.#lastGrid = grid;
    const [fromW, fromVar] = [this.pW, this.qVar];
    const wasEnergized = isEnergized(this.phase);
    this.#stopCeilingW = this.#stopCeilingAfter(dtS);
    this.#output(grid, source, dtS, this.#serviceCeiling(addSeconds(t, dtS), this.#stopCeilingW));
    // starting and stopping are steps, every other change is linear
    const linear = source.heldPower !== true && wasEnergized && (fromW === 0) === (this.pW === 0);
    const span = { fromW, toW: this.pW, fromVar, toVar: this.qVar, linear };
    this.meter.add(dtS, span, phaseShares(this.ratings.wiring, grid), source, this.phaseLoads);
  }

  /** Output of functions that begin as these do, after `dtS` under another grid. Changes nothing. */
  trial(t: SimTime, dtS: number, grid: GridValues, source: DcSource): Trial {
    return trial(this, grid, source, dtS, {
      ceilingAt: (seconds) => this.#serviceCeiling(addSeconds(t, seconds), this.#stopCeilingAfter(seconds)),
      lasts: this.#serviceLasts(t, dtS, grid),
    });
  }

  /** True if no service state, timer or ramp of it begins or ends within `dtS` under this grid. */
  #serviceLasts(t: SimTime, dtS: number, grid: GridValues): boolean {
    const { enterService, operator } = this.#settings;
    const isHeld = !this.#switchClosed || operator === 'STOP' || this.#mustCease();
    if (!isEnergized(this.phase)) {
      const dueS = this.#enterService.delayRuns ? this.enterDelayRemainingS(t) : enterService.delayS;
      return isHeld || dueS > dtS || !this.protection.mayEnter(grid, this.#settings);
    }
    if (isHeld || this.phase === 'shutting_down' || this.#stopCeilingW < this.ratings.wMaxRtgW) return false;
    const rampEnd = this.phase === 'ramping' ? this.#enterService.rampEnd(enterService) : null;
    if (rampEnd !== null && rampEnd <= addSeconds(t, dtS)) return false;
    const noTimers = this.#noTimersUnderGrid !== null || this.protection.noTimers;
    return noTimers && this.protection.rests(grid, this.#lastGrid, this.#settings);
  }

  /**
   * Takes the device out of service at once, as after a trip without a cause. Ended by `acknowledge` and the
   * enter-service delay.
   */
  halt(): void {
    this.protection.clear();
    this.#noTimersUnderGrid = null;
    this.#enterService.endRamp();
    this.#enterService.cancelDelay();
    this.phase = 'tripped';
    this.lastTrip = null;
    stopOutput(this);
  }

  /**
   * Ends a halt (reset): service returns through enter service. Running timers and trips continue until their cause
   * ends.
   */
  acknowledge(): void {
    this.#noTimersUnderGrid = null;
    if (this.phase === 'tripped' && this.lastTrip === null) this.phase = 'waiting';
  }

  /** Resets counters, switch and order of the reactive functions to those of a new device. */
  restart(): void {
    this.reactivePower.forgetOrder();
    this.#switchClosed = true;
    this.#noTimersUnderGrid = null;
    this.meter.clear();
  }

  #mustCease(): boolean {
    const { enterService, operator } = this.#settings;
    return !enterService.permit || operator === 'ENTER_STANDBY';
  }

  /** True while a quick response moves, or the voltage moves with the power. */
  get #needsQuickSteps(): boolean {
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

  /** Updates protection and service state at `t`, the start of a sub-step; `nextStep` then stops at their timers. */
  decide(t: SimTime, grid: GridValues): void {
    if (this.#noTimersUnderGrid === grid) return;
    if (this.#noTimersUnderGrid !== null && this.protection.insideDeadband(grid, this.#settings)) {
      this.#noTimersUnderGrid = grid;
      return;
    }
    const wasEnergized = isEnergized(this.phase);
    const { trip, inWindow, causePersists, cessationChanged } = this.protection.update(
      t,
      grid,
      this.#settings,
      wasEnergized,
      this.lastTrip,
    );
    if (cessationChanged) this.#moving = true;
    const cease = this.#mustCease();
    if (!inWindow || cease || this.phase !== 'waiting') this.#enterService.cancelDelay();
    const input = {
      stop: !this.#switchClosed || this.#settings.operator === 'STOP',
      cease,
      trip: trip !== null,
      causePersists,
      inWindow,
      atZero: this.ceasedBy !== null || Math.max(Math.abs(this.pW), Math.abs(this.qVar)) <= negligibleW,
    };
    // a chain such as off -> waiting -> ramping -> in_service may happen at one instant
    for (let i = 0; i < 4; i += 1) {
      if (this.phase === 'waiting' && inWindow && !cease) this.#enterService.startDelay(t);
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
    // cessation and relays start with the service
    if (!wasEnergized && isEnergized(this.phase)) this.protection.update(t, grid, this.#settings, true, this.lastTrip);
    this.#noTimersUnderGrid = this.phase === 'in_service' && this.protection.noTimers ? grid : null;
  }

  #enter(phase: ServicePhase, t: SimTime): void {
    if (phase === 'ramping' && this.phase !== 'shutting_down') {
      this.#enterService.startRamp(t);
      this.#stopCeilingW = this.ratings.wMaxRtgW;
      // limits had no effect while out of service: they apply at once
      this.activePower.skipRamps(this.#settings);
    }
    if (phase !== 'ramping') this.#enterService.endRamp();
    if (phase === 'shutting_down') this.#stopCeilingW = Math.abs(this.pW);
    if (this.phase === 'waiting') {
      this.#enterService.cancelDelay();
      this.lastTrip = null;
    }
    this.phase = phase;
    this.#moving = true;
    if (!isEnergized(phase)) this.protection.cessation.clear();
  }

  /**
   * Maximum power in either direction that service phase and cessation admit at `end`.
   * @param stopCeilingW that of a stop, or of the rise after it, at `end`
   */
  #serviceCeiling(end: SimTime, stopCeilingW: number): ServiceCeiling {
    const ceiling = this.#phaseCeiling(end, stopCeilingW);
    const { cessation } = this.protection;
    const admitted = cessation.pending ? cessation.admittedShare(end, this.ratings.parameters) : 1;
    if (admitted >= 1) return ceiling;
    return {
      ceilingW: Math.min(ceiling.ceilingW, admitted * this.ratings.wMaxRtgW),
      decider: 'cessation',
      varShare: admitted,
    };
  }

  #phaseCeiling(end: SimTime, stopCeilingW: number): ServiceCeiling {
    switch (this.phase) {
      case 'in_service':
      case 'shutting_down':
        return { ceilingW: stopCeilingW, decider: 'ramp' };
      case 'ramping':
        return { ceilingW: this.enterRamp(end) ?? this.ratings.wMaxRtgW, decider: 'enter_service' };
      case 'waiting':
      case 'ceased':
      case 'off':
      case 'tripped':
        return { ceilingW: 0, decider: 'out_of_service' };
    }
  }

  /** `#stopCeilingW` after `dtS`. */
  #stopCeilingAfter(dtS: number): number {
    const { wMaxRtgW } = this.ratings;
    if (this.phase === 'shutting_down') return rampTowards(this.#stopCeilingW, 0, this.rampWS, dtS);
    if (this.phase !== 'in_service' || this.#stopCeilingW >= wMaxRtgW) return this.#stopCeilingW;
    return rampTowards(this.#stopCeilingW, wMaxRtgW, this.rampWS, dtS);
  }

  /** Slope of active power on commands, W per second. */
  get rampWS(): number {
    const { wRampPctS, wRampOfCurrent, aMaxA, wMaxW, vNomV } = this.#settings;
    const referenceW = wRampOfCurrent ? aMaxA * nominalLnV(this.ratings.wiring, vNomV) : wMaxW;
    return (wRampPctS / 100) * referenceW;
  }

  #output(grid: GridValues, source: DcSource, dtS: number, ceiling: ServiceCeiling): void {
    advanceOutput(this, grid, source, ceiling, dtS);
    if (!isEnergized(this.phase)) {
      this.#moving = false;
      source.draw(0, false);
      return;
    }
    this.#moving = this.activePower.moving || this.reactivePower.moving || this.#stopCeilingW < this.ratings.wMaxRtgW;
    source.draw(this.link.dcW(this.pW), true);
    takeUpLoads(this, source);
    // so that the source has the same operating point
    source.decideVar?.(this.reactivePower.isOfLoads ? null : this.qVar);
  }
}
