/** The classic models of the reference maps, with the points that devices have. */
import type { ModelChoice } from '../../src/sunspec/map/layout.ts';
import type { WritableMapView } from '../../src/sunspec/map/view.ts';
import { m103 } from '../../src/sunspec/models/m103.ts';
import { m120 } from '../../src/sunspec/models/m120.ts';
import { m121 } from '../../src/sunspec/models/m121.ts';
import { m122 } from '../../src/sunspec/models/m122.ts';
import { m123 } from '../../src/sunspec/models/m123.ts';
import { m124 } from '../../src/sunspec/models/m124.ts';
import { m160 } from '../../src/sunspec/models/m160.ts';

/** Scale factors of a 100 kW three-phase device. */
export const classicScale: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  103: {
    A_SF: -2,
    V_SF: -1,
    W_SF: 1,
    Hz_SF: -2,
    VA_SF: 1,
    VAr_SF: 1,
    PF_SF: -2,
    WH_SF: 0,
    DCA_SF: -2,
    DCV_SF: -1,
    DCW_SF: 1,
    Tmp_SF: -1,
  },
  120: {
    WRtg_SF: 1,
    VARtg_SF: 1,
    VArRtg_SF: 1,
    ARtg_SF: -2,
    PFRtg_SF: -3,
    WHRtg_SF: 2,
    AhrRtg_SF: 0,
    MaxChaRte_SF: 1,
    MaxDisChaRte_SF: 1,
  },
  121: {
    WMax_SF: 1,
    VRef_SF: -1,
    VRefOfs_SF: -1,
    VMinMax_SF: -1,
    VAMax_SF: 1,
    VArMax_SF: 1,
    WGra_SF: 0,
    PFMin_SF: -3,
    MaxRmpRte_SF: 0,
    ECPNomHz_SF: -2,
  },
  122: { VArAval_SF: 1, WAval_SF: 1, Ris_SF: 0 },
  123: { WMaxLimPct_SF: -2, OutPFSet_SF: -3, VArPct_SF: -2 },
  124: {
    WChaMax_SF: 1,
    WChaDisChaGra_SF: 0,
    VAChaMax_SF: 1,
    MinRsvPct_SF: -1,
    ChaState_SF: -1,
    StorAval_SF: 0,
    InBatV_SF: -1,
    InOutWRte_SF: -2,
  },
  160: { DCA_SF: -2, DCV_SF: -1, DCW_SF: 1, DCWH_SF: 0 },
};

export const classicChoices: readonly ModelChoice[] = [
  { def: m103 },
  { def: m120 },
  {
    def: m121,
    omit: new Set([
      ...['VMax', 'VMin', 'VArMaxQ2', 'VArMaxQ3', 'PFMinQ1', 'PFMinQ2', 'PFMinQ3', 'PFMinQ4'],
      ...['VArAct', 'ClcTotVA', 'MaxRmpRte', 'ECPNomHz', 'ConnPh'],
    ]),
  },
  { def: m122 },
  { def: m123 },
  { def: m124, omit: new Set(['VAChaMax', 'ChaGriSet']) },
  { def: m160, counts: { N: 1, module: 1 } },
];

/** Start values, where the image has the models. */
export function startClassic(map: WritableMapView): void {
  Object.assign(map.m121 ?? {}, {
    WMax: 100_000,
    VRef: 480,
    VAMax: 110_000,
    VArMaxQ1: 44_000,
    VArMaxQ4: -48_000,
    WGra: 100,
  });
  Object.assign(map.m123 ?? {}, { Conn: 'CONNECT', WMaxLimPct: 100, OutPFSet: 1, VArPct_Mod: 'WMax' });
  Object.assign(map.m124 ?? {}, {
    WChaMax: 80_000,
    WChaGra: 100,
    WDisChaGra: 100,
    MinRsvPct: 20,
    OutWRte: 100,
    InWRte: 100,
  });
}
