import { selectedDevice } from '../common/device-replies.ts';
import { camelCased } from '../common/members.ts';
import { deviceQuery } from '../common/schemas.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { available, controls, gradient, gradientBodySchema, local, localBodySchema } from './members.ts';

const getControls = route({
  method: 'get',
  path: '/controls',
  tag: 'Controls',
  operationId: 'get_controls',
  summary: 'Grid-support modes, throttling, grid and clock of a device',
  query: deviceQuery,
  reply: controls.schema,
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    return controls.reply(device, { plant: ctx.plant, deviceIndex: device.index });
  },
});

const getAvailable = route({
  method: 'get',
  path: '/controls/available',
  tag: 'Controls',
  operationId: 'get_available_power',
  summary: 'What a device could do at its terminals now',
  description:
    'Magnitudes from the source at the end of the last tick with conversion losses, state of charge and temperature, and ' +
    'from ratings and settings (702). Limits, set-points, curves and the site do not count. All are 0 while no power can ' +
    'flow: out of service, with an open switch, in momentary cessation, during a reboot.',
  query: deviceQuery,
  reply: available.schema,
  handle: (ctx, { query }) => available.reply(selectedDevice(ctx, query.device)),
});

const getGradient = route({
  method: 'get',
  path: '/controls/gradient',
  tag: 'Controls',
  operationId: 'get_gradient',
  summary: 'How fast power follows commands',
  query: deviceQuery,
  reply: gradient.schema,
  handle: (ctx, { query }) => gradient.reply(selectedDevice(ctx, query.device), ctx),
});

const setGradient = route({
  method: 'post',
  path: '/controls/gradient',
  tag: 'Controls',
  operationId: 'set_gradient',
  summary: 'Sets or ends slopes finer and slower than 704.WRmp and VarRmp',
  description:
    'A gradient takes the place of 704.WRmp (and WRmpRef) or 704.VarRmp, which keep their values. It ends with null, with ' +
    'a later write to its register, and with a reset of the device, which returns to the gradient of the profile.',
  query: deviceQuery,
  body: gradientBodySchema,
  reply: gradient.schema,
  problems: ['conflict'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    device.command({ kind: 'gradient', ...camelCased(body) }, by);
    return gradient.reply(device, ctx);
  },
});

const getLocal = route({
  method: 'get',
  path: '/controls/local',
  tag: 'Controls',
  operationId: 'get_local_control',
  summary: 'The local/remote switch at the device (715.LocRemCtl)',
  query: deviceQuery,
  reply: local.schema,
  handle: (ctx, { query }) => local.reply(selectedDevice(ctx, query.device), ctx),
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
  reply: local.schema,
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    device.command({ kind: 'local', local: body.local }, by);
    return local.reply(device, ctx);
  },
});

export const controlsRoutes: readonly Route[] = [
  getControls,
  getLocal,
  setLocal,
  getGradient,
  setGradient,
  getAvailable,
];
