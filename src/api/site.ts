/** The connection point: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { fleetSiteModes, maxSiteLimitW, siteLimitNames, siteOwnerOf } from '../contract/site.ts';
import type { SiteCut, SiteLimitName, SiteNow, SiteOwnerNow, SitePatch, SiteTarget } from '../contract/site.ts';
import { count, inKilo, list, measured, member, members, nested, text, time, word } from './common/members.ts';
import { deviceIndex, integerParam, maxDeviceIndex } from './common/schemas.ts';
import { writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import { missingMember, missingShard, missingText } from './fleet/members.ts';
import type { MissingShard } from './fleet/members.ts';
import type { SiteColumns } from './history/site-history.ts';
import type { RouteContext } from './http/context.ts';
import type { Origin } from '../core/origin.ts';
import { assetTypes } from '../contract/device.ts';
import type { AssetType } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import { invalid } from './http/errors.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const meanings = {
  export: 'Maximum net power into the grid, kW.',
  import:
    'Maximum net power from the grid, kW. If local loads alone take more, devices absorb nothing and the limit is exceeded.',
  generation: 'Maximum power that the devices inject together, kW.',
  load: 'Maximum power that the devices absorb together, kW; local loads do not count.',
} as const;

const devices = list(member(() => deviceIndex)()).orNull;
const scopeDevices = 'Indexes of the devices behind this connection point; null: the whole site.';

const ownLimit = (name: SiteLimitName) =>
  inKilo.orNull(`${meanings[name]} The limit of this owner; null: none.`, ({ limitsW }: SiteOwnerNow) => limitsW[name]);

/** Dates of the instants of writers. */
interface Dated {
  readonly plant: Pick<Plant, 'dateMs'>;
}

const siteOwner = members<SiteOwnerNow, Dated>()(
  'SiteOwner',
  () => ({
    owner: text('Source of the limits, with a name if the source has several owners.'),
    export_limit_kw: ownLimit('export'),
    import_limit_kw: ownLimit('import'),
    generation_limit_kw: ownLimit('generation'),
    load_limit_kw: ownLimit('load'),
    changed_by: writer.orNull('Last writer of the limits of this owner at this connection point.'),
  }),
  { description: 'The limits of one owner at this connection point.' },
);

/** The limit behind `site` in `decided_by` of `controls`. */
export const siteCut = members<SiteCut>()(
  'SiteCut',
  () => ({
    devices: devices(scopeDevices),
    limit: word(siteLimitNames)('Limit of that connection point.'),
    limit_kw: inKilo('Limit in force, kW.', ({ limitW }) => limitW),
    owner: text('Owner of the limit.'),
  }),
  { description: 'The limit of the site that cuts the power of the device.' },
);

const limit = (name: SiteLimitName) =>
  inKilo.orNull(
    `${meanings[name]} The tightest limit of all owners is in force. Null: no limit.`,
    ({ limits }: SiteNow) => limits[name].limitW,
  );
const limitOwner = (name: SiteLimitName) =>
  text.orNull(
    'Owner of the limit in force, the tightest one; null: no limit.',
    ({ limits }: SiteNow) => limits[name].owner,
  );
const limitBy = (name: SiteLimitName) =>
  writer.orNull(
    'Writer of the limit in force; without a limit the writer that ended the last one. Null: no writer, or a group without limits.',
    ({ limits }: SiteNow) => limits[name].setBy,
  );

/** Powers and limits of one scope. */
const site = members<SiteNow, Dated>()('Site', () => ({
  devices: devices(scopeDevices),
  net_power_kw: inKilo(
    'Power through the connection point, kW: `generation_kw` minus `consumption_kw` minus `load_kw`. ' +
      'Positive = exported into the grid.',
    ({ netW }) => netW,
  ),
  generation_kw: inKilo('Sum of what devices inject, kW, at least 0.', ({ generationW }) => generationW),
  consumption_kw: inKilo(
    'Sum of what devices absorb (charging, electrolysis), kW, at least 0.',
    ({ consumptionW }) => consumptionW,
  ),
  load_kw: inKilo(
    'Sum of the local loads beside the devices (`controls/environment`, load series), kW, at least 0.',
    ({ loadW }) => loadW,
  ),
  export_limit_kw: limit('export'),
  export_limit_owner: limitOwner('export'),
  export_limit_by: limitBy('export'),
  import_limit_kw: limit('import'),
  import_limit_owner: limitOwner('import'),
  import_limit_by: limitBy('import'),
  generation_limit_kw: limit('generation'),
  generation_limit_owner: limitOwner('generation'),
  generation_limit_by: limitBy('generation'),
  load_limit_kw: limit('load'),
  load_limit_owner: limitOwner('load'),
  load_limit_by: limitBy('load'),
  binding: list(word(siteLimitNames)())('Limits that restrict devices now.', ({ limits }) =>
    siteLimitNames.filter((name) => limits[name].binding),
  ),
  exceeded: list(word(siteLimitNames)())(
    'Limits that the powers shown exceed: because of local loads alone, or for at most one simulated second after a step.',
    ({ limits }) => siteLimitNames.filter((name) => limits[name].exceeded),
  ),
  owners: list(siteOwner)('Every owner with a limit here, in the order in which they came; up to 32.'),
  shard: text.optional(
    'Only in `site/scopes` at the gateway of a fleet: the shard that has these limits for all its devices.',
    () => undefined,
  ),
}));

/** Sums over the devices of one kind. */
export interface KindPower {
  deliveredW: number;
  absorbedW: number;
}

const kindPower = members<KindPower>()('SiteKindPower', () => ({
  delivered_kw: inKilo('Sum of what its devices inject, at least 0.', ({ deliveredW }) => deliveredW),
  absorbed_kw: inKilo('Sum of what its devices absorb, at least 0.', ({ absorbedW }) => absorbedW),
}));

const powerByKind = members<Partial<Record<AssetType, KindPower>>>()('SitePowerByKind', () => ({
  pv: nested(kindPower).optional(),
  battery: nested(kindPower).optional(),
  wind: nested(kindPower).optional(),
  fuelcell: nested(kindPower).optional(),
  'hybrid-dc': nested(kindPower).optional(({ 'hybrid-dc': hybrid }) => hybrid),
  evse: nested(kindPower).optional(),
}));

/** Parts of the sums of a scope, from the same powers. */
function powersByKind(plant: Plant, scope: readonly number[] | null): Partial<Record<AssetType, KindPower>> {
  const sums: Partial<Record<AssetType, KindPower>> = {};
  const inScope = scope && new Set(scope);
  for (const { index, assetType } of plant.devices) {
    if (inScope?.has(index) === false) continue;
    const sum = (sums[assetType] ??= { deliveredW: 0, absorbedW: 0 });
    const powerW = plant.sitePowerW(index);
    if (powerW > 0) sum.deliveredW += powerW;
    else sum.absorbedW -= powerW;
  }
  return sums;
}

/** A connection point with the instant at which it is shown. */
export interface ShownSite extends SiteNow {
  readonly byKind: Partial<Record<AssetType, KindPower>>;
  readonly tick: number;
  readonly simMs: number;
  /** at the gateway of a fleet */
  readonly missing?: readonly MissingShard[];
}

export const siteAnswer = members<ShownSite, Dated>()('SiteReply', () => ({
  ...site.members(),
  by_kind: nested(powerByKind)(
    'Parts of `generation_kw` and `consumption_kw` by kind of device, of the same instant.',
    ({ byKind }) => byKind,
  ),
  mode: word(fleetSiteModes).optional(
    'Only while a fleet has limits. `shared`: its leader divides them. `fallback`: no leader has told this process ' +
      'anything for 5 s, and its devices keep to their part by rating.',
    ({ mode }) => mode,
  ),
  missing: list(missingShard).optional(missingText, ({ missing }) => missing),
  tick: count(),
  sim_time: time('Simulated time of the answer.', ({ simMs }) => simMs),
}));

/** The reply of one process. */
function shownSite(plant: Plant, scope: readonly number[] | undefined) {
  const scopeNow = siteOf(plant, scope);
  const byKind = powersByKind(plant, scopeNow.devices);
  return siteAnswer.reply({ ...scopeNow, byKind, tick: plant.latest.tick, simMs: plant.dateMs(plant.now) }, { plant });
}

const pastKind = members<readonly [kind: AssetType, netW: readonly number[]]>()('SitePastKind', () => ({
  asset_type: word(assetTypes)(([kind]) => kind),
  net_power_kw: list(inKilo())('Sum of the powers of its devices, positive into the grid.', ([, netW]) => netW),
}));

interface PastSite {
  readonly columns: SiteColumns;
  /** kinds of the present devices */
  readonly kinds: readonly AssetType[];
  readonly tick: number;
  readonly simMs: number;
}

const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

const pastSite = members<PastSite>()('SiteHistory', () => ({
  tick: count(),
  sim_time: time('Simulated time of the answer.', ({ simMs }) => simMs),
  timestamp: list(time())('Simulated times, oldest first; at least 5 s apart.', ({ columns }) => columns.simMs),
  net_power_kw: list(inKilo())('As in `site`.', ({ columns }) => columns.netW),
  possible_kw: list(inKilo())(
    'The same power without the limits of the devices: the sum of `possible_kw` of `overview`, less the local loads.',
    ({ columns }) => columns.possibleW,
  ),
  export_limit_kw: list(inKilo.orNull())('Limit in force; null: no limit.', ({ columns }) =>
    columns.exportLimitW.map(numberOrNull),
  ),
  import_limit_kw: list(inKilo.orNull())('Limit in force; null: no limit.', ({ columns }) =>
    columns.importLimitW.map(numberOrNull),
  ),
  voltage_pct: list(measured.orNull())(
    'Voltage at the first device in percent of its nominal voltage; null: no device.',
    ({ columns }) => columns.voltagePct.map(numberOrNull),
  ),
  kinds: list(pastKind)('Kinds of the present devices, at the same times.', ({ columns, kinds }) =>
    kinds.map((kind) => [kind, columns.ofKindW(kind)] as const),
  ),
  missing: missingMember(),
}));

const siteScopes = members<readonly SiteNow[], Dated & Pick<RouteContext, 'history'>>()('SiteScopes', () => ({
  scopes: list(site)(
    'The whole site, then devices and groups that have limits, smaller ones first.',
    (scopes) => scopes,
  ),
  recorded_groups: list(list(member(() => deviceIndex)())())(
    'Groups with samples in `site/scopes/history`, also those whose limits have ended: indexes of their devices.',
    (_scopes, { history }) => history.groups,
  ),
  missing: missingMember(),
}));

const maxKw = maxSiteLimitW / 1000;
/** indexes in one request; as many as a process can have devices */
const maxDevicesNamed = 10_000;
const limitToSet = (description: string) =>
  z
    .number()
    .min(0)
    .max(maxKw)
    .nullable()
    .optional()
    .openapi({
      description: `${description} Rounded to 0.000001 kW. Null ends the limit of this owner; absent: unchanged.`,
    });
const siteQuery = z.strictObject({
  device: integerParam('device', 0, maxDeviceIndex, 'Index of one device; absent: the whole site.').optional(),
});

const bodyLimitNames = siteLimitNames.map((name) => `${name}_limit_kw` as const);

export const siteBodySchema = memo(() =>
  z
    .strictObject({
      export_limit_kw: limitToSet(meanings.export),
      import_limit_kw: limitToSet(meanings.import),
      generation_limit_kw: limitToSet(meanings.generation),
      load_limit_kw: limitToSet(meanings.load),
      devices: z
        .array(deviceIndex.max(maxDeviceIndex))
        .min(1)
        .max(maxDevicesNamed)
        .optional()
        .openapi({
          description:
            'Indexes of a group of devices that the limits are for; not together with the parameter `device`. Groups are ' +
            'disjoint, or one holds all of the other.',
        }),
      owner: z
        .string()
        .regex(/^[\w.:-]{1,64}$/, { error: 'must be 1 to 64 letters, digits or characters of "_.:-"' })
        .optional()
        .openapi({
          description:
            'Name of the owner among those of this source, for example `feeder`, which is shown as `rest:feeder`: 1 to 64 letters, ' +
            'digits or characters of `_.:-`. Absent: the source itself, `rest`.',
        }),
    })
    .refine((body) => bodyLimitNames.some((name) => body[name] !== undefined), {
      error: `at least one of ${bodyLimitNames.join(', ')} is required`,
    })
    .openapi('SiteRequest', { minProperties: 1 }),
);

export type SiteBody = z.output<ReturnType<typeof siteBodySchema>>;

/** The scope of a request: one device, a group, or the whole site. */
function siteOf(plant: Plant, devices: readonly number[] | undefined): SiteNow {
  return devices ? plant.siteOf(devices) : plant.site;
}

/** The limits of a request. */
export function sitePatch(body: SiteBody): SitePatch {
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
    ...ownerIn(body, by),
  };
}

/** The owner that a request names; its source stands in front: no request can change limits of another protocol. */
export const ownerIn = ({ owner }: SiteBody, by: Origin): Pick<SiteTarget, 'owner'> =>
  owner === undefined ? {} : { owner: `${siteOwnerOf(by)}:${owner}` };

/** The operation that reads a connection point. */
export const siteRoute: Route = route({
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
  reply: siteAnswer.schema,
  handle: (ctx, { query: { device } }) => shownSite(ctx.plant, device === undefined ? undefined : [device]),
});

export const siteRoutes: readonly Route[] = [
  siteRoute,
  route({
    method: 'post',
    path: '/site',
    tag: 'Controls',
    operationId: 'set_site',
    summary: 'Sets or ends limits of a connection point',
    description:
      'Without `device` and `devices` the limits concern the whole site. Limits of a device or group bind before those ' +
      'around it. Every owner has separate limits, and the tightest limit of all owners is in force. The limits act on the ' +
      'devices behind the connection point from the next tick on. Power is shared by rating, and the share that a device ' +
      'does not use goes to the others. A limited device shows `site` in `decided_by` of `controls`; its registers do not ' +
      'change. The request is applied as a whole or not at all.',
    query: siteQuery,
    body: siteBodySchema,
    reply: siteAnswer.schema,
    problems: ['conflict'],
    handle(ctx, { query, body, by }) {
      const target = targetOf(query.device, body, by);
      ctx.plant.setSite(sitePatch(body), by, target);
      return shownSite(ctx.plant, target.devices);
    },
  }),
  route({
    method: 'get',
    path: '/site/scopes',
    tag: 'Controls',
    operationId: 'get_site_scopes',
    summary: 'Every connection point with limits',
    description: 'The whole site first, then the devices and groups with limits, smaller ones before larger ones.',
    reply: siteScopes.schema,
    handle: (ctx) => siteScopes.reply(ctx.plant.siteScopes, ctx),
  }),
  route({
    method: 'get',
    path: '/site/history',
    tag: 'Controls',
    operationId: 'get_site_history',
    summary: 'Powers and voltage of the site in the last hours',
    description:
      'Samples of the whole site as in `site/scopes/history`, at most one in 5 simulated seconds, which also survive a restart ' +
      'with `--state_history yes`. After `controls/time` ' +
      'has set the clock back, the answer begins there.',
    query: z.strictObject({
      seconds: integerParam('seconds', 1, 86_400, 'Samples of this many last simulated seconds. Default 3600.').default(
        3600,
      ),
    }),
    reply: pastSite.schema,
    handle: ({ plant, history }, { query: { seconds } }) =>
      pastSite.reply({
        columns: history.site.last(seconds),
        kinds: assetTypes.filter((kind) => plant.devices.some(({ assetType }) => assetType === kind)),
        tick: plant.latest.tick,
        simMs: plant.dateMs(plant.now),
      }),
  }),
];
