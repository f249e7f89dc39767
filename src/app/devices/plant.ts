/** Clock and plant of a configuration. */
import { readFileSync } from 'node:fs';
import type { AppConfig } from '../../config/settings/app-config.ts';
import type { CommAlarms } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { LogBook, Logger } from '../../core/log/log.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { remoteClocks } from '../../core/time/remote-clock.ts';
import type { RemoteClockFactory } from '../../core/time/remote-clock.ts';
import { localDateMs, SimClock } from '../../core/time/sim-clock.ts';
import { Ticker } from '../../core/time/ticker.ts';
import type { Later } from '../../core/time/timers.ts';
import { createPlant } from '../../der/plant/create-plant.ts';
import type { SimPlant } from '../../der/plant/plant.ts';
import { parseGridProfile } from '../../der/surroundings/grid/profile.ts';
import type { SeriesOf } from './series.ts';

export function createClock({ clock }: Pick<AppConfig, 'clock'>, wall: WallClock): SimClock {
  const { followsWall, startsPaused, timezone, startDate, startTime, rate } = clock;
  const startMs = followsWall ? wall.nowMs() : localDateMs(startDate, startTime, timezone);
  const mode = followsWall ? 'wall_clock' : startsPaused ? 'paused' : 'accelerated';
  return new SimClock(wall, { mode, rate, timezone }, simTimeFromMs(startMs));
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

export interface PlantSetup {
  readonly clock: SimClock;
  readonly wall: WallClock;
  readonly faults: FaultRegistry;
  readonly commAlarms: CommAlarms;
  readonly seriesOf: SeriesOf;
  readonly logBook: Pick<LogBook, 'logger'>;
  /** of the simulator */
  readonly version: string;
}

/** @throws SimError CONFIG_INVALID for profiles and series that do not fit */
export function createConfiguredPlant(config: AppConfig, setup: PlantSetup): SimPlant {
  const { clock, wall, faults, commAlarms, seriesOf, logBook, version } = setup;
  const { profilePath: gridProfile } = config.grid;
  return createPlant({
    devices: config.devices.map((device) => ({ ...device, series: seriesOf(device) })),
    firstIndex: config.firstDevice,
    clock,
    tickIntervalS: config.tickS,
    nominalHz: config.grid.nominalFrequencyHz,
    seed: config.seed,
    spreadPct: config.deviceSpreadPct,
    version,
    log: logBook.logger('AC'),
    dcLog: logBook.logger('DC'),
    weatherSource: config.irradianceSource,
    clouds: config.clouds,
    gridProfile: gridProfile === null ? null : parseGridProfile(readFileSync(gridProfile, 'utf8'), gridProfile),
    feeder: config.grid.feeder,
    simModels: config.simModels,
    meter: config.meter,
    ...(hasLine(config) && { unitAddressOf: startAddressOf(config) }),
    monotonicMs: () => wall.monotonicMs(),
    faults,
    commAlarms,
    centralAuthority: config.ocpp !== null,
  });
}

/** Modbus masters use RTU frames, on a serial line or over TCP: 1.DA then shows the address of a device. */
function hasLine({ modbus, rtu }: AppConfig): boolean {
  return rtu !== null || (modbus.enabled && modbus.framing === 'rtu_over_tcp');
}

/** On a serial line and on a shared TCP port each device has an address of its own, otherwise all have address 1. */
function startAddressOf({ modbus, rtu }: AppConfig): (index: number) => number {
  return rtu !== null || modbus.sharedPort ? (index) => 1 + index : () => 1;
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
