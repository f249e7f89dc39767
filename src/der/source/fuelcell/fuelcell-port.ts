import type { IvCurve, SourceCommand } from '../../../contract/device.ts';
import { badValue, SimError } from '../../../core/errors.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type {
  FuelCellDetail,
  FuelCellParameters,
  FuelCellState,
  HydrogenTankState,
} from '../../../contract/kinds/fuelcell.ts';
import type { DcPort, DcRequest, DcSource, PowerCourse, SourceCondition, SourceInput } from '../source.ts';
import { zeroCelsiusK } from '../constants.ts';
import { checkCurvePort } from '../dc-curve.ts';
import { LivePort } from '../live-port.ts';
import { HydrogenSupply } from './hydrogen.ts';
import {
  StackLags,
  minElectrolyserShare,
  minFuelCellShare,
  Readiness,
  admittedShare,
  nextTemperatureC,
  stackHeat,
} from './dynamics.ts';
import { polarizationCurve, StackConversion, Stack } from './stack.ts';
import type { StackHeat } from './dynamics.ts';

/** lower heating value of hydrogen, J/kg */
const lhvJKg = 33.33 * 3.6e6;
/** maximum ramp of a solid oxide stack below its operating temperature: 3 % per minute */
const coldOxideRampPctS = 0.05;
/** ramps up to this rate are exact enough in steps of one second */
const slowRampPctS = 0.5;
/** maximum sub-step while the output follows the temperature of a cold stack */
const warmingStepS = 0.1;
/** tolerance at a bound of the power, as a share of the rated power */
const boundTolerance = 1e-9;

/** A fuel cell, or a fuel cell and electrolyser, as the one DC port of a device. */
export class FuelCellPort implements DcSource {
  readonly heldPower = true;
  availableDcW = 0;
  absorbableDcW = 0;
  readonly ports: readonly DcPort[];
  readonly #parameters: FuelCellParameters;
  readonly stack: StackConversion;
  readonly #stack: Stack;
  readonly #heat: StackHeat;
  readonly #readiness: Readiness;
  readonly #lags = new StackLags();
  readonly #supply: HydrogenSupply;
  readonly #conditions = new Set<SourceCondition>();
  #ambientC = 20;
  #temperatureC: number;
  #powerW = 0;
  #energized = true;
  /** power of the last solution of the stack; NaN: none yet */
  #solvedW = NaN;
  /** temperature of the last solution of the stack; NaN: none yet */
  #solvedC = NaN;
  /** length of the prepared sub-step; 0 after `draw` */
  #dtS = 0;
  #settling = false;
  /** true: the ramp, not the rating, bounds the output of the prepared sub-step */
  #ramped = false;
  /** true: the ramp, not the rating, bounds the absorbed power of the prepared sub-step */
  #elRamped = false;
  #rampLimited = false;

  constructor(parameters: FuelCellParameters) {
    this.#parameters = parameters;
    this.#stack = new Stack(parameters);
    this.stack = new StackConversion(parameters, () => this.#temperatureC);
    this.#heat = stackHeat(parameters.chemistry, this.#stack.ratedGrossW);
    this.#readiness = new Readiness(parameters);
    this.#supply = new HydrogenSupply(parameters, this.#stack);
    this.#temperatureC = this.#startC();
    this.ports = [this.#port()];
    this.#settle();
  }

  get potentialDcW(): number {
    return this.availableDcW > 0 ? Math.max(this.availableDcW, this.#stack.ratedDcW) : 0;
  }

  get potentialAbsorbableDcW(): number {
    return this.absorbableDcW > 0 ? Math.max(this.absorbableDcW, this.#stack.ratedElDcW) : 0;
  }

  get minOutputDcW(): number {
    return minFuelCellShare * this.#stack.ratedDcW;
  }

  get minAbsorbedDcW(): number {
    return minElectrolyserShare * this.#stack.ratedElDcW;
  }

  get outputRampDcWS(): number {
    return (this.#rampPctS() / 100) * this.#stack.ratedDcW;
  }

  get absorbedRampDcWS(): number {
    return (this.#rampPctS() / 100) * this.#stack.ratedElDcW;
  }

  get starting(): boolean {
    return this.#energized && this.#temperatureC < this.#heat.readyC;
  }

  get settled(): boolean {
    const quick = this.#rampPctS() > slowRampPctS;
    return !(this.#rampLimited && quick) && !this.#warming;
  }

  get maxStepS(): number {
    const boundS = Math.min(this.#supply.untilBoundS, this.#readiness.untilOpenS);
    return this.#warming ? Math.min(boundS, warmingStepS) : boundS;
  }

  get conditions(): ReadonlySet<SourceCondition> {
    const state = this.#tankState();
    if (state === 'low' || state === 'empty') this.#conditions.add('h2_tank_low');
    else this.#conditions.delete('h2_tank_low');
    return this.#conditions;
  }

  settle(input: SourceInput): void {
    this.#updateWeather(input);
    this.#temperatureC = this.#startC();
    this.#settle();
  }

  prepare(dtS: number, input: SourceInput): void {
    this.#updateWeather(input);
    this.#settling = false;
    this.#dtS = dtS > 0 ? dtS : 0;
    this.#updateLimits(this.#dtS);
  }

  answer({ targetW, floorW, ceilingW }: DcRequest): number {
    const [minW, maxW] = [-this.absorbableDcW, this.availableDcW];
    const defaultW = this.#parameters.operatingMode === 'fc_only' ? ceilingW : 0;
    const requestedW = Math.max(floorW, Math.min(ceilingW, targetW ?? defaultW));
    const withinW = Math.max(minW, Math.min(maxW, requestedW));
    if (floorW > 0 || ceilingW < 0) return withinW;
    // below the minimum load the plant idles, unless its own limits keep the power below
    const minOutputW = (1 - boundTolerance) * this.minOutputDcW;
    const minAbsorbedW = (1 - boundTolerance) * this.minAbsorbedDcW;
    const belowMinOutput = withinW > 0 && withinW < minOutputW && maxW >= minOutputW;
    const belowMinAbsorbed = withinW < 0 && withinW > -minAbsorbedW && minW <= -minAbsorbedW;
    return belowMinOutput || belowMinAbsorbed ? 0 : withinW;
  }

  holds({ dcW, dtS }: PowerCourse): boolean {
    const isReached = dtS === Infinity || Math.abs(dcW) <= Math.abs(this.#powerW) + this.#reachW(dcW) * dtS;
    const courseS = dtS === Infinity ? 0 : dtS;
    return (
      isReached &&
      !this.starting &&
      this.#readiness.untilOpenS > courseS &&
      (dcW === 0 || this.#supply.sufficesS(dcW > 0) > courseS)
    );
  }

  /** Ramp in the direction of a power, W per second. */
  #reachW(dcW: number): number {
    return dcW < 0 ? this.absorbedRampDcWS : this.outputRampDcWS;
  }

  draw(dcW: number, energized: boolean): void {
    const powerW = energized && Number.isFinite(dcW) ? dcW : 0;
    const stack = this.#stack;
    const dtS = this.#dtS;
    this.#dtS = 0;
    this.#powerW = powerW;
    this.#energized = energized;
    if (powerW !== this.#solvedW || this.#temperatureC !== this.#solvedC) {
      stack.solve(powerW, this.#temperatureC);
      this.#solvedW = powerW;
      this.#solvedC = this.#temperatureC;
    }
    const share = this.#share;
    if (this.#settling) {
      this.#readiness.settle(share);
      this.#lags.settle(stack.voltageV, stack.grossW);
    } else if (dtS > 0) {
      this.#readiness.run(share, dtS);
      this.#lags.follow(stack.voltageV, stack.grossW, dtS);
      this.#temperatureC = nextTemperatureC(
        this.#heat,
        this.#temperatureC,
        stack.heatW,
        this.#ambientC,
        energized,
        dtS,
      );
    }
    this.#supply.advance(dtS);
    this.#rampLimited =
      (this.#ramped && powerW > 0 && powerW >= this.availableDcW - boundTolerance * stack.ratedDcW) ||
      (this.#elRamped && powerW < 0 && -powerW >= this.absorbableDcW - boundTolerance * stack.ratedElDcW);
  }

  detail(): FuelCellDetail {
    const { chemistry, operatingMode, fuel, cellCount, ratedPowerW, ratedElPowerW } = this.#parameters;
    const supply = this.#supply;
    const tank = supply.tank;
    const stackVoltageV = this.#voltageV();
    return {
      kind: 'fuelcell',
      chemistry,
      operatingMode,
      fuel,
      mode: this.#powerW > 0 ? 'FC' : this.#powerW < 0 ? 'EL' : 'idle',
      state: this.#state(),
      stackVoltageV,
      stackCurrentA: ratio(this.#stack.grossW, stackVoltageV),
      stackPowerW: this.#stack.grossW,
      h2FlowKgH: this.#stack.fuelKgS * 3600,
      tankLevelPct: tank?.levelPct ?? null,
      tankMassKg: tank?.massKg ?? null,
      tankPressureBar: tank?.pressureBar(this.#ambientC) ?? null,
      tankState: this.#tankState(),
      stackTemperatureC: this.#temperatureC,
      rampLimited: this.#rampLimited,
      dwellRemainingS: this.#readiness.dwellRemainingS,
      efficiencyPct: this.#efficiencyPct(),
      cellCount,
      ratedPowerW,
      ratedElPowerW,
      h2ConsumedKg: supply.consumedKg,
      h2ProducedKg: supply.producedKg,
      h2LostKg: supply.lostKg,
    };
  }

  curve(port: number | undefined, points: number): IvCurve {
    checkCurvePort(port);
    const v = this.#voltageV();
    return {
      kind: 'fuelcell',
      port: 0,
      irradianceWm2: null,
      cellTemperatureC: this.#temperatureC,
      operatingPoint: { v, i: ratio(this.#stack.grossW, v), p: this.#stack.grossW },
      ...polarizationCurve(this.#stack, this.#temperatureC + zeroCelsiusK, points),
    };
  }

  command(command: SourceCommand): void {
    if (command.kind !== 'fuelcell.tank') {
      throw new SimError('COMMAND_NOT_APPLICABLE', `given ${command.kind}; a fuel cell accepts fuelcell.tank`);
    }
    const { levelPct } = command;
    const tank = this.#supply.tank;
    if (tank === null)
      throw new SimError('COMMAND_NOT_APPLICABLE', 'this fuel cell has a continuous supply and no tank');
    if (!(levelPct >= 0 && levelPct <= 100)) throw badValue('tank level', levelPct, '0 to 100 %');
    tank.setLevel(levelPct);
  }

  clearFaults(): void {
    /* a fuel cell has no latched faults */
  }

  /** Resets tank, counters, temperature and dwell; power already flowing is not interrupted. */
  restart(): void {
    this.#temperatureC = this.#startC();
    this.#readiness.settle(this.#share);
    this.#supply.restart();
  }

  lasting(): Kept {
    return keptParts({ supply: this.#supply.lasting() });
  }

  kept(): Kept {
    return keptParts({
      stack: this.#stack.kept(),
      conversion: this.stack.kept(),
      readiness: this.#readiness.kept(),
      lags: this.#lags.kept(),
      supply: this.#supply.kept(),
      members: keptRecord(
        () => ({
          availableDcW: this.availableDcW,
          absorbableDcW: this.absorbableDcW,
          ambientC: this.#ambientC,
          temperatureC: this.#temperatureC,
          powerW: this.#powerW,
          energized: this.#energized,
          solvedW: this.#solvedW,
          solvedC: this.#solvedC,
          settling: this.#settling,
          ramped: this.#ramped,
          elRamped: this.#elRamped,
          rampLimited: this.#rampLimited,
        }),
        (values) => {
          this.availableDcW = values.availableDcW;
          this.absorbableDcW = values.absorbableDcW;
          this.#ambientC = values.ambientC;
          this.#temperatureC = values.temperatureC;
          this.#powerW = values.powerW;
          this.#energized = values.energized;
          this.#solvedW = values.solvedW;
          this.#solvedC = values.solvedC;
          this.#settling = values.settling;
          this.#ramped = values.ramped;
          this.#elRamped = values.elRamped;
          this.#rampLimited = values.rampLimited;
        },
      ),
    });
  }

  #port(): DcPort {
    return new LivePort(this.#parameters.operatingMode === 'bidirectional' ? 'BIDIR' : 'INJ', 'FC', {
      voltageV: () => this.#voltageV(),
      currentA: () => ratio(this.#powerW, this.#voltageV()),
      powerW: () => this.#powerW,
    });
  }

  /** True while power flows and the temperature of the stack limits the power. */
  get #warming(): boolean {
    return this.#powerW !== 0 && this.#temperatureC < this.#heat.readyC;
  }

  /** Present power as a share of the rating in its direction. */
  get #share(): number {
    const ratedW = this.#powerW < 0 ? this.#stack.ratedElDcW : this.#stack.ratedDcW;
    return ratedW > 0 ? this.#powerW / ratedW : 0;
  }

  #startC(): number {
    return Math.min(this.#heat.holdC, this.#parameters.startTemperatureC ?? this.#heat.holdC);
  }

  #updateWeather({ ambientTemperatureC }: SourceInput): void {
    if (Number.isFinite(ambientTemperatureC)) this.#ambientC = ambientTemperatureC;
  }

  #settle(): void {
    this.#settling = true;
    this.#dtS = 0;
    this.#readiness.settle(0);
    this.#updateLimits(Infinity);
    this.draw(0, true);
  }

  #rampPctS(): number {
    const { chemistry, rampUpPctS } = this.#parameters;
    const cold = chemistry === 'SOFC' && this.#temperatureC < this.#heat.holdC;
    return cold ? Math.min(rampUpPctS, coldOxideRampPctS) : rampUpPctS;
  }

  /** Updates the available and the absorbable power over `dtS`. */
  #updateLimits(dtS: number): void {
    const stack = this.#stack;
    const share = admittedShare(this.#parameters.chemistry, this.#heat, this.#temperatureC);
    const pctS = this.#rampPctS();
    const readyShare = this.#readiness.maxShare(1, dtS, pctS);
    const readyW = stack.ratedDcW * Math.min(share, readyShare);
    this.availableDcW = this.#supply.withinSupply(readyW, dtS, this.#temperatureC);
    this.#ramped = readyShare < share && this.availableDcW === readyW;
    if (stack.ratedElDcW === 0) return;
    const elReadyShare = this.#readiness.maxShare(-1, dtS, pctS);
    const elReadyW = stack.ratedElDcW * Math.min(share, elReadyShare);
    this.absorbableDcW = this.#supply.withinRoom(elReadyW, dtS, this.#temperatureC);
    this.#elRamped = elReadyShare < share && this.absorbableDcW === elReadyW;
  }

  #voltageV(): number {
    return this.#lags.voltageV(this.#stack.grossW, this.#parameters.cellCount, this.#temperatureC);
  }

  #tankState(): HydrogenTankState | null {
    return this.#supply.tankState;
  }

  #state(): FuelCellState {
    const cold = this.#temperatureC < this.#heat.readyC;
    if (!this.#energized) return cold ? 'off' : 'standby';
    if (this.#powerW !== 0) return this.#powerW > 0 ? 'fc' : 'el';
    if (cold) return 'heatup';
    const tank = this.#tankState();
    if (tank === 'empty') return 'tank_empty';
    if (tank === 'full' && this.#parameters.operatingMode === 'bidirectional') return 'tank_full';
    return this.#readiness.dwellRemainingS > 0 ? 'transition' : 'idle';
  }

  #efficiencyPct(): number {
    const fuelW = this.#stack.fuelKgS * lhvJKg;
    return (this.#powerW < 0 ? ratio(fuelW, this.#powerW) : ratio(this.#powerW, fuelW)) * 100;
  }
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
