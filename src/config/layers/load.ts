/** The configuration of a run, from a command line or from the options of a script. */
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { packageVersion } from '../../core/package-files.ts';
import { zoneOffsetMs } from '../../core/time/zone.ts';
import type { AppConfig, LoadResult } from '../settings/app-config.ts';
import { crossIssues } from '../issues/cross-issues.ts';
import { buildDevice, buildDevices, configuredEntries, nominalFrequency } from '../profile/devices.ts';
import { commonFaultList, commonFaults } from '../profile/fault-profiles.ts';
import { appConfig, gridProfilePath, proxyOf } from './run.ts';
import { systemIo, configFileOf, readConfigFile } from './files.ts';
import type { ConfigIo, ConfigFile } from './files.ts';
import { parseFlags } from './flags.ts';
import { gather, gatheredWith, mergeLayers, nothingInline, originWordOf, presetLayer } from './gather.ts';
import type { Gathered, Inline } from './gather.ts';
import { helpText } from './help.ts';
import { createProfileCache, ProfileStore } from '../profile/profiles.ts';
import { settingOf } from '../settings/settings.ts';
import type { SettingKey, Values } from '../settings/settings.ts';
import { bundledExamplePath } from '../profile/bundled.ts';
import { refused } from '../issues/issues.ts';

const msPerHour = 3_600_000;
const proxyKeys = ['proxy', 'proxy_host', 'proxy_port'] as const;

/** Longitude, degrees east, at which the sun is highest near 12:00 of the clock, so that the default start has sun. */
function noonLongitude(values: Values): number {
  const offsetMs = zoneOffsetMs(values.wall_clock_timezone, Date.parse(`${values.start_date}T12:00:00Z`));
  const degrees = (15 * offsetMs) / msPerHour;
  return degrees > 180 ? degrees - 360 : degrees;
}

/**
 * The configuration of a run: flag over environment variable over configuration file over default.
 * @param argv the command line without program and script
 * @param env environment; only variables that begin with `DERBENCH_` are read
 * @param inline configuration given by a calling program
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
  const completeIo: ConfigIo = {
    cwd: io.cwd ?? systemIo.cwd,
    readFile: io.readFile ?? systemIo.readFile,
    isFile: io.isFile ?? systemIo.isFile,
  };
  return { kind: 'run', config: buildConfig(gather(flags.values, env, completeIo, issues, inline), issues) };
}

/**
 * The configuration of a run from all layers.
 * @param issues issues of earlier steps
 * @throws SimError CONFIG_INVALID with these and all further issues
 */
function buildConfig(gathered: Gathered, issues: Issue[]): AppConfig {
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
  // a refused value is left out, so that a further issue of its setting may be untrue
  const namesWithIssues = new Set(issues.map(({ name }) => name));
  const proxyIssues: Issue[] = [];
  const proxy = proxyOf(gathered, proxyIssues);
  issues.push(...crossIssues(gathered, list, proxy).filter(({ name }) => !namesWithIssues.has(name)));
  const gridPath = gridProfilePath(gathered, issues);
  issues.push(...proxyIssues);
  const startFaults = commonFaults(gathered, issues);
  refuseIssues(issues);
  // a device that is added later uses the settings, not the list `devices`, and its issues name settings without origin
  const nameOf = (key: SettingKey) => `the setting ${key}`;
  const settings: Gathered = {
    ...gathered,
    originOf: nameOf,
    file: gathered.file && { ...gathered.file, devices: null },
  };
  const entries = configuredEntries(gathered.file);
  const deviceOf: AppConfig['deviceOf'] = (entry, index) =>
    buildDevice(
      { ...settings, trustedUrl: entries[index - values.first_device]?.ocpp?.url ?? null },
      (storeIssues) => new ProfileStore({ ...storeOptions, originOf: nameOf, issues: storeIssues }),
      entry,
      index,
      frequency,
    );
  const layers: AppConfig['settings'] = {
    values,
    originOf: (key) => originWordOf(gathered, key),
    directory: io.cwd,
    file: gathered.file,
    faultList: commonFaultList(gathered),
    with(over) {
      const changed = gatheredWith(gathered, over);
      const changedIssues: Issue[] = [];
      const changedProxy = proxyKeys.some((key) => over.has(key)) ? proxyOf(changed, changedIssues) : proxy;
      refuseIssues([...changedIssues, ...crossIssues(changed, list, changedProxy)]);
      return appConfig(changed, { ...parts, proxy: changedProxy }, gridPath);
    },
  };
  const parts = { devices: list.devices, deviceOf, proxy, faults: startFaults, frequency, settings: layers };
  return appConfig(gathered, parts, gridPath);
}

/** @throws SimError CONFIG_INVALID if there are issues */
function refuseIssues(issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`;
  throw new SimError('CONFIG_INVALID', `The configuration is not valid, ${count}:`, issues);
}

const label = 'options';
const blocks = ['devices', 'grid', 'faults'] as const;

/** The file that the option `config` names; null: none, or the option is not valid. */
function namedFile(path: unknown, io: ConfigIo, issues: Issue[]): ConfigFile | null {
  if (path === undefined) return null;
  const { kind } = settingOf('config');
  const file = kind.read(path, io.cwd);
  if (typeof file === 'string') return readConfigFile(bundledExamplePath(file) ?? file, `${label}: config`, io, issues);
  issues.push(refused(`${label}: config`, path, kind.allowed));
  return null;
}

/**
 * The configuration of a run from the settings and blocks of a configuration file, given as an object. The ports of
 * `presetLayer` that the object omits are any free ports, even if the file in `config` sets them. The clock starts
 * paused unless the object says otherwise or the wall clock is followed.
 * @throws SimError CONFIG_INVALID with all issues at once
 */
export function configOfOptions(options: Readonly<Record<string, unknown>>, io: ConfigIo = systemIo): AppConfig {
  const issues: Issue[] = [];
  // same content as a file: no undefined members
  const { config, ...mapping } = JSON.parse(JSON.stringify(options)) as Record<string, unknown>;
  const baseFile = namedFile(config, io, issues);
  for (const block of blocks)
    if (config !== undefined && block in mapping)
      issues.push({ name: `${label}: ${block}`, detail: 'given beside config; allowed: one of the two' });
  const inlineFile = configFileOf({ mapping, directory: io.cwd, label }, issues);
  const settings = new Map([...(baseFile?.settings ?? []), ...inlineFile.settings]);
  const presets = presetLayer({ usesFreePorts: true, isPaused: true }, settings);
  const file = { ...(baseFile ?? inlineFile), settings };
  const gathered: Gathered = {
    values: mergeLayers([baseFile?.settings ?? new Map(), presets, inlineFile.settings]),
    file,
    layers: { flags: new Map(), env: new Map(), file: settings },
    io,
    ignoredVariables: [],
    kindsKnown: issues.length === 0,
    originOf: (key) => (settings.has(key) ? `${inlineFile.settings.has(key) ? label : file.label}: ${key}` : key),
  };
  return buildConfig(gathered, issues);
}
