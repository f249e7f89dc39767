/** Runs a scenario on a simulator of its own in this process, on free ports of the loopback interface. */
import { dirname } from 'node:path';
import { limitedIo, systemIo } from '../../config/layers/files.ts';
import { bundledExampleNames, isBundledExample } from '../../config/profile/bundled.ts';
import { settingGroups } from '../../config/settings/settings.ts';
import type { Plant } from '../../contract/plant.ts';
import type { RunReport, ScenarioStart } from '../../contract/scenarios.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Origin } from '../../core/origin.ts';
import { configOfScenario } from '../../scenario/file/read.ts';
import { invalidScenario } from '../../scenario/file/source.ts';
import type { Source } from '../../scenario/file/source.ts';
import { placeText } from '../../scenario/model.ts';
import type { ScenarioHost } from '../../scenario/run/host.ts';
import { ScenarioRun } from '../../scenario/run/run.ts';
import { prepare } from './simulator.ts';
import type { Build, Order } from './simulator.ts';

/** Groups of settings that open no port beyond loopback, reach no other machine and name no file. */
const allowedGroups: readonly string[] = [
  'Devices',
  'Kinds of devices',
  'Clock and ticks',
  'Sun, wind, load, vehicles and grid',
  'Findings about peers',
];
/** Blocks of a configuration, and the switch of Modbus, whose port is free and on loopback. */
const otherMembers: readonly string[] = ['devices', 'grid', 'faults', 'findings', 'mb_enable'];

/** Members of the groups that name a file to be written. */
const refusedMembers: readonly string[] = ['findings_report'];
/** Building devices and computing their ticks halts the running simulator, about 1 ms for each device. */
const maxDevices = 100;

/** Members of a configuration that a run beside takes. */
export const membersBeside = (): readonly string[] => [
  ...otherMembers,
  ...settingGroups
    .filter(({ title }) => allowedGroups.includes(title))
    .flatMap(({ settings }) => settings)
    .filter((key) => !refusedMembers.includes(key)),
];

/** Refuses settings that a request must not choose. @throws SimError CONFIG_INVALID */
function checkMembers(source: Source, config: ReturnType<typeof configOfScenario>): void {
  if (config === null) return;
  if (typeof config === 'string') {
    if (isBundledExample(config)) return;
    const detail = `must be a mapping of settings, or one of ${bundledExampleNames.join(', ')}`;
    throw invalidScenario([{ name: placeText(source.place(['config'])), detail }]);
  }
  const allowed = membersBeside();
  const issues = Object.keys(config)
    .filter((key) => !allowed.includes(key))
    .map((key) => ({
      name: placeText(source.place(['config', key])),
      detail:
        'is not allowed in a run beside, which has devices, clock and surroundings of its own; derbench run takes it' +
        didYouMean(key, allowed),
    }));
  if (issues.length > 0) throw invalidScenario(issues);
}

export interface BesideOrder {
  readonly source: Source;
  readonly name: string;
  /** file of a bundled scenario, whose configuration is trusted; null: the scenario is of a request */
  readonly file: string | null;
  readonly start: ScenarioStart;
  readonly by: Origin;
  readonly clocks: NonNullable<Order['clocks']>;
}

/** A run whose simulator ends with it. */
export interface BesideRun {
  readonly report: RunReport;
  readonly finished: Promise<RunReport>;
  readonly filledBytes: number;
  stop(): void;
}

/** The parts of a simulator that a run beside uses. */
export interface BesideApp {
  readonly plant: Plant;
  start(): Promise<unknown>;
  stop(): Promise<void>;
  scenarioHost(name: string): ScenarioHost;
}

/** @throws SimError CONFIG_INVALID, LISTEN_FAILED */
export async function startBeside(
  { source, name, file, start, by, clocks }: BesideOrder,
  build: Build<BesideApp>,
): Promise<BesideRun> {
  const { parameters = {}, pace = 'fast' } = start;
  const config = configOfScenario(source, parameters);
  if (file === null) checkMembers(source, config);
  const isTrusted = file !== null || typeof config === 'string';
  const order = {
    source,
    name,
    label: 'scenario',
    directory: file === null ? systemIo.cwd : dirname(file),
    flags: [],
    parameters,
    pace,
    usesFreePorts: true,
    env: {},
    clocks,
    maxDevices,
    ...(!isTrusted && { io: limitedIo(systemIo, new Set()) }),
  };
  const { app, scenario, whenStopped } = prepare(order, build);
  await app.start();
  try {
    const run = new ScenarioRun(scenario, app.scenarioHost(scenario.name), { pace, by });
    whenStopped(() => {
      run.stop();
    });
    const finished = run.finished.then(async (report) => {
      await app.stop();
      return report;
    });
    return {
      get report() {
        return run.report;
      },
      finished,
      filledBytes: scenario.filledBytes,
      stop: () => {
        run.stop();
      },
    };
  } catch (error) {
    await app.stop();
    throw error;
  }
}
