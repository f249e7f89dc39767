/** The scenarios of the gateway of a fleet. */
import type { AppConfig } from '../../config/settings/app-config.ts';
import type { RunReport } from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { FleetBook } from '../../fleet/gateway/lead.ts';
import type { FleetGround, ShardSettings } from '../../fleet/gateway/scenarios/ground.ts';
import type { RunningConfig } from './fit.ts';
import type { ScenarioGround } from './ground.ts';
import { KeptScenarios } from './kept.ts';

interface FleetBookParts {
  /** that of the gateway, which has the defaults of all settings of devices */
  readonly config: RunningConfig & Pick<AppConfig, 'seed'>;
  readonly wall: WallClock;
  readonly later: Later;
  readonly version: string;
  readonly buildId: string;
}

class FleetScenarios extends KeptScenarios implements FleetBook {
  addEnded(report: RunReport): void {
    this.runs.addEnded(report);
  }
}

/** The settings of the shards, over their defaults. */
function runningConfig(defaults: RunningConfig, shards: ShardSettings): RunningConfig {
  const { irradiance_source: source, clouds, grid } = shards;
  const feeder = grid?.feeder;
  return {
    deviceOf: defaults.deviceOf,
    irradianceSource: (source ?? defaults.irradianceSource) as RunningConfig['irradianceSource'],
    clouds: (clouds ?? defaults.clouds) as RunningConfig['clouds'],
    grid: {
      ...defaults.grid,
      nominalFrequencyHz: grid?.nominal_frequency_hz ?? defaults.grid.nominalFrequencyHz,
      feeder: feeder ? { scr: feeder.short_circuit_ratio, xOverR: feeder.x_over_r } : null,
    },
  };
}

/** The scenarios of a gateway that starts none beside its shards. */
export function fleetBook(ground: FleetGround, { config, wall, later, version, buildId }: FleetBookParts): FleetBook {
  const { seed: defaultSeed } = config;
  let seed = defaultSeed;
  const checked: ScenarioGround = {
    get mode() {
      return ground.mode;
    },
    get laidOut() {
      return ground.laidOut;
    },
    hasCsip: ground.hasCsip,
    otherWays: ground.otherWays,
    async fitted(count) {
      const [devices, settings] = [await ground.ratedDevices(count), await ground.settings()];
      return { devices, config: runningConfig(config, settings) };
    },
    read: (scenario) => ground.read(scenario),
    issues: (scenario) => ground.issues(scenario),
    async begin(scenario, pace) {
      seed = (await ground.settings()).seed ?? defaultSeed;
      return ground.begin(scenario, pace);
    },
    begun: (run) => {
      ground.begun(run);
    },
  };
  return new FleetScenarios({
    ground: checked,
    wall,
    later,
    shelf: null,
    origin: {
      version,
      buildId,
      get seed() {
        return seed;
      },
    },
    build() {
      throw new SimError('COMMAND_CONFLICT', 'a gateway starts no simulator beside its shards');
    },
  });
}
