import { microsPerSecond } from '../core/clock.ts';
import type { SimTime } from '../core/clock.ts';
import type { IrradianceSource } from '../core/environment.ts';
import type { CloudTrack } from './source/cloud-track.ts';
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
 * Clear sky at one site times the clear-sky index of the clouds, which are common to all sites of a plant. The
 * index lives on a grid of whole simulated seconds, so that the course depends neither on the tick nor on how
 * many devices look at it.
 */
export class ClearSkyWeather implements Weather {
  readonly source = 'clear_sky';
  readonly #site: SolarSite;
  readonly #clouds: CloudTrack;
  readonly #dateMs: (t: SimTime) => number;

  constructor(site: SolarSite, clouds: CloudTrack, dateMs: (t: SimTime) => number) {
    this.#site = site;
    this.#clouds = clouds;
    this.#dateMs = dateMs;
  }

  at(_seriesS: number, t: SimTime, out: WeatherValues): void {
    const seconds = t / microsPerSecond;
    const below = Math.floor(seconds);
    const from = this.#clouds.at(below);
    const index = from + (this.#clouds.at(below + 1) - from) * (seconds - below);
    out.irradianceWm2 = clearSkyIrradiance(this.#dateMs(t), this.#site) * index;
    out.ambientTemperatureC = defaultAmbientC;
    out.windSpeedMS = defaultWindMS;
  }
}
