/** Words and colours of runs, steps and assertions. */
import type { ReplyOf } from '../../api/call';
import type { Tone } from '../../kit/panel';

export type Listing = ReplyOf<'scenarios'>;
export type Bundled = Listing['bundled'][number];
export type Kept = Listing['scenarios'][number];
export type RunSummary = ReplyOf<'scenario-runs'>['runs'][number];
export type Run = ReplyOf<'scenario-runs/{run}'>;
/** The course of a run. */
export type Course = RunSummary['run'];

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

type Counts = Pick<Course, 'assertions_passed' | 'assertions_failed' | 'assertions_in_all'>;

/** `3 passed, 1 failed, 1 open`; `none` without assertions */
export function assertionsText({ assertions_passed, assertions_failed, assertions_in_all }: Counts): string {
  const counts = [
    [assertions_passed, 'passed'],
    [assertions_failed, 'failed'],
    [assertions_in_all - assertions_passed - assertions_failed, 'open'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return parts.join(', ') || 'none';
}

export const placeOf = (beside: boolean): string => (beside ? 'beside' : 'here');

export function parametersText(parameters: Course['parameters']): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name} = ${String(value)}`)
    .join(', ');
}

/** Real seconds of a run; null: it lasts. */
export function tookS({ started_at, ended_at }: Pick<Course, 'started_at' | 'ended_at'>): number | null {
  return ended_at === null ? null : (Date.parse(ended_at) - Date.parse(started_at)) / 1000;
}

/** The first sentence of a description. */
export function firstSentence(text: string): string {
  // a number of a clause has a dot without a space
  return /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text;
}
