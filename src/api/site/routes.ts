import type { z } from 'zod';
import type { Origin } from '../../core/origin.ts';
import type { Plant } from '../../contract/plant.ts';
import { siteLimitNames, siteOwnerOf } from '../../contract/site.ts';
import type { SiteNow, SitePatch, SiteTarget } from '../../contract/site.ts';
import { invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { site, siteBodySchema, siteQuery, siteScopes } from './members.ts';

type SiteBody = z.output<ReturnType<typeof siteBodySchema>>;

/** The scope of a request: one device, a group, or the whole site. */
function siteOf(plant: Plant, devices: readonly number[] | undefined): SiteNow {
  return devices ? plant.siteOf(devices) : plant.site;
}

function sitePatch(body: SiteBody): SitePatch {
  return Object.fromEntries(
    siteLimitNames.flatMap((name) => {
      const limitKw = body[`${name}_limit_kw`];
      return limitKw === undefined ? [] : [[name, limitKw === null ? null : limitKw * 1000]];
    }),
  );
}

function targetOf(device: number | undefined, body: SiteBody, by: Origin): SiteTarget {
  if (device !== undefined && body.devices)
    throw invalid('body', '/devices', 'cannot be given together with the parameter device');
  const devices = device === undefined ? body.devices : [device];
  return {
    ...(devices && { devices }),
    // the name is prefixed with the source: no request can change limits of another protocol
    ...(body.owner !== undefined && { owner: `${siteOwnerOf(by)}:${body.owner}` }),
  };
}

const getSite = route({
  method: 'get',
  path: '/site',
  tag: 'Controls',
  operationId: 'get_site',
  summary: 'Connection point: powers and limits',
  description:
    'All devices of the process and the local loads beside them share one connection point. With `device` the request ' +
    'concerns the connection point of one device, with the local load beside it. Powers are those at the end of the last ' +
    'tick, at the terminals of the devices.',
  query: siteQuery,
  reply: site.schema,
  handle: (ctx, { query: { device } }) =>
    site.reply(siteOf(ctx.plant, device === undefined ? undefined : [device]), ctx),
});

const setSite = route({
  method: 'post',
  path: '/site',
  tag: 'Controls',
  operationId: 'set_site',
  summary: 'Sets or ends limits of a connection point',
  description:
    'Without `device` and `devices` the limits concern the whole site. Limits of a device or group bind before those ' +
    'around it. Every owner has limits of its own, and for each limit the tightest owner holds. The limits act on the ' +
    'devices behind the connection point from the next tick on. Power is shared by rating, and the share that a device ' +
    'does not use goes to the others. A limited device shows `site` in `decided_by` of `controls`; its registers do not ' +
    'change. The request is applied as a whole or not at all.',
  query: siteQuery,
  body: siteBodySchema,
  reply: site.schema,
  problems: ['conflict'],
  handle(ctx, { query, body, by }) {
    const target = targetOf(query.device, body, by);
    ctx.plant.setSite(sitePatch(body), by, target);
    return site.reply(siteOf(ctx.plant, target.devices), ctx);
  },
});

const getScopes = route({
  method: 'get',
  path: '/site/scopes',
  tag: 'Controls',
  operationId: 'get_site_scopes',
  summary: 'Every connection point with limits',
  description: 'The whole site first, then the devices and groups with limits, smaller ones before larger ones.',
  reply: siteScopes.schema,
  handle: (ctx) => siteScopes.reply(ctx.plant.siteScopes, ctx),
});

export const siteRoutes: readonly Route[] = [getSite, setSite, getScopes];
