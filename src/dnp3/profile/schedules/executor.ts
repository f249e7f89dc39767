/**
 * Runs the ready schedules of a device: at each instant the one with the greatest priority acts, by a hold. At its end
 * the former values are restored, except those that others have written since.
 */
import type { CurveFunction } from '../../../sunspec/map/grid-support/functions.ts';
import type { DeviceHolds, Wanted } from '../../device-port.ts';
import type { Namings } from '../curves/naming.ts';
import type { PartContext } from '../types.ts';
import { curveUseOf, isRunnable, writesOf } from './actions.ts';
import { scheduleStatus, validation, valueOf } from './store.ts';
import type { Schedule, ScheduleStore, Validation } from './store.ts';
import { hasOffsets, isTiming, momentOf } from './times.ts';

/** Seconds within a long tick after which a device is asked again that takes nothing at present. */
const retryS = 60;
/** A clock that has gone back by as much has been set; steps of the wall are smaller. */
const minSetMs = 500;

/** A schedule whose time has come. */
interface Due {
  readonly number: number;
  readonly schedule: Schedule;
  /** from 0 */
  readonly point: number;
  readonly startMs: number;
}

/** Effect of a running schedule, computed once per point: a curve does not change meanwhile. */
interface Acting {
  readonly key: string;
  /** of its hold: each run has one of its own, and takes points back that others took in the run before */
  readonly id: string;
  readonly number: number;
  /** wire units */
  readonly value: number;
  readonly writes: readonly Wanted[];
}

const idOf = ({ number, startMs }: Due) => `schedule ${number} from ${new Date(startMs).toISOString()}`;
const numberOf = (id: string) => Number(id.split(' ')[1]);
const keyOf = ({ number, point, startMs }: Due) => `${number} ${startMs} ${point}`;

/** The greatest priority first, then the latest start, then the lowest number. */
const byPriority = (a: Due, b: Due) =>
  b.schedule.priority - a.schedule.priority || b.startMs - a.startMs || a.number - b.number;

export class ScheduleExecutor {
  readonly #context: PartContext;
  readonly #store: ScheduleStore;
  readonly #namings: Namings;
  readonly #holds: DeviceHolds;
  #acting: Acting | null = null;
  /** value that the device has taken last, wire units */
  #taken = 0;
  /** point that the device has refused, and that is not tried again */
  readonly #refused = new Map<number, string>();
  #cancel: () => void = () => undefined;
  /** time of the masters when it was looked at last, and at which something begins or ends */
  #seenMs = -Infinity;
  #nextMs = Infinity;
  /** the reason why the device did not take everything; null: it did */
  #obstacle: string | null = null;

  constructor(context: PartContext, store: ScheduleStore, namings: Namings) {
    this.#context = context;
    this.#store = store;
    this.#namings = namings;
    this.#holds = context.port.createHolds();
    namings.addUser({ names: (curve) => this.#namesCurve(curve), acts: (name) => this.#actsBy(name) });
  }

  /** Number of the schedule that acts; 0: none. */
  get running(): number {
    return this.#acting !== null && this.#holds.ids.includes(this.#acting.id) ? this.#acting.number : 0;
  }

  statusOf(number: number): number {
    const { validation: code, isReady } = this.#store.schedule(number);
    if (this.running === number) return scheduleStatus.running;
    if (isReady) return scheduleStatus.ready;
    return code === validation.valid ? scheduleStatus.inactive : scheduleStatus.notAvailable;
  }

  /** The value in force of a schedule, wire units; 0: none is. */
  activeValue(number: number): number {
    return this.running === number ? this.#taken : 0;
  }

  /** True if a schedule could run, and if not, why. Moves nothing. */
  validate(schedule: Schedule): Validation {
    const { port } = this.#context;
    if (!isRunnable(port, schedule.type)) return validation.badType;
    if (!isTiming(schedule) || !hasOffsets(schedule)) return validation.badTime;
    // the last point is the end
    const values = new Set(Array.from({ length: schedule.count - 1 }, (_, i) => valueOf(schedule, i)));
    const isTaken = (value: number) => {
      const writes = writesOf(port, this.#namings, schedule.type, value);
      return writes !== null && typeof this.#holds.check(writes, 'default') !== 'object';
    };
    return [...values].every(isTaken) ? validation.valid : validation.badValue;
  }

  /** True if a run lasts or is still to come. @param schedule a valid one */
  isToCome(schedule: Schedule): boolean {
    const { startMs, nextMs } = momentOf(schedule, this.#nowMs);
    return startMs !== null || nextMs !== null;
  }

  /** Applies the schedules in force now, and waits for the next change. */
  readonly follow = (): void => {
    this.#cancel();
    this.#cancel = () => undefined;
    const atMs = this.#nowMs;
    const due: Due[] = [];
    let nextMs = Infinity;
    for (const [number, schedule] of this.#store.ready) {
      const moment = momentOf(schedule, atMs);
      if (moment.point !== null && moment.startMs !== null)
        due.push({ number, schedule, point: moment.point, startMs: moment.startMs });
      if (moment.nextMs !== null) nextMs = Math.min(nextMs, moment.nextMs);
      // its last run is over
      else schedule.isReady = false;
    }
    const isSettled = this.#act(due.sort(byPriority));
    // writes by others during a schedule take effect at its end
    this.#namings.look();
    this.#obstacle = isSettled ? null : this.#presentObstacle;
    this.#nextMs = nextMs;
    this.#seenMs = atMs;
    this.#wait(atMs);
    this.#context.changed();
  };

  /** Follows a clock that was set, and retries values that the device refused. */
  readonly look = (): void => {
    const nowMs = this.#nowMs;
    const isBack = nowMs <= this.#seenMs - minSetMs && this.#store.ready.length > 0;
    this.#seenMs = nowMs;
    if (isBack || nowMs >= this.#nextMs || (this.#obstacle !== null && this.#obstacle !== this.#presentObstacle))
      this.follow();
  };

  /** The device has been reset: there are no schedules. */
  forget(): void {
    this.#cancel();
    this.#nextMs = Infinity;
    this.#acting = null;
    this.#obstacle = null;
    this.#refused.clear();
    this.#holds.forget();
  }

  /** Gives everything back. */
  close(): void {
    this.#cancel();
    this.#acting = null;
    this.#holds.follow(new Map());
    this.#holds.close();
  }

  /** The time of the masters, rounded to the precision of schedules. */
  get #nowMs(): number {
    return Math.round(this.#context.clock.nowMs());
  }

  get #presentObstacle(): string {
    const { dark, device } = this.#context.port;
    return `${dark ? 'off' : 'on'} ${device.localControl ? 'local' : 'remote'}`;
  }

  /** @returns whether the device has taken everything */
  #act(due: readonly Due[]): boolean {
    const acting = this.#choose(due);
    // known before the commit, whose listeners ask for it
    this.#acting = acting;
    const results = this.#holds.follow(acting === null ? new Map() : new Map([[acting.id, acting.writes]]));
    const [refusal] = [...results.values()].filter((result) => typeof result === 'object');
    if (acting !== null && refusal !== undefined) {
      this.#refuse(acting, refusal.detail);
      this.#acting = null;
      return this.#act(due);
    }
    const others = this.#holds.ids.filter((id) => id !== acting?.id);
    const isWaiting = [...results.values()].includes('waiting');
    if (!isWaiting) this.#taken = acting?.value ?? 0;
    return others.length === 0 && !isWaiting;
  }

  /** The first one that the device takes. */
  #choose(due: readonly Due[]): Acting | null {
    for (const each of due) {
      const key = keyOf(each);
      if (this.#acting?.key === key) return this.#acting;
      if (this.#refused.get(each.number) === key) continue;
      const { number, schedule, point } = each;
      const value = valueOf(schedule, point);
      const writes = writesOf(this.#context.port, this.#namings, schedule.type, value);
      const result = writes === null ? null : this.#holds.check(writes);
      if (writes !== null && typeof result !== 'object') return { key, id: idOf(each), number, value, writes };
      this.#refuse({ key, number }, typeof result === 'object' && result !== null ? result.detail : 'no such value');
    }
    return null;
  }

  #refuse({ key, number }: Pick<Acting, 'key' | 'number'>, detail: string): void {
    this.#refused.set(number, key);
    this.#context.log.warning(`schedule ${number}: the device refuses a point: ${detail}`);
  }

  #wait(nowMs: number): void {
    const retryMs = this.#obstacle === null ? Infinity : nowMs + 1000 * retryS;
    const untilMs = Math.min(this.#nextMs, retryMs);
    if (untilMs < Infinity) this.#cancel = this.#context.clock.at(untilMs, this.follow);
  }

  #namesCurve(curve: number): boolean {
    return this.#store.ready.some(
      ([, schedule]) =>
        curveUseOf(schedule.type) !== undefined &&
        Array.from({ length: schedule.count - 1 }, (_, i) => valueOf(schedule, i)).includes(curve),
    );
  }

  /** True if the curve of a function in force is that of a schedule. */
  #actsBy(name: CurveFunction): boolean {
    const numbers = [...this.#holds.ids.map(numberOf), ...(this.#acting === null ? [] : [this.#acting.number])];
    return numbers.some((number) => curveUseOf(this.#store.schedule(number).type)?.name === name);
  }
}
