/** DER controls as wishes for grid-support functions: one row for each type that the physics has. */
import { gradientRange } from '../../../contract/device.ts';
import type { CurveFunction, FunctionName, TripName } from '../../../sunspec/map/grid-support/functions.ts';
import type { FunctionWish, TripRegion, WishedValues, XY } from '../../../sunspec/map/grid-support/wish.ts';
import type { DerFacts, DerSettings } from '../../station/port.ts';
import type { DERCurve, DERUnitEnum } from '../messages.ts';
import { isRefusal, notSupported, rejected } from './model.ts';
import type { DerBody, DERControlEnum, DerMember, DerRefusal } from './model.ts';

/** The effects of a control. */
interface DerWish {
  readonly functions: readonly FunctionWish[];
  readonly slopeWPctPerS?: number;
}

type Result = DerWish | DerRefusal;
type BodyOf<Member extends DerMember> = Extract<DerBody, { readonly member: Member }>;

/** A type of control that acts on a station. */
export interface DerTarget {
  /** absent: every station supports the type */
  readonly uses?: FunctionName;
  /** the curve of a trip function that the station must have */
  readonly curve?: readonly [name: TripName, region: TripRegion];
  readonly translate: (body: DerBody, facts: DerFacts) => Result;
}

function row<Member extends DerMember>(
  member: Member,
  target: Omit<DerTarget, 'translate'>,
  translate: (body: BodyOf<Member>, facts: DerFacts) => Result,
): DerTarget {
  return {
    ...target,
    translate: (body, facts) =>
      isOf(member, body) ? translate(body, facts) : rejected(`the control needs ${member}`, 'MissingParam'),
  };
}

function isOf<Member extends DerMember>(member: Member, body: DerBody): body is BodyOf<Member> {
  return body.member === member;
}

/** A function that is on with these values. */
const on = (name: FunctionName, values: WishedValues): DerWish => ({ functions: [{ name, on: true, values }] });

// Voltages of DER controls have no unit in the standard: percent of nominal, per unit, or volts.

/** Voltages below this are per unit. */
const perUnitBelow = 2;
/** Voltages above this are in volts. */
const voltsAbove = 200;
/** Range of voltages in volts, percent of 702.VNom. */
const voltsPct = { min: 50, max: 150 } as const;

/** A voltage as percent of 702.VNom: below 2 per unit, above 200 volts near nominal, else percent. */
export function voltagePct(value: number, facts: Pick<DerFacts, 'number'>): number | DerRefusal {
  if (value < perUnitBelow) return rounded(value * 100);
  if (value <= voltsAbove) return value;
  const nominalV = facts.number(702, 'VNom') ?? 0;
  const pct = nominalV > 0 ? (100 * value) / nominalV : Infinity;
  if (pct >= voltsPct.min && pct <= voltsPct.max) return rounded(pct);
  return rejected(
    `${value} is no voltage: percent of nominal, per unit below ${perUnitBelow}, ` +
      `or volts of ${voltsPct.min} to ${voltsPct.max} % of ${nominalV} V`,
    'ValueOutOfRange',
  );
}

/** Rounds to 9 decimals, which removes errors of binary fractions. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

/** The points of a curve with voltages on its x axis as percent. */
function voltageCurve({ curveData }: DERCurve, facts: DerFacts): readonly XY[] | DerRefusal {
  const curve: XY[] = [];
  for (const { x, y } of curveData) {
    const pct = voltagePct(x, facts);
    if (typeof pct !== 'number') return pct;
    curve.push({ x: pct, y });
  }
  return curve;
}

/** An enabled curve, with `ifPresent` values for the points that the station has. */
function curveOn(
  name: CurveFunction,
  curve: Omit<NonNullable<FunctionWish['curve']>, 'inAnyOrder'>,
  ifPresent: WishedValues = {},
): DerWish {
  return { functions: [{ name, on: true, curve: { ...curve, inAnyOrder: true }, ifPresent }] };
}

/** Reference of a percentage of reactive power, as a symbol of the curve models. */
const varDeptRefs: Readonly<Partial<Record<DERUnitEnum, string>>> = {
  PctMaxVar: 'VAR_MAX_PCT',
  PctVarAvail: 'VAR_AVAL_PCT',
};

function voltVar({ value: curve }: BodyOf<'curve'>, facts: DerFacts): Result {
  const points = voltageCurve(curve, facts);
  if (isRefusal(points)) return points;
  const { vRef, autonomousVRefEnable, autonomousVRefTimeConstant: timeS } = curve.reactivePowerParams ?? {};
  const autonomous = autonomousVRefEnable ?? false;
  const reference = { pct: vRef ?? 100, autonomous, ...(timeS !== undefined && { timeS }) };
  return curveOn(
    'volt_var',
    { points, reference },
    {
      'Crv.DeptRef': varDeptRefs[curve.yUnit],
      'Crv.RspTms': curve.responseTime,
    },
  );
}

function voltWatt({ value: curve }: BodyOf<'curve'>, facts: DerFacts): Result {
  const points = voltageCurve(curve, facts);
  if (isRefusal(points)) return points;
  return curveOn(
    'volt_watt',
    { points },
    {
      'Crv.DeptRef': curve.yUnit === 'PctWAvail' ? 'W_AVAL_PCT' : 'W_MAX_PCT',
      'Crv.RspTms': curve.responseTime,
    },
  );
}

function wattVar({ value: { curveData, yUnit } }: BodyOf<'curve'>): Result {
  return curveOn('watt_var', { points: curveData }, { 'Crv.DeptRef': varDeptRefs[yUnit] });
}

/** A curve of a trip function: x is the threshold, as in SunSpec, and y the time. */
function rideThrough(name: TripName, region: TripRegion): DerTarget {
  const isVoltage = name === 'lv_trip' || name === 'hv_trip';
  return row('curve', { uses: name, curve: [name, region] }, ({ value: curve }, facts) => {
    const points = isVoltage ? voltageCurve(curve, facts) : curve.curveData;
    return isRefusal(points) ? points : curveOn(name, { points, region });
  });
}

function powerFactor(direction: 'inject' | 'absorb'): DerTarget {
  const [member, group, name] =
    direction === 'inject'
      ? (['fixedPFInject', 'PFWInj', 'pf_inject'] as const)
      : (['fixedPFAbsorb', 'PFWAbs', 'pf_absorb'] as const);
  return row<'fixedPFInject' | 'fixedPFAbsorb'>(member, { uses: name }, ({ value: { displacement, excitation } }) => {
    if (!(displacement > 0 && displacement <= 1)) return rejected('displacement: above 0, up to 1', 'ValueOutOfRange');
    return on(name, {
      [`${group}.PF` as const]: displacement,
      [`${group}.Ext` as const]: excitation ? 'UNDER_EXCITED' : 'OVER_EXCITED',
    });
  });
}

const varSetModes: Readonly<Partial<Record<DERUnitEnum, string>>> = {
  PctMaxW: 'W_MAX_PCT',
  PctMaxVar: 'VAR_MAX_PCT',
  PctVarAvail: 'VAR_AVAIL_PCT',
};

const fixedVar = row('fixedVar', { uses: 'constant_var' }, ({ value: { setpoint, unit } }) => {
  const mode = varSetModes[unit];
  if (mode === undefined) return rejected(`unit: allowed: ${Object.keys(varSetModes).join(', ')}`);
  if (Math.abs(setpoint) > 100) return rejected('setpoint: -100 to 100 percent', 'ValueOutOfRange');
  return on('constant_var', { VarSetMod: mode, VarSetPct: setpoint });
});

const limitMaxDischarge = row(
  'limitMaxDischarge',
  { uses: 'max_power' },
  ({ value: { pctMaxDischargePower: pct, powerMonitoringMustTrip } }) => {
    if (powerMonitoringMustTrip !== undefined)
      return notSupported('the station does not trip by powerMonitoringMustTrip');
    if (pct === undefined) return rejected('LimitMaxDischarge needs pctMaxDischargePower', 'MissingParam');
    if (!(pct >= 0 && pct <= 100)) return rejected('pctMaxDischargePower: 0 to 100 percent', 'ValueOutOfRange');
    return on('max_power', { WMaxLimPct: pct });
  },
);

const freqDroop = row('freqDroop', { uses: 'freq_droop' }, ({ value: droop }, { nominalHz }) => {
  const { overFreq, underFreq, overDroop, underDroop, responseTime } = droop;
  if (overFreq < nominalHz || underFreq > nominalHz)
    return rejected(`overFreq must not be below ${nominalHz} Hz, and underFreq not above it`, 'ValueOutOfRange');
  const hz = (difference: number) => Math.round(difference * 1e6) / 1e6;
  return on('freq_droop', {
    'Ctl.DbOf': hz(overFreq - nominalHz),
    'Ctl.DbUf': hz(nominalHz - underFreq),
    'Ctl.KOf': overDroop,
    'Ctl.KUf': underDroop,
    'Ctl.RspTms': responseTime,
  });
});

const enterService = row('enterService', {}, ({ value }, facts) => {
  const [vHi, vLo] = [voltagePct(value.highVoltage, facts), voltagePct(value.lowVoltage, facts)];
  if (typeof vHi !== 'number') return vHi;
  if (typeof vLo !== 'number') return vLo;
  const { highFreq, lowFreq, delay, randomDelay, rampRate } = value;
  const values = { ESVHi: vHi, ESVLo: vLo, ESHzHi: highFreq, ESHzLo: lowFreq };
  const ifPresent = { ESDlyTms: delay, ESRndTms: randomDelay, ESRmpTms: rampRate };
  return { functions: [{ name: 'enter_service', on: true, values, ifPresent }] };
});

/** Gradients are seconds for the full range; 0 changes nothing. */
const gradients = row('gradient', {}, ({ value: { gradient, softGradient } }) => {
  if (gradient < 0 || softGradient < 0)
    return rejected('gradient and softGradient must not be negative', 'ValueTooLow');
  const maxS = 100 / gradientRange.min;
  if (gradient > maxS) return rejected(`gradient: up to ${maxS} s`, 'ValueTooHigh');
  return {
    functions: softGradient > 0 ? [{ name: 'enter_service', ifPresent: { ESRmpTms: softGradient } }] : [],
    ...(gradient > 0 && { slopeWPctPerS: Math.min(gradientRange.max, 100 / gradient) }),
  };
});

/** The types that act on a station. FreqWatt, WattPF and PowerMonitoringMustTrip have no physics. */
export const derTargets: Readonly<Partial<Record<DERControlEnum, DerTarget>>> = {
  EnterService: enterService,
  FreqDroop: freqDroop,
  FixedPFAbsorb: powerFactor('absorb'),
  FixedPFInject: powerFactor('inject'),
  FixedVar: fixedVar,
  Gradients: gradients,
  HFMustTrip: rideThrough('hf_trip', 'MustTrip'),
  HFMayTrip: rideThrough('hf_trip', 'MayTrip'),
  HVMustTrip: rideThrough('hv_trip', 'MustTrip'),
  HVMomCess: rideThrough('hv_trip', 'MomCess'),
  HVMayTrip: rideThrough('hv_trip', 'MayTrip'),
  LimitMaxDischarge: limitMaxDischarge,
  LFMustTrip: rideThrough('lf_trip', 'MustTrip'),
  LVMustTrip: rideThrough('lv_trip', 'MustTrip'),
  LVMomCess: rideThrough('lv_trip', 'MomCess'),
  LVMayTrip: rideThrough('lv_trip', 'MayTrip'),
  VoltVar: row('curve', { uses: 'volt_var' }, voltVar),
  VoltWatt: row('curve', { uses: 'volt_watt' }, voltWatt),
  WattVar: row('curve', { uses: 'watt_var' }, wattVar),
};

/** ModesSupported: the types that a station carries out. */
export function supportedTypes(facts: Pick<DerFacts, 'has' | 'hasCurve'>): readonly DERControlEnum[] {
  const isSupported = ({ uses, curve }: DerTarget) =>
    (uses === undefined || facts.has(uses)) && (curve === undefined || facts.hasCurve(...curve));
  return Object.entries(derTargets).flatMap(([type, target]) => (isSupported(target) ? [type as DERControlEnum] : []));
}

/** A control as settings of a station. */
export function translate(type: DERControlEnum, body: DerBody, facts: DerFacts): DerSettings | DerRefusal {
  const wish = derTargets[type]?.translate(body, facts) ?? notSupported(`the station has no function for ${type}`);
  if (isRefusal(wish)) return wish;
  const { functions, ...slope } = wish;
  const points = facts.place(functions);
  if (!('refused' in points)) return { points, ...slope };
  if (points.reason === 'too_many_points') return rejected(points.detail, 'TooManyElements');
  return points.refused === 'unsupported' ? notSupported(points.detail) : rejected(points.detail);
}
