/** Start values of the settings: IEEE 1547-2018 defaults by category, in engineering units. */
import { ctrlModeMask, supportedModes } from '../../sunspec/map/grid-support/functions.ts';
import type { WritableMapView } from '../../sunspec/map/view.ts';
import { rideThroughBands, tripElements } from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip } from '../../contract/abnormal-conditions.ts';
import { absorbShare } from './ratings.ts';
import type { Ratings } from './ratings.ts';

type Pairs = readonly (readonly [number, number])[];

/** Volt-var (Table 8), percent of VNom and of the VA rating. */
const voltVar: Record<Ratings['category'], Pairs> = {
  CAT_A: [
    [90, 25],
    [100, 0],
    [100, 0],
    [110, -25],
  ],
  CAT_B: [
    [92, 44],
    [98, 0],
    [102, 0],
    [108, -44],
  ],
};
const voltVarResponseS = { CAT_A: 10, CAT_B: 5 } as const;

/** Volt-watt (Table 10): down to the lower of 20 % and the minimum power, which is 0 here. */
const voltWatt: Pairs = [
  [106, 100],
  [110, 0],
];

/** Watt-var (Table 9). */
const wattVar: Record<Ratings['category'], Pairs> = {
  CAT_A: [
    [20, 0],
    [50, 0],
    [100, -25],
  ],
  CAT_B: [
    [20, 0],
    [50, 0],
    [100, -44],
  ],
};
/** The negative half, for devices that absorb power. */
const wattVarCharging: Pairs = [
  [-100, 44],
  [-50, 0],
  [-20, 0],
];

/** Thresholds with their clearing times, the outer one first. */
function mustTrip(name: CurveTrip, abnormal: AbnormalCategory): Pairs {
  return tripElements(name, abnormal).map(({ threshold, clearingS }) => [threshold.value, clearingS.value]);
}

/**
 * Edges of the bands with the ride-through time, after which a device may trip: the maximum of a band in which it rises
 * with the voltage. Bands without one have 0, or for low voltage the time within which the device must cease to
 * energize.
 */
function mayTrip(name: CurveTrip, abnormal: AbnormalCategory): Pairs {
  return rideThroughBands(name, abnormal).map(({ edge, rideThroughS, responseS }) => [
    edge,
    rideThroughS === null ? (name === 'lv_trip' ? (responseS ?? 0) : 0) : Math.max(...rideThroughS),
  ]);
}

/** The innermost band in which the device must cease to energize, with its response time. */
function cessation(name: CurveTrip, abnormal: AbnormalCategory): Pairs {
  const inner = rideThroughBands(name, abnormal).findLast(({ responseS }) => responseS !== null);
  return inner === undefined ? [] : [[inner.edge, inner.responseS ?? 0]];
}

function fill<P>(
  curve: { ActPt: number | null; readonly Pt: readonly P[] },
  pairs: Pairs,
  set: (point: P, x: number, y: number) => void,
): void {
  curve.ActPt = pairs.length;
  pairs.forEach(([x, y], i) => {
    const point = curve.Pt[i];
    if (point !== undefined) set(point, x, y);
  });
}

function tripDefaults(map: WritableMapView, { abnormal, nominalHz }: Ratings): void {
  const volts = (p: { V: number | null; Tms: number | null }, x: number, y: number) => {
    p.V = x;
    p.Tms = y;
  };
  // x is an offset from the nominal frequency, Hz
  const hertz = (p: { Hz: number | null; Tms: number | null }, x: number, y: number) => {
    p.Hz = nominalHz + x;
    p.Tms = y;
  };
  for (const crv of map.m707.Crv) {
    fill(crv.MustTrip, mustTrip('lv_trip', abnormal), volts);
    fill(crv.MayTrip, mayTrip('lv_trip', abnormal), volts);
    fill(crv.MomCess, cessation('lv_trip', abnormal), volts);
  }
  for (const crv of map.m708.Crv) {
    fill(crv.MustTrip, mustTrip('hv_trip', abnormal), volts);
    fill(crv.MayTrip, mayTrip('hv_trip', abnormal), volts);
    fill(crv.MomCess, cessation('hv_trip', abnormal), volts);
  }
  for (const crv of map.m709.Crv) {
    fill(crv.MustTrip, mustTrip('lf_trip', abnormal), hertz);
    fill(crv.MayTrip, mayTrip('lf_trip', abnormal), hertz);
    fill(crv.MomCess, cessation('lf_trip', abnormal), hertz);
  }
  for (const crv of map.m710.Crv) {
    fill(crv.MustTrip, mustTrip('hf_trip', abnormal), hertz);
    fill(crv.MayTrip, mayTrip('hf_trip', abnormal), hertz);
    fill(crv.MomCess, cessation('hf_trip', abnormal), hertz);
  }
}

function curveDefaults(map: WritableMapView, ratings: Ratings): void {
  const { category, chargeMaxW } = ratings;
  for (const crv of map.m705.Crv) {
    fill(crv, voltVar[category], (p, x, y) => {
      p.V = x;
      p.Var = y;
    });
    Object.assign(crv, {
      DeptRef: 'VA_MAX_PCT',
      Pri: 'REACTIVE',
      VRef: 100,
      VRefAuto: 100,
      VRefAutoEna: 'DISABLED',
      VRefAutoTms: 300,
    });
    crv.RspTms = voltVarResponseS[category];
  }
  for (const crv of map.m706.Crv) {
    fill(crv, voltWatt, (p, x, y) => {
      p.V = x;
      p.W = y;
    });
    Object.assign(crv, { DeptRef: 'W_MAX_PCT', RspTms: 10 });
  }
  for (const crv of map.m712.Crv) {
    fill(crv, [...(chargeMaxW === null ? [] : wattVarCharging), ...wattVar[category]], (p, x, y) => {
      p.W = x;
      p.Var = y;
    });
    Object.assign(crv, { DeptRef: 'VA_MAX_PCT', Pri: 'REACTIVE' });
  }
  for (const ctl of map.m711.Ctl)
    Object.assign(ctl, {
      DbOf: 0.036,
      DbUf: 0.036,
      KOf: 0.05,
      KUf: 0.05,
      RspTms: 5,
      PMin: chargeMaxW === null ? 0 : -100,
    });
  tripDefaults(map, ratings);
  for (const model of [map.m705, map.m706, map.m707, map.m708, map.m709, map.m710, map.m712]) {
    model.AdptCrvReq = 1;
    model.AdptCrvRslt = 'COMPLETED';
  }
  map.m711.AdptCtlReq = 1;
  map.m711.AdptCtlRslt = 'COMPLETED';
  // the one regulating function that is on by default (6.5.2.7)
  map.m711.Ena = 'ENABLED';
  for (const model of [map.m707, map.m708, map.m709, map.m710]) model.Ena = 'ENABLED';
}

function ratingDefaults(map: WritableMapView, ratings: Ratings): void {
  const { wMaxW, vaMaxVa, varInjectVar, varAbsorbVar, vNomV, aMaxA, category, abnormal } = ratings;
  const overExcitedW = Math.sqrt(Math.max(0, vaMaxVa ** 2 - varInjectVar ** 2));
  const underExcitedW = Math.sqrt(Math.max(0, vaMaxVa ** 2 - varAbsorbVar ** 2));
  const m = map.m702;
  Object.assign(m, {
    WMaxRtg: wMaxW,
    VAMaxRtg: vaMaxVa,
    VarMaxInjRtg: varInjectVar,
    VarMaxAbsRtg: varAbsorbVar,
    WOvrExtRtg: Math.min(wMaxW, overExcitedW),
    WOvrExtRtgPF: overExcitedW / vaMaxVa,
    PFOvrExtRtg: overExcitedW / vaMaxVa,
    WUndExtRtg: Math.min(wMaxW, underExcitedW),
    WUndExtRtgPF: underExcitedW / vaMaxVa,
    PFUndExtRtg: underExcitedW / vaMaxVa,
    WChaRteMaxRtg: ratings.chargeMaxW,
    VAChaRteMaxRtg: vaMaxVa,
    VNomRtg: vNomV,
    VMaxRtg: 1.2 * vNomV,
    VMinRtg: 0.5 * vNomV,
    AMaxRtg: aMaxA,
    ReactSusceptRtg: 0,
    NorOpCatRtg: category,
    AbnOpCatRtg: abnormal,
    CtrlModes: supportedModes.reduce((mask, mode) => mask + ctrlModeMask(mode), 0),
  });
}

/** Start value of 704.WRmp and 704.VarRmp, percent per second. */
export const defaultRampPctS = 20;

/** Settings of 702 start at their ratings. */
export function settingsFromRatings(map: WritableMapView): void {
  const m = map.m702;
  m.WMax = m.WMaxRtg;
  m.VAMax = m.VAMaxRtg;
  m.VarMaxInj = m.VarMaxInjRtg;
  m.VarMaxAbs = m.VarMaxAbsRtg;
  m.WChaRteMax = m.WChaRteMaxRtg;
  m.WDisChaRteMax = m.WDisChaRteMaxRtg;
  m.VADisChaRteMax = m.VADisChaRteMaxRtg;
  m.VNom = m.VNomRtg;
  m.AMax = m.AMaxRtg;
}

/** The set-point that allows maximum power: full delivery, or full absorption for a device that only absorbs. */
function setPointDefaults({ wMaxW, chargeMaxW, dischargeMaxW }: Ratings) {
  const absorbsOnly = dischargeMaxW === 0;
  const watts = absorbsOnly ? -(chargeMaxW ?? 0) : wMaxW;
  const pct = absorbsOnly ? Math.max(-100, (100 * watts) / wMaxW) : 100;
  return { WSetPct: pct, WSetPctRvrt: pct, WSet: watts, WSetRvrt: watts };
}

/** Writes the start values of every setting into a fresh image. */
export function writeDefaults(map: WritableMapView, ratings: Ratings): void {
  ratingDefaults(map, ratings);
  curveDefaults(map, ratings);
  Object.assign(map.m1, { Mn: 'derbench', Opt: '' });
  const wirings = { single: 'SINGLE_PHASE', split: 'SPLIT_PHASE', three: 'THREE_PHASE' } as const;
  map.m701.ACType = wirings[ratings.wiring];
  // Table 4; the random delay and the ramp exclude each other
  Object.assign(map.m703, {
    ES: 'ENABLED',
    ESVHi: 105,
    ESVLo: 91.7,
    ESHzHi: ratings.nominalHz + 0.1,
    ESHzLo: ratings.nominalHz - 0.5,
    ESDlyTms: 300,
    ESRndTms: 0,
    ESRmpTms: 300,
  });
  Object.assign(map.m704, {
    WMaxLimPct: 100,
    WMaxLimPctRvrt: 100,
    WSetMod: 'W_MAX_PCT',
    ...setPointDefaults(ratings),
    VarSetMod: 'VAR_MAX_PCT',
    VarSetPri: 'REACTIVE',
    WRmp: defaultRampPctS,
    WRmpRef: 'W_MAX',
    VarRmp: defaultRampPctS,
    AntiIslEna: 'ENABLED',
  });
  for (const pf of [map.m704.PFWInj, map.m704.PFWInjRvrt, map.m704.PFWAbs, map.m704.PFWAbsRvrt]) pf.PF = 1;
  map.m715.OpCtl = 'START';
}

/** Default of VarMaxAbsRtg by category, var. */
export function defaultVarMaxAbs(vaMaxVa: number, category: Ratings['category']): number {
  return vaMaxVa * absorbShare[category];
}
