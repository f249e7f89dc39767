/** Instants and spans of the simulated clock. */
import { DerbenchError } from './error.ts';
import type { Time } from './replies.ts';

/** Simulated seconds of a tick. */
export function tickSeconds({ tick_interval_s: intervalS, rate }: Time): number {
  return intervalS * rate;
}

const secondsPerDay = 86_400;
const clockPattern = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

function secondOfDay(clock: string): number | null {
  const found = clockPattern.exec(clock);
  if (found === null) return null;
  const [, hours = '0', minutes = '0', seconds = '0'] = found;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/**
 * A simulated instant, ms since the epoch.
 * @param to `2026-06-21T12:05:00Z`, or a time of day as `12:05`: the next one of the simulated clock, the present included
 * @throws DerbenchError `validation`
 */
export function instantOf(to: string, now: Time): number {
  const wanted = secondOfDay(to);
  const instantMs = Date.parse(now.sim_time);
  if (wanted !== null) {
    // the clock shows whole seconds
    const presentMs = (secondOfDay(now.clock_time) ?? 0) * 1000 + (instantMs % 1000);
    const aheadMs = wanted * 1000 - presentMs;
    return instantMs + (aheadMs < 0 ? aheadMs + secondsPerDay * 1000 : aheadMs);
  }
  const date = Date.parse(to);
  if (Number.isNaN(date) || !/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(to))
    throw new DerbenchError({
      code: 'validation',
      detail: `given ${JSON.stringify(to)}; allowed: an instant as 2026-06-21T12:05:00Z, or a time of day as 12:05`,
      issues: [{ name: 'to', detail: 'is neither an instant nor a time of day' }],
    });
  return date;
}
