import type { PvShading } from '../../contract/kinds/pv.ts';
import type { Device } from '../../contract/device.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { arrayOf } from '../common/kind-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { shading, shadingBodySchema } from './members.ts';

const shadingReply = ({ plant }: RouteContext, device: Device) => shading.reply(arrayOf(device), { device, plant });

const getShading = route({
  method: 'get',
  path: '/controls/shading',
  tag: 'Controls',
  operationId: 'get_shading',
  summary: 'Partial shading of a PV array',
  query: deviceQuery,
  reply: shading.schema,
  problems: ['not-applicable'],
  handle: (ctx, { query }) => shadingReply(ctx, selectedDevice(ctx, query.device)),
});

const setShading = route({
  method: 'post',
  path: '/controls/shading',
  tag: 'Controls',
  operationId: 'set_shading',
  summary: 'Shades part of every string of a PV array, or ends the shading',
  description:
    'The curve then has a second maximum; see `dc-iv`. `shaded_share` 0 ends the shading. `input` chooses one of several inputs.',
  query: deviceQuery,
  body: shadingBodySchema,
  reply: shading.schema,
  problems: ['not-applicable'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    arrayOf(device);
    const { shaded_share: shadedShare, irradiance_share: irradianceShare, input } = body;
    const pattern: PvShading | null = shadedShare === 0 ? null : { shadedShare, irradianceShare };
    device.command({ kind: 'pv.shading', shading: pattern, ...(input !== undefined && { input }) }, by);
    return shadingReply(ctx, device);
  },
});

export const shadingRoutes: readonly Route[] = [getShading, setShading];
