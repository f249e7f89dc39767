/**
 * One inverter: service state, protective functions, active and reactive power, limits, energy. Advanced in
 * sub-steps of simulated time; keeps its own doubles, while the registers get rounded copies from `publish.ts`.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { ActiveDecider } from '../../contract/grid-trace.ts';
import type { RandomStream } from '../../core/random.ts';
import type { ControlFunction } from '../../contract/device.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { FeederImpedance } from '../surroundings/grid/feeder.ts';
import type { DcSource, PhaseLoads } from '../source/source.ts';
import { meanPu, nominalLnV, phaseCount, phaseShares } from './ac.ts';
import { ActivePower } from './active-power.ts';
import { circleVa, withSupport } from './capability.ts';
import type { Capability } from './capability.ts';
import { causeFunctions, Protection } from './protection.ts';
import { DcLink } from './dc-link.ts';
import { EnergyMeter, withoutVars } from './energy.ts';
import { EnterService, isEnergized, nextPhase } from './service.ts';
import type { ProtectionRatings, TripCause } from './protection.ts';
import { rampTowards } from './ramp.ts';
import type { FormerRanks } from './reactive-power.ts';
import { ReactivePower } from './reactive-power.ts';
import type { ServicePhase } from './service.ts';
import { equalBounds } from './storage-flow.ts';
import type { Settings } from './settings.ts';
import { slowedToVoltage } from './voltage-loop.ts';
import type { TripKind } from './trip.ts';

/** Properties that stay constant while the device runs. */
export interface InverterRatings extends ProtectionRatings {
  readonly wMaxRtgW: number;
  readonly capability: Capability;
  /** null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
  /** DC ports of the source */
  readonly portCount: number;
  /** consumption from the grid while the source gives nothing, W */
  readonly nightW: number;
  /** true: runs at maximum power without a set-point; false: a storage then idles */
  readonly generator: boolean;
  /** rated apparent power, VA */
  readonly vaMaxRtgVa: number;
  /** the line to the grid; null: a stiff grid */
  readonly feeder: FeederImpedance | null;
}

const quickStepS = 0.02;
const movingStepS = 0.1;
/** maximum sub-step of control functions */
export const maxStepS = 1;
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

  /** The voltage of the curves under a grid: mean of the phases, percent of 702.VNom. */
  voltagePct(grid: GridValues): number {
    const { wiring, vNomRtgV } = this.ratings;
    return (meanPu(wiring, grid) * 100 * vNomRtgV) / this.#settings.vNomV;
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
    let stepS = settled ? maxStepS : movingStepS;
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
      next = Math.min(next, addSeconds(t, toZeroS));
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
    this.#output(grid, source, dtS, this.#serviceCeiling(addSeconds(t, dtS), dtS));
    // starting and stopping are steps, every other change is linear
    const linear = source.heldPower !== true && wasEnergized && (fromW === 0) === (this.pW === 0);
    const span = { fromW, toW: this.pW, fromVar, toVar: this.qVar, linear };
    this.meter.add(dtS, span, phaseShares(this.ratings.wiring, grid), source, this.phaseLoads);
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
    this.#stopOutput();
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

  /** Maximum power in either direction that service phase and cessation admit at the end of a sub-step. */
  #serviceCeiling(end: SimTime, dtS: number): ServiceCeiling {
    const ceiling = this.#phaseCeiling(end, dtS);
    const { cessation } = this.protection;
    const admitted = cessation.pending ? cessation.admittedShare(end, this.ratings.parameters) : 1;
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
          this.#stopCeilingW = rampTowards(this.#stopCeilingW, wMaxRtgW, this.rampWS, dtS);
        return { ceilingW: this.#stopCeilingW, decider: 'ramp' };
      case 'ramping':
        return { ceilingW: this.enterRamp(end) ?? wMaxRtgW, decider: 'enter_service' };
      case 'shutting_down':
        this.#stopCeilingW = rampTowards(this.#stopCeilingW, 0, this.rampWS, dtS);
        return { ceilingW: this.#stopCeilingW, decider: 'ramp' };
      case 'waiting':
      case 'ceased':
      case 'off':
      case 'tripped':
        return { ceilingW: 0, decider: 'out_of_service' };
    }
  }

  /** Slope of active power on commands, W per second. */
  get rampWS(): number {
    const { wRampPctS, wRampOfCurrent, aMaxA, wMaxW, vNomV } = this.#settings;
    const referenceW = wRampOfCurrent ? aMaxA * nominalLnV(this.ratings.wiring, vNomV) : wMaxW;
    return (wRampPctS / 100) * referenceW;
  }

  #stopOutput(): void {
    this.pW = 0;
    this.qVar = 0;
    this.phaseLoads = null;
    this.clipped = false;
    this.apparentPowerLimited = false;
    this.reactivePower.clear();
    this.activePower.stop();
  }

  #output(grid: GridValues, source: DcSource, dtS: number, ceiling: ServiceCeiling): void {
    const { ratings } = this;
    const settings = this.#settings;
    this.link.read(source);
    this.curvePct = this.voltagePct(grid);
    this.activePower.follow(settings, this.curvePct, dtS);
    if (!isEnergized(this.phase)) {
      this.#stopOutput();
      this.#moving = false;
      source.draw(0, false);
      return;
    }
    // the autonomous reference starts at its setting, and does not follow the voltage during a cessation
    if (this.ceasedBy === null) this.reactivePower.follow(settings, this.curvePct, Number.isFinite(dtS) ? dtS : 0);
    this.#advanceActive(grid, dtS, ceiling);
    this.clipped = ratings.generator && this.link.exceeds(settings.wMaxW, negligibleW);
    this.#advanceReactive(grid, source, dtS, ceiling.varShare ?? 1);
    this.#moving = this.activePower.moving || this.reactivePower.moving || this.#stopCeilingW < ratings.wMaxRtgW;
    source.draw(this.link.dcW(this.pW), true);
    if (ratings.nightW > 0 && this.sleeps(source)) this.pW = -Math.min(ratings.nightW, this.circleVa);
    this.#alignWithLoads(source);
  }

  /** True if the source powers the converter; while shutting down reactive power goes to zero as well. */
  get converterRuns(): boolean {
    return this.link.powered && this.phase !== 'shutting_down';
  }

  /** True if in service behind a source that neither gives nor absorbs. */
  sleeps({ starting, availableDcW, absorbableDcW }: DcSource): boolean {
    return (
      this.phase === 'in_service' && !starting && availableDcW <= 0 && absorbableDcW <= 0 && this.ceasedBy === null
    );
  }

  /** Exchanges phase loads and reactive power with the source after `draw`, so that both have one operating point. */
  #alignWithLoads(source: DcSource): void {
    const { isOfLoads } = this.reactivePower;
    const loads = source.phaseLoads ?? null;
    this.phaseLoads = isOfLoads ? loads : withoutVars(loads);
    if (isOfLoads && source.ownVar !== undefined) this.qVar = source.ownVar;
    source.decideVar?.(isOfLoads ? null : this.qVar);
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
        // consumption of a sleeping generator is not output
        outputW: this.ratings.generator ? Math.max(0, this.pW) : this.pW,
        free: this.phase === 'in_service' && this.ceasedBy === null,
        rampWS: this.rampWS,
      },
      dtS,
    );
  }

  #advanceReactive(grid: GridValues, source: DcSource, dtS: number, varShare: number): void {
    const { ratings, activePower, reactivePower } = this;
    const settings = this.#settings;
    const volts = meanPu(ratings.wiring, grid) * nominalLnV(ratings.wiring, ratings.vNomRtgV);
    // beside an array the discharge is only a part of the power
    this.circleVa = circleVa(settings, volts, activePower.requestedW > 0 && source.array === undefined);
    reactivePower.step(
      {
        settings,
        capability: ratings.capability,
        requestedW: activePower.requestedW,
        sVa: this.circleVa,
        vPct: this.curvePct,
        running: this.converterRuns,
        ownVar: source.ownVar,
      },
      dtS,
    );
    if (this.ceasedBy !== null) {
      this.pW = 0;
      this.qVar = 0;
      this.apparentPowerLimited = false;
      return;
    }
    this.pW = reactivePower.pW;
    this.qVar = reactivePower.qVar * varShare;
    const { reactiveCurrentPu = 0 } = source;
    if (reactiveCurrentPu !== 0) {
      const supportVar = ((reactiveCurrentPu * this.curvePct) / 100) * ratings.vaMaxRtgVa;
      [this.pW, this.qVar] = withSupport(this.pW, this.qVar + supportVar, this.circleVa);
    }
    this.apparentPowerLimited = Math.abs(activePower.requestedW) - Math.abs(this.pW) > negligibleW;
  }
}

interface ServiceCeiling {
  readonly ceilingW: number;
  readonly decider: ActiveDecider;
  /** share of the reactive power that may flow; absent: all of it */
  readonly varShare?: number;
}
