/**
 * The schedules of one outstation, of which a window shows one, and the times at which they begin and change. Dates are in
 * ms since the epoch, UTC. AN2018-001 2.9
 */
import { pointsPerSchedule } from '../table/rows.ts';
import { WindowHolder } from '../window.ts';

/** Schedules of an outstation. */
export const scheduleCount = 10;

/** Codes of AI573 that run. Every other type fails validation. */
export const scheduleType = {
  generationLimit: 13,
  setPoint: 14,
  voltWatt: 21,
  constantVar: 25,
  powerFactor: 26,
  voltVar: 27,
  wattVar: 28,
} as const;

/** Codes of AI578. Those of the profile are not published: these are our own. */
export const validation = {
  /** written to since the number of points was written */
  none: 0,
  valid: 1,
  /** the type is none that the device carries out */
  badType: 2,
  /** the device refuses a value, or a curve is not of the type */
  badValue: 3,
  /** start, repetition or time offsets */
  badTime: 4,
} as const;
export type Validation = (typeof validation)[keyof typeof validation];

/** Codes of AI579 and AI781. */
export const scheduleStatus = { notAvailable: 1, inactive: 2, ready: 3, running: 4 } as const;

/** Days of the week, from Sunday. */
export const daysPerWeek = 7;

/** One schedule in wire units. */
export interface Schedule {
  /** of the master: nothing follows from it */
  identity: number;
  /** the greatest one runs */
  priority: number;
  type: number;
  /** days since 1970-01-01, UTC */
  startDay: number;
  /** ms of the day, UTC */
  startMs: number;
  /** in `unit` */
  interval: number;
  unit: number;
  /** points in use; written last */
  count: number;
  /** from Sunday */
  readonly weekdays: boolean[];
  /** time offset in s and value in turn */
  readonly values: Int32Array;
  validation: Validation;
  /** it runs when its time has come */
  isReady: boolean;
}

const fresh = (): Schedule => ({
  identity: 0,
  priority: 1,
  type: 0,
  startDay: 0,
  startMs: 0,
  interval: 0,
  unit: 0,
  count: 0,
  weekdays: Array.from({ length: daysPerWeek }, () => false),
  values: new Int32Array(2 * pointsPerSchedule),
  validation: validation.none,
  isReady: false,
});

/** Seconds from the start to a point. @param i from 0 */
const offsetS = ({ values }: Schedule, i: number): number => values[2 * i] ?? 0;
/** Value of a point, wire units. @param i from 0 */
export const valueOf = ({ values }: Schedule, i: number): number => values[2 * i + 1] ?? 0;

export class ScheduleStore {
  /** number of the schedule in the window, from 1 */
  selected = 1;
  readonly holder = new WindowHolder();
  #schedules = new Map<number, Schedule>();

  /** @param number from 1 */
  schedule(number: number): Schedule {
    const schedule = this.#schedules.get(number) ?? fresh();
    this.#schedules.set(number, schedule);
    return schedule;
  }

  get current(): Schedule {
    return this.schedule(this.selected);
  }

  /** Ready schedules, by number. */
  get ready(): readonly (readonly [number: number, schedule: Schedule])[] {
    return [...this.#schedules].filter(([, { isReady }]) => isReady);
  }

  clear(): void {
    this.#schedules.clear();
    this.selected = 1;
    this.holder.forget();
  }
}

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
interface Moment {
  /** point in force, from 0; null: none */
  readonly point: number | null;
  /** start of the run that lasts; null: none does */
  readonly startMs: number | null;
  /** when this changes; null: never */
  readonly nextMs: number | null;
}

/** The state of a valid schedule at an instant; a schedule that is started while it runs restarts. */
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
