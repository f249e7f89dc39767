/** Sensible start values for the maps of the reference tables. */
import type { Layout } from '../../src/sunspec/map/layout.ts';
import { createMapView } from '../../src/sunspec/map/view.ts';
import type { WritableMapView } from '../../src/sunspec/map/view.ts';
import { startClassic } from './classic-map.ts';

function setRatings({ m702, m703, m704 }: WritableMapView): void {
  Object.assign(m702, {
    WMaxRtg: 100_000,
    WOvrExtRtg: 90_000,
    WOvrExtRtgPF: 0.9,
    WUndExtRtg: 90_000,
    WUndExtRtgPF: 0.9,
    VAMaxRtg: 110_000,
    VarMaxInjRtg: 44_000,
    VarMaxAbsRtg: 48_000,
    WChaRteMaxRtg: 80_000,
    WDisChaRteMaxRtg: 100_000,
    VAChaRteMaxRtg: 80_000,
    VADisChaRteMaxRtg: 110_000,
    VNomRtg: 480,
    VMaxRtg: 528,
    VMinRtg: 422,
    AMaxRtg: 132,
    PFOvrExtRtg: 0.8,
    PFUndExtRtg: 0.8,
    CtrlModes: 0x3fff,
    WMax: 100_000,
    WMaxOvrExt: 90_000,
    WOvrExtPF: 0.9,
    WMaxUndExt: 90_000,
    WUndExtPF: 0.9,
    VAMax: 110_000,
    VarMaxInj: 44_000,
    VarMaxAbs: 48_000,
    WChaRteMax: 80_000,
    WDisChaRteMax: 100_000,
    VAChaRteMax: 80_000,
    VADisChaRteMax: 110_000,
    VNom: 480,
    VMax: 528,
    VMin: 422,
    AMax: 132,
    PFOvrExt: 0.8,
    PFUndExt: 0.8,
  });
  Object.assign(m703, {
    ES: 'ENABLED',
    ESVHi: 105,
    ESVLo: 91.7,
    ESHzHi: 60.1,
    ESHzLo: 59.5,
    ESDlyTms: 300,
    ESRmpTms: 300,
  });
  Object.assign(m704, { WMaxLimPct: 100, WMaxLimPctRvrt: 100, WRmp: 100, VarRmp: 100, AntiIslEna: 'ENABLED' });
  for (const group of [m704.PFWInj, m704.PFWInjRvrt, m704.PFWAbs, m704.PFWAbsRvrt]) group.PF = 1;
}

/** Every set holds one plausible curve, so that each can be adopted. */
function setCurves(map: WritableMapView): void {
  for (const model of [map.m705, map.m706, map.m707, map.m708, map.m709, map.m710, map.m712]) {
    Object.assign(model, { AdptCrvReq: 1, AdptCrvRslt: 'COMPLETED' });
  }
  map.m705.Crv.forEach((set) => {
    Object.assign(set, { ActPt: 2, VRef: 100, RspTms: 5 });
    set.Pt.forEach((pt, i) => Object.assign(pt, i < 2 ? { V: 95 + 10 * i, Var: 44 - 88 * i } : { V: null, Var: null }));
  });
  map.m706.Crv.forEach((set) => {
    Object.assign(set, { ActPt: 2, RspTms: 10 });
    set.Pt.forEach((pt, i) => Object.assign(pt, i < 2 ? { V: 106 + 4 * i, W: 100 - 80 * i } : { V: null, W: null }));
  });
  map.m712.Crv.forEach((set) => {
    set.ActPt = 2;
    set.Pt.forEach((pt, i) => Object.assign(pt, i < 2 ? { W: 50 * i, Var: -20 * i } : { W: null, Var: null }));
  });
  for (const [trip, firstPct] of [
    ...map.m707.Crv.map((set) => [set.MustTrip, 50] as const),
    ...map.m708.Crv.map((set) => [set.MustTrip, 110] as const),
  ]) {
    trip.ActPt = 2;
    trip.Pt.forEach((pt, i) =>
      Object.assign(pt, i < 2 ? { V: firstPct + 38 * i, Tms: 0.5 + 10 * i } : { V: null, Tms: null }),
    );
  }
  for (const trip of [...map.m709.Crv, ...map.m710.Crv].map((set) => set.MustTrip)) {
    trip.ActPt = 2;
    trip.Pt.forEach((pt, i) => Object.assign(pt, i < 2 ? { Hz: 57 + i, Tms: 0.5 + 10 * i } : { Hz: null, Tms: null }));
  }
  Object.assign(map.m711, { AdptCtlReq: 1, AdptCtlRslt: 'COMPLETED' });
  for (const set of map.m711.Ctl)
    Object.assign(set, { DbOf: 0.036, DbUf: 0.036, KOf: 0.05, KUf: 0.05, RspTms: 5, PMin: 0 });
}

/** The registers of a device as it starts. */
export function startImage(layout: Layout): Buffer {
  const image = layout.blank();
  const map = createMapView(layout, image);
  Object.assign(map.m1, { Mn: 'derbench', Md: 'test', SN: '1', DA: 1 });
  setRatings(map);
  setCurves(map);
  startClassic(map);
  Object.assign(map.m802 ?? {}, {
    SoCMin: 10,
    SoCMax: 90,
    SoCRsvMin: 20,
    SocRsvMax: 80,
    AlmRst: 0,
    SetOp: 'CONNECT',
    SetInvState: 'INVERTER_STARTED',
  });
  Object.assign(map.m64414 ?? {}, { GridModelSource: 'const', IrradianceModelSource: 'csv', GridFrequency: 60 });
  return image;
}
