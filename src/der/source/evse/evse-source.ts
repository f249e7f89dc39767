import type { IvCurve, SourceCommand } from '../../../contract/device.ts';
import { SimError } from '../../../core/errors.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { EvseCommand } from '../../../contract/kinds/evse-commands.ts';
import type { EvseDetail, EvseParameters, EvseSession } from '../../../contract/kinds/evse.ts';
import type { Origin } from '../../../core/origin.ts';
import type { RandomStream } from '../../../core/random.ts';
import { LivePort, noConditions } from '../live-port.ts';
import type {
  DcPort,
  DcRequest,
  DcSource,
  PhaseLoads,
  Phases,
  PowerCourse,
  SourceCondition,
  SourceInput,
  SessionListener,
  StationOutside,
  TransitionListener,
} from '../source.ts';
import { canFlow, createConnector, minChargeW, isHeldByDer, updateLimits, flow } from './connector.ts';
import type { Connector } from './connector.ts';
import { connectorVoltageV, evseDetail } from './detail.ts';
import { generatorDueS, runGenerator } from './generator.ts';
import { keptEndedSessions, keptStation } from './kept.ts';
import { recordLimits, reportLimits, reportStationEvent } from './reports.ts';
import { authorizeByPlug, fire, fireDue, nextDueS, updateHolds } from './machine.ts';
import { clearFault, operate } from './operations.ts';
import {
  capBySupply,
  scaleBySupply,
  scaleCharging,
  ownVar,
  phaseLoads,
  shareVar,
  supplyWattsPerAmpere,
} from './supply-limit.ts';
import { phaseTraits } from './phases.ts';
import {
  adjustPlan,
  createScratch,
  planTotal,
  planUnrestricted,
  shareStationLimit,
  scaleDischarging,
  shareStationDischarge,
} from './plan.ts';
import type { Scratch } from './plan.ts';
import { dischargeCapW, openLimit } from './profile-limit.ts';
import {
  chargeLevelW,
  clearReach,
  lateDischargeW,
  maxDischargeW,
  mayReachReserve,
  timeToEndS,
  updateReach,
  vehicleRampWS,
} from './reach.ts';
import { sessionDetail } from './sessions.ts';
import { withTrigger, byItself, createStation, stationCopy } from './station.ts';
import type { Station } from './station.ts';
import { createVehicle } from './vehicle.ts';

const faulted: ReadonlySet<SourceCondition> = new Set(['connector_fault']);
const grounded: ReadonlySet<SourceCondition> = new Set(['connector_fault', 'ground_fault']);

function conditionsOf(errorCode: Connector['errorCode']): ReadonlySet<SourceCondition> {
  if (errorCode === null) return noConditions;
  return errorCode === 'GroundFailure' ? grounded : faulted;
}

/** Difference between plan and answer that counts as rounding, W. */
const planToleranceW = 1e-12;
const minStepS = 1e-3;
/** Minimum sub-step of a prepared reach; 0 would mean the settled state. */
const clockResolutionS = 1e-6;
/** Difference of voltage or reactive power that moves no limit in amperes, as a share. */
const negligibleShare = 1e-4;
/** Sub-step while a vehicle ramps. */
const rampingStepS = 0.1;
/** Time in which a vehicle takes up the rest of a ramp: the sub-step in which the ramp begins, and the one after it. */
const lagS = 2 * rampingStepS;
/** Maximum sub-step while power is shared: shares follow the curves of the vehicles once per sub-step. */
const sharingStepS = 1;

/**
 * A charging station with its vehicles. It is a load: the DC power of `DcSource` is the negative of the power at the
 * meter of the station, so the inverter in front of it must be lossless.
 */
export class EvseSource implements DcSource {
  readonly #station: Station;
  readonly #scratch: Scratch;
  readonly ports: readonly DcPort[];
  readonly starting = false;
  readonly heldPower = true;
  readonly station = this;
  /** length of the prepared sub-step that `draw` has yet to count */
  #pendingS = 0;
  #shared = false;
  #standbyW = 0;
  #energyWh = 0;
  #energyExportWh = 0;
  /** power at the meter of the present plan */
  #plannedW = 0;
  #absorbableDcW = 0;
  #availableDcW = 0;
  /** true: a copy for questions */
  readonly #isCopy: boolean;
  /** in a copy for questions: no timer and no end of a vehicle lies within the time asked about */
  #isQuiet = false;
  /** in a copy for questions: the voltage is that of the last sub-step */
  #hasPresentVoltage = true;
  /** in a copy for questions: discharge all the time would take a vehicle to its reserve */
  #mayReachReserve = false;

  /**
   * @param central a central system decides about tokens from the start
   * @param copied station of a copy for questions; absent: a new one
   */
  constructor(parameters: EvseParameters, random: RandomStream, central = false, copied?: Station) {
    this.#isCopy = copied !== undefined;
    this.#station = copied ?? createStation(parameters, random, central);
    const { connectors } = this.#station;
    this.#scratch = createScratch(connectors.length);
    this.ports = connectors.filter(({ p }) => p.type === 'dc').map((c) => this.#portOf(c));
    if (copied === undefined) this.#plugAtStart();
  }

  get availableDcW(): number {
    return this.#availableDcW;
  }

  get absorbableDcW(): number {
    return this.#absorbableDcW;
  }

  /** V2G power once the ramps of the vehicles are over. */
  get potentialDcW(): number {
    let sum = -this.#station.p.standbyW;
    for (const c of this.#station.connectors) if (c.vehicle !== null && canFlow(c)) sum += maxDischargeW(c, c.vehicle);
    return Math.max(this.#availableDcW, Math.min(sum, this.#stationDischargeW));
  }

  /** Power without a set-point once the ramps of the vehicles are over, also of those that turn from discharge. */
  get potentialAbsorbableDcW(): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) {
      if (c.vehicle !== null && canFlow(c) && c.dischargeW === null) sum += chargeLevelW(c.vehicle, c.offerW);
      else sum += Math.min(0, c.unrestrictedW);
    }
    return Math.max(this.#absorbableDcW, sum);
  }

  /** The smallest minimum of a charging vehicle, plus standby. */
  get minAbsorbedDcW(): number {
    let minW = Infinity;
    for (const c of this.#station.connectors) if (c.chargeableW > 0) minW = Math.min(minW, minChargeW(c));
    return minW === Infinity ? 0 : minW + this.#station.p.standbyW;
  }

  get outputRampDcWS(): number {
    return this.absorbedRampDcWS;
  }

  /** Sum over the vehicles. */
  get absorbedRampDcWS(): number {
    let sum = 0;
    for (const c of this.#station.connectors) if (c.vehicle !== null && canFlow(c)) sum += vehicleRampWS(c, c.vehicle);
    return sum;
  }

  /** Power in W that the station draws at its meter without a set-point; negative: V2G by command. */
  get unrestrictedW(): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) sum += c.unrestrictedW;
    return sum;
  }

  get settled(): boolean {
    // in a copy the plan is that of the end, which a vehicle that is held back has reached
    for (const c of this.#station.connectors) if (c.ramping && !(this.#isCopy && isHeldByDer(c))) return false;
    return true;
  }

  get #isRamping(): boolean {
    for (const c of this.#station.connectors) if (c.ramping) return true;
    return false;
  }

  get maxStepS(): number {
    return Math.max(minStepS, Math.min(this.#shared ? sharingStepS : Infinity, this.#untilEventS));
  }

  /** Lower bound of the time to the next timer, or the end of a vehicle's flow, s. */
  get #untilEventS(): number {
    const { connectors, nowS } = this.#station;
    let stepS = Infinity;
    if (this.#station.generator !== null) stepS = Math.min(stepS, generatorDueS(this.#station) - nowS);
    for (const c of connectors) {
      const dueS = nextDueS(c) - nowS;
      if (dueS < stepS) stepS = dueS;
      if (c.vehicle === null || !canFlow(c)) continue;
      const endS = timeToEndS(c, c.vehicle);
      if (endS < stepS) stepS = endS;
    }
    return stepS;
  }

  get conditions(): ReadonlySet<SourceCondition> {
    const { connectors } = this.#station;
    if (!connectors.some((c) => c.errorCode !== null)) return noConditions;
    return connectors.some((c) => c.errorCode === 'GroundFailure') ? grounded : faulted;
  }

  prepare(dtS: number, input: SourceInput): void {
    const dt = dtS > 0 && Number.isFinite(dtS) ? dtS : 0;
    this.#station.nowS += dt;
    this.#pendingS = dt;
    this.#updateReach(Math.max(dt, clockResolutionS), input.phaseLnV);
  }

  /** Ends start delays and ramps. */
  settle(input: SourceInput): void {
    for (const c of this.#station.connectors) if (c.phase === 'starting') fire(this.#station, c, 'delay_over');
    this.#pendingS = 0;
    this.#updateReach(0, input.phaseLnV);
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const { connectors, p } = this.#station;
    const maxW = -floorW;
    const minW = -ceilingW;
    const demandW = this.unrestrictedW;
    // a limit applies to the end of a ramp up: no vehicle starts below its minimum current
    const settledW = this.#isRamping ? Math.max(demandW, this.#settledW()) : demandW;
    if (targetW === null && settledW <= maxW && demandW >= minW) {
      planUnrestricted(connectors);
      return this.#answerFor(demandW);
    }
    const requestedW = Math.min(maxW, Math.max(minW, targetW === null ? settledW : -targetW));
    // vehicles do not discharge to cover standby alone
    const vehiclesW = requestedW >= 0 ? Math.max(0, requestedW - p.standbyW) : requestedW - p.standbyW;
    const planned = p.standbyW + planTotal(connectors, this.#scratch, vehiclesW, maxW - p.standbyW, minW > p.standbyW);
    const minDrawW = Math.min(minW, this.#absorbableDcW);
    const maxDrawW = Math.max(maxW, -this.#availableDcW);
    return this.#answerFor(
      Math.max(-this.#availableDcW, Math.min(this.#absorbableDcW, maxDrawW, Math.max(minDrawW, planned))),
    );
  }

  triedAt(dtS: number, phaseLnV: Phases): EvseSource {
    const { p, random } = this.#station;
    const copy = new EvseSource(p, random, false, stationCopy(this.#station));
    copy.#pass(dtS, phaseLnV);
    return copy;
  }

  /**
   * Takes limits, ramps and charge of a copy to the end of `dtS`: charging goes on unrestricted all the time, and the
   * most discharge is what a vehicle reaches that discharges all the time.
   */
  #pass(dtS: number, phaseLnV: Phases): void {
    const isEndless = dtS === Infinity;
    const { connectors, phaseLnV: presentLnV } = this.#station;
    this.#hasPresentVoltage = phaseLnV.every((v, i) => Math.abs(v - (presentLnV[i] ?? 0)) <= negligibleShare * v);
    // the power of the end is the mean of the last sub-step
    const lastS = isEndless ? 0 : Math.min(dtS, rampingStepS);
    this.#updateReach(isEndless ? 0 : dtS, phaseLnV);
    this.#isQuiet = isEndless || this.#untilEventS > dtS;
    this.#mayReachReserve = !isEndless && connectors.some((c) => mayReachReserve(c, dtS));
    if (isEndless || lastS === dtS) return;
    const dischargeW = connectors.map((c) => lateDischargeW(c, dtS, lastS));
    this.#updateReach(dtS - lastS, phaseLnV);
    for (const c of connectors) {
      c.flowW = c.unrestrictedEndW;
      if (c.vehicle === null) continue;
      const perJ = c.unrestrictedW > 0 ? c.vehicle.socPerJ : c.vehicle.drainPerJ;
      c.vehicle.soc += c.unrestrictedW * (dtS - lastS) * perJ;
    }
    this.#updateReach(lastS, phaseLnV);
    for (const [i, c] of connectors.entries()) c.dischargeableW = Math.max(-c.unrestrictedW, dischargeW[i] ?? 0);
    this.#boundReach(this.#stationDischargeW);
  }

  /** Limits in amperes follow voltage and reactive power within a few sub-steps where a function decides the latter. */
  holds(course: PowerCourse): boolean {
    const { dcW, decidedVar } = course;
    const { varPerW, limitVar, p } = this.#station;
    if (!this.#isQuiet || (varPerW === null) !== (decidedVar === null) || this.#mayLag(course)) return false;
    const isCharging = -dcW > p.standbyW + negligibleShare * p.maxPowerW;
    if (this.#mayReachReserve && !isCharging) return false;
    if (decidedVar === null) return true;
    return this.#hasPresentVoltage && Math.abs(Math.abs(decidedVar) - limitVar) <= negligibleShare * p.maxPowerW;
  }

  /**
   * True if vehicles may not have reached the power of a set-point: they are late by a part of a sub-step, and the
   * set-point goes on from the power of a vehicle that starts or pauses.
   */
  #mayLag({ fromDcW, dcW, setPointRampWS, dtS }: PowerCourse): boolean {
    const rampWS = this.outputRampDcWS;
    const { p } = this.#station;
    const toleratedW = negligibleShare * p.maxPowerW;
    if (setPointRampWS === null || Math.abs(dcW - fromDcW) <= toleratedW) return false;
    const riseW = dcW > 0 ? dcW - Math.max(0, fromDcW) : Math.min(0, fromDcW) - dcW;
    const [lowW, highW] = [Math.min(dcW, fromDcW), Math.max(dcW, fromDcW)];
    const passesPause = lowW < -p.standbyW - toleratedW && highW > toleratedW - this.#minVehicleW - p.standbyW;
    // with half the slope of the vehicles, the set-point lies within the mean of each sub-step
    const isLate = riseW > 0 && rampWS < 2 * setPointRampWS;
    if (!isLate && !passesPause) return false;
    const fallS = (highW - lowW - Math.max(0, riseW)) / setPointRampWS;
    const riseS = Math.max(0, riseW) / Math.min(rampWS, setPointRampWS);
    return dtS < fallS + riseS + lagS;
  }

  /** The largest minimum of a vehicle, W. */
  get #minVehicleW(): number {
    let minW = 0;
    for (const c of this.#station.connectors)
      if (c.vehicle !== null && canFlow(c)) minW = Math.max(minW, minChargeW(c));
    return minW;
  }

  planFor(dcW: number): void {
    this.#planDrawn(-dcW, true);
  }

  get phaseLoads(): PhaseLoads | null {
    return phaseLoads(this.#station);
  }

  get ownVar(): number {
    return ownVar(this.#station.connectors);
  }

  decideVar(decidedVar: number | null): void {
    shareVar(this.#station, decidedVar);
  }

  draw(dcW: number, energized: boolean): void {
    const { connectors, nowS } = this.#station;
    const drawnW = energized ? -dcW : 0;
    this.#planDrawn(drawnW, energized);
    const hours = this.#pendingS / 3600;
    let vehiclesW = 0;
    for (const c of connectors) {
      flow(c, hours);
      vehiclesW += c.planW;
    }
    this.#standbyW = energized ? Math.max(0, drawnW - vehiclesW) : 0;
    if (drawnW > 0) this.#energyWh += drawnW * hours;
    else this.#energyExportWh -= drawnW * hours;
    this.#pendingS = 0;
    for (const c of connectors) {
      updateHolds(this.#station, c);
      if (nextDueS(c) <= nowS + minStepS) fireDue(this.#station, c);
    }
    if (this.#station.generator !== null)
      runGenerator(this.#station, (command, by) => {
        operate(this.#station, command, by);
      });
  }

  #planDrawn(drawnW: number, energized: boolean): void {
    const { connectors, p } = this.#station;
    if (!energized) for (const c of connectors) c.planW = 0;
    else if (drawnW !== this.#plannedW)
      adjustPlan(connectors, drawnW >= 0 ? Math.max(0, drawnW - p.standbyW) : drawnW - p.standbyW);
    this.#plannedW = drawnW;
  }

  detail(): EvseDetail {
    return evseDetail(this.#station, {
      standbyW: this.#standbyW,
      energyWh: this.#energyWh,
      energyExportWh: this.#energyExportWh,
    });
  }

  /** The last sessions, newest first. */
  sessions(): readonly EvseSession[] {
    const { connectors, log } = this.#station;
    return log.records.toReversed().flatMap((record) => {
      const c = connectors.find(({ p }) => p.connectorId === record.connectorId);
      return c === undefined ? [] : [sessionDetail(record, c)];
    });
  }

  /** Simulated seconds since the source was created: the clock of sessions, reservations and transitions. */
  get nowS(): number {
    return this.#station.nowS;
  }

  /** Calls `listener` at once for every transition, also within a sub-step. @returns a function that removes it */
  onTransition(listener: TransitionListener): () => void {
    const { listeners } = this.#station;
    if (listeners.size === 0) recordLimits(this.#station);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  onSession(listener: SessionListener): void {
    this.#station.onSession = listener;
  }

  /** Reports changed limits; called between sub-steps while there are listeners. */
  reportLimits(): void {
    reportLimits(this.#station);
  }

  /** Gives the station the state of the device around it. */
  attach(outside: StationOutside): void {
    this.#station.outside = outside;
  }

  curve(): IvCurve {
    throw new SimError('COMMAND_NOT_APPLICABLE', 'a charging station has no DC curve');
  }

  command(command: SourceCommand, by: Origin = byItself): void {
    if (!isEvseCommand(command))
      throw new SimError('COMMAND_NOT_APPLICABLE', `${command.kind} is not a command of a charging station`);
    operate(this.#station, command, by);
  }

  clearFaults(by: Origin = byItself): void {
    withTrigger(this.#station, { by, cause: 'reset' }, () => {
      for (const c of this.#station.connectors) if (c.errorCode !== null) clearFault(this.#station, c);
    });
  }

  /**
   * Ends the sessions and returns to the start values. The clock continues, so that earlier instants stay in the past;
   * the count of transactions continues, so that ids are unique; authority and behaviour stay: they are settings.
   */
  restart(by: Origin = byItself): void {
    const station = this.#station;
    withTrigger(station, { by, cause: 'reset' }, () => {
      for (const c of station.connectors) if (phaseTraits[c.phase].session) fire(station, c, 'stop', 'Reboot');
      this.#forget();
      reportStationEvent(station, 'restart');
      this.#plugAtStart();
    });
  }

  lasting(): Kept {
    return keptParts({
      station: keptParts({ log: keptEndedSessions(this.#station.log) }),
      members: keptRecord(
        () => ({ energyWh: this.#energyWh, energyExportWh: this.#energyExportWh }),
        ({ energyWh, energyExportWh }) => {
          [this.#energyWh, this.#energyExportWh] = [energyWh, energyExportWh];
        },
      ),
    });
  }

  kept(): Kept {
    return keptParts({
      station: keptStation(this.#station),
      members: keptRecord(
        () => ({
          shared: this.#shared,
          standbyW: this.#standbyW,
          energyWh: this.#energyWh,
          energyExportWh: this.#energyExportWh,
          plannedW: this.#plannedW,
          absorbableDcW: this.#absorbableDcW,
          availableDcW: this.#availableDcW,
        }),
        (values) => {
          this.#shared = values.shared;
          this.#standbyW = values.standbyW;
          this.#energyWh = values.energyWh;
          this.#energyExportWh = values.energyExportWh;
          this.#plannedW = values.plannedW;
          this.#absorbableDcW = values.absorbableDcW;
          this.#availableDcW = values.availableDcW;
        },
      ),
    });
  }

  #forget(): void {
    const station = this.#station;
    for (const c of station.connectors) Object.assign(c, createConnector(c.p, c.defaultEv));
    station.log.records.length = 0;
    station.profile = openLimit;
    station.generator = null;
    [this.#energyWh, this.#energyExportWh, this.#standbyW] = [0, 0, 0];
    [this.#pendingS, this.#plannedW, this.#absorbableDcW, this.#availableDcW] = [0, 0, 0, 0];
    this.#shared = false;
  }

  #portOf(c: Connector): DcPort {
    const voltageV = () => connectorVoltageV(c, this.#station);
    return new LivePort('EV', `Connector ${c.p.connectorId}`, {
      voltageV,
      currentA: () => (c.powerW === 0 || voltageV() === 0 ? 0 : -c.powerW / voltageV()),
      powerW: () => (c.powerW === 0 ? 0 : -c.powerW),
      conditions: () => conditionsOf(c.errorCode),
    });
  }

  #plugAtStart(): void {
    const station = this.#station;
    for (const { connectorId, ev, pluggedAtStart } of station.p.vehicles) {
      const c = station.connectors.find(({ p }) => p.connectorId === connectorId);
      if (c === undefined || !pluggedAtStart || c.evPlugged) continue;
      c.vehicle = createVehicle(ev, c.p.type);
      [c.evPlugged, c.evsePlugged] = [true, true];
      fire(station, c, 'plugged');
      authorizeByPlug(station, c);
    }
  }

  /** Computes limits, shares and reach of every connector for a sub-step. @param dtS 0: the settled state */
  #updateReach(dtS: number, phaseLnV: Phases): void {
    const { connectors, p, profile } = this.#station;
    phaseLnV.forEach((lnV, i) => (this.#station.phaseLnV[i] = Number.isFinite(lnV) && lnV > 0 ? lnV : 0));
    for (const c of connectors) {
      c.grantW = 0;
      c.capW = 0;
      c.offerW = 0;
      if (c.vehicle !== null && canFlow(c)) updateLimits(c, c.vehicle, this.#station);
    }
    const phaseBinds = capBySupply(this.#station, this.#scratch);
    const totalBinds = shareStationLimit(connectors, this.#scratch, this.#chargeLimitW, profile.limitW < p.maxPowerW);
    this.#shared = (phaseBinds || totalBinds) && connectors.length > 1;
    const dischargeW = this.#stationDischargeW;
    if (dischargeW < Infinity) shareStationDischarge(connectors, dischargeW);
    for (const c of connectors) {
      if (c.vehicle !== null && canFlow(c)) updateReach(c, c.vehicle, dtS);
      else clearReach(c);
    }
    this.#boundReach(dischargeW);
  }

  /**
   * Keeps the vehicles together within the limits of the station, and plans them without a set-point.
   * @param dischargeW discharge of all vehicles together that the profile permits
   */
  #boundReach(dischargeW: number): void {
    const { connectors, p } = this.#station;
    const limitW = this.#chargeLimitW;
    scaleBySupply(this.#station);
    let upW = 0;
    let downW = 0;
    for (const c of connectors) {
      upW += c.chargeableW;
      downW += c.dischargeableW;
    }
    if (upW > limitW) {
      // keeps ramps down and rising curves from carrying the station above its limit
      for (const c of connectors) scaleCharging(c, limitW / upW);
      upW = limitW;
    }
    if (downW > dischargeW) {
      scaleDischarging(connectors, dischargeW, downW);
      downW = dischargeW;
    }
    this.#absorbableDcW = upW + p.standbyW;
    this.#availableDcW = Math.max(0, downW - p.standbyW);
    planUnrestricted(connectors);
    this.#plannedW = this.unrestrictedW;
  }

  /** Power of all vehicles together that rating and profile of the station permit, W. */
  get #chargeLimitW(): number {
    const { p, profile } = this.#station;
    return Math.max(0, Math.min(p.maxPowerW, profile.limitW) - p.standbyW);
  }

  /** Discharge of all vehicles together that the profile of the station permits, W. */
  get #stationDischargeW(): number {
    return dischargeCapW(this.#station.profile, supplyWattsPerAmpere(this.#station));
  }

  /** Power in W at the meter once all ramps are over. */
  #settledW(): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) {
      if (c.vehicle !== null && c.chargeableW > 0) sum += chargeLevelW(c.vehicle, c.offerW);
      else sum += Math.min(0, c.unrestrictedW);
    }
    return sum;
  }

  #answerFor(drawnW: number): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) sum += c.planW;
    // NaN: the plan differs from the answer and `draw` adjusts it
    this.#plannedW = Math.abs(sum - drawnW) <= planToleranceW ? drawnW : NaN;
    return drawnW === 0 ? 0 : -drawnW;
  }
}

function isEvseCommand(command: SourceCommand): command is EvseCommand {
  return command.kind.startsWith('evse.');
}
