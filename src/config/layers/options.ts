/** The configuration of a simulator that a script starts in its own process. */
import type { Issue } from '../../core/errors.ts';
import { bundledExamplePath } from '../profile/bundled.ts';
import { refused } from '../issues/issues.ts';
import type { AppConfig } from '../settings/app-config.ts';
import { settingOf } from '../settings/settings.ts';
import { configFileOf, readConfigFile, systemIo } from './files.ts';
import type { ConfigFile, ConfigIo } from './files.ts';
import type { Gathered } from './gather.ts';
import { configured } from './load.ts';
import { presetLayer } from './presets.ts';
import { mergeLayers } from './schema.ts';

const label = 'options';
const blocks = ['devices', 'grid', 'faults'] as const;

/** The file behind the option `config`; null: none was given. */
function namedFile(path: unknown, io: ConfigIo, issues: Issue[]): ConfigFile | null {
  if (path === undefined) return null;
  const { kind } = settingOf('config');
  const file = kind.read(path, io.cwd);
  if (typeof file === 'string') return readConfigFile(bundledExamplePath(file) ?? file, `${label}: config`, io, issues);
  issues.push(refused(`${label}: config`, path, kind.allowed));
  return null;
}

/**
 * The configuration of a run from the settings and blocks of a configuration file, given as an object. Ports that it
 * does not have are free ones, also where the file in `config` has others; the clock is paused.
 * @throws SimError CONFIG_INVALID with all issues at once
 */
export function configOfOptions(options: Readonly<Record<string, unknown>>, io: ConfigIo = systemIo): AppConfig {
  const issues: Issue[] = [];
  // as a file would have it: without members that are undefined
  const { config, ...mapping } = JSON.parse(JSON.stringify(options)) as Record<string, unknown>;
  const named = namedFile(config, io, issues);
  for (const block of blocks)
    if (config !== undefined && block in mapping)
      issues.push({ name: `${label}: ${block}`, detail: 'given beside config; allowed: one of the two' });
  const inlineFile = configFileOf({ mapping, directory: io.cwd, label }, issues);
  const fileSettings = new Map([...(named?.settings ?? []), ...inlineFile.settings]);
  const presets = presetLayer({ usesFreePorts: true, isPaused: true }, fileSettings);
  const settings = new Map([...(named?.settings ?? []), ...inlineFile.settings]);
  const file = { ...(named ?? inlineFile), settings };
  const gathered: Gathered = {
    values: mergeLayers([named?.settings ?? new Map(), presets, inlineFile.settings]),
    file,
    layers: { flags: new Map(), env: new Map(), file: settings },
    io,
    ignoredVariables: [],
    kindsKnown: issues.length === 0,
    originOf: (key) => (settings.has(key) ? `${inlineFile.settings.has(key) ? label : file.label}: ${key}` : key),
  };
  return configured(gathered, issues);
}
