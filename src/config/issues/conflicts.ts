/** Rows of settings that are valid by themselves and conflict with others or with the number of devices. */
import { maxUnitId } from '../../contract/modbus-report.ts';
import type { Issue } from '../../core/errors.ts';
import { isGiven } from '../layers/gather.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf, settingOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';
import type { Conflict, Run } from './conflict.ts';
import { csipConflicts } from './csip-conflicts.ts';
import { dnp3Conflicts } from './dnp3-conflicts.ts';
import { shown } from './issues.ts';
import { ocppConflicts } from './ocpp-conflicts.ts';

const highestPort = 65535;

/** With a port for each device; 0 stands for any free ports. */
const lastPort = ({ values, count }: Run) => values.mb_port + values.first_device + count - 1;
const lastUnitId = ({ values, count }: Run) => values.first_device + count;

/** First and last unit id of devices where the meter is beside them; none: the first is above the last. */
function deviceUnits(run: Run): readonly [number, number] {
  const { mb_enable: served, mb_shared_port: shared, rtu_enable: line, meter_port: ownPort } = run.values;
  if (line || (served && shared && ownPort === null)) return [run.values.first_device + 1, lastUnitId(run)];
  return served && ownPort === null ? [1, 1] : [1, 0];
}

/** Settings of a clock that does not follow the real one. */
const ownClock = (['time_rate', 'start_clock_time', 'start_date', 'start_paused'] as const).map(
  (setting): Conflict => ({
    setting,
    when: ({ values }) => values.wall_clock && values[setting] !== settingOf(setting).default,
    detail: ({ values, originOf }) => {
      const value = values[setting];
      return `given ${value === true ? 'yes' : value} together with ${originOf('wall_clock')} yes; allowed: one of the two`;
    },
  }),
);

const overRtuFraming = ({ values }: Run) => values.mb_enable && values.mb_framing === 'rtu_over_tcp';

const conflicts: readonly Conflict[] = [
  ...ownClock,
  {
    setting: 'N',
    when: ({ values, file, count, ...run }) => file?.devices != null && isGiven(run, 'N') && values.N !== count,
    detail: ({ values, file, count }) =>
      `given ${shown(values.N)}; allowed: ${count}, the number of devices listed in ${file?.label ?? ''}, or nothing`,
  },
  {
    setting: 'grid_profile',
    name: ({ file }) => `${file?.label ?? ''}: grid.profile`,
    when: ({ file, layers }) => file?.grid.profile !== undefined && layers.file.has('grid_profile'),
    detail: () => 'given beside grid_profile; allowed: one of the two',
  },
  {
    setting: 'mb_shared_port',
    when: ({ values, count }) => values.mb_enable && values.mb_shared_port && count > maxUnitId,
    detail: ({ count }) => `given yes with ${count} devices; allowed: up to ${maxUnitId} devices on one port`,
  },
  {
    setting: 'mb_port',
    when: (run) => {
      const { mb_enable: served, mb_shared_port: shared, mb_port: port } = run.values;
      return served && !shared && port !== 0 && lastPort(run) > highestPort;
    },
    detail: (run) =>
      `given ${run.values.mb_port}, so that the last device would be on port ${lastPort(run)}; allowed: a ` +
      `last port up to ${highestPort}, 0, or mb_shared_port`,
  },
  {
    setting: 'meter_unit',
    when: (run) => {
      const [from, to] = deviceUnits(run);
      return run.values.meter_unit !== null && run.values.meter_unit >= from && run.values.meter_unit <= to;
    },
    detail: (run) => {
      const [from, to] = deviceUnits(run);
      const taken = from === to ? `unit id ${from}` : `unit ids ${from} to ${to}`;
      return `given ${run.values.meter_unit ?? ''}, but devices have ${taken}; allowed: another one up to ${maxUnitId}`;
    },
  },
  {
    setting: 'meter_port',
    when: (run) => {
      const { mb_enable: served, mb_port: port, mb_shared_port: shared, meter_port: own } = run.values;
      if (!served || own === null || own === 0 || port === 0) return false;
      return own >= (shared ? port : port + run.values.first_device) && own <= (shared ? port : lastPort(run));
    },
    detail: ({ values }) =>
      `given ${values.meter_port ?? ''}, which is the Modbus port of devices; allowed: another one`,
  },
  {
    setting: 'rtu_port',
    when: ({ values }) => values.rtu_enable && values.rtu_port === null,
    detail: ({ originOf }) =>
      `not given, but ${originOf('rtu_enable')} is yes; allowed: a serial device, for example /dev/ttyUSB0 or COM10`,
  },
  {
    setting: 'rtu_enable',
    when: (run) => run.values.rtu_enable && lastUnitId(run) > maxUnitId,
    detail: (run) =>
      `given yes, so that the last device would have unit id ${lastUnitId(run)}; allowed: unit ids up to ${maxUnitId} on one line`,
  },
  {
    setting: 'mb_foreign_unit',
    when: (run) => overRtuFraming(run) && run.values.mb_foreign_unit === 'gateway',
    detail: ({ originOf }) => `given gateway together with ${originOf('mb_framing')} rtu_over_tcp; allowed: silent`,
  },
  {
    setting: 'mb_enc',
    when: (run) => overRtuFraming(run) && run.values.mb_enc,
    detail: ({ originOf }) => `given yes together with ${originOf('mb_framing')} rtu_over_tcp; allowed: one of the two`,
  },
  ...csipConflicts,
  ...ocppConflicts,
  ...dnp3Conflicts,
];

/** Where a setting was given, or its flag. */
function nameOf(setting: SettingKey, { values, originOf }: Gathered): string {
  return values[setting] === null ? flagOf(setting) : originOf(setting);
}

/** One issue for each row that holds. @param count number of devices */
export function conflictIssues(gathered: Gathered, count: number): Issue[] {
  const run = { ...gathered, count };
  return conflicts
    .filter(({ when }) => when(run))
    .map(({ setting, name, detail }) => ({ name: name?.(run) ?? nameOf(setting, gathered), detail: detail(run) }));
}
