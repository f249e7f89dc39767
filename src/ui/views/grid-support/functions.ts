/** The functions of the view: their addresses, models, and the axes of their curves. */
import type { ReplyOf } from '../../api/call';
import type { ModeName } from './sentence';

type GridSupport = ReplyOf<'grid-support'>;
type FunctionName = Exclude<keyof GridSupport, 'device_index'>;

/** Members of a function as the API answers them. */
export type Settings = Readonly<Record<string, unknown>>;

export interface CurveSpec {
  readonly x: string;
  readonly y: string;
  /** names of the registers of a point */
  readonly registers: readonly [x: string, y: string];
  readonly xAxis: { readonly label: string; readonly unit: string; readonly min: number; readonly max: number };
  readonly yAxis: { readonly label: string; readonly unit: string; readonly min: number; readonly max: number };
  /** decimals of the registers of a point */
  readonly decimals: readonly [number, number];
  /** what a point moves by in the plot; the finest on a logarithmic axis */
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

const voltage = (min: number, max: number) => ({ label: 'Voltage', unit: '% of VNom', min, max });
const vars = { label: 'Reactive power', unit: '%', min: -60, max: 60 };
const time = { label: 'Time', unit: 's', min: 0.01, max: 2000 };

function trip(min: number, max: number, byVoltage: boolean): CurveSpec {
  return byVoltage
    ? {
        x: 'v_pct',
        y: 'time_s',
        registers: ['V', 'Tms'],
        xAxis: voltage(min, max),
        yAxis: time,
        decimals: [2, 3],
        step: [0.1, 0.01],
      }
    : {
        x: 'hz',
        y: 'time_s',
        registers: ['Hz', 'Tms'],
        xAxis: { label: 'Frequency', unit: 'Hz', min, max },
        yAxis: time,
        decimals: [3, 3],
        step: [0.05, 0.01],
      };
}

export const functions: readonly FunctionEntry[] = [
  {
    name: 'volt_var',
    title: 'Volt-var',
    model: 705,
    mode: 'volt_var',
    kind: 'curve',
    curve: {
      x: 'v_pct',
      y: 'var_pct',
      registers: ['V', 'Var'],
      xAxis: voltage(88, 112),
      yAxis: vars,
      decimals: [2, 2],
      step: [0.1, 1],
    },
  },
  {
    name: 'volt_watt',
    title: 'Volt-watt',
    model: 706,
    mode: 'volt_watt',
    kind: 'curve',
    curve: {
      x: 'v_pct',
      y: 'w_pct',
      registers: ['V', 'W'],
      xAxis: voltage(98, 114),
      yAxis: { label: 'Active power', unit: '%', min: 0, max: 110 },
      decimals: [2, 2],
      step: [0.1, 1],
    },
  },
  {
    name: 'watt_var',
    title: 'Watt-var',
    model: 712,
    mode: 'watt_var',
    kind: 'curve',
    curve: {
      x: 'w_pct',
      y: 'var_pct',
      registers: ['W', 'Var'],
      xAxis: { label: 'Active power', unit: '% of WMax', min: 0, max: 110 },
      yAxis: vars,
      decimals: [2, 2],
      step: [1, 1],
    },
  },
  { name: 'freq_droop', title: 'Frequency droop', model: 711, mode: 'freq_droop', kind: 'droop' },
  { name: 'pf', title: 'Constant power factor', model: 704, mode: 'pf_inject', kind: 'values' },
  { name: 'constant_var', title: 'Constant var', model: 704, mode: 'constant_var', kind: 'values' },
  { name: 'max_power', title: 'Max power', model: 704, mode: 'max_power', kind: 'values' },
  { name: 'active_power', title: 'Active power', model: 704, mode: 'active_power', kind: 'values' },
  { name: 'enter_service', title: 'Enter service', model: 703, mode: 'enter_service', kind: 'values' },
  { name: 'lv_trip', title: 'Low-voltage trip', model: 707, mode: 'lv_trip', kind: 'trip', curve: trip(0, 102, true) },
  {
    name: 'hv_trip',
    title: 'High-voltage trip',
    model: 708,
    mode: 'hv_trip',
    kind: 'trip',
    curve: trip(98, 130, true),
  },
  {
    name: 'lf_trip',
    title: 'Low-frequency trip',
    model: 709,
    mode: 'lf_trip',
    kind: 'trip',
    curve: trip(50, 61, false),
  },
  {
    name: 'hf_trip',
    title: 'High-frequency trip',
    model: 710,
    mode: 'hf_trip',
    kind: 'trip',
    curve: trip(59, 66, false),
  },
  { name: 'ramp', title: 'Ramp', model: 704, mode: 'ramp', kind: 'values' },
  { name: 'anti_islanding', title: 'Anti-islanding', model: 704, mode: 'anti_islanding', kind: 'values' },
];

/** `volt_var` stands in addresses as `volt-var`. */
export function pathOf(name: string): string {
  return name.replaceAll('_', '-');
}
