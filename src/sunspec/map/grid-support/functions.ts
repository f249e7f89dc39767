/**
 * The grid-support functions, one row each: facts that registers, rules, physics, REST and other protocols share.
 * Code that lists functions or maps them to points, bits or rights derives from this table.
 */
import { m701 } from '../../models/m701.ts';
import { m702 } from '../../models/m702.ts';
import type { PathIn } from '../point-path.ts';
import type { PointDef } from '../types.ts';

type SymbolsOf<P extends PointDef, Name extends P['name']> =
  Extract<P, { readonly name: Name }> extends { readonly symbols: infer S } ? keyof S & string : never;

/** A bit of 702.CtrlModes. */
export type CtrlMode = SymbolsOf<(typeof m702)['points'][number], 'CtrlModes'>;
/** A bit of 701.ThrotSrc. */
export type ThrottleSource = SymbolsOf<(typeof m701)['points'][number], 'ThrotSrc'>;

type FunctionModelId = 703 | 704 | 705 | 706 | 707 | 708 | 709 | 710 | 711 | 712;

/** Path of a point in a model of functions, without set and point numbers: `Crv.DeptRef`. */
export type FunctionPath = PathIn<FunctionModelId>;

/** `Crv` or `Ctl`, where the model has such a group. */
type GroupOf<Path> = Path extends `${infer Group extends 'Crv' | 'Ctl'}.${string}` ? Group : never;
/** Coordinates of the points of a model's curves: `V` and `W` of 706. */
type AxisOf<Path> = Path extends `Crv.${string}Pt.${infer Axis}` ? Axis : never;

interface RowOf<Id extends FunctionModelId> {
  /** the function in words */
  readonly label: string;
  readonly model: Id;
  /** the point that switches the function on; the ramp limits have no switch, and this is the limit itself */
  readonly enable: PathIn<Id>;
  /** the enable point of the classic model 123 that switches the same function; absent: none */
  readonly classicEnable?: PathIn<123>;
  /** the domain of the function: active or reactive power, the way into service, trips, or all commands */
  readonly actsOn: 'active' | 'reactive' | 'service' | 'trip' | 'commands';
  /** the bit of 702.CtrlModes without which a device refuses to enable the function; absent: no bit */
  readonly mode?: CtrlMode;
  /** the bit of 701.ThrotSrc while the function limits the output; absent: no bit */
  readonly throttle?: ThrottleSource;
  /** point of the reversion time; the point with `Rem` instead of `Tms` shows the time left; absent: no reversion */
  readonly timer?: Extract<PathIn<Id>, `${string}RvrtTms`>;
  /** the group of the stored sets, of which the first is in force; absent: the settings are single points */
  readonly sets?: GroupOf<PathIn<Id>>;
  /** coordinates of a curve point: input and output, or the threshold and time of a trip; absent: no curve */
  readonly axes?: readonly [x: AxisOf<PathIn<Id>>, y: AxisOf<PathIn<Id>>];
  /** the side of nominal on which a trip function has its thresholds; absent: no thresholds */
  readonly side?: 'low' | 'high';
  /** the input that the function follows, where a trace shows input and output; absent: not traced */
  readonly traceInput?: 'voltage' | 'frequency' | 'active_power' | 'available_power';
  /** roles that may write the settings (Secure SunSpec): grid service and super administrator, or only the latter */
  readonly writers: 'grid_service' | 'super_administrator';
}

/** One row of the table. */
export type FunctionRow = { [Id in FunctionModelId]: RowOf<Id> }[FunctionModelId];

/** Functions in the order of `controls.modes`. */
const table = {
  volt_var: {
    label: 'volt-var',
    model: 705,
    enable: 'Ena',
    actsOn: 'reactive',
    mode: 'VOLT_VAR',
    throttle: 'VOLT_VAR',
    timer: 'RvrtTms',
    sets: 'Crv',
    axes: ['V', 'Var'],
    traceInput: 'voltage',
    writers: 'grid_service',
  },
  volt_watt: {
    label: 'volt-watt',
    model: 706,
    enable: 'Ena',
    actsOn: 'active',
    mode: 'VOLT_WATT',
    throttle: 'VOLT_WATT',
    timer: 'RvrtTms',
    sets: 'Crv',
    axes: ['V', 'W'],
    traceInput: 'voltage',
    writers: 'grid_service',
  },
  watt_var: {
    label: 'watt-var',
    model: 712,
    enable: 'Ena',
    actsOn: 'reactive',
    mode: 'WATT_VAR',
    throttle: 'WATT_VAR',
    timer: 'RvrtTms',
    sets: 'Crv',
    axes: ['W', 'Var'],
    traceInput: 'active_power',
    writers: 'grid_service',
  },
  freq_droop: {
    label: 'frequency droop',
    model: 711,
    enable: 'Ena',
    actsOn: 'active',
    mode: 'FREQ_WATT',
    throttle: 'FREQ_WATT',
    timer: 'RvrtTms',
    sets: 'Ctl',
    traceInput: 'frequency',
    writers: 'grid_service',
  },
  pf_inject: {
    label: 'power factor while injecting',
    model: 704,
    enable: 'PFWInjEna',
    classicEnable: 'OutPFSet_Ena',
    actsOn: 'reactive',
    mode: 'FIXED_PF',
    throttle: 'FIXED_PF',
    timer: 'PFWInjRvrtTms',
    traceInput: 'active_power',
    writers: 'grid_service',
  },
  pf_absorb: {
    label: 'power factor while absorbing',
    model: 704,
    enable: 'PFWAbsEna',
    actsOn: 'reactive',
    mode: 'FIXED_PF',
    throttle: 'FIXED_PF',
    timer: 'PFWAbsRvrtTms',
    traceInput: 'active_power',
    writers: 'grid_service',
  },
  constant_var: {
    label: 'constant reactive power',
    model: 704,
    enable: 'VarSetEna',
    classicEnable: 'VArPct_Ena',
    actsOn: 'reactive',
    mode: 'FIXED_VAR',
    throttle: 'FIXED_VAR',
    timer: 'VarSetRvrtTms',
    traceInput: 'active_power',
    writers: 'grid_service',
  },
  max_power: {
    label: 'limit of active power',
    model: 704,
    enable: 'WMaxLimPctEna',
    classicEnable: 'WMaxLim_Ena',
    actsOn: 'active',
    mode: 'MAX_W',
    throttle: 'MAX_W',
    timer: 'WMaxLimPctRvrtTms',
    traceInput: 'available_power',
    writers: 'grid_service',
  },
  active_power: {
    label: 'set-point of active power',
    model: 704,
    enable: 'WSetEna',
    actsOn: 'active',
    mode: 'FIXED_W',
    throttle: 'FIXED_W',
    timer: 'WSetRvrtTms',
    traceInput: 'available_power',
    writers: 'grid_service',
  },
  enter_service: {
    label: 'entering service',
    model: 703,
    enable: 'ES',
    actsOn: 'service',
    traceInput: 'available_power',
    writers: 'grid_service',
  },
  lv_trip: {
    label: 'low-voltage trip',
    model: 707,
    enable: 'Ena',
    actsOn: 'trip',
    mode: 'LV_TRIP',
    throttle: 'LVRT',
    sets: 'Crv',
    axes: ['V', 'Tms'],
    side: 'low',
    writers: 'super_administrator',
  },
  hv_trip: {
    label: 'high-voltage trip',
    model: 708,
    enable: 'Ena',
    actsOn: 'trip',
    mode: 'HV_TRIP',
    throttle: 'HVRT',
    sets: 'Crv',
    axes: ['V', 'Tms'],
    side: 'high',
    writers: 'super_administrator',
  },
  lf_trip: {
    label: 'low-frequency trip',
    model: 709,
    enable: 'Ena',
    actsOn: 'trip',
    mode: 'LF_TRIP',
    throttle: 'LFRT',
    sets: 'Crv',
    axes: ['Hz', 'Tms'],
    side: 'low',
    writers: 'super_administrator',
  },
  hf_trip: {
    label: 'high-frequency trip',
    model: 710,
    enable: 'Ena',
    actsOn: 'trip',
    mode: 'HF_TRIP',
    throttle: 'HFRT',
    sets: 'Crv',
    axes: ['Hz', 'Tms'],
    side: 'high',
    writers: 'super_administrator',
  },
  anti_islanding: {
    label: 'anti-islanding',
    model: 704,
    enable: 'AntiIslEna',
    actsOn: 'trip',
    writers: 'grid_service',
  },
  ramp: {
    label: 'ramp limits',
    model: 704,
    enable: 'WRmp',
    actsOn: 'commands',
    writers: 'grid_service',
  },
} as const satisfies Readonly<Record<string, FunctionRow>>;

type Table = typeof table;

/** The point with the seconds that are left of a reversion time. */
export function remainingPoint(timer: string): string {
  return timer.replace(/Tms$/, 'Rem');
}

/** Name of a function, as `controls.modes` has it. */
export type FunctionName = keyof Table;

/** The table of the grid-support functions. */
export const functionTable: Readonly<Record<FunctionName, FunctionRow>> = table;

export const functionNames = Object.keys(table) as readonly FunctionName[];

type NamesWhere<Columns> = { [Name in FunctionName]: Table[Name] extends Columns ? Name : never }[FunctionName];

/** Functions that limit or set active power. */
export type ActivePowerFunction = NamesWhere<{ readonly actsOn: 'active' }>;
/** Functions of active power, in the order in which interfaces name the deciding one. */
export const activePowerFunctions: readonly ActivePowerFunction[] = [
  'max_power',
  'active_power',
  'volt_watt',
  'freq_droop',
];

/** Functions of reactive power, of which one acts at a time. */
export type ReactivePowerFunction = NamesWhere<{ readonly actsOn: 'reactive' }>;
export const isReactivePowerFunction = (name: FunctionName): name is ReactivePowerFunction =>
  functionTable[name].actsOn === 'reactive';
export const reactivePowerFunctions = functionNames.filter(isReactivePowerFunction);

/** Functions that trip the device after a time. */
export type TripFunction = NamesWhere<{ readonly actsOn: 'trip' }>;
export const tripFunctions = functionNames.filter(
  (name): name is TripFunction => functionTable[name].actsOn === 'trip',
);

/** Functions that trip by thresholds of voltage or frequency over time. */
export type TripName = NamesWhere<{ readonly side: string }>;

export type CurveFunction = NamesWhere<{ readonly axes: readonly string[] }>;
/** Name of a coordinate of a curve point. */
export type Axis = Table[CurveFunction]['axes'][number];

/** Coordinates of the points of a function's curve. */
export function curveAxes(name: CurveFunction): readonly [x: Axis, y: Axis] {
  return table[name].axes;
}

/** Functions whose input and output a trace shows. */
export type TracedFunction = NamesWhere<{ readonly traceInput: string }>;
export type TraceInput = Table[TracedFunction]['traceInput'];
export const tracedFunctions = functionNames.filter(
  (name): name is TracedFunction => functionTable[name].traceInput !== undefined,
);

/** The input that a traced function follows. */
export function traceInput(name: TracedFunction): TraceInput {
  return table[name].traceInput;
}

const rows = Object.values(functionTable);

/** Models that hold the settings of functions, ascending. */
export const functionModels: readonly FunctionModelId[] = [...new Set(rows.map(({ model }) => model))].sort(
  (a, b) => a - b,
);

/** The mode without which an enable point refuses ENABLED, by name of the point. */
export const requiredMode: Readonly<Record<string, CtrlMode>> = Object.fromEntries(
  rows.flatMap(({ model, enable, classicEnable, mode }) => {
    const names = [`${model}.${enable}`, ...(classicEnable === undefined ? [] : [`123.${classicEnable}`])];
    return mode === undefined ? [] : names.map((name) => [name, mode] as const);
  }),
);

function bitsOf(points: readonly PointDef[], name: string): Readonly<Record<string, number>> {
  return points.find((point) => point.name === name)?.symbols ?? {};
}
const modeBits = bitsOf(m702.points, 'CtrlModes');
const throttleBits = bitsOf(m701.points, 'ThrotSrc');

/** The mask of a mode in 702.CtrlModes. */
export function ctrlModeMask(mode: CtrlMode): number {
  return 2 ** (modeBits[mode] ?? 0);
}

/** The mask of a source in 701.ThrotSrc. */
export function throttleMask(source: ThrottleSource): number {
  return 2 ** (throttleBits[source] ?? 0);
}

/** The modes of all functions of the table, in the order of their bits. */
export const supportedModes: readonly CtrlMode[] = [
  ...new Set(rows.flatMap(({ mode }) => (mode === undefined ? [] : [mode]))),
].sort((a, b) => ctrlModeMask(a) - ctrlModeMask(b));
