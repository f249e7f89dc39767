/** The window on the schedules: AO461 to AO669 and BO42 to BO49 with their mirrors, and AI569 to AI783. */
import type { Origin } from '../../../core/origin.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { bindings, computed, success } from '../bind.ts';
import { pointsPerSchedule, windowStarts } from '../table/rows.ts';
import type { OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import { MemberOutput, selectorOutput } from '../window.ts';
import type { ScheduleExecutor } from './executor.ts';
import { daysPerWeek, scheduleCount, validation } from './schedule.ts';
import type { Schedule, ScheduleStore } from './schedule.ts';

const windowBinding = 'schedule in the window';
/** Index of the output of Sunday. */
const sundayOutput = 43;

interface Member {
  readonly read: (schedule: Schedule) => number;
  readonly write: (schedule: Schedule, value: number) => void;
  /** minimum; absent: the minimum of the row */
  readonly min?: number;
}

/** The points of a schedule: one table for all outstations. */
const valueMembers = Array.from(
  { length: 2 * pointsPerSchedule },
  (_, i): Member => ({
    read: ({ values }) => values[i] ?? 0,
    write: ({ values }, wire) => {
      values[i] = wire;
    },
  }),
);

/** Creates and carries out the outputs of the window. */
class Outputs {
  readonly #context: PartContext;
  readonly #store: ScheduleStore;
  readonly #executor: ScheduleExecutor;

  constructor(context: PartContext, store: ScheduleStore, executor: ScheduleExecutor) {
    this.#context = context;
    this.#store = store;
    this.#executor = executor;
  }

  read({ read }: Member): number {
    return read(this.#store.current);
  }

  check({ min = -Infinity }: Member, value: number | boolean, by: Origin): ControlStatus {
    if (this.#store.holder.isOther(by)) return controlStatus.blockedOtherMaster;
    if (this.#store.current.isReady) return controlStatus.automationInhibit;
    return Number.isInteger(value) && Number(value) >= min ? success : controlStatus.outOfRange;
  }

  /** A write makes the schedule invalid until its number of points (AO469) is written. */
  operate(member: Member, value: number | boolean, by: Origin): ControlStatus {
    const status = this.check(member, value, by);
    if (status !== success) return status;
    const { current } = this.#store;
    member.write(current, Number(value));
    current.validation = validation.none;
    this.#store.changed();
    this.#context.changed();
    return success;
  }

  /** The number of points is written last, and validates. */
  count(): OutputTarget {
    const member = new MemberOutput(windowBinding, this, {
      read: ({ count }) => count,
      write: (schedule, value) => {
        schedule.count = value;
      },
    });
    return {
      read: () => member.read(),
      check: (value, by) => member.check(value, by),
      bound: windowBinding,
      operate: (value, by) => {
        const status = member.operate(value, by);
        const { current } = this.#store;
        if (status !== success) return status;
        current.validation = this.#executor.validate(current);
        this.#store.changed();
        return status;
      },
    };
  }

  /** BO42 makes the schedule ready to run; an invalid or expired schedule is refused. */
  ready(): OutputTarget {
    const executor = this.#executor;
    const check = (on: number | boolean): ControlStatus => {
      const { current } = this.#store;
      if (on !== true || current.isReady) return success;
      const isValid = current.validation === validation.valid && executor.validate(current) === validation.valid;
      return isValid && executor.hasRunLeft(current) ? success : controlStatus.blocked;
    };
    return this.#output(check, {
      read: () => this.#store.current.isReady,
      write: (on) => {
        this.#store.current.isReady = on === true;
        executor.follow();
      },
    });
  }

  /** The procedure of AN2018 sets weekdays after BO42: they can be changed at any time. @param day from Sunday, 0 */
  weekday(day: number): OutputTarget {
    return this.#output(() => success, {
      read: () => this.#store.current.weekdays[day] ?? false,
      write: (on) => {
        this.#store.current.weekdays[day] = on === true;
        this.#executor.follow();
      },
    });
  }

  #output(
    statusOf: (value: number | boolean) => ControlStatus,
    { read, write }: { readonly read: OutputTarget['read']; readonly write: (value: number | boolean) => void },
  ): OutputTarget {
    const check: OutputTarget['check'] = (value, by) =>
      this.#store.holder.isOther(by) ? controlStatus.blockedOtherMaster : statusOf(value);
    return {
      read,
      check,
      operate: (value, by) => {
        const status = check(value, by);
        if (status !== success) return status;
        write(value);
        this.#store.changed();
        this.#context.changed();
        return success;
      },
      bound: windowBinding,
    };
  }
}

type Field = 'identity' | 'priority' | 'type' | 'startDay' | 'startMs' | 'interval' | 'unit';

const fields: readonly (readonly [PointName, Field, min?: number])[] = [
  ['AO462', 'identity'],
  ['AO463', 'priority', 1],
  ['AO464', 'type'],
  ['AO465', 'startDay'],
  ['AO466', 'startMs'],
  ['AO467', 'interval'],
  ['AO468', 'unit'],
];

function memberOf(outputs: Outputs, name: Field, min?: number): OutputTarget {
  return new MemberOutput(windowBinding, outputs, {
    read: (schedule) => schedule[name],
    write: (schedule, value) => {
      schedule[name] = value;
    },
    ...(min !== undefined && { min }),
  });
}

function pointValues(outputs: Outputs): readonly (readonly [PointName, OutputTarget])[] {
  return valueMembers.map(
    (member, i) => [`AO${windowStarts.schedule.output + i}`, new MemberOutput(windowBinding, outputs, member)] as const,
  );
}

/** The points of the window. */
export function scheduleWindow(context: PartContext, store: ScheduleStore, executor: ScheduleExecutor): PointBindings {
  const outputs = new Outputs(context, store, executor);
  const weekdays = Array.from(
    { length: daysPerWeek },
    (_, day) => [`BO${sundayOutput + day}`, outputs.weekday(day)] as const,
  );
  return bindings(
    [
      ['BI109', computed(() => store.current.validation === validation.valid, windowBinding)],
      ['AI569', computed(() => executor.running, 'schedules')],
      ['AI578', computed(() => store.current.validation, windowBinding)],
      ['AI579', computed(() => executor.statusOf(store.selected), windowBinding)],
      ['AI781', computed(() => executor.statusOf(1), 'schedule 1')],
      ['AI782', computed(() => store.schedule(1).priority, 'schedule 1')],
      ['AI783', computed(() => executor.activeValue(1), 'schedule 1')],
    ],
    [
      ['BO42', outputs.ready()],
      ...weekdays,
      ['AO461', selectorOutput(context, store, scheduleCount, windowBinding)],
      ...fields.map(([name, field, min]) => [name, memberOf(outputs, field, min)] as const),
      ['AO469', outputs.count()],
      ...pointValues(outputs),
    ],
  );
}
