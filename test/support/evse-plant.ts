import { simTimeFromMs, systemClock } from '../../src/core/time/clock.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { localDateMs, SimClock } from '../../src/core/time/sim-clock.ts';
import { createPlant } from '../../src/der/plant/create-plant.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { configuredDevices } from './configured.ts';

/** In a list of stations: a PV device in this place. */
export const pvBeside = 'PV-3Phase';

/** Stations of bundled profiles at noon with a paused clock; start delay and random numbers follow from the seed. */
export function evsePlant(profiles: readonly string[] = ['EVSE-AC-22kW-1port'], firstIndex = 0): SimPlant {
  const devices = profiles.flatMap((profile) =>
    profile === pvBeside ? configuredDevices('--device_type', profile) : configuredDevices('--evse_profile', profile),
  );
  const clock = new SimClock(
    systemClock,
    { mode: 'paused', rate: 1, timezone: 'UTC' },
    simTimeFromMs(localDateMs('2026-06-21', '12:00:00', 'UTC')),
  );
  return createPlant({
    devices,
    firstIndex,
    clock,
    tickIntervalS: 1.5,
    nominalHz: 60,
    seed: 1,
    version: '0.1.0',
    log: silentLogger,
    weatherSource: 'csv',
    clouds: 'clear',
    feeder: null,
    gridProfile: null,
    monotonicMs: () => systemClock.monotonicMs(),
  });
}
