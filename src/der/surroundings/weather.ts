import { microsPerSecond } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { DatasetNow } from '../../contract/environment.ts';
import type { CloudTrack } from './sky/clouds.ts';
import { clearSkyIrradiance } from './sky/solar.ts';
import type { SolarSite } from './sky/solar.ts';
import type { Series } from './series.ts';

const msPerDay = 86_400_000;
const msPerYear = 365.2425 * msPerDay;
/** 21 July 2000, noon UTC: a month after the longest day of the northern hemisphere */
const warmestMs = Date.UTC(2000, 6, 21, 12);
/** local solar time at which a day is warmest, h */
const warmestHour = 15;
/** half of the difference between day and night */
const dailySwingK = 5;
/** mean over the year: falls with latitude, and is the same up to 9 degrees from the equator */
const equatorMeanC = 27;
const meanAtZeroC = 31;
const meanPerDegreeK = -0.43;
/** half of the difference between summer and winter, per degree of latitude */
const swingPerDegreeK = 0.25;

/**
 * Mean of the year, season and time of day as cosines. The figures are a choice of this project and suit temperate
 * latitudes near the sea level: 13.8 C over the year at 40 degrees north, 23.8 C in July, 3.8 C in January, and 5 K
 * more or less in the course of a day. The same instant and place always give the same value.
 * @param simMs simulated time, ms since the epoch
 * @returns degrees Celsius
 */
export function airTemperature(simMs: number, latitudeDeg: number, longitudeDeg: number): number {
  const meanC = Math.min(equatorMeanC, meanAtZeroC + meanPerDegreeK * Math.abs(latitudeDeg));
  // south of the equator the sign of the latitude turns summer and winter
  const season = swingPerDegreeK * latitudeDeg * Math.cos((2 * Math.PI * (simMs - warmestMs)) / msPerYear);
  const solarHour = (simMs / msPerDay) * 24 + longitudeDeg / 15;
  const day = dailySwingK * Math.cos((2 * Math.PI * (solarHour - warmestHour)) / 24);
  return meanC + season + day;
}

/** Values that a weather source fills in. */
export interface WeatherValues {
  irradianceWm2: number;
  ambientTemperatureC: number;
  windSpeedMS: number;
}

/** Sky properties that follow from date, time, place and clouds. */
export interface Sky {
  /** in the plane of an array, W/m2 */
  irradianceAt(t: SimTime): number;
  /** Appends the irradiance in each further plane to `out`, W/m2; absent: no further planes. */
  planesAt?(t: SimTime, out: number[]): void;
  /** temperature of the air, C */
  airTemperatureAt(t: SimTime): number;
}

/** Source of irradiance, air temperature and wind while they are not set. */
export interface Weather {
  /** @param seriesS seconds since local midnight of the start date */
  at(seriesS: number, t: SimTime, out: WeatherValues): void;
  /** the series of this weather, for display; null: no series */
  dataset(seriesS: number): DatasetNow | null;
}

const defaultAmbientC = 20;
const defaultWindMS = 1;

/** Columns of a weather series for PV; only the irradiance is required. */
export const weatherColumns = [
  // pyranometers read some watts below zero at night
  { name: 'irradiance_w_m2', required: true, min: 0, max: 1500, noiseFrom: -20 },
  { name: 'ambient_temperature_c', required: false, min: -50, max: 90 },
  { name: 'wind_speed_m_s', required: false, min: 0, max: 60 },
] as const;

/** Columns of a wind series; the speed is that at the anemometer. */
export const windColumns = [
  { name: 'wind_speed_m_s', required: true, min: 0, max: 60 },
  { name: 'wind_direction_deg', required: false, min: 0, max: 360 },
  { name: 'ambient_temperature_c', required: false, min: -50, max: 90 },
] as const;

/** The name of a series, and the relation of its time to that of the run. */
export interface SeriesPlace {
  readonly name: string;
  /** series seconds per simulated second, from `originS` on */
  readonly timeScale: number;
  /** series time at the start of the run, s */
  readonly originS: number;
}

export class SeriesWeather implements Weather {
  readonly #series: Series;
  readonly #place: SeriesPlace | null;
  readonly #hasSun: boolean;
  readonly #hasAmbient: boolean;
  readonly #hasWind: boolean;

  /** @param place null: the series runs with the simulated clock and is not shown by name */
  constructor(series: Series, place: SeriesPlace | null = null) {
    this.#series = series;
    this.#place = place;
    this.#hasSun = series.has('irradiance_w_m2');
    this.#hasAmbient = series.has('ambient_temperature_c');
    this.#hasWind = series.has('wind_speed_m_s');
  }

  at(seriesS: number, _t: SimTime, out: WeatherValues): void {
    const at = this.#positionS(seriesS);
    out.irradianceWm2 = this.#hasSun ? this.#series.at('irradiance_w_m2', at) : 0;
    out.ambientTemperatureC = this.#hasAmbient ? this.#series.at('ambient_temperature_c', at) : defaultAmbientC;
    out.windSpeedMS = this.#hasWind ? this.#series.at('wind_speed_m_s', at) : defaultWindMS;
  }

  dataset(seriesS: number): DatasetNow | null {
    const place = this.#place;
    return (
      place && {
        name: place.name,
        positionS: this.#series.position(this.#positionS(seriesS)),
        timeScale: place.timeScale,
      }
    );
  }

  #positionS(seriesS: number): number {
    const place = this.#place;
    return place === null ? seriesS : place.originS + (seriesS - place.originS) * place.timeScale;
  }
}

/** Weather of devices without a weather series. */
export const stillAir: Weather = {
  at(_seriesS, _t, out) {
    Object.assign(out, { irradianceWm2: 0, ambientTemperatureC: defaultAmbientC, windSpeedMS: 0 });
  },
  dataset: () => null,
};

/**
 * Clear sky at one site times the clear-sky index of the clouds, which are common to all sites of a plant. The
 * index is interpolated between whole simulated seconds, so that it depends neither on the tick nor on the number of
 * devices that read it.
 */
export class ClearSky implements Sky {
  readonly #site: SolarSite;
  readonly #clouds: CloudTrack;
  readonly #dateMs: (t: SimTime) => number;
  readonly #planes: readonly SolarSite[];

  /** @param planes further planes at the same place */
  constructor(
    site: SolarSite,
    clouds: CloudTrack,
    dateMs: (t: SimTime) => number,
    planes: readonly Pick<SolarSite, 'tiltDeg' | 'azimuthDeg'>[] = [],
  ) {
    this.#site = site;
    this.#clouds = clouds;
    this.#dateMs = dateMs;
    this.#planes = planes.map(({ tiltDeg, azimuthDeg }) => ({ ...site, tiltDeg, azimuthDeg }));
  }

  irradianceAt(t: SimTime): number {
    return clearSkyIrradiance(this.#dateMs(t), this.#site) * this.#indexAt(t);
  }

  planesAt(t: SimTime, out: number[]): void {
    if (this.#planes.length === 0) return;
    const dateMs = this.#dateMs(t);
    const index = this.#indexAt(t);
    for (const plane of this.#planes) out.push(clearSkyIrradiance(dateMs, plane) * index);
  }

  /** The clear-sky index. */
  #indexAt(t: SimTime): number {
    const seconds = t / microsPerSecond;
    const below = Math.floor(seconds);
    const from = this.#clouds.at(below);
    return from + (this.#clouds.at(below + 1) - from) * (seconds - below);
  }

  airTemperatureAt(t: SimTime): number {
    return airTemperature(this.#dateMs(t), this.#site.latitudeDeg, this.#site.longitudeDeg);
  }
}
