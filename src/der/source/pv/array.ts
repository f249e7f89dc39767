import type { PvDetail, PvShading } from '../../../contract/kinds/pv.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { lagged } from '../lag.ts';
import { CellTemperature } from './cell-temperature.ts';
import { checkConfig } from './config.ts';
import type { PvConfig, PvThermalConfig } from './config.ts';
import { SolvedArray } from './curve.ts';
import type { PvCurve } from './curve.ts';
import { currentAt, maximumPowerPoint, parametersAt, voltageForPower } from './module.ts';
import type { DiodeParameters, MaximumPowerPoint } from './module.ts';
import { shadedString, stringCurrentAt, stringMaximum, stringVoltageForPower, trackedMaximum } from './shading.ts';
import type { ShadedString } from './shading.ts';

export type { PvConfig, PvThermalConfig };

/** Weather at the array. */
export interface PvWeather {
  /** irradiance in the plane of the array */
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
/** Share of the start power below which an input sleeps again. */
const sleepShare = 0.75;
/** Change of irradiance, as a share, from which the curve is solved again; smaller ones have no visible effect. */
const irradianceStep = 1e-9;
/** Change of the cell temperature from which the curve is solved again, K. */
const temperatureStepK = 1e-6;
/** Tolerance of the settled state, share of the voltage; power is flat there. */
const settledShare = 1e-4;
/** Gap to a constant goal that the tracker closes at once, share of the goal voltage. */
const arrivedShare = 1e-9;
/** Power below the available power by more than this share counts as curtailed. */
const limitShare = 1e-6;
/**
 * Maximum distance of the tracker from its goal, share of the way to open circuit: in sudden darkness the open-circuit
 * voltage can fall below the voltage of the tracker.
 */
const maxRightShare = 0.5;

/** off: too dark, or the input is open; dc_low: the maximum power point lies below the DC window. */
type PvState = PvDetail['mpptState'];

/**
 * The DC side of a PV device: array, cell temperature, maximum power point tracker with start sequence.
 * Per step call `prepare`, then `draw`; before that `jumpTo` where the weather has jumped. Otherwise weather moves
 * linearly over a step, and lags are exact for that: state is a function of time, not of the steps. Nothing here is
 * random.
 */
export class PvSource {
  readonly #config: PvConfig;
  readonly #startVoltageV: number;
  readonly #startPowerW: number;
  readonly #mpptTimeConstantS: number;
  readonly #startSeconds: number;
  readonly #thermal: PvThermalConfig;
  readonly #cell: CellTemperature;
  #irradianceWm2 = 0;
  /** the shading was set since the last step */
  #reshaded = false;
  /** irradiance or shading has jumped since the last step */
  #jumped = false;
  #solvedIrradianceWm2 = 0;
  #solvedTemperatureC = 25;
  /** shading of the solved curve; behind `#shading` until the next step */
  #solvedShading: PvShading | null = null;
  #parameters: DiodeParameters;
  #solved: SolvedArray;
  #shading: PvShading | null;
  /** one string with its shaded modules; null: all modules are equal */
  #string: ShadedString | null = null;
  /** maximum power point of one module; with shading, the operating point of the tracker on one string */
  #mpp: MaximumPowerPoint;
  /** number of `#mpp` voltages in a string: the modules, or 1 with shading */
  #inSeries: number;
  /** the lower end of the DC window keeps the array above its maximum power point */
  #atEdge = false;
  #mppW = 0;
  /** maximum power within the DC window */
  #windowW = 0;
  /** goal of the tracker, voltage of a string: the maximum within the DC window */
  #goalV = 0;
  /** voltage of a string at which the tracker stands */
  #trackedV = 0;
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
    this.#startPowerW = config.startPowerW ?? 0;
    this.#mpptTimeConstantS = config.mpptTimeConstantS ?? defaultMpptTimeConstantS;
    this.#startSeconds = config.startSeconds ?? defaultStartSeconds;
    this.#thermal = config.thermal ?? defaultPvThermal;
    checkConfig(config, this.#startVoltageV);
    this.#cell = new CellTemperature(this.#thermal);
    this.#shading = config.shading ?? null;
    this.#inSeries = config.seriesCount;
    this.#parameters = parametersAt(config.module, 0, this.#cell.valueC);
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

  /** Shading from the next step on; null: none. */
  set shading(shading: PvShading | null) {
    this.#shading = shading;
    this.#reshaded = true;
    this.#jumped = true;
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
    return this.#cell.valueC;
  }

  /** Open-circuit voltage of the array, V. */
  get openCircuitVoltageV(): number {
    return this.#mpp.voc * this.#inSeries;
  }

  /** True if the terminal voltage is above the DC window: an alarm of the device, not a limit of the array. */
  get overVoltage(): boolean {
    return this.#voltageV > this.#config.maxDcVoltageV;
  }

  /** Gap between the tracker's voltage and its goal, as a share of the goal; 1 while starting and after a jump. */
  get trackingGap(): number {
    if (this.#phase === 'start' || this.#jumped) return 1;
    return this.#phase === 'off' ? 0 : Math.abs(this.#goalV - this.#trackedV) / this.#goalV;
  }

  /** True if the power would move by no more than 1e-4 of the maximum under constant weather. */
  get settled(): boolean {
    return this.trackingGap <= settledShare && (this.#mppW === 0 || this.#cell.atRest);
  }

  /**
   * Advances by `dtS` seconds in which the weather has moved linearly to `weather`. Weather with a number that is not
   * finite is ignored: the last weather continues.
   */
  prepare(dtS: number, weather: PvWeather): void {
    const dt = dtS > 0 ? dtS : 0;
    this.#jumped = false;
    if (this.#reshaded) this.#reshade();
    const fromV = this.#goalV;
    const fromW = this.#mppW;
    if (this.#setIrradiance(weather)) this.#cell.advance(dt, this.#steadyC(weather), weather.cellTemperatureC !== null);
    this.#solve();
    this.#sequence(dt, fromW);
    this.#track(dt, fromV);
  }

  /** The weather has jumped to `weather` since the last step: light at once, the cells with their lag. */
  jumpTo(weather: PvWeather): void {
    const formerWm2 = this.#irradianceWm2;
    if (!this.#setIrradiance(weather)) return;
    this.#cell.jump(this.#steadyC(weather), weather.cellTemperatureC !== null);
    if (this.#irradianceWm2 !== formerWm2) this.#jumped = true;
    this.#solve();
    this.#sequence(0, this.#mppW);
    this.#track(0, this.#goalV);
  }

  /** Jumps to the steady state of `weather`: cell temperature settled, started, tracker on the maximum. */
  settle(weather: PvWeather): void {
    if (this.#setIrradiance(weather)) this.#cell.jump(this.#steadyC(weather), true);
    this.#jumped = false;
    if (this.#reshaded) this.#reshade();
    this.#solve();
    this.#phase = this.#mayStart ? 'track' : 'off';
    this.#trackedV = this.#goalV;
    this.#availableDcW = this.#phase === 'off' ? 0 : this.#windowW;
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
    this.#voltageV = this.#voltageAt(powerW);
    this.#currentA = powerW > 0 ? powerW / this.#voltageV : 0;
    this.#powerW = powerW;
  }

  /** Sets the irradiance. @returns false: ignored, since a number of the weather is not finite */
  #setIrradiance(weather: PvWeather): boolean {
    const { irradianceWm2 } = weather;
    if (!Number.isFinite(irradianceWm2 + this.#steadyC(weather))) return false;
    this.#irradianceWm2 = irradianceWm2 > 0 ? irradianceWm2 : 0;
    return true;
  }

  /** Cell temperature after a long time in this weather. */
  #steadyC({ irradianceWm2, ambientTemperatureC, windSpeedMS, cellTemperatureC }: PvWeather): number {
    if (cellTemperatureC !== null) return cellTemperatureC;
    const { u0, u1 } = this.#thermal;
    return (
      ambientTemperatureC + (irradianceWm2 > 0 ? irradianceWm2 : 0) / (u0 + u1 * (windSpeedMS > 0 ? windSpeedMS : 0))
    );
  }

  /** Solves the curve with the new shading, at the start of a step. */
  #reshade(): void {
    this.#reshaded = false;
    this.#solvedIrradianceWm2 = NaN;
    this.#solve();
  }

  /** Solves the curve again if light or temperature has changed; small changes only once the temperature is at rest. */
  #solve(): void {
    const irradianceWm2 = this.#irradianceWm2;
    const temperatureC = this.#cell.valueC;
    const lightChange = Math.abs(irradianceWm2 - this.#solvedIrradianceWm2);
    const warming = Math.abs(temperatureC - this.#solvedTemperatureC);
    if (lightChange === 0 && warming === 0) return;
    const small = lightChange <= irradianceStep * this.#solvedIrradianceWm2 && warming <= temperatureStepK;
    if (small && !this.#cell.atRest) return;
    this.#solvedIrradianceWm2 = irradianceWm2;
    this.#solvedTemperatureC = temperatureC;
    this.#solvedShading = this.#shading;
    this.#drawnW = NaN;
    this.#solveCurve();
  }

  /** Computes the curve of the solved light, temperature and shading. */
  #solveCurve(): void {
    if (this.#solvedShading) this.#solveShaded(this.#solvedShading);
    else this.#solveEqual();
    this.#solved = new SolvedArray(this.#config, this.#parameters, this.#mpp, this.#string);
  }

  #solveEqual(): void {
    const { module, seriesCount, parallelCount, minDcVoltageV } = this.#config;
    const parameters = parametersAt(module, this.#solvedIrradianceWm2, this.#solvedTemperatureC);
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
    this.#goalV = this.#atEdge ? minDcVoltageV : mpp.v * seriesCount;
  }

  #solveShaded(shading: PvShading): void {
    const { module, seriesCount, parallelCount, minDcVoltageV, tracker } = this.#config;
    const string = shadedString(module, seriesCount, shading, this.#solvedIrradianceWm2, this.#solvedTemperatureC);
    this.#string = string;
    this.#mpp = trackedMaximum(string, tracker ?? 'global', minDcVoltageV);
    this.#inSeries = 1;
    this.#mppW = stringMaximum(string).p * parallelCount;
    this.#atEdge = this.#mpp.v === minDcVoltageV;
    this.#windowW = this.#mpp.p * parallelCount;
    this.#goalV = this.#mpp.v;
  }

  /** True if the voltage suffices for the input, and the power for its converter. */
  get #mayStart(): boolean {
    return this.openCircuitVoltageV > this.#startVoltageV && this.#mppW >= this.#startPowerW;
  }

  /** Advances the start sequence. @param fromW maximum power at the start of the step */
  #sequence(dt: number, fromW: number): void {
    const openV = this.openCircuitVoltageV;
    if (this.#phase === 'off') {
      if (!this.#mayStart) return;
      this.#phase = 'start';
      // time since the maximum power passed the start power within the step
      const risenW = this.#mppW - fromW;
      this.#startElapsedS = fromW < this.#startPowerW ? (dt * (this.#mppW - this.#startPowerW)) / risenW : 0;
    } else if (openV <= this.#config.minDcVoltageV || openV === 0 || this.#mppW < sleepShare * this.#startPowerW) {
      this.#phase = 'off';
    } else if (this.#phase === 'start') {
      this.#startElapsedS += dt;
    }
    if (this.#phase === 'start' && this.#startElapsedS >= this.#startSeconds) {
      this.#phase = 'track';
      this.#trackedV = this.#goalV;
    }
  }

  /** @param fromV goal at the start of the step, from which the goal has moved linearly */
  #track(dt: number, fromV: number): void {
    if (this.#phase === 'off') {
      this.#availableDcW = 0;
    } else if (this.#phase === 'start') {
      this.#availableDcW = (this.#windowW * this.#startElapsedS) / this.#startSeconds;
    } else {
      this.#follow(dt, fromV);
      this.#availableDcW = this.#powerAtTracker();
    }
  }

  /** The voltage follows its goal with the time constant of the tracker. */
  #follow(dt: number, fromV: number): void {
    const goalV = this.#goalV;
    const formerV = this.#trackedV;
    if (formerV === goalV && fromV === goalV) return;
    const maxV = goalV + maxRightShare * (this.openCircuitVoltageV - goalV);
    const nextV = Math.min(lagged(formerV, fromV, goalV, dt, this.#mpptTimeConstantS), maxV);
    const arrived = fromV === goalV && Math.abs(goalV - nextV) <= arrivedShare * goalV;
    this.#trackedV = arrived ? goalV : nextV;
    if (this.#trackedV !== formerV) this.#drawnW = NaN;
  }

  /** Power on the present curve at the voltage of the tracker. */
  #powerAtTracker(): number {
    if (this.#trackedV === this.#goalV) return this.#windowW;
    const unitV = this.#trackedV / this.#inSeries;
    const unitA = this.#string ? stringCurrentAt(this.#string, unitV) : currentAt(this.#parameters, unitV);
    return Math.min(Math.max(0, this.#trackedV * unitA * this.#config.parallelCount), this.#mppW);
  }

  /** Voltage of the tracker at the available power; at less power, the voltage above the maximum power point. */
  #voltageAt(powerW: number): number {
    const tracking = this.#phase === 'track' && powerW > 0;
    if (tracking && powerW >= this.#availableDcW * (1 - limitShare)) return this.#trackedV;
    const unitW = powerW / (this.#inSeries * this.#config.parallelCount);
    const unitV = this.#string
      ? stringVoltageForPower(this.#string, unitW, this.#mpp)
      : voltageForPower(this.#parameters, unitW, this.#mpp);
    return unitV * this.#inSeries;
  }

  #stateAt(powerW: number): PvState {
    if (this.#phase !== 'track') return this.#phase;
    if (this.#atEdge) return 'dc_low';
    return powerW < this.#availableDcW * (1 - limitShare) ? 'limit' : 'track';
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      cell: this.#cell.kept(),
      solved: keptRecord(
        () => ({
          irradianceWm2: this.#solvedIrradianceWm2,
          temperatureC: this.#solvedTemperatureC,
          shading: this.#solvedShading,
        }),
        ({ irradianceWm2, temperatureC, shading }) => {
          this.#solvedIrradianceWm2 = irradianceWm2;
          this.#solvedTemperatureC = temperatureC;
          this.#solvedShading = shading;
          this.#solveCurve();
        },
      ),
      // after the curve: an array that has always been dark has not taken its goal from it
      members: this.#keptMembers(),
    });
  }

  #keptMembers(): Kept {
    return keptRecord(
      () => ({
        irradianceWm2: this.#irradianceWm2,
        reshaded: this.#reshaded,
        jumped: this.#jumped,
        shading: this.#shading,
        goalV: this.#goalV,
        trackedV: this.#trackedV,
        phase: this.#phase,
        startElapsedS: this.#startElapsedS,
        availableDcW: this.#availableDcW,
        state: this.#state,
        voltageV: this.#voltageV,
        currentA: this.#currentA,
        powerW: this.#powerW,
        drawnW: this.#drawnW,
      }),
      (values) => {
        ({
          irradianceWm2: this.#irradianceWm2,
          reshaded: this.#reshaded,
          jumped: this.#jumped,
          shading: this.#shading,
          goalV: this.#goalV,
          trackedV: this.#trackedV,
          phase: this.#phase,
          startElapsedS: this.#startElapsedS,
          availableDcW: this.#availableDcW,
          state: this.#state,
          voltageV: this.#voltageV,
          currentA: this.#currentA,
          powerW: this.#powerW,
          drawnW: this.#drawnW,
        } = values);
      },
    );
  }
}
