/** The settings in force: those of the start, and the layer that requests put over them. */
import { isDeepStrictEqual } from 'node:util';
import type { AppConfig } from '../config/settings/app-config.ts';
import { refused, unknownName } from '../config/issues/issues.ts';
import { changesText } from '../config/settings/changes.ts';
import { declarations } from '../config/settings/describe.ts';
import { isLive, isSettingKey, settingKeys, settingOf } from '../config/settings/settings.ts';
import type { LiveKey, SettingKey } from '../config/settings/settings.ts';
import type { SettingReport, SettingsControl } from '../contract/settings.ts';
import { errorText, pointerStep, SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import type { Kept } from '../core/kept.ts';
import type { Logger } from '../core/log/log.ts';
import type { Origin } from '../core/origin.ts';
import type { JsonValue } from '../core/store.ts';

/** A value that a request has set, and the value of the configuration at that time. */
interface KeptSetting {
  readonly value: JsonValue;
  readonly under: JsonValue;
}

type Layer = ReadonlyMap<LiveKey, unknown>;

/** Applies a changed setting. It must not throw. */
type Follower = (config: AppConfig, by: Origin) => void;

function reasonsOf(error: unknown): string {
  if (!(error instanceof SimError) || error.issues.length === 0) return errorText(error);
  return error.issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
}

const liveKeys = settingKeys.filter(isLive);

export class SettingsInForce implements SettingsControl {
  readonly #start: AppConfig;
  readonly #log: Pick<Logger, 'info' | 'warning'>;
  readonly #followers: { readonly keys: readonly LiveKey[]; readonly act: Follower }[] = [];
  #config: AppConfig;
  #rest: Layer = new Map();
  /** null: to be made anew */
  #reports: readonly SettingReport[] | null = null;

  constructor(start: AppConfig, log: Pick<Logger, 'info' | 'warning'>) {
    this.#start = start;
    this.#config = start;
    this.#log = log;
  }

  /** The configuration with the live settings as they are now. */
  get config(): AppConfig {
    return this.#config;
  }

  /** Calls `act` after each change of one of the settings. */
  follow(keys: readonly LiveKey[], act: Follower): void {
    this.#followers.push({ keys, act });
  }

  get isLocked(): boolean {
    return this.#start.settingsLocked;
  }

  get reports(): readonly SettingReport[] {
    const { originOf } = this.#start.settings;
    this.#reports ??= declarations().map((declaration) => {
      const { key, isSecret } = declaration;
      const value = this.#valueOf(key);
      return {
        ...declaration,
        value: isSecret ? null : value,
        isSet: value !== null,
        origin: isLive(key) && this.#rest.has(key) ? 'rest' : originOf(key),
      };
    });
    return this.#reports;
  }

  change(values: Readonly<Record<string, unknown>>, by: Origin): readonly string[] {
    const { read, refusals } = this.#read(values);
    if (refusals.length > 0) throw new SimError('COMMAND_CONFLICT', refusals.join('; '));
    const rest = new Map(this.#rest);
    for (const [key, value] of read) {
      if (value === null) rest.delete(key);
      else rest.set(key, value);
    }
    try {
      this.#put(rest, by);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
      throw new SimError('COMMAND_BAD_VALUE', error.message, error.issues);
    }
    return [...read.keys()];
  }

  /** The layer of requests. Where the configuration has changed since, the layer wins, with a line in the log. */
  kept(): Kept {
    return {
      save: () => {
        const { values } = this.#start.settings;
        const entries = [...this.#rest].map(([key, value]) => [key, { value, under: values[key] }]);
        return Object.fromEntries(entries) as JsonValue;
      },
      restore: (saved) => {
        this.#restore(saved as unknown as Readonly<Record<string, KeptSetting>>);
      },
    };
  }

  #valueOf(key: SettingKey): JsonValue {
    const value = isLive(key) && this.#rest.has(key) ? this.#rest.get(key) : this.#start.settings.values[key];
    return value as JsonValue;
  }

  /**
   * Values in the form of the settings, null for those taken back, and the reasons of settings that do not change at once.
   * @throws SimError COMMAND_BAD_VALUE for unknown keys and values that are not allowed
   */
  #read(values: Readonly<Record<string, unknown>>) {
    const read = new Map<LiveKey, unknown>();
    const issues: Issue[] = [];
    const refusals: string[] = [];
    for (const [key, raw] of Object.entries(values)) {
      const name = pointerStep(key);
      if (!isSettingKey(key)) {
        issues.push(unknownName(name, 'setting', key, settingKeys));
        continue;
      }
      const { kind, changes, secret = false } = settingOf(key);
      const value = raw === null ? null : kind.read(raw, this.#start.settings.directory);
      if (value === undefined) issues.push(refused(name, raw, kind.allowed, { secret, remark: kind.remark(raw) }));
      else if (isLive(key)) read.set(key, value);
      else refusals.push(`${key} is not changed: a change takes effect ${changesText(changes).replace(/\.$/, '')}`);
    }
    if (issues.length > 0) throw new SimError('COMMAND_BAD_VALUE', 'settings that are not valid', issues);
    return { read, refusals };
  }

  /** Replaces the layer of requests. @throws SimError CONFIG_INVALID, with nothing changed */
  #put(rest: Layer, by: Origin): void {
    const config = this.#start.settings.with(rest);
    const before = new Map(liveKeys.map((key) => [key, this.#valueOf(key)]));
    this.#rest = rest;
    this.#config = config;
    this.#reports = null;
    const hasChanged = (key: LiveKey) => !isDeepStrictEqual(before.get(key), this.#valueOf(key));
    for (const { keys, act } of this.#followers) if (keys.some(hasChanged)) act(config, by);
  }

  #restore(saved: Readonly<Record<string, KeptSetting>>): void {
    const { values, directory } = this.#start.settings;
    const rest = new Map<LiveKey, unknown>();
    const lines: string[] = [];
    for (const [key, { value: raw, under }] of Object.entries(saved)) {
      const value = isSettingKey(key) && isLive(key) ? settingOf(key).kind.read(raw, directory) : undefined;
      if (!isSettingKey(key) || !isLive(key) || value === undefined) {
        this.#log.warning(
          `${key}, set by a request, is not restored: it is no value of a setting that changes at once`,
        );
        continue;
      }
      rest.set(key, value);
      if (!isDeepStrictEqual(values[key], under))
        lines.push(
          `${key} is ${JSON.stringify(value)} as a request has set it, not ${JSON.stringify(values[key])} ` +
            'as the changed configuration says; PATCH settings with null takes the request back',
        );
    }
    try {
      this.#put(rest, { source: 'rest' });
      for (const line of lines) this.#log.info(line);
    } catch (error) {
      this.#log.warning(`the settings of requests are not restored: ${reasonsOf(error)}`);
    }
  }
}
