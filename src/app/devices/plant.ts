/** Clock, plant and series of a configuration. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import type { CommAlarms } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { LogBook, Logger } from '../../core/log/log.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import type { ClockMode, WallClock } from '../../core/time/clock.ts';
import { remoteClocks } from '../../core/time/remote-clock.ts';
import type { RemoteClockFactory } from '../../core/time/remote-clock.ts';
import { localDateMs, SimClock } from '../../core/time/sim-clock.ts';
import { Ticker } from '../../core/time/timers.ts';
import type { Later } from '../../core/time/timers.ts';
import { createPlant } from '../../der/plant/create-plant.ts';
import type { SimPlant } from '../../der/plant/plant.ts';
import { parseGridProfile } from '../../der/surroundings/grid/profile.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import { packageFile } from '../../core/package-files.ts';
import type { DeviceSeries } from '../../der/device/template.ts';
import { parseSeries } from '../../der/surroundings/series.ts';
import type { Series, SeriesColumn } from '../../der/surroundings/series.ts';
import type { ShardStart } from '../../fleet/clock/join.ts';
import type { PlacedDevice, SeriesOf } from './placed.ts';
import { parseVisits } from '../../der/surroundings/visits.ts';
import type { VisitPlan } from '../../der/surroundings/visits.ts';
import { weatherTable } from '../../der/surroundings/weather-files.ts';
import { weatherColumns, windColumns } from '../../der/surroundings/weather.ts';

/** Settings of the clock at the start, and its first instant. */
export function clockStart({ clock }: Pick<AppConfig, 'clock'>, wall: Pick<WallClock, 'nowMs'>) {
  const { followsWall, startsPaused, timezone, startDate, startTime, rate } = clock;
  const startMs = followsWall ? wall.nowMs() : localDateMs(startDate, startTime, timezone);
  const mode: ClockMode = followsWall ? 'wall_clock' : startsPaused ? 'paused' : 'accelerated';
  return { settings: { mode, rate, timezone }, startUs: simTimeFromMs(startMs) };
}

/** @param joined the fleet of this process, whose clock it takes over */
export function createClock(
  config: Pick<AppConfig, 'clock'>,
  wall: WallClock,
  joined: ShardStart | null = null,
): SimClock {
  if (joined === null) {
    const { settings, startUs } = clockStart(config, wall);
    return new SimClock(wall, settings, startUs);
  }
  const { mode, rate, timezone, shiftMs } = joined.record;
  return new SimClock(wall, { mode, rate, timezone }, joined.simUs, shiftMs);
}

/** The clocks of remote systems; adapters make one for each peer. */
export function createRemoteClocks(
  { remoteClock: mode }: Pick<AppConfig, 'remoteClock'>,
  {
    clock,
    plant,
    wall,
    later,
    log,
  }: { clock: SimClock; plant: Pick<SimPlant, 'at'>; wall: WallClock; later: Later; log: Logger },
): RemoteClockFactory {
  return remoteClocks({
    mode,
    wall,
    later,
    log,
    timeline: {
      sim: () => clock.sim(),
      dateMs: (t) => clock.dateMs(t),
      rate: () => clock.settings.rate,
      ageMs: (t) => clock.ageMs(t),
      paused: () => clock.paused,
      at: (t, act) => plant.at(t, act),
    },
  });
}

interface PlantSetup {
  readonly devices: readonly PlacedDevice[];
  readonly clock: SimClock;
  /** the fleet that the plant joins; null: none */
  readonly joined: ShardStart | null;
  readonly wall: WallClock;
  readonly faults: FaultRegistry;
  readonly commAlarms: CommAlarms;
  readonly logBook: Pick<LogBook, 'logger'>;
  /** version of the simulator */
  readonly version: string;
  /** true: OCPP is on */
  readonly centralAuthority: () => boolean;
}

/** @throws SimError CONFIG_INVALID for profiles and series that do not fit */
export function createConfiguredPlant(config: AppConfig, setup: PlantSetup): SimPlant {
  const { devices, clock, joined, wall, faults, commAlarms, logBook, version, centralAuthority } = setup;
  const { profilePath: gridProfile } = config.grid;
  return createPlant({
    devices: devices.map(({ index, config: device, series }) => ({ ...device, index, series })),
    firstIndex: config.firstDevice,
    mayBeEmpty: config.devices.length > 0,
    clock,
    tickIntervalS: config.tickS,
    nominalHz: config.grid.nominalFrequencyHz,
    seed: config.seed,
    spreadPct: config.deviceSpreadPct,
    ...(joined && {
      joins: { start: joined.record.startUs, tick: joined.tick },
      spreadAnchor: ({ profile }) => joined.anchorOf(profile),
    }),
    version,
    log: logBook.logger('AC'),
    dcLog: logBook.logger('DC'),
    weatherSource: config.irradianceSource,
    clouds: config.clouds,
    gridProfile: gridProfile === null ? null : parseGridProfile(readFileSync(gridProfile, 'utf8'), gridProfile),
    feeder: config.grid.feeder,
    simModels: config.simModels,
    meter: config.meter,
    ...(usesRtuFrames(config) && { unitAddressOf: startAddressOf(config) }),
    monotonicMs: () => wall.monotonicMs(),
    faults,
    commAlarms,
    centralAuthority,
  });
}

/** True if Modbus masters use RTU frames, on a serial line or over TCP: 1.DA then shows the address of a device. */
function usesRtuFrames({ modbus, rtu }: AppConfig): boolean {
  return rtu !== null || (modbus.enabled && modbus.framing === 'rtu_over_tcp');
}

/** On a serial line and on a shared TCP port each device has its own address, otherwise all devices have address 1. */
function startAddressOf({ modbus, rtu }: AppConfig): (index: number) => number {
  return rtu !== null || modbus.sharedPort ? (index) => 1 + index - modbus.countsFrom : () => 1;
}

export function tickerOf({ tickS }: Pick<AppConfig, 'tickS'>, plant: SimPlant, wall: WallClock): Ticker {
  const ticker = new Ticker({
    intervalMs: tickS * 1000,
    wall,
    tick: async (slots) => {
      try {
        await plant.tick(slots);
      } finally {
        plant.skippedTicks = ticker.skipped;
      }
    },
  });
  return ticker;
}

const bundled = {
  irradiance: { path: packageFile('config/series/pv-clear-day.csv'), name: 'pv-clear-day' },
  wind: { path: packageFile('config/series/wind-week.csv'), name: 'wind-week' },
} as const;

const loadColumns: readonly SeriesColumn[] = [{ name: 'load_kw', required: true, min: 0, max: 1e6 }];

/** The text of a series; weather files in other formats are converted to a series of irradiance. */
function textOf(path: string, columns: readonly SeriesColumn[]): string {
  const text = readFileSync(path, 'utf8');
  return columns === weatherColumns ? weatherTable(text) : text;
}

/** Series that come with the program, by key and end: they do not change while it runs. */
const bundledTables = new Map<string, Series>();

/** The returned function throws SimError CONFIG_INVALID, which names the invalid lines of a series. */
export function deviceSeriesReader(config: Pick<AppConfig, 'seriesEnd' | 'windTimeScale'>): SeriesOf {
  const { seriesEnd: end } = config;
  const tables = new Map<string, Series>();
  const plans = new Map<string, VisitPlan>();

  function table(path: string, name: string, columns: readonly SeriesColumn[]): Series {
    const isBundled = Object.values(bundled).some((each) => each.path === path);
    const [kept, key] = [isBundled ? bundledTables : tables, `${columns[0]?.name ?? ''} ${end} ${path}`];
    const series = kept.get(key) ?? parseSeries(textOf(path, columns), { name, columns, end });
    kept.set(key, series);
    return series;
  }

  function dc({ assetType, series }: DeviceConfig): DeviceSeries['dc'] {
    const { dcSeries } = kindTable[assetType];
    if (dcSeries === null) return null;
    const bundledSeries = bundled[dcSeries];
    const columns = dcSeries === 'wind' ? windColumns : weatherColumns;
    return {
      series: table(series.dc ?? bundledSeries.path, series.dc ?? bundledSeries.name, columns),
      name: series.dc === null ? bundledSeries.name : basename(series.dc),
      timeScale: dcSeries === 'wind' ? config.windTimeScale : 1,
    };
  }

  function visits(path: string | null): VisitPlan | null {
    if (path === null) return null;
    const plan = plans.get(path) ?? parseVisits(readFileSync(path, 'utf8'), path, end);
    plans.set(path, plan);
    return plan;
  }

  return (device) => ({
    dc: dc(device),
    load: device.series.load === null ? null : table(device.series.load, device.series.load, loadColumns),
    visits: visits(device.series.vehicles),
  });
}
