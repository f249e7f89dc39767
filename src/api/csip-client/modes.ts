/** The modes of DERControlBase and the settings of a default control, as replies have them. */
import { memo } from '../../core/lazy.ts';
import type { CsipDefaultControl, CsipModes } from '../../contract/csip-client.ts';
import { z } from '../description/zod.ts';

const amount = (description: string) => z.number().nullable().openapi({ description });
const percent = (description: string) => amount(`${description}, %; null: the server left it out.`);
const excitation = () =>
  z
    .enum(['over_excited', 'under_excited'])
    .nullable()
    .openapi({ description: 'Sign of the reactive power; null: the server left it out.' });

const powerFactor = memo(() =>
  z
    .strictObject({
      pf: amount('Power factor; null: the server left it out.'),
      excitation: excitation(),
    })
    .openapi('CsipPowerFactor'),
);

const referred = memo(() =>
  z
    .strictObject({
      ref: z.string().nullable().openapi({
        description:
          'Base of the percentage, such as `w_max_pct`; a base without a name: its number as text; null: the server left it out.',
      }),
      value_pct: percent('The percentage'),
    })
    .openapi('CsipReferredValue'),
);

const droop = memo(() =>
  z
    .strictObject({
      db_of_hz: amount('Dead band above nominal frequency, Hz.'),
      db_uf_hz: amount('Dead band below nominal frequency, Hz.'),
      k_of: amount('Droop above nominal frequency.'),
      k_uf: amount('Droop below nominal frequency.'),
      response_time_s: amount('Open loop response time, s.'),
      p_min_w: amount('Lower limit of the power, W; absent: none.').optional(),
    })
    .openapi('CsipFreqDroop'),
);

const coordinates = {
  time_s: 'Time, s.',
  hz: 'Frequency, Hz.',
  v_pct: 'Voltage, % of nominal.',
  w_pct: 'Active power, %.',
  var_pct: 'Reactive power, %.',
  pf: 'Power factor.',
} as const;

type Coordinate = keyof typeof coordinates;

/** A curve with the coordinates of its points. */
const curve = (name: string, x: Coordinate, y: Coordinate) =>
  memo(() => {
    const axes = { [x]: amount(coordinates[x]), [y]: amount(coordinates[y]) };
    const point = z.strictObject(y === 'pf' ? { ...axes, excitation: excitation().optional() } : axes);
    return z
      .strictObject({
        curve_href: z
          .string()
          .nullable()
          .openapi({ description: 'Address of the DERCurve; null: the server left it out.' }),
        points: z
          .array(point)
          .nullable()
          .openapi({ description: 'As the server sent them; null: the server has no such curve.' }),
        curve_type: z.int().nullable().optional().openapi({ description: 'DERCurve.curveType.' }),
        y_ref: z.string().nullable().optional().openapi({ description: 'Reference of the second coordinate.' }),
        response_time_s: amount('Open loop response time, s.').optional(),
        v_ref_pct: percent('Reference voltage').optional(),
        v_ref_auto: z
          .boolean()
          .optional()
          .openapi({ description: 'True: the reference voltage follows the measured voltage.' }),
        v_ref_auto_time_s: amount('Time constant of this adjustment, s.').optional(),
      })
      .openapi(name);
  });

const voltageTrip = curve('CsipVoltageTripCurve', 'time_s', 'v_pct');
const frequencyTrip = curve('CsipFrequencyTripCurve', 'time_s', 'hz');
const freqWatt = curve('CsipFreqWattCurve', 'hz', 'w_pct');
const voltVar = curve('CsipVoltVarCurve', 'v_pct', 'var_pct');
const voltWatt = curve('CsipVoltWattCurve', 'v_pct', 'w_pct');
const wattPf = curve('CsipWattPfCurve', 'w_pct', 'pf');
const wattVar = curve('CsipWattVarCurve', 'w_pct', 'var_pct');

const flag = (mode: string) => z.boolean().openapi({ description: `${mode}.` });
const pct = (mode: string) => percent(mode);
const watts = (mode: string) => amount(`${mode}, W; null: the server left its value out.`);
const vars = (mode: string) => amount(`${mode}, var; null: the server left its value out.`);

function modeMembers() {
  return {
    op_mod_connect: flag('opModConnect'),
    op_mod_energize: flag('opModEnergize'),
    op_mod_fixed_pf_absorb_w: powerFactor(),
    op_mod_fixed_pf_inject_w: powerFactor(),
    op_mod_fixed_var: referred(),
    op_mod_fixed_w_pct: pct('opModFixedW'),
    op_mod_freq_droop: droop(),
    op_mod_freq_watt: freqWatt(),
    op_mod_hfrt_may_trip: frequencyTrip(),
    op_mod_hfrt_must_trip: frequencyTrip(),
    op_mod_hvrt_may_trip: voltageTrip(),
    op_mod_hvrt_momentary_cessation: voltageTrip(),
    op_mod_hvrt_must_trip: voltageTrip(),
    op_mod_lfrt_may_trip: frequencyTrip(),
    op_mod_lfrt_must_trip: frequencyTrip(),
    op_mod_lvrt_may_trip: voltageTrip(),
    op_mod_lvrt_momentary_cessation: voltageTrip(),
    op_mod_lvrt_must_trip: voltageTrip(),
    op_mod_max_lim_w_pct: pct('opModMaxLimW'),
    op_mod_target_var: vars('opModTargetVar'),
    op_mod_target_w: watts('opModTargetW'),
    op_mod_volt_var: voltVar(),
    op_mod_volt_watt: voltWatt(),
    op_mod_watt_pf: wattPf(),
    op_mod_watt_var: wattVar(),
    op_mod_delta_var: vars('opModDeltaVar'),
    op_mod_delta_w: watts('opModDeltaW'),
    op_mod_fixed_v_pct: pct('opModFixedV'),
    op_mod_grid_connect_permit: flag('opModGridConnectPermit'),
    op_mod_island_permit: flag('opModIslandPermit'),
    op_mod_max_lim_va_absorb_pct: pct('opModMaxLimPctVAAbsorb'),
    op_mod_max_lim_va_inject_pct: pct('opModMaxLimPctVAInject'),
    op_mod_max_lim_var_absorb_pct: referred(),
    op_mod_max_lim_var_inject_pct: referred(),
    op_mod_max_lim_w_absorb_pct: pct('opModMaxLimPctWAbsorb'),
    op_mod_max_lim_var_absorb: vars('opModMaxLimVarAbsorb'),
    op_mod_max_lim_var_inject: vars('opModMaxLimVarInject'),
    op_mod_max_lim_w_absorb: watts('opModMaxLimWAbsorb'),
    op_mod_max_lim_w_inject: watts('opModMaxLimWInject'),
    op_mod_target_v: amount('opModTargetV, V; null: the server left its value out.'),
    op_mod_exp_lim_w: watts('opModExpLimW'),
    op_mod_imp_lim_w: watts('opModImpLimW'),
    op_mod_gen_lim_w: watts('opModGenLimW'),
    op_mod_load_lim_w: watts('opModLoadLimW'),
    op_mod_storage_target_w: watts('opModStorageTargetW'),
    ramp_time_s: z.number().openapi({ description: 'rampTms, s.' }),
  };
}

/** Modes that a control has, including those in a form that is not carried out. */
export const modesSchema = memo(
  () =>
    z
      .strictObject(modeMembers())
      .partial()
      .openapi({
        description: 'Members of DERControlBase in snake case, in the unit of the name; absent: not in the control.',
      })
      .openapi('CsipModes') as unknown as z.ZodType<CsipModes>,
);

/** The members of a default control other than its modes. */
export const defaultSettingsSchema = memo(
  () =>
    z
      .strictObject({
        es_delay_s: z.number().openapi({ description: 'setESDelay, s.' }),
        es_high_hz: z.number().openapi({ description: 'setESHighFreq, Hz.' }),
        es_high_v_pct: z.number().openapi({ description: 'setESHighVolt, % of nominal.' }),
        es_low_hz: z.number().openapi({ description: 'setESLowFreq, Hz.' }),
        es_low_v_pct: z.number().openapi({ description: 'setESLowVolt, % of nominal.' }),
        es_ramp_s: z.number().openapi({ description: 'setESRampTms, s.' }),
        es_random_delay_s: z.number().openapi({ description: 'setESRandomDelay, s.' }),
        grad_w_pct_per_s: z.number().openapi({ description: 'setGradW, % of the rating per second.' }),
        soft_grad_w_pct_per_s: z.number().openapi({ description: 'setSoftGradW, % of the rating per second.' }),
      })
      .partial()
      .openapi('CsipDefaultSettings') as unknown as z.ZodType<CsipDefaultControl['settings']>,
);
