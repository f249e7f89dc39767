import { SimError } from '../../core/errors.ts';
import type { CommandRecord } from '../../sunspec/map/device.ts';
import type { RouteContext } from '../context.ts';
import { invalid } from '../errors.ts';
import { Answer, apiPrefix, route } from '../route.ts';
import type { Route } from '../route.ts';
import { deviceQuery, isoOrNull } from '../schemas/common.ts';
import {
  commandBodySchema, commandListSchema, commandQuerySchema, commandRecordSchema, commandReplySchema, exampleCommand,
} from '../schemas/lifecycle.ts';
import type { CommandRecordReply } from '../schemas/lifecycle.ts';
import { selectedDevice } from '../views.ts';
import { z } from '../zod.ts';

/** Commands that may wait per device. */
const maxWaiting = 64;
const defaultLimit = 100;

function recordReply(record: CommandRecord): CommandRecordReply {
  return {
    id: record.id,
    command: record.command,
    device_index: record.deviceIndex,
    scope: record.scope,
    state: record.state,
    source: record.source,
    queued_at: new Date(record.queuedAtMs).toISOString(),
    started_at: isoOrNull(record.startedAtMs),
    finished_at: isoOrNull(record.finishedAtMs),
    message: record.message,
  };
}

/** A command for all devices is queued for all or for none. */
function checkRoomForAll({ plant }: RouteContext): void {
  const waiting = new Map<number, number>();
  for (const { deviceIndex } of plant.commands.list({ state: 'queued' })) {
    const count = (waiting.get(deviceIndex) ?? 0) + 1;
    waiting.set(deviceIndex, count);
    if (count >= maxWaiting) {
      throw new SimError('COMMAND_QUEUE_FULL', `Device ${deviceIndex} has ${maxWaiting} commands waiting; nothing was queued.`);
    }
  }
}

const listCommands = route({
  method: 'get',
  path: '/commands',
  tag: 'Core',
  operationId: 'list_commands',
  summary: 'Operator commands, newest first',
  query: commandQuerySchema,
  reply: commandListSchema,
  examples: { reply: { commands: [exampleCommand], count: 1 } },
  handle({ plant }, { query }) {
    if (query.device !== undefined) plant.device(query.device);
    const commands = plant.commands.list({
      ...(query.device !== undefined && { deviceIndex: query.device }),
      ...(query.state && { state: query.state }),
    }).slice(0, query.limit ?? defaultLimit).map(recordReply);
    return { commands, count: commands.length };
  },
});

const submitCommand = route({
  method: 'post',
  path: '/commands',
  tag: 'Core',
  operationId: 'submit_command',
  summary: 'Queues start, stop or reset',
  description: 'Commands run first in first out per device, from the start of the next tick on. '
    + 'The header `Location` names the record; with `"device": "all"` one record per device is answered.',
  query: deviceQuery,
  body: commandBodySchema,
  reply: commandReplySchema,
  status: 202,
  problems: ['unknown-device', 'too-many-requests', 'not-applicable', 'conflict'],
  examples: { body: { command: 'stop', device: 0 }, reply: exampleCommand },
  handle(ctx, { query, body, by }) {
    if (body.scope !== undefined && body.command !== 'reset') {
      throw invalid('body', '/scope', 'is only for the command reset');
    }
    const { plant } = ctx;
    const submit = (deviceIndex: number) => recordReply(plant.commands.submit({
      command: body.command, deviceIndex, ...(body.command === 'reset' && { scope: body.scope ?? 'alarms' }),
    }, by));
    if (body.device === 'all') {
      checkRoomForAll(ctx);
      return new Answer<CommandRecordReply | { commands: CommandRecordReply[] }>(
        { commands: plant.devices.map((device) => submit(device.index)) }, { headers: { Location: `${apiPrefix}/commands` } });
    }
    const record = submit(selectedDevice(ctx, body.device ?? query.device).index);
    return new Answer<CommandRecordReply | { commands: CommandRecordReply[] }>(
      record, { headers: { Location: `${apiPrefix}/commands/${record.id}` } });
  },
});

const getCommand = route({
  method: 'get',
  path: '/commands/{id}',
  tag: 'Core',
  operationId: 'get_command',
  summary: 'One operator command',
  params: z.strictObject({ id: z.string().max(64).openapi({ param: { name: 'id' }, description: 'Id of the record.' }) }),
  reply: commandRecordSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleCommand },
  handle({ plant }, { params }) {
    const record = plant.commands.get(params.id);
    if (!record) {
      throw new SimError('UNKNOWN_RESOURCE', `There is no command "${params.id}"; the last 1000 are kept.`);
    }
    return recordReply(record);
  },
});

export const commandRoutes: readonly Route[] = [listCommands, submitCommand, getCommand];
