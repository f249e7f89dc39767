/** The register map of the meter of the connection point, which no device has. */
import type { SiteMeter } from '../../contract/site-meter.ts';
import type { Plant } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { modelList, modelOf, modelReply, shownSlots } from '../registers/replies.ts';
import {
  exampleMeterModels,
  exampleMeterRegisters,
  meterModelsSchema,
  modelQuerySchema,
  registersParamsSchema,
  registersSchema,
} from '../registers/schemas.ts';

/** @throws SimError UNKNOWN_RESOURCE without a meter */
function meterOf({ meter }: Plant): SiteMeter {
  if (meter !== null) return meter;
  throw new SimError(
    'UNKNOWN_RESOURCE',
    'The connection point has no meter; the settings meter_unit and meter_port give it one.',
  );
}

const listMeterModels = route({
  method: 'get',
  path: '/site/registers',
  tag: 'Controls',
  operationId: 'list_site_registers',
  summary: 'Models of the register map of the meter of the connection point',
  description:
    'The meter is no device: it has no index, and is neither in `devices` nor in the stream. Without the settings ' +
    '`meter_unit` and `meter_port` there is none.',
  reply: meterModelsSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleMeterModels },
  handle({ plant }) {
    const { unitId, bank } = meterOf(plant);
    return { unit_id: unitId, models: modelList(bank) };
  },
});

const getMeterRegisters = route({
  method: 'get',
  path: '/site/registers/{model_id}',
  tag: 'Controls',
  operationId: 'get_site_registers',
  summary: 'Points of one model of the meter, decoded and raw',
  description:
    'Active and reactive power are positive when drawn from the grid, opposite to `net_power_kw` of `site`. The answer ' +
    'has every point of the model, or those that `points` names; the example shows two. No point can be written.',
  params: registersParamsSchema,
  query: modelQuerySchema,
  reply: registersSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleMeterRegisters },
  handle({ plant }, { params, query }) {
    const { bank } = meterOf(plant);
    const place = modelOf(bank, params.model_id, 'The meter');
    return modelReply(plant, bank, place, shownSlots(bank, place, query.points), query.raw);
  },
});

export const siteMeterRoutes: readonly Route[] = [listMeterModels, getMeterRegisters];
