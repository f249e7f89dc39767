/** DER controls as points of the SunSpec models 703 to 712: one row for each type that the physics has. */
import { isRideThrough, outwards, tripModels } from '../../../contract/ride-through-curve.ts';
import type { TripName, XY } from '../../../contract/ride-through-curve.ts';
import { gradientRange } from '../../../contract/gradient.ts';
import type { FunctionName } from '../../../sunspec/map/functions.ts';
import type { DerFacts, DerPoint, DerSettings } from '../../station/der-port.ts';
import type { DERCurve, DERUnitEnum } from '../messages.ts';
import { isRefusal, notSupported, rejected } from './model.ts';
import type { DerBody, DERControlEnum, DerMember, DerRefusal } from './model.ts';
import { voltagePct } from './units.ts';

type Result = DerSettings | DerRefusal;
type BodyOf<Member extends DerMember> = Extract<DerBody, { readonly member: Member }>;

/** The points that a type of control writes. */
export interface DerTarget {
  /** absent: the station has the function always */
  readonly uses?: FunctionName;
  /** a point beside the function that the station must have */
  readonly needs?: readonly [model: number, path: string];
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

type Values = Readonly<Record<string, number | string | undefined>>;

/** Points of a model; absent values are left out. */
function points(model: number, values: Values): readonly DerPoint[] {
  return Object.entries(values).flatMap(([path, value]) => (value === undefined ? [] : [{ model, path, value }]));
}

/** The same without the points that the station does not have. */
function optional(facts: DerFacts, model: number, values: Values): readonly DerPoint[] {
  return points(model, values).filter(({ path }) => facts.hasPoint(model, path));
}

/** Voltages by name of their points; the first that is none refuses. */
function voltages(values: Readonly<Record<string, number>>, facts: DerFacts): Values | DerRefusal {
  const all: Record<string, number> = {};
  for (const [path, value] of Object.entries(values)) {
    const pct = voltagePct(value, facts);
    if (typeof pct !== 'number') return pct;
    all[path] = pct;
  }
  return all;
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

interface CurvePlace {
  readonly model: number;
  readonly at: string;
  /** points of x and y */
  readonly axes: readonly [x: string, y: string];
}

const setOne = 'Crv[0]';

/** A curve as set 1 of a model, enabled. */
function curvePoints(
  curve: readonly XY[],
  { model, at, axes }: CurvePlace,
  facts: DerFacts,
): readonly DerPoint[] | DerRefusal {
  const max = facts.number(model, 'NPt') ?? 0;
  if (curve.length > max)
    return rejected(`the curve has ${curve.length} points, and the station takes ${max}`, 'TooManyElements');
  const coordinates = curve.flatMap(({ x, y }, i) => [
    [`${at}.Pt[${i}].${axes[0]}`, x] as const,
    [`${at}.Pt[${i}].${axes[1]}`, y] as const,
  ]);
  return points(model, { Ena: 'ENABLED', ...Object.fromEntries(coordinates), [`${at}.ActPt`]: curve.length });
}

const byX = (curve: readonly XY[]) => [...curve].sort((a, b) => a.x - b.x);

/** What a percentage of reactive power refers to, in the words of the curve models. */
const varDeptRefs: Readonly<Partial<Record<DERUnitEnum, string>>> = {
  PctMaxVar: 'VAR_MAX_PCT',
  PctVarAvail: 'VAR_AVAL_PCT',
};

function voltVar({ value: curve }: BodyOf<'curve'>, facts: DerFacts): Result {
  const read = voltageCurve(curve, facts);
  if (isRefusal(read)) return read;
  const {
    vRef = 100,
    autonomousVRefEnable: auto = false,
    autonomousVRefTimeConstant: autoS,
  } = curve.reactivePowerParams ?? {};
  if (auto && !facts.hasPoint(705, `${setOne}.VRefAutoEna`))
    return notSupported('the station finds no reference voltage by itself');
  // vRef multiplies x, and the device shifts its curve to the reference: the points lie where the control has them
  const shifted = byX(read).map(({ x, y }) => ({ x: (x * vRef) / 100 + 100 - vRef, y }));
  const set = curvePoints(shifted, { model: 705, at: setOne, axes: ['V', 'Var'] }, facts);
  if (isRefusal(set)) return set;
  const settings = optional(facts, 705, {
    [`${setOne}.DeptRef`]: varDeptRefs[curve.yUnit],
    [`${setOne}.VRef`]: vRef,
    [`${setOne}.VRefAutoEna`]: auto ? 'ENABLED' : 'DISABLED',
    [`${setOne}.VRefAutoTms`]: auto ? autoS : undefined,
    [`${setOne}.RspTms`]: curve.responseTime,
  });
  return { points: [...set, ...settings] };
}

function voltWatt({ value: curve }: BodyOf<'curve'>, facts: DerFacts): Result {
  const read = voltageCurve(curve, facts);
  if (isRefusal(read)) return read;
  const set = curvePoints(byX(read), { model: 706, at: setOne, axes: ['V', 'W'] }, facts);
  if (isRefusal(set)) return set;
  const settings = optional(facts, 706, {
    [`${setOne}.DeptRef`]: curve.yUnit === 'PctWAvail' ? 'W_AVAL_PCT' : 'W_MAX_PCT',
    [`${setOne}.RspTms`]: curve.responseTime,
  });
  return { points: [...set, ...settings] };
}

function wattVar({ value: curve }: BodyOf<'curve'>, facts: DerFacts): Result {
  const set = curvePoints(byX(curve.curveData), { model: 712, at: setOne, axes: ['W', 'Var'] }, facts);
  if (isRefusal(set)) return set;
  return { points: [...set, ...optional(facts, 712, { [`${setOne}.DeptRef`]: varDeptRefs[curve.yUnit] })] };
}

/** A curve of a trip function. In OCPP x is the threshold and y the time; in SunSpec it is the other way round. */
function rideThrough(name: TripName, region: 'MayTrip' | 'MustTrip' | 'MomCess'): DerTarget {
  const { model, y, side } = tripModels[name];
  const at = `${setOne}.${region}`;
  return row('curve', { uses: name, needs: [model, `${at}.ActPt`] }, ({ value: curve }, facts) => {
    const read = y === 'V' ? voltageCurve(curve, facts) : curve.curveData;
    if (isRefusal(read)) return read;
    const turned = outwards(
      read.map((point) => ({ x: point.y, y: point.x })),
      side,
    );
    if (!isRideThrough(turned, side)) return rejected('the thresholds of the curve turn back over time');
    const set = curvePoints(turned, { model, at, axes: ['Tms', y] }, facts);
    return isRefusal(set) ? set : { points: set };
  });
}

function powerFactor(direction: 'inject' | 'absorb'): DerTarget {
  const [member, group, name] =
    direction === 'inject'
      ? (['fixedPFInject', 'PFWInj', 'pf_inject'] as const)
      : (['fixedPFAbsorb', 'PFWAbs', 'pf_absorb'] as const);
  return row<'fixedPFInject' | 'fixedPFAbsorb'>(member, { uses: name }, ({ value: { displacement, excitation } }) => {
    if (!(displacement > 0 && displacement <= 1)) return rejected('displacement: above 0, up to 1', 'ValueOutOfRange');
    return {
      points: points(704, {
        [`${group}Ena`]: 'ENABLED',
        [`${group}.PF`]: displacement,
        [`${group}.Ext`]: excitation ? 'UNDER_EXCITED' : 'OVER_EXCITED',
      }),
    };
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
  return { points: points(704, { VarSetEna: 'ENABLED', VarSetMod: mode, VarSetPct: setpoint }) };
});

const limitMaxDischarge = row(
  'limitMaxDischarge',
  { uses: 'max_power' },
  ({ value: { pctMaxDischargePower: pct, powerMonitoringMustTrip } }) => {
    if (powerMonitoringMustTrip !== undefined)
      return notSupported('the station does not trip by powerMonitoringMustTrip');
    if (pct === undefined) return rejected('LimitMaxDischarge needs pctMaxDischargePower', 'MissingParam');
    if (!(pct >= 0 && pct <= 100)) return rejected('pctMaxDischargePower: 0 to 100 percent', 'ValueOutOfRange');
    return { points: points(704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: pct }) };
  },
);

const freqDroop = row('freqDroop', { uses: 'freq_droop' }, ({ value: droop }, { nominalHz }) => {
  const { overFreq, underFreq, overDroop, underDroop, responseTime } = droop;
  if (overFreq < nominalHz || underFreq > nominalHz)
    return rejected(`overFreq and underFreq lie on the two sides of ${nominalHz} Hz`, 'ValueOutOfRange');
  const hz = (difference: number) => Math.round(difference * 1e6) / 1e6;
  return {
    points: points(711, {
      Ena: 'ENABLED',
      'Ctl[0].DbOf': hz(overFreq - nominalHz),
      'Ctl[0].DbUf': hz(nominalHz - underFreq),
      'Ctl[0].KOf': overDroop,
      'Ctl[0].KUf': underDroop,
      'Ctl[0].RspTms': responseTime,
    }),
  };
});

const enterService = row('enterService', {}, ({ value }, facts) => {
  const limits = voltages({ ESVHi: value.highVoltage, ESVLo: value.lowVoltage }, facts);
  if (isRefusal(limits)) return limits;
  const { highFreq, lowFreq, delay, randomDelay, rampRate } = value;
  const settings = optional(facts, 703, { ESDlyTms: delay, ESRndTms: randomDelay, ESRmpTms: rampRate });
  return { points: [...points(703, { ES: 'ENABLED', ...limits, ESHzHi: highFreq, ESHzLo: lowFreq }), ...settings] };
});

/** Seconds over the full range; 0 sets nothing. */
const gradients = row('gradient', {}, ({ value: { gradient, softGradient } }, facts) => {
  if (gradient < 0 || softGradient < 0) return rejected('a gradient is a time in seconds', 'ValueTooLow');
  const longestS = 100 / gradientRange.min;
  if (gradient > longestS) return rejected(`gradient: up to ${longestS} s`, 'ValueTooHigh');
  return {
    points: softGradient > 0 ? optional(facts, 703, { ESRmpTms: softGradient }) : [],
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
export function supportedTypes(facts: Pick<DerFacts, 'has' | 'hasPoint'>): readonly DERControlEnum[] {
  const isSupported = ({ uses, needs }: DerTarget) =>
    (uses === undefined || facts.has(uses)) && (needs === undefined || facts.hasPoint(...needs));
  return Object.entries(derTargets).flatMap(([type, target]) => (isSupported(target) ? [type as DERControlEnum] : []));
}

/** What a control asks of a station. */
export function translate(type: DERControlEnum, body: DerBody, facts: DerFacts): Result {
  const target = derTargets[type];
  return target === undefined ? notSupported(`the station has no function for ${type}`) : target.translate(body, facts);
}
