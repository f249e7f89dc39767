import type { IvCurve, IvPoint, SourceCommand } from '../../../contract/device.ts';
import { SimError } from '../../../core/errors.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { RandomStream } from '../../../core/random.ts';
import type { BatteryDetail, BatteryParameters, BatteryTree, BatteryEvent } from '../../../contract/kinds/battery.ts';
import { checkCurvePort, lastSample } from '../dc-curve.ts';
import { LivePort } from '../live-port.ts';
import type { StorageFlow } from '../../inverter/storage-flow.ts';
import type { DcPort, DcRequest, DcSource, PowerCourse, SourceCondition, SourceInput } from '../source.ts';
import { currentFor } from './bank.ts';
import type { BatteryBank } from './bank.ts';
import { cellSpecs } from './cell-spec.ts';
import type { CellSpec } from './cell-spec.ts';
import { checkControl, checkReserve } from './control.ts';
import type { ControlCommand } from './control.ts';
import { FlowBounds } from './flow-bounds.ts';
import { BatterySystem } from './system.ts';
import { batteryTree, cellRange, positionOf, shownPct } from './view.ts';
import type { CellRange } from './view.ts';
import { batteryEvents } from './protection.ts';

/** Limits on the storage, W DC; Infinity: no limit below the ratings. */
interface StorageLimits {
  readonly dischargeLimitDcW: number;
  readonly chargeLimitDcW: number;
}

/** Present state of a battery for REST and history. Runs at every tick, so it reads all cells in one pass. */
function batteryDetail(
  system: BatterySystem,
  p: BatteryParameters,
  spec: CellSpec,
  { dischargeLimitDcW, chargeLimitDcW }: StorageLimits,
): BatteryDetail {
  const { bank, forced } = system;
  const cells = cellRange(bank);
  const powers = system.powersNow();
  const dischargeW = Math.min(powers.dischargeW, dischargeLimitDcW);
  const chargeW = Math.min(powers.chargeW, chargeLimitDcW);
  const { voltageV, powerW } = system;
  const requestedW = forced.mode === 'auto' ? null : system.requestedW;
  const maxW = forced.mode === 'charge' ? chargeW : dischargeW;
  return {
    kind: 'battery',
    chemistry: p.chemistry,
    capacityWh: p.capacityWh,
    ratedPowerW: p.powerW,
    ampHourRating: bank.nominalAh,
    socPct: shownPct(system.gauge.reported(bank.meanSoc)),
    trueSocPct: 100 * bank.meanSoc,
    sohPct: shownPct(bank.soh),
    energyAvailableWh: system.energyWh,
    socMinPct: p.socMinPct,
    socMaxPct: p.socMaxPct,
    socReserveMinPct: system.reserveMinPct,
    socReserveMaxPct: system.reserveMaxPct,
    mode: powerW > 0 ? 'discharge' : powerW < 0 ? 'charge' : 'idle',
    control: requestedW === null ? 'auto' : 'forced',
    powerW,
    dcVoltageV: voltageV,
    dcCurrentA: system.currentA,
    maxChargeW: chargeW,
    maxDischargeW: dischargeW,
    maxChargeA: voltageV > 0 ? chargeW / voltageV : 0,
    maxDischargeA: voltageV > 0 ? dischargeW / voltageV : 0,
    temperatureC: bank.meanTemperatureC,
    cellVoltageMinV: cells.minV,
    cellVoltageMaxV: cells.maxV,
    cellVoltageAvgV: cells.avgV,
    cellVoltageMinAt: positionOf(p, cells.minAt),
    cellVoltageMaxAt: positionOf(p, cells.maxAt),
    cycleCount: system.cycles,
    energyChargedWh: system.chargedWh,
    energyDischargedWh: system.dischargedWh,
    state: system.state,
    inhibit: system.inhibit,
    requestedMode: forced.mode,
    requestedPowerW: requestedW,
    clampedPowerW: requestedW === null ? null : Math.min(requestedW, maxW),
    remainingS: forced.remainingS === Infinity ? null : forced.remainingS,
    events: eventsNow(system, p, spec, cells),
    contactorsClosed: bank.closedCount,
    stringCount: bank.stringCount,
  };
}

function eventsNow(
  { bank, faults, window, contactors }: BatterySystem,
  p: BatteryParameters,
  spec: CellSpec,
  cells: CellRange,
): BatteryEvent[] {
  return batteryEvents({
    bank,
    spec,
    faults,
    minV: cells.minV,
    maxV: cells.maxV,
    lowSoc: p.socMinPct / 100,
    highSoc: p.socMaxPct / 100,
    lowBlocked: window.lowBlocked,
    highBlocked: window.highBlocked,
    contactorStuck: contactors.stuck,
  });
}

export interface BatteryOptions {
  /** cell data; default by chemistry */
  readonly spec?: CellSpec;
  /** true if a fixed cell temperature of the surroundings applies to these cells; default true */
  readonly takesCellTemperature?: boolean;
}

/** A battery as the one DC port of a device. Powers: + = discharge. */
export class BatteryPort implements DcSource {
  readonly heldPower = true;
  dischargeLimitDcW = Infinity;
  chargeLimitDcW = Infinity;
  readonly ports: readonly DcPort[];
  readonly #system: BatterySystem;
  readonly #parameters: BatteryParameters;
  readonly #spec: CellSpec;
  readonly #takesCellTemperature: boolean;
  readonly #conditions = new Set<SourceCondition>();
  readonly #flow: FlowBounds;
  #pendingS = 0;
  /** `jumps` at the start of the last sub-step */
  #seenJumps = 0;

  constructor(parameters: BatteryParameters, random: RandomStream, options: BatteryOptions = {}) {
    this.#parameters = parameters;
    this.#spec = options.spec ?? cellSpecs[parameters.chemistry];
    this.#takesCellTemperature = options.takesCellTemperature ?? true;
    const system = new BatterySystem(parameters, this.#spec, random);
    this.#system = system;
    this.#flow = new FlowBounds(parameters.powerW);
    this.ports = [
      new LivePort('ESS', 'Battery', {
        voltageV: () => system.voltageV,
        currentA: () => system.currentA,
        powerW: () => system.powerW,
        conditions: () => this.conditions,
      }),
    ];
  }

  get bank(): BatteryBank {
    return this.#system.bank;
  }

  get availableDcW(): number {
    return Math.min(this.#system.prepared.dischargeW, this.dischargeLimitDcW);
  }

  get dischargeLimited(): boolean {
    return this.dischargeLimitDcW < this.#system.prepared.dischargeW;
  }

  get absorbableDcW(): number {
    return this.#system.prepared.chargeW;
  }

  get starting(): boolean {
    return this.#system.contactors.closingCount > 0 && this.bank.closedCount === 0;
  }

  /** False while a string is closing, and after a jump of the power, so that the next sub-step is short. */
  get settled(): boolean {
    return this.#system.contactors.closingCount === 0 && this.#system.jumps === this.#seenJumps;
  }

  get maxStepS(): number {
    return Math.min(this.#system.nextEventS, this.#flow.remainingS);
  }

  /** Heat, balancing and standby since the start, Wh. */
  get lossWh(): number {
    return this.bank.lossWh + this.#system.standbyWh;
  }

  prepare(dtS: number, input: SourceInput): void {
    // a prepared sub-step without a draw passes at rest
    if (this.#pendingS > 0) this.draw(0, false);
    this.#updateSurroundings(input);
    this.#system.reserveOpen = input.frequencySupport;
    this.#pendingS = dtS > 0 && Number.isFinite(dtS) ? dtS : 0;
    this.#seenJumps = this.#system.jumps;
    this.#flow.advance(this.#pendingS);
    this.#system.prepare(this.#pendingS);
  }

  boundFlow(flow: StorageFlow): void {
    if (this.#flow.set(flow)) this.#system.jumps += 1;
  }

  settle(input: SourceInput): void {
    this.#pendingS = 0;
    this.#updateSurroundings(input);
    this.bank.cool();
    this.#system.contactors.closeAtOnce();
    this.#seenJumps = this.#system.jumps;
    this.#system.prepare(0);
    this.#system.operateAt(0);
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const demandW = this.#flow.admit(this.#demandW(targetW));
    const admittedW = Math.max(floorW, Math.min(ceilingW, this.#flow.fromGrid ? demandW : Math.max(0, demandW)));
    return Math.max(-this.absorbableDcW, Math.min(this.availableDcW, admittedW));
  }

  holds({ dcW, isShare, dtS }: PowerCourse): boolean {
    const { forced, contactors } = this.#system;
    const eventS = Math.min(forced.remainingS, contactors.nextPreChargeEndS, this.#flow.remainingS);
    // the stock of a question without an end is that of now
    const courseS = dtS === Infinity ? 0 : dtS;
    const { dischargeW } = this.#system.prepared;
    return (
      eventS > courseS && this.#system.holds(dcW, courseS) && (!isShare || this.#system.holds(dischargeW, courseS))
    );
  }

  #demandW(targetW: number | null): number {
    const { forced, requestedW } = this.#system;
    if (forced.mode === 'auto') return targetW ?? 0;
    const forcedW = Math.min(requestedW, this.#parameters.powerW);
    return forced.mode === 'charge' ? -forcedW : forcedW;
  }

  draw(dcW: number, energized: boolean): void {
    const requestW = energized && Number.isFinite(dcW) ? dcW : 0;
    const powerW = Math.max(-this.absorbableDcW, Math.min(this.availableDcW, requestW));
    if (this.#pendingS > 0) this.#system.advance(this.#pendingS, powerW);
    this.#pendingS = 0;
    this.#system.operateAt(powerW);
  }

  get conditions(): ReadonlySet<SourceCondition> {
    const conditions = this.#conditions;
    const { window, faults, contactors } = this.#system;
    conditions.clear();
    if (window.lowBlocked) conditions.add('soc_low');
    if (window.highBlocked) conditions.add('soc_high');
    if (faults.size > 0) for (const fault of faults) conditions.add(fault);
    if (contactors.closingCount === 0 && this.bank.closedCount === 0) conditions.add('dc_disconnect');
    return conditions;
  }

  detail(): BatteryDetail {
    const { floorW, ceilingW } = this.#flow;
    return batteryDetail(this.#system, this.#parameters, this.#spec, {
      dischargeLimitDcW: Math.min(this.dischargeLimitDcW, Math.max(0, ceilingW)),
      chargeLimitDcW: Math.min(this.chargeLimitDcW, Math.max(0, -floorW)),
    });
  }

  /** Strings, modules and cells now. Too costly for every tick. */
  tree(): BatteryTree {
    return batteryTree(this.bank, this.#parameters, (k) => this.#system.contactors.state(k));
  }

  /** Terminal voltage from the present discharge limit to the present charge limit; voltage rises, i < 0 = charging. */
  curve(port: number | undefined, points: number): IvCurve {
    checkCurvePort(port);
    const { busEmfV, busOhm, meanTemperatureC } = this.bank;
    const { dischargeW, chargeW } = this.#system.powersNow();
    const { voltageV, currentA, powerW } = this.#system;
    const fromA = currentFor(dischargeW, busEmfV, busOhm);
    const toA = currentFor(-chargeW, busEmfV, busOhm);
    const at = (i: number): IvPoint => ({ v: busEmfV - i * busOhm, i, p: (busEmfV - i * busOhm) * i });
    const last = lastSample(points);
    const curve =
      fromA > toA ? Array.from({ length: last + 1 }, (_, n) => at(fromA + ((toA - fromA) * n) / last)) : [at(0)];
    return {
      kind: 'battery',
      port: 0,
      irradianceWm2: null,
      cellTemperatureC: meanTemperatureC,
      operatingPoint: { v: voltageV, i: currentA, p: powerW },
      curve,
      mpp: null,
      vOcV: busEmfV,
      iScA: null,
    };
  }

  command(command: SourceCommand): void {
    const system = this.#system;
    if (command.kind === 'battery.control') {
      this.#control(command);
    } else if (command.kind === 'battery.reserve') {
      checkReserve(command, this.#parameters.socMinPct, this.#parameters.socMaxPct);
      system.reserveMinPct = command.minPct;
      system.reserveMaxPct = command.maxPct;
    } else if (command.kind === 'battery.connect') {
      // in a fault the strings stay open; the request takes effect when the fault is cleared
      system.contactors.requestAll(command.connect);
    } else {
      throw new SimError('COMMAND_NOT_APPLICABLE', `a battery does not accept ${command.kind}`);
    }
    system.rebalance(this.#pendingS);
  }

  #control(command: ControlCommand): void {
    const { forced, contactors, bank } = this.#system;
    checkControl(command, forced.mode, bank.stringCount);
    const strings = command.strings ?? [];
    if (strings.some(({ contactor }) => contactor === 'closed')) this.#refuseInFault();
    forced.apply(command);
    if (command.socPct !== undefined) this.#system.fill(command.socPct / 100);
    for (const { index, contactor } of strings) contactors.request(index, contactor === 'closed');
  }

  #refuseInFault(): void {
    const { faults } = this.#system;
    if (faults.size > 0)
      throw new SimError('COMMAND_CONFLICT', `strings stay open until the fault is cleared: ${[...faults].join(', ')}`);
  }

  clearFaults(): void {
    if (this.#system.faults.size === 0) return;
    this.#system.clearFaults();
    this.#system.rebalance(this.#pendingS);
  }

  restart(): void {
    this.#pendingS = 0;
    this.#system.restart();
  }

  kept(): Kept {
    return keptParts({
      system: this.#system.kept(),
      flow: this.#flow.kept(),
      members: keptRecord(
        () => ({
          dischargeLimitDcW: this.dischargeLimitDcW,
          chargeLimitDcW: this.chargeLimitDcW,
          seenJumps: this.#seenJumps,
        }),
        ({ dischargeLimitDcW, chargeLimitDcW, seenJumps }) => {
          this.dischargeLimitDcW = dischargeLimitDcW;
          this.chargeLimitDcW = chargeLimitDcW;
          this.#seenJumps = seenJumps;
          this.#pendingS = 0;
        },
      ),
    });
  }

  lasting(): Kept {
    return keptParts({ system: this.#system.lasting() });
  }

  #updateSurroundings({ ambientTemperatureC, cellTemperatureC }: SourceInput): void {
    this.bank.setSurroundings(
      this.#parameters.ambientTemperatureC ?? ambientTemperatureC,
      this.#takesCellTemperature ? cellTemperatureC : null,
    );
  }
}
