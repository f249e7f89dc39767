import type { IvCurve, SourceCommand } from '../../../contract/device.ts';
import { SimError } from '../../../core/errors.ts';
import type {
  EvseCommand,
  EvseDetail,
  EvseParameters,
  EvseSession,
  EvseTransition,
} from '../../../contract/kinds/evse.ts';
import type { RandomStream } from '../../../core/random.ts';
import { LivePort, noConditions } from '../shared.ts';
import type { DcPort, DcRequest, DcSource, SourceCondition, SourceInput } from '../source.ts';
import { canFlow, createConnector, leastPowerW, takeLimits } from './connector.ts';
import type { Connector } from './connector.ts';
import { connectorVoltageV, evseDetail } from './detail.ts';
import { authorizeByPlug, fire, fireDue, nextDueS, updateHolds } from './machine.ts';
import type { Station } from './machine.ts';
import { clearFault, operate } from './operations.ts';
import { phaseSkew } from './phase-split.ts';
import { bendPlan, createScratch, offerUnder, planTotal, planWish } from './plan.ts';
import type { Scratch } from './plan.ts';
import { chargeLevelW, mostDischargeW, noReach, takeReach, timeToEndS, vehicleRampWS } from './reach.ts';
import { sessionDetail } from './sessions.ts';
import { createVehicle } from './vehicle.ts';

const faulted: ReadonlySet<SourceCondition> = new Set(['connector_fault']);
const grounded: ReadonlySet<SourceCondition> = new Set(['connector_fault', 'ground_fault']);

function conditionsOf(errorCode: Connector['errorCode']): ReadonlySet<SourceCondition> {
  if (errorCode === null) return noConditions;
  return errorCode === 'GroundFailure' ? grounded : faulted;
}

/** Nearer to what a vehicle wishes than this nobody has held it back. */
const sameW = 1e-6;
const shortestStepS = 1e-3;
/** of the clock; a step of 0 would stand for the settled state */
const leastStepS = 1e-6;
/** Shares follow the curves of the vehicles from sub-step to sub-step. */
const sharedStepS = 1;
/** Phases of a three-phase supply: a station profile in amperes counts all. */
const stationPhases = 3;

function defaultEvOf(parameters: EvseParameters, connectorId: number) {
  return parameters.vehicles.find((vehicle) => vehicle.connectorId === connectorId)?.ev ?? parameters.ev;
}

/**
 * A charging station with its vehicles. A load: DC power in the terms of `DcSource` is minus what the station draws
 * from the grid at its meter, so the inverter in front of it must be free of losses.
 */
export class EvseSource implements DcSource {
  readonly #station: Station;
  readonly #scratch: Scratch;
  readonly ports: readonly DcPort[];
  readonly starting = false;
  readonly heldPower = true;
  /** length of the prepared sub-step that `draw` has not counted yet */
  #pendingS = 0;
  #terminalPu = 1;
  #shared = false;
  #standbyW = 0;
  #energyWh = 0;
  #energyExportWh = 0;
  /** power at the meter that the present plan adds up to */
  #plannedW = 0;
  #absorbableDcW = 0;
  #availableDcW = 0;

  constructor(parameters: EvseParameters, random: RandomStream) {
    const connectors = parameters.connectors.map((p) => createConnector(p, defaultEvOf(parameters, p.connectorId)));
    this.#station = {
      p: parameters,
      connectors,
      random,
      log: { records: [], count: 0 },
      listeners: new Set(),
      nowS: 0,
      profileLimitW: Infinity,
      profileLimitA: Infinity,
    };
    this.#scratch = createScratch(connectors.length);
    this.ports = connectors.filter(({ p }) => p.type === 'dc').map((c) => this.#portOf(c));
    this.#plugAtStart();
  }

  get availableDcW(): number {
    return this.#availableDcW;
  }

  get absorbableDcW(): number {
    return this.#absorbableDcW;
  }

  /** V2G once the vehicles have ramped. */
  get potentialDcW(): number {
    let sum = -this.#station.p.standbyW;
    for (const c of this.#station.connectors) if (c.vehicle !== null && canFlow(c)) sum += mostDischargeW(c, c.vehicle);
    return Math.max(this.#availableDcW, sum);
  }

  /** Where the ramps of the vehicles lead when nobody asks. */
  get potentialAbsorbableDcW(): number {
    return Math.max(this.#absorbableDcW, this.#levelW());
  }

  /** The vehicle that charges with the least, and the station beside it. */
  get leastAbsorbedDcW(): number {
    let leastW = Infinity;
    for (const c of this.#station.connectors) if (c.upW > 0) leastW = Math.min(leastW, leastPowerW(c));
    return leastW === Infinity ? 0 : leastW + this.#station.p.standbyW;
  }

  get riseGivenDcWS(): number {
    return this.riseAbsorbedDcWS;
  }

  /** All vehicles at once. */
  get riseAbsorbedDcWS(): number {
    let sum = 0;
    for (const c of this.#station.connectors) if (c.vehicle !== null && canFlow(c)) sum += vehicleRampWS(c, c.vehicle);
    return sum;
  }

  /** Power in W that the station draws at its meter when nobody asks; negative: V2G by command. */
  get naturalW(): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) sum += c.wishW;
    return sum;
  }

  get settled(): boolean {
    for (const c of this.#station.connectors) if (c.ramping) return false;
    return true;
  }

  get longestStepS(): number {
    const { connectors, nowS } = this.#station;
    let stepS = this.#shared ? sharedStepS : Infinity;
    for (const c of connectors) {
      const dueS = nextDueS(c) - nowS;
      if (dueS < stepS) stepS = dueS;
      if (c.vehicle === null || !canFlow(c)) continue;
      const endS = timeToEndS(c, c.vehicle);
      if (endS < stepS) stepS = endS;
    }
    return Math.max(shortestStepS, stepS);
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
    this.#takeReach(Math.max(dt, leastStepS), input.terminalPu);
  }

  /** Start delays are over and ramps at their ends. */
  settle(input: SourceInput): void {
    for (const c of this.#station.connectors) if (c.phase === 'starting') fire(this.#station, c, 'delay_over');
    this.#pendingS = 0;
    this.#takeReach(0, input.terminalPu);
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const { connectors, p } = this.#station;
    const mostW = -floorW;
    const leastW = -ceilingW;
    const wishW = this.naturalW;
    // on the way up a limit counts for where the way leads: below the least current nobody starts
    const leadsToW = this.settled ? wishW : Math.max(wishW, this.#levelW());
    if (targetW === null && leadsToW <= mostW && wishW >= leastW) {
      planWish(connectors);
      return this.#answered(wishW);
    }
    const askedW = Math.min(mostW, Math.max(leastW, targetW === null ? leadsToW : -targetW));
    // no vehicle discharges for the standby alone
    const vehiclesW = askedW >= 0 ? Math.max(0, askedW - p.standbyW) : askedW - p.standbyW;
    const planned =
      p.standbyW + planTotal(connectors, this.#scratch, vehiclesW, mostW - p.standbyW, leastW > p.standbyW);
    const least = Math.min(leastW, this.#absorbableDcW);
    const most = Math.max(mostW, -this.#availableDcW);
    return this.#answered(Math.max(-this.#availableDcW, Math.min(this.#absorbableDcW, most, Math.max(least, planned))));
  }

  get phaseSkewW(): readonly [number, number, number] | null {
    return phaseSkew(this.#station.connectors);
  }

  draw(dcW: number, energized: boolean): void {
    const { connectors, p, nowS } = this.#station;
    const drawnW = energized ? -dcW : 0;
    if (!energized) for (const c of connectors) c.planW = 0;
    else if (drawnW !== this.#plannedW)
      bendPlan(connectors, drawnW >= 0 ? Math.max(0, drawnW - p.standbyW) : drawnW - p.standbyW);
    this.#plannedW = drawnW;
    const hours = this.#pendingS / 3600;
    let vehiclesW = 0;
    for (const c of connectors) {
      this.#flow(c, hours);
      vehiclesW += c.planW;
    }
    this.#standbyW = energized ? Math.max(0, drawnW - vehiclesW) : 0;
    if (drawnW > 0) this.#energyWh += drawnW * hours;
    else this.#energyExportWh -= drawnW * hours;
    this.#pendingS = 0;
    for (const c of connectors) {
      updateHolds(this.#station, c);
      if (nextDueS(c) <= nowS + shortestStepS) fireDue(this.#station, c);
    }
  }

  detail(): EvseDetail {
    return evseDetail(this.#station, {
      standbyW: this.#standbyW,
      energyWh: this.#energyWh,
      energyExportWh: this.#energyExportWh,
      terminalPu: this.#terminalPu,
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

  /** Simulated seconds since the source began: the clock of sessions, reservations and transitions. */
  get nowS(): number {
    return this.#station.nowS;
  }

  /** Tells `listener` every change of phase or status at its instant. @returns ends that */
  onTransition(listener: (transition: EvseTransition) => void): () => void {
    this.#station.listeners.add(listener);
    return () => {
      this.#station.listeners.delete(listener);
    };
  }

  curve(): IvCurve {
    throw new SimError('COMMAND_NOT_APPLICABLE', 'a charging station has no DC curve');
  }

  command(command: SourceCommand): void {
    if (!isEvseCommand(command))
      throw new SimError('COMMAND_NOT_APPLICABLE', `${command.kind} is no command of a charging station`);
    operate(this.#station, command);
  }

  clearFaults(): void {
    for (const c of this.#station.connectors) if (c.errorCode !== null) clearFault(this.#station, c);
  }

  /** The clock goes on: moments of before stay before. */
  restart(): void {
    const station = this.#station;
    for (const c of station.connectors) Object.assign(c, createConnector(c.p, c.defaultEv));
    station.log.records.length = 0;
    station.log.count = 0;
    [station.profileLimitW, station.profileLimitA] = [Infinity, Infinity];
    [this.#energyWh, this.#energyExportWh, this.#standbyW] = [0, 0, 0];
    [this.#pendingS, this.#plannedW, this.#absorbableDcW, this.#availableDcW] = [0, 0, 0, 0];
    this.#shared = false;
    this.#plugAtStart();
  }

  #portOf(c: Connector): DcPort {
    const voltageV = () => connectorVoltageV(c, 1);
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

  /** Limits, shares and reach of every connector for a sub-step. @param dtS 0: the settled state */
  #takeReach(dtS: number, terminalPu: number): void {
    const { connectors, p, profileLimitW, profileLimitA } = this.#station;
    this.#terminalPu = Number.isFinite(terminalPu) && terminalPu > 0 ? terminalPu : 0;
    for (const c of connectors) {
      c.capW = 0;
      c.offerW = 0;
      if (c.vehicle !== null && canFlow(c)) takeLimits(c, c.vehicle, this.#terminalPu);
    }
    const perA =
      profileLimitA === Infinity ? Infinity : profileLimitA * stationPhases * (connectors[0]?.p.voltageV ?? 0);
    const profileW = Math.min(profileLimitW, perA);
    const limitW = Math.max(0, Math.min(p.maxPowerW, profileW) - p.standbyW);
    this.#shared = offerUnder(connectors, this.#scratch, limitW, profileW < p.maxPowerW) && connectors.length > 1;
    let upW = 0;
    let downW = 0;
    for (const c of connectors) {
      if (c.vehicle !== null && canFlow(c)) takeReach(c, c.vehicle, dtS);
      else noReach(c);
      upW += c.upW;
      downW += c.downW;
    }
    if (upW > limitW) {
      this.#holdBelow(limitW / upW);
      upW = limitW;
    }
    this.#absorbableDcW = upW + p.standbyW;
    this.#availableDcW = Math.max(0, downW - p.standbyW);
    planWish(connectors);
    this.#plannedW = this.naturalW;
  }

  /** Ramps down and rising curves may not carry the station above its limit. */
  #holdBelow(factor: number): void {
    for (const c of this.#station.connectors) {
      if (c.upW <= 0) continue;
      c.upW *= factor;
      c.wishW *= factor;
      c.wishEndW *= factor;
    }
  }

  /** Power in W at the meter once all ramps are over. */
  #levelW(): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) {
      if (c.vehicle !== null && c.upW > 0) sum += chargeLevelW(c.vehicle, c.offerW);
      else sum += Math.min(0, c.wishW);
    }
    return sum;
  }

  #answered(drawnW: number): number {
    let sum = this.#station.p.standbyW;
    for (const c of this.#station.connectors) sum += c.planW;
    // a plan that had to be cut is bent when it is drawn
    this.#plannedW = Math.abs(sum - drawnW) <= sameW * sameW ? drawnW : NaN;
    return drawnW === 0 ? 0 : -drawnW;
  }

  #flow(c: Connector, hours: number): void {
    const { vehicle, planW } = c;
    // -0 is no reading
    c.powerW = planW === 0 ? 0 : planW;
    c.heldByDer = Math.abs(planW - c.wishW) > sameW;
    if (c.heldByDer) c.ramping = false;
    c.flowW = c.heldByDer ? planW : c.wishEndW;
    if (vehicle === null || planW === 0) return;
    const perJ = planW > 0 ? vehicle.socPerJ : vehicle.drainPerJ;
    vehicle.soc = Math.max(0, Math.min(1, vehicle.soc + planW * perJ * hours * 3600));
    const energyWh = planW * hours;
    if (planW > 0) c.energyWh += energyWh;
    else c.energyExportWh -= energyWh;
    if (c.session === null) return;
    if (planW > 0) c.session.energyWh += energyWh;
    else c.session.energyDischargedWh -= energyWh;
  }
}

function isEvseCommand(command: SourceCommand): command is EvseCommand {
  return command.kind.startsWith('evse.');
}
