/** Nameplates of devices: ratings, settings, configured values, and the DC curves of PV. */
import { pointNumber } from '../sunspec/map/bank.ts';
import { dcCurveKinds } from '../contract/device.ts';
import type { Device, IvCurve, IvPoint } from '../contract/device.ts';
import { storageIn } from '../contract/kinds/table.ts';
import { sources } from '../core/origin.ts';
import type { ModelPlace } from '../sunspec/map/layout.ts';
import { selectedDevice } from './common/device-replies.ts';
import { count, integer, list, member, members, nested, number, text, time, word, measured } from './common/members.ts';
import { pointBits, pointText, pointWriter } from './common/points.ts';
import { deviceIndex, deviceParam, integerParam, deviceQuery } from './common/schemas.ts';
import { asSetNow } from './common/writers.ts';
import { z } from './description/zod.ts';
import type { Plant } from '../contract/plant.ts';
import type { StartSetting } from '../contract/start-settings.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

/** Members of `ratings` and `settings` with their points of model 702 and their unit. */
const capacityPoints = {
  w_max_w: { rating: 'WMaxRtg', setting: 'WMax', unit: 'W' },
  w_ovr_ext_w: { rating: 'WOvrExtRtg', setting: 'WMaxOvrExt', unit: 'W' },
  w_ovr_ext_pf: { rating: 'WOvrExtRtgPF', setting: 'WOvrExtPF', unit: null },
  w_und_ext_w: { rating: 'WUndExtRtg', setting: 'WMaxUndExt', unit: 'W' },
  w_und_ext_pf: { rating: 'WUndExtRtgPF', setting: 'WUndExtPF', unit: null },
  va_max_va: { rating: 'VAMaxRtg', setting: 'VAMax', unit: 'VA' },
  var_max_inj_var: { rating: 'VarMaxInjRtg', setting: 'VarMaxInj', unit: 'var' },
  var_max_abs_var: { rating: 'VarMaxAbsRtg', setting: 'VarMaxAbs', unit: 'var' },
  w_cha_rte_max_w: { rating: 'WChaRteMaxRtg', setting: 'WChaRteMax', unit: 'W' },
  w_dis_cha_rte_max_w: { rating: 'WDisChaRteMaxRtg', setting: 'WDisChaRteMax', unit: 'W' },
  va_cha_rte_max_va: { rating: 'VAChaRteMaxRtg', setting: 'VAChaRteMax', unit: 'VA' },
  va_dis_cha_rte_max_va: { rating: 'VADisChaRteMaxRtg', setting: 'VADisChaRteMax', unit: 'VA' },
  v_nom_v: { rating: 'VNomRtg', setting: 'VNom', unit: 'V' },
  v_max_v: { rating: 'VMaxRtg', setting: 'VMax', unit: 'V' },
  v_min_v: { rating: 'VMinRtg', setting: 'VMin', unit: 'V' },
  a_max_a: { rating: 'AMaxRtg', setting: 'AMax', unit: 'A' },
  pf_ovr_ext: { rating: 'PFOvrExtRtg', setting: 'PFOvrExt', unit: null },
  pf_und_ext: { rating: 'PFUndExtRtg', setting: 'PFUndExt', unit: null },
} as const;
type CapacityName = keyof typeof capacityPoints;
const capacityNames = Object.keys(capacityPoints) as readonly CapacityName[];

const quantityOf = (modelId: number, path: string) =>
  number.orNull(`${modelId}.${path}`, ({ bank }: Device) => pointNumber(bank, modelId, path));

function capacities(kind: 'rating' | 'setting') {
  const quantities = capacityNames.map((name) => [name, quantityOf(702, capacityPoints[name][kind])]);
  return Object.fromEntries(quantities) as Record<CapacityName, ReturnType<typeof quantityOf>>;
}

const textOf = (path: string) => text.orNull(({ bank }: Device) => pointText(bank, 1, path));

const identity = members<Device>()(null, () => ({
  manufacturer: textOf('Mn'),
  model: textOf('Md'),
  options: textOf('Opt'),
  version: textOf('Vr'),
  serial_number: textOf('SN'),
  device_address: number.orNull(({ bank }) => pointNumber(bank, 1, 'DA')),
}));

const ratings = members<Device>()('Ratings', () => ({
  ...capacities('rating'),
  react_suscept_s: quantityOf(702, 'ReactSusceptRtg'),
}));
const settings = members<Device>()('Settings', () => capacities('setting'));

const storage = members<Device>()(null, () => ({
  wh_rating_wh: quantityOf(713, 'WHRtg'),
  soc_min_pct: quantityOf(802, 'SoCMin'),
  soc_max_pct: quantityOf(802, 'SoCMax'),
}));

/** A symbol in lower snake case; null if it is not among `words`. */
function symbolIn<T extends string>(device: Device, modelId: number, path: string, words: readonly T[]): T | null {
  const text = pointText(device.bank, modelId, path)?.toLowerCase();
  return words.find((name) => name === text) ?? null;
}

const symbol = <const T extends string>(modelId: number, path: string, words: readonly T[]) =>
  word(words).orNull((device: Device) => symbolIn(device, modelId, path, words));

const acTypes = ['single_phase', 'split_phase', 'three_phase'] as const;
const portTypes = ['pv', 'ess', 'ev', 'inj', 'abs', 'bidir', 'dc_dc'] as const;

interface DcPort {
  readonly device: Device;
  readonly index: number;
}

const dcPort = members<DcPort>()(null, () => ({
  index: integer(),
  type: word(portTypes).orNull(({ device, index }) => symbolIn(device, 714, `Prt[${index}].PrtTyp`, portTypes)),
  id: number.orNull(({ device, index }) => pointNumber(device.bank, 714, `Prt[${index}].ID`)),
  name: text.orNull(({ device, index }) => pointText(device.bank, 714, `Prt[${index}].IDStr`)),
}));

const modelPlace = members<ModelPlace>()(null, () => ({
  id: integer(({ def }) => def.id),
  place: text.optional('Only on the second and further places of a model: `203:2`.', ({ name, def }) =>
    name === `${def.id}` ? undefined : name,
  ),
  address: integer(),
  length: integer(),
}));

const nameplate = members<Device>()('Nameplate', () => ({
  device_index: member(() => deviceIndex)(({ index }) => index),
  identity: nested(identity)('Model 1.', (device) => device),
  ac_type: word(acTypes)((device) => symbolIn(device, 701, 'ACType', acTypes) ?? 'three_phase'),
  ratings: nested(ratings)((device) => device),
  settings: nested(settings)((device) => device),
  normal_category: symbol(702, 'NorOpCatRtg', ['cat_a', 'cat_b']),
  abnormal_category: symbol(702, 'AbnOpCatRtg', ['cat_1', 'cat_2', 'cat_3']),
  ctrl_modes: list(text())('702.CtrlModes', ({ bank }) => pointBits(bank, 702, 'CtrlModes')),
  island_categories: list(text())('702.IntIslandCatRtg', ({ bank }) => pointBits(bank, 702, 'IntIslandCatRtg')),
  storage: nested(storage).orNull((device) => (storageIn(device.detail) === null ? null : device)),
  dc_ports: list(dcPort)((device) => {
    const length = pointNumber(device.bank, 714, 'NPrt') ?? 0;
    return Array.from({ length }, (_, index) => ({ device, index }));
  }),
  models: list(modelPlace)(({ bank }) => bank.layout.models.filter(({ hidden }) => !hidden)),
}));

interface ConfiguredSetting {
  readonly point: string;
  readonly name: string;
  readonly value: number;
  readonly ratedValue: number | null;
  readonly unit: string | null;
  readonly origin: 'flag' | 'config' | (typeof sources)[number];
  readonly flag: string | null;
  readonly setAtMs: number | null;
}

const configuredSetting = members<ConfiguredSetting>()(null, () => ({
  point: text('Point, for example `702.WMax`, or the member of the profile that a flag replaces (`hybrid.pv_w`).'),
  name: text(),
  value: number(),
  rated_value: number.orNull('Null without a rating, and with origin `flag` or `config`.'),
  unit: text.orNull(),
  origin: word(['flag', 'config', ...sources])('Source of the last write.'),
  flag: text.orNull('Flag of the setting, with origin `flag` (command line) or `config` (file or environment).'),
  set_at: time.orNull(`Simulated time of the write; null: since the start. ${asSetNow}`),
}));

const configuredSettings = members<Device, readonly ConfiguredSetting[]>()('ConfiguredSettings', () => ({
  device_index: member(() => deviceIndex)(({ index }) => index),
  profile: text.orNull(({ profileName }) => profileName),
  overrides: list(configuredSetting)(
    'Numbers of flags and settings that replace members of the profile, then every setting of 702 that differs ' +
      'from its rating.',
    (_device, configured) => configured,
  ),
}));

const ivPoint = members<IvPoint>()('IvPoint', () => ({ v: measured(), i: measured(), p: measured() }));

const dcCurve = members<IvCurve>()('DcCurve', () => ({
  irradiance_w_m2: measured.orNull('Only of PV; null otherwise.', ({ irradianceWm2 }) => irradianceWm2),
  cell_temperature_c: measured(),
  operating_point: nested(ivPoint)(),
  curve: list(ivPoint)(
    'Rising `v`; the maximum power point is one of the samples. For a battery the curve lies between its ' +
      'charge and discharge limits, `i` negative = charging.',
  ),
  kind: word(dcCurveKinds)(),
  mpp: nested(ivPoint).orNull('Null for a battery.'),
  v_oc_v: measured.orNull('Open-circuit voltage.'),
  i_sc_a: measured.orNull('Short-circuit current; null for a battery.'),
  port: count('714 port, 0-based.'),
}));

const dcIvQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  port: integerParam(
    'port',
    0,
    65_535,
    '714 port, 0-based; default the first with a curve. Of a hybrid, 0 is the array and 1 the battery.',
  ).optional(),
  points: integerParam('points', 16, 1000, 'Number of samples; default 128.').optional(),
});

const defaultCurvePoints = 128;

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

export const nameplateRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/nameplate',
    tag: 'Controls',
    operationId: 'get_nameplate',
    summary: 'Identity, ratings and settings',
    query: deviceQuery,
    reply: nameplate.schema,
    handle: (ctx, { query }) => nameplate.reply(selectedDevice(ctx, query.device)),
  }),
  route({
    method: 'get',
    path: '/nameplate/configured-settings',
    tag: 'Controls',
    operationId: 'get_configured_settings',
    summary: 'Settings that differ from the ratings, and those of the process that replace members of the profile',
    description:
      'Only numbers are listed, since `value` is a number for every client: a setting that is a word ' +
      '(`--fuelcell_chemistry`, `--hybrid_dispatch`) has no entry; `GET fuelcell` and `GET hybrid-dc` show its effect.',
    query: deviceQuery,
    reply: configuredSettings.schema,
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      const started = ctx.startSettingsOf?.(device.assetType).map(atStart) ?? [];
      return configuredSettings.reply(device, [...started, ...changedCapacities(device, ctx.plant)]);
    },
  }),
  route({
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
  }),
];
