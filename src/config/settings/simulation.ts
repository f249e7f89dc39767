/** Settings of the simulation: clock, ticks, and the surroundings (series, sky and grid). */
import { remoteClockModes } from '../../core/time/remote-clock.ts';
import { atStart } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import { choice, clockTime, date, integer, number, onOff, timeZone, path } from './value-kinds.ts';
import { kindsWhere } from '../../contract/kinds/table.ts';

const clock = atStart('The clock begins with it; POST controls/time changes the clock of a simulator that is up.');
const series = atStart('Devices and grid read their series when they are built.');
const devices = atStart('The devices are built with it.');

export const clockSettings = {
  wall_clock: setting({
    flags: ['-wc', '--wall_clock'],
    kind: onOff,
    default: false,
    changes: clock,
    doc: 'Makes the simulated clock follow the real time of day. Excludes start_clock_time, start_date, time_rate and start_paused.',
  }),
  wall_clock_timezone: setting({
    flags: ['-wc_tz', '--wall_clock_timezone'],
    kind: timeZone,
    default: 'UTC',
    changes: clock,
    doc: 'Time zone of the simulated clock.',
  }),
  start_clock_time: setting({
    flags: ['--start_clock_time'],
    kind: clockTime,
    default: '12:00:00',
    changes: clock,
    doc: 'Time of day at which the simulated clock starts.',
  }),
  start_date: setting({
    flags: ['--start_date'],
    kind: date,
    default: '2026-06-21',
    changes: clock,
    doc: 'Date at which the simulated clock starts.',
  }),
};

export const tickSettings = {
  start_paused: setting({
    flags: ['--start_paused'],
    kind: onOff,
    default: false,
    changes: clock,
    doc: 'Starts with the clock paused; REST steps or starts it.',
  }),
  time_rate: setting({
    flags: ['--time_rate'],
    kind: number(0.01, 3600),
    default: 1,
    changes: clock,
    doc: 'Simulated seconds per real second.',
  }),
  remote_clock: setting({
    flags: ['--remote_clock'],
    kind: choice(remoteClockModes, 'CLOCK'),
    default: 'wall',
    changes: atStart('The remote clocks of all adapters are of this kind.'),
    doc:
      'Clock that carries the time of remote systems: wall is real time, simulated is for test systems ' +
      'that share the accelerated clock.',
  }),
  tick: setting({
    flags: ['--tick'],
    kind: number(0.1, 60),
    default: 1.5,
    unit: 's',
    changes: atStart('Ticks are on a grid of this interval, and each step of the devices has its length.'),
    doc: 'Real seconds from one tick to the next.',
  }),
  seed: setting({
    flags: ['--seed'],
    kind: integer(0, 0xffff_ffff),
    default: 1,
    changes: atStart('All random numbers derive from it.'),
    doc: 'Seed of all random numbers.',
  }),
  device_spread_pct: setting({
    flags: ['--device_spread_pct'],
    kind: number(0, 10),
    default: 1,
    changes: devices,
    doc:
      'Maximum deviation between devices of one profile in properties that vary in a real fleet (module power, ' +
      'efficiency, remaining capacity, charge at start and others), percent; the first device of a profile has ' +
      'the values of the profile, and ratings never differ. 0 = devices of one profile are equal.',
  }),
  first_device: setting({
    flags: ['--first_device'],
    kind: integer(0, 1_000_000),
    default: 0,
    changes: devices,
    doc:
      'Index of the first device, for a fleet that is split into several processes. In each process the ' +
      'first device of a profile has its values (device_spread_pct); all others are as in one process.',
  }),
};

export const surroundingsSettings = {
  dc_profile: optionalSetting({
    flags: ['-dc_p', '--dc_profile'],
    kind: path,
    mustExist: true,
    kinds: kindsWhere(({ dcSeries }) => dcSeries !== null),
    changes: series,
    doc: 'CSV series for the DC side: irradiance or wind. If not given: the bundled series of the kind.',
  }),
  load_profile: optionalSetting({
    flags: ['--load_profile'],
    kind: path,
    mustExist: true,
    changes: series,
    doc: 'CSV series of the local load of each device: time_s, load_kw.',
  }),
  vehicles: optionalSetting({
    flags: ['--vehicles'],
    kind: path,
    mustExist: true,
    kinds: ['evse'],
    changes: series,
    doc: 'CSV table of the vehicles that arrive at an EVSE.',
  }),
  series_end: setting({
    flags: ['--series_end'],
    kind: choice(['loop', 'hold'], 'END'),
    default: 'loop',
    changes: series,
    doc:
      'After the last row of dc_profile, load_profile and vehicles: loop starts again at the first, hold ' +
      'keeps the last values and brings no more vehicles.',
  }),
  irradiance_source: setting({
    flags: ['--irradiance_source'],
    kind: choice(['csv', 'clear_sky'], 'SOURCE'),
    default: 'csv',
    changes: atStart(
      'It is the source at the start; POST controls/environment changes the source of a simulator that is up.',
    ),
    doc: 'Source of the irradiance at start: the CSV series, or a clear sky with clouds, whose air temperature follows the date.',
  }),
  clouds: setting({
    flags: ['--clouds'],
    kind: choice(['clear', 'scattered', 'broken', 'overcast'], 'SKY'),
    default: 'scattered',
    changes: atStart(
      'It is the source at the start; POST controls/environment changes the source of a simulator that is up.',
    ),
    doc: 'Clouds of the irradiance source clear_sky; without effect while the source is csv.',
  }),
  grid_profile: optionalSetting({
    flags: ['--grid_profile'],
    kind: path,
    mustExist: true,
    changes: series,
    doc:
      'CSV series of the grid: time_s, frequency_hz, voltage_pu (or voltage_a_pu, voltage_b_pu, ' +
      'voltage_c_pu) and optionally phase_angle_deg.',
  }),
};
