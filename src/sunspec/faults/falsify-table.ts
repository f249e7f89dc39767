/**
 * The switches of the registered model 64412 and the false values shown under each. The model names the switches; their
 * amounts are the simulator's choice.
 */
import type { falsifySwitches } from '../../fault-kinds/modbus-reading.ts';

export type FalsifySwitch = (typeof falsifySwitches)[number];

/** Change of points by a switch; only `show` changes points that the device does not implement. */
export type Rule =
  /** the true value times a factor */
  | { readonly points: readonly string[]; readonly times: number }
  /** a share of another point */
  | { readonly points: readonly string[]; readonly share: number; readonly of: string }
  /** a fixed magnitude, with the sign of the true value or the opposite one */
  | { readonly points: readonly string[]; readonly magnitude: number; readonly sign: 'kept' | 'reversed' }
  /** a fixed value */
  | { readonly points: readonly string[]; readonly show: number | string };

/** A change that keeps the block plausible after a rule. */
export type Consequence =
  /** the phases share W, or Var, in equal parts */
  | 'phases_of_w'
  | 'phases_of_var'
  /** VA from W and Var, in total and per phase */
  | 'va'
  /** PF from W and VA; 1 below a thousandth of the rating, as the device itself shows */
  | 'pf'
  /** current from VA and the phase voltage */
  | 'current'
  /** mean voltage of the phases */
  | 'mean_ln'
  /** power and current of the DC side from W, at 97 % efficiency */
  | 'dc';

export interface Lie {
  readonly rules: readonly Rule[];
  /** in order; absent: one quantity is wrong, which a plausibility check can detect */
  readonly consequences?: readonly Consequence[];
}

/** A quantity of 701 in total and per phase. */
const all = (name: string) => [`701.${name}`, `701.${name}L1`, `701.${name}L2`, `701.${name}L3`];
const voltages = ['701.LLV', '701.LNV', '701.VL1', '701.VL2', '701.VL3', '701.VL1L2', '701.VL2L3', '701.VL3L1'];
const ratedVars = ['702.VarMaxInjRtg', '702.VarMaxAbsRtg'];
const ratedPf = ['702.PFOvrExtRtg', '702.PFUndExtRtg'];

/** factors of a reading: wrong enough to matter, near enough to be believed */
const [low, high] = [0.5, 1.5];
/** factors of a voltage: beyond the trip limits of IEEE 1547-2018 table 11, within the range of a meter */
const [lowV, highV] = [0.8, 1.2];
/** factors of a frequency: beyond the trip limits of table 18 */
const [lowF, highF] = [0.93, 1.07];
const lowPf = 0.3;
/** share of the rating */
const muchQ = 0.8;

const times = (points: readonly string[], factor: number): Lie => ({ rules: [{ points, times: factor }] });
const reactive = (rule: Rule): Lie => ({ rules: [rule], consequences: ['phases_of_var', 'va', 'pf', 'current'] });
const share = (point: string, of: string, part: number): Rule => ({ points: [point], share: part, of });

export const lies: Readonly<Record<FalsifySwitch, Lie>> = {
  DAManipulation: { rules: [{ points: ['1.DA'], show: 247 }] },
  FalsifyDeviceIdentity: {
    rules: [
      { points: ['1.Mn'], show: 'Other Maker' },
      { points: ['1.Md'], show: 'Other Model' },
    ],
  },
  ChangeCommonModelID: { rules: [{ points: ['1.ID'], show: 2 }] },
  ChangeCommonModelLength: { rules: [{ points: ['1.L'], show: 64 }] },

  MeasPAlwaysNameplate: {
    rules: [share('701.W', '702.WMaxRtg', 1)],
    consequences: ['phases_of_w', 'va', 'pf', 'current', 'dc'],
  },
  MeasZeroP: {
    rules: [{ points: [...all('W'), ...all('Var')], times: 0 }],
    consequences: ['va', 'pf', 'current', 'dc'],
  },
  MeasQAlwaysMinimum: reactive(share('701.Var', '702.VarMaxAbsRtg', -1)),
  MeasQAlwaysMaximum: reactive(share('701.Var', '702.VarMaxInjRtg', 1)),
  MeasQAlwaysZero: reactive({ points: ['701.Var'], times: 0 }),
  MeasInvertQ: times(all('Var'), -1),
  MeasHighQ: reactive(share('701.Var', '702.VarMaxInjRtg', muchQ)),
  MeasLowQ: reactive(share('701.Var', '702.VarMaxAbsRtg', -muchQ)),
  MeasLowV: times(voltages, lowV),
  MeasHighV: times(voltages, highV),
  MeasLowL1V: { ...times(['701.VL1'], lowV), consequences: ['mean_ln'] },
  MeasHighL1V: { ...times(['701.VL1'], highV), consequences: ['mean_ln'] },
  MeasLowF: times(['701.Hz'], lowF),
  MeasHighF: times(['701.Hz'], highF),
  MeasLowAmps: times(all('A'), low),
  MeasHighAmps: times(all('A'), high),
  MeasHighS: times(all('VA'), high),
  MeasLowS: times(all('VA'), low),
  MeasLowPF: { rules: [{ points: all('PF'), magnitude: lowPf, sign: 'kept' }] },
  MeasLowReversedPF: { rules: [{ points: all('PF'), magnitude: lowPf, sign: 'reversed' }] },

  NameplateHighP: times(['702.WMaxRtg'], high),
  NameplateLowP: times(['702.WMaxRtg'], low),
  NameplateHighS: times(['702.VAMaxRtg'], high),
  NameplateLowS: times(['702.VAMaxRtg'], low),
  NameplateHighQ: times(ratedVars, high),
  NameplateLowQ: times(ratedVars, low),
  NameplateHighNomV: times(['702.VNomRtg'], highV),
  NameplateLowNomV: times(['702.VNomRtg'], lowV),
  NameplateLowAmps: times(['702.AMaxRtg'], low),
  NameplateLowVarmaxinj: times(['702.VarMaxInjRtg'], low),
  NameplateLowVarmaxabs: times(['702.VarMaxAbsRtg'], low),
  NameplateLowPF: times(ratedPf, low),

  SettingsHighNomV: times(['702.VNom'], highV),
  SettingsLowAmps: times(['702.AMax'], low),
  SettingsHighP: times(['702.WMax'], high),
  SettingsLowP: times(['702.WMax'], low),
  SettingsHighVAMax: times(['702.VAMax'], high),
  SettingsHighVarmaxinj: times(['702.VarMaxInj'], high),
  SettingsHighVarmaxabs: times(['702.VarMaxAbs'], high),
};
