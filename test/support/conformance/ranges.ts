/**
 * The declaration of a maker for the procedures: the range of every writable point, in engineering units. Bounds that
 * are points are read over the wire. Independent of the simulator's own rules.
 */
import type { DeviceMap, PlacedPoint } from './device-map.ts';
import { isAbsent, numberTypeOf } from './registers.ts';

/** A number, a point, or a negated point; a point that the device does not have is 0. */
type Bound = number | string;
type Declared = readonly [min: Bound, max: Bound];

const percent: Declared = [0, 100];
const bothWays: Declared = [-100, 100];
const seconds: Declared = [0, 4_294_967_294];
const shortSeconds: Declared = [0, 65_534];
const day: Declared = [0, 86_400];
const volts: Declared = [0, 200];
const setNumber: Declared = [1, 3];
const storedSet: Declared = [0, 3];
const activePoints: Declared = [0, 10];
const ramp: Declared = [1, 1000];

const trip = (id: number, quantity: 'V' | 'Hz'): Record<string, Declared> =>
  Object.fromEntries([
    [`${id}.AdptCrvReq`, setNumber],
    ...['MustTrip', 'MayTrip', 'MomCess'].flatMap((curve): [string, Declared][] => [
      [`${id}.Crv.${curve}.ActPt`, activePoints],
      [`${id}.Crv.${curve}.Pt.${quantity}`, quantity === 'V' ? volts : [0, 100]],
      [`${id}.Crv.${curve}.Pt.Tms`, [0, 3600]],
    ]),
  ]);

/** The models before the 700 series. */
const classic: Readonly<Record<string, Declared>> = {
  '121.WMax': [1, '120.WRtg'],
  // voltages of the profiles under test, which no classic model has
  '121.VRef': [240, 576],
  '121.VRefOfs': [0, 0],
  '121.VAMax': [1, '120.VARtg'],
  '121.VArMaxQ1': [0, '120.VArRtgQ1'],
  '121.VArMaxQ4': ['120.VArRtgQ4', 0],
  '121.WGra': ramp,
  '123.Conn_WinTms': shortSeconds,
  '123.Conn_RvrtTms': shortSeconds,
  '123.WMaxLimPct': percent,
  '123.WMaxLimPct_WinTms': shortSeconds,
  '123.WMaxLimPct_RvrtTms': shortSeconds,
  '123.WMaxLimPct_RmpTms': shortSeconds,
  '123.OutPFSet': ['120.PFRtgQ1', 1],
  '123.OutPFSet_WinTms': shortSeconds,
  '123.OutPFSet_RvrtTms': shortSeconds,
  '123.OutPFSet_RmpTms': shortSeconds,
  '123.VArWMaxPct': bothWays,
  '123.VArMaxPct': bothWays,
  '123.VArAvalPct': bothWays,
  '123.VArPct_WinTms': shortSeconds,
  '123.VArPct_RvrtTms': shortSeconds,
  '123.VArPct_RmpTms': shortSeconds,
  '124.WChaMax': [0, '120.MaxChaRte'],
  '124.WChaGra': ramp,
  '124.WDisChaGra': ramp,
  '124.StorCtl_Mod': [0, 3],
  '124.MinRsvPct': ['802.SoCMin', '802.SocRsvMax'],
  '124.OutWRte': bothWays,
  '124.InWRte': bothWays,
  '124.InOutWRte_WinTms': shortSeconds,
  '124.InOutWRte_RvrtTms': shortSeconds,
  '124.InOutWRte_RmpTms': shortSeconds,
};

const declared: Readonly<Record<string, Declared>> = {
  ...classic,
  '702.WMax': [1, '702.WMaxRtg'],
  '702.VAMax': [1, '702.VAMaxRtg'],
  '702.VarMaxInj': [0, '702.VarMaxInjRtg'],
  '702.VarMaxAbs': [0, '702.VarMaxAbsRtg'],
  '702.WChaRteMax': [0, '702.WChaRteMaxRtg'],
  '702.WDisChaRteMax': [0, '702.WDisChaRteMaxRtg'],
  '702.VADisChaRteMax': [0, '702.VADisChaRteMaxRtg'],
  '702.VNom': ['702.VMinRtg', '702.VMaxRtg'],
  '702.AMax': [0.01, '702.AMaxRtg'],
  '703.ESVHi': [100, 120],
  '703.ESVLo': [50, 100],
  '703.ESHzHi': [40, 70],
  '703.ESHzLo': [40, 70],
  '703.ESDlyTms': day,
  '703.ESRndTms': day,
  '703.ESRmpTms': day,
  '704.PFWInjRvrtTms': seconds,
  '704.PFWAbsRvrtTms': seconds,
  '704.WMaxLimPctRvrtTms': seconds,
  '704.WSetRvrtTms': seconds,
  '704.VarSetRvrtTms': seconds,
  '704.WMaxLimPct': percent,
  '704.WMaxLimPctRvrt': percent,
  '704.WSet': ['-702.WChaRteMax', '+W'],
  '704.WSetRvrt': ['-702.WChaRteMax', '+W'],
  '704.WSetPct': ['-%', '+%'],
  '704.WSetPctRvrt': ['-%', '+%'],
  '704.VarSet': ['-702.VarMaxAbs', '702.VarMaxInj'],
  '704.VarSetRvrt': ['-702.VarMaxAbs', '702.VarMaxInj'],
  '704.VarSetPct': bothWays,
  '704.VarSetPctRvrt': bothWays,
  '704.WRmp': ramp,
  '704.VarRmp': ramp,
  '704.PFWInj.PF': ['702.PFOvrExtRtg', 1],
  '704.PFWInjRvrt.PF': ['702.PFOvrExtRtg', 1],
  '704.PFWAbs.PF': ['702.PFOvrExtRtg', 1],
  '704.PFWAbsRvrt.PF': ['702.PFOvrExtRtg', 1],
  '705.AdptCrvReq': setNumber,
  '705.RvrtTms': seconds,
  '705.RvrtCrv': storedSet,
  '705.Crv.ActPt': activePoints,
  '705.Crv.VRef': [80, 120],
  '705.Crv.VRefAutoTms': [0, 5000],
  '705.Crv.RspTms': [0, 600],
  '705.Crv.Pt.V': volts,
  '705.Crv.Pt.Var': bothWays,
  '706.AdptCrvReq': setNumber,
  '706.RvrtTms': seconds,
  '706.RvrtCrv': storedSet,
  '706.Crv.ActPt': activePoints,
  '706.Crv.RspTms': [0, 600],
  '706.Crv.Pt.V': volts,
  '706.Crv.Pt.W': bothWays,
  ...trip(707, 'V'),
  ...trip(708, 'V'),
  ...trip(709, 'Hz'),
  ...trip(710, 'Hz'),
  '711.AdptCtlReq': setNumber,
  '711.RvrtTms': seconds,
  '711.RvrtCtl': storedSet,
  '711.Ctl.DbOf': [0, 5],
  '711.Ctl.DbUf': [0, 5],
  '711.Ctl.KOf': [0.001, 1],
  '711.Ctl.KUf': [0.001, 1],
  '711.Ctl.RspTms': [0, 600],
  '711.Ctl.PMin': bothWays,
  '712.AdptCrvReq': setNumber,
  '712.RvrtTms': seconds,
  '712.RvrtCrv': storedSet,
  '712.Crv.ActPt': activePoints,
  '712.Crv.Pt.W': bothWays,
  '712.Crv.Pt.Var': bothWays,
  '715.ControllerHb': seconds,
  '715.AlarmReset': [0, 1],
  '802.SocRsvMax': ['802.SoCRsvMin', '802.SoCMax'],
  '802.SoCRsvMin': ['802.SoCMin', '802.SocRsvMax'],
  '802.AlmRst': [0, 1],
};

/** Symbols that a device declares as not supported. */
export const unsupported: Readonly<Record<string, readonly string[]>> = {
  '802.SetInvState': ['INVERTER_STOPPED', 'INVERTER_STANDBY'],
};

/** Points that show one setting of the device: of a write of both the second one counts. */
export const otherNames: Readonly<Record<string, string>> = { '124.WDisChaGra': '124.WChaGra' };

/** Commands: a write executes them, and they read 0 again at once. */
export const selfClearing: ReadonlySet<string> = new Set(['715.AlarmReset', '802.AlmRst']);

async function bound(map: DeviceMap, value: Bound): Promise<number> {
  if (typeof value === 'number') return value;
  // the deepest charge in percent of WMax
  if (value === '-%')
    return Math.max(-100, (-100 * (await bound(map, '702.WChaRteMax'))) / (await map.number('702.WMax')));
  // a device with a rated discharge of 0 only takes power
  if (value.startsWith('+') && (await map.value('702.WDisChaRteMaxRtg')) === 0) return 0;
  if (value === '+W') return map.number('702.WMax');
  if (value === '+%') return 100;
  const negative = value.startsWith('-');
  const found = await map.value(negative ? value.slice(1) : value);
  return (negative ? -1 : 1) * (typeof found === 'number' ? found : 0);
}

/** Minimum and maximum number in the register of a point. */
async function rawRange(map: DeviceMap, point: PlacedPoint): Promise<readonly [low: number, high: number]> {
  const range = declared[point.plainName];
  if (range === undefined) throw new Error(`no range is declared for ${point.plainName}`);
  const step = 10 ** (await map.exponent(point));
  return [
    Math.ceil((await bound(map, range[0])) / step - 1e-6),
    Math.floor((await bound(map, range[1])) / step + 1e-6),
  ];
}

const adjustableOf = new WeakMap<DeviceMap, Promise<readonly PlacedPoint[]>>();

/** Every writable point, except set 1 of a curve model and 1.DA, which has its own procedure. */
export function adjustablePoints(map: DeviceMap): Promise<readonly PlacedPoint[]> {
  let points = adjustableOf.get(map);
  if (!points) {
    points = askAdjustablePoints(map);
    adjustableOf.set(map, points);
  }
  return points;
}

async function askAdjustablePoints(map: DeviceMap): Promise<PlacedPoint[]> {
  const candidates = map.models
    .flatMap(({ points }) => points)
    .filter(({ def, path, name }) => def.writable && !/^(Crv|Ctl)\[0\]/.test(path) && name !== '1.DA');
  const adjustable: PlacedPoint[] = [];
  for (const point of candidates) {
    // unused points of stored curves are adjustable although they are not implemented
    if (point.path.includes('.Pt[') || !isAbsent(point.def, await map.words(point))) adjustable.push(point);
  }
  return adjustable;
}

/** Raw values of minimum, maximum and three between; all values if there are fewer than five. */
export async function rawValues(map: DeviceMap, point: PlacedPoint): Promise<number[]> {
  const { def, plainName } = point;
  if (def.symbols && def.type.startsWith('enum')) {
    return Object.entries(def.symbols)
      .filter(([symbol]) => unsupported[plainName]?.includes(symbol) !== true)
      .map(([, number]) => number);
  }
  const [low, high] = await rawRange(map, point);
  if (high - low < 4) return Array.from({ length: high - low + 1 }, (_, i) => low + i);
  return [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(low + share * (high - low)));
}

/** Raw values that a point must refuse: just outside its range, or no symbol of its enumeration, and "not implemented". */
export async function rawWrongs(map: DeviceMap, point: PlacedPoint): Promise<number[]> {
  const { def } = point;
  const type = numberTypeOf(def);
  if (type === undefined) return [];
  const absent = point.path.includes('.Pt[') ? [] : [Number(type.absent)];
  if (def.symbols) return [Math.max(...Object.values(def.symbols)) + 1, type.max, ...absent];
  const [low, high] = await rawRange(map, point);
  return [...[low - 1, high + 1].filter((number) => number >= type.min && number <= type.max), ...absent];
}
