/**
 * Rules for the values of writable points, beyond the limits of their types. Data only: the bank applies the rules to
 * the candidate of every write of every protocol. The table of functions holds the modes that enable points need.
 */
import type { PathIn, PointPath } from './point-path.ts';

/** Text values of the source points of model 64414, which REST accepts too. */
export const gridSources = ['const', 'csv'] as const;
export const irradianceSources = ['const', 'csv', 'clear_sky'] as const;

/** A number, or the point (`702.WMaxRtg`, `-702.WChaRteMax` for its negative) whose candidate value is the bound. */
export type Bound = number | PointPath | `-${PointPath}`;

interface Range {
  readonly min?: Bound;
  readonly max?: Bound;
  /** 0 is allowed too, and means that the setting has no value */
  readonly orZero?: true;
}

/** Reads another point of the candidate; null when the device does not implement it. */
export type ReadPoint = (point: PointPath) => number | string | null;

/** A range, or a function that derives it from other points of the candidate. */
export type RangeRule = Range | ((read: ReadPoint) => Range);

/** Checks the keys of a table of rules at compile time; the table is read by names that come from a layout. */
type ByPoint<Rule> = Readonly<Partial<Record<PointPath, Rule>>>;

const percent: Range = { min: 0, max: 100 };
const signedPercent: Range = { min: -100, max: 100 };
const voltagePercent: Range = { min: 0, max: 200 };
const gridHz: Range = { min: 40, max: 70 };
/** From the rated power factor of the excitation that is set beside the point, to 1. */
const powerFactor =
  (group: 'PFWInj' | 'PFWInjRvrt' | 'PFWAbs' | 'PFWAbsRvrt'): RangeRule =>
  (read) => ({
    min: read(`704.${group}.Ext`) === 'UNDER_EXCITED' ? '702.PFUndExtRtg' : '702.PFOvrExtRtg',
    max: 1,
  });
/** False for a rated discharge of 0: the device only absorbs power, as a one-way charging station does. */
const deliversPower = (read: ReadPoint) => read('702.WDisChaRteMaxRtg') !== 0;
/** From the maximum power absorbed, which is negative, to the maximum power delivered. */
const setPoint: RangeRule = (read) => ({ min: '-702.WChaRteMax', max: deliversPower(read) ? '702.WMax' : 0 });
/** `setPoint` as percent of WMax. */
const setPointPercent: RangeRule = (read) => {
  const wMax = read('702.WMax');
  const charge = read('702.WChaRteMax');
  const minPct = typeof wMax === 'number' && typeof charge === 'number' && wMax > 0 ? (-100 * charge) / wMax : 0;
  return { min: Math.max(-100, minPct), max: deliversPower(read) ? 100 : 0 };
};
/** A power factor of either sign, with a magnitude from the rating of its side to 1. */
const signedPowerFactor: RangeRule = (read) => {
  const value = read('123.OutPFSet');
  const rated = (point: '702.PFOvrExtRtg' | '702.PFUndExtRtg') => Number(read(point) ?? 0);
  return typeof value === 'number' && value < 0
    ? { min: -1, max: -rated('702.PFUndExtRtg') }
    : { min: rated('702.PFOvrExtRtg'), max: 1 };
};
const dayS: Range = { min: 0, max: 86_400 };
const upTo = (max: Bound): Range => ({ min: 0, max });

const tripCurves = ['MustTrip', 'MayTrip', 'MomCess'] as const;
type Rows<Rule> = readonly (readonly [PointPath, Rule])[];
const byPoint = <Rule>(rows: Rows<Rule>): ByPoint<Rule> => Object.fromEntries(rows);

/** Trip curves: percent of VNom or hertz, and a clearing time. */
const voltageTrip = (id: 707 | 708): ByPoint<Range> =>
  byPoint<Range>(
    tripCurves.flatMap(
      (curve): Rows<Range> => [
        [`${id}.Crv.${curve}.Pt.V`, voltagePercent],
        [`${id}.Crv.${curve}.Pt.Tms`, upTo(3600)],
        [`${id}.Crv.${curve}.ActPt`, upTo(`${id}.NPt`)],
      ],
    ),
  );
const frequencyTrip = (id: 709 | 710): ByPoint<Range> =>
  byPoint<Range>(
    tripCurves.flatMap(
      (curve): Rows<Range> => [
        // 0 marks a point that is not in use
        [`${id}.Crv.${curve}.Pt.Hz`, upTo(100)],
        [`${id}.Crv.${curve}.Pt.Tms`, upTo(3600)],
        [`${id}.Crv.${curve}.ActPt`, upTo(`${id}.NPt`)],
      ],
    ),
  );

/**
 * Ranges by model and plain path (no set or point numbers). The classic models have the ranges of the current
 * points that show the same settings, so that a write passes in both or in neither.
 */
export const ranges: Readonly<Record<string, RangeRule>> = {
  '1.DA': { min: 1, max: 247 },
  '121.WMax': { min: 1, max: '702.WMaxRtg' },
  '121.VRef': { min: '702.VMinRtg', max: '702.VMaxRtg' },
  // the device measures at its connection point: there is no offset
  '121.VRefOfs': { min: 0, max: 0 },
  '121.VAMax': { min: 1, max: '702.VAMaxRtg' },
  '121.VArMaxQ1': upTo('702.VarMaxInjRtg'),
  '121.VArMaxQ4': { min: '-702.VarMaxAbsRtg', max: 0 },
  '121.WGra': { min: 1, max: 1000 },
  '123.WMaxLimPct': percent,
  '123.OutPFSet': signedPowerFactor,
  '123.VArWMaxPct': signedPercent,
  '123.VArMaxPct': signedPercent,
  '123.VArAvalPct': signedPercent,
  // a device that does not charge from the grid has no setting for it
  '124.WChaMax': (read) =>
    read('702.WChaRteMax') === null ? { min: '802.WChaRteMax', max: '802.WChaRteMax' } : upTo('702.WChaRteMaxRtg'),
  '124.WChaGra': { min: 1, max: 1000 },
  '124.WDisChaGra': { min: 1, max: 1000 },
  '124.MinRsvPct': { min: '802.SoCMin', max: '802.SocRsvMax' },
  '124.OutWRte': signedPercent,
  '124.InWRte': signedPercent,
  // a setting of zero would make the percentages that refer to it meaningless
  '702.WMax': { min: 1, max: '702.WMaxRtg' },
  '702.WMaxOvrExt': upTo('702.WOvrExtRtg'),
  '702.WOvrExtPF': { min: '702.WOvrExtRtgPF', max: 1 },
  '702.WMaxUndExt': upTo('702.WUndExtRtg'),
  '702.WUndExtPF': { min: '702.WUndExtRtgPF', max: 1 },
  '702.VAMax': { min: 1, max: '702.VAMaxRtg' },
  '702.VarMaxInj': upTo('702.VarMaxInjRtg'),
  '702.VarMaxAbs': upTo('702.VarMaxAbsRtg'),
  '702.WChaRteMax': upTo('702.WChaRteMaxRtg'),
  '702.WDisChaRteMax': upTo('702.WDisChaRteMaxRtg'),
  '702.VAChaRteMax': upTo('702.VAChaRteMaxRtg'),
  '702.VADisChaRteMax': upTo('702.VADisChaRteMaxRtg'),
  '702.VNom': { min: '702.VMinRtg', max: '702.VMaxRtg' },
  '702.VMax': { min: '702.VNom', max: '702.VMaxRtg' },
  '702.VMin': { min: '702.VMinRtg', max: '702.VNom' },
  '702.AMax': { min: 0.01, max: '702.AMaxRtg' },
  '702.PFOvrExt': { min: '702.PFOvrExtRtg', max: 1 },
  '702.PFUndExt': { min: '702.PFUndExtRtg', max: 1 },
  // wider than the adjustable ranges of IEEE 1547-2018 Table 4, so that other regions' settings fit
  '703.ESVHi': { min: 100, max: 120 },
  '703.ESVLo': { min: 50, max: 100 },
  '703.ESHzHi': gridHz,
  '703.ESHzLo': gridHz,
  '703.ESDlyTms': dayS,
  '703.ESRndTms': dayS,
  '703.ESRmpTms': dayS,
  '704.WMaxLimPct': percent,
  '704.WMaxLimPctRvrt': percent,
  '704.WSet': setPoint,
  '704.WSetRvrt': setPoint,
  '704.WSetPct': setPointPercent,
  '704.WSetPctRvrt': setPointPercent,
  '704.VarSet': { min: '-702.VarMaxAbs', max: '702.VarMaxInj' },
  '704.VarSetRvrt': { min: '-702.VarMaxAbs', max: '702.VarMaxInj' },
  '704.VarSetPct': signedPercent,
  '704.VarSetPctRvrt': signedPercent,
  '704.WRmp': { min: 1, max: 1000 },
  '704.VarRmp': { min: 1, max: 1000 },
  '704.PFWInj.PF': powerFactor('PFWInj'),
  '704.PFWInjRvrt.PF': powerFactor('PFWInjRvrt'),
  '704.PFWAbs.PF': powerFactor('PFWAbs'),
  '704.PFWAbsRvrt.PF': powerFactor('PFWAbsRvrt'),
  '705.AdptCrvReq': { min: 1, max: '705.NCrv' },
  '705.RvrtCrv': upTo('705.NCrv'),
  '705.Crv.ActPt': upTo('705.NPt'),
  // an adjustment in SunSpec's terms: 0 means none; clients write 0 for a curve without a reference
  '705.Crv.VRef': { min: 80, max: 120, orZero: true },
  '705.Crv.VRefAutoTms': upTo(5000),
  '705.Crv.RspTms': upTo(600),
  '705.Crv.Pt.V': voltagePercent,
  '705.Crv.Pt.Var': signedPercent,
  '706.AdptCrvReq': { min: 1, max: '706.NCrv' },
  '706.RvrtCrv': upTo('706.NCrv'),
  '706.Crv.ActPt': upTo('706.NPt'),
  '706.Crv.RspTms': upTo(600),
  '706.Crv.Pt.V': voltagePercent,
  '706.Crv.Pt.W': signedPercent,
  '707.AdptCrvReq': { min: 1, max: '707.NCrvSet' },
  ...voltageTrip(707),
  '708.AdptCrvReq': { min: 1, max: '708.NCrvSet' },
  ...voltageTrip(708),
  '709.AdptCrvReq': { min: 1, max: '709.NCrvSet' },
  ...frequencyTrip(709),
  '710.AdptCrvReq': { min: 1, max: '710.NCrvSet' },
  ...frequencyTrip(710),
  // in the definitions of 711 and 712 a 0 means no active set; a set is always active, so 0 is refused
  '711.AdptCtlReq': { min: 1, max: '711.NCtl' },
  '711.RvrtCtl': upTo('711.NCtl'),
  '711.Ctl.DbOf': upTo(5),
  '711.Ctl.DbUf': upTo(5),
  '711.Ctl.KOf': { min: 0.001, max: 1 },
  '711.Ctl.KUf': { min: 0.001, max: 1 },
  '711.Ctl.RspTms': upTo(600),
  '711.Ctl.PMin': signedPercent,
  '712.AdptCrvReq': { min: 1, max: '712.NCrv' },
  '712.RvrtCrv': upTo('712.NCrv'),
  '712.Crv.ActPt': upTo('712.NPt'),
  '712.Crv.Pt.W': signedPercent,
  '712.Crv.Pt.Var': signedPercent,
  '715.AlarmReset': upTo(1),
  '802.SoCRsvMin': { min: '802.SoCMin', max: '802.SocRsvMax' },
  '802.SocRsvMax': { min: '802.SoCRsvMin', max: '802.SoCMax' },
  '802.AlmRst': upTo(1),
  // the same range as the controls of REST
  '64414.Temperature': { min: -50, max: 90 },
  '64414.Irradiance': upTo(1500),
  '64414.GridVoltageA': upTo(2),
  '64414.GridVoltageB': upTo(2),
  '64414.GridVoltageC': upTo(2),
  '64414.GridFrequency': gridHz,
} satisfies ByPoint<RangeRule>;

/** Allowed words of points that hold text; a point without a row accepts any text. */
export const allowedWords: Readonly<Record<string, readonly string[]>> = {
  '64414.GridModelSource': gridSources,
  '64414.IrradianceModelSource': irradianceSources,
} satisfies ByPoint<readonly string[]>;

/** Words that end the effect of other points: a write with both would contradict itself. */
export const endingWords: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '64414.GridModelSource': { csv: ['GridVoltageA', 'GridVoltageB', 'GridVoltageC', 'GridFrequency'] },
  '64414.IrradianceModelSource': { csv: ['Irradiance', 'Temperature'], clear_sky: ['Irradiance'] },
} satisfies ByPoint<Readonly<Record<string, readonly PathIn<64414>[]>>>;

/** Ranges of points in force. The range of a stored point is wider: 0 marks a point that is not in use. */
export const inUseRanges: Readonly<Record<string, Range>> = byPoint<Range>(
  tripCurves.flatMap(
    (curve): Rows<Range> => [
      // a limit on the wrong side of nominal would act at once
      [`707.Crv.${curve}.Pt.V`, { min: 0, max: 100 }],
      [`708.Crv.${curve}.Pt.V`, { min: 100, max: 200 }],
      [`709.Crv.${curve}.Pt.Hz`, gridHz],
      [`710.Crv.${curve}.Pt.Hz`, gridHz],
    ],
  ),
);

interface OnlySymbol {
  readonly symbol: string;
  readonly reason: string;
}

/** Enumerations of which a device accepts only one symbol, and why. */
export const onlySymbol: Readonly<Record<string, OnlySymbol>> = {
  '802.SetInvState': { symbol: 'INVERTER_STARTED', reason: 'the battery sees the state of its own inverter' },
} satisfies ByPoint<OnlySymbol>;

/** Points whose range depends on another: a write of the key checks the value too. */
export const dependents: Readonly<Record<string, string>> = {
  '704.PFWInj.Ext': 'PFWInj.PF',
  '704.PFWInjRvrt.Ext': 'PFWInjRvrt.PF',
  '704.PFWAbs.Ext': 'PFWAbs.PF',
  '704.PFWAbsRvrt.Ext': 'PFWAbsRvrt.PF',
} satisfies ByPoint<PathIn<704>>;

/** Present bounds of a point: protocols show them as the range of a setting, and writes are checked against them. */
interface Bounds extends Pick<Range, 'orZero'> {
  readonly min?: number;
  readonly max?: number;
}

/**
 * An absent rating of a negative bound is 0: by SunSpec a device may omit ratings of abilities that it lacks, such as
 * 702.WChaRteMaxRtg of a device that cannot charge, so no negative value can be set. An absent rating of a positive
 * bound has no meaning, and the register alone is the limit.
 */
function boundOf(read: ReadPoint, bound: Bound | undefined): number | undefined {
  if (bound === undefined || typeof bound === 'number') return bound;
  const isNegative = bound.startsWith('-');
  const value = read((isNegative ? bound.slice(1) : bound) as PointPath);
  if (typeof value !== 'number') return isNegative ? 0 : undefined;
  return isNegative ? 0 - value : value;
}

/** The bounds of a rule. @param read reads the points on which the rule depends */
export function boundsOf(rule: RangeRule, read: ReadPoint): Bounds {
  const { min: low, max: high, orZero } = typeof rule === 'function' ? rule(read) : rule;
  const [min, max] = [boundOf(read, low), boundOf(read, high)];
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }), ...(orZero && { orZero }) };
}
