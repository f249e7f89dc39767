import { microsPerSecond } from '../core/clock.ts';
import type { SimTime } from '../core/clock.ts';
import type { IrradianceSource } from '../core/environment.ts';
import { CloudProcess } from './source/clouds.ts';
import type { CloudPreset } from './source/clouds.ts';
import { clearSkyIrradiance } from './source/solar.ts';
import type { SolarSite } from './source/solar.ts';
import type { Series } from './series.ts';

/** What a weather source fills in. */
export interface WeatherValues {
  irradianceWm2: number;
  ambientTemperatureC: number;
  windSpeedMS: number;
}

/** Where irradiance, air temperature and wind come from while nobody overrides them. */
export interface Weather {
  readonly source: IrradianceSource;
  /** @param seriesS seconds since local midnight of the start date */
  at(seriesS: number, t: SimTime, out: WeatherValues): void;
  /** No earlier instant than `t` will be asked for again. */
  forgetBefore?(t: SimTime): void;
}

const defaultAmbientC = 20;
const defaultWindMS = 1;

/** Columns of a weather series; only the irradiance is required. */
export const weatherColumns = [
  { name: 'irradiance_w_m2', required: true, min: 0, max: 1500 },
  { name: 'ambient_temperature_c', required: false, min: -50, max: 90 },
  { name: 'wind_speed_m_s', required: false, min: 0, max: 60 },
] as const;

export class SeriesWeather implements Weather {
  readonly source = 'csv';
  readonly #series: Series;
  readonly #hasAmbient: boolean;
  readonly #hasWind: boolean;

  constructor(series: Series) {
    this.#series = series;
    this.#hasAmbient = series.has('ambient_temperature_c');
    this.#hasWind = series.has('wind_speed_m_s');
  }

  at(seriesS: number, _t: SimTime, out: WeatherValues): void {
    out.irradianceWm2 = this.#series.at('irradiance_w_m2', seriesS);
    out.ambientTemperatureC = this.#hasAmbient ? this.#series.at('ambient_temperature_c', seriesS) : defaultAmbientC;
    out.windSpeedMS = this.#hasWind ? this.#series.at('wind_speed_m_s', seriesS) : defaultWindMS;
  }
}

/**
 * Clear sky times the seeded clear-sky index. Both live on a grid of whole simulated seconds, so that the course
 * depends neither on the tick nor on how many devices look at it.
 */
export class ClearSkyWeather implements Weather {
  readonly source = 'clear_sky';
  readonly #site: SolarSite;
  readonly #clouds: CloudProcess;
  readonly #dateMs: (t: SimTime) => number;
  #first: number;
  #samples: number[] = [];

  constructor(options: {
    readonly site: SolarSite; readonly seed: number; readonly preset: CloudPreset;
    readonly start: SimTime; readonly dateMs: (t: SimTime) => number;
  }) {
    this.#site = options.site;
    this.#clouds = new CloudProcess(options.seed, options.preset);
    this.#dateMs = options.dateMs;
    this.#first = Math.floor(options.start / microsPerSecond);
  }

  at(_seriesS: number, t: SimTime, out: WeatherValues): void {
    const seconds = t / microsPerSecond;
    const below = Math.floor(seconds);
    const from = this.#sample(below);
    out.irradianceWm2 = from + (this.#sample(below + 1) - from) * (seconds - below);
    out.ambientTemperatureC = defaultAmbientC;
    out.windSpeedMS = defaultWindMS;
  }

  forgetBefore(t: SimTime): void {
    const spent = Math.min(Math.floor(t / microsPerSecond) - this.#first, this.#samples.length);
    if (spent <= 0) return;
    this.#samples = this.#samples.slice(spent);
    this.#first += spent;
  }

  #sample(second: number): number {
    for (let next = this.#first + this.#samples.length; next <= second; next += 1) {
      const clear = clearSkyIrradiance(this.#dateMs((next * microsPerSecond) as SimTime), this.#site);
      this.#samples.push(clear * this.#clouds.step());
    }
    return this.#samples[second - this.#first] ?? 0;
  }
}
