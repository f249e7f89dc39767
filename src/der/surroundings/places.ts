/** The place of each device: its weather series, sky and local load. */
import type { SimTime } from '../../core/time/clock.ts';
import type { DeviceSeries, DeviceSpec, ProfileSpec } from '../device/template.ts';
import type { Series } from './series.ts';
import type { CloudTrack } from './sky/clouds.ts';
import { ClearSky, SeriesWeather, stillAir } from './weather.ts';
import type { SeriesPlace, Sky, Weather } from './weather.ts';

export interface PlacesOptions {
  readonly clouds: CloudTrack;
  readonly dateMs: (t: SimTime) => number;
  /** series time at the start of the run, s */
  readonly originS: number;
}

interface Place {
  readonly weather: Weather;
  readonly sky: Sky;
  readonly load: Series | null;
}

/** Site of the sky for devices without PV. */
const defaultSite = { latitudeDeg: 40, longitudeDeg: 0, tiltDeg: 0, azimuthDeg: 180 };

/** A restart restores the origin after the devices have entered, so each use reads it. */
function seriesPlace(name: string, timeScale: number, origin: Pick<PlacesOptions, 'originS'>): SeriesPlace {
  return {
    name,
    timeScale,
    get originS() {
      return origin.originS;
    },
  };
}

export class Places {
  readonly #options: PlacesOptions;
  /** in index order */
  readonly #places = new Map<number, Place>();
  // weak: a removed device leaves no entry
  readonly #weathers = new WeakMap<Series, Map<number, SeriesWeather>>();
  readonly #skies = new WeakMap<ProfileSpec, ClearSky>();
  readonly #empty: Place;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#empty = { weather: stillAir, sky: new ClearSky(defaultSite, options.clouds, options.dateMs), load: null };
  }

  /** @returns puts the former place of the index back */
  enter(index: number, { profile, series }: DeviceSpec): () => void {
    const former = this.#places.get(index);
    this.#places.set(index, {
      weather: this.#weatherOf(series?.dc ?? null),
      sky: this.#skyOf(profile),
      load: series?.load ?? null,
    });
    return () => {
      if (former) this.#places.set(index, former);
    };
  }

  leave(index: number): void {
    this.#places.delete(index);
  }

  /** The place of a device; an index without a device gets the place of the first device. */
  at(index: number): Place {
    return this.#places.get(index) ?? this.#places.values().next().value ?? this.#empty;
  }

  /** Devices with the same series and time scale share one weather. */
  #weatherOf(dc: DeviceSeries['dc']): Weather {
    if (!dc) return stillAir;
    const { series, name, timeScale } = dc;
    const byScale = this.#weathers.get(series) ?? new Map<number, SeriesWeather>();
    this.#weathers.set(series, byScale);
    const weather = byScale.get(timeScale) ?? new SeriesWeather(series, seriesPlace(name, timeScale, this.#options));
    byScale.set(timeScale, weather);
    return weather;
  }

  /** Devices of one profile share one sky. */
  #skyOf(profile: ProfileSpec): Sky {
    const { clouds, dateMs } = this.#options;
    const installation = 'pv' in profile.source ? profile.source.pv : defaultSite;
    const site = {
      latitudeDeg: installation.latitudeDeg,
      longitudeDeg: installation.longitudeDeg,
      tiltDeg: installation.tiltDeg,
      azimuthDeg: installation.azimuthDeg,
    };
    const planes = 'inputs' in installation ? installation.inputs : undefined;
    const sky = this.#skies.get(profile) ?? new ClearSky(site, clouds, dateMs, planes);
    this.#skies.set(profile, sky);
    return sky;
  }
}
