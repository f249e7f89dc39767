/** The configuration of a run, from a command line or from the options of a script. */
import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pointerStep, SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { packageVersion } from '../../core/package-files.ts';
import { zoneOffsetMs } from '../../core/time/zone.ts';
import type { AppConfig, LoadResult } from '../settings/app-config.ts';
import { crossIssues } from '../issues/cross-issues.ts';
import { buildDevice, buildDevices, configuredEntries, nominalFrequency } from '../profile/devices.ts';
import { commonFaultList, commonFaults } from '../profile/fault-profiles.ts';
import { appConfig, gridProfilePath, proxyOf } from './run.ts';
import { configFileOf, foreignFileText, limitedIo, readConfigFile, rememberingIo, systemIo } from './files.ts';
import type { ConfigIo, ConfigFile } from './files.ts';
import { parseFlags } from './flags.ts';
import { gather, gatheredWith, mergeLayers, nothingInline, originWordOf, presetLayer } from './gather.ts';
import type { Gathered, Inline } from './gather.ts';
import { helpText } from './help.ts';
import { withOrdinal } from './places.ts';
import { createProfileCache, ProfileStore } from '../profile/profiles.ts';
import { flagOf, isHeld, settingKeys, settingOf } from '../settings/settings.ts';
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
  const remembering = rememberingIo(completeIo);
  const gathered = gather(flags.values, env, remembering, issues, inline);
  return { kind: 'run', config: buildConfig(gathered, issues, remembering.files) };
}

/** Prefix of the names of issues of a lab that a request loads. */
const labLabel = 'lab';

/** `/devices/1/profile` from `lab: devices[1].profile`; other names stay. */
function labPointer(issue: Issue): Issue {
  const [, path] = /^lab(?:: (.*))?$/s.exec(issue.name) ?? [];
  if (path === undefined) return issue;
  const steps = path.replace(/\[(\d+)\]/g, '.$1').split('.');
  return { ...issue, name: steps.map(pointerStep).join('') };
}

/**
 * The configuration of another lab in the same process: settings that no request changes have their values, and files are
 * those of the first configuration.
 * @throws SimError CONFIG_INVALID with all issues, those of `mapping` with JSON pointers
 */
function labConfig(
  { values, io, layers, originOf }: Gathered,
  files: ReadonlySet<string>,
  mapping: Readonly<Record<string, unknown>>,
): AppConfig {
  const fileIssues: Issue[] = [];
  const file = configFileOf({ mapping, directory: io.cwd, label: labLabel }, fileIssues);
  const issues = fileIssues.map(labPointer);
  for (const [key, value] of file.settings) {
    const { changes, kind } = settingOf(key);
    const name = pointerStep(key);
    if (isDeepStrictEqual(value, values[key])) continue;
    if (isHeld(key) && changes.by === 'start')
      issues.push({ name, detail: `is not changed by a request. ${changes.why}` });
    else if (kind.isFile === true && [value].flat().some((path) => isForeign(path, files)))
      issues.push({ name, detail: foreignFileText });
  }
  const held = new Map(settingKeys.filter(isHeld).map((key) => [key, values[key]]));
  const heldIn = (layer: ReadonlyMap<SettingKey, unknown>) =>
    new Map([...layer].filter(([key]) => held.has(key) && !file.settings.has(key)));
  try {
    return buildConfig(
      {
        values: withOrdinal(mergeLayers([file.settings, held]), file),
        file,
        layers: { flags: heldIn(layers.flags), env: heldIn(layers.env), file: file.settings },
        io: limitedIo(io, files),
        requested: new Set(
          [...file.settings.keys()].filter((key) => !isDeepStrictEqual(file.settings.get(key), values[key])),
        ),
        hasRequestedDevices: true,
        ignoredVariables: [],
        kindsKnown: issues.length === 0,
        originOf: (key) => (isHeld(key) && !file.settings.has(key) ? originOf(key) : pointerStep(key)),
        nameOfMissing: (key) => (isHeld(key) ? flagOf(key) : pointerStep(key)),
      },
      issues,
      files,
    );
  } catch (error) {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    throw new SimError(error.code, error.message, error.issues.map(labPointer));
  }
}

const isForeign = (path: unknown, files: ReadonlySet<string>) =>
  typeof path === 'string' && isAbsolute(path) && !files.has(path);

/**
 * The configuration of a run from all layers.
 * @param issues issues of earlier steps
 * @param files files that a lab loaded later may name
 * @throws SimError CONFIG_INVALID with these and all further issues
 */
function buildConfig(gathered: Gathered, issues: Issue[], files: ReadonlySet<string>): AppConfig {
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
    files,
    file: gathered.file,
    faultList: commonFaultList(gathered),
    with(over, certificates, change) {
      const changed = gatheredWith(gathered, over, certificates);
      const changedIssues: Issue[] = [];
      const newProxy = () => (proxyKeys.some((key) => over.has(key)) ? proxyOf(changed, changedIssues) : proxy);
      const changedProxy = change && !change.opened.has('proxy') ? change.former.proxy : newProxy();
      refuseIssues([...changedIssues, ...crossIssues(changed, list, changedProxy, change?.opened)]);
      return appConfig(changed, { ...parts, proxy: changedProxy }, gridPath, change);
    },
    lab: (mapping) => labConfig(gathered, files, mapping),
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
const blocks = ['devices', 'grid', 'faults', 'findings'] as const;

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
  const remembering = rememberingIo(io);
  // same content as a file: no undefined members
  const { config, ...mapping } = JSON.parse(JSON.stringify(options)) as Record<string, unknown>;
  const baseFile = namedFile(config, remembering, issues);
  for (const block of blocks)
    if (config !== undefined && block in mapping)
      issues.push({ name: `${label}: ${block}`, detail: 'given beside config; allowed: one of the two' });
  const inlineFile = configFileOf({ mapping, directory: io.cwd, label }, issues);
  const settings = new Map([...(baseFile?.settings ?? []), ...inlineFile.settings]);
  const presets = presetLayer({ usesFreePorts: true, isPaused: true }, settings);
  const file = { ...(baseFile ?? inlineFile), settings };
  const gathered: Gathered = {
    values: withOrdinal(mergeLayers([baseFile?.settings ?? new Map(), presets, inlineFile.settings]), file),
    file,
    layers: { flags: new Map(), env: new Map(), file: settings },
    io: remembering,
    requested: new Set(),
    ignoredVariables: [],
    kindsKnown: issues.length === 0,
    nameOfMissing: flagOf,
    originOf: (key) => (settings.has(key) ? `${inlineFile.settings.has(key) ? label : file.label}: ${key}` : key),
  };
  return buildConfig(gathered, issues, remembering.files);
}
