import type { z } from 'zod';
import { siteLimitNames } from '../../contract/site.ts';
import type { SitePatch } from '../../contract/site.ts';
import type { Plant } from '../../contract/plant.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { exampleSite, exampleSiteSet, siteBodySchema, siteSchema } from './schemas.ts';
import { kilo } from '../common/kind-replies.ts';
import { writerReply } from '../common/writer-replies.ts';

function siteReply(plant: Plant): z.output<typeof siteSchema> {
  const { limits, netW, generationW, consumptionW, loadW } = plant.site;
  const limitKw = (name: keyof typeof limits) => (limits[name].limitW === null ? null : kilo(limits[name].limitW));
  const limitBy = (name: keyof typeof limits) => writerReply(plant, limits[name].setBy);
  return {
    net_power_kw: kilo(netW),
    generation_kw: kilo(generationW),
    consumption_kw: kilo(consumptionW),
    load_kw: kilo(loadW),
    export_limit_kw: limitKw('export'),
    export_limit_by: limitBy('export'),
    import_limit_kw: limitKw('import'),
    import_limit_by: limitBy('import'),
    generation_limit_kw: limitKw('generation'),
    generation_limit_by: limitBy('generation'),
    load_limit_kw: limitKw('load'),
    load_limit_by: limitBy('load'),
    binding: siteLimitNames.filter((name) => limits[name].binding),
    exceeded: siteLimitNames.filter((name) => limits[name].exceeded),
  };
}

function sitePatch(body: z.output<typeof siteBodySchema>): SitePatch {
  return Object.fromEntries(
    siteLimitNames.flatMap((name) => {
      const limitKw = body[`${name}_limit_kw`];
      return limitKw === undefined ? [] : [[name, limitKw === null ? null : limitKw * 1000]];
    }),
  );
}

const getSite = route({
  method: 'get',
  path: '/site',
  tag: 'Controls',
  operationId: 'get_site',
  summary: 'Connection point: powers, and the limits of the site',
  description:
    'All devices of the process and the local loads beside them share one connection point. Powers are those at ' +
    'the end of the last tick, at the terminals of the devices.',
  reply: siteSchema,
  examples: { reply: exampleSite },
  handle: ({ plant }) => siteReply(plant),
});

const setSite = route({
  method: 'post',
  path: '/site',
  tag: 'Controls',
  operationId: 'set_site',
  summary: 'Sets or ends limits of the connection point',
  description:
    'The limits act on the devices behind the connection point from the next tick on. Power is shared by rating, and the ' +
    'share that a device does not use goes to the others. A limited device shows `site` in `decided_by` of `controls`; its ' +
    'registers do not change. The request is applied as a whole or not at all.',
  body: siteBodySchema,
  reply: siteSchema,
  examples: { body: { export_limit_kw: null, import_limit_kw: 15 }, reply: exampleSiteSet },
  handle({ plant }, { body, by }) {
    plant.setSite(sitePatch(body), by);
    return siteReply(plant);
  },
});

export const siteRoutes: readonly Route[] = [getSite, setSite];
