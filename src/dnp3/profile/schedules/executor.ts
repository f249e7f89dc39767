/**
 * Runs the ready schedules of a device: at each instant the schedule with the greatest priority acts, by a hold.
 * At its end the former values are restored, except values that others have written since.
 */
import type { CurveFunction, FunctionName } from '../../../sunspec/map/grid-support/functions.ts';
import type { DeviceHolds, SettingWrite, DevicePort, PointWrite } from '../../device-port.ts';
import type { CurveSettings, CurveUse } from '../curves/curve.ts';
import type { OutstationEnd, PartContext } from '../types.ts';
import { scheduleStatus, validation, valueOf, scheduleType, hasOffsets, isTiming, momentOf } from './schedule.ts';
import type { Schedule, ScheduleStore, Validation } from './schedule.ts';
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import { presentVarReference } from '../commands/setpoints.ts';
import { curveUses, curveCount, curveType } from '../curves/curve.ts';

/** Wire steps: the profile counts percent in tenths, power factors in hundredths. */
const [tenthsPerUnit, hundredthsPerUnit] = [10, 100];

/** The effect of the value of a schedule of one type. */
interface SetPoint {
  readonly type: number;
  /** functions that it enables; unsupported ones are skipped, but the first must be supported */
  readonly names: readonly [FunctionName, ...FunctionName[]];
  readonly point: PointPath;
  /** wire units */
  readonly range: readonly [min: number, max: number];
  readonly writes: (port: DevicePort, value: number) => readonly PointWrite[];
}

function powerFactor(port: DevicePort, value: number): readonly PointWrite[] {
  const factor = value / hundredthsPerUnit;
  return [
    { point: '704.PFWInj.PF', value: factor },
    ...(port.supports('pf_absorb') ? [{ point: '704.PFWAbs.PF' as const, value: factor }] : []),
  ];
}

function constantVar(port: DevicePort, value: number): readonly PointWrite[] {
  return [
    { point: '704.VarSetMod', value: presentVarReference(port) },
    { point: '704.VarSetPct', value: value / tenthsPerUnit },
  ];
}

const setPoints: readonly SetPoint[] = [
  {
    type: scheduleType.generationLimit,
    names: ['max_power'],
    point: '704.WMaxLimPct',
    range: [0, 1000],
    writes: (_, value) => [{ point: '704.WMaxLimPct', value: value / tenthsPerUnit }],
  },
  {
    type: scheduleType.setPoint,
    names: ['active_power'],
    point: '704.WSetPct',
    range: [-1000, 1000],
    writes: (_, value) => [
      { point: '704.WSetMod', value: 'W_MAX_PCT' },
      { point: '704.WSetPct', value: value / tenthsPerUnit },
    ],
  },
  {
    type: scheduleType.constantVar,
    names: ['constant_var'],
    point: '704.VarSetPct',
    range: [-1000, 1000],
    writes: constantVar,
  },
  {
    type: scheduleType.powerFactor,
    names: ['pf_inject', 'pf_absorb'],
    point: '704.PFWInj.PF',
    range: [0, 100],
    writes: powerFactor,
  },
];

const curveTypes: Readonly<Record<number, number>> = {
  [scheduleType.voltWatt]: curveType.voltWatt,
  [scheduleType.voltVar]: curveType.voltVar,
  [scheduleType.wattVar]: curveType.wattVar,
};

/** For types whose values are curve numbers: the use of those curves; undefined: the values are no curve numbers. */
function curveUseOf(type: number): CurveUse | undefined {
  return curveUses.find((use) => use.type === curveTypes[type]);
}

const enables = (port: DevicePort, names: readonly FunctionName[]): readonly SettingWrite[] =>
  names.filter((name) => port.supports(name)).map((name) => ({ name, on: true }));

/** True if the device carries out schedules of a type. */
function isRunnable(port: DevicePort, type: number): boolean {
  const use = curveUseOf(type);
  if (use) return port.supports(use.name);
  const setPoint = setPoints.find((each) => each.type === type);
  return setPoint !== undefined && port.supports(setPoint.names[0]) && port.has(setPoint.point);
}

/**
 * Settings that a value requests while in force; null: out of range, or no such curve.
 * @param curveSettings gives the settings ("wishes") of a curve by its number
 */
function writesOf(
  port: DevicePort,
  curveSettings: CurveSettings,
  type: number,
  value: number,
): readonly SettingWrite[] | null {
  const use = curveUseOf(type);
  if (use) {
    if (value < 1 || value > curveCount) return null;
    const curve = curveSettings.wishesOf({ number: value, use });
    return typeof curve === 'number' ? null : [...curve, ...enables(port, [use.name])];
  }
  const setPoint = setPoints.find((each) => each.type === type);
  if (setPoint === undefined || value < setPoint.range[0] || value > setPoint.range[1]) return null;
  return [...setPoint.writes(port, value), ...enables(port, setPoint.names)];
}

/** Retry interval within a long tick, s, for a device that accepts no writes at present. */
const retryS = 60;
/** A clock that went back by at least this was set deliberately; corrections of the wall clock are smaller. */
const minSetMs = 500;

/** A ready schedule with a point in force. */
interface Due {
  readonly number: number;
  readonly schedule: Schedule;
  /** number of the point in force, from 0 */
  readonly point: number;
  readonly startMs: number;
}

/** Effect of a running schedule, computed once per point: a curve does not change meanwhile. */
interface Acting {
  readonly key: string;
  /** id of its hold, new for each run, so a new run regains points that others overwrote during the previous run */
  readonly id: string;
  readonly number: number;
  /** wire units */
  readonly value: number;
  readonly writes: readonly SettingWrite[];
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
  readonly #curveSettings: CurveSettings;
  readonly #holds: DeviceHolds;
  readonly #holdsChanged: () => void;
  #acting: Acting | null = null;
  /** the last value that the device accepted, wire units */
  #acceptedValue = 0;
  /** by schedule: key of the point that the device refused, which is not tried again */
  readonly #refused = new Map<number, string>();
  #cancel: () => void = () => undefined;
  /** time of the masters at the last call of `follow` or `poll` */
  #seenMs = -Infinity;
  /** time of the masters at which a schedule next begins, changes or ends */
  #nextMs = Infinity;
  /** state of the device that did not accept everything; null: it did */
  #obstacle: string | null = null;

  constructor(context: PartContext, store: ScheduleStore, curveSettings: CurveSettings) {
    this.#context = context;
    this.#store = store;
    this.#curveSettings = curveSettings;
    this.#holds = context.port.createHolds();
    this.#holdsChanged = context.keep('holds of schedules', this.#holds.kept());
    curveSettings.addUser({ needs: (curve) => this.#namesCurve(curve), isActing: (name) => this.#actsBy(name) });
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

  /** The value of a schedule in force, wire units; 0: the schedule is not in force. */
  activeValue(number: number): number {
    return this.running === number ? this.#acceptedValue : 0;
  }

  /** The validation code of a schedule: `valid` if it could run, else the reason. Changes nothing. */
  validate(schedule: Schedule): Validation {
    const { port } = this.#context;
    if (!isRunnable(port, schedule.type)) return validation.badType;
    if (!isTiming(schedule) || !hasOffsets(schedule)) return validation.badTime;
    // the value of the last point is never in force
    const values = new Set(Array.from({ length: schedule.count - 1 }, (_, i) => valueOf(schedule, i)));
    const isAccepted = (value: number) => {
      const writes = writesOf(port, this.#curveSettings, schedule.type, value);
      return writes !== null && typeof this.#holds.check(writes, 'default') !== 'object';
    };
    return [...values].every(isAccepted) ? validation.valid : validation.badValue;
  }

  /** True if a run is under way or still to come. @param schedule a valid schedule */
  hasRunLeft(schedule: Schedule): boolean {
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
      else {
        schedule.isReady = false;
        this.#store.changed();
      }
    }
    const isSettled = this.#act(due.sort(byPriority));
    this.#holdsChanged();
    // curves that other writers replaced during a schedule
    this.#curveSettings.dropReplaced();
    this.#obstacle = isSettled ? null : this.#presentObstacle;
    this.#nextMs = nextMs;
    this.#seenMs = atMs;
    this.#wait(atMs);
    this.#context.changed();
  };

  /** Calls `follow` if a change is due, the clock was set back, or the obstacle has changed. */
  readonly poll = (): void => {
    const nowMs = this.#nowMs;
    const isBack = nowMs <= this.#seenMs - minSetMs && this.#store.ready.length > 0;
    this.#seenMs = nowMs;
    if (isBack || nowMs >= this.#nextMs || (this.#obstacle !== null && this.#obstacle !== this.#presentObstacle))
      this.follow();
  };

  /** Drops everything after a reset of the device, which also clears its schedules. */
  forget(): void {
    this.#cancel();
    this.#nextMs = Infinity;
    this.#acting = null;
    this.#obstacle = null;
    this.#refused.clear();
    this.#holds.forget();
    this.#holdsChanged();
  }

  /** Continues the schedules of an earlier process. */
  readonly restored = (): void => {
    if (this.#store.ready.length > 0 || this.#holds.ids.length > 0) this.follow();
  };

  /** Ends the holds, and restores the former values, unless another process continues the holds. */
  close(end: OutstationEnd): void {
    this.#cancel();
    this.#acting = null;
    if (end !== 'kept') {
      this.#holds.follow(new Map());
      this.#holdsChanged();
    }
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

  /** Puts the first accepted schedule into force. @returns false: the device did not accept everything */
  #act(due: readonly Due[]): boolean {
    const acting = this.#choose(due);
    // set before the commit, whose listeners read `running`
    this.#acting = acting;
    const results = this.#holds.follow(acting === null ? new Map() : new Map([[acting.id, acting.writes]]));
    const [refusal] = [...results.values()].filter((result) => typeof result === 'object');
    if (acting !== null && refusal !== undefined) {
      this.#refuse(acting, refusal.detail);
      this.#acting = null;
      return this.#act(due);
    }
    const otherIds = this.#holds.ids.filter((id) => id !== acting?.id);
    const isWaiting = [...results.values()].includes('waiting');
    if (!isWaiting) this.#acceptedValue = acting?.value ?? 0;
    return otherIds.length === 0 && !isWaiting;
  }

  /** The effect of the first schedule whose point the device accepts; null: none. */
  #choose(due: readonly Due[]): Acting | null {
    for (const candidate of due) {
      const key = keyOf(candidate);
      if (this.#acting?.key === key) return this.#acting;
      if (this.#refused.get(candidate.number) === key) continue;
      const { number, schedule, point } = candidate;
      const value = valueOf(schedule, point);
      const writes = writesOf(this.#context.port, this.#curveSettings, schedule.type, value);
      const result = writes === null ? null : this.#holds.check(writes);
      if (writes !== null && typeof result !== 'object') return { key, id: idOf(candidate), number, value, writes };
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

  /** True if a schedule has put the curve of a function into force. */
  #actsBy(name: CurveFunction): boolean {
    const numbers = [...this.#holds.ids.map(numberOf), ...(this.#acting === null ? [] : [this.#acting.number])];
    return numbers.some((number) => curveUseOf(this.#store.schedule(number).type)?.name === name);
  }
}
