/** Ratings of an inverter, and the register map that fits them. */
import type { AbnormalCategory } from '../../contract/abnormal-conditions.ts';
import type { ModelChoice } from '../../sunspec/map/layout.ts';
import { m1 } from '../../sunspec/models/m001.ts';
import { m701 } from '../../sunspec/models/m701.ts';
import { m702 } from '../../sunspec/models/m702.ts';
import { m703 } from '../../sunspec/models/m703.ts';
import { m704 } from '../../sunspec/models/m704.ts';
import { m705 } from '../../sunspec/models/m705.ts';
import { m706 } from '../../sunspec/models/m706.ts';
import { m707 } from '../../sunspec/models/m707.ts';
import { m708 } from '../../sunspec/models/m708.ts';
import { m709 } from '../../sunspec/models/m709.ts';
import { m710 } from '../../sunspec/models/m710.ts';
import { m711 } from '../../sunspec/models/m711.ts';
import { m712 } from '../../sunspec/models/m712.ts';
import { m714 } from '../../sunspec/models/m714.ts';
import { m715 } from '../../sunspec/models/m715.ts';
import { nominalLnV } from './ac.ts';
import type { Wiring } from './ac.ts';

export interface Ratings {
  readonly wiring: Wiring;
  readonly wMaxW: number;
  readonly vaMaxVa: number;
  readonly varInjectVar: number;
  readonly varAbsorbVar: number;
  /** line-to-neutral on single phase, line-to-line otherwise */
  readonly vNomV: number;
  readonly aMaxA: number;
  /** power that the device can absorb from the grid, W; null: it only delivers */
  readonly chargeMaxW: number | null;
  /** power that the storage of the device can give, W; 0: the device only absorbs; null: no storage */
  readonly dischargeMaxW: number | null;
  readonly category: 'CAT_A' | 'CAT_B';
  readonly abnormal: AbnormalCategory;
  readonly nominalHz: number;
}

/** Reactive capability as a share of the apparent power rating (IEEE 1547-2018 Table 7). */
export const injectShare = 0.44;
export const absorbShare = { CAT_A: 0.25, CAT_B: 0.44 } as const;
/** Maximum current as a multiple of the nominal current. */
export const currentHeadroom = 1.1;

/** Scale exponent with which values up to `maxValue` fit a register of at most `registerMax`; at least `finest`. */
export function scaleFor(maxValue: number, registerMax: number, finest: number): number {
  return Math.max(finest, Math.ceil(Math.log10(maxValue / registerMax)));
}

const int16Max = 32767;
const uint16Max = 65534;
const pointCount = 10;
const setCount = 3;

const phaseBlock = (phase: 1 | 2 | 3): string[] => [
  ...['W', 'VA', 'Var', 'PF', 'A', 'V', 'TotWhInj', 'TotWhAbs', 'TotVarhInj', 'TotVarhAbs'].map(
    (name) => `${name}L${phase}`,
  ),
  ...{ 1: ['VL1L2'], 2: ['VL2L3'], 3: ['VL3L1'] }[phase],
];

/** Points of 701 that a device of this wiring does not have. */
function omitted701(wiring: Wiring): ReadonlySet<string> {
  const always = ['TmpSnk', 'TmpTrns', 'TmpSw', 'TmpOt'];
  if (wiring === 'three') return new Set(always);
  if (wiring === 'split') return new Set([...always, ...phaseBlock(3), 'VL2L3']);
  return new Set([...always, ...phaseBlock(2), ...phaseBlock(3), 'VL1L2', 'LLV']);
}

/** Points of 702 that no device has: settings without effect, and the islanding category. */
const omitted702 = [
  'VAChaRteMax',
  'IntIslandCatRtg',
  'IntIslandCat',
  'WMaxOvrExt',
  'WOvrExtPF',
  'WMaxUndExt',
  'WUndExtPF',
  'PFOvrExt',
  'PFUndExt',
  'VMax',
  'VMin',
];

/** Points of devices that can absorb power from the grid. */
const charging702 = ['WChaRteMaxRtg', 'WChaRteMax', 'VAChaRteMaxRtg'];
/** Points of devices with a storage, and of devices that only absorb. */
const discharging702 = ['WDisChaRteMaxRtg', 'VADisChaRteMaxRtg', 'WDisChaRteMax', 'VADisChaRteMax'];
const charging704 = [
  'PFWAbsEna',
  'PFWAbsEnaRvrt',
  'PFWAbsRvrtTms',
  'PFWAbsRvrtRem',
  'PFWAbs.PF',
  'PFWAbs.Ext',
  'PFWAbsRvrt.PF',
  'PFWAbsRvrt.Ext',
];

/**
 * The full map of an inverter: every model of the chain, with three sets of ten points per curve.
 * @param storage 713, and the models after 715
 * @param addressable the device has an address on a serial line (1.DA)
 */
export function modelChoices(
  ratings: Ratings,
  ports: number,
  storage: readonly [ModelChoice, ...ModelChoice[]],
  addressable = false,
): readonly [ModelChoice, ...ModelChoice[]] {
  const [storage713, ...storageOther] = storage;
  const { wiring, wMaxW, vaMaxVa, vNomV } = ratings;
  const powerSf = scaleFor(1.2 * Math.max(wMaxW, vaMaxVa), int16Max, -2);
  const voltSf = scaleFor(2 * vNomV, uint16Max, -1);
  const currentSf = scaleFor((1.5 * vaMaxVa) / nominalLnV(wiring, vNomV), int16Max, -2);
  const curve = { NPt: pointCount, NCrv: setCount };
  const trip = { counts: { NPt: pointCount, NCrvSet: setCount } };
  const oneWay = ratings.chargeMaxW === null;
  const stores = ratings.dischargeMaxW !== null;
  const absent702 = [...omitted702, ...(oneWay ? charging702 : []), ...(stores ? [] : discharging702)];
  const power = { W_SF: powerSf, VA_SF: powerSf, Var_SF: powerSf, V_SF: voltSf, A_SF: currentSf, PF_SF: -3 };
  return [
    // on TCP the port selects the device: there is no address to set
    { def: m1, omit: new Set(addressable ? [] : ['DA']) },
    { def: m701, scale: { ...power, Hz_SF: -3, TotWh_SF: 0, TotVarh_SF: 0, Tmp_SF: -1 }, omit: omitted701(wiring) },
    { def: m702, scale: { ...power, S_SF: -3 }, omit: new Set(absent702) },
    { def: m703, scale: { V_SF: -2, Hz_SF: -3 } },
    {
      def: m704,
      omit: new Set(oneWay ? charging704 : []),
      scale: { PF_SF: -3, WMaxLimPct_SF: -2, WSet_SF: 0, WSetPct_SF: -2, VarSet_SF: 0, VarSetPct_SF: -2 },
    },
    { def: m705, counts: curve, scale: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 } },
    { def: m706, counts: curve, scale: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 } },
    { def: m707, ...trip, scale: { V_SF: -2, Tms_SF: -3 } },
    { def: m708, ...trip, scale: { V_SF: -2, Tms_SF: -3 } },
    { def: m709, ...trip, scale: { Hz_SF: -3, Tms_SF: -3 } },
    { def: m710, ...trip, scale: { Hz_SF: -3, Tms_SF: -3 } },
    { def: m711, counts: { NCtl: setCount }, scale: { Db_SF: -3, K_SF: -3, RspTms_SF: -2 } },
    { def: m712, counts: curve, scale: { W_SF: -2, DeptRef_SF: -2 } },
    storage713,
    {
      def: m714,
      counts: { NPrt: ports },
      scale: { DCA_SF: currentSf, DCV_SF: -1, DCW_SF: powerSf, DCWH_SF: 0 },
      omit: new Set(['Prt.Tmp']),
    },
    { def: m715 },
    ...storageOther,
  ];
}
