/** The functions of the view: addresses, models, axes of their curves, and labels of their members. */
import type { ReplyOf } from '../../../api/call';
import type { ModeName } from './why';
import type { Schema } from '../../../kit/schema-form';
import { termOf, withUnit } from '../../../look/format';

type GridSupport = ReplyOf<'grid-support'>;
type FunctionName = Exclude<keyof GridSupport, 'device_index'>;

/** Members of a function in an API answer. */
export type Settings = Readonly<Record<string, unknown>>;

export interface CurveSpec {
  readonly x: string;
  readonly y: string;
  /** register names of a point */
  readonly registers: readonly [x: string, y: string];
  readonly xAxis: { readonly label: string; readonly unit: string; readonly min: number; readonly max: number };
  readonly yAxis: { readonly label: string; readonly unit: string; readonly min: number; readonly max: number };
  /** decimals of the registers of a point */
  readonly decimals: readonly [number, number];
  /** step of a point in the plot; the finest on a logarithmic axis */
  readonly step: readonly [number, number];
}

export interface FunctionEntry {
  readonly name: FunctionName;
  readonly title: string;
  readonly model: number;
  readonly mode: ModeName;
  readonly kind: 'curve' | 'droop' | 'trip' | 'values';
  readonly curve?: CurveSpec;
}

/**
 * Coordinates of curve points by their members in the API: register, unit, decimals of the register, and step of a point
 * in the plot.
 */
const coordinates = {
  v_pct: { register: 'V', label: 'Voltage', unit: '% of VNom', decimals: 2, step: 0.1 },
  hz: { register: 'Hz', label: 'Frequency', unit: 'Hz', decimals: 3, step: 0.05 },
  w_pct: { register: 'W', label: 'Active power', unit: '%', decimals: 2, step: 1 },
  var_pct: { register: 'Var', label: 'Reactive power', unit: '%', decimals: 2, step: 1 },
  time_s: { register: 'Tms', label: 'Time', unit: 's', decimals: 3, step: 0.01 },
} as const;

type Coordinate = keyof typeof coordinates;
type Range = readonly [min: number, max: number];

/** @param unit of x, if it is not that of the coordinate */
function curve(x: Coordinate, [xMin, xMax]: Range, y: Coordinate, [yMin, yMax]: Range, unit?: string): CurveSpec {
  const [ofX, ofY] = [coordinates[x], coordinates[y]];
  return {
    x,
    y,
    registers: [ofX.register, ofY.register],
    xAxis: { label: ofX.label, unit: unit ?? ofX.unit, min: xMin, max: xMax },
    yAxis: { label: ofY.label, unit: ofY.unit, min: yMin, max: yMax },
    decimals: [ofX.decimals, ofY.decimals],
    step: [ofX.step, ofY.step],
  };
}

const varRange: Range = [-60, 60];
const trip = (x: 'v_pct' | 'hz', range: Range) => curve(x, range, 'time_s', [0.01, 2000]);

type Entry = Omit<FunctionEntry, 'name' | 'mode'> & Partial<Pick<FunctionEntry, 'mode'>>;

/** The compiler compares the names with the functions of the API, of which none may be missing. */
const entries: Readonly<Record<FunctionName, Entry>> = {
  volt_var: { title: 'Volt-var', model: 705, kind: 'curve', curve: curve('v_pct', [88, 112], 'var_pct', varRange) },
  volt_watt: { title: 'Volt-watt', model: 706, kind: 'curve', curve: curve('v_pct', [98, 114], 'w_pct', [0, 110]) },
  watt_var: {
    title: 'Watt-var',
    model: 712,
    kind: 'curve',
    curve: curve('w_pct', [0, 110], 'var_pct', varRange, '% of WMax'),
  },
  freq_droop: { title: 'Frequency droop', model: 711, kind: 'droop' },
  pf: { title: 'Constant power factor', model: 704, mode: 'pf_inject', kind: 'values' },
  constant_var: { title: 'Constant var', model: 704, kind: 'values' },
  max_power: { title: 'Active power limit', model: 704, kind: 'values' },
  active_power: { title: 'Active power', model: 704, kind: 'values' },
  enter_service: { title: 'Enter service', model: 703, kind: 'values' },
  lv_trip: { title: 'Low-voltage trip', model: 707, kind: 'trip', curve: trip('v_pct', [0, 102]) },
  hv_trip: { title: 'High-voltage trip', model: 708, kind: 'trip', curve: trip('v_pct', [98, 130]) },
  lf_trip: { title: 'Low-frequency trip', model: 709, kind: 'trip', curve: trip('hz', [50, 61]) },
  hf_trip: { title: 'High-frequency trip', model: 710, kind: 'trip', curve: trip('hz', [59, 66]) },
  ramp: { title: 'Ramp', model: 704, kind: 'values' },
  anti_islanding: { title: 'Anti-islanding', model: 704, kind: 'values' },
};

export const functions: readonly FunctionEntry[] = Object.entries(entries).map(([name, entry]) => ({
  name: name as FunctionName,
  mode: name as ModeName,
  ...entry,
}));

/** `volt_var` becomes `volt-var` in addresses. */
export function pathOf(name: string): string {
  return name.replaceAll('_', '-');
}

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
  reversion_curve: 'Curve set after reversion',
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
  reversion_time_s: 'Simulated time; 0: no reversion.',
  dept_ref: '',
  mode: 'Selects the set-point that applies.',
  var_pct: 'Positive injects. A new value selects the unit %.',
  var_kvar: 'Positive injects. A new value selects the unit kvar.',
  setpoint_pct: 'Negative charges. A new value selects the unit %.',
  setpoint_kw: 'Negative charges. A new value selects the unit kW.',
  enabled: '',
  pf: '',
  v_ref_auto_enabled: 'The reference follows the measured voltage.',
  reversion_enabled: '',
  w_pct_per_s: 'Of 702.WMax. With none, 704.WRmp applies.',
  var_pct_per_s: 'Of the larger of 702.VarMaxInj and VarMaxAbs. With none, 704.VarRmp applies.',
};

/** Texts of options, by value. */
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

/** A body schema with labels and units, reduced to the accepted members. */
export function labelled(schema: Schema, accepts: (member: string) => boolean): Schema {
  const properties = Object.entries(schema.properties ?? {}).filter(([member]) => accepts(member));
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([member, inner]) => {
        const [title, unit] = [labels[member], units[member]];
        const plain = withoutNoise(member, inner);
        const nested = plain.properties ? labelled(plain, () => true) : plain;
        return [
          member,
          { ...nested, optionTexts, ...(title !== undefined && { title }), ...(unit !== undefined && { unit }) },
        ];
      }),
    ),
  };
}
