/** Explains the power in one sentence. */
import type { ReplyOf } from '../../api/call';
import { digits, timeOfDay, words } from '../../look/format';

export type Trace = ReplyOf<'grid-support/trace'>;
export type Controls = ReplyOf<'controls'>;
export type ModeName = keyof Controls['modes'];

/** Deciders that are not functions. */
const reasons: Readonly<Record<string, string>> = {
  source: 'the source gives no more (nothing limits)',
  w_max: 'maximum active power (702.WMax)',
  charge_limit: 'the charge limit or the source',
  discharge_limit: 'the discharge limit of the storage',
  idle: 'idle, there is no set-point',
  ramp: 'a ramp is on its way back',
  site: 'a limit of the connection point',
  second_limiter: 'an injected limit without a register',
  apparent_power: 'the circle of apparent power or current',
  cessation: 'momentary cessation',
  out_of_service: 'out of service',
};

const limiting: ReadonlySet<string> = new Set(['max_power', 'volt_watt', 'freq_droop']);

/** `volt_watt` becomes "volt-watt". */
export function functionWords(name: string): string {
  return /^(volt|watt)_/.test(name) || name === 'anti_islanding' ? name.replaceAll('_', '-') : words(name);
}

/** `, set by modbus (127.0.0.1:4000) at 12:04:07`; empty for start values. */
export function setBy(mode: Controls['modes'][ModeName] | undefined): string {
  if (mode?.source === undefined || ['default', 'profile'].includes(mode.source)) return '';
  const detail = mode.source_detail ? ` (${mode.source_detail})` : '';
  return `, set by ${mode.source}${detail} at ${timeOfDay(mode.changed_at)}`;
}

/** @param controls of the same device; absent: the sentence omits the writer of the limit */
export function sentenceOf(present: Trace['now'], controls?: Controls): string {
  const { active_power_kw: power, available_kw: available, active_decided_by: by } = present;
  const head = `${digits(power, 2)}\u00a0kW of ${digits(available, 2)}\u00a0kW available`;
  const mode = controls?.modes[by as ModeName];
  if (by in reasons) return `${head}: ${reasons[by]}${by === 'out_of_service' ? ` (${words(present.service)})` : ''}`;
  return `${head}: ${functionWords(by)} ${limiting.has(by) ? 'limits' : 'sets the power'}${setBy(mode)}`;
}
