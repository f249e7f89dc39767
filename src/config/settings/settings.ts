/** All settings. A new setting is a row in the file of its topic. */
import type { AssetType } from '../../contract/kinds/table.ts';
import { deviceSettings, mapSettings } from './devices.ts';
import { kindSettings } from './kinds.ts';
import { modbusLimits, modbusSettings } from './modbus.ts';
import { modbusTlsSettings } from './modbus-tls.ts';
import { proxySettings } from './proxy.ts';
import { rtuSettings } from './rtu.ts';
import type { Setting, ValueOf } from './setting.ts';
import { programSettings } from './program.ts';
import { clockSettings, tickSettings } from './simulation.ts';
import { surroundingsSettings } from './surroundings.ts';
import { clientSettings } from './sunspec-client.ts';
import { browserSettings, webLimits, webSettings } from './web.ts';

/** In the order of the help text. */
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
  ...mapSettings,
  ...programSettings,
  ...browserSettings,
  ...modbusLimits,
  ...webLimits,
};

export type SettingKey = keyof typeof settings;

/** The value of every setting after defaults, file, environment and flags. */
export type Values = { readonly [K in SettingKey]: ValueOf<(typeof settings)[K]> };

export const settingKeys = Object.keys(settings) as readonly SettingKey[];

/** The setting of a key, without the type of its value. */
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

/** Whether a setting applies to devices of a kind. */
export function isForKind(key: SettingKey, kind: AssetType): boolean {
  const { kinds } = settingOf(key);
  return kinds === undefined || kinds.includes(kind);
}
