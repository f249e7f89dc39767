/** Instants and durations of the simulated clock. */
import { refusal } from './checks.ts';
import { DerbenchError } from './error.ts';
import type { Time } from './replies.ts';

/** Length of a tick in simulated seconds. */
export function tickSeconds({ tick_interval_s: intervalS, rate }: Time): number {
  return intervalS * rate;
}

const msPerDay = 86_400_000;
const clockPattern = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

function secondOfDay(clock: string): number | null {
  const match = clockPattern.exec(clock);
  if (match === null) return null;
  const [, hours = '0', minutes = '0', seconds = '0'] = match;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/** Offset of local time from UTC at an instant, both in ms. */
type OffsetMs = (atMs: number) => number;

/** @throws DerbenchError `validation` for an unknown time zone */
function offsetOf(timezone: string): OffsetMs {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    throw refusal(
      timezone,
      'an instant as 2026-06-21T12:05:00Z, since this program does not know the time zone of the clock',
      cause,
    );
  }
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
    return local - Math.floor(atMs / 1000) * 1000;
  };
}

/**
 * The next instant, possibly the present one, at which local clocks show a second of the day. A time that a clock
 * change skips is that of the next day; a time that it repeats occurs twice.
 */
function nextTimeOfDay(second: number, presentMs: number, offsetMs: OffsetMs): number {
  const todayMs = Math.floor((presentMs + offsetMs(presentMs)) / msPerDay) * msPerDay;
  const instants = [0, 1, 2, 3].flatMap((daysAhead) => {
    const localMs = todayMs + daysAhead * msPerDay + second * 1000;
    // the offsets before and after a clock change of that day
    const offsets = [offsetMs(localMs - msPerDay), offsetMs(localMs + msPerDay)];
    return offsets.map((offset) => localMs - offset).filter((atMs) => atMs + offsetMs(atMs) === localMs);
  });
  return Math.min(...instants.filter((atMs) => atMs >= presentMs));
}

/**
 * A simulated instant, ms since the epoch.
 * @param to `2026-06-21T12:05:00Z`, or a time of day such as `12:05`: the next one of the simulated clock, or the
 * present one
 * @throws DerbenchError `validation`
 */
export function instantOf(to: string, time: Time): number {
  const second = secondOfDay(to);
  if (typeof to !== 'string') throw refusal(to, 'an instant as 2026-06-21T12:05:00Z, or a time of day as 12:05');
  const instantMs = Date.parse(time.sim_time);
  if (second !== null) return nextTimeOfDay(second, instantMs, offsetOf(time.timezone));
  const date = Date.parse(to);
  if (Number.isNaN(date) || !/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(to))
    throw new DerbenchError({
      code: 'validation',
      detail: `given ${JSON.stringify(to)}; allowed: an instant as 2026-06-21T12:05:00Z, or a time of day as 12:05`,
      issues: [{ name: 'to', detail: 'is neither an instant nor a time of day' }],
    });
  return date;
}
