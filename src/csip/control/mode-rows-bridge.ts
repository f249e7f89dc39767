/** The control modes and the points of a device that carry them out: one row each. A mode without a row has no physics. */
import { isRideThrough, outwards, tripModels } from '../../contract/ride-through-curve.ts';
import type { TripName } from '../../contract/ride-through-curve.ts';
import type { FunctionName } from '../../sunspec/map/functions.ts';
import type { Received, Revision } from '../xml/document.ts';
import type { DERControlBase } from '../xml/documents.ts';
import type { Asset, VarReference } from './asset-bridge.ts';
import { readCurve, valueAt } from './curve-points.ts';
import type { ReadCurve } from './curve-points.ts';
import type { CurveMode } from './modes.ts';
import type { ModeName, ResolvedControl } from './model.ts';
import { integerOf, scaledOf } from './values.ts';
import { invalid, isRefusal, unsupported } from './wish.ts';
import type { Refusal, Wish } from './wish.ts';

/** What a row may look at. */
export interface WishContext {
  readonly asset: Asset;
  readonly revision: Revision;
  readonly control: ResolvedControl;
  /** the part of a target of the EndDevice that falls to this device, 0..1 */
  readonly share: number;
}

type ModeValue<Mode extends ModeName> = NonNullable<Received<DERControlBase>[Mode]>;

export interface ModeRow<Mode extends ModeName = ModeName> {
  /** the first revision that has the mode; absent: both have it */
  readonly since?: '2023';
  /** absent: having the function is enough */
  readonly supported?: (asset: Asset) => boolean;
  /** the function that it uses */
  readonly uses?: FunctionName;
  readonly wish: (value: ModeValue<Mode>, context: WishContext) => Wish | Refusal;
}

type Rows = { readonly [Mode in ModeName]?: ModeRow<Mode> };

type Multiplied = Received<{ readonly multiplier: number; readonly value: number }>;
const physical = ({ value, multiplier }: Multiplied): number | null => scaledOf(value, multiplier ?? 0);
const noNumber = (what: string) => invalid(`${what} is no number`);

/** The set-point of active power in watts. */
function watts(asset: Asset, w: number): Wish {
  const points = [...asset.enable('active_power', true), ...asset.points(704, { WSetMod: 'WATTS', WSet: w })];
  return { points, aim: { w } };
}

function fixedW(value: unknown, { asset }: WishContext): Wish | Refusal {
  const share = scaledOf(value, -4);
  if (share === null) return noNumber('opModFixedW');
  if (share < 0) {
    if (asset.chargeMaxW === 0) return invalid('the device cannot absorb active power');
    return share < -1 ? invalid('opModFixedW is below -100 %') : watts(asset, share * asset.chargeMaxW);
  }
  const w = share * asset.wMax;
  if (!asset.hasPoint(704, 'WSetPct')) return watts(asset, w);
  const setPoint = asset.points(704, { WSetMod: 'W_MAX_PCT', WSetPct: scaledOf(value, -2) });
  return { points: [...asset.enable('active_power', true), ...setPoint], aim: { w } };
}

function targetW(value: Multiplied, { asset, share }: WishContext): Wish | Refusal {
  const w = physical(value);
  return w === null ? noNumber('opModTargetW') : watts(asset, w * share);
}

function storageTarget(value: Multiplied, { asset, share }: WishContext): Wish | Refusal {
  const w = physical(value);
  if (w === null) return noNumber('opModStorageTargetW');
  const storageW = w * share;
  if (asset.device.assetType !== 'hybrid-dc') return watts(asset, storageW);
  const limitW = asset.number(702, storageW < 0 ? 'WChaRteMax' : 'WDisChaRteMax') ?? asset.wMax;
  if (Math.abs(storageW) > limitW) return invalid(`the storage takes ${limitW} W at most in this direction`);
  return { points: [], storageW };
}

/** @param pct of 702.WMax */
function injectLimit(asset: Asset, pct: number): Wish {
  const w = (pct / 100) * asset.wMax;
  return {
    points: [...asset.enable('max_power', true), ...asset.points(704, { WMaxLimPct: pct })],
    contest: { group: 'injected power', magnitude: () => w },
    aim: { w },
  };
}

function maxLimPct(value: unknown, { asset }: WishContext): Wish | Refusal {
  const pct = scaledOf(value, -2);
  return pct === null ? noNumber('opModMaxLimW') : injectLimit(asset, pct);
}

function maxLimW(value: Multiplied, { asset, share }: WishContext): Wish | Refusal {
  const w = physical(value);
  if (w === null || w < 0) return noNumber('opModMaxLimWInject');
  // a limit above the rating is none
  return injectLimit(asset, asset.wMax > 0 ? Math.min(100, (100 * w * share) / asset.wMax) : 100);
}

type PowerFactorValue = ModeValue<'opModFixedPFInjectW'>;

function powerFactor(direction: 'inject' | 'absorb') {
  const [group, name] =
    direction === 'inject' ? (['PFWInj', 'pf_inject'] as const) : (['PFWAbs', 'pf_absorb'] as const);
  return ({ displacement, multiplier, excitation }: PowerFactorValue, { asset }: WishContext): Wish | Refusal => {
    const pf = scaledOf(displacement, multiplier ?? 0);
    if (pf === null || pf <= 0 || pf > 1) return invalid('the power factor is outside of 0 to 1');
    if (typeof excitation !== 'boolean') return invalid('the excitation is missing');
    const values = { [`${group}.PF`]: pf, [`${group}.Ext`]: excitation ? 'UNDER_EXCITED' : 'OVER_EXCITED' };
    const acts = () => (direction === 'inject' ? asset.w >= 0 : asset.w < 0);
    const reactive = () => Math.abs(asset.w) * Math.tan(Math.acos(pf));
    return {
      points: [...asset.enable(name, true), ...asset.points(704, values)],
      // while power flows the other way the factor does nothing, and so excludes nothing
      contest: { group: 'reactive', magnitude: () => (acts() ? reactive() : Infinity) },
      ...(acts() && { aim: { var: (excitation ? -1 : 1) * reactive() } }),
    };
  };
}

/** DERUnitRefType of reactive power, as 704.VarSetMod has it. */
function varReference(refType: unknown, revision: Revision): VarReference | null {
  switch (integerOf(refType)) {
    case 1:
      return 'W_MAX_PCT';
    case 2:
      return 'VAR_MAX_PCT';
    case 3:
      return 'VAR_AVAIL_PCT';
    case 8:
      return revision === '2023' ? 'VA_MAX_PCT' : null;
    default:
      return null;
  }
}

const badReference = (refType: unknown) => invalid(`the reference ${String(refType)} is none of this mode`);

function fixedVar({ refType, value }: ModeValue<'opModFixedVar'>, { asset, revision }: WishContext): Wish | Refusal {
  const pct = scaledOf(value, -2);
  const reference = varReference(refType, revision);
  if (pct === null) return noNumber('opModFixedVar');
  if (reference === null) return badReference(refType);
  const reactive = () => (pct / 100) * asset.varBase(reference, pct);
  return {
    points: [...asset.enable('constant_var', true), ...asset.points(704, { VarSetMod: reference, VarSetPct: pct })],
    contest: { group: 'reactive', magnitude: () => Math.abs(reactive()) },
    aim: { var: reactive() },
  };
}

function targetVar(value: Multiplied, { asset, share }: WishContext): Wish | Refusal {
  const all = physical(value);
  if (all === null) return noNumber('opModTargetVar');
  const reactive = all * share;
  return {
    points: [...asset.enable('constant_var', true), ...asset.points(704, { VarSetMod: 'VARS', VarSet: reactive })],
    contest: { group: 'reactive', magnitude: () => Math.abs(reactive) },
    aim: { var: reactive },
  };
}

function freqDroop(droop: ModeValue<'opModFreqDroop'>, { asset }: WishContext): Wish | Refusal {
  const { dBOF, dBUF, kOF, kUF, openLoopTms, pMin } = droop;
  const values = {
    'Ctl[0].DbOf': scaledOf(dBOF, -3),
    'Ctl[0].DbUf': scaledOf(dBUF, -3),
    'Ctl[0].KOf': scaledOf(kOF, -3),
    'Ctl[0].KUf': scaledOf(kUF, -3),
    'Ctl[0].RspTms': scaledOf(openLoopTms, -2),
  };
  const missing = Object.entries(values).find(([, value]) => value === null);
  if (missing) return invalid(`opModFreqDroop lacks the value of ${missing[0]}`);
  const minW = pMin && physical(pMin);
  if (minW === null) return noNumber('pMin');
  const minPct = minW === undefined || asset.wMax === 0 ? {} : { 'Ctl[0].PMin': (100 * minW) / asset.wMax };
  return {
    points: [...asset.enable('freq_droop', true), ...asset.points(711, values), ...asset.optional(711, minPct)],
  };
}

/** A curve as set 1 of a function model; `values` stand beside its points. */
function curvePoints(
  asset: Asset,
  { name, model, at, axes }: CurvePlace,
  { points }: Pick<ReadCurve, 'points'>,
): Wish | Refusal {
  const most = asset.number(model, 'NPt') ?? 0;
  if (points.length > most) return unsupported(`the curve has ${points.length} points, and the device takes ${most}`);
  const values = Object.fromEntries(
    points.flatMap(({ x, y }, i) => [
      [`${at}.Pt[${i}].${axes[0]}`, x],
      [`${at}.Pt[${i}].${axes[1]}`, y],
    ]),
  );
  return {
    points: [...asset.enable(name, true), ...asset.points(model, { ...values, [`${at}.ActPt`]: points.length })],
  };
}

interface CurvePlace {
  readonly name: FunctionName;
  readonly model: number;
  readonly at: string;
  /** points of x and y */
  readonly axes: readonly [x: string, y: string];
}

const setOne = 'Crv[0]';
const withPoints = (wish: Wish | Refusal, points: Wish['points']): Wish | Refusal =>
  isRefusal(wish) ? wish : { ...wish, points: [...wish.points, ...points] };

/** openLoopTms, where the document has it and the model a response time. */
function response(asset: Asset, model: number, { openLoopTms }: ReadCurve['curve']): Wish['points'] {
  const seconds = scaledOf(openLoopTms, -2);
  return seconds === null ? [] : asset.optional(model, { [`${setOne}.RspTms`]: seconds });
}

function deptRef(reference: VarReference): string {
  return reference === 'VAR_AVAIL_PCT' ? 'VAR_AVAL_PCT' : reference;
}

/**
 * The reference voltage of a volt-var curve. The document multiplies x with vRef, the device shifts its curve to the
 * reference: the points are written so that they lie where the document has them.
 */
function aroundReference({ points, curve }: ReadCurve): {
  readonly points: ReadCurve['points'];
  readonly vRefPct: number;
} {
  const vRefPct = scaledOf(curve.vRef, -2) ?? 100;
  return { vRefPct, points: points.map(({ x, y }) => ({ x: (x * vRefPct) / 100 + 100 - vRefPct, y })) };
}

function voltVar(_link: unknown, { asset, control, revision }: WishContext): Wish | Refusal {
  const read = readCurve('opModVoltVar', control);
  if (isRefusal(read)) return read;
  const { yRefType, autonomousVRefEnable, autonomousVRefTimeConstant } = read.curve;
  const reference = varReference(yRefType, revision);
  if (reference === null) return badReference(yRefType);
  const shifted = aroundReference(read);
  const auto = autonomousVRefEnable === true;
  if (auto && !asset.hasPoint(705, `${setOne}.VRefAutoEna`))
    return unsupported('the device finds no reference voltage');
  const autoS = scaledOf(autonomousVRefTimeConstant, -2);
  const wish = curvePoints(asset, { name: 'volt_var', model: 705, at: setOne, axes: ['V', 'Var'] }, shifted);
  const settings = [
    ...asset.points(705, { [`${setOne}.DeptRef`]: deptRef(reference) }),
    ...asset.optional(705, {
      [`${setOne}.VRef`]: shifted.vRefPct,
      [`${setOne}.VRefAutoEna`]: auto ? 'ENABLED' : 'DISABLED',
      ...(auto && autoS !== null && { [`${setOne}.VRefAutoTms`]: autoS }),
    }),
    ...response(asset, 705, read.curve),
  ];
  const magnitude = () => {
    const pct = valueAt(shifted.points, asset.voltagePct - (shifted.vRefPct - 100));
    return Math.abs(pct / 100) * asset.varBase(reference, pct);
  };
  return isRefusal(wish) ? wish : { ...withPoints(wish, settings), contest: { group: 'reactive', magnitude } };
}

function wattVar(_link: unknown, { asset, control, revision }: WishContext): Wish | Refusal {
  const read = readCurve('opModWattVar', control);
  if (isRefusal(read)) return read;
  const reference = varReference(read.curve.yRefType, revision);
  if (reference === null) return badReference(read.curve.yRefType);
  // 712 refers to WMax on both sides; so does the document of 2018, while that of 2023 has the charge rating below zero
  const below = revision === '2023' && asset.wMax > 0 ? asset.chargeMaxW / asset.wMax : 1;
  const points = read.points.map(({ x, y }) => ({ x: x < 0 ? x * below : x, y }));
  const wish = curvePoints(asset, { name: 'watt_var', model: 712, at: setOne, axes: ['W', 'Var'] }, { points });
  const magnitude = () => {
    const pct = valueAt(points, asset.wMax > 0 ? (100 * asset.w) / asset.wMax : 0);
    return Math.abs(pct / 100) * asset.varBase(reference, pct);
  };
  const settings = asset.points(712, { [`${setOne}.DeptRef`]: deptRef(reference) });
  return isRefusal(wish) ? wish : { ...withPoints(wish, settings), contest: { group: 'reactive', magnitude } };
}

function voltWatt(_link: unknown, { asset, control }: WishContext): Wish | Refusal {
  const read = readCurve('opModVoltWatt', control);
  if (isRefusal(read)) return read;
  const reference = { 1: 'W_MAX_PCT', 7: 'W_AVAL_PCT' }[integerOf(read.curve.yRefType) ?? 0];
  if (reference === undefined) return badReference(read.curve.yRefType);
  const wish = curvePoints(asset, { name: 'volt_watt', model: 706, at: setOne, axes: ['V', 'W'] }, read);
  const settings = asset.points(706, { [`${setOne}.DeptRef`]: reference });
  return withPoints(wish, [...settings, ...response(asset, 706, read.curve)]);
}

/** A ride-through curve: x is a duration, y a threshold. */
function rideThrough<Mode extends CurveMode>(
  mode: Mode,
  name: TripName,
  region: 'MayTrip' | 'MustTrip' | 'MomCess',
): ModeRow<Mode> {
  const { model, y, side } = tripModels[name];
  const at = `${setOne}.${region}`;
  return {
    uses: name,
    supported: (asset) => asset.has(name) && asset.hasPoint(model, `${at}.ActPt`),
    wish: (_link, { asset, control }) => {
      const read = readCurve(mode, control);
      if (isRefusal(read)) return read;
      const points = outwards(read.points, side);
      if (!isRideThrough(points, side)) return invalid('the thresholds of the ride-through curve turn back');
      return curvePoints(asset, { name, model, at, axes: ['Tms', y] }, { points });
    },
  };
}

/** The modes that act on a device. Limits at the connection point are in `site-limits.ts`. */
export const modeRows: Rows = {
  opModConnect: { supported: () => true, wish: (closed) => ({ points: [], switchClosed: closed }) },
  opModEnergize: {
    supported: (asset) => asset.has('enter_service'),
    wish: (permitted, { asset }) => ({ points: asset.enable('enter_service', permitted) }),
  },
  opModFixedPFAbsorbW: { uses: 'pf_absorb', wish: powerFactor('absorb') },
  opModFixedPFInjectW: { uses: 'pf_inject', wish: powerFactor('inject') },
  opModFixedVar: { uses: 'constant_var', wish: fixedVar },
  opModFixedW: { uses: 'active_power', wish: fixedW },
  opModFreqDroop: { uses: 'freq_droop', wish: freqDroop },
  opModHFRTMayTrip: rideThrough('opModHFRTMayTrip', 'hf_trip', 'MayTrip'),
  opModHFRTMustTrip: rideThrough('opModHFRTMustTrip', 'hf_trip', 'MustTrip'),
  opModHVRTMayTrip: rideThrough('opModHVRTMayTrip', 'hv_trip', 'MayTrip'),
  opModHVRTMomentaryCessation: rideThrough('opModHVRTMomentaryCessation', 'hv_trip', 'MomCess'),
  opModHVRTMustTrip: rideThrough('opModHVRTMustTrip', 'hv_trip', 'MustTrip'),
  opModLFRTMayTrip: rideThrough('opModLFRTMayTrip', 'lf_trip', 'MayTrip'),
  opModLFRTMustTrip: rideThrough('opModLFRTMustTrip', 'lf_trip', 'MustTrip'),
  opModLVRTMayTrip: rideThrough('opModLVRTMayTrip', 'lv_trip', 'MayTrip'),
  opModLVRTMomentaryCessation: rideThrough('opModLVRTMomentaryCessation', 'lv_trip', 'MomCess'),
  opModLVRTMustTrip: rideThrough('opModLVRTMustTrip', 'lv_trip', 'MustTrip'),
  opModMaxLimW: { uses: 'max_power', wish: maxLimPct },
  opModTargetVar: {
    uses: 'constant_var',
    supported: (asset) => asset.has('constant_var') && asset.hasPoint(704, 'VarSet'),
    wish: targetVar,
  },
  opModTargetW: { uses: 'active_power', supported: hasWattSetPoint, wish: targetW },
  opModVoltVar: { uses: 'volt_var', wish: voltVar },
  opModVoltWatt: { uses: 'volt_watt', wish: voltWatt },
  opModWattVar: { uses: 'watt_var', wish: wattVar },
  opModMaxLimWInject: { uses: 'max_power', since: '2023', wish: maxLimW },
  opModStorageTargetW: {
    supported: (asset) =>
      asset.device.assetType === 'hybrid-dc' || (asset.device.assetType === 'battery' && hasWattSetPoint(asset)),
    wish: storageTarget,
  },
};

function hasWattSetPoint(asset: Asset): boolean {
  return asset.has('active_power') && asset.hasPoint(704, 'WSet');
}

/** Whether a device has what a mode needs. */
export function supportsMode(mode: ModeName, asset: Asset, revision: Revision): boolean {
  const row = modeRows[mode];
  if (!row || (row.since === '2023' && revision !== '2023')) return false;
  return row.supported?.(asset) ?? (row.uses !== undefined && asset.has(row.uses));
}

/** What a mode with this value asks of a device. */
export function wishOf<Mode extends ModeName>(
  mode: Mode,
  value: Received<DERControlBase>[Mode],
  context: WishContext,
): Wish | Refusal {
  const row: ModeRow<Mode> | undefined = modeRows[mode];
  const { asset, revision } = context;
  if (!row || value === undefined || !supportsMode(mode, asset, revision)) {
    return unsupported('the device has no function for this mode');
  }
  return row.wish(value, context);
}
