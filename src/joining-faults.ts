/** Faults that the profile of a device gives it when it joins a running simulator. */
import type { DeviceConfig } from './config/settings/app-config.ts';
import type { Device } from './contract/device.ts';
import { SimError } from './core/errors.ts';
import type { FaultRegistry } from './core/faults/registry.ts';
import { simTimeFromMs } from './core/time/clock.ts';
import type { WallClock } from './core/time/clock.ts';
import { silentLogger } from './core/log/log.ts';
import { effectCheck } from './der/faults/follow.ts';
import { deviceEffectFaults } from './fault-kinds/device-effect.ts';
import { configIssue, configured, createFaultRegistry, setsOfProfile } from './fault-setup.ts';

export interface JoiningFaults {
  /**
   * Checks them before the device is visible.
   * @throws SimError CONFIG_INVALID for faults that do not fit it, named from the root of the profile
   */
  check(device: Device, config: DeviceConfig): void;
  /** @throws SimError COMMAND_CONFLICT when there is no room for them */
  begin(device: Device, config: DeviceConfig): void;
}

/** The registry cannot look at a device that has not joined yet, so one of its own stands for it. */
function registryOf(device: Device, wall: WallClock): FaultRegistry {
  const registry = createFaultRegistry({
    wall,
    sim: () => simTimeFromMs(0),
    seed: 0,
    log: silentLogger,
    plant: () => ({ devices: [device], device: () => device, meter: null }),
  });
  registry.define(
    deviceEffectFaults,
    effectCheck(() => device.bank.layout),
  );
  return registry;
}

export function joiningFaults(registry: FaultRegistry, wall: WallClock): JoiningFaults {
  return {
    check(device, config) {
      const sets = setsOfProfile(config, [device.index]);
      if (sets.length === 0) return;
      const trial = registryOf(device, wall);
      try {
        trial.injectSets(sets, configured);
      } catch (error) {
        if (!(error instanceof SimError) || error.issues.length === 0) throw error;
        const places = sets.flatMap((set) => set.places);
        const issues = error.issues.map((issue) => configIssue(issue, places));
        throw new SimError(
          'CONFIG_INVALID',
          'The faults of the profile do not fit the device:',
          issues.map((issue) => ({ ...issue, name: issue.name.replace(/^profile: /, '') })),
        );
      } finally {
        trial.close();
      }
    },
    begin(device, config) {
      registry.injectSets(setsOfProfile(config, [device.index]), configured);
    },
  };
}
