/**
 * The schedules of one outstation, of which a window shows one, and the times at which they begin and change. Dates are in
 * ms since the epoch, UTC. AN2018-001 2.9
 */
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { keepNothing } from '../../memory/memory.ts';
import type { Keep } from '../../memory/memory.ts';
import { pointsPerSchedule } from '../table/rows.ts';
import { WindowHolder } from '../window.ts';

/** Number of schedules of an outstation. */
export const scheduleCount = 10;

/** Codes of AI573 that can run. Every other type fails validation. */
export const scheduleType = {
  generationLimit: 13,
  setPoint: 14,
  voltWatt: 21,
  constantVar: 25,
  powerFactor: 26,
  voltVar: 27,
  wattVar: 28,
} as const;

/** Codes of AI578, chosen by derbench: those of the profile are not published. */
export const validation = {
  /** not validated since the last write of a member */
  none: 0,
  valid: 1,
  /** the device does not carry out the type */
  badType: 2,
  /** the device refuses a value, or a curve is not of the type */
  badValue: 3,
  /** invalid start, repetition or time offsets */
  badTime: 4,
} as const;
export type Validation = (typeof validation)[keyof typeof validation];

/** Codes of AI579 and AI781. */
export const scheduleStatus = { notAvailable: 1, inactive: 2, ready: 3, running: 4 } as const;

/** Days of the week, from Sunday. */
export const daysPerWeek = 7;

/** One schedule in wire units. */
export interface Schedule {
  /** chosen by the master, without effect */
  identity: number;
  /** of several schedules the one with the greatest runs */
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
  /** true: the schedule runs at its times */
  isReady: boolean;
}

const newSchedule = (): Schedule => ({
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

/** A schedule as state that a restart keeps: the values are those up to the last one that is not 0. */
type KeptSchedule = Omit<Schedule, 'values'> & { readonly values: readonly number[] };

function keptSchedule({ values, ...members }: Schedule): KeptSchedule {
  return { ...members, values: Array.from(values.slice(0, values.findLastIndex((value) => value !== 0) + 1)) };
}

function restoredSchedule({ values, ...members }: KeptSchedule): Schedule {
  const schedule = { ...newSchedule(), ...members, weekdays: [...members.weekdays] };
  schedule.values.set(values.slice(0, schedule.values.length));
  return schedule;
}

/** Seconds from the start to a point. @param i from 0 */
const offsetS = ({ values }: Schedule, i: number): number => values[2 * i] ?? 0;
/** Value of a point, wire units. @param i from 0 */
export const valueOf = ({ values }: Schedule, i: number): number => values[2 * i + 1] ?? 0;

export class ScheduleStore {
  /** number of the schedule in the window, from 1 */
  selected = 1;
  readonly holder = new WindowHolder();
  #schedules = new Map<number, Schedule>();
  /** to be called after each change */
  readonly changed: () => void;

  constructor(keep: Keep = keepNothing) {
    this.changed = keep('schedules', this.kept());
  }

  /** @param number from 1 */
  schedule(number: number): Schedule {
    const schedule = this.#schedules.get(number) ?? newSchedule();
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
    this.changed();
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      window: this.holder.kept(this),
      schedules: keptRecord(
        () => ({
          schedules: Array.from(this.#schedules, ([number, schedule]) => ({
            number,
            schedule: keptSchedule(schedule),
          })),
        }),
        ({ schedules }) => {
          for (const { number, schedule } of schedules) this.#schedules.set(number, restoredSchedule(schedule));
        },
      ),
    });
  }
}

/** Codes of AI577. */
export const repeatUnit = { none: 0, seconds: 1, minutes: 2, hours: 3, days: 4, weeks: 5, months: 6 } as const;

const dayMs = 86_400_000;
/** The last date of ECMAScript. */
const lastDateMs = 8.64e15;
/** Weekday of day 0, 1970-01-01, counted from Sunday. */
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

/** True if weekdays select the days: without a unit, or with weeks. Other units ignore weekdays. */
const isByWeekday = ({ unit, weekdays }: Timing) =>
  weekdays.includes(true) && (unit === repeatUnit.none || unit === repeatUnit.weeks);

const weekOf = (day: number) => Math.floor((day + firstWeekday) / daysPerWeek);

function weekdayStarts(timing: Timing, atMs: number): readonly number[] {
  const { startDay, startMs, unit, weekdays } = timing;
  const interval = unit === repeatUnit.weeks ? timing.interval : 1;
  const firstWeek = weekOf(startDay);
  const period = Math.floor((weekOf(Math.floor(atMs / dayMs)) - firstWeek) / interval);
  return [period - 1, period, period + 1].flatMap((n) =>
    weekdays.flatMap((isOn, weekday) => {
      const day = (firstWeek + n * interval) * daysPerWeek - firstWeekday + weekday;
      return isOn && day >= startDay ? [day * dayMs + startMs] : [];
    }),
  );
}

/** The day of the month is that of the first start, or the last one of a shorter month. */
function monthStarts(timing: Timing, atMs: number): readonly number[] {
  const [startDate, date] = [new Date(firstStart(timing)), new Date(atMs)];
  const timeMs = startDate.getTime() % dayMs;
  const [startYear, startMonth] = [startDate.getUTCFullYear(), startDate.getUTCMonth()];
  const passedMonths = 12 * (date.getUTCFullYear() - startYear) + date.getUTCMonth() - startMonth;
  const period = Math.floor(passedMonths / timing.interval);
  return [period - 1, period, period + 1].map((n) => {
    const month = startMonth + n * timing.interval;
    const lastDay = new Date(Date.UTC(startYear, month + 1, 0)).getUTCDate();
    return Date.UTC(startYear, month, Math.min(startDate.getUTCDate(), lastDay)) + timeMs;
  });
}

/** Starts in order, among them the last one up to an instant and the first one after it. */
function startsNear(timing: Timing, atMs: number): readonly number[] {
  const firstMs = firstStart(timing);
  const nearMs = Math.max(firstMs, atMs);
  if (isByWeekday(timing)) return weekdayStarts(timing, nearMs);
  if (timing.unit === repeatUnit.none) return [firstMs];
  if (timing.unit === repeatUnit.months) return monthStarts(timing, nearMs);
  const stepMs = (unitMs[timing.unit] ?? Infinity) * timing.interval;
  const lastMs = firstMs + Math.floor((nearMs - firstMs) / stepMs) * stepMs;
  return [lastMs, lastMs + stepMs];
}

/** True if start and repetition are valid. */
export function isTiming(timing: Timing): boolean {
  const { unit, interval } = timing;
  if (firstStart(timing) > lastDateMs) return false;
  return unit === repeatUnit.none || (interval > 0 && (unit === repeatUnit.months || unitMs[unit] !== undefined));
}

/**
 * True if there are two points or more with rising time offsets from 0: the last point is the end, and its value is
 * never in force.
 */
export function hasOffsets(schedule: Schedule): boolean {
  const offsets = Array.from({ length: schedule.count }, (_, i) => offsetS(schedule, i));
  return offsets.length >= 2 && offsets.every((offset, i) => offset > (offsets[i - 1] ?? -1));
}

/** A schedule at an instant. */
interface Moment {
  /** point in force, from 0; null: none */
  readonly point: number | null;
  /** start of the run under way; null: none */
  readonly startMs: number | null;
  /** next change of the schedule; null: none */
  readonly nextMs: number | null;
}

/** A schedule at an instant; a start within a run begins a new run. @param schedule valid */
export function momentOf(schedule: Schedule, atMs: number): Moment {
  const firstMs = firstStart(schedule);
  const starts = startsNear(schedule, atMs).filter((start) => start >= firstMs && start <= lastDateMs);
  const startMs = starts.findLast((start) => start <= atMs);
  const nextStartMs = starts.find((start) => start > atMs) ?? null;
  if (startMs === undefined) return { point: null, startMs: null, nextMs: nextStartMs };
  const changes = Array.from({ length: schedule.count }, (_, i) => startMs + 1000 * offsetS(schedule, i));
  const nextPoint = changes.findIndex((change) => change > atMs);
  if (nextPoint === -1) return { point: null, startMs: null, nextMs: nextStartMs };
  const nextMs = Math.min(changes[nextPoint] ?? Infinity, nextStartMs ?? Infinity);
  return { point: nextPoint === 0 ? null : nextPoint - 1, startMs, nextMs };
}
