/** The effect of a change of settings on the adapters. */
import type { AppConfig } from '../../config/settings/app-config.ts';
import { settingOf } from '../../config/settings/settings.ts';
import type { SettingKey } from '../../config/settings/settings.ts';
import type { AdapterEffect, AdapterEffects, RestartableAdapter } from '../../contract/settings.ts';

const switchedOn: Readonly<Record<RestartableAdapter, (config: AppConfig) => boolean>> = {
  modbus: ({ modbus }) => modbus.enabled,
  'modbus-rtu': ({ rtu }) => rtu !== null,
  proxy: ({ proxy }) => proxy !== null,
  csip: ({ csip }) => csip !== null,
  'csip-website': ({ csip }) => csip !== null && csip.website !== null,
  ocpp: ({ ocpp }) => ocpp !== null,
  dnp3: ({ dnp3 }) => dnp3 !== null,
};

export const isSwitchedOn = (config: AppConfig, adapter: RestartableAdapter): boolean => switchedOn[adapter](config);

interface AdapterChange {
  readonly former: AppConfig;
  readonly next: AppConfig;
  /** settings of the request, also those that keep their values */
  readonly named: Iterable<SettingKey>;
  /** settings with other values than before */
  readonly changed: readonly SettingKey[];
  /** adapters that the former settings switch on, and that did not open */
  readonly off: ReadonlySet<RestartableAdapter>;
  /** True if a setting is on before or after the change. */
  readonly isUsed: (switchKey: SettingKey) => boolean;
}

/** A setting has no effect while its switch or its adapter is off. */
export function stepsOf({ former, next, named, changed, off, isUsed }: AdapterChange): AdapterEffects {
  const steps = new Map<RestartableAdapter, AdapterEffect>();
  for (const key of new Set([...changed, ...named])) {
    const { changes, needs } = settingOf(key);
    if (changes.by !== 'adapter') continue;
    const { adapter } = changes;
    const wasOn = isSwitchedOn(former, adapter);
    const isOn = isSwitchedOn(next, adapter);
    if (wasOn !== isOn || (isOn && off.has(adapter))) steps.set(adapter, isOn ? 'switched_on' : 'switched_off');
    else if (isOn && changed.includes(key) && (needs === undefined || isUsed(needs))) steps.set(adapter, 'restarted');
  }
  return steps;
}

/** `modbus restarted, dnp3 switched on` */
export const stepsText = (steps: AdapterEffects): string =>
  Array.from(steps, ([adapter, effect]) => `${adapter} ${effect.replace('_', ' ')}`).join(', ');
