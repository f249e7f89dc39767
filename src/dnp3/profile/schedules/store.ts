/** The schedules of one outstation, of which a window shows one. AN2018-001 2.9 */
import { pointsPerSchedule } from '../table/rows.ts';
import { WindowHolder } from '../window-holder.ts';

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
export const offsetS = ({ values }: Schedule, i: number): number => values[2 * i] ?? 0;
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
