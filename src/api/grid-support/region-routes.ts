import { SimError } from '../../core/errors.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { regionsReply } from './region-replies.ts';
import { regionsSchema } from './region-schemas.ts';

const getRegions = route({
  method: 'get',
  path: '/grid-support/regions',
  tag: 'Grid Support',
  operationId: 'get_regions',
  summary: 'Ride-through regions and trip settings of the abnormal category of a device',
  description:
    'What the standard asks of the category, whatever is set: for the settings in force see the trip curves of ' +
    '`grid-support`, in the same units. The areas of `voltage` and of `frequency` cover every value from time 0 on and do ' +
    'not overlap.',
  query: deviceQuery,
  reply: regionsSchema,
  problems: ['unknown-resource'],
  examples: { reply: regionsReply(0, 'CAT_3', 60) },
  handle(ctx, { query }) {
    const { index, bank, trace } = selectedDevice(ctx, query.device);
    const category = bank.map.m702.AbnOpCatRtg;
    if (category === null)
      throw new SimError('UNKNOWN_RESOURCE', `Device ${index} does not state its abnormal category (702.AbnOpCatRtg).`);
    return regionsReply(index, category, trace.nominalHz);
  },
});

export const regionRoutes: readonly Route[] = [getRegions];
