/** All settings. A new setting is a row in the file of its topic. */
import type { AssetType } from '../../contract/kinds/table.ts';
import { csipConduct, csipSettings } from './csip.ts';
import { deviceSettings, mapSettings, kindSettings } from './devices.ts';
import { dnp3Settings } from './dnp3.ts';
import { findingSettings } from './findings.ts';
import { fleetSettings } from './fleet.ts';
import {
  modbusLimits,
  modbusSettings,
  modbusTlsSettings,
  proxySettings,
  rtuSettings,
  clientSettings,
} from './modbus.ts';
import { ocppSettings } from './ocpp.ts';
import type { Setting, ValueOf } from './setting.ts';
import { programSettings, browserSettings, webLimits, webSettings } from './program.ts';
import { clockSettings, tickSettings, surroundingsSettings } from './simulation.ts';

const settings = {
  ...deviceSettings,
  ...webSettings,
  ...clockSettings,
  ...surroundingsSettings,
  ...kindSettings,
  ...tickSettings,
  ...modbusSettings,
  ...rtuSettings,
  ...modbusTlsSettings,
  ...proxySettings,
  ...clientSettings,
  ...csipSettings,
  ...csipConduct,
  ...ocppSettings,
  ...dnp3Settings,
  ...findingSettings,
  ...fleetSettings,
  ...mapSettings,
  ...programSettings,
  ...browserSettings,
  ...modbusLimits,
  ...webLimits,
};

/** One heading of the help text. */
export interface SettingGroup {
  /** word after `help flags` */
  readonly topic: string;
  readonly title: string;
  /** page of the documentation with details */
  readonly page: string;
  readonly settings: readonly SettingKey[];
}

const group = (topic: string, title: string, page: string, ...parts: readonly object[]): SettingGroup => ({
  topic,
  title,
  page,
  settings: parts.flatMap((part) => Object.keys(part)) as SettingKey[],
});

/** Every setting once, in the order of the help text. */
export const settingGroups: readonly SettingGroup[] = [
  group('devices', 'Devices', 'docs/devices/index.md', deviceSettings, mapSettings),
  group('kinds', 'Kinds of devices', 'docs/devices/index.md', kindSettings),
  group('time', 'Clock and ticks', 'docs/concepts/environment.md', clockSettings, tickSettings),
  group('grid', 'Sun, wind, load, vehicles and grid', 'docs/concepts/environment.md', surroundingsSettings),
  group('modbus', 'Modbus TCP', 'docs/protocols/modbus.md', modbusSettings, modbusLimits),
  group('modbus-tls', 'Modbus over TLS', 'docs/protocols/modbus.md#tls-with-roles', modbusTlsSettings),
  group('rtu', 'Modbus RTU', 'docs/protocols/modbus.md#modbus-rtu', rtuSettings),
  group('proxy', 'Maps of other makers', 'docs/concepts/proxy.md', proxySettings),
  group('master', 'Master of another device', 'docs/protocols/sunspec-client.md', clientSettings),
  group('csip', 'Client of IEEE 2030.5 (CSIP)', 'docs/protocols/csip.md', csipSettings, csipConduct),
  group('ocpp', 'Charge points (OCPP)', 'docs/protocols/ocpp.md', ocppSettings),
  group('dnp3', 'Outstations (DNP3)', 'docs/protocols/dnp3.md', dnp3Settings),
  group('findings', 'Findings about peers', 'docs/how-to/findings.md', findingSettings),
  group('fleet', 'Shard of a fleet', 'docs/fleet.md', fleetSettings),
  group('http', 'HTTP interface and stream', 'docs/reference/http.md', webSettings, browserSettings, webLimits),
  group('program', 'Configuration file, state, history and log', 'docs/concepts/settings.md', programSettings),
];

export type SettingKey = keyof typeof settings;

/** The settings that change at once. */
export type LiveKey = {
  [K in SettingKey]: (typeof settings)[K]['changes'] extends { readonly by: 'live' } ? K : never;
}[SettingKey];

/** The value of every setting after defaults, file, environment and flags. */
export type Values = { readonly [K in SettingKey]: ValueOf<(typeof settings)[K]> };

export const settingKeys = Object.keys(settings) as readonly SettingKey[];

/** The setting of a key, without the type of its value. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return settings[key];
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

/** True for the key of a setting that changes while the simulator runs. */
export function isChangeable(key: SettingKey): boolean {
  return settings[key].changes.by !== 'start';
}

/** True for the key of a setting that a lab loaded by a request takes from the process. */
export function isHeld(key: SettingKey): boolean {
  const { changes } = settingOf(key);
  return changes.by === 'start' && changes.isHeld === true;
}

/** The last spelling of the flag, or the key of a setting without flag; for issues of a setting that was not given. */
export function flagOf(key: SettingKey): string {
  return settingOf(key).flags?.at(-1) ?? key;
}

/** Name of the environment variable of a setting. */
export function variableOf(key: SettingKey): string {
  return `DERBENCH_${key.toUpperCase()}`;
}

/** True if a setting applies to devices of a kind. */
export function isForKind(key: SettingKey, kind: AssetType): boolean {
  const { kinds } = settingOf(key);
  return kinds === undefined || kinds.includes(kind);
}
