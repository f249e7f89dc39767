import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { packageVersion } from '../../core/package-files.ts';
import { zoneOffsetMs } from '../../core/time/zone.ts';
import type { AppConfig, LoadResult } from '../settings/app-config.ts';
import { crossIssues } from '../issues/cross-issues.ts';
import { buildDevice, buildDevices } from '../profile/devices.ts';
import { nominalFrequency } from '../profile/nominal-frequency.ts';
import { commonFaults } from '../profile/fault-profiles.ts';
import { appConfig, gridProfilePath, proxyOf } from './run.ts';
import { systemIo } from './files.ts';
import type { ConfigIo } from './files.ts';
import { parseFlags } from './flags.ts';
import { gather, nothingInline } from './gather.ts';
import type { Gathered, Inline } from './gather.ts';
import { helpText } from './help.ts';
import { createProfileCache, ProfileStore } from '../profile/profiles.ts';
import type { SettingKey, Values } from '../settings/settings.ts';

const msPerHour = 3_600_000;

/** Degrees east at which the sun is highest near 12:00 of the clock, so that a start at noon finds the sun. */
function noonLongitude(values: Values): number {
  const offsetMs = zoneOffsetMs(values.wall_clock_timezone, Date.parse(`${values.start_date}T12:00:00Z`));
  const degrees = (15 * offsetMs) / msPerHour;
  return degrees > 180 ? degrees - 360 : degrees;
}

/**
 * The configuration of a run: flag over environment variable over configuration file over default.
 * @param argv the command line without program and script
 * @param env environment; variables that begin with `DERBENCH_` count
 * @param inline a configuration that the program code brings along
 * @throws SimError CONFIG_INVALID with all issues of all layers at once
 */
export function loadConfig(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  io: Partial<ConfigIo> = {},
  inline: Inline = nothingInline,
): LoadResult {
  const flags = parseFlags(argv);
  if (flags.help) return { kind: 'help', text: helpText() };
  if (flags.version) return { kind: 'version', text: `derbench ${packageVersion()}` };

  const issues: Issue[] = [...flags.issues];
  const realIo: ConfigIo = {
    cwd: io.cwd ?? systemIo.cwd,
    readFile: io.readFile ?? systemIo.readFile,
    isFile: io.isFile ?? systemIo.isFile,
  };
  return { kind: 'run', config: configured(gather(flags.values, env, realIo, issues, inline), issues) };
}

/**
 * The configuration of a run from everything that was given.
 * @param issues those found so far
 * @throws SimError CONFIG_INVALID with them and all others at once
 */
export function configured(gathered: Gathered, issues: Issue[]): AppConfig {
  const { values, originOf, io } = gathered;
  const storeOptions = {
    io,
    longitudeDeg: noonLongitude(values),
    values,
    originOf,
    cache: createProfileCache(),
  };
  const list = buildDevices(gathered, new ProfileStore({ ...storeOptions, issues }), issues);
  const frequency = nominalFrequency(gathered, list.devices, issues);
  // a setting whose value was refused counts as not given
  const named = new Set(issues.map(({ name }) => name));
  issues.push(...crossIssues(gathered, list).filter(({ name }) => !named.has(name)));
  const gridPath = gridProfilePath(gathered, issues);
  const proxy = proxyOf(gathered, issues);
  const startFaults = commonFaults(gathered, issues);
  if (issues.length > 0) {
    const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`;
    throw new SimError('CONFIG_INVALID', `The configuration is not valid, ${count}:`, issues);
  }
  // a device that is added later uses the settings only, and its issues name settings without their origin
  const nameOf = (key: SettingKey) => `the setting ${key}`;
  const settings: Gathered = {
    ...gathered,
    originOf: nameOf,
    file: gathered.file && { ...gathered.file, devices: null },
  };
  const deviceOf: AppConfig['deviceOf'] = (entry, index) =>
    buildDevice(
      settings,
      (storeIssues) => new ProfileStore({ ...storeOptions, originOf: nameOf, issues: storeIssues }),
      entry,
      index,
      frequency,
    );
  return appConfig(gathered, { devices: list.devices, deviceOf, proxy, faults: startFaults, frequency }, gridPath);
}
