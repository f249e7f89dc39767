import { readFileSync } from 'node:fs';
import { SimError } from '../core/errors.ts';
import type { Fault } from '../core/errors.ts';
import type { AppConfig, DeviceConfig, LoadResult } from './app-config.ts';
import { deviceTypes } from './device-types.ts';
import { refused, unknownName } from './faults.ts';
import { readConfigFile, systemIo } from './files.ts';
import type { ConfigFile, ConfigIo } from './files.ts';
import { parseFlags } from './flags.ts';
import type { GivenFlag } from './flags.ts';
import { helpText } from './help.ts';
import { createProfileStore } from './profiles.ts';
import type { FoundProfile, ProfileStore } from './profiles.ts';
import { mergeLayers } from './schema.ts';
import type { Layer } from './schema.ts';
import { settingKeys, settingOf, variableOf } from './settings.ts';
import type { SettingKey, Values } from './settings.ts';

const variablePrefix = 'DERBENCH_';
const keyOfVariable: ReadonlyMap<string, SettingKey> = new Map(settingKeys.map((key) => [variableOf(key), key]));

function readText(key: SettingKey, name: string, text: string, cwd: string, faults: Fault[]): unknown {
  const { kind, secret } = settingOf(key);
  const value = kind.read(kind.fromText(text), cwd);
  if (value === undefined) faults.push(refused(name, text, kind.allowed, secret));
  return value;
}

function flagLayer(given: ReadonlyMap<SettingKey, GivenFlag>, cwd: string, faults: Fault[]): Layer {
  const layer = new Map<SettingKey, unknown>();
  for (const [key, { spelling, text }] of given) {
    const value = readText(key, spelling, text, cwd, faults);
    if (value !== undefined) layer.set(key, value);
  }
  return layer;
}

function environmentLayer(env: Readonly<Record<string, string | undefined>>, cwd: string, faults: Fault[]): Layer {
  const layer = new Map<SettingKey, unknown>();
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(variablePrefix) || text === undefined) continue;
    const key = keyOfVariable.get(name);
    if (key === undefined) {
      faults.push(unknownName(name, 'environment variable', name, [...keyOfVariable.keys()]));
      continue;
    }
    const value = readText(key, name, text, cwd, faults);
    if (value !== undefined) layer.set(key, value);
  }
  return layer;
}

/** Offset of a time zone from UTC at a date, in hours. */
function zoneOffsetHours(timeZone: string, date: string): number {
  const noon = new Date(`${date}T12:00:00Z`);
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(noon);
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(parts.find((part) => part.type === 'timeZoneName')?.value ?? '') ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) + Number(minutes) / 60);
}

/** Degrees east at which the sun is highest near 12:00 of the clock, so that a start at noon finds the sun. */
function noonLongitude(values: Values): number {
  const degrees = 15 * zoneOffsetHours(values.wall_clock_timezone, values.start_date);
  return degrees > 180 ? degrees - 360 : degrees;
}

interface Loaded {
  readonly values: Values;
  readonly file: ConfigFile | null;
  readonly layers: { readonly flags: Layer; readonly env: Layer; readonly file: Layer };
  /** the flag, variable or key that a value in force came from */
  readonly originOf: (key: SettingKey) => string;
  readonly io: ConfigIo;
}

function listedDevices({ values, file, originOf, io }: Loaded, store: ProfileStore): DeviceConfig[] {
  return (file?.devices ?? []).flatMap((entry, index) => {
    if (!entry) return [];
    const deviceType = entry.device_type ?? values.device_type;
    const type = deviceTypes[deviceType];
    const key = `${file?.label ?? ''}: devices[${index}].profile`;
    let found: FoundProfile | null;
    if (typeof entry.profile === 'string') found = store.byReference(entry.profile, file?.directory ?? io.cwd, key, type);
    else if (entry.profile !== undefined) found = store.inline(entry.profile, key, type);
    else if (values.f !== null) found = store.byReference(values.f, io.cwd, originOf('f'), type);
    else found = store.ofType(type);
    const name = entry.name ?? `${deviceType} ${values.first_device + index}`;
    return found ? [{ deviceType, name, phases: type.phases, ...found }] : [];
  });
}

function repeatedDevices({ values, originOf, io }: Loaded, store: ProfileStore): DeviceConfig[] {
  const deviceType = values.device_type;
  const type = deviceTypes[deviceType];
  const found = values.f === null ? store.ofType(type) : store.byReference(values.f, io.cwd, originOf('f'), type);
  if (!found) return [];
  return Array.from({ length: values.N }, (_, index) => ({
    deviceType, name: `${deviceType} ${values.first_device + index}`, phases: type.phases, ...found,
  }));
}

/** What has no meaning while the simulated clock follows the real one. */
const ownClockKeys = ['time_rate', 'start_clock_time', 'start_date', 'start_paused'] as const;

function clockFaults({ values, originOf }: Loaded): Fault[] {
  if (!values.wall_clock) return [];
  return ownClockKeys.filter((key) => values[key] !== settingOf(key).default).map((key) => {
    const given = values[key];
    return {
      name: originOf(key),
      detail: `given ${given === true ? 'yes' : given} together with ${originOf('wall_clock')} yes; allowed: one of the two`,
    };
  });
}

const highestPort = 65535;
// unit ids 248 to 255 are reserved
const highestUnitId = 247;

function crossFaults(loaded: Loaded, count: number): Fault[] {
  const { values, file, layers, originOf, io } = loaded;
  const faults = clockFaults(loaded);
  const counted = [layers.flags, layers.env, layers.file].some((layer) => layer.has('N'));
  if (file?.devices && counted && values.N !== count) {
    faults.push(refused(originOf('N'), values.N, `${count}, the length of the devices list in ${file.label}, or nothing`));
  }
  if (file?.grid.profile !== undefined && layers.file.has('grid_profile')) {
    faults.push({ name: `${file.label}: grid.profile`, detail: 'given beside grid_profile; allowed: one of the two' });
  }
  if (values.mb_enable && values.mb_shared_port && count > highestUnitId) {
    faults.push({ name: originOf('mb_shared_port'), detail: `given yes with ${count} devices; allowed: up to ${highestUnitId} devices on one port` });
  }
  const lastPort = values.mb_port + values.first_device + count - 1;
  if (values.mb_enable && !values.mb_shared_port && values.mb_port !== 0 && lastPort > highestPort) {
    faults.push({
      name: originOf('mb_port'),
      detail: `given ${values.mb_port}, so that the last device would be on port ${lastPort}; allowed: a last port up to ${highestPort}, 0, or mb_shared_port`,
    });
  }
  for (const key of ['dc_profile', 'grid_profile'] as const) {
    const path = values[key];
    if (path !== null && !io.isFile(path)) faults.push(refused(originOf(key), path, 'the path of a file that exists'));
  }
  return faults;
}

function gridProfilePath({ values, file, io }: Loaded, faults: Fault[]): string | null {
  if (values.grid_profile !== null || file?.grid.profile === undefined) return values.grid_profile;
  const path = settingOf('grid_profile').kind.read(file.grid.profile, file.directory) as string;
  if (!io.isFile(path)) faults.push(refused(`${file.label}: grid.profile`, file.grid.profile, 'the path of a file that exists'));
  return path;
}

function feederOf(file: ConfigFile | null): AppConfig['grid']['feeder'] {
  const { short_circuit_ratio: scr = null, x_over_r: xOverR = 1 } = file?.grid.feeder ?? {};
  return scr === null ? null : { scr, xOverR };
}

function appConfig(loaded: Loaded, devices: readonly DeviceConfig[], gridPath: string | null): AppConfig {
  const { values: v, file } = loaded;
  return {
    configPath: v.config,
    web: {
      host: v.website_ip, port: v.website_port, corsOrigins: v.cors_origin, allowedHosts: v.allowed_host,
      maxConnections: v.http_max_connections, maxStreamClients: v.ws_max_clients,
    },
    clock: {
      followsWall: v.wall_clock, timezone: v.wall_clock_timezone, startTime: v.start_clock_time,
      startDate: v.start_date, rate: v.time_rate, startsPaused: v.start_paused,
    },
    tickS: v.tick,
    seed: v.seed,
    firstDevice: v.first_device,
    grid: { nominalFrequencyHz: file?.grid.nominal_frequency_hz ?? 60, profilePath: gridPath, feeder: feederOf(file) },
    dcProfilePath: v.dc_profile,
    irradianceSource: v.irradiance_source,
    clouds: v.clouds,
    modbus: {
      enabled: v.mb_enable, host: v.mb_host, port: v.mb_port, sharedPort: v.mb_shared_port,
      maxConnections: v.mb_max_connections, idleTimeoutS: v.mb_idle_timeout_s, frameTimeoutS: v.mb_frame_timeout_s,
    },
    log: { level: v.log_level, format: v.log_format },
    devices,
  };
}

function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  return version;
}

/** Brings all layers together. What is faulty is left out, so that one run finds the faults of every layer. */
function gather(flags: ReadonlyMap<SettingKey, GivenFlag>, env: Readonly<Record<string, string | undefined>>, io: ConfigIo, faults: Fault[]): Loaded {
  const fromFlags = flagLayer(flags, io.cwd, faults);
  const fromEnv = environmentLayer(env, io.cwd, faults);
  const originOf = (key: SettingKey) => {
    if (fromFlags.has(key)) return flags.get(key)?.spelling ?? key;
    return fromEnv.has(key) ? variableOf(key) : key;
  };
  const path = fromFlags.get('config') ?? fromEnv.get('config');
  const file = typeof path === 'string' ? readConfigFile(path, originOf('config'), io, faults) : null;
  const layers = { flags: fromFlags, env: fromEnv, file: file?.settings ?? new Map<SettingKey, unknown>() };
  const inFile = (key: SettingKey) => (layers.file.has(key) && file ? `${file.label}: ${key}` : key);
  return {
    values: mergeLayers([layers.file, layers.env, layers.flags]), file, layers, io,
    originOf: (key) => (originOf(key) === key ? inFile(key) : originOf(key)),
  };
}

/**
 * The configuration of a run: flag over environment variable over configuration file over default.
 * @param argv the command line without program and script
 * @param env environment; variables that begin with `DERBENCH_` count
 * @throws SimError CONFIG_INVALID with all faults of all layers at once
 */
export function loadConfig(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  io: Partial<ConfigIo> = {},
): LoadResult {
  const flags = parseFlags(argv);
  if (flags.help) return { kind: 'help', text: helpText() };
  if (flags.version) return { kind: 'version', text: `derbench ${programVersion()}` };

  const faults: Fault[] = [...flags.faults];
  const realIo: ConfigIo = {
    cwd: io.cwd ?? systemIo.cwd, readFile: io.readFile ?? systemIo.readFile, isFile: io.isFile ?? systemIo.isFile,
  };
  const loaded = gather(flags.values, env, realIo, faults);
  const store = createProfileStore({ io: realIo, longitudeDeg: noonLongitude(loaded.values), faults });
  const devices = loaded.file?.devices ? listedDevices(loaded, store) : repeatedDevices(loaded, store);
  faults.push(...crossFaults(loaded, loaded.file?.devices?.length ?? loaded.values.N));
  const gridPath = gridProfilePath(loaded, faults);
  if (faults.length > 0) {
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    throw new SimError('CONFIG_INVALID', `The configuration is not valid, ${count}:`, faults);
  }
  return { kind: 'run', config: appConfig(loaded, devices, gridPath) };
}
