import type { PvShading } from '../../contract/kinds/pv.ts';
import type { ArrayDetail } from '../../contract/kinds/table.ts';
import type { Device } from '../../contract/device.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { exampleShading, shadingBodySchema, shadingSchema } from './schemas.ts';
import { arrayOf } from '../common/kind-replies.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { overrideWriter } from '../common/writer-replies.ts';
import type { RouteContext } from '../http/context.ts';

function arrayReply({ shading, mpptState }: Pick<ArrayDetail, 'shading' | 'mpptState'>) {
  return {
    shaded_share: shading?.shadedShare ?? 0,
    irradiance_share: shading?.irradianceShare ?? 1,
    mppt_state: mpptState,
  };
}

function shadingReply({ plant }: RouteContext, device: Device) {
  const array = arrayOf(device);
  return {
    device_index: device.index,
    ...arrayReply(array),
    ...(array.inputs && {
      inputs: array.inputs.map((each, input) => ({ input, name: each.name, ...arrayReply(each) })),
    }),
    changed_by: overrideWriter(plant, device, 'pv_shading'),
  };
}

const getShading = route({
  method: 'get',
  path: '/controls/shading',
  tag: 'Controls',
  operationId: 'get_shading',
  summary: 'Partial shading of a PV array',
  query: deviceQuery,
  reply: shadingSchema,
  problems: ['not-applicable'],
  examples: { reply: exampleShading },
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
  reply: shadingSchema,
  problems: ['not-applicable'],
  examples: { body: { shaded_share: 0.3, irradiance_share: 0.4 }, reply: exampleShading },
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    arrayOf(device);
    const shading: PvShading | null =
      body.shaded_share === 0 ? null : { shadedShare: body.shaded_share, irradianceShare: body.irradiance_share };
    const { input } = body;
    device.command({ kind: 'pv.shading', shading, ...(input !== undefined && { input }) }, by);
    return shadingReply(ctx, device);
  },
});

export const shadingRoutes: readonly Route[] = [getShading, setShading];
