/** When a schedule begins, and which of its points is in force. Dates are in ms since the epoch, UTC. */
import { daysPerWeek, offsetS } from './store.ts';
import type { Schedule } from './store.ts';

/** Codes of AI577. */
export const repeatUnit = { none: 0, seconds: 1, minutes: 2, hours: 3, days: 4, weeks: 5, months: 6 } as const;

const dayMs = 86_400_000;
/** The last date that there is. */
const lastDateMs = 8.64e15;
/** Weekday of the day 0, from Sunday. */
const firstWeekday = 4;

const unitMs: Readonly<Record<number, number>> = {
  [repeatUnit.seconds]: 1000,
  [repeatUnit.minutes]: 60_000,
  [repeatUnit.hours]: 3_600_000,
  [repeatUnit.days]: dayMs,
  [repeatUnit.weeks]: daysPerWeek * dayMs,
};

type Timing = Pick<Schedule, 'startDay' | 'startMs' | 'interval' | 'unit' | 'weekdays'>;

const firstStart = ({ startDay, startMs }: Timing) => startDay * dayMs + startMs;

/** True if weekdays decide: alone, or every so many weeks. With other units they say nothing. */
const isByWeekday = ({ unit, weekdays }: Timing) =>
  weekdays.includes(true) && (unit === repeatUnit.none || unit === repeatUnit.weeks);

const weekOf = (day: number) => Math.floor((day + firstWeekday) / daysPerWeek);

function weekdayStarts(timing: Timing, atMs: number): readonly number[] {
  const { startDay, startMs, unit, weekdays } = timing;
  const interval = unit === repeatUnit.weeks ? timing.interval : 1;
  const first = weekOf(startDay);
  const present = Math.floor((weekOf(Math.floor(atMs / dayMs)) - first) / interval);
  return [present - 1, present, present + 1].flatMap((n) =>
    weekdays.flatMap((isOn, weekday) => {
      const day = (first + n * interval) * daysPerWeek - firstWeekday + weekday;
      return isOn && day >= startDay ? [day * dayMs + startMs] : [];
    }),
  );
}

/** The day of the month is that of the first start, or the last one of a shorter month. */
function monthStarts(timing: Timing, atMs: number): readonly number[] {
  const [first, at] = [new Date(firstStart(timing)), new Date(atMs)];
  const timeMs = first.getTime() % dayMs;
  const passed = 12 * (at.getUTCFullYear() - first.getUTCFullYear()) + at.getUTCMonth() - first.getUTCMonth();
  const present = Math.floor(passed / timing.interval);
  return [present - 1, present, present + 1].map((n) => {
    const month = first.getUTCMonth() + n * timing.interval;
    const last = new Date(Date.UTC(first.getUTCFullYear(), month + 1, 0)).getUTCDate();
    return Date.UTC(first.getUTCFullYear(), month, Math.min(first.getUTCDate(), last)) + timeMs;
  });
}

/** Some starts in order, the last one until an instant and the first one after it among them. */
function startsNear(timing: Timing, atMs: number): readonly number[] {
  const first = firstStart(timing);
  const before = Math.max(first, atMs);
  if (isByWeekday(timing)) return weekdayStarts(timing, before);
  if (timing.unit === repeatUnit.none) return [first];
  if (timing.unit === repeatUnit.months) return monthStarts(timing, before);
  const stepMs = (unitMs[timing.unit] ?? Infinity) * timing.interval;
  const last = first + Math.floor((before - first) / stepMs) * stepMs;
  return [last, last + stepMs];
}

/** True if start and repetition are dates. */
export function isTiming(timing: Timing): boolean {
  const { unit, interval } = timing;
  if (firstStart(timing) > lastDateMs) return false;
  return unit === repeatUnit.none || (interval > 0 && (unit === repeatUnit.months || unitMs[unit] !== undefined));
}

/**
 * True if time offsets go up, from two points on: the last point is the end, and its value is never in force.
 */
export function hasOffsets(schedule: Schedule): boolean {
  const offsets = Array.from({ length: schedule.count }, (_, i) => offsetS(schedule, i));
  return offsets.length >= 2 && offsets.every((offset, i) => offset > (offsets[i - 1] ?? -1));
}

/** A schedule at an instant. */
export interface Moment {
  /** point in force, from 0; null: none */
  readonly point: number | null;
  /** start of the run that lasts; null: none does */
  readonly startMs: number | null;
  /** when this changes; null: never */
  readonly nextMs: number | null;
}

/** A schedule that begins again while it runs begins anew. @param schedule a valid one */
export function momentOf(schedule: Schedule, atMs: number): Moment {
  const first = firstStart(schedule);
  const starts = startsNear(schedule, atMs).filter((start) => start >= first && start <= lastDateMs);
  const startMs = starts.findLast((start) => start <= atMs);
  const nextStart = starts.find((start) => start > atMs) ?? null;
  if (startMs === undefined) return { point: null, startMs: null, nextMs: nextStart };
  const changes = Array.from({ length: schedule.count }, (_, i) => startMs + 1000 * offsetS(schedule, i));
  const next = changes.findIndex((change) => change > atMs);
  if (next === -1) return { point: null, startMs: null, nextMs: nextStart };
  const nextMs = Math.min(changes[next] ?? Infinity, nextStart ?? Infinity);
  return { point: next === 0 ? null : next - 1, startMs, nextMs };
}
