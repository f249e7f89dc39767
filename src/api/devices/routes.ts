import { Answer, apiPrefix, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { addDeviceBodySchema, deviceEntry, deviceEntrySchema, deviceParamsSchema, removedDevice } from './members.ts';
import type { DeviceEntryReply } from './members.ts';

const addDevice = route({
  method: 'post',
  path: '/devices',
  tag: 'Core',
  operationId: 'add_device',
  summary: 'Adds a device while the simulator runs',
  description:
    'The body is one entry of `devices` of a configuration file: `device_type`, `name` and `profile` (a bundled name ' +
    'or the profile itself) or `evse_profile`; the settings of the process are its defaults. Only a configuration can name ' +
    'files, and one device is added at a time. The device gets the index above the highest ever used, and with it its ' +
    'Modbus port or unit id. From the end of the current tick it is in service and settled in the current grid and weather. ' +
    'All errors of a profile are reported together, as JSON pointers into the body. `conflict`: there are 10000 devices ' +
    'already, the port is taken, or the port or unit id would exceed the maximum; nothing has changed then. `shortage`: ' +
    'the process has no file descriptor left for the port of the device or for its profile; the detail says so.',
  body: addDeviceBodySchema,
  reply: deviceEntrySchema,
  status: 201,
  problems: ['conflict', 'shortage'],
  replyHeaders: {
    Location: { description: 'Address of the entry of the device.', example: `${apiPrefix}/devices?device=3` },
  },
  async handle(ctx, { body, by }) {
    const device = await ctx.addDevice(body, by);
    return new Answer<DeviceEntryReply>(deviceEntry(ctx, device), {
      headers: { Location: `${apiPrefix}/devices?device=${device.index}` },
    });
  },
});

/** One operation by two methods, for clients of either habit. */
function removal(method: 'post' | 'delete', path: string, operationId: string): Route {
  return route({
    method,
    path,
    tag: 'Core',
    operationId,
    summary: 'Removes a device while the simulator runs',
    description:
      'Its commands are canceled, masters on its Modbus port are disconnected (on a shared port its unit id is no ' +
      'longer served), and streams of only this device are closed. Indexes, ports and unit ids of other devices stay; the index ' +
      'is never used again and answers `unknown-device`. The last device can be removed too.',
    params: deviceParamsSchema(),
    reply: removedDevice.schema,
    problems: ['unknown-device'],
    async handle(ctx, { params, by }) {
      await ctx.removeDevice(params.index, by);
      return removedDevice.reply(params.index, ctx);
    },
  });
}

export const deviceRoutes: readonly Route[] = [
  addDevice,
  removal('post', '/devices/{index}/remove', 'remove_device'),
  removal('delete', '/devices/{index}', 'delete_device'),
];
