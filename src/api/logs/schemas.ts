import { memo } from '../../core/memo.ts';
import { moduleNames } from '../../core/adapter.ts';
import { logCapacity, logLevels } from '../../core/log/log.ts';
import { z } from '../description/zod.ts';
import { afterIdParam, deviceParam, isoParam, isoTime, newestParam } from '../common/schemas.ts';
import { listParam } from '../common/list-param.ts';

export const defaultLogLimit = 500;

export const logsQuery = z.strictObject({
  modules: listParam('modules', moduleNames, 'Only these modules; default all.').optional(),
  levels: listParam('levels', logLevels, 'Only these levels; default all.').optional(),
  device: deviceParam
    .optional()
    .openapi({ description: 'Only lines about the device of this index; default all lines.' }),
  after_id: afterIdParam.optional(),
  since: isoParam('since', 'Only entries of this wall time and later.').optional(),
  limit: newestParam(logCapacity, defaultLogLimit).optional(),
});

export type LogsQuery = z.output<typeof logsQuery>;

const moduleSchema = memo(() =>
  z.enum(moduleNames).openapi('LogModule', {
    description:
      '`AC`: AC side of the devices, trips, ticks. `DC`: sources behind the inverters: arrays, batteries, rotors, stacks, ' +
      'charging connectors and their sessions. `Lab`: start, devices, HTTP, shutdown.',
  }),
);

export const logEntrySchema = memo(() =>
  z
    .strictObject({
      id: z.int().min(1).openapi({ description: 'Ascending over all modules, from 1 in every process.' }),
      timestamp: isoTime.openapi({ description: 'Wall time.' }),
      sim_time: isoTime.nullable().openapi({
        description:
          'Simulated time of what the line is about, for a trip or an alarm to the sub-step; null: before the clock was made.',
      }),
      level: z.enum(logLevels),
      module: moduleSchema(),
      device_index: z
        .int()
        .min(0)
        .nullable()
        .openapi({ description: 'The device that the line is about; null: no single device.' }),
      message: z.string().openapi({
        description:
          'One line of at most 4 KiB; control characters, bidirectional marks and backslashes are escaped (`\\x0a`, `\\u202e`, `\\\\`).',
      }),
    })
    .openapi('LogEntry'),
);

export const logsSchema = memo(() =>
  z
    .strictObject({
      logs: z.array(logEntrySchema()).openapi({ description: 'Oldest first.' }),
      count: z.int().min(0).openapi({ description: 'Entries in this answer.' }),
      modules: z.array(moduleSchema()).openapi({ description: 'Modules that have logged since the start.' }),
      dropped: z.int().min(0).openapi({ description: 'Entries of any module that are no longer kept.' }),
    })
    .openapi('Logs'),
);
export type LogsReply = z.output<ReturnType<typeof logsSchema>>;

export const exampleLogs = {
  logs: [
    {
      id: 1,
      timestamp: '2026-03-01T09:29:58.640Z',
      sim_time: '2026-06-21T12:00:00.000Z',
      level: 'info' as const,
      module: 'Modbus' as const,
      device_index: null,
      message: 'Modbus TCP on 127.0.0.1:8502, 1 device',
    },
    {
      id: 7,
      timestamp: '2026-03-01T09:31:12.018Z',
      sim_time: '2026-06-21T12:01:12.160Z',
      level: 'warning' as const,
      module: 'AC' as const,
      device_index: 0,
      message: 'tripped on over-voltage',
    },
  ],
  count: 2,
  modules: ['AC' as const, 'Modbus' as const],
  dropped: 0,
};
