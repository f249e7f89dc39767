import { memo } from '../core/lazy.ts';
import { commandStates, operatorCommands } from '../contract/plant.ts';
import type { CommandRecord, CommandRequest } from '../contract/plant.ts';
import type { Device } from '../contract/device.ts';
import { SimError } from '../core/errors.ts';
import { selectedDevice } from './common/device-replies.ts';
import { camelCased, integer, list, member, members, text, time, word } from './common/members.ts';
import type { ReplyOf } from './common/members.ts';
import { deviceIndex, deviceParam, deviceQuery, integerParam, maxDeviceIndex, sourceSchema } from './common/schemas.ts';
import { sourceDetailSchema } from './common/writers.ts';
import { z } from './description/zod.ts';
import { missingMember } from './fleet/members.ts';
import { invalid } from './http/errors.ts';
import { Answer, apiPrefix, route } from './http/route.ts';
import type { Route } from './http/route.ts';

const defaultLimit = 100;

const commandRecord = members<CommandRecord>()('CommandRecord', () => ({
  id: text(),
  command: word(operatorCommands)(),
  device_index: member(() => deviceIndex)(),
  scope: word(['alarms', 'device']).orNull(),
  state: word(commandStates)(),
  source: member(() => sourceSchema)(),
  source_detail: member(() => sourceDetailSchema)(),
  queued_at: time(),
  started_at: time.orNull(),
  finished_at: time.orNull(),
  message: text.orNull(),
}));

const commandRecords = members<readonly CommandRecord[]>()(null, () => ({
  commands: list(commandRecord)((records) => records),
}));

const commandReplySchema = memo(() =>
  z
    .union([commandRecord.schema(), commandRecords.schema()])
    .openapi({ description: 'One record; with `"device": "all"` one per device.' }),
);
type CommandReply = ReplyOf<typeof commandRecord> | ReplyOf<typeof commandRecords>;

const commandList = members<readonly CommandRecord[]>()('CommandList', () => ({
  commands: list(commandRecord)('Newest first.', (records) => records),
  count: integer(({ length }) => length),
  missing: missingMember(),
}));

const commandBodySchema = memo(() =>
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

const commandsQuery = z.strictObject({
  device: deviceParam.optional().openapi({ description: 'Only commands to the device of this index; default all.' }),
  state: z
    .enum(commandStates)
    .optional()
    .openapi({ param: { name: 'state' }, description: 'Only commands in this state; default all.' }),
  limit: integerParam('limit', 1, 1000, 'Maximum number of entries; default 100.').optional(),
});

export const commandRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/commands',
    tag: 'Core',
    operationId: 'list_commands',
    summary: 'Operator commands, newest first',
    query: commandsQuery,
    reply: commandList.schema,
    handle({ plant }, { query }) {
      if (query.device !== undefined) plant.device(query.device);
      const filter = camelCased({ device_index: query.device, state: query.state });
      return commandList.reply(plant.commands.list(filter).slice(0, query.limit ?? defaultLimit));
    },
  }),
  route({
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
    handle(ctx, { query, body, by }) {
      if (body.scope !== undefined && body.command !== 'reset') {
        throw invalid('body', '/scope', 'is only for the command reset');
      }
      const { plant } = ctx;
      const queryDevice = selectedDevice(ctx, query.device);
      const request = (device: Device): CommandRequest => ({
        command: body.command,
        deviceIndex: device.index,
        ...(body.command === 'reset' && { scope: body.scope ?? 'alarms' }),
      });
      if (body.device === 'all') {
        const records = plant.commands.submitAll(plant.devices.map(request), by);
        return new Answer<CommandReply>(commandRecords.reply(records), {
          headers: { Location: `${apiPrefix}/commands` },
        });
      }
      const device = body.device === undefined || body.device === null ? queryDevice : plant.device(body.device);
      const record = plant.commands.submit(request(device), by);
      return new Answer<CommandReply>(commandRecord.reply(record), {
        headers: { Location: `${apiPrefix}/commands/${record.id}` },
      });
    },
  }),
  route({
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
    reply: commandRecord.schema,
    problems: ['unknown-resource'],
    handle({ plant }, { params }) {
      const record = plant.commands.get(params.id);
      if (!record) {
        const others = plant.commands.list().length === 0 ? 'none was submitted yet' : 'the last 1000 are kept';
        throw new SimError('UNKNOWN_RESOURCE', `There is no command "${params.id}"; ${others}.`);
      }
      return commandRecord.reply(record);
    },
  }),
];
