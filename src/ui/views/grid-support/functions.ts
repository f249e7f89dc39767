/** The functions of the view: addresses, models, and axes of their curves. */
import type { ReplyOf } from '../../api/call';
import type { ModeName } from './sentence';

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

/** Coordinates of curve points by their members in the API: register, unit, decimals of the register, step of a point in the plot. */
const coordinates = {
  v_pct: { register: 'V', label: 'Voltage', unit: '% of VNom', decimals: 2, step: 0.1 },
  hz: { register: 'Hz', label: 'Frequency', unit: 'Hz', decimals: 3, step: 0.05 },
  w_pct: { register: 'W', label: 'Active power', unit: '%', decimals: 2, step: 1 },
  var_pct: { register: 'Var', label: 'Reactive power', unit: '%', decimals: 2, step: 1 },
  time_s: { register: 'Tms', label: 'Time', unit: 's', decimals: 3, step: 0.01 },
} as const;

type Coordinate = keyof typeof coordinates;
type Range = readonly [min: number, max: number];

/** @param unit of x, where it is not the usual one */
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

const vars: Range = [-60, 60];
const trip = (x: 'v_pct' | 'hz', range: Range) => curve(x, range, 'time_s', [0.01, 2000]);

type Entry = Omit<FunctionEntry, 'name' | 'mode'> & Partial<Pick<FunctionEntry, 'mode'>>;

/** The compiler compares the names with the functions of the API, of which none may be missing. */
const entries: Readonly<Record<FunctionName, Entry>> = {
  volt_var: { title: 'Volt-var', model: 705, kind: 'curve', curve: curve('v_pct', [88, 112], 'var_pct', vars) },
  volt_watt: { title: 'Volt-watt', model: 706, kind: 'curve', curve: curve('v_pct', [98, 114], 'w_pct', [0, 110]) },
  watt_var: {
    title: 'Watt-var',
    model: 712,
    kind: 'curve',
    curve: curve('w_pct', [0, 110], 'var_pct', vars, '% of WMax'),
  },
  freq_droop: { title: 'Frequency droop', model: 711, kind: 'droop' },
  pf: { title: 'Constant power factor', model: 704, mode: 'pf_inject', kind: 'values' },
  constant_var: { title: 'Constant var', model: 704, kind: 'values' },
  max_power: { title: 'Max power', model: 704, kind: 'values' },
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
