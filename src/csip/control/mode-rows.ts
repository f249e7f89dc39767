/** The control modes as wishes for grid-support functions: one row each. A mode without a row has no physics. */
import type { CurveFunction, FunctionName, TripName } from '../../sunspec/map/grid-support/functions.ts';
import type { FunctionWish, TripRegion, WishedValues, XY } from '../../sunspec/map/grid-support/wish.ts';
import type { Received, Revision } from '../xml/schema.ts';
import type { DERControlBase, DERCurve } from '../xml/documents.ts';
import type { Asset, VarReference } from './asset-bridge.ts';
import { curveLinkOf, curveTable } from './modes.ts';
import type { CurveMode } from './modes.ts';
import type { ModeName, ResolvedControl, ModeWish, Refusal, Wish } from './model.ts';
import { firstUnread, integerOf, invalid, isRefusal, scaledOf, unreadIn, unsupported } from './model.ts';

/** Inputs of a row. */
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
  /** absent: a device supports the mode if it has the function of `uses` */
  readonly supported?: (asset: Asset) => boolean;
  /** the function that carries out the mode */
  readonly uses?: FunctionName;
  readonly wish: (value: ModeValue<Mode>, context: WishContext) => ModeWish | Refusal;
}

type Rows = { readonly [Mode in ModeName]?: ModeRow<Mode> };

type Multiplied = Received<{ readonly multiplier: number; readonly value: number }>;
const physical = ({ value, multiplier }: Multiplied): number | null => scaledOf(value, multiplier ?? 0);
const noNumber = (what: string) => invalid(`${what} is no number`);

/** A function that is on with these values. */
const on = (name: FunctionName, values: WishedValues): readonly FunctionWish[] => [{ name, on: true, values }];

/** The set-point of active power in watts. */
const watts = (w: number): ModeWish => ({ functions: on('active_power', { WSetMod: 'WATTS', WSet: w }), aim: { w } });

function fixedW(value: unknown, { asset }: WishContext): ModeWish | Refusal {
  const share = scaledOf(value, -4);
  if (share === null) return noNumber('opModFixedW');
  if (share < 0) {
    if (asset.chargeMaxW === 0) return invalid('the device cannot absorb active power');
    return share < -1 ? invalid('opModFixedW is below -100 %') : watts(share * asset.chargeMaxW);
  }
  const w = share * asset.wMax;
  if (!asset.hasPoint(704, 'WSetPct')) return watts(w);
  return { functions: on('active_power', { WSetMod: 'W_MAX_PCT', WSetPct: scaledOf(value, -2) }), aim: { w } };
}

function targetW(value: Multiplied, { share }: WishContext): ModeWish | Refusal {
  const w = physical(value);
  return w === null ? noNumber('opModTargetW') : watts(w * share);
}

function storageTarget(value: Multiplied, { asset, share }: WishContext): ModeWish | Refusal {
  const w = physical(value);
  if (w === null) return noNumber('opModStorageTargetW');
  const storageW = w * share;
  if (asset.device.assetType !== 'hybrid-dc') return watts(storageW);
  const limitW = asset.number(702, storageW < 0 ? 'WChaRteMax' : 'WDisChaRteMax') ?? asset.wMax;
  if (Math.abs(storageW) > limitW) return invalid(`the storage takes ${limitW} W at most in this direction`);
  return { functions: [], storageW };
}

/** @param pct of 702.WMax */
function injectLimit(asset: Asset, pct: number): ModeWish {
  const w = (pct / 100) * asset.wMax;
  return {
    functions: on('max_power', { WMaxLimPct: pct }),
    contest: { group: 'injected power', magnitude: () => w },
    aim: { w },
  };
}

function maxLimPct(value: unknown, { asset }: WishContext): ModeWish | Refusal {
  const pct = scaledOf(value, -2);
  return pct === null ? noNumber('opModMaxLimW') : injectLimit(asset, pct);
}

function maxLimW(value: Multiplied, { asset, share }: WishContext): ModeWish | Refusal {
  const w = physical(value);
  if (w === null) return noNumber('opModMaxLimWInject');
  if (w < 0) return invalid('opModMaxLimWInject is negative');
  // a limit above the rating does not limit
  return injectLimit(asset, asset.wMax > 0 ? Math.min(100, (100 * w * share) / asset.wMax) : 100);
}

type PowerFactorValue = ModeValue<'opModFixedPFInjectW'>;

function powerFactor(direction: 'inject' | 'absorb') {
  const [group, name] =
    direction === 'inject' ? (['PFWInj', 'pf_inject'] as const) : (['PFWAbs', 'pf_absorb'] as const);
  return ({ displacement, multiplier, excitation }: PowerFactorValue, { asset }: WishContext): ModeWish | Refusal => {
    const pf = scaledOf(displacement, multiplier ?? 0);
    if (pf === null || pf <= 0 || pf > 1) return invalid('the power factor is outside of 0 to 1');
    if (typeof excitation !== 'boolean') return invalid('the excitation is missing');
    const values = {
      [`${group}.PF` as const]: pf,
      [`${group}.Ext` as const]: excitation ? 'UNDER_EXCITED' : 'OVER_EXCITED',
    };
    const acts = () => (direction === 'inject' ? asset.w >= 0 : asset.w < 0);
    const reactive = () => Math.abs(asset.w) * Math.tan(Math.acos(pf));
    return {
      functions: on(name, values),
      // while power flows the other way the factor has no effect and excludes nothing
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

const badReference = (refType: unknown) => invalid(`the reference ${String(refType)} is not allowed for this mode`);

function fixedVar(
  { refType, value }: ModeValue<'opModFixedVar'>,
  { asset, revision }: WishContext,
): ModeWish | Refusal {
  const pct = scaledOf(value, -2);
  const reference = varReference(refType, revision);
  if (pct === null) return noNumber('opModFixedVar');
  if (reference === null) return badReference(refType);
  const reactive = () => (pct / 100) * asset.varBase(reference, pct);
  return {
    functions: on('constant_var', { VarSetMod: reference, VarSetPct: pct }),
    contest: { group: 'reactive', magnitude: () => Math.abs(reactive()) },
    aim: { var: reactive() },
  };
}

function targetVar(value: Multiplied, { share }: WishContext): ModeWish | Refusal {
  const totalVar = physical(value);
  if (totalVar === null) return noNumber('opModTargetVar');
  const reactive = totalVar * share;
  return {
    functions: on('constant_var', { VarSetMod: 'VARS', VarSet: reactive }),
    contest: { group: 'reactive', magnitude: () => Math.abs(reactive) },
    aim: { var: reactive },
  };
}

/** Members of FreqDroopType with their points of 711 and their powers of ten. */
const droopMembers = [
  ['dBOF', 'Ctl.DbOf', -3],
  ['dBUF', 'Ctl.DbUf', -3],
  ['kOF', 'Ctl.KOf', -3],
  ['kUF', 'Ctl.KUf', -3],
  ['openLoopTms', 'Ctl.RspTms', -2],
] as const;

function freqDroop(droop: ModeValue<'opModFreqDroop'>, { asset }: WishContext): ModeWish | Refusal {
  const rows = droopMembers.map(([member, point, power]) => ({ member, point, value: scaledOf(droop[member], power) }));
  const missing = rows.find(({ value }) => value === null);
  if (missing) return invalid(`opModFreqDroop lacks the value of ${missing.member}`);
  const values = Object.fromEntries(rows.map(({ point, value }) => [point, value]));
  const { pMin } = droop;
  const minW = pMin && physical(pMin);
  if (minW === null) return noNumber('pMin');
  const minPct = minW === undefined || asset.wMax === 0 ? undefined : (100 * minW) / asset.wMax;
  return { functions: [{ name: 'freq_droop', on: true, values, ifPresent: { 'Ctl.PMin': minPct } }] };
}

interface ReadCurve {
  readonly points: readonly XY[];
  readonly curve: Received<DERCurve>;
}

/** The curve that a mode links to, in engineering units, sorted by x: documents need not have its points in order. */
function readCurve(mode: CurveMode, control: ResolvedControl): ReadCurve | Refusal {
  const href = curveLinkOf(control.base, mode)?.href;
  const curve = href === undefined ? undefined : control.curves.get(href);
  if (!curve) return invalid(`the curve ${href ?? ''} cannot be read`);
  const { type } = curveTable[mode];
  if (curve.curveType !== type) {
    return invalid(`the curve ${href ?? ''} has curveType ${String(curve.curveType)}, and the mode needs ${type}`);
  }
  const { CurveData = [], xMultiplier = 0, yMultiplier = 0 } = curve;
  const unreadMember = Object.entries(curve.unread ?? {}).find(
    ([name]) => name !== 'creationTime' && name !== 'version',
  );
  const unread = unreadMember?.[1] ?? CurveData.map(firstUnread).find((each) => each !== undefined);
  if (unread) return invalid(`the curve ${href ?? ''}: ${unread.detail}`);
  if (CurveData.length === 0) return invalid(`the curve ${href ?? ''} has no points`);
  const points: XY[] = [];
  for (const { xvalue, yvalue } of CurveData) {
    const [x, y] = [scaledOf(xvalue, xMultiplier), scaledOf(yvalue, yMultiplier)];
    if (x === null || y === null) return invalid(`the curve ${href ?? ''} has a point that is no number`);
    points.push({ x, y });
  }
  return { points: points.sort((a, b) => a.x - b.x), curve };
}

/** The value of a curve, flat beyond its ends. @param points sorted by x; at least one */
export function valueAt(points: readonly XY[], x: number): number {
  const after = points.findIndex((point) => point.x > x);
  const right = points[after] ?? points.at(-1);
  const left = points[after < 0 ? points.length - 1 : after - 1] ?? right;
  if (!left || !right) return 0;
  if (right.x === left.x) return left.y;
  return left.y + ((right.y - left.y) * (x - left.x)) / (right.x - left.x);
}

/** A function that is on with a curve, and with values beside its points. */
function curveOn(
  name: CurveFunction,
  curve: Omit<NonNullable<FunctionWish['curve']>, 'inAnyOrder'>,
  rest: Pick<FunctionWish, 'values' | 'ifPresent'> = {},
): readonly FunctionWish[] {
  return [{ name, on: true, curve: { ...curve, inAnyOrder: true }, ...rest }];
}

/** The symbol of a reference in `DeptRef` of the curve models. */
function deptRef(reference: VarReference): string {
  return reference === 'VAR_AVAIL_PCT' ? 'VAR_AVAL_PCT' : reference;
}

function voltVar(_link: unknown, { asset, control, revision }: WishContext): ModeWish | Refusal {
  const read = readCurve('opModVoltVar', control);
  if (isRefusal(read)) return read;
  const { points, curve } = read;
  const yReference = varReference(curve.yRefType, revision);
  if (yReference === null) return badReference(curve.yRefType);
  // 0 % means no reference, as for 705.VRef
  const pct = scaledOf(curve.vRef, -2) || 100;
  const timeS = scaledOf(curve.autonomousVRefTimeConstant, -2);
  const reference = { pct, autonomous: curve.autonomousVRefEnable === true, timeS };
  const magnitude = () => {
    const atReference = points.map(({ x, y }) => ({ x: (x * pct) / 100, y }));
    const varPct = valueAt(atReference, asset.voltagePct);
    return Math.abs(varPct / 100) * asset.varBase(yReference, varPct);
  };
  return {
    functions: curveOn(
      'volt_var',
      { points, reference },
      {
        values: { 'Crv.DeptRef': deptRef(yReference) },
        ifPresent: { 'Crv.RspTms': scaledOf(curve.openLoopTms, -2) },
      },
    ),
    contest: { group: 'reactive', magnitude },
  };
}

function wattVar(_link: unknown, { asset, control, revision }: WishContext): ModeWish | Refusal {
  const read = readCurve('opModWattVar', control);
  if (isRefusal(read)) return read;
  const reference = varReference(read.curve.yRefType, revision);
  if (reference === null) return badReference(read.curve.yRefType);
  // 712 and revision 2018 refer x to WMax on both sides, revision 2023 below zero to WChaRteMax
  const negativeScale = revision === '2023' && asset.wMax > 0 ? asset.chargeMaxW / asset.wMax : 1;
  const points = read.points.map(({ x, y }) => ({ x: x < 0 ? x * negativeScale : x, y }));
  const magnitude = () => {
    const pct = valueAt(points, asset.wMax > 0 ? (100 * asset.w) / asset.wMax : 0);
    return Math.abs(pct / 100) * asset.varBase(reference, pct);
  };
  return {
    functions: curveOn('watt_var', { points }, { values: { 'Crv.DeptRef': deptRef(reference) } }),
    contest: { group: 'reactive', magnitude },
  };
}

function voltWatt(_link: unknown, { control }: WishContext): ModeWish | Refusal {
  const read = readCurve('opModVoltWatt', control);
  if (isRefusal(read)) return read;
  const { points, curve } = read;
  const reference = { 1: 'W_MAX_PCT', 7: 'W_AVAL_PCT' }[integerOf(curve.yRefType) ?? 0];
  if (reference === undefined) return badReference(curve.yRefType);
  const settings = {
    values: { 'Crv.DeptRef': reference },
    ifPresent: { 'Crv.RspTms': scaledOf(curve.openLoopTms, -2) },
  };
  return { functions: curveOn('volt_watt', { points }, settings) };
}

/** A ride-through curve. Documents have the duration as x and the threshold as y, the models the other way round. */
function rideThrough<Mode extends CurveMode>(mode: Mode, name: TripName, region: TripRegion): ModeRow<Mode> {
  return {
    uses: name,
    supported: (asset) => asset.has(name) && asset.hasCurve(name, region),
    wish: (_link, { control }) => {
      const read = readCurve(mode, control);
      if (isRefusal(read)) return read;
      return { functions: curveOn(name, { region, points: read.points.map(({ x, y }) => ({ x: y, y: x })) }) };
    },
  };
}

/** The modes that act on a device. Limits at the connection point are in `site-limits.ts`. */
export const modeRows: Rows = {
  opModConnect: { supported: () => true, wish: (closed) => ({ functions: [], switchClosed: closed }) },
  opModEnergize: {
    supported: (asset) => asset.has('enter_service'),
    wish: (permitted) => ({ functions: [{ name: 'enter_service', on: permitted }] }),
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

/** True if a device can carry out a mode. */
export function supportsMode(mode: ModeName, asset: Asset, revision: Revision): boolean {
  const row = modeRows[mode];
  if (!row || (row.since === '2023' && revision !== '2023')) return false;
  return row.supported?.(asset) ?? (row.uses !== undefined && asset.has(row.uses));
}

/** The wish of a mode with this value for a device. */
export function wishOf<Mode extends ModeName>(
  mode: Mode,
  value: Received<DERControlBase>[Mode],
  context: WishContext,
): Wish | Refusal {
  const row: ModeRow<Mode> | undefined = modeRows[mode];
  const { asset, revision } = context;
  const unread = unreadIn(mode, context.control.base);
  if (unread) return unread;
  if (!row || value === undefined || !supportsMode(mode, asset, revision)) {
    return unsupported('the device has no function for this mode');
  }
  const wish = row.wish(value, context);
  if (isRefusal(wish)) return wish;
  const { functions, ...rest } = wish;
  const points = asset.place(functions);
  return isRefusal(points) ? points : { ...rest, points };
}

/** Duration of the ramp after entering service, s, from a slope in hundredths of a percent per second; 0: no limit. */
function softRampS(setSoftGradW: unknown): number | null {
  const pctPerS = scaledOf(setSoftGradW, -2);
  if (pctPerS === null || pctPerS < 0) return null;
  return pctPerS === 0 ? 0 : 100 / pctPerS;
}

/** The members of a default control beside its modes; `setESRampTms` prevails over its equivalent `setSoftGradW`. */
export function settingsWish(settings: NonNullable<ResolvedControl['settings']>): FunctionWish {
  return {
    name: 'enter_service',
    ifPresent: {
      ESDlyTms: scaledOf(settings.setESDelay, -2),
      ESRndTms: scaledOf(settings.setESRandomDelay, -2),
      ESRmpTms: scaledOf(settings.setESRampTms, -2) ?? softRampS(settings.setSoftGradW),
      ESHzHi: scaledOf(settings.setESHighFreq, -2),
      ESHzLo: scaledOf(settings.setESLowFreq, -2),
      ESVHi: scaledOf(settings.setESHighVolt, -2),
      ESVLo: scaledOf(settings.setESLowVolt, -2),
    },
  };
}
