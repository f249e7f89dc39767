/** A PV array and a battery on the DC bus of one inverter. */
import type { DeviceDetail, IvCurve, SourceCommand } from '../../contract/device.ts';
import type { PvDetail } from '../../contract/kinds/pv.ts';
import { badValue, SimError } from '../../core/errors.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { hybridPolicies } from '../../contract/kinds/hybrid.ts';
import type { HybridDetail, HybridPolicy } from '../../contract/kinds/hybrid.ts';
import type { BatteryDetail, BatteryTree } from '../../contract/kinds/battery.ts';
import type { StorageFlow } from '../inverter/storage-flow.ts';
import { noConditions } from './live-port.ts';
import type {
  DcPort,
  DcRequest,
  DcSource,
  PowerCourse,
  PvArray,
  SourceCondition,
  SourceInput,
  Writable,
} from './source.ts';

/** Input of `dispatch` for one sub-step, DC watts. */
export interface DispatchInput {
  readonly policy: HybridPolicy;
  readonly pvAvailableW: number;
  /** power that the battery can absorb now, >= 0; 0 at the upper bound of its state of charge */
  readonly chargeMaxW: number;
  /** power that the battery can deliver now, >= 0; 0 at the lower bound of its state of charge */
  readonly dischargeMaxW: number;
  /** set-point in force; null: none */
  readonly targetW: number | null;
  /** DC power that covers the local AC load */
  readonly loadW: number;
  /** minimum power on the bus that the inverter allows */
  readonly floorW: number;
  /** maximum power on the bus that the inverter allows */
  readonly ceilingW: number;
  /** battery flow that overrides the policy, positive = discharge; null: the policy decides */
  readonly pinnedBatteryW: number | null;
}

interface Dispatch {
  pvW: number;
  /** positive = discharge */
  batteryW: number;
  /** available PV power that is not used */
  curtailedW: number;
  /** sum of `pvW` and `batteryW`: into the inverter */
  dcW: number;
}

function clip(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/** Battery flow demanded by the policy, before the limits of the battery. */
function batteryDemandW(input: DispatchInput): number {
  const { policy, pinnedBatteryW, pvAvailableW, targetW, floorW, ceilingW } = input;
  if (pinnedBatteryW !== null) return pinnedBatteryW;
  switch (policy) {
    case 'self_consumption':
      return clip(targetW ?? input.loadW, floorW, ceilingW) - pvAvailableW;
    case 'pv_priority':
      if (pvAvailableW > ceilingW) return ceilingW - pvAvailableW;
      return targetW === null ? 0 : Math.max(0, clip(targetW, floorW, ceilingW) - pvAvailableW);
    case 'manual':
      return targetW === null ? 0 : clip(targetW, floorW, ceilingW) - pvAvailableW;
  }
}

/**
 * Shares the bus by policy. Order of precedence: limits of array and battery, floor and ceiling, a pinned battery, the
 * policy. PV is curtailed only for the ceiling and for a target of policy `manual`, and for that target never so far
 * that the import from the grid rises.
 * @param out filled and returned
 */
export function dispatch(
  input: DispatchInput,
  out: Dispatch = { pvW: 0, batteryW: 0, curtailedW: 0, dcW: 0 },
): Dispatch {
  const { policy, pvAvailableW, chargeMaxW, dischargeMaxW, targetW, floorW, ceilingW } = input;
  let batteryW = clip(batteryDemandW(input), -chargeMaxW, dischargeMaxW);
  const unlimitedW = pvAvailableW + batteryW;
  let goalW = unlimitedW;
  if (policy === 'manual' && targetW !== null && unlimitedW > targetW)
    goalW = Math.max(targetW, Math.min(0, unlimitedW));
  goalW = clip(goalW, floorW, ceilingW);
  let pvW = pvAvailableW;
  if (goalW > unlimitedW) {
    batteryW = Math.min(dischargeMaxW, goalW - pvW);
  } else if (goalW < unlimitedW) {
    pvW = clip(goalW - batteryW, 0, pvAvailableW);
    // curtailing the array alone is not enough
    if (pvW === 0) batteryW = clip(goalW, -chargeMaxW, batteryW);
  }
  out.pvW = pvW;
  // a sum, so that a battery at rest shows 0 and not -0
  out.batteryW = batteryW + 0;
  out.curtailedW = pvAvailableW - pvW;
  out.dcW = pvW + batteryW;
  return out;
}

export interface HybridConfig {
  readonly pv: DcSource;
  /** battery behind its own DC/DC converter: the result of `answer` is the flow through the converter */
  readonly battery: DcSource;
  readonly busVoltageV: number;
  readonly policy: HybridPolicy;
  readonly chargeFromGrid: boolean;
  /** DC power that covers an AC load, both W; default: equal */
  readonly dcOfAcW?: (acW: number) => number;
}

/** Differences below this share of the powers involved are rounding. */
const rounding = 1e-12;

const identity = (acW: number): number => acW;

/** True if a part has started and can deliver or absorb power. */
function ready(part: DcSource): boolean {
  return !part.starting && (part.availableDcW > 0 || part.absorbableDcW > 0);
}

function pvDetail(part: DcSource): PvDetail {
  const detail = part.detail();
  if (detail.kind !== 'pv') throw new SimError('INTERNAL', `the PV part of a hybrid is of kind ${detail.kind}`);
  return detail;
}

function batteryDetail(part: DcSource): BatteryDetail {
  const detail = part.detail();
  if (detail.kind !== 'battery')
    throw new SimError('INTERNAL', `the battery part of a hybrid is of kind ${detail.kind}`);
  return detail;
}

/** PV array and battery on one DC bus: the dispatch policy shares the power between them. */
export class HybridSource implements DcSource {
  readonly heldPower = true;
  readonly #pv: DcSource;
  readonly #battery: DcSource;
  readonly #config: HybridConfig;
  readonly #dcOfAcW: (acW: number) => number;
  readonly #input: Writable<DispatchInput>;
  readonly #share: Dispatch = { pvW: 0, batteryW: 0, curtailedW: 0, dcW: 0 };
  readonly #batteryRequest = { targetW: 0, floorW: 0, ceilingW: 0 } satisfies DcRequest;
  readonly #conditions = new Set<SourceCondition>();
  readonly ports: readonly Writable<DcPort>[];
  readonly #innerPorts: readonly DcPort[];
  #policy: HybridPolicy;
  #manualBatteryW: number | null = null;
  /** target of the last request, under which `draw` and `holds` share the bus */
  #targetW: number | null = null;
  #pvW = 0;
  #batteryW = 0;
  #curtailedW = 0;
  /** true: a command or 124.ChaGriSet may have changed the power since the last `prepare` */
  #jumps = false;
  /** false: 124.ChaGriSet lets PV alone charge the battery */
  #fromGrid = true;

  constructor(config: HybridConfig) {
    this.#config = config;
    this.#pv = config.pv;
    this.#battery = config.battery;
    this.#policy = config.policy;
    this.#dcOfAcW = config.dcOfAcW ?? identity;
    this.#input = {
      policy: config.policy,
      pvAvailableW: 0,
      chargeMaxW: 0,
      dischargeMaxW: 0,
      targetW: null,
      loadW: 0,
      floorW: 0,
      ceilingW: 0,
      pinnedBatteryW: null,
    };
    this.#innerPorts = [...config.pv.ports, ...config.battery.ports];
    this.ports = this.#innerPorts.map((port) => atBus(port, config.busVoltageV));
    this.#updatePorts();
  }

  /** The policy in force. */
  get policy(): HybridPolicy {
    return this.#policy;
  }

  get dischargeLimitDcW(): number {
    return this.#battery.dischargeLimitDcW ?? Infinity;
  }

  set dischargeLimitDcW(limitW: number) {
    this.#battery.dischargeLimitDcW = limitW;
  }

  get dischargeLimited(): boolean {
    return this.#battery.dischargeLimited ?? false;
  }

  boundFlow(flow: StorageFlow): void {
    if (flow.fromGrid !== this.#fromGrid) this.#jumps = true;
    this.#fromGrid = flow.fromGrid;
    // the battery itself cannot tell the grid from PV on its bus
    this.#battery.boundFlow?.({ ...flow, fromGrid: true });
  }

  get availableDcW(): number {
    return this.#pv.availableDcW + this.#battery.availableDcW;
  }

  /** Absorbable power with the array fully curtailed; 0 where the battery may not charge from the grid. */
  get absorbableDcW(): number {
    return this.#config.chargeFromGrid && this.#fromGrid ? this.#battery.absorbableDcW : 0;
  }

  /** True while one part starts and the other is not ready. */
  get starting(): boolean {
    return (this.#pv.starting && !ready(this.#battery)) || (this.#battery.starting && !ready(this.#pv));
  }

  /** False while a part is not settled, and after a jump of the power, so that the next sub-step is short. */
  get settled(): boolean {
    return !this.#jumps && this.#pv.settled && this.#battery.settled;
  }

  get maxStepS(): number {
    return Math.min(this.#pv.maxStepS, this.#battery.maxStepS);
  }

  get array(): PvArray | undefined {
    return this.#pv.array;
  }

  prepare(dtS: number, input: SourceInput): void {
    this.#jumps = false;
    this.#pv.prepare(dtS, input);
    this.#battery.prepare(dtS, input);
    this.#input.loadW = this.#dcOfAcW(input.loadW);
  }

  weatherJumps(input: SourceInput): void {
    this.#pv.weatherJumps?.(input);
    this.#battery.weatherJumps?.(input);
  }

  settle(input: SourceInput): void {
    this.#pv.settle(input);
    this.#battery.settle(input);
    this.#input.loadW = this.#dcOfAcW(input.loadW);
    this.#targetW = null;
    this.draw(0, false);
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    this.#targetW = targetW;
    const { dcW, pvW, batteryW } = this.#dispatch(floorW, ceilingW);
    const roundingW = rounding * (pvW + Math.abs(batteryW));
    if (targetW !== null && Math.abs(dcW - targetW) <= roundingW) return targetW;
    if (Math.abs(dcW - ceilingW) <= roundingW) return ceilingW;
    return Math.abs(dcW - floorW) <= roundingW ? floorW : dcW;
  }

  holds(course: PowerCourse): boolean {
    const { batteryW } = this.#dispatch(course.dcW, course.dcW);
    return this.#battery.holds?.({ ...course, dcW: batteryW }) ?? true;
  }

  /**
   * The policy shares this power as well: a ramp or the apparent-power limit may draw another power than the answer,
   * and PV must not be curtailed while the battery discharges.
   */
  draw(dcW: number, energized: boolean): void {
    if (energized) this.#applyShare(this.#dispatch(dcW, dcW), dcW);
    else this.#pvW = this.#batteryW = this.#curtailedW = 0;
    this.#pv.draw(this.#pvW, energized);
    this.#battery.draw(this.#batteryW, energized);
    this.#updatePorts();
  }

  /** Updates the ports here, because they are read far more often than they change. */
  #updatePorts(): void {
    const { busVoltageV } = this.#config;
    for (let i = 0; i < this.ports.length; i += 1) {
      const port = this.ports[i];
      if (!port) continue;
      port.powerW = this.#innerPorts[i]?.powerW ?? 0;
      port.currentA = port.powerW / busVoltageV;
    }
  }

  /** Removes the rounding of the conversion to AC and back, which is neither battery flow nor curtailment. */
  #applyShare({ pvW, batteryW, curtailedW }: Dispatch, dcW: number): void {
    const resting = Math.abs(batteryW) <= rounding * pvW;
    this.#pvW = resting ? Math.min(Math.max(dcW, 0), this.#pv.availableDcW) : pvW;
    this.#batteryW = resting ? 0 : batteryW;
    this.#curtailedW = curtailedW <= rounding * this.#pvW ? 0 : curtailedW;
  }

  /** Shares the bus under the target of the last request. */
  #dispatch(floorW: number, ceilingW: number): Dispatch {
    const input = this.#input;
    const minW = -this.absorbableDcW;
    input.policy = this.#policy;
    input.targetW = this.#targetW;
    input.pvAvailableW = this.#pv.availableDcW;
    input.chargeMaxW = this.#battery.absorbableDcW;
    input.dischargeMaxW = this.#battery.availableDcW;
    input.floorW = Math.max(floorW, minW);
    input.ceilingW = Math.max(ceilingW, minW);
    input.pinnedBatteryW = this.#policy === 'manual' ? this.#manualBatteryW : null;
    const share = dispatch(input, this.#share);
    // a forced battery, or one at its reserve, allows another flow: dispatch again around it
    const batteryRequest = this.#batteryRequest;
    batteryRequest.targetW = share.batteryW;
    batteryRequest.floorW = -input.chargeMaxW;
    batteryRequest.ceilingW = input.dischargeMaxW;
    const admittedW = this.#battery.answer(batteryRequest);
    if (admittedW === share.batteryW) return share;
    input.pinnedBatteryW = admittedW;
    return dispatch(input, share);
  }

  get conditions(): ReadonlySet<SourceCondition> {
    const [pvConditions, batteryConditions] = [this.#pv.conditions, this.#battery.conditions];
    // most of the time at least one set is empty
    if (pvConditions.size === 0) return batteryConditions;
    if (batteryConditions.size === 0) return pvConditions;
    this.#conditions.clear();
    for (const code of pvConditions) this.#conditions.add(code);
    for (const code of batteryConditions) this.#conditions.add(code);
    return this.#conditions;
  }

  detail(): HybridDetail {
    const pv = pvDetail(this.#pv);
    return {
      kind: 'hybrid-dc',
      policy: this.#policy,
      busVoltageV: this.#config.busVoltageV,
      pv: {
        powerW: this.#pvW,
        availableW: this.#pv.availableDcW,
        voltageV: pv.operatingPoint.v,
        currentA: pv.operatingPoint.i,
        irradianceWm2: pv.irradianceWm2,
        cellTemperatureC: pv.cellTemperatureC,
        mpptState: pv.mpptState,
        shading: pv.shading,
      },
      battery: batteryDetail(this.#battery),
      batteryPowerW: this.#batteryW,
      curtailedW: this.#curtailedW,
      dcPowerW: this.#pvW + this.#batteryW,
      manualBatteryW: this.#manualBatteryW,
    } satisfies DeviceDetail;
  }

  tree(): BatteryTree {
    const tree = this.#battery.tree?.();
    if (tree === undefined)
      throw new SimError('COMMAND_NOT_APPLICABLE', 'the battery of this hybrid has no strings to show');
    return tree;
  }

  /** Port 0 is the array, port 1 the battery. */
  curve(port: number | undefined, points: number): IvCurve {
    if (port === undefined || port === 0) return this.#pv.curve(0, points);
    if (port === 1) return { ...this.#battery.curve(0, points), port };
    throw new SimError(
      'UNKNOWN_RESOURCE',
      `port ${port} has no DC curve; this device has port 0 (PV) and port 1 (battery)`,
    );
  }

  command(command: SourceCommand): void {
    if (command.kind === 'hybrid.policy') this.#setPolicy(command.policy);
    else if (command.kind === 'hybrid.battery') this.#pinBattery(command.powerW);
    else if (command.kind.startsWith('battery.')) this.#battery.command(command);
    else if (command.kind.startsWith('pv.')) this.#pv.command(command);
    else throw new SimError('COMMAND_NOT_APPLICABLE', `a DC-coupled hybrid does not accept ${command.kind}`);
    this.#jumps = true;
    this.#updatePorts();
  }

  #setPolicy(policy: HybridPolicy): void {
    if (!hybridPolicies.includes(policy)) {
      throw badValue('policy', policy, hybridPolicies.join(', '));
    }
    this.#policy = policy;
    if (policy !== 'manual') this.#manualBatteryW = null;
  }

  #pinBattery(powerW: number | null): void {
    if (this.#policy !== 'manual') {
      throw new SimError(
        'COMMAND_CONFLICT',
        `the battery flow is pinned in policy manual only; the policy is ${this.#policy}`,
      );
    }
    if (powerW !== null && !Number.isFinite(powerW)) {
      throw badValue('battery power', powerW, 'a number of watts, or null');
    }
    this.#manualBatteryW = powerW;
  }

  clearFaults(): void {
    this.#pv.clearFaults();
    this.#battery.clearFaults();
    this.#updatePorts();
  }

  restart(): void {
    this.#policy = this.#config.policy;
    this.#manualBatteryW = null;
    this.#targetW = null;
    this.#pv.restart();
    this.#battery.restart();
    this.#updatePorts();
  }

  kept(): Kept {
    // the flow is the last one, because the ports show the power of the parts
    return keptParts({ pv: this.#pv.kept(), battery: this.#battery.kept(), flow: this.#keptFlow() });
  }

  lasting(): Kept {
    return keptParts({ battery: this.#battery.lasting?.() ?? keptParts({}) });
  }

  #keptFlow(): Kept {
    return keptRecord(
      () => ({
        policy: this.#policy,
        manualBatteryW: this.#manualBatteryW,
        pvW: this.#pvW,
        batteryW: this.#batteryW,
        curtailedW: this.#curtailedW,
        targetW: this.#targetW,
        jumps: this.#jumps,
        fromGrid: this.#fromGrid,
        loadW: this.#input.loadW,
      }),
      ({ loadW, ...flow }) => {
        ({
          policy: this.#policy,
          manualBatteryW: this.#manualBatteryW,
          pvW: this.#pvW,
          batteryW: this.#batteryW,
          curtailedW: this.#curtailedW,
          targetW: this.#targetW,
          jumps: this.#jumps,
          fromGrid: this.#fromGrid,
        } = flow);
        this.#input.loadW = loadW;
        this.#updatePorts();
      },
    );
  }
}

/** A port behind its DC/DC converter as the inverter sees it: at bus voltage. */
function atBus(port: DcPort, busVoltageV: number): Writable<DcPort> {
  return {
    type: port.type,
    name: port.name,
    voltageV: busVoltageV,
    currentA: 0,
    powerW: 0,
    get conditions() {
      return port.conditions ?? noConditions;
    },
  };
}
