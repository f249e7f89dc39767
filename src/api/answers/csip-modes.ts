/** Modes of a DERControl and the registers that must hold their values: one row each, by the names of `csip/controls`. */
import { outwards, tripModels } from '../../contract/ride-through-curve.ts';
import type { TripName } from '../../contract/ride-through-curve.ts';
import type { Device } from '../../contract/device.ts';
import { pointNumber, hasPoint } from '../../sunspec/map/named-points.ts';
import { functionTable } from '../../sunspec/map/functions.ts';
import type { FunctionName } from '../../sunspec/map/functions.ts';
import type { Value } from './model.ts';

/** Values by point; null: no register has the mode. */
type Points = Readonly<Record<string, Value>>;
type ModeRow = (value: unknown, device: Device) => Points | null;

const enabled = (name: FunctionName, on = true): Points => {
  const { model, enable } = functionTable[name];
  return { [`${model}.${enable}`]: on ? 'ENABLED' : 'DISABLED' };
};

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** DERUnitRefType of `csip/controls` as 704.VarSetMod has it. */
const references: Readonly<Record<string, string>> = {
  w_max_pct: 'W_MAX_PCT',
  var_max_pct: 'VAR_MAX_PCT',
  var_aval_pct: 'VAR_AVAIL_PCT',
  va_max_pct: 'VA_MAX_PCT',
};

const maxLimPct: ModeRow = (value) =>
  number(value) === null ? null : { ...enabled('max_power'), '704.WMaxLimPct': number(value) };

const maxLimW: ModeRow = (value, { bank }) => {
  const [w, wMax] = [number(value), pointNumber(bank, 702, 'WMax') ?? 0];
  if (w === null || wMax === 0) return null;
  return { ...enabled('max_power'), '704.WMaxLimPct': Math.min(100, (100 * w) / wMax) };
};

const targetW: ModeRow = (value) =>
  number(value) === null ? null : { ...enabled('active_power'), '704.WSetMod': 'WATTS', '704.WSet': number(value) };

const fixedW: ModeRow = (value, device) => {
  const pct = number(value);
  const { bank } = device;
  if (pct === null) return null;
  if (pct < 0) return targetW((pct / 100) * (pointNumber(bank, 702, 'WChaRteMax') ?? 0), device);
  if (!hasPoint(bank, 704, 'WSetPct')) return targetW((pct / 100) * (pointNumber(bank, 702, 'WMax') ?? 0), device);
  return { ...enabled('active_power'), '704.WSetMod': 'W_MAX_PCT', '704.WSetPct': pct };
};

const fixedVar: ModeRow = (value) => {
  const [pct, reference] = [number(member(value, 'value_pct')), references[String(member(value, 'ref'))]];
  if (pct === null || reference === undefined) return null;
  return { ...enabled('constant_var'), '704.VarSetMod': reference, '704.VarSetPct': pct };
};

const targetVar: ModeRow = (value) =>
  number(value) === null ? null : { ...enabled('constant_var'), '704.VarSetMod': 'VARS', '704.VarSet': number(value) };

const powerFactor =
  (name: 'pf_inject' | 'pf_absorb', group: string): ModeRow =>
  (value) => {
    const [pf, excitation] = [number(member(value, 'pf')), member(value, 'excitation')];
    if (pf === null || typeof excitation !== 'string') return null;
    return { ...enabled(name), [`704.${group}.PF`]: pf, [`704.${group}.Ext`]: excitation.toUpperCase() };
  };

const droop: ModeRow = (value) => ({
  ...enabled('freq_droop'),
  '711.Ctl[0].DbOf': number(member(value, 'db_of_hz')),
  '711.Ctl[0].DbUf': number(member(value, 'db_uf_hz')),
  '711.Ctl[0].KOf': number(member(value, 'k_of')),
  '711.Ctl[0].KUf': number(member(value, 'k_uf')),
  '711.Ctl[0].RspTms': number(member(value, 'response_time_s')),
});

/** A curve without a reference of its own; that of a volt-var curve would shift its voltages. */
const curve =
  (name: 'volt_var' | 'volt_watt' | 'watt_var', axes: readonly [register: string, shown: string][]): ModeRow =>
  (value) => {
    const points = member(value, 'points');
    const { model } = functionTable[name];
    const reference = member(value, 'v_ref_pct');
    if (!Array.isArray(points) || (reference !== undefined && reference !== 100)) return enabled(name);
    const wanted: Record<string, Value> = { ...enabled(name), [`${model}.Crv[0].ActPt`]: points.length };
    points.forEach((point, n) => {
      for (const [register, shown] of axes)
        wanted[`${model}.Crv[0].Pt[${n}].${register}`] = number(member(point, shown));
    });
    return wanted;
  };

/** A ride-through curve; REST shows its points as the document has them. */
const rideThrough =
  (name: TripName, region: 'MayTrip' | 'MomCess' | 'MustTrip'): ModeRow =>
  (value) => {
    const { model, y: axis, side } = tripModels[name];
    const shown = axis === 'V' ? 'v_pct' : 'hz';
    const read = member(value, 'points');
    if (!Array.isArray(read)) return null;
    const points = read.map((point) => ({ x: Number(member(point, 'time_s')), y: Number(member(point, shown)) }));
    const at = `${model}.Crv[0].${region}`;
    const wanted: Record<string, Value> = { ...enabled(name), [`${at}.ActPt`]: points.length };
    outwards(points, side).forEach(({ x, y }, n) => {
      wanted[`${at}.Pt[${n}].Tms`] = x;
      wanted[`${at}.Pt[${n}].${axis}`] = y;
    });
    return wanted;
  };

export const csipModes: Readonly<Record<string, ModeRow>> = {
  op_mod_energize: (value) => enabled('enter_service', value === true),
  op_mod_fixed_pf_absorb_w: powerFactor('pf_absorb', 'PFWAbs'),
  op_mod_fixed_pf_inject_w: powerFactor('pf_inject', 'PFWInj'),
  op_mod_fixed_var: fixedVar,
  op_mod_fixed_w_pct: fixedW,
  op_mod_freq_droop: droop,
  op_mod_hfrt_may_trip: rideThrough('hf_trip', 'MayTrip'),
  op_mod_hfrt_must_trip: rideThrough('hf_trip', 'MustTrip'),
  op_mod_hvrt_may_trip: rideThrough('hv_trip', 'MayTrip'),
  op_mod_hvrt_momentary_cessation: rideThrough('hv_trip', 'MomCess'),
  op_mod_hvrt_must_trip: rideThrough('hv_trip', 'MustTrip'),
  op_mod_lfrt_may_trip: rideThrough('lf_trip', 'MayTrip'),
  op_mod_lfrt_must_trip: rideThrough('lf_trip', 'MustTrip'),
  op_mod_lvrt_may_trip: rideThrough('lv_trip', 'MayTrip'),
  op_mod_lvrt_momentary_cessation: rideThrough('lv_trip', 'MomCess'),
  op_mod_lvrt_must_trip: rideThrough('lv_trip', 'MustTrip'),
  op_mod_max_lim_w_inject: maxLimW,
  op_mod_max_lim_w_pct: maxLimPct,
  op_mod_target_var: targetVar,
  op_mod_target_w: targetW,
  op_mod_volt_var: curve('volt_var', [
    ['V', 'v_pct'],
    ['Var', 'var_pct'],
  ]),
  op_mod_volt_watt: curve('volt_watt', [
    ['V', 'v_pct'],
    ['W', 'w_pct'],
  ]),
  op_mod_watt_var: curve('watt_var', [
    ['W', 'w_pct'],
    ['Var', 'var_pct'],
  ]),
};

/** Modes whose value is a power of all devices behind an EndDevice together. */
export const sharedModes: ReadonlySet<string> = new Set([
  'op_mod_target_w',
  'op_mod_target_var',
  'op_mod_max_lim_w_inject',
]);

/** Members of a control beside its modes. */
export const noModes: ReadonlySet<string> = new Set(['ramp_time_s']);
