/** Settings of the simulated clock and the ticks. */
import { remoteClockModes } from '../../core/time/remote-clock.ts';
import { setting } from './setting.ts';
import { choice, clockTime, date, integer, number, onOff, timeZone } from './value-kinds.ts';

export const clockSettings = {
  wall_clock: setting({
    flags: ['-wc', '--wall_clock'],
    kind: onOff,
    default: false,
    doc: 'Makes the simulated clock follow the real time of day. Excludes start_clock_time, start_date, time_rate and start_paused.',
  }),
  wall_clock_timezone: setting({
    flags: ['-wc_tz', '--wall_clock_timezone'],
    kind: timeZone,
    default: 'UTC',
    doc: 'Time zone of the simulated clock.',
  }),
  start_clock_time: setting({
    flags: ['--start_clock_time'],
    kind: clockTime,
    default: '12:00:00',
    doc: 'Time of day at which the simulated clock starts.',
  }),
  start_date: setting({
    flags: ['--start_date'],
    kind: date,
    default: '2026-06-21',
    doc: 'Date at which the simulated clock starts.',
  }),
};

export const tickSettings = {
  start_paused: setting({
    flags: ['--start_paused'],
    kind: onOff,
    default: false,
    doc: 'Starts with the clock paused; REST steps it or lets it run.',
  }),
  time_rate: setting({
    flags: ['--time_rate'],
    kind: number(0.01, 3600),
    default: 1,
    doc: 'Simulated seconds per real second.',
  }),
  remote_clock: setting({
    flags: ['--remote_clock'],
    kind: choice(remoteClockModes, 'CLOCK'),
    default: 'wall',
    doc:
      'Clock that carries the time of remote systems: wall is real time, simulated is for test systems ' +
      'that share the accelerated clock.',
  }),
  tick: setting({
    flags: ['--tick'],
    kind: number(0.1, 60),
    default: 1.5,
    doc: 'Real seconds from one tick to the next.',
  }),
  seed: setting({
    flags: ['--seed'],
    kind: integer(0, 0xffff_ffff),
    default: 1,
    doc: 'Seed of all random numbers.',
  }),
  device_spread_pct: setting({
    flags: ['--device_spread_pct'],
    kind: number(0, 10),
    default: 1,
    doc:
      'Largest deviation between devices of one profile in what scatters in a real fleet (module power, ' +
      'efficiency, capacity left, charge at start and others), percent; the first device of a profile is ' +
      'as the profile says, and ratings never differ. 0 = devices of one profile are equal.',
  }),
  first_device: setting({
    flags: ['--first_device'],
    kind: integer(0, 1_000_000),
    default: 0,
    doc:
      'Index of the first device, for a fleet that is split into several processes. In each process the ' +
      'first device of a profile is as the profile says (device_spread_pct); all others are as in one process.',
  }),
};
