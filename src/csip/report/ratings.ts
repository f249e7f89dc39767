/** DERCapability and DERSettings from models 702, 703, 713 and 802. Points without a value are left out. */
import type { AssetType, Device } from '../../contract/device.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import { chargeModeBit, dischargeModeBit, modeBits } from '../control/modes.ts';
import type { ModeBitmap } from '../control/modes.ts';
import type { ModeName } from '../control/model.ts';
import type { DERCapability, DERSettings } from '../xml/documents.ts';
import type { ReportOptions } from './model.ts';
import { hexBits, hundredths, powerFactor, present, signed16, unsigned16 } from './units.ts';

/** DERType. */
const derTypes: Readonly<Record<AssetType, number>> = {
  fuelcell: 3,
  pv: 4,
  wind: 6,
  battery: 80,
  evse: 82,
  'hybrid-dc': 83,
};

/** Bit of DeviceCategoryType. */
export const categoryBits: Readonly<Record<AssetType, number>> = {
  evse: 17,
  fuelcell: 20,
  pv: 21,
  'hybrid-dc': 23,
  wind: 24,
  battery: 25,
};

/** DERControlType of 2018: bits 27 to 31 were added in 2023. */
const modes2018 = 0x07ff_ffff;

/** 0 means "not specified", so both categories start at 1. */
const normalCategories = { CAT_A: 1, CAT_B: 2 } as const;
const abnormalCategories = { CAT_1: 1, CAT_2: 2, CAT_3: 3 } as const;

/** Minimum of setGradW and setSoftGradW: 0 would mean no limit. */
const minGradient = 1;
const maxUint16 = 0xffff;
const maxUint32 = 0xffff_ffff;
const maxInt16 = 0x7fff;

const category = (words: Readonly<Record<string, number>>, word: string | null) =>
  word === null ? undefined : words[word];

const negative = (value: number | null) => (value === null ? null : -value);

/** A power with its power factor: the standard requires both or neither. */
function ratedAt(w: number | null, pf: number | null) {
  return w === null || pf === null ? {} : { w: signed16(w), pf: powerFactor(pf) };
}

/** The modes of a device, used for capability and settings alike. */
export class ModeReport {
  readonly #device: Device;
  readonly #supported: ReadonlySet<ModeName>;
  readonly #options: Pick<ReportOptions, 'revision' | 'csipAus'>;

  constructor(device: Device, supported: ReadonlySet<ModeName>, options: Pick<ReportOptions, 'revision' | 'csipAus'>) {
    this.#device = device;
    this.#supported = supported;
    this.#options = options;
  }

  #bits(bitmap: ModeBitmap): number {
    return modeBits(this.#supported, bitmap);
  }

  /** DERControlType. Charge and discharge mode have bits, but no member in DERControlBase. */
  get modes(): string {
    const { WChaRteMaxRtg: charge, WDisChaRteMaxRtg: discharge } = this.#device.bank.map.m702;
    const bits = this.#bits('modes');
    // unsigned: bit operators would make bit 31 a sign
    const bitsOfRevision = this.#options.revision === '2018' ? (bits & modes2018) >>> 0 : bits;
    const charges = charge !== null && charge > 0;
    const discharges = charges && discharge !== 0;
    return hexBits(bitsOfRevision + (charges ? 2 ** chargeModeBit : 0) + (discharges ? 2 ** dischargeModeBit : 0), 4);
  }

  get modes2(): string | undefined {
    return this.#options.revision === '2023' ? hexBits(this.#bits('modes2'), 4) : undefined;
  }

  get doe(): string | undefined {
    return this.#options.csipAus === null ? undefined : hexBits(this.#bits('doe'), 1);
  }

  get vpp(): string | undefined {
    return this.#options.csipAus === '1.3' ? hexBits(this.#bits('vpp'), 1) : undefined;
  }
}

export function capabilityOf(device: Device, modes: ModeReport): DERCapability {
  const map = device.bank.map;
  const m = map.m702;
  const overExcited = ratedAt(m.WOvrExtRtg, m.WOvrExtRtgPF);
  const underExcited = ratedAt(m.WUndExtRtg, m.WUndExtRtgPF);
  return {
    modesSupported: modes.modes,
    rtgMaxW: signed16(m.WMaxRtg) ?? { multiplier: 0, value: 0 },
    type: derTypes[device.assetType],
    ...present({
      modesSupported2: modes.modes2,
      rtgAbnormalCategory: category(abnormalCategories, m.AbnOpCatRtg),
      rtgMaxA: unsigned16(m.AMaxRtg),
      rtgMaxAh: unsigned16(map.m802?.AHRtg),
      rtgMaxChargeRateVA: unsigned16(m.VAChaRteMaxRtg),
      rtgMaxChargeRateW: signed16(m.WChaRteMaxRtg),
      rtgMaxDischargeRateVA: unsigned16(m.VADisChaRteMaxRtg),
      rtgMaxDischargeRateW: signed16(m.WDisChaRteMaxRtg),
      rtgMaxV: unsigned16(m.VMaxRtg),
      rtgMaxVA: unsigned16(m.VAMaxRtg),
      rtgMaxVar: signed16(m.VarMaxInjRtg),
      rtgMaxVarNeg: signed16(negative(m.VarMaxAbsRtg)),
      rtgMaxWh: unsigned16(map.m713.WHRtg),
      rtgMinPFOverExcited: powerFactor(m.PFOvrExtRtg),
      rtgMinPFUnderExcited: powerFactor(m.PFUndExtRtg),
      rtgMinV: unsigned16(m.VMinRtg),
      rtgNormalCategory: category(normalCategories, m.NorOpCatRtg),
      rtgOverExcitedPF: overExcited.pf,
      rtgOverExcitedW: overExcited.w,
      rtgReactiveSusceptance: unsigned16(m.ReactSusceptRtg),
      rtgUnderExcitedPF: underExcited.pf,
      rtgUnderExcitedW: underExcited.w,
      rtgVNom: unsigned16(m.VNomRtg),
      doeModesSupported: modes.doe,
      vppModesSupported: modes.vpp,
    }),
  };
}

/** Settings of model 703, in hundredths of their unit. */
function enterServiceOf({ m703 }: Pick<MapView, 'm703'>) {
  const { ESRmpTms: rampS } = m703;
  return {
    setESDelay: hundredths(m703.ESDlyTms, 0, maxUint32),
    setESHighFreq: hundredths(m703.ESHzHi, 0, maxUint16),
    setESHighVolt: hundredths(m703.ESVHi, -maxInt16, maxInt16),
    setESLowFreq: hundredths(m703.ESHzLo, 0, maxUint16),
    setESLowVolt: hundredths(m703.ESVLo, -maxInt16, maxInt16),
    setESRampTms: hundredths(rampS, 0, maxUint32),
    setESRandomDelay: hundredths(m703.ESRndTms, 0, maxUint32),
    // the full range within the ramp time, percent per second
    setSoftGradW: rampS === null || rampS === 0 ? undefined : hundredths(100 / rampS, minGradient, maxUint16),
  };
}

/** A maximum limited to its rating, so that DERSettings does not contradict DERCapability. */
function atMost(setting: number | null, rating: number | null): number | null {
  return setting === null || rating === null ? setting : Math.min(setting, rating);
}

/** A minimum raised to its rating, for the same reason as `atMost`. */
function atLeast(setting: number | null, rating: number | null): number | null {
  return setting === null || rating === null ? setting : Math.max(setting, rating);
}

function storageOf(map: MapView, { csipAus }: Pick<ReportOptions, 'csipAus'>) {
  const ratedWh = map.m713.WHRtg;
  const reservePct = map.m802?.SoCRsvMin ?? null;
  return {
    setMaxAh: unsigned16(map.m802?.AHRtg),
    setMaxWh: unsigned16(ratedWh),
    setMinWh:
      csipAus === '1.3' && ratedWh !== null && reservePct !== null
        ? unsigned16((ratedWh * reservePct) / 100)
        : undefined,
  };
}

/** @param updatedS time of the last change of a setting */
export function settingsOf(
  device: Device,
  modes: ModeReport,
  options: Pick<ReportOptions, 'csipAus'> & { readonly gradW: () => number },
  updatedS: number,
): DERSettings {
  const map = device.bank.map;
  const m = map.m702;
  return {
    setGradW: hundredths(options.gradW(), minGradient, maxUint16) ?? maxUint16,
    setMaxW: signed16(atMost(m.WMax, m.WMaxRtg)) ?? { multiplier: 0, value: 0 },
    updatedTime: updatedS,
    ...present({
      modesEnabled: modes.modes,
      modesEnabled2: modes.modes2,
      ...enterServiceOf(map),
      setMaxA: unsigned16(atMost(m.AMax, m.AMaxRtg)),
      setMaxChargeRateVA: unsigned16(atMost(m.VAChaRteMax, m.VAChaRteMaxRtg)),
      setMaxChargeRateW: signed16(atMost(m.WChaRteMax, m.WChaRteMaxRtg)),
      setMaxDischargeRateVA: unsigned16(atMost(m.VADisChaRteMax, m.VADisChaRteMaxRtg)),
      setMaxDischargeRateW: signed16(atMost(m.WDisChaRteMax, m.WDisChaRteMaxRtg)),
      setMaxV: unsigned16(atMost(m.VMax, m.VMaxRtg)),
      setMaxVA: unsigned16(atMost(m.VAMax, m.VAMaxRtg)),
      setMaxVar: signed16(atMost(m.VarMaxInj, m.VarMaxInjRtg)),
      setMaxVarNeg: signed16(negative(atMost(m.VarMaxAbs, m.VarMaxAbsRtg))),
      // without a setting the standard uses the rating
      setMinPFOverExcited: powerFactor(atLeast(m.PFOvrExt ?? m.PFOvrExtRtg, m.PFOvrExtRtg)),
      setMinPFUnderExcited: powerFactor(atLeast(m.PFUndExt ?? m.PFUndExtRtg, m.PFUndExtRtg)),
      setMinV: unsigned16(atLeast(m.VMin, m.VMinRtg)),
      setVNom: unsigned16(m.VNom),
      setVRef: unsigned16(m.VNom),
      ...storageOf(map, options),
      doeModesEnabled: modes.doe,
      vppModesEnabled: modes.vpp,
    }),
  };
}
