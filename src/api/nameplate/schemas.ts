import { memo } from '../../core/memo.ts';
import { dcCurveKinds } from '../../contract/device.ts';
import { sources } from '../../core/origin.ts';
import { supportedModes } from '../../sunspec/map/functions.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam, exampleTime, integerParam, isoTime, quantity } from '../common/schemas.ts';
import { asSetNow } from '../common/writer-schemas.ts';
import { exampleModels } from '../registers/members.ts';

/** Members of `ratings` and `settings` with their points of model 702 and their unit. */
export const capacityPoints = {
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
export type CapacityName = keyof typeof capacityPoints;
export const capacityNames = Object.keys(capacityPoints) as readonly CapacityName[];

function capacityShape(kind: 'rating' | 'setting') {
  const shape = capacityNames.map((name) => [name, quantity(`702.${capacityPoints[name][kind]}`)]);
  return Object.fromEntries(shape) as Record<CapacityName, ReturnType<typeof quantity>>;
}

export const nameplateSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      identity: z
        .strictObject({
          manufacturer: z.string().nullable(),
          model: z.string().nullable(),
          options: z.string().nullable(),
          version: z.string().nullable(),
          serial_number: z.string().nullable(),
          device_address: z.number().nullable(),
        })
        .openapi({ description: 'Model 1.' }),
      ac_type: z.enum(['single_phase', 'split_phase', 'three_phase']),
      ratings: z
        .strictObject({ ...capacityShape('rating'), react_suscept_s: quantity('702.ReactSusceptRtg') })
        .openapi('Ratings'),
      settings: z.strictObject(capacityShape('setting')).openapi('Settings'),
      normal_category: z.enum(['cat_a', 'cat_b']).nullable(),
      abnormal_category: z.enum(['cat_1', 'cat_2', 'cat_3']).nullable(),
      ctrl_modes: z.array(z.string()).openapi({ description: '702.CtrlModes' }),
      island_categories: z.array(z.string()).openapi({ description: '702.IntIslandCatRtg' }),
      storage: z
        .strictObject({
          wh_rating_wh: quantity('713.WHRtg'),
          soc_min_pct: quantity('802.SoCMin'),
          soc_max_pct: quantity('802.SoCMax'),
        })
        .nullable(),
      dc_ports: z.array(
        z.strictObject({
          index: z.int(),
          type: z.enum(['pv', 'ess', 'ev', 'inj', 'abs', 'bidir', 'dc_dc']).nullable(),
          id: z.number().nullable(),
          name: z.string().nullable(),
        }),
      ),
      models: z.array(z.strictObject({ id: z.int(), address: z.int(), length: z.int() })),
    })
    .openapi('Nameplate'),
);

export const configuredSettingsSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      profile: z.string().nullable(),
      overrides: z
        .array(
          z.strictObject({
            point: z.string().openapi({
              description:
                'Point, for example `702.WMax`, or the member of the profile that a flag replaces (`hybrid.pv_w`).',
            }),
            name: z.string(),
            value: z.number(),
            rated_value: z
              .number()
              .nullable()
              .openapi({ description: 'Null where there is no rating, and for what a flag sets.' }),
            unit: z.string().nullable(),
            origin: z.enum(['flag', 'config', ...sources]).openapi({ description: 'Source of the last write.' }),
            flag: z.string().nullable().openapi({
              description: 'Flag of the setting, with origin `flag` (command line) or `config` (file or environment).',
            }),
            set_at: isoTime
              .nullable()
              .openapi({ description: `Simulated time of the write; null: since the start. ${asSetNow}` }),
          }),
        )
        .openapi({
          description:
            'Numbers that flags and settings put in the place of members of the profile, then every setting of ' +
            '702 that differs from its rating.',
        }),
    })
    .openapi('ConfiguredSettings'),
);

const ivPoint = memo(() => z.strictObject({ v: z.number(), i: z.number(), p: z.number() }).openapi('IvPoint'));
export const dcIvSchema = memo(() =>
  z
    .strictObject({
      irradiance_w_m2: quantity('Of PV only; null otherwise.'),
      cell_temperature_c: z.number(),
      operating_point: ivPoint(),
      curve: z.array(ivPoint()).openapi({
        description:
          'Rising `v`; the maximum power point is one of the samples. For a battery the curve lies between its ' +
          'charge and discharge limits, `i` negative = charging.',
      }),
      kind: z.enum(dcCurveKinds),
      mpp: ivPoint().nullable().openapi({ description: 'Null for a battery.' }),
      v_oc_v: quantity('Open-circuit voltage.'),
      i_sc_a: quantity('Short-circuit current; null for a battery.'),
      port: z.int().min(0).openapi({ description: '714 port, 0-based.' }),
    })
    .openapi('DcCurve'),
);
export const dcIvQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  port: integerParam(
    'port',
    0,
    65_535,
    '714 port, 0-based; default the first with a curve. Of a hybrid, 0 is the array and 1 the battery.',
  ).optional(),
  points: integerParam('points', 16, 1000, 'Number of samples; default 128.').optional(),
});

const exampleSettings = {
  w_max_w: 9000,
  w_ovr_ext_w: null,
  w_ovr_ext_pf: null,
  w_und_ext_w: null,
  w_und_ext_pf: null,
  va_max_va: 10000,
  var_max_inj_var: 4400,
  var_max_abs_var: 4400,
  w_cha_rte_max_w: null,
  w_dis_cha_rte_max_w: null,
  va_cha_rte_max_va: null,
  va_dis_cha_rte_max_va: null,
  v_nom_v: 480,
  v_max_v: null,
  v_min_v: null,
  a_max_a: 39.69,
  pf_ovr_ext: null,
  pf_und_ext: null,
};
export const exampleNameplate = {
  device_index: 0,
  identity: {
    manufacturer: 'derbench',
    model: 'PV-3Phase',
    options: null,
    version: '0.1.0',
    serial_number: 'DB-000000',
    device_address: null,
  },
  ac_type: 'three_phase',
  ratings: {
    ...exampleSettings,
    w_max_w: 10000,
    w_ovr_ext_w: 8980,
    w_ovr_ext_pf: 0.898,
    w_und_ext_w: 8980,
    w_und_ext_pf: 0.898,
    v_max_v: 576,
    v_min_v: 240,
    pf_ovr_ext: 0.898,
    pf_und_ext: 0.898,
    react_suscept_s: 0,
  },
  settings: exampleSettings,
  normal_category: 'cat_b',
  abnormal_category: 'cat_3',
  ctrl_modes: supportedModes.map((mode) => mode.toLowerCase()),
  island_categories: [],
  storage: null,
  dc_ports: [{ index: 0, type: 'pv', id: 1, name: 'PV' }],
  models: exampleModels.map(({ id, address, length }) => ({ id, address, length })),
};
export const exampleConfiguredSettings = {
  device_index: 0,
  profile: '10kW-3Phase',
  overrides: [
    {
      point: '702.WMax',
      name: 'w_max_w',
      value: 9000,
      rated_value: 10000,
      unit: 'W',
      origin: 'modbus',
      flag: null,
      set_at: exampleTime,
    },
  ],
};
export const exampleDcIv = {
  irradiance_w_m2: 1000,
  cell_temperature_c: 25,
  operating_point: { v: 664.8, i: 15.67, p: 10417 },
  curve: [
    { v: 0, i: 20.4, p: 0 },
    { v: 308.9, i: 20.15, p: 6224 },
    { v: 514.8, i: 19.9, p: 10247 },
    { v: 609.7, i: 18.76, p: 11438 },
    { v: 669.2, i: 15.27, p: 10222 },
    { v: 772.2, i: 0, p: 0 },
  ],
  kind: 'pv',
  mpp: { v: 609.7, i: 18.76, p: 11438 },
  v_oc_v: 772.2,
  i_sc_a: 20.4,
  port: 0,
};
