/** The settings in force: those of the start, and the layer that requests put over them. */
import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { AppConfig, ChangeInForce } from '../config/settings/app-config.ts';
import { refused, unknownName } from '../config/issues/issues.ts';
import { missingCertificate } from '../config/issues/pem-sources.ts';
import { changesText } from '../config/settings/changes.ts';
import { switches } from '../config/settings/setting.ts';
import { declarations } from '../config/settings/describe.ts';
import { isChangeable, isSettingKey, settingKeys, settingOf } from '../config/settings/settings.ts';
import type { LiveKey, SettingKey } from '../config/settings/settings.ts';
import type { CertificateStore } from '../contract/certificates.ts';
import type {
  AdapterEffects,
  RestartableAdapter,
  SettingReport,
  SettingsChange,
  SettingsControl,
} from '../contract/settings.ts';
import { errorText, pointerStep, SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import type { Kept } from '../core/kept.ts';
import type { Logger } from '../core/log/log.ts';
import { originText } from '../core/origin.ts';
import type { Origin } from '../core/origin.ts';
import type { JsonValue } from '../core/store.ts';
import { Turns } from '../core/turns.ts';
import { withinLimit } from '../core/time/timers.ts';
import type { Later } from '../core/time/timers.ts';
import type { NotOpened, RestartOptions } from './adapters/seats.ts';
import { isSwitchedOn, stepsOf, stepsText } from './adapters/steps.ts';
import { chosenCertificates, useCertificates } from './chosen-certificates.ts';
import { requestIssue } from './request-issues.ts';

/** A value that a request has set, and the value of the configuration at that time. */
interface KeptSetting {
  readonly value: JsonValue;
  readonly configured: JsonValue;
}

type KeptSettings = Readonly<Record<string, KeptSetting>>;

type Layer = ReadonlyMap<SettingKey, unknown>;

/** Applies a changed setting. It must not throw. */
type Follower = (config: AppConfig, by: Origin) => void;

function reasonsOf(error: unknown): string {
  if (!(error instanceof SimError) || error.issues.length === 0) return errorText(error);
  return error.issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
}

/** The value of a request beside that of the configuration; secrets are not repeated. */
function winsText(key: SettingKey, requested: unknown, configured: unknown): string {
  const [here, there] = settingOf(key).secret
    ? ['', '']
    : [requested, configured].map((value) => ` ${JSON.stringify(value)}`);
  return `${key} is${here} as a request has set it, not${there} as the changed configuration says`;
}

/** The value of the configuration in place of that of a request; secrets are not repeated. */
function requestText(key: SettingKey, configured: unknown, requested: unknown): string {
  if (settingOf(key).secret) return key;
  return `${key} is ${JSON.stringify(configured)} in place of ${JSON.stringify(requested)}`;
}

const changeableKeys = settingKeys.filter(isChangeable);

/** Restarts adapters by the settings in force; those that do not open are switched off. @throws SimError STOPPING */
type Restart = (adapters: readonly RestartableAdapter[], how: RestartOptions) => Promise<NotOpened>;

/** Further changes are refused, so that a slow adapter does not collect them. */
const maxWaiting = 16;

/** An end waits so long for a change under way, ms: adapters that close then are ended with all others. */
const endLimitMs = 1000;

const isStopping = () => new SimError('STOPPING', 'the simulator is stopping');

interface SettingsOptions {
  readonly log: Pick<Logger, 'error' | 'info' | 'warning'>;
  readonly certificates: CertificateStore;
  readonly later: Later;
  /** why kept settings of requests are not in force; null: they are */
  readonly withoutRequests: string | null;
}

/** The layer of requests, and the configuration with it. */
interface InForce {
  readonly rest: Layer;
  readonly config: AppConfig;
}

export class SettingsInForce implements SettingsControl {
  readonly #start: AppConfig;
  readonly #log: Pick<Logger, 'error' | 'info' | 'warning'>;
  readonly #certificates: CertificateStore;
  readonly #followers: { readonly keys: readonly LiveKey[]; readonly act: Follower }[] = [];
  /** one change at a time: its adapters restart before the next one is read */
  readonly #turns = new Turns();
  readonly #later: Later;
  readonly #withoutRequests: string | null;
  readonly #ending = new AbortController();
  /** adapters that the settings in force switch on, and that did not open */
  readonly #off = new Set<RestartableAdapter>();
  #restart: Restart = () => Promise.resolve(new Map());
  /** while adapters restart, the settings that they try */
  #tried: InForce;
  /** settings that a restart of the process begins with */
  #proven: InForce;
  /** ends the uses of the certificates that `#proven` chooses */
  #endUses: () => void;
  /** settings of an earlier process that are not in force, and stay in the folder until a request changes settings */
  #unrestored: KeptSettings | null = null;
  /** null: to be made anew */
  #reports: readonly SettingReport[] | null = null;

  /** @throws SimError CONFIG_INVALID for certificates that do not exist or do not fit */
  constructor(start: AppConfig, { log, certificates, later, withoutRequests }: SettingsOptions) {
    this.#start = start;
    this.#later = later;
    this.#withoutRequests = withoutRequests;
    this.#tried = this.#proven = { rest: new Map(), config: start };
    this.#log = log;
    this.#certificates = certificates;
    // the check of the configuration had no certificates yet
    if (chosenCertificates(start).size > 0) start.settings.with(new Map(), certificates);
    this.#endUses = useCertificates(certificates, start);
    // a start reads those of the configuration before the changes of requests
    useCertificates(certificates, start);
  }

  /** The configuration with what requests have changed. */
  get config(): AppConfig {
    return this.#tried.config;
  }

  /** Value in force, in the form of the settings. */
  valueOf(key: SettingKey): JsonValue {
    return this.#valueIn(this.#proven.rest, key);
  }

  /** Calls `act` after each change of one of the settings. */
  follow(keys: readonly LiveKey[], act: Follower): void {
    this.#followers.push({ keys, act });
  }

  restartWith(restart: Restart): void {
    this.#restart = restart;
  }

  /** True once no change begins any more. */
  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Adapters that a start has left switched off; the next request that changes settings opens them. */
  leaveOff(notOpened: NotOpened): void {
    for (const [name, error] of notOpened) {
      this.#off.add(name);
      this.#log.warning(
        `${name} is switched off until a request changes settings, since it did not start: ${reasonsOf(error)}`,
      );
    }
  }

  get isLocked(): boolean {
    return this.#start.settingsLocked;
  }

  get reports(): readonly SettingReport[] {
    const { originOf } = this.#start.settings;
    const { rest } = this.#proven;
    this.#reports ??= declarations().map((declaration) => {
      const { key, isSecret } = declaration;
      const value = this.valueOf(key);
      return {
        ...declaration,
        value: isSecret ? null : value,
        isSet: value !== null,
        origin: rest.has(key) ? 'rest' : originOf(key),
      };
    });
    return this.#reports;
  }

  /** True if requests have changed settings of adapters. */
  get hasRequestedAdapters(): boolean {
    return [...this.#proven.rest.keys()].some((key) => settingOf(key).changes.by === 'adapter');
  }

  change(values: Readonly<Record<string, unknown>>, by: Origin): Promise<SettingsChange> {
    if (this.#turns.waiting >= maxWaiting)
      return Promise.reject(
        new SimError('COMMAND_CONFLICT', `nothing is changed: ${maxWaiting} changes of settings wait already`),
      );
    return this.#turns.take(async () => {
      if (this.isEnding) throw isStopping();
      const { read, refusals } = this.#read(values);
      if (refusals.length > 0) throw new SimError('COMMAND_CONFLICT', refusals.join('; '));
      const rest = new Map(this.#proven.rest);
      for (const [key, value] of read) {
        if (value === null) rest.delete(key);
        else rest.set(key, value);
      }
      const keys = [...read.keys()];
      const change = { former: this.config, opened: this.#openedBy(rest, keys) };
      const adapters = await this.#put(this.#inForce(rest, change), keys, by);
      return { keys, adapters };
    });
  }

  /** Refuses further changes, and opens no adapter any more; resolves when no change is under way, or after 1 s. */
  async end(): Promise<void> {
    this.#ending.abort();
    this.#turns.refuseWaiting(isStopping());
    await withinLimit(this.#turns.settled(), endLimitMs, this.#later).catch(() => undefined);
  }

  /** The layer of requests. Where the configuration has changed since, the layer wins, with a line in the log. */
  kept(): Kept {
    return {
      save: () => {
        if (this.#unrestored !== null) return this.#unrestored as unknown as JsonValue;
        const { values } = this.#start.settings;
        const entries = [...this.#proven.rest].map(([key, value]) => [key, { value, configured: values[key] }]);
        return Object.fromEntries(entries) as JsonValue;
      },
      restore: (saved) => {
        this.#restore(saved as unknown as KeptSettings);
      },
    };
  }

  #valueIn(rest: Layer, key: SettingKey): JsonValue {
    return (rest.has(key) ? rest.get(key) : this.#start.settings.values[key]) as JsonValue;
  }

  /**
   * Values in the form of the settings, null for those taken back, and the reasons of settings that change at a start
   * alone.
   * @throws SimError COMMAND_BAD_VALUE for unknown keys and values that are not allowed
   */
  #read(values: Readonly<Record<string, unknown>>) {
    const read = new Map<SettingKey, unknown>();
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
      else if (!isChangeable(key))
        refusals.push(`${key} is not changed: a change takes effect ${changesText(changes).replace(/\.$/, '')}`);
      else {
        const issue = kind.isFile === true && typeof value === 'string' ? this.#sourceIssue(name, value) : null;
        if (issue === null) read.set(key, value);
        else issues.push(issue);
      }
    }
    if (issues.length > 0) throw new SimError('COMMAND_BAD_VALUE', 'settings that are not valid', issues);
    return { read, refusals };
  }

  /** The issue of a file of this machine, or of a certificate that does not exist; null: the value is neither. */
  #sourceIssue(name: string, value: string): Issue | null {
    if (isAbsolute(value)) return { name, detail: 'a path; a request names no file of this machine' };
    return missingCertificate(name, value, this.#certificates);
  }

  /** Settings whose values differ in two layers of requests. */
  #changedIn(former: Layer, next: Layer): readonly SettingKey[] {
    return changeableKeys.filter((key) => !isDeepStrictEqual(this.#valueIn(former, key), this.#valueIn(next, key)));
  }

  /** Adapters of settings that change, and those of named settings that did not open. */
  #openedBy(rest: Layer, named: readonly SettingKey[]): ReadonlySet<RestartableAdapter> {
    const adaptersOf = (keys: readonly SettingKey[]) =>
      keys.flatMap((key) => {
        const { changes } = settingOf(key);
        return changes.by === 'adapter' ? changes.adapter : [];
      });
    const off = adaptersOf(named).filter((adapter) => this.#off.has(adapter));
    return new Set([...adaptersOf(this.#changedIn(this.#proven.rest, rest)), ...off]);
  }

  /** @param change absent: a start @throws SimError COMMAND_BAD_VALUE with JSON pointers */
  #inForce(rest: Layer, change?: ChangeInForce): InForce {
    try {
      return { rest, config: this.#start.settings.with(rest, this.#certificates, change) };
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
      throw new SimError('COMMAND_BAD_VALUE', error.message, error.issues.map(requestIssue));
    }
  }

  /**
   * Puts settings in force, or leaves the former ones there.
   * @param named settings of the request, also those that keep their values
   * @throws SimError COMMAND_CONFLICT for an adapter that does not start with the settings
   */
  async #put(next: InForce, named: readonly SettingKey[], by: Origin): Promise<AdapterEffects> {
    const former = this.#proven;
    const changed = this.#changedIn(former.rest, next.rest);
    const steps = stepsOf({
      former: former.config,
      next: next.config,
      named,
      changed,
      off: this.#off,
      isUsed: (key) => [former, next].some(({ rest }) => this.#valueIn(rest, key) === true),
    });
    const endUses = useCertificates(this.#certificates, next.config);
    this.#tried = next;
    try {
      if (steps.size > 0) await this.#restartOrReturn(steps, former, by);
    } catch (error) {
      this.#tried = former;
      endUses();
      throw error;
    }
    this.#establish(next, endUses);
    this.#unrestored = null;
    this.#warn(former, next);
    for (const { keys, act } of this.#followers) if (keys.some((key) => changed.includes(key))) act(next.config, by);
    const opened = await this.#openAgain();
    return new Map([...steps, ...opened.map((name) => [name, 'switched_on'] as const)]);
  }

  /** The lines of a start that the former settings did not have; not those of settings that wait for their switch. */
  #warn(former: InForce, { rest, config: { unused, notices } }: InForce): void {
    const before = new Set([...former.config.unused, ...former.config.notices]);
    const isSwitchedOff = switches.some((key) => this.#valueIn(former.rest, key) && !this.#valueIn(rest, key));
    for (const line of [...(isSwitchedOff ? [] : unused), ...notices]) if (!before.has(line)) this.#log.warning(line);
  }

  #establish(next: InForce, endUses: () => void): void {
    this.#tried = this.#proven = next;
    this.#endUses();
    this.#endUses = endUses;
    this.#reports = null;
  }

  async #restartOrReturn(steps: AdapterEffects, former: InForce, by: Origin): Promise<void> {
    const names = [...steps.keys()];
    const [failure] = await this.#restartAll(names, false);
    if (failure === undefined) {
      this.#log.info(`${stepsText(steps)}, asked by ${originText(by)}`);
      return;
    }
    this.#tried = former;
    const left = await this.#restartAll(names, true);
    const reason = reasonsOf(failure[1]);
    if (left.size === 0) throw new SimError('COMMAND_CONFLICT', `the former settings are in force again: ${reason}`);
    const offText = Array.from(left, ([name, error]) => `${name} (${reasonsOf(error)})`).join(', ');
    this.#log.error(`switched off, since they do not start with the former settings either: ${offText}`);
    throw new SimError(
      'COMMAND_CONFLICT',
      `no setting is changed: ${reason}; switched off, since they do not start with the former settings either, until ` +
        `a request changes settings: ${offText}`,
    );
  }

  async #restartAll(names: readonly RestartableAdapter[], goesOn: boolean): Promise<NotOpened> {
    const failures = await this.#restart(names, { goesOn, ending: this.#ending.signal });
    for (const name of names)
      if (failures.has(name)) this.#off.add(name);
      else this.#off.delete(name);
    return failures;
  }

  /** Opens adapters that an earlier change has left switched off. @returns those that are open now */
  async #openAgain(): Promise<readonly RestartableAdapter[]> {
    const names = [...this.#off].filter((name) => isSwitchedOn(this.config, name));
    if (names.length === 0) return [];
    const failures = await this.#restartAll(names, true);
    for (const [name, error] of failures) this.#log.error(`${name} is still switched off: ${reasonsOf(error)}`);
    return names.filter((name) => !failures.has(name));
  }

  #restore(saved: KeptSettings): void {
    const { values, directory } = this.#start.settings;
    const rest = new Map<SettingKey, unknown>();
    const lines: string[] = [];
    for (const [key, { value: raw, configured }] of Object.entries(saved)) {
      const value = isSettingKey(key) && isChangeable(key) ? settingOf(key).kind.read(raw, directory) : undefined;
      if (!isSettingKey(key) || value === undefined) {
        this.#log.warning(
          `${key}, set by a request, is not restored: it is no value of a setting that changes while the simulator runs`,
        );
        continue;
      }
      rest.set(key, value);
      if (!isDeepStrictEqual(values[key], configured))
        lines.push(`${winsText(key, value, values[key])}; PATCH settings with null takes the request back`);
    }
    if (this.#withoutRequests !== null) {
      this.#unrestored = saved;
      const keys = [...rest.keys()].map((key) => requestText(key, values[key], rest.get(key)));
      this.#log.warning(`the settings of requests are not restored: ${this.#withoutRequests}; ${keys.join(', ')}`);
      return;
    }
    try {
      const restored = this.#inForce(rest);
      this.#establish(restored, useCertificates(this.#certificates, restored.config));
      for (const { act } of this.#followers) act(this.#tried.config, { source: 'rest' });
      for (const line of lines) this.#log.info(line);
    } catch (error) {
      this.#unrestored = saved;
      this.#log.warning(`the settings of requests are not restored: ${reasonsOf(error)}`);
    }
  }
}
