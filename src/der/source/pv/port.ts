/** PV arrays as DC ports: one array, or several behind one inverter. */
import type { IvCurve, SourceCommand } from '../../../contract/device.ts';
import type { PvDetail, PvInputDetail, PvShading } from '../../../contract/kinds/pv.ts';
import { badValue, SimError } from '../../../core/errors.ts';
import { keptList, keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { checkCurvePort } from '../dc-curve.ts';
import { LivePort, noConditions } from '../live-port.ts';
import { PvSource } from './array.ts';
import type { PvConfig } from './array.ts';
import type { WeatherNow } from '../../surroundings/environment.ts';
import type { DcPort, DcRequest, DcSource, PvArray, SourceCondition, SourceInput } from '../source.ts';

/** A tracker with a gap up to this counts as settled, share of its voltage. */
const followingGap = 0.005;

/** A PV array as the one DC port of a device. */
export class PvPort implements DcSource {
  readonly #array: PvSource;
  readonly ports: readonly DcPort[];
  /** shading of the profile */
  readonly #shading: PvShading | null;
  readonly absorbableDcW = 0;
  readonly maxStepS = Infinity;
  readonly #conditions = new Set<SourceCondition>();

  /** @param name name of the port */
  constructor(config: PvConfig, name = 'PV') {
    this.#shading = config.shading ?? null;
    const array = new PvSource(config);
    this.#array = array;
    this.ports = [
      new LivePort('PV', name, {
        voltageV: () => array.voltageV,
        currentA: () => array.currentA,
        powerW: () => array.powerW,
        conditions: () => this.conditions,
      }),
    ];
  }

  get availableDcW(): number {
    return this.#array.availableDcW;
  }

  /**
   * Under slowly moving light the tracker is always a little behind and the cell temperature drifts: both lags are
   * exact for a step of one second.
   */
  get settled(): boolean {
    return this.#array.trackingGap <= followingGap;
  }

  get starting(): boolean {
    return this.#array.state === 'start';
  }

  get array(): PvArray {
    return this.#array;
  }

  prepare(dtS: number, input: WeatherNow): void {
    this.#array.prepare(dtS, input);
  }

  weatherJumps(input: WeatherNow): void {
    this.#array.jumpTo(input);
  }

  settle(input: WeatherNow): void {
    this.#array.settle(input);
  }

  draw(dcW: number, energized: boolean): void {
    this.#array.draw(dcW, energized);
  }

  answer({ targetW, ceilingW }: DcRequest): number {
    const requestedW = targetW === null ? ceilingW : Math.min(targetW, ceilingW);
    return Math.max(0, Math.min(this.#array.availableDcW, requestedW));
  }

  get conditions(): ReadonlySet<SourceCondition> {
    if (this.#array.overVoltage) this.#conditions.add('dc_over_volt');
    else this.#conditions.delete('dc_over_volt');
    return this.#conditions;
  }

  command(command: SourceCommand): void {
    if (command.kind !== 'pv.shading')
      throw new SimError('COMMAND_NOT_APPLICABLE', `a PV array does not accept ${command.kind}`);
    const { shading, input = 0 } = command;
    if (input !== 0) throw badValue('input', input, '0, the only input');
    if (shading !== null) {
      checkShare('shadedShare', shading.shadedShare);
      checkShare('irradianceShare', shading.irradianceShare);
    }
    this.#array.shading = shading;
  }

  clearFaults(): void {
    /* a PV array has no latched faults */
  }

  restart(): void {
    this.#array.shading = this.#shading;
  }

  kept(): Kept {
    return this.#array.kept();
  }

  detail(): PvDetail {
    return { kind: 'pv', ...this.state() };
  }

  /** Detail of one of several inputs. */
  state(): PvInputDetail {
    const a = this.#array;
    return {
      irradianceWm2: a.irradianceWm2,
      cellTemperatureC: a.cellTemperatureC,
      availableDcW: a.mppW,
      operatingPoint: { v: a.voltageV, i: a.currentA, p: a.powerW },
      mpptState: a.state,
      shading: a.shading,
    };
  }

  curve(port: number | undefined, points: number): IvCurve {
    checkCurvePort(port);
    const a = this.#array;
    const { curve, mpp, vOcV, iScA } = a.curve(points);
    return {
      kind: 'pv',
      port: 0,
      irradianceWm2: a.irradianceWm2,
      cellTemperatureC: a.cellTemperatureC,
      operatingPoint: { v: a.voltageV, i: a.currentA, p: a.powerW },
      curve,
      mpp,
      vOcV,
      iScA,
    };
  }
}

function checkShare(name: string, value: number): void {
  if (!(value >= 0 && value <= 1)) throw badValue(name, value, '0 to 1');
}

/** One of several PV arrays behind one inverter, on an input with its own tracker. */
export interface PvInputConfig {
  /** name of the port */
  readonly name: string;
  /** power of the array at standard conditions, W */
  readonly ratedW: number;
  readonly array: PvConfig;
}

/** Tracker states by precedence: the device shows the first one that an input has. */
const stateOrder = ['limit', 'track', 'dc_low', 'start', 'off'] as const satisfies readonly PvDetail['mpptState'][];

/**
 * PV arrays as the DC ports of one device. Each has its own irradiance where the weather has planes, and its own cell
 * temperature, start and tracker; a curtailed inverter draws the same share of the available power of each array.
 */
export class PvInputs implements DcSource {
  readonly #inputs: readonly PvPort[];
  readonly #configs: readonly PvInputConfig[];
  readonly #ratedW: number;
  readonly ports: readonly DcPort[];
  readonly absorbableDcW = 0;
  readonly maxStepS = Infinity;
  /** weather of one input; overwritten for each input */
  readonly #weather: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
  /** irradiance in the plane of the block `pv` */
  #irradianceWm2 = 0;

  /** @param configs one or more inputs, in the order of the ports */
  constructor(configs: readonly PvInputConfig[]) {
    this.#configs = configs;
    this.#ratedW = configs.reduce((sum, { ratedW }) => sum + ratedW, 0);
    this.#inputs = configs.map(({ array, name }) => new PvPort(array, name));
    this.ports = this.#inputs.flatMap(({ ports }) => ports);
  }

  get availableDcW(): number {
    let sum = 0;
    for (const input of this.#inputs) sum += input.availableDcW;
    return sum;
  }

  get settled(): boolean {
    return this.#inputs.every(({ settled }) => settled);
  }

  /** False as soon as one input is ready. */
  get starting(): boolean {
    return (
      this.#inputs.some(({ starting }) => starting) &&
      !this.#inputs.some(({ starting, availableDcW }) => !starting && availableDcW > 0)
    );
  }

  /** Array of the first input. */
  get array(): PvArray | undefined {
    return this.#inputs[0]?.array;
  }

  prepare(dtS: number, input: SourceInput): void {
    this.#inputs.forEach((port, i) => {
      port.prepare(dtS, this.#takeWeather(i, input));
    });
  }

  weatherJumps(input: SourceInput): void {
    this.#inputs.forEach((port, i) => {
      port.weatherJumps(this.#takeWeather(i, input));
    });
  }

  settle(input: SourceInput): void {
    this.#inputs.forEach((port, i) => {
      port.settle(this.#takeWeather(i, input));
    });
  }

  #takeWeather(i: number, input: SourceInput): WeatherNow {
    const weather = this.#weather;
    if (Number.isFinite(input.irradianceWm2)) this.#irradianceWm2 = Math.max(0, input.irradianceWm2);
    weather.irradianceWm2 = input.planesWm2?.[i] ?? input.irradianceWm2;
    weather.ambientTemperatureC = input.ambientTemperatureC;
    weather.cellTemperatureC = input.cellTemperatureC;
    weather.windSpeedMS = input.windSpeedMS;
    return weather;
  }

  answer({ targetW, ceilingW }: DcRequest): number {
    const requestedW = targetW === null ? ceilingW : Math.min(targetW, ceilingW);
    return Math.max(0, Math.min(this.availableDcW, requestedW));
  }

  draw(dcW: number, energized: boolean): void {
    const availableW = this.availableDcW;
    const share = dcW >= availableW ? 1 : dcW > 0 ? dcW / availableW : 0;
    for (const input of this.#inputs) input.draw(share * input.availableDcW, energized);
  }

  get conditions(): ReadonlySet<SourceCondition> {
    // an array has one condition at most
    return this.#inputs.find(({ conditions }) => conditions.size > 0)?.conditions ?? noConditions;
  }

  command(command: SourceCommand): void {
    if (command.kind !== 'pv.shading')
      throw new SimError('COMMAND_NOT_APPLICABLE', `PV arrays do not accept ${command.kind}`);
    const { input, ...shading } = command;
    if (input === undefined) {
      for (const port of this.#inputs) port.command(shading);
      return;
    }
    const port = this.#inputs[input];
    if (!port) throw badValue('input', input, `0 to ${this.#inputs.length - 1}`);
    port.command(shading);
  }

  clearFaults(): void {
    /* PV arrays have no latched faults */
  }

  restart(): void {
    for (const input of this.#inputs) input.restart();
  }

  kept(): Kept {
    return keptParts({
      inputs: keptList(this.#inputs.map((input) => input.kept())),
      plane: keptRecord(
        () => ({ irradianceWm2: this.#irradianceWm2 }),
        ({ irradianceWm2 }) => {
          this.#irradianceWm2 = irradianceWm2;
        },
      ),
    });
  }

  detail(): PvDetail {
    const inputs = this.#inputs.map((input, i) => ({ name: this.#configs[i]?.name ?? '', ...input.state() }));
    let [mppW, i, p, cellC] = [0, 0, 0, 0];
    inputs.forEach(({ availableDcW, operatingPoint, cellTemperatureC }, n) => {
      mppW += availableDcW;
      i += operatingPoint.i;
      p += operatingPoint.p;
      cellC += cellTemperatureC * ((this.#configs[n]?.ratedW ?? 0) / this.#ratedW);
    });
    return {
      kind: 'pv',
      irradianceWm2: this.#irradianceWm2,
      cellTemperatureC: cellC,
      availableDcW: mppW,
      // voltage of one source with the same power and current
      operatingPoint: { v: i > 0 ? p / i : Math.max(...inputs.map(({ operatingPoint: { v } }) => v)), i, p },
      mpptState: stateOrder.find((state) => inputs.some(({ mpptState }) => mpptState === state)) ?? 'off',
      shading: inputs.find(({ shading }) => shading !== null)?.shading ?? null,
      inputs,
    };
  }

  /** @param port absent: the first input */
  curve(port = 0, points: number): IvCurve {
    const input = this.#inputs[port];
    if (!input) {
      throw new SimError(
        'UNKNOWN_RESOURCE',
        `port ${port} has no DC curve; this device has ports 0 to ${this.#inputs.length - 1}`,
      );
    }
    return { ...input.curve(0, points), port };
  }
}
