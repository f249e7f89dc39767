import { fuelCellChemistries, fuelCellFuels, fuelCellOperatingModes } from '../../contract/kinds/fuelcell.ts';
import { hybridPolicies } from '../../contract/kinds/hybrid.ts';
import { logLevels } from '../../core/log/log.ts';
import { secureSunSpecCiphers } from '../../core/tls/material.ts';
import {
  bundledEvseProfileNames,
  bundledFaultProfileNames,
  bundledProfileNames,
  bundledProxyMapNames,
  isBundledFaultProfile,
  isBundledProfile,
  isBundledProxyMap,
} from '../profile/bundled.ts';
import { deviceTypeNames } from '../profile/device-types.ts';
import {
  choice,
  cipherList,
  clockTime,
  date,
  host,
  hostList,
  integer,
  number,
  onOff,
  originList,
  parity,
  path,
  pathOrName,
  pathsOrNames,
  port,
  serialDevice,
  timeZone,
  tlsVersion,
} from './value-kinds.ts';
import type { Kind } from './value-kinds.ts';

/**
 * One setting: everything that flags, environment, files, help and the published schema say of it comes from here.
 * The name of the member is the key in files; the environment variable is `DERBENCH_` and the key in upper case.
 */
interface Setting<T> {
  readonly kind: Kind<T>;
  /** null: not set */
  readonly default: NoInfer<T> | null;
  /** accepted on the command line; a setting without spellings has no flag */
  readonly flags?: readonly string[];
  /** not a key of configuration files */
  readonly noFile?: true;
  /** never shown in faults, logs or answers */
  readonly secret?: true;
  readonly doc: string;
}

type Preset<T> = Setting<T> & { readonly default: NoInfer<T> };

function setting<T>(of: Preset<T>): Preset<T> {
  return of;
}

/** A setting that may stay unset. */
function unset<T>(of: Omit<Setting<T>, 'default'>): Setting<T> {
  return { ...of, default: null };
}

/** All settings, in the order of the help text. */
export const settings = {
  device_type: setting({
    flags: ['-d', '--device_type'],
    kind: choice(deviceTypeNames, 'TYPE'),
    default: 'PV-3Phase',
    doc: 'Kind of device to simulate; with evse_profile alone it is EVSE.',
  }),
  N: setting({
    flags: ['-N'],
    kind: integer(1, 10000),
    default: 1,
    doc: 'Number of devices.',
  }),
  f: unset({
    flags: ['-f'],
    kind: pathOrName(isBundledProfile, `a bundled profile (${bundledProfileNames.join(', ')}) or a path`),
    doc: `Device profile: a bundled name (${bundledProfileNames.join(', ')}) or a file. Without it the bundled profile of the type. Not for EVSE.`,
  }),
  evse_profile: unset({
    flags: ['--evse_profile'],
    kind: pathOrName(isBundledProfile, `a bundled EVSE profile (${bundledEvseProfileNames.join(', ')}) or a path`),
    doc: `Profile of an EVSE: a bundled name (${bundledEvseProfileNames.join(', ')}) or a file. Without it EVSE-AC-22kW-1port.`,
  }),
  website_ip: setting({
    flags: ['-wi', '--website_ip'],
    kind: host,
    default: '127.0.0.1',
    doc: 'Address of the HTTP interface. It has no authentication.',
  }),
  website_port: setting({
    flags: ['-wp', '--website_port'],
    kind: port,
    default: 8111,
    doc: 'Port of the HTTP interface; 0 = any free port, printed at start.',
  }),
  wall_clock: setting({
    flags: ['-wc', '--wall_clock'],
    kind: onOff,
    default: false,
    doc: 'Simulated clock follows the real time of day; not together with a start time, a start date, a rate or a paused start.',
  }),
  wall_clock_timezone: setting({
    flags: ['-wc_tz', '--wall_clock_timezone'],
    kind: timeZone,
    default: 'UTC',
    doc: 'Time zone of the simulated clock.',
  }),
  start_clock_time: setting({
    flags: ['--start_clock_time'],
    kind: clockTime,
    default: '12:00:00',
    doc: 'Time of day at which the simulated clock starts.',
  }),
  start_date: setting({
    flags: ['--start_date'],
    kind: date,
    default: '2026-06-21',
    doc: 'Date at which the simulated clock starts.',
  }),
  dc_profile: unset({
    flags: ['-dc_p', '--dc_profile'],
    kind: path,
    doc: 'CSV series for the DC side: irradiance or wind. Without it the bundled series of the type.',
  }),
  load_profile: unset({
    flags: ['--load_profile'],
    kind: path,
    doc: 'CSV series of the local load of each device: time_s, load_kw.',
  }),
  vehicles: unset({
    flags: ['--vehicles'],
    kind: path,
    doc: 'CSV table of the vehicles that come to an EVSE.',
  }),
  series_end: setting({
    flags: ['--series_end'],
    kind: choice(['loop', 'hold'], 'END'),
    default: 'loop',
    doc: 'What follows the last row of dc_profile, load_profile and vehicles: the first one again, or nothing new.',
  }),
  irradiance_source: setting({
    flags: ['--irradiance_source'],
    kind: choice(['csv', 'clear_sky'], 'SOURCE'),
    default: 'csv',
    doc: 'Where the irradiance comes from at start: the CSV series, or the clear sky with clouds.',
  }),
  clouds: setting({
    flags: ['--clouds'],
    kind: choice(['clear', 'scattered', 'broken', 'overcast'], 'SKY'),
    default: 'scattered',
    doc: 'Clouds of the clear_sky source.',
  }),
  grid_profile: unset({
    flags: ['--grid_profile'],
    kind: path,
    doc: 'CSV series of the grid: time_s, frequency_hz, voltage_pu (or voltage_a_pu, voltage_b_pu, voltage_c_pu); phase_angle_deg may follow.',
  }),
  wind_time_scale: setting({
    flags: ['--wind_time_scale'],
    kind: number(0.01, 3600),
    default: 1,
    doc: 'Seconds of the wind series per simulated second.',
  }),
  wind_anemometer_height_m: unset({
    flags: ['--wind_anemometer_height_m'],
    kind: number(1, 500),
    doc: 'Height at which the wind of the series is measured, m. Without it that of the profile, else 5.',
  }),
  fuelcell_chemistry: unset({
    flags: ['--fuelcell_chemistry'],
    kind: choice(fuelCellChemistries, 'CHEMISTRY'),
    doc: 'Cells. Only these plants exist: PEMFC fc_only tank, PEMFC bidirectional tank, SOFC bidirectional tank, SOFC fc_only continuous. Without it that of the profile, else PEMFC.',
  }),
  fuelcell_mode: unset({
    flags: ['--fuelcell_mode'],
    kind: choice(fuelCellOperatingModes, 'MODE'),
    doc: 'Only a fuel cell, or electrolysis as well. Without it that of the profile, else fc_only.',
  }),
  fuelcell_fuel: unset({
    flags: ['--fuelcell_fuel'],
    kind: choice(fuelCellFuels, 'FUEL'),
    doc: 'Hydrogen tank or continuous supply. Without it that of the profile, else tank.',
  }),
  hybrid_pv_kw: unset({
    flags: ['--hybrid_pv_kw'],
    kind: number(0.1, 100_000),
    doc: 'PV module power of a hybrid, kW. Without it that of the profile, else 10.',
  }),
  hybrid_batt_kw: unset({
    flags: ['--hybrid_batt_kw'],
    kind: number(0.1, 100_000),
    doc: 'Battery power of a hybrid, kW. Without it that of the profile, else 10.',
  }),
  hybrid_batt_kwh: unset({
    flags: ['--hybrid_batt_kwh'],
    kind: number(0.1, 100_000),
    doc: 'Battery capacity of a hybrid, kWh. Without it that of the profile, else 15.',
  }),
  hybrid_inverter_kva: unset({
    flags: ['--hybrid_inverter_kva'],
    kind: number(0.1, 100_000),
    doc: 'Rating of the inverter of a hybrid, kVA. Without it that of the profile, else 15.',
  }),
  hybrid_soc_min_pct: unset({
    flags: ['--hybrid_soc_min_pct'],
    kind: number(0, 100),
    doc: 'State of charge at which a hybrid stops to discharge, %. Without it that of the profile, else 10.',
  }),
  hybrid_soc_max_pct: unset({
    flags: ['--hybrid_soc_max_pct'],
    kind: number(0, 100),
    doc: 'State of charge at which a hybrid stops to charge, %. Without it that of the profile, else 95.',
  }),
  hybrid_dispatch: unset({
    flags: ['--hybrid_dispatch'],
    kind: choice(hybridPolicies, 'POLICY'),
    doc: 'Dispatch policy of a hybrid at start. Without it that of the profile, else self_consumption.',
  }),
  start_paused: setting({
    flags: ['--start_paused'],
    kind: onOff,
    default: false,
    doc: 'Starts with the clock paused: step it over REST.',
  }),
  time_rate: setting({
    flags: ['--time_rate'],
    kind: number(0.01, 3600),
    default: 1,
    doc: 'Simulated seconds per real second.',
  }),
  tick: setting({
    flags: ['--tick'],
    kind: number(0.1, 60),
    default: 1.5,
    doc: 'Seconds from one tick to the next.',
  }),
  seed: setting({
    flags: ['--seed'],
    kind: integer(0, 0xffff_ffff),
    default: 1,
    doc: 'Seed of all random numbers.',
  }),
  first_device: setting({
    flags: ['--first_device'],
    kind: integer(0, 1_000_000),
    default: 0,
    doc: 'Number of the first device, when several processes share a fleet.',
  }),
  mb_enable: setting({
    flags: ['-mb', '--mb_enable'],
    kind: onOff,
    default: true,
    doc: 'Modbus TCP server.',
  }),
  mb_host: setting({
    flags: ['--mb_host'],
    kind: host,
    default: '127.0.0.1',
    doc: 'Address of the Modbus TCP server.',
  }),
  mb_port: setting({
    flags: ['-p', '--mb_port'],
    kind: port,
    default: 8502,
    doc: 'Modbus TCP port of the first device, counting up by device; 0 = any free ports.',
  }),
  mb_shared_port: setting({
    flags: ['--mb_shared_port'],
    kind: onOff,
    default: false,
    doc: 'One Modbus TCP port for all devices, unit id = 1 + index.',
  }),
  mb_framing: setting({
    flags: ['--mb_framing'],
    kind: choice(['tcp', 'rtu_over_tcp'], 'FRAMING'),
    default: 'tcp',
    doc: 'Frames on the Modbus TCP ports: those of Modbus TCP, or RTU frames with CRC as serial servers pass them on.',
  }),
  mb_foreign_unit: unset({
    flags: ['--mb_foreign_unit'],
    kind: choice(['silent', 'gateway'], 'POLICY'),
    doc: 'Answer to a unit id that is not served: none, or exception 0x0B as a gateway gives it. Without it gateway on a shared port, silent on ports of their own; RTU frames are never answered then.',
  }),
  rtu_enable: setting({
    flags: ['-rtu', '--rtu_enable'],
    kind: onOff,
    default: false,
    doc: 'Modbus RTU server: all devices on one serial line, unit ids from 1 on (1 + index).',
  }),
  rtu_port: unset({
    flags: ['--rtu_port'],
    kind: serialDevice,
    doc: 'Serial device of the RTU server, for example /dev/ttyUSB0 or COM10; needed with rtu_enable.',
  }),
  rtu_baud: setting({
    flags: ['--rtu_baud'],
    kind: integer(110, 4_000_000),
    default: 9600,
    doc: 'Bit rate of the serial line.',
  }),
  rtu_parity: setting({
    flags: ['--rtu_parity'],
    kind: parity,
    default: 'none',
    doc: 'Parity bit of the serial line.',
  }),
  rtu_stopbits: setting({
    flags: ['--rtu_stopbits'],
    kind: integer(1, 2),
    default: 1,
    doc: 'Stop bits of the serial line.',
  }),
  mb_enc: setting({
    flags: ['-e', '--mb_enc'],
    kind: onOff,
    default: false,
    doc: 'Modbus TCP inside TLS (Secure SunSpec Modbus): clients show a certificate, whose role says what they may write. There is no port in clear beside it.',
  }),
  mb_cert: unset({
    flags: ['-mbc', '--mb_cert'],
    kind: path,
    doc: 'Certificate of the Modbus server, PEM; those of intermediate CAs may follow in the file. Read anew when it changes, as the next two.',
  }),
  mb_key: unset({
    flags: ['-mbk', '--mb_key'],
    kind: path,
    doc: 'Private key of mb_cert, PEM without passphrase.',
  }),
  mb_root_cert: unset({
    flags: ['-mbr', '--mb_root_cert'],
    kind: path,
    doc: 'Certificates of the CAs whose Modbus clients are served, PEM.',
  }),
  mb_ciphers: unset({
    flags: ['-mbx', '--mb_ciphers'],
    kind: cipherList,
    doc: `Cipher suites of Modbus over TLS: OpenSSL names with a colon between, those of TLS 1.3 among them; no other is offered. Without it those of Secure SunSpec: ${secureSunSpecCiphers.join(', ')}.`,
  }),
  mb_tls_version: setting({
    flags: ['-mbv', '--mb_tls_version'],
    kind: tlsVersion,
    default: '1.2',
    doc: 'Least TLS version of Modbus: with 1.2 a client that can gets 1.3, with 1.3 only those.',
  }),
  proxy: unset({
    flags: ['--proxy'],
    kind: pathOrName(isBundledProxyMap, `a bundled map (${bundledProxyMapNames.join(', ')}) or a path`),
    doc: `Serves the register map of another maker in front of the devices: a bundled map (${bundledProxyMapNames.join(', ')}) or a file.`,
  }),
  proxy_host: setting({
    flags: ['--proxy_host'],
    kind: host,
    default: '127.0.0.1',
    doc: 'Address of the proxy.',
  }),
  proxy_port: unset({
    flags: ['--proxy_port'],
    kind: port,
    doc: 'Port of the proxy; 0 = any free port. Without it that of the map, else 5020.',
  }),
  sim_models: setting({
    flags: ['--sim_models'],
    kind: onOff,
    default: false,
    doc: 'Adds the SunSpec models 64413 and 64414 to the maps: DC curve, and surroundings that a master can set.',
  }),
  faults: setting({
    flags: ['--faults'],
    noFile: true,
    default: [],
    kind: pathsOrNames(isBundledFaultProfile, 'a bundled set of faults (GET faults/profiles lists them) or a path'),
    doc: `Faults of every device from the start on: a bundled set (${bundledFaultProfileNames.join(', ')}) or a file. In a configuration file the block "faults" has them.`,
  }),
  config: unset({
    flags: ['--config'],
    kind: path,
    noFile: true,
    doc: 'Configuration file, YAML or JSON.',
  }),
  history_samples: setting({
    flags: ['--history_samples'],
    kind: integer(100, 1_000_000),
    default: 10_000,
    doc: 'Samples of each device that GET history keeps, one per tick; fewer where many devices share the memory.',
  }),
  log_level: setting({
    flags: ['--log_level'],
    kind: choice(logLevels, 'LEVEL'),
    default: 'info',
    doc: 'Lowest level that is printed.',
  }),
  log_format: setting({
    flags: ['--log_format'],
    kind: choice(['text', 'json'], 'FORMAT'),
    default: 'text',
    doc: 'Form of the printed log.',
  }),
  cors_origin: setting({
    flags: ['--cors_origin'],
    kind: originList,
    default: [],
    doc: 'Web origin that may call the HTTP interface from a browser.',
  }),
  allowed_host: setting({
    flags: ['--allowed_host'],
    kind: hostList,
    default: [],
    doc: 'Further name under which the HTTP interface may be called.',
  }),
  mb_max_connections: setting({
    kind: integer(1, 4096),
    default: 1024,
    doc: 'Modbus TCP connections at a time.',
  }),
  mb_idle_timeout_s: setting({
    kind: number(0, 604_800),
    default: 3600,
    doc: 'Seconds without a request after which a Modbus TCP connection is closed; 0 = never.',
  }),
  mb_frame_timeout_s: setting({
    kind: number(0.1, 3600),
    default: 30,
    doc: 'Seconds in which a Modbus TCP frame that has begun must be complete.',
  }),
  ws_max_clients: setting({
    kind: integer(1, 65535),
    default: 1024,
    doc: 'Clients of the telemetry stream at a time.',
  }),
  http_max_connections: setting({
    kind: integer(1, 65535),
    default: 1024,
    doc: 'HTTP connections at a time.',
  }),
} as const;

export type SettingKey = keyof typeof settings;

type ValueOf<S> = S extends { readonly default: infer D; readonly kind: Kind<infer T> }
  ? null extends D
    ? T | null
    : T
  : never;

/** The value of every setting after defaults, file, environment and flags. */
export type Values = { readonly [K in SettingKey]: ValueOf<(typeof settings)[K]> };

export const settingKeys = Object.keys(settings) as readonly SettingKey[];

/** The setting of a key, with the type of its value forgotten. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return settings[key];
}

/** The long spelling, for a setting that was not given. */
export function flagOf(key: SettingKey): string {
  return settingOf(key).flags?.at(-1) ?? key;
}

/** Name of the environment variable of a setting. */
export function variableOf(key: SettingKey): string {
  return `DERBENCH_${key.toUpperCase()}`;
}
