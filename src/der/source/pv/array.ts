import type { PvDetail, PvShading } from '../../../contract/kinds/pv.ts';
import { checkConfig } from './config.ts';
import type { PvConfig, PvThermalConfig } from './config.ts';
import { SolvedArray } from './curve.ts';
import type { PvCurve } from './curve.ts';
import type { DiodeParameters, MaximumPowerPoint } from './module.ts';
import { currentAt, maximumPowerPoint, parametersAt, voltageForPower } from './module.ts';
import { shadedString, stringMaximum, stringVoltageForPower, trackedMaximum } from './shading.ts';
import type { ShadedString } from './shading.ts';

export type { PvConfig, PvThermalConfig };

/** Weather at the array. */
export interface PvWeather {
  /** in the plane of the array */
  readonly irradianceWm2: number;
  readonly ambientTemperatureC: number;
  readonly windSpeedMS: number;
  /** fixed cell temperature; null: the thermal model runs */
  readonly cellTemperatureC: number | null;
}

/** Faiman's constants of an open rack, and a time constant for the heat capacity of a module. */
export const defaultPvThermal: PvThermalConfig = { u0: 25, u1: 6.84, timeConstantS: 400 };

const defaultMpptTimeConstantS = 1;
const defaultStartSeconds = 10;
const defaultStartRatio = 1.1;
/** Smaller changes move the maximum power by less than 2e-4 of itself and keep the solution. */
const irradianceStep = 1e-4;
const temperatureStepK = 0.02;
/** Tolerance of the settled state, share of the maximum power. */
const settledShare = 1e-4;
/** A lag this close to its end has ended. */
const arrivedShare = 1e-7;
const limitShare = 1e-6;

/** off: too dark, or the input is open; dc_low: the maximum power point lies below the DC window. */
export type PvState = PvDetail['mpptState'];

/**
 * The DC side of a PV device: array, cell temperature, maximum power point tracker with start sequence.
 * Per step call `prepare`, then `draw`. Lags are exact for any step; nothing here is random.
 */
export class PvSource {
  readonly #config: PvConfig;
  readonly #startVoltageV: number;
  readonly #mpptTimeConstantS: number;
  readonly #startSeconds: number;
  readonly #thermal: PvThermalConfig;
  #irradianceWm2 = 0;
  #cellTemperatureC = 25;
  #targetTemperatureC = 25;
  #solvedIrradianceWm2 = 0;
  #solvedTemperatureC = 25;
  #parameters: DiodeParameters;
  #solved: SolvedArray;
  #shading: PvShading | null;
  /** one string with its shaded modules; null: all modules are equal */
  #string: ShadedString | null = null;
  /** of one module; with shading, the operating point of the tracker on one string */
  #mpp: MaximumPowerPoint;
  /** number of `#mpp` voltages in a string: the modules, or 1 with shading */
  #inSeries: number;
  /** the lower end of the DC window keeps the array above its maximum power point */
  #atEdge = false;
  #mppW = 0;
  /** maximum power within the DC window */
  #windowW = 0;
  #trackedW = 0;
  #phase: 'off' | 'start' | 'track' = 'off';
  #startElapsedS = 0;
  #availableDcW = 0;
  #state: PvState = 'off';
  #voltageV = 0;
  #currentA = 0;
  #powerW = 0;
  /** power of the operating point; NaN: the curve has changed since */
  #drawnW = NaN;

  /** @throws SimError CONFIG_INVALID with every issue of `config` */
  constructor(config: PvConfig) {
    this.#config = config;
    this.#startVoltageV = config.startVoltageV ?? config.minDcVoltageV * defaultStartRatio;
    this.#mpptTimeConstantS = config.mpptTimeConstantS ?? defaultMpptTimeConstantS;
    this.#startSeconds = config.startSeconds ?? defaultStartSeconds;
    this.#thermal = config.thermal ?? defaultPvThermal;
    checkConfig(config, this.#startVoltageV);
    this.#shading = config.shading ?? null;
    this.#inSeries = config.seriesCount;
    this.#parameters = parametersAt(config.module, 0, this.#cellTemperatureC);
    this.#mpp = maximumPowerPoint(this.#parameters);
    this.#solved = new SolvedArray(config, this.#parameters, this.#mpp, null);
  }

  /** Power in W that can be drawn now; below the maximum while starting or tracking upwards. */
  get availableDcW(): number {
    return this.#availableDcW;
  }

  /** Power in W at the maximum power point, even if that lies below the DC window. */
  get mppW(): number {
    return this.#mppW;
  }

  get state(): PvState {
    return this.#state;
  }

  /** Terminal voltage of the operating point, V. */
  get voltageV(): number {
    return this.#voltageV;
  }

  /** Current of the operating point, A. */
  get currentA(): number {
    return this.#currentA;
  }

  /** Power of the operating point, W: `voltageV` times `currentA`. */
  get powerW(): number {
    return this.#powerW;
  }

  get shading(): PvShading | null {
    return this.#shading;
  }

  /** Shade from the next step on; null ends it. */
  set shading(shading: PvShading | null) {
    this.#shading = shading;
    this.#solvedIrradianceWm2 = NaN;
  }

  get irradianceWm2(): number {
    return this.#irradianceWm2;
  }

  /** The present curve; replaced when it changes. */
  get solved(): SolvedArray {
    return this.#solved;
  }

  curve(points: number): PvCurve {
    return this.#solved.curve(points);
  }

  get cellTemperatureC(): number {
    return this.#cellTemperatureC;
  }

  /** Open-circuit voltage of the array, V. */
  get openCircuitVoltageV(): number {
    return this.#mpp.voc * this.#inSeries;
  }

  /** The terminal voltage is above the DC window: an alarm of the device, not a limit of the array. */
  get overVoltage(): boolean {
    return this.#voltageV > this.#config.maxDcVoltageV;
  }

  /** Gap of the tracker below the maximum, as a share of it; 1 while starting. */
  get trackingGap(): number {
    if (this.#phase === 'start') return 1;
    return this.#phase === 'off' || this.#mppW === 0 ? 0 : (this.#windowW - this.#trackedW) / this.#mppW;
  }

  /** Tracker and start sequence are at rest; the cell temperature may still drift. */
  get trackerSettled(): boolean {
    if (this.#phase === 'off') return true;
    return this.#phase === 'track' && this.#windowW - this.#trackedW <= settledShare * this.#mppW;
  }

  /** Under constant weather the power would move by no more than 1e-4 of the maximum. */
  get settled(): boolean {
    if (!this.trackerSettled) return false;
    return this.#mppW === 0 || this.#cellTemperatureC === this.#targetTemperatureC;
  }

  /**
   * Advances by `dtS` seconds that end under `weather`. A weather with a number that is not finite is
   * ignored, and the last one continues.
   */
  prepare(dtS: number, weather: PvWeather): void {
    const dt = dtS > 0 ? dtS : 0;
    this.#updateWeather(weather);
    const missing = this.#targetTemperatureC - this.#cellTemperatureC;
    if (missing !== 0) {
      const near = weather.cellTemperatureC !== null || Math.abs(missing) < temperatureStepK / 2;
      this.#cellTemperatureC = near
        ? this.#targetTemperatureC
        : this.#cellTemperatureC - missing * Math.expm1(-dt / this.#thermal.timeConstantS);
    }
    this.#solve();
    this.#sequence(dt);
    this.#track(dt);
  }

  /** Jumps to the steady state of `weather`: cell temperature settled, started, tracker on the maximum. */
  settle(weather: PvWeather): void {
    this.#updateWeather(weather);
    this.#cellTemperatureC = this.#targetTemperatureC;
    this.#solve();
    this.#phase = this.openCircuitVoltageV > this.#startVoltageV ? 'track' : 'off';
    this.#trackedW = this.#phase === 'off' ? 0 : this.#windowW;
    this.#availableDcW = this.#trackedW;
    this.draw(0, false);
  }

  /**
   * Operates at `dcW`, at most the available power, at a voltage above the maximum power point. An input that is not
   * `energized` leaves the array at open circuit; start sequence and tracker continue, so that the available power
   * stays known.
   */
  draw(dcW: number, energized: boolean): void {
    const requestW = energized && dcW > 0 ? dcW : 0;
    const powerW = requestW < this.#availableDcW ? requestW : this.#availableDcW;
    this.#state = energized ? this.#stateAt(powerW) : 'off';
    if (powerW === this.#drawnW) return;
    this.#drawnW = powerW;
    const unitW = powerW / (this.#inSeries * this.#config.parallelCount);
    const unitV = this.#string
      ? stringVoltageForPower(this.#string, unitW, this.#mpp)
      : voltageForPower(this.#parameters, unitW, this.#mpp);
    this.#voltageV = unitV * this.#inSeries;
    this.#currentA = powerW > 0 ? powerW / this.#voltageV : 0;
    this.#powerW = powerW;
  }

  #updateWeather(weather: PvWeather): void {
    const { irradianceWm2, ambientTemperatureC, windSpeedMS, cellTemperatureC } = weather;
    const { u0, u1 } = this.#thermal;
    const light = irradianceWm2 > 0 ? irradianceWm2 : 0;
    const wind = windSpeedMS > 0 ? windSpeedMS : 0;
    const target = cellTemperatureC ?? ambientTemperatureC + light / (u0 + u1 * wind);
    if (!Number.isFinite(target + irradianceWm2)) return;
    this.#irradianceWm2 = light;
    this.#targetTemperatureC = target;
  }

  /** Solves the curve again if light or temperature has changed enough, or has settled at another value. */
  #solve(): void {
    const irradianceWm2 = this.#irradianceWm2;
    const temperatureC = this.#cellTemperatureC;
    const lightChange = Math.abs(irradianceWm2 - this.#solvedIrradianceWm2);
    const warming = Math.abs(temperatureC - this.#solvedTemperatureC);
    if (lightChange === 0 && warming === 0) return;
    const small = lightChange <= irradianceStep * this.#solvedIrradianceWm2 && warming <= temperatureStepK;
    if (small && temperatureC !== this.#targetTemperatureC) return;
    this.#solvedIrradianceWm2 = irradianceWm2;
    this.#solvedTemperatureC = temperatureC;
    this.#drawnW = NaN;
    if (this.#shading) this.#solveShaded(this.#shading);
    else this.#solveEqual();
    this.#solved = new SolvedArray(this.#config, this.#parameters, this.#mpp, this.#string);
  }

  #solveEqual(): void {
    const { module, seriesCount, parallelCount, minDcVoltageV } = this.#config;
    const parameters = parametersAt(module, this.#irradianceWm2, this.#cellTemperatureC);
    const mpp = maximumPowerPoint(parameters);
    this.#parameters = parameters;
    this.#mpp = mpp;
    this.#string = null;
    this.#inSeries = seriesCount;
    this.#mppW = mpp.p * seriesCount * parallelCount;
    // with the maximum below the window, the array operates at the lower edge of the window
    const edgeV = minDcVoltageV / seriesCount;
    this.#atEdge = edgeV > mpp.v;
    const edgeW = this.#atEdge ? Math.max(0, edgeV * currentAt(parameters, edgeV)) : mpp.p;
    this.#windowW = Math.min(edgeW, mpp.p) * seriesCount * parallelCount;
  }

  #solveShaded(shading: PvShading): void {
    const { module, seriesCount, parallelCount, minDcVoltageV, tracker } = this.#config;
    const string = shadedString(module, seriesCount, shading, this.#irradianceWm2, this.#cellTemperatureC);
    this.#string = string;
    this.#mpp = trackedMaximum(string, tracker ?? 'global', minDcVoltageV);
    this.#inSeries = 1;
    this.#mppW = stringMaximum(string).p * parallelCount;
    this.#atEdge = this.#mpp.v === minDcVoltageV;
    this.#windowW = this.#mpp.p * parallelCount;
  }

  #sequence(dt: number): void {
    const openV = this.openCircuitVoltageV;
    if (this.#phase === 'off') {
      if (openV <= this.#startVoltageV) return;
      this.#phase = 'start';
      this.#startElapsedS = 0;
    } else if (openV <= this.#config.minDcVoltageV || openV === 0) {
      this.#phase = 'off';
    } else if (this.#phase === 'start') {
      this.#startElapsedS += dt;
    }
    if (this.#phase === 'start' && this.#startElapsedS >= this.#startSeconds) {
      this.#phase = 'track';
      this.#trackedW = this.#windowW;
    }
  }

  #track(dt: number): void {
    const goalW = this.#windowW;
    if (this.#phase === 'off') {
      this.#trackedW = 0;
    } else if (this.#phase === 'start') {
      this.#trackedW = (goalW * this.#startElapsedS) / this.#startSeconds;
    } else if (this.#trackedW !== goalW) {
      const missing = goalW - this.#trackedW;
      // falling power follows at once; only rising power has to be tracked
      const arrived = missing <= arrivedShare * goalW;
      this.#trackedW = arrived ? goalW : this.#trackedW - missing * Math.expm1(-dt / this.#mpptTimeConstantS);
    }
    this.#availableDcW = this.#trackedW;
  }

  #stateAt(powerW: number): PvState {
    if (this.#phase !== 'track') return this.#phase;
    if (this.#atEdge) return 'dc_low';
    return powerW < this.#availableDcW * (1 - limitShare) ? 'limit' : 'track';
  }
}
