/**
 * Settings that a map with both generations shows twice: the two faces of each, and how one follows from the other.
 * Data only; `FaceKeeper` keeps them equal.
 *
 * Signs and shares are those of the classic models: power factors and reactive power have the sign of the quadrant as
 * generators see it (positive where a device that delivers power injects reactive power).
 */
import type { PointPath } from '../../sunspec/map/point-path.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { memoPerLayout } from '../../sunspec/map/layout.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';

/** Reads a point of the registers; null: the device does not have it. */
export type ReadPoint = (point: PointPath) => AnyPointValue;
type PointValues = readonly (readonly [PointPath, AnyPointValue])[];

/** The point of 123 with the window or the ramp time of several faces. */
type TimePoint = Extract<PointPath, `123.${string}_${'WinTms' | 'RmpTms'}`>;

/** A ramp to a new level. */
interface FaceRamp {
  readonly time: TimePoint;
  readonly power: 'w' | 'var';
  /** the setting in force, percent of the reference of gradients: 702.WMax, or the larger of VarMaxInj and VarMaxAbs */
  readonly levelPct: (read: ReadPoint) => number;
}

/** One setting with two faces. */
interface Face {
  readonly classic: readonly PointPath[];
  readonly current: readonly PointPath[];
  /** further points on which the classic values depend */
  readonly basis?: readonly PointPath[];
  readonly toCurrent: (read: ReadPoint) => PointValues;
  readonly toClassic: (read: ReadPoint) => PointValues;
  /** point with the maximum random delay between a write of the classic face and its effect, s */
  readonly window?: TimePoint;
  readonly ramp?: FaceRamp;
}

const uint16Max = 65_534;

const number = (value: AnyPointValue): number => (typeof value === 'number' ? value : 0);
const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(max, value));

/** Two points with the same values, limited to `max` on the classic side. */
function same(classic: PointPath, current: PointPath, times: Pick<Face, 'window' | 'ramp'> = {}, max = Infinity): Face {
  return {
    classic: [classic],
    current: [current],
    toCurrent: (read) => [[current, read(classic)]],
    toClassic(read) {
      const value = read(current);
      return [[classic, typeof value === 'number' ? Math.min(value, max) : value]];
    },
    ...times,
  };
}

/** A reversion time, s: 16 bits in the classic model, 32 in the current one. */
const reversion = (classic: PointPath, current: PointPath, window: TimePoint) =>
  same(classic, current, { window }, uint16Max);

/** The larger limit of reactive power, var: the reference of gradients. */
const varReach = (read: ReadPoint) => Math.max(number(read('702.VarMaxInj')), number(read('702.VarMaxAbs')), 1);

const limitRamp: FaceRamp = {
  time: '123.WMaxLimPct_RmpTms',
  power: 'w',
  levelPct: (read) => (read('704.WMaxLimPctEna') === 'ENABLED' ? number(read('704.WMaxLimPct')) : 100),
};
const limit: readonly Face[] = [
  same('123.WMaxLimPct', '704.WMaxLimPct', { window: '123.WMaxLimPct_WinTms', ramp: limitRamp }),
  same('123.WMaxLim_Ena', '704.WMaxLimPctEna', { window: '123.WMaxLimPct_WinTms', ramp: limitRamp }),
  reversion('123.WMaxLimPct_RvrtTms', '704.WMaxLimPctRvrtTms', '123.WMaxLimPct_WinTms'),
];

/** Reactive power at 702.WMax and the power factor of 704.PFWInj, var. */
function varsAt(read: ReadPoint): number {
  const pf = clamp(number(read('704.PFWInj.PF')), 0.01, 1);
  const side = read('704.PFWInj.Ext') === 'UNDER_EXCITED' ? -1 : 1;
  return side * number(read('702.WMax')) * Math.tan(Math.acos(pf));
}
const factorRamp: FaceRamp = {
  time: '123.OutPFSet_RmpTms',
  power: 'var',
  levelPct: (read) => (read('704.PFWInjEna') === 'ENABLED' ? (100 * varsAt(read)) / varReach(read) : 0),
};
const powerFactor: readonly Face[] = [
  {
    classic: ['123.OutPFSet'],
    current: ['704.PFWInj.PF', '704.PFWInj.Ext'],
    toCurrent(read) {
      const value = number(read('123.OutPFSet'));
      return [
        ['704.PFWInj.PF', Math.abs(value)],
        ['704.PFWInj.Ext', value < 0 ? 'UNDER_EXCITED' : 'OVER_EXCITED'],
      ];
    },
    toClassic(read) {
      const side = read('704.PFWInj.Ext') === 'UNDER_EXCITED' ? -1 : 1;
      return [['123.OutPFSet', side * number(read('704.PFWInj.PF'))]];
    },
    window: '123.OutPFSet_WinTms',
    ramp: factorRamp,
  },
  same('123.OutPFSet_Ena', '704.PFWInjEna', { window: '123.OutPFSet_WinTms', ramp: factorRamp }),
  reversion('123.OutPFSet_RvrtTms', '704.PFWInjRvrtTms', '123.OutPFSet_WinTms'),
];

interface VarShare {
  readonly mode: 'WMax' | 'VArMax' | 'VArAval';
  readonly point: PointPath;
  readonly current: 'W_MAX_PCT' | 'VAR_MAX_PCT' | 'VAR_AVAIL_PCT';
}
const varShares: readonly VarShare[] = [
  { mode: 'WMax', point: '123.VArWMaxPct', current: 'W_MAX_PCT' },
  { mode: 'VArMax', point: '123.VArMaxPct', current: 'VAR_MAX_PCT' },
  { mode: 'VArAval', point: '123.VArAvalPct', current: 'VAR_AVAIL_PCT' },
];

/**
 * Reactive power of 704.VarSetMod VARS or VA_MAX_PCT, which classic models lack, as percent of the limit of its
 * direction.
 */
function shareOfReach(read: ReadPoint): number {
  const mode = read('704.VarSetMod');
  const vars =
    mode === 'VARS' ? number(read('704.VarSet')) : (number(read('704.VarSetPct')) / 100) * number(read('702.VAMax'));
  const reach = number(read(vars < 0 ? '702.VarMaxAbs' : '702.VarMaxInj'));
  return reach > 0 ? clamp((100 * vars) / reach, -100, 100) : 0;
}

/** Reactive power of 704 in percent of `varReach`. */
function varLevelPct(read: ReadPoint): number {
  if (read('704.VarSetEna') !== 'ENABLED') return 0;
  const pct = number(read('704.VarSetPct'));
  switch (read('704.VarSetMod')) {
    case 'W_MAX_PCT':
      return (pct * number(read('702.WMax'))) / varReach(read);
    case 'VARS':
      return (100 * number(read('704.VarSet'))) / varReach(read);
    case 'VA_MAX_PCT':
      return (pct * number(read('702.VAMax'))) / varReach(read);
    default:
      return pct;
  }
}

const reactivePower: readonly Face[] = [
  {
    classic: ['123.VArPct_Ena', '123.VArPct_Mod', ...varShares.map(({ point }) => point)],
    current: ['704.VarSetEna', '704.VarSetMod', '704.VarSetPct', '704.VarSet'],
    basis: ['702.VarMaxInj', '702.VarMaxAbs', '702.VAMax'],
    toCurrent(read) {
      const share = varShares.find(({ mode }) => mode === read('123.VArPct_Mod'));
      // without any share no value can be in force
      if (!share) return [['704.VarSetEna', 'DISABLED']];
      return [
        ['704.VarSetEna', read('123.VArPct_Ena')],
        ['704.VarSetMod', share.current],
        ['704.VarSetPct', read(share.point)],
      ];
    },
    toClassic(read) {
      const mode = read('704.VarSetMod');
      const share = varShares.find(({ current }) => current === mode);
      const pct = share ? number(read('704.VarSetPct')) : shareOfReach(read);
      const { mode: classicMode, point } = share ?? { mode: 'VArMax', point: '123.VArMaxPct' as const };
      return [
        ['123.VArPct_Ena', read('704.VarSetEna')],
        ['123.VArPct_Mod', classicMode],
        [point, clamp(pct, -100, 100)],
      ];
    },
    window: '123.VArPct_WinTms',
    ramp: { time: '123.VArPct_RmpTms', power: 'var', levelPct: varLevelPct },
  },
  reversion('123.VArPct_RvrtTms', '704.VarSetRvrtTms', '123.VArPct_WinTms'),
];

const settings: readonly Face[] = [
  same('121.WMax', '702.WMax'),
  same('121.VRef', '702.VNom'),
  same('121.VAMax', '702.VAMax'),
  same('121.VArMaxQ1', '702.VarMaxInj'),
  {
    classic: ['121.VArMaxQ4'],
    current: ['702.VarMaxAbs'],
    toCurrent: (read) => [['702.VarMaxAbs', -number(read('121.VArMaxQ4'))]],
    toClassic: (read) => [['121.VArMaxQ4', 0 - number(read('702.VarMaxAbs'))]],
  },
  same('121.WGra', '704.WRmp'),
];

/** A rate of power: percent of WChaMax per second, and whole percent of WMax per second. */
function storageGradient(classic: '124.WChaGra' | '124.WDisChaGra'): Face {
  const convert = (pct: AnyPointValue, from: AnyPointValue, to: AnyPointValue) =>
    number(to) > 0 ? (number(pct) * number(from)) / number(to) : number(pct);
  return {
    classic: [classic],
    current: ['704.WRmp'],
    basis: ['702.WMax', '702.WChaRteMax'],
    toCurrent(read) {
      const pct = convert(read(classic), read('702.WChaRteMax'), read('702.WMax'));
      return [['704.WRmp', clamp(Math.round(pct), 1, 1000)]];
    },
    toClassic: (read) => [
      [classic, clamp(convert(read('704.WRmp'), read('702.WMax'), read('702.WChaRteMax')), 1, 1000)],
    ],
  };
}

const storage: readonly Face[] = [
  same('124.WChaMax', '702.WChaRteMax'),
  storageGradient('124.WChaGra'),
  storageGradient('124.WDisChaGra'),
  same('124.MinRsvPct', '802.SoCRsvMin'),
];

/** All settings with two faces. A map has the faces whose points are all implemented. */
const faces: readonly Face[] = [...limit, ...powerFactor, ...reactivePower, ...settings, ...storage];

/** The faces of one setting in a map, as point slots. */
export interface BoundFace {
  readonly face: Face;
  readonly classic: ReadonlySet<PointSlot>;
  readonly current: ReadonlySet<PointSlot>;
  /** points that change the classic face: current ones, and those on which it depends */
  readonly sources: ReadonlySet<PointSlot>;
  /** point with the maximum random delay, s; null: writes act at once */
  readonly window: PointSlot | null;
  readonly ramp: (Pick<FaceRamp, 'power' | 'levelPct'> & { readonly time: PointSlot }) | null;
}

function slotOf(layout: Layout, point: PointPath): PointSlot | undefined {
  const slot = layout.named(point);
  return slot?.implemented === true ? slot : undefined;
}

const slotsOf = (layout: Layout, points: readonly PointPath[]) =>
  new Set(points.flatMap((point) => slotOf(layout, point) ?? []));

function bind(layout: Layout, face: Face): BoundFace[] {
  const classic = slotsOf(layout, face.classic);
  const current = slotsOf(layout, face.current);
  if (classic.size < face.classic.length || current.size < face.current.length) return [];
  const time = face.ramp && slotOf(layout, face.ramp.time);
  return [
    {
      face,
      classic,
      current,
      sources: new Set([...current, ...slotsOf(layout, face.basis ?? [])]),
      window: (face.window && slotOf(layout, face.window)) ?? null,
      ramp: face.ramp && time ? { power: face.ramp.power, levelPct: face.ramp.levelPct, time } : null,
    },
  ];
}

/** The faces of a map; empty without classic models. */
export const facesOf = memoPerLayout((layout): readonly BoundFace[] => faces.flatMap((face) => bind(layout, face)));

/** Points of the other face, by point. */
export const twinsOf = memoPerLayout((layout): ReadonlyMap<PointSlot, ReadonlySet<PointSlot>> => {
  const twins = new Map<PointSlot, Set<PointSlot>>();
  const add = (of: ReadonlySet<PointSlot>, others: ReadonlySet<PointSlot>) => {
    for (const slot of of) twins.set(slot, new Set([...(twins.get(slot) ?? []), ...others]));
  };
  for (const { classic, current } of facesOf(layout)) {
    add(classic, current);
    add(current, classic);
  }
  return twins;
});

/** Turns a reader of slots into a reader of names. */
export function readerOf(layout: Layout, valueOf: (slot: PointSlot) => AnyPointValue): ReadPoint {
  return (point) => {
    const slot = slotOf(layout, point);
    return slot ? valueOf(slot) : null;
  };
}

/** Calls `set` for each value whose point the map has. */
export function assignTo(
  layout: Layout,
  values: PointValues,
  set: (slot: PointSlot, value: AnyPointValue) => void,
): void {
  for (const [point, value] of values) {
    const slot = slotOf(layout, point);
    if (slot && value !== null) set(slot, value);
  }
}
