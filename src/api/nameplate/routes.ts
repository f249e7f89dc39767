import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import type { StartSetting } from '../../contract/start-settings.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { pointNumber, pointWriter } from '../common/points.ts';
import { deviceQuery } from '../common/schemas.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { capacityNames, capacityPoints, configuredSettings, dcCurve, dcIvQuerySchema, nameplate } from './members.ts';
import type { ConfiguredSetting } from './members.ts';

const defaultCurvePoints = 128;

const getNameplate = route({
  method: 'get',
  path: '/nameplate',
  tag: 'Controls',
  operationId: 'get_nameplate',
  summary: 'Identity, ratings and settings',
  query: deviceQuery,
  reply: nameplate.schema,
  handle: (ctx, { query }) => nameplate.reply(selectedDevice(ctx, query.device)),
});

function atStart({ member, name, value, unit, origin, flag }: StartSetting): ConfiguredSetting {
  return { point: member, name, value, ratedValue: null, unit, origin, flag, setAtMs: null };
}

/** The settings of 702 that differ from their rating. */
function changedCapacities({ bank }: Device, plant: Plant): readonly ConfiguredSetting[] {
  return capacityNames.flatMap((name) => {
    const { rating, setting, unit } = capacityPoints[name];
    const value = pointNumber(bank, 702, setting);
    const ratedValue = pointNumber(bank, 702, rating);
    if (value === null || value === ratedValue) return [];
    const by = pointWriter(bank, 702, setting);
    const setAtMs = by ? plant.dateMs(by.at) : null;
    const origin = by?.source ?? 'profile';
    return [{ point: `702.${setting}`, name, value, ratedValue, unit, origin, flag: null, setAtMs }];
  });
}

const getConfiguredSettings = route({
  method: 'get',
  path: '/nameplate/configured-settings',
  tag: 'Controls',
  operationId: 'get_configured_settings',
  summary: 'Settings that differ from the ratings, and those of the process that replace members of the profile',
  description:
    'Only numbers are listed, since `value` is one for every client: a setting that is a word (`--fuelcell_chemistry`, ' +
    '`--hybrid_dispatch`) has no line. `GET fuelcell` and `GET hybrid-dc` show what such a word set.',
  query: deviceQuery,
  reply: configuredSettings.schema,
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const started = ctx.startSettingsOf?.(device.assetType).map(atStart) ?? [];
    return configuredSettings.reply(device, [...started, ...changedCapacities(device, ctx.plant)]);
  },
});

const getDcCurve = route({
  method: 'get',
  path: '/dc-iv',
  tag: 'DC I/V',
  operationId: 'get_dc_curve',
  summary: 'Current-voltage curve of a DC port',
  description: 'The example shows six of the samples.',
  query: dcIvQuerySchema,
  reply: dcCurve.schema,
  problems: ['not-applicable', 'unknown-resource'],
  handle(ctx, { query }) {
    const points = query.points ?? defaultCurvePoints;
    return dcCurve.reply(selectedDevice(ctx, query.device).dcCurve(query.port, points));
  },
});

export const nameplateRoutes: readonly Route[] = [getNameplate, getConfiguredSettings, getDcCurve];
