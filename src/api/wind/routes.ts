import { selectedDevice } from '../common/device-replies.ts';
import { detailOf } from '../common/kind-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { powerCurve, wind, windOverrideBodySchema } from './members.ts';

const windReply = ({ plant }: RouteContext, device: Device) => wind.reply(detailOf(device, 'wind'), { device, plant });

const getWind = route({
  method: 'get',
  path: '/wind',
  tag: 'Wind',
  operationId: 'get_wind',
  summary: 'Wind, rotor and power of a turbine',
  query: deviceQuery,
  reply: wind.schema,
  problems: ['not-applicable'],
  handle: (ctx, { query }) => windReply(ctx, selectedDevice(ctx, query.device)),
});

const overrideWind = route({
  method: 'post',
  path: '/wind/override',
  tag: 'Wind',
  operationId: 'override_wind',
  summary: 'Puts a steady wind in place of the data, or ends that',
  description: 'An override has no turbulence. The turbine takes it up with the next tick.',
  query: deviceQuery,
  body: windOverrideBodySchema,
  reply: wind.schema,
  problems: ['not-applicable'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    detailOf(device, 'wind');
    device.command({ kind: 'wind.override', speedMS: body.wind_speed_m_s, height: body.height ?? 'hub' }, by);
    return windReply(ctx, device);
  },
});

const getPowerCurve = route({
  method: 'get',
  path: '/wind/power-curve',
  tag: 'Wind',
  operationId: 'get_wind_power_curve',
  summary: 'Power curve of a turbine: power on the rotor in steady wind',
  description:
    'Without curtailment. Turbulence, and the inertia of the rotor, let the present power lie beside the curve.',
  query: deviceQuery,
  reply: powerCurve.schema,
  problems: ['not-applicable'],
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    return powerCurve.reply(detailOf(device, 'wind'), { device, plant: ctx.plant });
  },
});

export const windRoutes: readonly Route[] = [getWind, getPowerCurve, overrideWind];
