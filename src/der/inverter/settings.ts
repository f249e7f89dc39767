/** The settings of the grid-support functions, read from the registers once after each change. */
import type { InverterParameters, Gradient } from '../../contract/device.ts';
import { tripSetting } from '../../sunspec/map/grid-support/trip-curves.ts';
import type { TripSetting } from '../../sunspec/map/grid-support/trip-curves.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import { defaultRampPctS } from './defaults.ts';
import { storageFlow } from './storage-flow.ts';
import type { StorageFlow } from './storage-flow.ts';

export type PfSetting = { readonly enabled: boolean; readonly pf: number; readonly overExcited: boolean };

/** Quantities that a reactive percentage can refer to (704.VarSetMod, DeptRef of 705 and 712). */
const varReferences = ['W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT', 'VA_MAX_PCT'] as const;
export type VarReference = (typeof varReferences)[number];
type VarMode = VarReference | 'VARS';

export interface TripSettings {
  readonly lowVoltage: TripSetting;
  readonly highVoltage: TripSetting;
  readonly lowFrequency: TripSetting;
  readonly highFrequency: TripSetting;
}

/** A curve of reactive power in percent of `reference`. */
interface VarCurve {
  readonly enabled: boolean;
  readonly points: readonly CurvePoint[];
  readonly reference: VarReference;
  readonly reactiveFirst: boolean;
}

export interface VoltVarSetting extends VarCurve {
  /** centre of the curve, percent of VNom: its points, written for a centre of 100, move by `vRefPct - 100` */
  readonly vRefPct: number;
  readonly autoReference: boolean;
  /** time constant (63 %) of the autonomous reference */
  readonly autoReferenceS: number;
  readonly responseS: number;
}

export interface DroopSetting {
  readonly enabled: boolean;
  readonly overBandHz: number;
  readonly underBandHz: number;
  /** droop above the dead band, per-unit frequency per per-unit power */
  readonly overDroop: number;
  /** droop below the dead band, per-unit frequency per per-unit power */
  readonly underDroop: number;
  readonly responseS: number;
  /** droop above the dead band lowers the power no further than this, percent of WMax */
  readonly minPowerPct: number;
}

export interface Settings {
  readonly wMaxW: number;
  readonly vaMaxVa: number;
  readonly varMaxInjVar: number;
  readonly varMaxAbsVar: number;
  /** maximum power absorbed from the grid, W; 0 for a device that only injects */
  readonly chargeMaxW: number;
  /** `chargeMaxW` if 702 limits the charge below its rating, W; Infinity: not limited */
  readonly chargeLimitW: number;
  /** maximum discharge of the storage at the terminals, W; Infinity: not limited, or no storage */
  readonly dischargeMaxW: number;
  /** maximum discharge of the storage at the terminals, VA; Infinity: not limited, or no storage */
  readonly dischargeMaxVa: number;
  /** bounds of model 124 */
  readonly storageFlow: StorageFlow;
  readonly vNomV: number;
  readonly aMaxA: number;
  /** power limit, percent of WMax; null: off */
  readonly maxPowerPct: number | null;
  /** limit without a register (fault injection), percent of WMax; absent: none */
  readonly secondLimitPct?: number;
  /** set-point, W; null: off */
  readonly setPointW: number | null;
  readonly pfInject: PfSetting;
  readonly pfAbsorb: PfSetting;
  readonly constantVar: {
    readonly enabled: boolean;
    readonly mode: VarMode;
    readonly pct: number;
    readonly vars: number;
    readonly reactiveFirst: boolean;
  };
  readonly voltVar: VoltVarSetting;
  readonly wattVar: VarCurve;
  readonly voltWatt: {
    readonly enabled: boolean;
    readonly points: readonly CurvePoint[];
    readonly ofAvailable: boolean;
    readonly responseS: number;
  };
  readonly droop: DroopSetting;
  readonly antiIslanding: boolean;
  /** percent of 702.WMax per second, or of 702.AMax */
  readonly wRampPctS: number;
  /** true: `wRampPctS` is percent of 702.AMax (704.WRmpRef) */
  readonly wRampOfCurrent: boolean;
  readonly varRampPctS: number;
  readonly enterService: {
    readonly permit: boolean;
    readonly vHighPct: number;
    readonly vLowPct: number;
    readonly hzHigh: number;
    readonly hzLow: number;
    readonly delayS: number;
    readonly randomDelayS: number;
    readonly rampS: number;
  };
  readonly operator: 'STOP' | 'START' | 'ENTER_STANDBY' | 'EXIT_STANDBY';
  readonly trips: TripSettings;
  /** momentary cessation */
  readonly cessations: TripSettings;
}

function setPointW(map: MapView, wMaxW: number): number | null {
  const m = map.m704;
  if (m.WSetEna !== 'ENABLED') return null;
  return m.WSetMod === 'WATTS' ? (m.WSet ?? 0) : ((m.WSetPct ?? 0) / 100) * wMaxW;
}

/** A setting, or Infinity if it is not below its rating: the device then keeps its unrounded rating, not the register. */
function belowRating(value: number | null, rating: number | null): number {
  return value === null || (rating !== null && value >= rating) ? Infinity : value;
}

interface AnyPoint {
  readonly V?: number | null;
  readonly W?: number | null;
  readonly Hz?: number | null;
  readonly Var?: number | null;
}
interface AnyCurve {
  readonly ActPt: number | null;
  readonly Pt: readonly AnyPoint[];
}

function tripSettings({ m707, m708, m709, m710 }: MapView, names: Parameters<typeof tripSetting>[1]): TripSettings {
  return {
    lowVoltage: tripSetting(m707, names),
    highVoltage: tripSetting(m708, names),
    lowFrequency: tripSetting(m709, names),
    highFrequency: tripSetting(m710, names),
  };
}

const varReference = (name: string | null | undefined): VarReference =>
  name === 'VAR_AVAL_PCT' ? 'VAR_AVAIL_PCT' : (varReferences.find((reference) => reference === name) ?? 'VA_MAX_PCT');

function points(curve: AnyCurve | undefined, point: (p: AnyPoint) => CurvePoint): CurvePoint[] {
  return (curve?.Pt ?? []).slice(0, curve?.ActPt ?? 0).map(point);
}

function voltVar({ m705 }: MapView): VoltVarSetting {
  const [set] = m705.Crv;
  return {
    enabled: m705.Ena === 'ENABLED',
    points: points(set, (p) => ({ x: p.V ?? 0, y: p.Var ?? 0 })),
    reference: varReference(set?.DeptRef),
    reactiveFirst: set?.Pri !== 'ACTIVE',
    // 0: the curve has no reference voltage
    vRefPct: set?.VRef || 100,
    autoReference: set?.VRefAutoEna === 'ENABLED',
    autoReferenceS: set?.VRefAutoTms ?? 300,
    responseS: set?.RspTms ?? 0,
  };
}

function voltWatt({ m706 }: MapView): Settings['voltWatt'] {
  const [set] = m706.Crv;
  return {
    enabled: m706.Ena === 'ENABLED',
    points: points(set, (p) => ({ x: p.V ?? 0, y: p.W ?? 0 })),
    ofAvailable: set?.DeptRef === 'W_AVAL_PCT',
    responseS: set?.RspTms ?? 0,
  };
}

function wattVar({ m712 }: MapView): VarCurve {
  const [set] = m712.Crv;
  return {
    enabled: m712.Ena === 'ENABLED',
    points: points(set, (p) => ({ x: p.W ?? 0, y: p.Var ?? 0 })),
    reference: varReference(set?.DeptRef),
    reactiveFirst: set?.Pri !== 'ACTIVE',
  };
}

function droop({ m711 }: MapView): DroopSetting {
  const [set] = m711.Ctl;
  return {
    enabled: m711.Ena === 'ENABLED',
    overBandHz: set?.DbOf ?? 0,
    underBandHz: set?.DbUf ?? 0,
    overDroop: set?.KOf ?? 1,
    underDroop: set?.KUf ?? 1,
    responseS: set?.RspTms ?? 0,
    minPowerPct: set?.PMin ?? 0,
  };
}

/** The settings with a gradient instead of the ramps of the registers. */
export function withGradient(settings: Settings, { wPctPerS, varPctPerS }: Gradient): Settings {
  if (wPctPerS === null && varPctPerS === null) return settings;
  return {
    ...settings,
    ...(wPctPerS !== null && { wRampPctS: wPctPerS, wRampOfCurrent: false }),
    ...(varPctPerS !== null && { varRampPctS: varPctPerS }),
  };
}

function enterService({ m703 }: MapView): Settings['enterService'] {
  return {
    permit: m703.ES === 'ENABLED',
    // an absent criterion prevents no entry
    vHighPct: m703.ESVHi ?? Infinity,
    vLowPct: m703.ESVLo ?? 0,
    hzHigh: m703.ESHzHi ?? Infinity,
    hzLow: m703.ESHzLo ?? 0,
    delayS: m703.ESDlyTms ?? 0,
    randomDelayS: m703.ESRndTms ?? 0,
    rampS: m703.ESRmpTms ?? 0,
  };
}

/** Reads all settings used by physics. @param mayTrip `trip`: may-trip curves act as must-trip curves */
export function readSettings(map: MapView, mayTrip: InverterParameters['mayTrip']): Settings {
  const { m702, m704, m715 } = map;
  const wMaxW = m702.WMax ?? 0;
  return {
    wMaxW,
    vaMaxVa: m702.VAMax ?? 0,
    varMaxInjVar: m702.VarMaxInj ?? 0,
    varMaxAbsVar: m702.VarMaxAbs ?? 0,
    chargeMaxW: m702.WChaRteMax ?? 0,
    chargeLimitW: belowRating(m702.WChaRteMax, m702.WChaRteMaxRtg),
    dischargeMaxW: belowRating(m702.WDisChaRteMax, m702.WDisChaRteMaxRtg),
    dischargeMaxVa: belowRating(m702.VADisChaRteMax, m702.VADisChaRteMaxRtg),
    storageFlow: storageFlow(map),
    vNomV: m702.VNom ?? 0,
    aMaxA: m702.AMax ?? 0,
    maxPowerPct: m704.WMaxLimPctEna === 'ENABLED' ? (m704.WMaxLimPct ?? 100) : null,
    setPointW: setPointW(map, wMaxW),
    pfInject: {
      enabled: m704.PFWInjEna === 'ENABLED',
      pf: m704.PFWInj.PF ?? 1,
      overExcited: m704.PFWInj.Ext === 'OVER_EXCITED',
    },
    pfAbsorb: {
      enabled: m704.PFWAbsEna === 'ENABLED',
      pf: m704.PFWAbs.PF ?? 1,
      overExcited: m704.PFWAbs.Ext === 'OVER_EXCITED',
    },
    constantVar: {
      enabled: m704.VarSetEna === 'ENABLED',
      mode: m704.VarSetMod ?? 'VAR_MAX_PCT',
      pct: m704.VarSetPct ?? 0,
      vars: m704.VarSet ?? 0,
      reactiveFirst: m704.VarSetPri !== 'ACTIVE',
    },
    voltVar: voltVar(map),
    wattVar: wattVar(map),
    voltWatt: voltWatt(map),
    droop: droop(map),
    antiIslanding: m704.AntiIslEna === 'ENABLED',
    wRampPctS: m704.WRmp ?? defaultRampPctS,
    wRampOfCurrent: m704.WRmpRef === 'A_MAX',
    varRampPctS: m704.VarRmp ?? defaultRampPctS,
    enterService: enterService(map),
    operator: m715.OpCtl ?? 'START',
    trips: tripSettings(map, mayTrip === 'trip' ? ['MustTrip', 'MayTrip'] : ['MustTrip']),
    cessations: tripSettings(map, ['MomCess']),
  };
}

/** One point of a curve, in percent as in the registers. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** Value at `x` between points with rising x; outside, the end values hold. An empty curve gives 0. */
export function interpolate(points: readonly CurvePoint[], x: number): number {
  let before: CurvePoint | undefined;
  for (const point of points) {
    if (x < point.x) {
      if (!before) return point.y;
      return before.y + ((point.y - before.y) * (x - before.x)) / (point.x - before.x);
    }
    before = point;
  }
  return before?.y ?? 0;
}
