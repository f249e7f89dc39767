import type { SettingKey, Values } from '../settings/settings.ts';

/** Settings that only count with a switch; who gives one believes that it acts. */
const switchOf = {
  mb_cert: 'mb_enc',
  mb_key: 'mb_enc',
  mb_root_cert: 'mb_enc',
  mb_ciphers: 'mb_enc',
  rtu_port: 'rtu_enable',
} as const satisfies Partial<Record<SettingKey, SettingKey>>;

/** What is given while its switch is off, in words for the log. */
export function unusedSettings(values: Values): readonly string[] {
  return (Object.keys(switchOf) as (keyof typeof switchOf)[])
    .filter((key) => values[key] !== null && !values[switchOf[key]])
    .map((key) => `${key} is given and has no effect, because ${switchOf[key]} is off`);
}
