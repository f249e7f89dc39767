/** Steps of a scenario that bring about what rules need, as far as the simulator can do it without the peer. */
import type { FindingProtocol } from '../core/findings/identity.ts';

/** The device, and the charging station with a connector, that the steps act on. */
export interface ExercisePlace {
  readonly device: number;
  /** null: the device is no charging station with OCPP */
  readonly station: string | null;
}

export interface Exercise {
  readonly name: string;
  readonly protocol: FindingProtocol;
  /** ids of the rules that come up if the peer goes on with its work */
  readonly rules: readonly string[];
  /** true: only for a charging station with OCPP */
  readonly needsStation: boolean;
  /** Steps in the form of a scenario file. */
  readonly steps: (place: ExercisePlace) => readonly object[];
}

/** Time for the peer to react before the next step, simulated s. */
const restS = 60;

const local = (protocol: 'modbus' | 'dnp3', rules: readonly string[]): Exercise => ({
  name: 'The device is under local control, and refuses writes',
  protocol,
  rules,
  needsStation: false,
  steps: ({ device }) => [
    { name: 'Local control', device, local: true },
    { name: 'Remote control again', after: `${3 * restS} s`, device, local: false },
  ],
});

export const exercises: readonly Exercise[] = [
  {
    name: 'Writes are refused for a while',
    protocol: 'modbus',
    rules: ['modbus.refused_write_repeated'],
    needsStation: false,
    steps: ({ device }) => [
      {
        name: 'Writes are refused',
        device,
        fault: { protocol: 'modbus', kind: 'write_lock', duration_s: 2 * restS },
      },
    ],
  },
  local('modbus', ['modbus.local_control_ignored']),
  {
    name: 'The outstation starts anew',
    protocol: 'dnp3',
    rules: ['dnp3.restart_uncleared', 'dnp3.no_integrity'],
    needsStation: false,
    steps: ({ device }) => [
      {
        name: 'The device restarts',
        device,
        fault: { protocol: 'device', kind: 'reboot', off_s: 10, forget: false, count: 1 },
      },
    ],
  },
  {
    name: 'The outstation tells of lost events',
    protocol: 'dnp3',
    rules: ['dnp3.overflow_ignored'],
    needsStation: false,
    steps: ({ device }) => [
      {
        name: 'Each response has IIN2.3',
        device,
        fault: { protocol: 'dnp3', kind: 'buffer_overflow', duration_s: restS },
      },
    ],
  },
  {
    name: 'The outstation asks for the time',
    protocol: 'dnp3',
    rules: ['dnp3.no_time_sync', 'dnp3.time_wrong'],
    needsStation: false,
    steps: ({ device }) => [
      {
        name: 'Each response has IIN1.4',
        device,
        fault: { protocol: 'dnp3', kind: 'time_lost', duration_s: 2 * restS },
      },
    ],
  },
  local('dnp3', ['dnp3.local_ignored']),
  {
    name: 'The station announces itself again',
    protocol: 'ocpp',
    rules: [
      'ocpp.no_registration',
      'ocpp.interval',
      'ocpp.interval_short',
      'ocpp.interval_long',
      'ocpp.current_time',
      'ocpp.time_local',
    ],
    needsStation: true,
    steps: ({ station }) => [{ name: 'BootNotification', call: { request: `POST /ocpp/${station}/boot` } }],
  },
  {
    name: 'A vehicle charges for a minute',
    protocol: 'ocpp',
    rules: [
      'ocpp.transaction_id',
      'ocpp.transaction_id_range',
      'ocpp.id_token_info_missing',
      'ocpp.stop_refused',
      'ocpp.ended_refused',
    ],
    needsStation: true,
    steps: ({ device }) => [
      { name: 'A vehicle comes', device, plug: {} },
      { name: 'The driver presents a token', device, authorize: { id_token: 'EXERCISE' } },
      { name: 'The vehicle leaves', after: `${restS} s`, device, unplug: true },
    ],
  },
];

/** The scenario of some exercises, in the form of a file. Its faults end by themselves. */
export function exerciseScenario(chosen: readonly Exercise[], place: ExercisePlace): Record<string, unknown> {
  const steps = chosen.flatMap((exercise) => [{ name: exercise.name, after: `${restS} s` }, ...exercise.steps(place)]);
  const isLocal = steps.some((step) => 'local' in step);
  return {
    name: 'Exercises for peers',
    description: 'Brings about situations in which rules about peers come up.',
    steps: [...steps, { name: 'Time for the last answers', after: `${restS} s` }],
    ...(isLocal && { finally: [{ name: 'Remote control, as before', device: place.device, local: false }] }),
  };
}
