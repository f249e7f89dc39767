import { SimError } from '../../core/errors.ts';
import type { CommandRecord, CommandRequest } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { invalid } from '../http/errors.ts';
import { Answer, apiPrefix, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery, isoOrNull } from '../common/schemas.ts';
import {
  commandBodySchema,
  commandListSchema,
  commandQuerySchema,
  commandRecordSchema,
  commandReplySchema,
  exampleCommand,
} from '../lifecycle/schemas.ts';
import type { CommandRecordReply, CommandReply } from '../lifecycle/schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { z } from '../description/zod.ts';

const defaultLimit = 100;

function recordReply(record: CommandRecord): CommandRecordReply {
  return {
    id: record.id,
    command: record.command,
    device_index: record.deviceIndex,
    scope: record.scope,
    state: record.state,
    source: record.source,
    source_detail: record.sourceDetail,
    queued_at: new Date(record.queuedAtMs).toISOString(),
    started_at: isoOrNull(record.startedAtMs),
    finished_at: isoOrNull(record.finishedAtMs),
    message: record.message,
  };
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
    const commands = plant.commands
      .list({
        ...(query.device !== undefined && { deviceIndex: query.device }),
        ...(query.state && { state: query.state }),
      })
      .slice(0, query.limit ?? defaultLimit)
      .map(recordReply);
    return { commands, count: commands.length };
  },
});

const submitCommand = route({
  method: 'post',
  path: '/commands',
  tag: 'Core',
  operationId: 'submit_command',
  summary: 'Queues start, stop or reset',
  description:
    'Commands run first in, first out per device, from the start of the next tick on. ' +
    'The header `Location` is the address of the record. With `"device": "all"` every device gets the command or, when one ' +
    'queue is full, none; the answer has one record per device. A `device` in the body overrides the parameter, which must ' +
    'name an existing device nevertheless.',
  query: deviceQuery,
  body: commandBodySchema,
  reply: commandReplySchema,
  status: 202,
  replyHeaders: {
    Location: { description: 'Address of the record, or with `all` of the list.', example: '/api/sim/commands/1' },
  },
  problems: ['unknown-device', 'too-many-requests', 'not-applicable', 'conflict'],
  examples: { body: { command: 'stop', device: 0 }, reply: exampleCommand },
  handle(ctx, { query, body, by }) {
    if (body.scope !== undefined && body.command !== 'reset') {
      throw invalid('body', '/scope', 'is only for the command reset');
    }
    const { plant } = ctx;
    const named = selectedDevice(ctx, query.device);
    const request = (device: Device): CommandRequest => ({
      command: body.command,
      deviceIndex: device.index,
      ...(body.command === 'reset' && { scope: body.scope ?? 'alarms' }),
    });
    if (body.device === 'all') {
      const commands = plant.commands.submitAll(plant.devices.map(request), by).map(recordReply);
      return new Answer<CommandReply>({ commands }, { headers: { Location: `${apiPrefix}/commands` } });
    }
    const record = plant.commands.submit(
      request(body.device === undefined || body.device === null ? named : plant.device(body.device)),
      by,
    );
    return new Answer<CommandReply>(recordReply(record), {
      headers: { Location: `${apiPrefix}/commands/${record.id}` },
    });
  },
});

const getCommand = route({
  method: 'get',
  path: '/commands/{id}',
  tag: 'Core',
  operationId: 'get_command',
  summary: 'One operator command',
  params: z.strictObject({
    id: z
      .string()
      .max(64)
      .openapi({ param: { name: 'id' }, description: 'Id of the record.' }),
  }),
  reply: commandRecordSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleCommand },
  handle({ plant }, { params }) {
    const record = plant.commands.get(params.id);
    if (!record) {
      const others = plant.commands.list().length === 0 ? 'none was submitted yet' : 'the last 1000 are kept';
      throw new SimError('UNKNOWN_RESOURCE', `There is no command "${params.id}"; ${others}.`);
    }
    return recordReply(record);
  },
});

export const commandRoutes: readonly Route[] = [listCommands, submitCommand, getCommand];
