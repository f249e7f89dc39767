/** The configuration of a run, from the values in force. */
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { refused } from '../issues/issues.ts';
import { bundledProxyMapNames, bundledProxyMapPath, profileNameOf } from '../profile/bundled.ts';
import type { StartFrequency } from '../profile/devices.ts';
import type { AppConfig, ChangeInForce } from '../settings/app-config.ts';
import { switches } from '../settings/setting.ts';
import { settingKeys, settingOf } from '../settings/settings.ts';
import type { Values } from '../settings/settings.ts';
import { readMapping, systemIo } from './files.ts';
import type { ConfigFile } from './files.ts';
import { csipOf, dnp3Notices, dnp3Of, modbusOf, ocppNotices, ocppOf, ocppUnused } from './protocols.ts';
import { isGiven } from './gather.ts';
import type { Gathered } from './gather.ts';
import type { StartSetting } from '../../contract/start-settings.ts';

/** Units by the last word of a member. */
const units: Readonly<Record<string, string>> = { w: 'W', wh: 'Wh', pct: '%', m: 'm', VAMaxRtg: 'VA' };

/**
 * The numbers in force that replace members of profiles, for `nameplate/configured-settings`. Text settings are left
 * out: the published API describes `value` there as a number, and a client may rely on it.
 */
function startSettings(gathered: Pick<Gathered, 'values' | 'layers'>): readonly StartSetting[] {
  return settingKeys.flatMap((key): StartSetting[] => {
    const { member, kinds = [], flags } = settingOf(key);
    const value = gathered.values[key];
    if (member === undefined || typeof value !== 'number' || !isGiven(gathered, key)) return [];
    const { path, factor = 1 } = member;
    return [
      {
        kinds,
        member: path.replace(/^models\./, ''),
        name: key,
        value: factor * value,
        unit: units[path.split(/[._]/).at(-1) ?? ''] ?? null,
        origin: gathered.layers.flags.has(key) ? 'flag' : 'config',
        flag: flags?.[0] ?? `--${key}`,
      },
    ];
  });
}

/** Path of the CSV of the grid, from the setting or the block of the file; null: none. */
export function gridProfilePath({ values, file, io }: Gathered, issues: Issue[]): string | null {
  if (values.grid_profile !== null || file?.grid.profile === undefined) return values.grid_profile;
  const path = settingOf('grid_profile').kind.read(file.grid.profile, file.directory) as string;
  if (!io.isFile(path))
    issues.push(refused(`${file.label}: grid.profile`, file.grid.profile, 'the path of a file that exists'));
  return path;
}

/** The settings of the proxy, with the content of its map unchecked: the proxy checks it. */
export function proxyOf({ values, originOf, io }: Gathered, issues: Issue[]): AppConfig['proxy'] {
  const { proxy: text, proxy_host: host, proxy_port: port } = values;
  if (text === null) return null;
  const name = originOf('proxy');
  const bundled = bundledProxyMapPath(text);
  if (bundled === undefined && !io.isFile(text)) {
    issues.push(
      refused(
        name,
        text,
        'the path of a file that exists, or a bundled map ' +
          `(${bundledProxyMapNames.join(', ')})${didYouMean(basename(text), bundledProxyMapNames)}`,
      ),
    );
    return null;
  }
  const map = readMapping(bundled ?? text, name, bundled === undefined ? io : systemIo, issues);
  return map && { map, mapLabel: profileNameOf(text), host, port };
}

function feederOf(file: ConfigFile | null): AppConfig['grid']['feeder'] {
  const { short_circuit_ratio: scr = null, x_over_r: xOverR = 1 } = file?.grid.feeder ?? {};
  return scr === null ? null : { scr, xOverR };
}

function rtuOf({
  rtu_enable: enabled,
  rtu_port: port,
  rtu_baud: baud,
  rtu_parity: parity,
  rtu_stopbits: stopBits,
}: Values): AppConfig['rtu'] {
  return enabled && port !== null ? { port, baud, parity, stopBits: stopBits === 2 ? 2 : 1 } : null;
}

function meterOf(values: Values): AppConfig['meter'] {
  const { meter_unit: unitId, meter_port: port, map_float: float } = values;
  return unitId === null && port === null ? null : { unitId, port, float: float ?? false };
}

/** Log lines about settings of the meter without effect. */
function meterUnused({ meter_unit: unit, meter_port: port, mb_enable: tcp, rtu_enable: line }: Values): string[] {
  if (port !== null && !tcp) return ['meter_port is given, but Modbus TCP is off: no port serves the meter'];
  return unit !== null && !tcp && !line
    ? ['meter_unit is given, but Modbus is off: the meter is shown over REST only']
    : [];
}

function fleetOf(v: Values): AppConfig['fleet'] {
  if (v.fleet === null) return null;
  return {
    servers: v.fleet,
    shard: v.shard,
    prefix: v.fleet_prefix,
    room: v.fleet_room,
    advertisedHost: v.advertise_host,
    waitS: v.fleet_wait_s,
    plain: v.fleet_plain,
    pace: v.fleet_pace,
    devices: v.fleet_devices,
    credsFile: v.fleet_creds,
    nkeyFile: v.fleet_nkey,
    user: v.fleet_user,
    passwordFile: v.fleet_password_file,
    caFile: v.fleet_ca,
    certFile: v.fleet_cert,
    keyFile: v.fleet_key,
  };
}

function clockOf(v: Values): AppConfig['clock'] {
  return {
    followsWall: v.wall_clock,
    timezone: v.wall_clock_timezone,
    startTime: v.start_clock_time,
    startDate: v.start_date,
    rate: v.time_rate,
    startsPaused: v.start_paused,
  };
}

/**
 * Log lines about settings whose switch is off, or that take effect only after another setting is changed at run time.
 */
function unusedSettings(values: Values): readonly string[] {
  const off = switches.filter((name) => !values[name]);
  const lines = off.flatMap((name) =>
    settingKeys
      .filter((key) => settingOf(key).needs === name && !isDeepStrictEqual(values[key], settingOf(key).default))
      .map((key) => `${key} is given and has no effect, because ${name} is off`),
  );
  const { clouds, irradiance_source: irradiance } = values;
  if (irradiance === 'csv' && clouds !== settingOf('clouds').default)
    lines.push(`clouds is ${clouds} and has no effect until irradiance_source, now csv, is clear_sky`);
  return lines;
}

/** A log line for each setting of the map that no device follows, because all profiles have a chain. */
function chainsReplace(values: Values, devices: Parts['devices']): string[] {
  if (devices.length === 0 || devices.some(({ profile: { map } }) => map.chain === undefined)) return [];
  const { meter_unit: unit, meter_port: port } = values;
  const hasMeter = unit !== null || port !== null;
  return (['map_layout', 'map_float'] as const)
    .filter((key) => values[key] !== null && (key === 'map_layout' || !hasMeter))
    .map((key) => `${key} is given and has no effect: the profiles of all devices have a chain`);
}

/** A log line about `map_float` if no device has models with a floating-point form. */
function floatUnused(
  { map_float: float, meter_unit: unit, meter_port: port }: Values,
  devices: Parts['devices'],
): string[] {
  // a chain names its models; `chainsReplace` logs that all devices have one
  const maps = devices.map(({ profile: { map } }) => map).filter(({ chain }) => chain === undefined);
  const hasFloatModels = maps.some(({ layout }) => layout === 'classic' || layout === 'both');
  const onlyChains = devices.length > 0 && maps.length === 0;
  return float === true && !hasFloatModels && !onlyChains && unit === null && port === null
    ? ['map_float is given and has no effect: no device has map_layout classic or both, and there is no meter']
    : [];
}

interface Parts extends Pick<AppConfig, 'devices' | 'deviceOf' | 'proxy' | 'faults' | 'settings'> {
  readonly frequency: StartFrequency;
}

/**
 * The configuration of a run; call it only without issues.
 * @param gridPath see `gridProfilePath` @param change absent: a start
 */
export function appConfig(
  gathered: Gathered,
  { devices, deviceOf, proxy, faults, frequency, settings }: Parts,
  gridPath: string | null,
  change?: ChangeInForce,
): AppConfig {
  const { values: v, file } = gathered;
  return {
    settings,
    settingsLocked: v.settings_locked,
    ignoredVariables: gathered.ignoredVariables,
    configPath: v.config,
    scenarioPath: v.scenario,
    stateDir: v.state_dir,
    web: {
      host: v.website_ip,
      port: v.website_port,
      corsOrigins: v.cors_origin,
      allowedHosts: v.allowed_host,
      maxConnections: v.http_max_connections,
      maxStreamClients: v.ws_max_clients,
    },
    clock: clockOf(v),
    remoteClock: v.remote_clock,
    tickS: v.tick,
    seed: v.seed,
    deviceSpreadPct: v.device_spread_pct,
    firstDevice: v.first_device,
    grid: { nominalFrequencyHz: frequency.hz, profilePath: gridPath, feeder: feederOf(file) },
    seriesEnd: v.series_end,
    windTimeScale: v.wind_time_scale,
    irradianceSource: v.irradiance_source,
    clouds: v.clouds,
    modbus: modbusOf(v),
    meter: meterOf(v),
    rtu: rtuOf(v),
    proxy,
    clientPty: v.client_pty,
    csip: csipOf(gathered),
    ocpp: change && !change.opened.has('ocpp') ? ocppOf(gathered, change.former.ocpp) : ocppOf(gathered),
    dnp3: dnp3Of(v),
    fleet: fleetOf(v),
    chargePointId: v.ocpp_csid,
    simModels: v.sim_models,
    faults,
    historySamples: v.history_samples,
    stateHistory: v.state_history ? { hours: v.state_history_hours } : null,
    captures: v.captures,
    log: { level: v.log_level, format: v.log_format },
    findings: {
      enabled: v.findings_enable,
      reports: v.findings_report,
      failOn: v.findings_fail_on,
      block: file?.findings ?? {},
    },
    unused: [
      ...unusedSettings(v),
      ...meterUnused(v),
      ...floatUnused(v, devices),
      ...chainsReplace(v, devices),
      ...ocppUnused(v),
    ],
    notices: [...frequency.notices, ...ocppNotices(gathered, devices), ...dnp3Notices(v)],
    startSettings: startSettings(gathered),
    devices,
    deviceOf,
  };
}
