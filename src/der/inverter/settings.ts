/** The settings of the grid-support functions, read from the registers once after each change. */
import type { MapView } from '../../sunspec/map/view.ts';

export type PfSetting = { readonly enabled: boolean; readonly pf: number; readonly overExcited: boolean };

export const varModes = ['W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT', 'VA_MAX_PCT', 'VARS'] as const;
export type VarMode = (typeof varModes)[number];

/** One threshold of a must-trip curve: percent of VNom or hertz, and its clearing time. */
export interface TripPoint {
  readonly limit: number;
  readonly seconds: number;
}

export interface TripSetting {
  readonly enabled: boolean;
  readonly points: readonly TripPoint[];
}

export interface Settings {
  readonly wMaxW: number;
  readonly vaMaxVa: number;
  readonly varMaxInjVar: number;
  readonly varMaxAbsVar: number;
  readonly vNomV: number;
  readonly aMaxA: number;
  /** percent of WMax, or null while the limit is off */
  readonly maxPowerPct: number | null;
  /** W, or null while the set-point is off */
  readonly setPointW: number | null;
  readonly pfInject: PfSetting;
  readonly pfAbsorb: PfSetting;
  readonly constantVar: {
    readonly enabled: boolean; readonly mode: VarMode; readonly pct: number; readonly vars: number;
    readonly reactiveFirst: boolean;
  };
  readonly wRampPctS: number;
  readonly wRampOfCurrent: boolean;
  readonly varRampPctS: number;
  readonly enterService: {
    readonly permit: boolean; readonly vHighPct: number; readonly vLowPct: number;
    readonly hzHigh: number; readonly hzLow: number;
    readonly delayS: number; readonly randomDelayS: number; readonly rampS: number;
  };
  readonly operator: 'STOP' | 'START' | 'ENTER_STANDBY' | 'EXIT_STANDBY';
  readonly trips: {
    readonly lowVoltage: TripSetting; readonly highVoltage: TripSetting;
    readonly lowFrequency: TripSetting; readonly highFrequency: TripSetting;
  };
}

function setPointW(map: MapView, wMaxW: number): number | null {
  const m = map.m704;
  if (m.WSetEna !== 'ENABLED') return null;
  return m.WSetMod === 'WATTS' ? m.WSet ?? 0 : (m.WSetPct ?? 0) / 100 * wMaxW;
}

interface TripCurvePoint { readonly V?: number | null; readonly Hz?: number | null; readonly Tms: number | null }
interface TripCurve { readonly ActPt: number | null; readonly Pt: readonly TripCurvePoint[] }

function tripSetting(enabled: boolean, curve: TripCurve | undefined): TripSetting {
  const points = (curve?.Pt ?? []).slice(0, curve?.ActPt ?? 0)
    .map((point) => ({ limit: point.V ?? point.Hz ?? 0, seconds: point.Tms ?? 0 }));
  return { enabled, points };
}

/** Reads every setting that physics follows. */
export function readSettings(map: MapView): Settings {
  const { m702, m703, m704, m715, m707, m708, m709, m710 } = map;
  const wMaxW = m702.WMax ?? 0;
  return {
    wMaxW,
    vaMaxVa: m702.VAMax ?? 0,
    varMaxInjVar: m702.VarMaxInj ?? 0,
    varMaxAbsVar: m702.VarMaxAbs ?? 0,
    vNomV: m702.VNom ?? 0,
    aMaxA: m702.AMax ?? 0,
    maxPowerPct: m704.WMaxLimPctEna === 'ENABLED' ? m704.WMaxLimPct ?? 100 : null,
    setPointW: setPointW(map, wMaxW),
    pfInject: { enabled: m704.PFWInjEna === 'ENABLED', pf: m704.PFWInj.PF ?? 1, overExcited: m704.PFWInj.Ext === 'OVER_EXCITED' },
    pfAbsorb: { enabled: m704.PFWAbsEna === 'ENABLED', pf: m704.PFWAbs.PF ?? 1, overExcited: m704.PFWAbs.Ext === 'OVER_EXCITED' },
    constantVar: {
      enabled: m704.VarSetEna === 'ENABLED', mode: m704.VarSetMod ?? 'VAR_MAX_PCT', pct: m704.VarSetPct ?? 0,
      vars: m704.VarSet ?? 0, reactiveFirst: m704.VarSetPri !== 'ACTIVE',
    },
    wRampPctS: m704.WRmp ?? 100,
    wRampOfCurrent: m704.WRmpRef === 'A_MAX',
    varRampPctS: m704.VarRmp ?? 100,
    enterService: {
      permit: m703.ES === 'ENABLED', vHighPct: m703.ESVHi ?? 105, vLowPct: m703.ESVLo ?? 91.7,
      hzHigh: m703.ESHzHi ?? 60.1, hzLow: m703.ESHzLo ?? 59.5,
      delayS: m703.ESDlyTms ?? 0, randomDelayS: m703.ESRndTms ?? 0, rampS: m703.ESRmpTms ?? 0,
    },
    operator: m715.OpCtl ?? 'START',
    trips: {
      lowVoltage: tripSetting(m707.Ena === 'ENABLED', m707.Crv[0]?.MustTrip),
      highVoltage: tripSetting(m708.Ena === 'ENABLED', m708.Crv[0]?.MustTrip),
      lowFrequency: tripSetting(m709.Ena === 'ENABLED', m709.Crv[0]?.MustTrip),
      highFrequency: tripSetting(m710.Ena === 'ENABLED', m710.Crv[0]?.MustTrip),
    },
  };
}
