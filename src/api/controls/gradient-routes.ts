import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { rounded } from '../common/kind-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import { overrideWriter } from '../common/writer-replies.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { exampleGradient, exampleGradientSet, gradientBodySchema, gradientSchema } from './gradient-schemas.ts';
import type { SlopesReply } from './gradient-schemas.ts';

/** The slopes of commands in force. */
export function slopesReply(plant: Plant, device: Device): SlopesReply {
  const { gradient } = device;
  return {
    w_pct_per_s: rounded(gradient.w.pctPerS),
    w_source: gradient.w.source,
    var_pct_per_s: rounded(gradient.var.pctPerS),
    var_source: gradient.var.source,
    changed_by: overrideWriter(plant, device, 'gradient'),
  };
}

const gradientReply = (plant: Plant, device: Device) => ({
  device_index: device.index,
  ...slopesReply(plant, device),
});

const getGradient = route({
  method: 'get',
  path: '/controls/gradient',
  tag: 'Controls',
  operationId: 'get_gradient',
  summary: 'How fast power follows commands',
  query: deviceQuery,
  reply: gradientSchema,
  examples: { reply: exampleGradient },
  handle(ctx, { query }) {
    return gradientReply(ctx.plant, selectedDevice(ctx, query.device));
  },
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
  reply: gradientSchema,
  problems: ['conflict'],
  examples: { body: { w_pct_per_s: 0.27 }, reply: exampleGradientSet },
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const { w_pct_per_s: wPctPerS, var_pct_per_s: varPctPerS } = body;
    device.command(
      {
        kind: 'gradient',
        ...(wPctPerS !== undefined && { wPctPerS }),
        ...(varPctPerS !== undefined && { varPctPerS }),
      },
      by,
    );
    return gradientReply(ctx.plant, device);
  },
});

export const gradientRoutes: readonly Route[] = [getGradient, setGradient];
