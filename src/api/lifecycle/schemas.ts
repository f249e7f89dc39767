import { memo } from '../../core/memo.ts';
import { commandStates, operatorCommands } from '../../contract/plant.ts';
import { apiVersion } from '../http/context.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam, integerParam, isoTime, maxDeviceIndex, sourceSchema } from '../common/schemas.ts';
import { sourceDetailSchema } from '../common/writer-schemas.ts';

export const serverInfoSchema = memo(() =>
  z
    .strictObject({
      name: z.string(),
      version: z.string().openapi({ description: 'Semantic version of the simulator.' }),
      api_version: z.string().openapi({ description: 'Equal to `info.version` of this description.' }),
      build_id: z.string(),
      license: z.strictObject({ spdx_id: z.string(), name: z.string(), url: z.string() }),
      started_at: isoTime,
      uptime_s: z.number().min(0),
      pid: z.int(),
      runtime: z.string(),
      tick_interval_s: z.number(),
      device_count: z.int(),
      limits: z.strictObject({
        history_samples_per_device: z.int(),
        log_entries: z.int(),
        ws_queue: z.int(),
        max_body_bytes: z.int(),
      }),
    })
    .openapi('ServerInfo'),
);

export const commandRecordSchema = memo(() =>
  z
    .strictObject({
      id: z.string(),
      command: z.enum(operatorCommands),
      device_index: deviceIndex,
      scope: z.enum(['alarms', 'device']).nullable(),
      state: z.enum(commandStates),
      source: sourceSchema,
      source_detail: sourceDetailSchema,
      queued_at: isoTime,
      started_at: isoTime.nullable(),
      finished_at: isoTime.nullable(),
      message: z.string().nullable(),
    })
    .openapi('CommandRecord'),
);

export const commandReplySchema = memo(() =>
  z
    .union([commandRecordSchema(), z.strictObject({ commands: z.array(commandRecordSchema()) })])
    .openapi({ description: 'One record; with `"device": "all"` one per device.' }),
);
export const commandListSchema = memo(() =>
  z
    .strictObject({
      commands: z.array(commandRecordSchema()).openapi({ description: 'Newest first.' }),
      count: z.int(),
    })
    .openapi('CommandList'),
);

export const commandBodySchema = memo(() =>
  z
    .strictObject({
      command: z.enum(operatorCommands),
      device: z
        .union([z.int().min(0).max(maxDeviceIndex), z.literal('all'), z.null()], {
          error: 'must be a device index, "all" or null',
        })
        .optional()
        .openapi({ description: 'Device index, or `"all"`; absent or null: the `device` parameter.' }),
      scope: z.enum(['alarms', 'device']).optional().openapi({ description: 'Only with `reset`; default `alarms`.' }),
    })
    .openapi('CommandRequest'),
);

export const commandQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  state: z
    .enum(commandStates)
    .optional()
    .openapi({ param: { name: 'state' }, description: 'Only commands in this state; default all.' }),
  limit: integerParam('limit', 1, 1000, 'Maximum number of entries; default 100.').optional(),
});

export const stopBodySchema = memo(() =>
  z
    .strictObject({
      reason: z.string().max(200).optional(),
      delay_s: z.number().min(0).max(60).optional().openapi({ description: 'Seconds; default 0.' }),
    })
    .openapi('StopRequest'),
);
export const stopReplySchema = memo(() =>
  z.strictObject({ state: z.literal('stopping'), delay_s: z.number() }).openapi('Stopping'),
);

export const healthSchema = memo(() =>
  z
    .strictObject({
      status: z.enum(['ok', 'degraded', 'stopping']).openapi({
        description:
          '`degraded`: no tick for five intervals, a protocol in the state `error`, or `rate` of the clock not reached.',
      }),
      tick: z.int(),
      tick_age_s: z.number().openapi({ description: 'Real seconds since the last tick ended, to 1 ms.' }),
      event_loop_p99_ms: z.number().min(0).openapi({
        description:
          '99th percentile of the delay of timers in the last full 10 s, real milliseconds. Above 100 the machine is overloaded.',
      }),
      stalls: z
        .int()
        .min(0)
        .openapi({ description: 'How often the process was blocked for more than 1 s since the start.' }),
    })
    .openapi('Health'),
);

export type CommandRecordReply = z.output<ReturnType<typeof commandRecordSchema>>;
export type CommandReply = z.output<ReturnType<typeof commandReplySchema>>;

export const exampleCommand = {
  id: '1',
  command: 'stop',
  device_index: 0,
  scope: null,
  state: 'queued',
  source: 'rest',
  source_detail: '127.0.0.1:50123',
  queued_at: '2026-03-01T09:30:00.000Z',
  started_at: null,
  finished_at: null,
  message: null,
};
export const exampleServerInfo = {
  name: 'derbench',
  version: '0.1.0',
  api_version: apiVersion,
  build_id: '0.1.0',
  license: { spdx_id: 'Apache-2.0', name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  started_at: '2026-03-01T09:29:58.500Z',
  uptime_s: 1.5,
  pid: 4711,
  runtime: 'node v20.20.2',
  tick_interval_s: 1.5,
  device_count: 1,
  limits: { history_samples_per_device: 10000, log_entries: 5000, ws_queue: 64, max_body_bytes: 262144 },
};
