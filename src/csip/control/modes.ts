/** The control modes of DERControlBase: bits of the bitmaps that name them, and how REST shows their values. */
import type { JsonValue } from '../../core/store.ts';
import type { Received } from '../xml/schema.ts';
import type { DERControlBase, DERCurve, DERCurveLink } from '../xml/documents.ts';
import type { ModeName, ResolvedControl } from './model.ts';
import { integerOf, scaledOf, unreadIn } from './model.ts';

/**
 * The bitmap with the bit of a mode: `modesSupported`, `modesSupported2` (2023), `doeModesSupported` or
 * `vppModesSupported` (CSIP-AUS). The bitmaps of enabled modes have the same bits.
 */
export type ModeBitmap = 'modes' | 'modes2' | 'doe' | 'vpp';

/** Bits of `modesSupported` that belong to no member of DERControlBase. */
export const chargeModeBit = 0;
export const dischargeModeBit = 1;

type JsonObject = Readonly<Record<string, JsonValue>>;
type ModeValue<Mode extends ModeName> = NonNullable<Received<DERControlBase>[Mode]>;

interface ModeRow<Mode extends ModeName> {
  readonly bitmap: ModeBitmap;
  readonly bit: number;
  /** member of `modes` in REST */
  readonly rest: string;
  /** value in engineering units, with null for parts that are missing or out of range */
  readonly show: (value: ModeValue<Mode>, curves: ResolvedControl['curves']) => JsonValue;
}

type ModeTable = { readonly [Mode in ModeName]: ModeRow<Mode> };

type CurveMember = {
  [Mode in ModeName]: DERControlBase[Mode] extends DERCurveLink | undefined ? Mode : never;
}[ModeName];

/** A mode whose value is a DERCurveLink. */
export type CurveMode = CurveMember;

interface CurveRow {
  /** DERCurve.curveType that the mode needs */
  readonly type: number;
  /** names and units of the coordinates in REST */
  readonly x: string;
  readonly y: string;
}

const voltageTrip = { x: 'time_s', y: 'v_pct' } as const;
const frequencyTrip = { x: 'time_s', y: 'hz' } as const;

/** The curves of IEEE 2030.5, DERCurveType. */
export const curveTable: Readonly<Record<CurveMode, CurveRow>> = {
  opModFreqWatt: { type: 0, x: 'hz', y: 'w_pct' },
  opModHFRTMayTrip: { type: 1, ...frequencyTrip },
  opModHFRTMustTrip: { type: 2, ...frequencyTrip },
  opModHVRTMayTrip: { type: 3, ...voltageTrip },
  opModHVRTMomentaryCessation: { type: 4, ...voltageTrip },
  opModHVRTMustTrip: { type: 5, ...voltageTrip },
  opModLFRTMayTrip: { type: 6, ...frequencyTrip },
  opModLFRTMustTrip: { type: 7, ...frequencyTrip },
  opModLVRTMayTrip: { type: 8, ...voltageTrip },
  opModLVRTMomentaryCessation: { type: 9, ...voltageTrip },
  opModLVRTMustTrip: { type: 10, ...voltageTrip },
  opModVoltVar: { type: 11, x: 'v_pct', y: 'var_pct' },
  opModVoltWatt: { type: 12, x: 'v_pct', y: 'w_pct' },
  opModWattPF: { type: 13, x: 'w_pct', y: 'pf' },
  opModWattVar: { type: 14, x: 'w_pct', y: 'var_pct' },
};

/** DERUnitRefType, as REST shows it. */
const unitReferences: readonly string[] = [
  'none',
  'w_max_pct',
  'var_max_pct',
  'var_aval_pct',
  'v_pct',
  'w_charge_max_pct',
  'w_discharge_max_pct',
  'w_aval_pct',
  'va_max_pct',
];

function referenceName(type: unknown): string | null {
  const index = integerOf(type);
  return index === null ? null : (unitReferences[index] ?? String(index));
}

/** A percentage, which the standard counts in hundredths. */
const percent = (value: unknown): number | null => scaledOf(value, -2);

type Multiplied = Received<{ readonly multiplier: number; readonly value: number }>;
/** A value scaled by its power of ten; a missing multiplier is 0. */
const physical = ({ value, multiplier }: Multiplied): number | null => scaledOf(value, multiplier ?? 0);

type PowerFactorValue = ModeValue<'opModFixedPFInjectW'>;
const powerFactor = ({ displacement, multiplier, excitation }: PowerFactorValue): JsonObject => ({
  pf: scaledOf(displacement, multiplier ?? 0),
  excitation: excitation === undefined ? null : excitation ? 'under_excited' : 'over_excited',
});

const referred = ({ refType, value }: Received<{ readonly refType: number; readonly value: number }>): JsonObject => ({
  ref: referenceName(refType),
  value_pct: percent(value),
});

function droop({ dBOF, dBUF, kOF, kUF, openLoopTms, pMin }: ModeValue<'opModFreqDroop'>): JsonObject {
  return {
    db_of_hz: scaledOf(dBOF, -3),
    db_uf_hz: scaledOf(dBUF, -3),
    k_of: scaledOf(kOF, -3),
    k_uf: scaledOf(kUF, -3),
    response_time_s: scaledOf(openLoopTms, -2),
    ...(pMin && { p_min_w: physical(pMin) }),
  };
}

/** The points of a curve in engineering units, in the order received. */
function showPoints({ type, x, y }: CurveRow, curve: Received<DERCurve>): JsonValue {
  const { xMultiplier = 0, yMultiplier = 0 } = curve;
  return (curve.CurveData ?? []).map(({ xvalue, yvalue, excitation }) => ({
    [x]: scaledOf(xvalue, xMultiplier),
    [y]: scaledOf(yvalue, yMultiplier),
    ...(type === curveTable.opModWattPF.type &&
      excitation !== undefined && { excitation: excitation ? 'under_excited' : 'over_excited' }),
  }));
}

function showCurve(row: CurveRow, { href }: Received<DERCurveLink>, curves: ResolvedControl['curves']): JsonObject {
  const curve = href === undefined ? null : curves.get(href);
  const link = { curve_href: href ?? null };
  if (!curve) return { ...link, points: null };
  const { openLoopTms, vRef, autonomousVRefEnable, autonomousVRefTimeConstant, curveType, yRefType } = curve;
  return {
    ...link,
    curve_type: curveType ?? null,
    y_ref: referenceName(yRefType),
    points: showPoints(row, curve),
    ...(openLoopTms !== undefined && { response_time_s: scaledOf(openLoopTms, -2) }),
    ...(vRef !== undefined && { v_ref_pct: percent(vRef) }),
    ...(autonomousVRefEnable !== undefined && { v_ref_auto: autonomousVRefEnable }),
    ...(autonomousVRefTimeConstant !== undefined && { v_ref_auto_time_s: scaledOf(autonomousVRefTimeConstant, -2) }),
  };
}

function curveMode<Mode extends CurveMode>(mode: Mode, bit: number, rest: string): ModeRow<Mode> {
  const row = curveTable[mode];
  return { bitmap: 'modes', bit, rest, show: (link, curves) => showCurve(row, link, curves) };
}

const unscaled = (value: boolean): boolean => value;

/** Every mode, in the order of the bitmaps. */
export const modeTable: ModeTable = {
  opModConnect: { bitmap: 'modes', bit: 2, rest: 'op_mod_connect', show: unscaled },
  opModEnergize: { bitmap: 'modes', bit: 3, rest: 'op_mod_energize', show: unscaled },
  opModFixedPFAbsorbW: { bitmap: 'modes', bit: 4, rest: 'op_mod_fixed_pf_absorb_w', show: powerFactor },
  opModFixedPFInjectW: { bitmap: 'modes', bit: 5, rest: 'op_mod_fixed_pf_inject_w', show: powerFactor },
  opModFixedVar: { bitmap: 'modes', bit: 6, rest: 'op_mod_fixed_var', show: referred },
  opModFixedW: { bitmap: 'modes', bit: 7, rest: 'op_mod_fixed_w_pct', show: percent },
  opModFreqDroop: { bitmap: 'modes', bit: 8, rest: 'op_mod_freq_droop', show: droop },
  opModFreqWatt: curveMode('opModFreqWatt', 9, 'op_mod_freq_watt'),
  opModHFRTMayTrip: curveMode('opModHFRTMayTrip', 10, 'op_mod_hfrt_may_trip'),
  opModHFRTMustTrip: curveMode('opModHFRTMustTrip', 11, 'op_mod_hfrt_must_trip'),
  opModHVRTMayTrip: curveMode('opModHVRTMayTrip', 12, 'op_mod_hvrt_may_trip'),
  opModHVRTMomentaryCessation: curveMode('opModHVRTMomentaryCessation', 13, 'op_mod_hvrt_momentary_cessation'),
  opModHVRTMustTrip: curveMode('opModHVRTMustTrip', 14, 'op_mod_hvrt_must_trip'),
  opModLFRTMayTrip: curveMode('opModLFRTMayTrip', 15, 'op_mod_lfrt_may_trip'),
  opModLFRTMustTrip: curveMode('opModLFRTMustTrip', 16, 'op_mod_lfrt_must_trip'),
  opModLVRTMayTrip: curveMode('opModLVRTMayTrip', 17, 'op_mod_lvrt_may_trip'),
  opModLVRTMomentaryCessation: curveMode('opModLVRTMomentaryCessation', 18, 'op_mod_lvrt_momentary_cessation'),
  opModLVRTMustTrip: curveMode('opModLVRTMustTrip', 19, 'op_mod_lvrt_must_trip'),
  opModMaxLimW: { bitmap: 'modes', bit: 20, rest: 'op_mod_max_lim_w_pct', show: percent },
  opModTargetVar: { bitmap: 'modes', bit: 21, rest: 'op_mod_target_var', show: physical },
  opModTargetW: { bitmap: 'modes', bit: 22, rest: 'op_mod_target_w', show: physical },
  opModVoltVar: curveMode('opModVoltVar', 23, 'op_mod_volt_var'),
  opModVoltWatt: curveMode('opModVoltWatt', 24, 'op_mod_volt_watt'),
  opModWattPF: curveMode('opModWattPF', 25, 'op_mod_watt_pf'),
  opModWattVar: curveMode('opModWattVar', 26, 'op_mod_watt_var'),
  opModDeltaVar: { bitmap: 'modes', bit: 27, rest: 'op_mod_delta_var', show: physical },
  opModDeltaW: { bitmap: 'modes', bit: 28, rest: 'op_mod_delta_w', show: physical },
  opModFixedV: { bitmap: 'modes', bit: 29, rest: 'op_mod_fixed_v_pct', show: percent },
  opModGridConnectPermit: { bitmap: 'modes', bit: 30, rest: 'op_mod_grid_connect_permit', show: unscaled },
  opModIslandPermit: { bitmap: 'modes', bit: 31, rest: 'op_mod_island_permit', show: unscaled },
  opModMaxLimPctVAAbsorb: { bitmap: 'modes2', bit: 0, rest: 'op_mod_max_lim_va_absorb_pct', show: percent },
  opModMaxLimPctVAInject: { bitmap: 'modes2', bit: 1, rest: 'op_mod_max_lim_va_inject_pct', show: percent },
  opModMaxLimPctVarAbsorb: { bitmap: 'modes2', bit: 2, rest: 'op_mod_max_lim_var_absorb_pct', show: referred },
  opModMaxLimPctVarInject: { bitmap: 'modes2', bit: 3, rest: 'op_mod_max_lim_var_inject_pct', show: referred },
  opModMaxLimPctWAbsorb: { bitmap: 'modes2', bit: 4, rest: 'op_mod_max_lim_w_absorb_pct', show: percent },
  opModMaxLimVarAbsorb: { bitmap: 'modes2', bit: 5, rest: 'op_mod_max_lim_var_absorb', show: physical },
  opModMaxLimVarInject: { bitmap: 'modes2', bit: 6, rest: 'op_mod_max_lim_var_inject', show: physical },
  opModMaxLimWAbsorb: { bitmap: 'modes2', bit: 7, rest: 'op_mod_max_lim_w_absorb', show: physical },
  opModMaxLimWInject: { bitmap: 'modes2', bit: 8, rest: 'op_mod_max_lim_w_inject', show: physical },
  opModTargetV: { bitmap: 'modes2', bit: 9, rest: 'op_mod_target_v', show: physical },
  opModExpLimW: { bitmap: 'doe', bit: 0, rest: 'op_mod_exp_lim_w', show: physical },
  opModImpLimW: { bitmap: 'doe', bit: 1, rest: 'op_mod_imp_lim_w', show: physical },
  opModGenLimW: { bitmap: 'doe', bit: 2, rest: 'op_mod_gen_lim_w', show: physical },
  opModLoadLimW: { bitmap: 'doe', bit: 3, rest: 'op_mod_load_lim_w', show: physical },
  opModStorageTargetW: { bitmap: 'vpp', bit: 0, rest: 'op_mod_storage_target_w', show: physical },
};

const isMode = (name: string): name is ModeName => Object.hasOwn(modeTable, name);

/** Every mode. */
export const modeNames: readonly ModeName[] = Object.keys(modeTable).filter(isMode);

const isCurveMode = (mode: ModeName): mode is CurveMode => Object.hasOwn(curveTable, mode);

/** The link of a curve mode; undefined: the mode has no curve, or the control does not have the mode. */
export function curveLinkOf(base: ResolvedControl['base'], mode: ModeName): Received<DERCurveLink> | undefined {
  return isCurveMode(mode) ? base[mode] : undefined;
}

/** The modes of a DERControlBase, including those that cannot be read, in the order of the bitmaps. */
export function modesIn(base: ResolvedControl['base']): readonly ModeName[] {
  return modeNames.filter((mode) => base[mode] !== undefined || base.unread?.[mode] !== undefined);
}

/** The modes of a DERControlBase whose value or `rampTms` cannot be read. */
export function unreadModes(base: ResolvedControl['base']): readonly ModeName[] {
  return modesIn(base).filter((mode) => unreadIn(mode, base) !== null);
}

/**
 * The modes that a control takes from others: those whose value can be read. A control with an invalid value is refused
 * as a whole and takes none.
 */
export function controlledModes(base: ResolvedControl['base']): readonly ModeName[] {
  const modes = modesIn(base);
  const reasons = modes.map((mode) => unreadIn(mode, base)?.refused ?? null);
  return reasons.includes('invalid') ? [] : modes.filter((_mode, at) => reasons[at] === null);
}

/** The bits of modes in one bitmap, as an unsigned number. */
export function modeBits(modes: Iterable<ModeName>, bitmap: ModeBitmap): number {
  let bits = 0n;
  for (const mode of modes) {
    const row = modeTable[mode];
    if (row.bitmap === bitmap) bits |= 1n << BigInt(row.bit);
  }
  return Number(bits);
}

function showMode<Mode extends ModeName>(
  mode: Mode,
  value: Received<DERControlBase>[Mode],
  curves: ResolvedControl['curves'],
): JsonValue | undefined {
  const row: ModeRow<Mode> = modeTable[mode];
  return value === undefined ? undefined : row.show(value, curves);
}

/** The object `modes` of a control in REST: members in snake case, values in engineering units. */
export function showModes(control: ResolvedControl): JsonObject {
  const view: Record<string, JsonValue> = {};
  for (const mode of modesIn(control.base)) {
    const value = showMode(mode, control.base[mode], control.curves);
    if (value !== undefined) view[modeTable[mode].rest] = value;
  }
  const rampS = scaledOf(control.base.rampTms, -2);
  if (rampS !== null) view['ramp_time_s'] = rampS;
  return view;
}

type Settings = NonNullable<ResolvedControl['settings']>;

/** Members of a default control beside its modes: name in REST, and power of ten of the value. */
const settingsTable = {
  setESDelay: ['es_delay_s', -2],
  setESHighFreq: ['es_high_hz', -2],
  setESHighVolt: ['es_high_v_pct', -2],
  setESLowFreq: ['es_low_hz', -2],
  setESLowVolt: ['es_low_v_pct', -2],
  setESRampTms: ['es_ramp_s', -2],
  setESRandomDelay: ['es_random_delay_s', -2],
  setGradW: ['grad_w_pct_per_s', -2],
  setSoftGradW: ['soft_grad_w_pct_per_s', -2],
} as const satisfies Partial<Record<keyof Settings, readonly [string, number]>>;

/** The members of a default control beside its modes in REST, in engineering units. */
export function showSettings(settings: Settings): JsonObject {
  const view: Record<string, JsonValue> = {};
  const names = Object.keys(settingsTable).filter((name): name is keyof typeof settingsTable => name in settings);
  for (const name of names) {
    const [rest, power] = settingsTable[name];
    const value = scaledOf(settings[name], power);
    if (value !== null) view[rest] = value;
  }
  return view;
}
