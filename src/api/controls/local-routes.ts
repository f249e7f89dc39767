import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { z } from '../description/zod.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceIndex, deviceQuery } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { overrideWriter } from '../common/writer-replies.ts';

const localBodySchema = z
  .strictObject({
    local: z.boolean().openapi({ description: 'True: the device refuses remote writes and commands.' }),
  })
  .openapi('LocalControlRequest');
const localSchema = z
  .strictObject({
    device_index: deviceIndex,
    local: z.boolean(),
    changed_by: writerSchema.nullable().openapi({ description: 'Last writer; null: as started.' }),
  })
  .openapi('LocalControl');

function localReply({ plant }: RouteContext, device: Device) {
  return {
    device_index: device.index,
    local: device.localControl,
    changed_by: overrideWriter(plant, device, 'local_control'),
  };
}

const getLocal = route({
  method: 'get',
  path: '/controls/local',
  tag: 'Controls',
  operationId: 'get_local_control',
  summary: 'The local/remote switch at the device (715.LocRemCtl)',
  query: deviceQuery,
  reply: localSchema,
  examples: { reply: { device_index: 0, local: false, changed_by: null } },
  handle: (ctx, { query }) => localReply(ctx, selectedDevice(ctx, query.device)),
});

const setLocal = route({
  method: 'post',
  path: '/controls/local',
  tag: 'Controls',
  operationId: 'set_local_control',
  summary: 'Turns the local/remote switch at the device',
  description:
    'Under local control writes and commands of Modbus, IEEE 2030.5, OCPP and DNP3 are refused, each in the terms of its ' +
    'protocol; this interface stands for the panel at the device and keeps working.',
  query: deviceQuery,
  body: localBodySchema,
  reply: localSchema,
  examples: { body: { local: true }, reply: { device_index: 0, local: true, changed_by: exampleWriter } },
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    device.command({ kind: 'local', local: body.local }, by);
    return localReply(ctx, device);
  },
});

export const localControlRoutes: readonly Route[] = [getLocal, setLocal];
