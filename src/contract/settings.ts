/** The settings of the process as REST shows and changes them. */
import { SimError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import type { JsonValue } from '../core/store.ts';

/** Parts of the simulator that can be restarted by themselves. */
export const restartableAdapters = ['modbus', 'modbus-rtu', 'proxy', 'csip', 'csip-website', 'ocpp', 'dnp3'] as const;
export type RestartableAdapter = (typeof restartableAdapters)[number];

export const changeWords = ['live', 'adapter', 'start'] as const;

/** How a setting changes: at once, by a restart of its adapter, or only at a start, with the reason. */
export type Changes =
  | { readonly by: 'live' }
  | { readonly by: 'adapter'; readonly adapter: RestartableAdapter }
  | {
      readonly by: 'start';
      readonly why: string;
      /** true: a lab that a request loads has the value of the process */
      readonly isHeld?: true;
    };

/**
 * Source of the value of a setting. `profile`: the profiles of the devices have it. `file`: a configuration file, or
 * the options of a script.
 */
export const settingOrigins = ['default', 'profile', 'file', 'environment', 'flag', 'rest'] as const;
export type SettingOrigin = (typeof settingOrigins)[number];

export const settingTypes = ['integer', 'number', 'switch', 'choice', 'text', 'list'] as const;

/** Settings whose values no log and no answer repeats. */
export const secretSettings = ['csip_pin', 'ocpp_password'] as const;

/** One setting: its declaration and its value. */
export interface SettingReport {
  readonly key: string;
  /** heading of the help text */
  readonly group: string;
  /** value in force; null: none, or secret */
  readonly value: JsonValue;
  /** false: the setting has no value */
  readonly isSet: boolean;
  readonly origin: SettingOrigin;
  readonly changes: Changes;
  readonly type: (typeof settingTypes)[number];
  /** bounds of a number; null: another type */
  readonly range: { readonly min: number; readonly max: number } | null;
  /** words of a choice; null: another type */
  readonly choices: readonly string[] | null;
  /** separator of the values of a list in one text; null: another type */
  readonly separator: ',' | ';' | null;
  /** allowed values in words */
  readonly allowed: string;
  /** null: no unit */
  readonly unit: string | null;
  readonly default: JsonValue;
  readonly isSecret: boolean;
  /** switch without which the setting has no effect; null: none */
  readonly needs: string | null;
  readonly flags: readonly string[];
  readonly doc: string;
}

export interface SettingsControl {
  /** true: `change` is refused */
  readonly isLocked: boolean;
  /** every setting, in the order of the help text */
  readonly reports: readonly SettingReport[];
  /**
   * Changes settings, all or none; null takes a change back. One change at a time; resolves when the adapters that it
   * restarts are open.
   * @throws SimError COMMAND_BAD_VALUE with JSON pointers, COMMAND_CONFLICT for settings that change at a start alone
   * and for an adapter that does not start with them, STOPPING
   */
  change(values: Readonly<Record<string, unknown>>, by: Origin): Promise<SettingsChange>;
}

export const adapterEffects = ['restarted', 'switched_on', 'switched_off'] as const;
export type AdapterEffect = (typeof adapterEffects)[number];
export type AdapterEffects = ReadonlyMap<RestartableAdapter, AdapterEffect>;

/** Outcome of a change of settings. */
export interface SettingsChange {
  readonly keys: readonly string[];
  /** adapters that the change has restarted, switched on or switched off */
  readonly adapters: AdapterEffects;
}

/** An interface without settings. */
export const noSettings: SettingsControl = {
  isLocked: false,
  reports: [],
  change: () => Promise.reject(new SimError('MAP_NOT_SUPPORTED', 'there are no settings here')),
};
