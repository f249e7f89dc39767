/** A simulator of its own for a scenario, built from the configuration in the scenario. */
import { resolve } from 'node:path';
import { isBundledExample } from '../../config/profile/bundled.ts';
import { unknownName } from '../../config/issues/issues.ts';
import type { ConfigIo } from '../../config/layers/files.ts';
import { knownSpellings, parseFlags } from '../../config/layers/flags.ts';
import { loadConfig } from '../../config/layers/load.ts';
import type { Presets } from '../../config/layers/gather.ts';
import type { Plant } from '../../contract/plant.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import { SimError } from '../../core/errors.ts';
import { createLogBook } from '../../core/log/log.ts';
import type { LogBook } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { runFlags } from '../../scenario/command.ts';
import type { ScenarioCommand } from '../../scenario/command.ts';
import { layoutIssues } from '../../scenario/file/layout.ts';
import { configOfScenario, readScenario } from '../../scenario/file/read.ts';
import { invalidScenario } from '../../scenario/file/source.ts';
import type { Source } from '../../scenario/file/source.ts';
import type { Scenario } from '../../scenario/model.ts';
import { placeText } from '../../scenario/model.ts';
import { checkRequest, scenarioNames } from './checks.ts';

/** Builds a simulator; nothing is bound yet. `createApp` is one: this file stands below the parts of a simulator. */
export type Build<A> = (config: AppConfig, options: BuildOptions) => A;

interface BuildOptions {
  readonly wall?: WallClock;
  readonly later?: Later;
  readonly logBook: LogBook;
  readonly onStopRequest: () => void;
}

/** A simulator that is not started, and the scenario checked against it. */
export interface Prepared<A> {
  readonly app: A;
  readonly config: AppConfig;
  readonly scenario: Scenario;
  /** Calls `listener` at `POST stop`. */
  readonly whenStopped: (listener: () => void) => void;
}

/** Scenario and circumstances of a simulator. */
export interface Order extends Pick<ScenarioCommand, 'flags' | 'parameters' | 'pace' | 'usesFreePorts'> {
  readonly source: Source;
  /** name of a scenario that has none */
  readonly name: string;
  /** name of the file in issues of its configuration */
  readonly label: string;
  /** folder of paths in its configuration */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** files that the configuration may name; absent: all */
  readonly io?: Partial<ConfigIo>;
  /** absent: no bound but that of every simulator */
  readonly maxDevices?: number;
  /** absent: those of the machine */
  readonly clocks?: Pick<BuildOptions, 'wall' | 'later'>;
}

/** Flags of the simulator, and the configuration in the scenario. @throws SimError CONFIG_INVALID */
function layersOf({ flags, parameters, pace, usesFreePorts, source, label, directory }: Order) {
  const presets: Presets = { usesFreePorts, isPaused: pace !== 'real' };
  const config = configOfScenario(source, parameters);
  if (typeof config !== 'string') {
    const mapping = config && { mapping: config, directory, label: `${label}: config` };
    return { flags, inline: { mapping, presets } };
  }
  const hasConfigFlag = parseFlags(flags).values.has('config');
  const configFlag = hasConfigFlag ? [] : ['--config', isBundledExample(config) ? config : resolve(directory, config)];
  return { flags: [...configFlag, ...flags], inline: { mapping: null, presets } };
}

/**
 * Runs `load`; the issue of an unknown flag also names flags of `derbench run`.
 * @param isRun false: the command line has `--scenario`, which excludes those flags
 */
function withFlagsOfRun<T>(isRun: boolean, load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    const issues = error.issues.map((issue) => {
      if (issue.allowed !== knownSpellings) return issue;
      if (isRun) return unknownName(issue.name, 'flag', issue.name, [...runFlags, ...knownSpellings]);
      return runFlags.includes(issue.name)
        ? { name: issue.name, detail: 'is a flag of derbench run FILE; it cannot be given together with --scenario' }
        : issue;
    });
    throw new SimError('CONFIG_INVALID', error.message, issues);
  }
}

/** Runs `load`; issues of the configuration in a scenario get its lines. @param label of the configuration in issues */
function atLines<T>(source: Source, label: string | null, load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (label === null || !(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    const issues = error.issues.map((issue) => {
      if (!issue.name.startsWith(`${label}: `)) return issue;
      const keys = issue.name
        .slice(label.length + 2)
        .replace(/\[(\d+)\]/g, '.$1')
        .split('.');
      const path = keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
      return { ...issue, name: placeText(source.place(['config', ...path])) };
    });
    throw new SimError('CONFIG_INVALID', error.message, issues);
  }
}

/** @throws SimError CONFIG_INVALID for too many devices */
function checkDevices({ devices }: AppConfig, { source, maxDevices = Infinity }: Order): void {
  if (devices.length <= maxDevices) return;
  const detail = `has ${devices.length} devices; a run beside has at most ${maxDevices}, and derbench run takes more`;
  throw invalidScenario([{ name: placeText(source.place(['config'])), detail }]);
}

/** Builds the simulator and checks the scenario against it; nothing is bound yet. @throws SimError CONFIG_INVALID */
export function prepare<A extends { readonly plant: Plant }>(order: Order, build: Build<A>): Prepared<A> {
  const { source, name, usesFreePorts, parameters, env, io, clocks } = order;
  const { flags, inline } = layersOf(order);
  const loaded = atLines(source, inline.mapping?.label ?? null, () =>
    withFlagsOfRun(usesFreePorts, () => loadConfig(flags, { ...env, DERBENCH_SCENARIO: undefined }, io, inline)),
  );
  if (loaded.kind !== 'run')
    throw invalidScenario([{ name: `--${loaded.kind}`, detail: 'is allowed only without a scenario' }]);
  checkDevices(loaded.config, order);
  let onStop: () => void = () => undefined;
  const app = build(loaded.config, {
    ...clocks,
    logBook: createLogBook({ write: () => undefined }),
    onStopRequest: () => {
      onStop();
    },
  });
  const hasCsip = loaded.config.csip !== null;
  const scenario = readScenario(source, name, parameters, checkRequest, (read) =>
    layoutIssues(read, { plant: app.plant, hasCsip, names: scenarioNames() }),
  );
  const whenStopped = (listener: () => void) => {
    onStop = listener;
  };
  return { app, config: loaded.config, scenario, whenStopped };
}
