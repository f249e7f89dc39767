/** Devices and clock for which scenarios are checked, and on which they run: those of a simulator, or of a fleet. */
import type { CsipEvents } from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
import type { RunPace } from '../../contract/scenarios.ts';
import type { Issue } from '../../core/errors.ts';
import type { ClockMode } from '../../core/time/clock.ts';
import type { LaidOutPlant } from '../../scenario/file/layout.ts';
import type { Scenario } from '../../scenario/model.ts';
import type { ScenarioHost } from '../../scenario/run/host.ts';
import type { ScenarioRun } from '../../scenario/run/run.ts';
import type { FittedDevice, RunningConfig } from './fit.ts';

/** Devices and settings beside which the `config` of a scenario is compared. */
export interface Fitted {
  readonly devices: readonly FittedDevice[];
  readonly config: RunningConfig;
}

export interface ScenarioGround {
  readonly mode: ClockMode;
  /** devices with the points that scenarios name, as far as `read` has read them */
  readonly laidOut: LaidOutPlant;
  readonly hasCsip: boolean;
  /** advice for a scenario that is for other devices, in words */
  readonly otherWays: string;
  /** @param count number of devices that are compared, the first ones */
  fitted(count: number): Fitted | Promise<Fitted>;
  /** Reads what a check and a run of the scenario need of the devices; absent: all of it is here. */
  read?(scenario: Scenario): Promise<void>;
  /** Issues of steps that cannot be carried out here. */
  issues(scenario: Scenario): readonly Issue[];
  /**
   * The host of a run that begins now.
   * @throws SimError COMMAND_CONFLICT where another one has the clock
   */
  begin(scenario: Scenario, pace: RunPace): ScenarioHost | Promise<ScenarioHost>;
  /** Called with the run that has begun on the host. */
  begun?(run: Pick<ScenarioRun, 'abort' | 'report' | 'finished'>): void;
}

interface SimulatorParts {
  readonly plant: Plant;
  readonly config: RunningConfig;
  readonly csip: Pick<CsipEvents, 'enabled'>;
  readonly hostOf: (name: string) => ScenarioHost;
}

/** The ground of a single process. */
export const groundOf = ({ plant, config, csip, hostOf }: SimulatorParts): ScenarioGround => ({
  get mode() {
    return plant.time.mode;
  },
  laidOut: plant,
  get hasCsip() {
    return csip.enabled;
  },
  otherWays: 'POST scenario-runs starts a simulator for the scenario, and so does derbench run',
  fitted: () => ({ devices: plant.devices, config }),
  issues: () => [],
  begin: ({ name }) => hostOf(name),
});
