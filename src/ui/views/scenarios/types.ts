/** Types and texts of scenarios. */
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import type { Tone } from '../../kit/panel';
import { show } from '../../look/format';

export type Listing = ReplyOf<'scenarios'>;
/** A scenario of the list, without steps and assertions. */
export type Summary = Listing['scenarios'][number];
export type Scenario = ReplyOf<'scenarios/{id}'>;
export type Run = NonNullable<Scenario['run']>;

export const listCall = get('scenarios');
/** Polling interval of the list, ms: scripts start scenarios too. */
export const listPaceMs = 1000;

const tones: Readonly<Record<string, Tone>> = {
  passed: 'good',
  done: 'good',
  failed: 'bad',
  error: 'bad',
  stopped: 'warn',
  dropped: 'warn',
  skipped: 'warn',
};

/** Colour of a state of a run, a step or an assertion. */
export const toneOf = (state: string): Tone => tones[state] ?? 'muted';

/** Simulated seconds in readable form: `12.5 s`, `3 h 20 min 0 s`. */
export function span(s: number | null): string {
  if (s === null || s < 120) return show(s, 'seconds');
  const whole = Math.round(s);
  const hours = Math.floor(whole / 3600);
  return `${hours > 0 ? `${hours} h ` : ''}${Math.floor(whole / 60) % 60} min ${whole % 60} s`;
}

/** `3 passed, 1 failed, 1 open`; `none` without assertions */
export function assertionsText({
  assertions_passed,
  assertions_failed,
  assertions_in_all,
}: NonNullable<Summary['run']>): string {
  const open = assertions_in_all - assertions_passed - assertions_failed;
  const parts = [
    ...(assertions_passed > 0 ? [`${assertions_passed} passed`] : []),
    ...(assertions_failed > 0 ? [`${assertions_failed} failed`] : []),
    ...(open > 0 ? [`${open} open`] : []),
  ];
  return parts.join(', ') || 'none';
}
