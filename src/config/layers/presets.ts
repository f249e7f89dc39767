/** Defaults for a simulator started by a script or a scenario. */
import type { SettingKey } from '../settings/settings.ts';
import type { Layer } from './schema.ts';

/** Ports of listeners, and the setting without which there is no listener; null: there always is. */
const ports: readonly (readonly [port: SettingKey, of: SettingKey | null])[] = [
  ['website_port', null],
  ['mb_port', null],
  ['dnp3_port', 'dnp3_enable'],
  ['csip_website_port', 'csip_client_enable'],
  ['proxy_port', 'proxy'],
];

export interface Presets {
  readonly usesFreePorts: boolean;
  /** time passes only in steps, unless the wall clock is asked for */
  readonly isPaused: boolean;
}

export const noPresets: Presets = { usesFreePorts: false, isPaused: false };

const isOn = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** @param given settings from files, variables and flags */
export function presetLayer({ usesFreePorts, isPaused }: Presets, given: Layer): Layer {
  const free = ports.filter(([, of]) => usesFreePorts && (of === null || isOn(given.get(of))));
  const layer = new Map<SettingKey, unknown>(free.map(([port]) => [port, 0]));
  if (isPaused && given.get('wall_clock') !== true) layer.set('start_paused', true);
  return layer;
}
