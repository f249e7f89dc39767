/** Builds a plant from device specifications: templates per profile, environment, devices. */
import { microsPerSecond } from '../core/clock.ts';
import type { SimTime } from '../core/clock.ts';
import { SimError } from '../core/errors.ts';
import type { Fault } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { SimClock } from '../core/sim-clock.ts';
import { SimDevice } from './device.ts';
import { Environment } from './environment.ts';
import type { FeederSpec } from './grid/feeder.ts';
import type { Wiring } from './inverter/ac.ts';
import { SimPlant } from './plant.ts';
import type { Series } from './series.ts';
import { CloudTrack } from './source/cloud-track.ts';
import type { CloudPreset } from './source/clouds.ts';
import { createTemplate } from './template.ts';
import type { DeviceTemplate, ProfileSpec } from './template.ts';
import { checkVisits } from './visits.ts';
import type { VisitPlan } from './visits.ts';
import { ClearSky, SeriesWeather, stillAir } from './weather.ts';
import type { Weather } from './weather.ts';

export interface DeviceSpec {
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly phases: Wiring;
  /** devices of one profile share one object, and with it layout and start image */
  readonly profile: ProfileSpec;
  readonly series?: DeviceSeries;
}

/** Series that feed one device; devices may share the objects. */
export interface DeviceSeries {
  /** weather: irradiance for PV, wind at the anemometer for turbines; null: still air in the dark */
  readonly dc: { readonly series: Series; readonly name: string; readonly timeScale: number } | null;
  /** local load, column load_kw */
  readonly load: Series | null;
  /** vehicles that come and go by themselves */
  readonly visits: VisitPlan | null;
}

export interface PlantSpec {
  readonly devices: readonly DeviceSpec[];
  readonly firstIndex: number;
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly nominalHz: number;
  readonly seed: number;
  readonly weatherSource: 'csv' | 'clear_sky';
  readonly clouds: CloudPreset;
  readonly gridProfile: Series | null;
  /** the line of every device to the grid; absent or null: stiff */
  readonly feeder?: FeederSpec | null;
  readonly version: string;
  readonly monotonicMs: () => number;
  readonly log: Logger;
}

/** @throws SimError CONFIG_INVALID with the faults of all profiles, each under the first device that uses it */
function templatesOf(spec: PlantSpec, start: SimTime): readonly DeviceTemplate[] {
  const made = new Map<ProfileSpec, Map<Wiring, DeviceTemplate | null>>();
  const faults: Fault[] = [];
  const templates = spec.devices.map(({ profile, phases, name, series }, position) => {
    const { source } = profile;
    if (series?.visits && source.kind === 'evse') {
      const { visits } = series;
      attempt(() => { checkVisits(visits, source.evse.connectors.map(({ connectorId }) => connectorId)); }, `devices[${position}] (${name})`, faults);
    }
    const byWiring = made.get(profile) ?? new Map<Wiring, DeviceTemplate | null>();
    made.set(profile, byWiring);
    const known = byWiring.get(phases);
    if (known !== undefined) return known;
    const template = attempt(() => createTemplate(profile, phases, spec.nominalHz, start, spec.clock.wallMs()),
      `devices[${position}] (${name})`, faults);
    byWiring.set(phases, template);
    return template;
  });
  if (faults.length > 0) throw new SimError('CONFIG_INVALID', 'the device profiles have faults', faults);
  return templates.filter((template) => template !== null);
}

/** The result, or null with the configuration faults put under `where`. */
function attempt<T>(make: () => T, where: string, faults: Fault[]): T | null {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    faults.push(...error.faults.map((fault) => ({ ...fault, name: `${where}: ${fault.name}` })));
    return null;
  }
}

/** Where the sky of a device without PV is looked at. */
const nowhere = { latitudeDeg: 40, longitudeDeg: 0, tiltDeg: 0, azimuthDeg: 180 };

/** The weather series of each device; those of one series share theirs. */
function datasetsOf(spec: PlantSpec, originS: number): [Weather, ...Weather[]] {
  const made = new Map<string, SeriesWeather>();
  const ids = new Map<Series, number>();
  const weatherOf = ({ series }: DeviceSpec): Weather => {
    const dc = series?.dc;
    if (!dc) return stillAir;
    if (!ids.has(dc.series)) ids.set(dc.series, ids.size);
    const key = `${ids.get(dc.series) ?? 0} ${dc.timeScale}`;
    const weather = made.get(key) ?? new SeriesWeather(dc.series, { name: dc.name, timeScale: dc.timeScale, originS });
    made.set(key, weather);
    return weather;
  };
  const [first, ...others] = spec.devices;
  return [first ? weatherOf(first) : stillAir, ...others.map(weatherOf)];
}

/** The clear sky of each device; devices of one site share theirs. */
function skiesOf(spec: PlantSpec, clouds: CloudTrack, dateMs: (t: SimTime) => number): [ClearSky, ...ClearSky[]] {
  const made = new Map<string, ClearSky>();
  const skyOf = ({ profile: { source } }: DeviceSpec) => {
    const pv = 'pv' in source ? source.pv : nowhere;
    const site = { latitudeDeg: pv.latitudeDeg, longitudeDeg: pv.longitudeDeg, tiltDeg: pv.tiltDeg, azimuthDeg: pv.azimuthDeg };
    const key = JSON.stringify(site);
    const sky = made.get(key) ?? new ClearSky(site, clouds, dateMs);
    made.set(key, sky);
    return sky;
  };
  const [first, ...others] = spec.devices;
  if (!first) throw new SimError('CONFIG_INVALID', 'there are no devices');
  return [skyOf(first), ...others.map(skyOf)];
}

/** @throws SimError CONFIG_INVALID for a profile that does not fit the register map */
export function createPlant(spec: PlantSpec): SimPlant {
  const { clock } = spec;
  const [first] = spec.devices;
  if (!first) throw new SimError('CONFIG_INVALID', 'there are no devices');
  const start = clock.tickTime;
  const midnightMs = clock.midnightMs(start);
  const dateMs = (t: SimTime) => clock.dateMs(t);
  const clouds = new CloudTrack(spec.seed, spec.clouds);
  const skies = skiesOf(spec, clouds, dateMs);
  const seriesTime = (t: SimTime) => (dateMs(t) - midnightMs) / 1000;
  const originS = seriesTime(start);
  const datasets = datasetsOf(spec, originS);
  const position = (index: number) => Math.max(0, index - spec.firstIndex);
  const weather = {
    csv: (index: number) => datasets[position(index)] ?? datasets[0],
    clear_sky: (index: number) => skies[position(index)] ?? skies[0],
  };
  const environment = new Environment({
    nominalHz: spec.nominalHz, gridProfile: spec.gridProfile, weather, weatherSource: spec.weatherSource,
    load: (index) => spec.devices[position(index)]?.series?.load ?? null,
    seriesTime,
  }, start);
  const templates = templatesOf(spec, start);
  const commits = { sim: () => clock.acting(), wallMs: () => clock.wallMs() };
  const context = { clock: commits, environment, seed: spec.seed, rate: () => clock.settings.rate, log: spec.log, feeder: spec.feeder ?? null };
  const devices = templates.map((template, at) => {
    const device = spec.devices[at] ?? first;
    const index = spec.firstIndex + at;
    const identity = {
      index, name: device.name, deviceType: device.deviceType, profileName: device.profileName,
      serialNumber: `DB-${String(index).padStart(6, '0')}`, version: spec.version,
    };
    return new SimDevice(identity, template, { ...context, seriesTime, visits: device.series?.visits ?? null }, start);
  });
  return new SimPlant({
    devices, environment, clock, tickIntervalS: spec.tickIntervalS, log: spec.log,
    monotonicMs: spec.monotonicMs,
    forgetBefore: (t) => { clouds.forgetBefore(t / microsPerSecond); },
  });
}
