/** Readable labels of request members: the standard's term, with the unit once. */
import type { Schema } from '../../kit/schema-form';
import { termOf, withUnit } from '../../look/term';

const labels: Readonly<Record<string, string>> = {
  volt_var: 'Volt-var',
  volt_watt: 'Volt-watt',
  watt_var: 'Watt-var',
  freq_droop: 'Frequency droop',
  constant_var: 'Constant reactive power',
  max_power: 'Active power limit',
  lv_trip: 'Low-voltage trip',
  hv_trip: 'High-voltage trip',
  lf_trip: 'Low-frequency trip',
  hf_trip: 'High-frequency trip',
  anti_islanding: 'Anti-islanding',
  limit_max_discharge_pct: 'Limit of power out of vehicles',
  response_time_s: 'Response time',
  reversion_time_s: 'Reversion time',
  reversion_curve: 'Set adopted on reversion',
  reversion_enabled: 'Enabled after reversion',
  reversion: 'Values after reversion',
  dept_ref: 'Reference of 100 %',
  priority: 'Priority',
  v_ref_pct: 'Reference voltage',
  v_ref_auto_enabled: 'Autonomous reference voltage',
  v_ref_auto_time_s: 'Time constant of the autonomous reference',
  db_uf_hz: 'Dead band, under-frequency',
  db_of_hz: 'Dead band, over-frequency',
  k_uf: 'Droop, under-frequency',
  k_of: 'Droop, over-frequency',
  p_min_pct: 'Minimum active power',
  pf: 'Power factor',
  excitation: 'Excitation',
  enabled: 'Enabled',
  mode: 'Unit of the set-point',
  var_pct: 'Reactive power set-point',
  var_kvar: 'Reactive power set-point',
  reversion_var_pct: 'Reactive power after reversion',
  reversion_var_kvar: 'Reactive power after reversion',
  limit_pct: 'Active power limit',
  reversion_limit_pct: 'Limit after reversion',
  setpoint_pct: 'Active power set-point',
  setpoint_kw: 'Active power set-point',
  reversion_setpoint_pct: 'Set-point after reversion',
  reversion_setpoint_kw: 'Set-point after reversion',
  v_hi_pct: 'Voltage, upper limit',
  v_lo_pct: 'Voltage, lower limit',
  hz_hi_hz: 'Frequency, upper limit',
  hz_lo_hz: 'Frequency, lower limit',
  delay_s: 'Delay',
  random_delay_s: 'Random delay, maximum',
  ramp_s: 'Ramp time',
  w_ramp_pct_s: 'Ramp rate of active power',
  w_ramp_ref: 'Reference of the ramp rates',
  var_ramp_pct_s: 'Ramp rate of reactive power',
  w_pct_per_s: 'Gradient of active power',
  var_pct_per_s: 'Gradient of reactive power',
};

/** Hints of a form that replace the API description; an empty text removes it. */
const hints: Readonly<Record<string, string>> = {
  reversion_time_s: 'Simulated time; 0 is none.',
  dept_ref: '',
  mode: 'Which set-point counts.',
  var_pct: 'Positive injects. A new value alone makes the percentage count.',
  var_kvar: 'Positive injects. A new value alone makes kvar count.',
  setpoint_pct: 'Negative charges. A new value alone makes the percentage count.',
  setpoint_kw: 'Negative charges. A new value alone makes kW count.',
  enabled: '',
  pf: '',
  v_ref_auto_enabled: 'The reference follows the measured voltage.',
  reversion_enabled: '',
  w_pct_per_s: 'Of 702.WMax. With none, 704.WRmp counts.',
  var_pct_per_s: 'Of the larger of 702.VarMaxInj and VarMaxAbs. With none, 704.VarRmp counts.',
};

/** Options by point. */
const optionTexts: Readonly<Record<string, string>> = {
  w_max_pct: '% of WMax',
  w_aval_pct: '% of available active power',
  var_max_pct: '% of VarMax',
  var_aval_pct: '% of available reactive power',
  var_avail_pct: '% of available reactive power',
  va_max_pct: '% of VAMax',
  vars: 'kvar',
  watts: 'kW',
  a_max: '% of AMax',
  w_max: '% of WMax',
};

/** Units that the suffix of a name does not fully express. */
const units: Readonly<Record<string, string>> = {
  v_ref_pct: '% of VNom',
  v_hi_pct: '% of VNom',
  v_lo_pct: '% of VNom',
  p_min_pct: '% of WMax',
  limit_pct: '% of WMax',
  reversion_limit_pct: '% of WMax',
  setpoint_pct: '% of WMax',
  reversion_setpoint_pct: '% of WMax',
  k_uf: 'pu',
  k_of: 'pu',
};

/** `Dead band, under-frequency, Hz` */
export function memberLabel(member: string): string {
  const term = termOf(member);
  return withUnit({ term: labels[member] ?? term.term, unit: units[member] ?? term.unit });
}

/** Removes the unit, which the label shows, and limits of the encoding, which are not limits of the quantity. */
function withoutNoise(member: string, { description, minimum, maximum, ...rest }: Schema): Schema {
  const hint = hints[member] ?? (description !== undefined && /^Unit: [^.]*\.$/.test(description) ? '' : description);
  const isEncoding = maximum !== undefined && maximum > 1e9;
  return {
    ...rest,
    ...(hint !== undefined && hint !== '' && { description: hint }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && !isEncoding && { maximum }),
  };
}

/** A body schema with labels and units, reduced to the wanted members. */
export function labelled(schema: Schema, wanted: (member: string) => boolean): Schema {
  const properties = Object.entries(schema.properties ?? {}).filter(([member]) => wanted(member));
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([member, inner]) => {
        const [title, unit] = [labels[member], units[member]];
        const plain = withoutNoise(member, inner);
        const shown = plain.properties ? labelled(plain, () => true) : plain;
        return [
          member,
          { ...shown, optionTexts, ...(title !== undefined && { title }), ...(unit !== undefined && { unit }) },
        ];
      }),
    ),
  };
}
