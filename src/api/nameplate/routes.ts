import type { IvPoint } from '../../contract/device.ts';
import type { Device } from '../../contract/device.ts';
import type { StartSetting } from '../../contract/start-settings.ts';
import { storageIn } from '../../contract/kinds/table.ts';
import { pointBits, pointNumber, pointText, pointWriter } from '../common/points.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery, isoOrNull } from '../common/schemas.ts';
import {
  capacityNames,
  capacityPoints,
  configuredSettingsSchema,
  dcIvQuerySchema,
  dcIvSchema,
  exampleConfiguredSettings,
  exampleDcIv,
  exampleNameplate,
  nameplateSchema,
} from './schemas.ts';
import type { CapacityName } from './schemas.ts';
import { rounded } from '../common/kind-replies.ts';
import { selectedDevice } from '../common/device-replies.ts';

const defaultCurvePoints = 128;

function capacity({ bank }: Device, kind: 'rating' | 'setting'): Record<CapacityName, number | null> {
  const entries = capacityNames.map((name) => [name, pointNumber(bank, 702, capacityPoints[name][kind])]);
  return Object.fromEntries(entries) as Record<CapacityName, number | null>;
}

/** A symbol in lower snake case; null when it is none of the known ones. */
function symbolIn<T extends string>(device: Device, modelId: number, path: string, known: readonly T[]): T | null {
  const text = pointText(device.bank, modelId, path)?.toLowerCase();
  return known.find((name) => name === text) ?? null;
}

function storageReply(device: Device) {
  if (storageIn(device.detail) === null) return null;
  return {
    wh_rating_wh: pointNumber(device.bank, 713, 'WHRtg'),
    soc_min_pct: pointNumber(device.bank, 802, 'SoCMin'),
    soc_max_pct: pointNumber(device.bank, 802, 'SoCMax'),
  };
}

function dcPorts(device: Device) {
  const count = pointNumber(device.bank, 714, 'NPrt') ?? 0;
  return Array.from({ length: count }, (_, index) => ({
    index,
    type: symbolIn(device, 714, `Prt[${index}].PrtTyp`, ['pv', 'ess', 'ev', 'inj', 'abs', 'bidir', 'dc_dc']),
    id: pointNumber(device.bank, 714, `Prt[${index}].ID`),
    name: pointText(device.bank, 714, `Prt[${index}].IDStr`),
  }));
}

const nameplate = route({
  method: 'get',
  path: '/nameplate',
  tag: 'Controls',
  operationId: 'get_nameplate',
  summary: 'Identity, ratings and settings',
  query: deviceQuery,
  reply: nameplateSchema,
  examples: { reply: exampleNameplate },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const { bank } = device;
    return {
      device_index: device.index,
      identity: {
        manufacturer: pointText(bank, 1, 'Mn'),
        model: pointText(bank, 1, 'Md'),
        options: pointText(bank, 1, 'Opt'),
        version: pointText(bank, 1, 'Vr'),
        serial_number: pointText(bank, 1, 'SN'),
        device_address: pointNumber(bank, 1, 'DA'),
      },
      ac_type: symbolIn(device, 701, 'ACType', ['single_phase', 'split_phase', 'three_phase']) ?? 'three_phase',
      ratings: { ...capacity(device, 'rating'), react_suscept_s: pointNumber(bank, 702, 'ReactSusceptRtg') },
      settings: capacity(device, 'setting'),
      normal_category: symbolIn(device, 702, 'NorOpCatRtg', ['cat_a', 'cat_b']),
      abnormal_category: symbolIn(device, 702, 'AbnOpCatRtg', ['cat_1', 'cat_2', 'cat_3']),
      ctrl_modes: pointBits(bank, 702, 'CtrlModes'),
      island_categories: pointBits(bank, 702, 'IntIslandCatRtg'),
      storage: storageReply(device),
      dc_ports: dcPorts(device),
      models: bank.layout.models
        .filter(({ hidden }) => !hidden)
        .map(({ def, address, length }) => ({ id: def.id, address, length })),
    };
  },
});

function startReply({ member, name, value, unit, origin, flag }: StartSetting) {
  return { point: member, name, value, rated_value: null, unit, origin, flag, set_at: null };
}

const configuredSettings = route({
  method: 'get',
  path: '/nameplate/configured-settings',
  tag: 'Controls',
  operationId: 'get_configured_settings',
  summary: 'Settings that differ from the ratings, and those of the process that replace members of the profile',
  description:
    'Only numbers are listed, since `value` is one for every client: a setting that is a word (`--fuelcell_chemistry`, ' +
    '`--hybrid_dispatch`) has no line. `GET fuelcell` and `GET hybrid-dc` show what such a word set.',
  query: deviceQuery,
  reply: configuredSettingsSchema,
  examples: { reply: exampleConfiguredSettings },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const overrides = capacityNames.flatMap((name) => {
      const { rating, setting, unit } = capacityPoints[name];
      const value = pointNumber(device.bank, 702, setting);
      const ratedValue = pointNumber(device.bank, 702, rating);
      if (value === null || value === ratedValue) return [];
      const writer = pointWriter(device.bank, 702, setting);
      return [
        {
          point: `702.${setting}`,
          name,
          value,
          rated_value: ratedValue,
          unit,
          origin: writer?.source ?? ('profile' as const),
          flag: null,
          set_at: isoOrNull(writer && ctx.plant.dateMs(writer.at)),
        },
      ];
    });
    const atStart = ctx.startSettingsOf?.(device.assetType).map(startReply) ?? [];
    return { device_index: device.index, profile: device.profileName, overrides: [...atStart, ...overrides] };
  },
});

const roundedOrNull = (value: number | null) => (value === null ? null : rounded(value));
const pointReply = ({ v, i, p }: IvPoint) => ({ v: rounded(v), i: rounded(i), p: rounded(p) });

const dcIv = route({
  method: 'get',
  path: '/dc-iv',
  tag: 'DC I/V',
  operationId: 'get_dc_curve',
  summary: 'Current-voltage curve of a DC port',
  description: 'The example shows six of the samples.',
  query: dcIvQuerySchema,
  reply: dcIvSchema,
  problems: ['not-applicable', 'unknown-resource'],
  examples: { reply: exampleDcIv },
  handle(ctx, { query }) {
    const curve = selectedDevice(ctx, query.device).dcCurve(query.port, query.points ?? defaultCurvePoints);
    return {
      irradiance_w_m2: roundedOrNull(curve.irradianceWm2),
      cell_temperature_c: rounded(curve.cellTemperatureC),
      operating_point: pointReply(curve.operatingPoint),
      curve: curve.curve.map(pointReply),
      kind: curve.kind,
      mpp: curve.mpp && pointReply(curve.mpp),
      v_oc_v: roundedOrNull(curve.vOcV),
      i_sc_a: roundedOrNull(curve.iScA),
      port: curve.port,
    };
  },
});

export const nameplateRoutes: readonly Route[] = [nameplate, configuredSettings, dcIv];
