import { selectedDevice } from '../common/device-replies.ts';
import { kilo } from '../common/kind-replies.ts';
import { deviceIndex, deviceQuery } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

const magnitude = (description: string) => z.number().min(0).openapi({ description });

const availableSchema = z
  .strictObject({
    device_index: deviceIndex,
    inject_kw: magnitude('Active power that the device could inject once ramps of its source are over, kW.'),
    absorb_kw: magnitude('Active power that it could absorb, kW; 0 for a device that only delivers.'),
    inject_kvar: magnitude('Reactive power that it could inject beside the present active power, kvar.'),
    absorb_kvar: magnitude('Reactive power that it could absorb beside the present active power, kvar.'),
  })
  .openapi('AvailablePower');

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
  reply: availableSchema,
  examples: { reply: { device_index: 0, inject_kw: 7.31, absorb_kw: 0, inject_kvar: 4.4, absorb_kvar: 4.4 } },
  handle(ctx, { query }) {
    const { index, available } = selectedDevice(ctx, query.device);
    return {
      device_index: index,
      inject_kw: kilo(available.injectW),
      absorb_kw: kilo(available.absorbW),
      inject_kvar: kilo(available.injectVar),
      absorb_kvar: kilo(available.absorbVar),
    };
  },
});

export const availableRoutes: readonly Route[] = [getAvailable];
