/** The keeping of a configured plant: marks of the configurations of its devices, and settings of its clock. */
import type { AppConfig, DeviceConfig } from '../config/settings/app-config.ts';
import type { Kept } from '../core/kept.ts';
import type { Logger } from '../core/log/log.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { SimClock } from '../core/time/sim-clock.ts';
import { callEvery } from '../core/time/timers.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import type { PlacedDevice } from './devices/placed.ts';
import { followClockSettings } from './kept-clock.ts';
import { PlantKeeping } from './keeping.ts';
import { configurationMarks } from './kept-fit.ts';
import type { State } from './state.ts';

interface KeptPlant {
  readonly plant: SimPlant;
  readonly clock: SimClock;
  readonly state: State;
  readonly log: Logger;
  readonly wall: WallClock;
  readonly unfit: ReadonlySet<string>;
  readonly faults: Kept;
  readonly devices: readonly PlacedDevice[];
  readonly onRefusal: (reason: string | null) => void;
  /** configuration of a device that a request has added or changed while the simulator runs */
  readonly requested: (deviceIndex: number) => DeviceConfig | undefined;
}

/**
 * A plant with the state of an earlier process; null: no state is kept.
 * @throws UnfitState
 */
export function keepPlant(
  config: AppConfig,
  { plant, clock, state, log, wall, unfit, faults, devices, onRefusal, requested }: KeptPlant,
): PlantKeeping | null {
  if (config.stateDir === null) return null;
  const marksOf = configurationMarks(config);
  const atStart = new Map(devices.map((device) => [device.index, device.config]));
  const keeping = new PlantKeeping({
    plant,
    state,
    log,
    every: callEvery,
    monotonicMs: () => wall.monotonicMs(),
    unfit,
    onRefusal,
    marksOf(index) {
      const device = requested(index) ?? atStart.get(index);
      return device ? marksOf(device) : { configuration: '', fits: [] };
    },
  });
  keeping.restore(faults);
  followClockSettings(keeping.add.bind(keeping), clock, config.clock);
  return keeping;
}
