/**
 * The switches of the registered model 64412, the false values under each, and their effect on the registers that a
 * request sees. The model names the switches; their amounts are the choice of the simulator.
 */
import { memoPerLayout } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import type { MapImage, ReadingEffect } from './image.ts';
import type { falsifySwitches } from '../../fault-kinds/modbus-map.ts';

/** Name of a switch of model 64412. */
type FalsifySwitch = (typeof falsifySwitches)[number];

/** Change of points by a switch; only `show` changes points that the device does not implement. */
type Rule =
  /** the true value times a factor */
  | { readonly points: readonly string[]; readonly times: number }
  /** a share of another point */
  | { readonly points: readonly string[]; readonly share: number; readonly of: string }
  /** a fixed magnitude, with the sign of the true value or the opposite one */
  | { readonly points: readonly string[]; readonly magnitude: number; readonly sign: 'kept' | 'reversed' }
  /** a fixed value */
  | { readonly points: readonly string[]; readonly show: number | string };

/** A change that keeps the block plausible after a rule. */
type Consequence =
  /** the phases share W, or Var, in equal parts */
  | 'phases_of_w'
  | 'phases_of_var'
  /** VA from W and Var, in total and per phase */
  | 'va'
  /** PF from W and VA; 1 below a thousandth of the rating, as in the device */
  | 'pf'
  /** current from VA and the phase voltage */
  | 'current'
  /** mean voltage of the phases */
  | 'mean_ln'
  /** power and current of the DC side from W, at 97 % efficiency */
  | 'dc';

/** The false values of one switch. */
interface Falsification {
  readonly rules: readonly Rule[];
  /** consequences in order; absent: one quantity is wrong, which a plausibility check can detect */
  readonly consequences?: readonly Consequence[];
}

/** A quantity of 701 in total and per phase. */
const withPhases = (name: string) => [`701.${name}`, `701.${name}L1`, `701.${name}L2`, `701.${name}L3`];
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
const highQShare = 0.8;

const times = (points: readonly string[], factor: number): Falsification => ({ rules: [{ points, times: factor }] });
const reactive = (rule: Rule): Falsification => ({
  rules: [rule],
  consequences: ['phases_of_var', 'va', 'pf', 'current'],
});
const share = (point: string, of: string, part: number): Rule => ({ points: [point], share: part, of });

const falsifications: Readonly<Record<FalsifySwitch, Falsification>> = {
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
    rules: [{ points: [...withPhases('W'), ...withPhases('Var')], times: 0 }],
    consequences: ['va', 'pf', 'current', 'dc'],
  },
  MeasQAlwaysMinimum: reactive(share('701.Var', '702.VarMaxAbsRtg', -1)),
  MeasQAlwaysMaximum: reactive(share('701.Var', '702.VarMaxInjRtg', 1)),
  MeasQAlwaysZero: reactive({ points: ['701.Var'], times: 0 }),
  MeasInvertQ: times(withPhases('Var'), -1),
  MeasHighQ: reactive(share('701.Var', '702.VarMaxInjRtg', highQShare)),
  MeasLowQ: reactive(share('701.Var', '702.VarMaxAbsRtg', -highQShare)),
  MeasLowV: times(voltages, lowV),
  MeasHighV: times(voltages, highV),
  MeasLowL1V: { ...times(['701.VL1'], lowV), consequences: ['mean_ln'] },
  MeasHighL1V: { ...times(['701.VL1'], highV), consequences: ['mean_ln'] },
  MeasLowF: times(['701.Hz'], lowF),
  MeasHighF: times(['701.Hz'], highF),
  MeasLowAmps: times(withPhases('A'), low),
  MeasHighAmps: times(withPhases('A'), high),
  MeasHighS: times(withPhases('VA'), high),
  MeasLowS: times(withPhases('VA'), low),
  MeasLowPF: { rules: [{ points: withPhases('PF'), magnitude: lowPf, sign: 'kept' }] },
  MeasLowReversedPF: { rules: [{ points: withPhases('PF'), magnitude: lowPf, sign: 'reversed' }] },

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

const totalAndPhases = ['', 'L1', 'L2', 'L3'] as const;
const phases = ['L1', 'L2', 'L3'] as const;
const dcEfficiency = 0.97;

/** Points by name; a missing one reads as null and ignores writes. */
class Block {
  readonly #image: MapImage;

  constructor(image: MapImage) {
    this.#image = image;
  }

  get(name: string): number | null {
    const slot = this.#image.layout.named(name);
    return slot === undefined ? null : this.#image.number(slot);
  }

  set(name: string, value: number): void {
    const slot = this.#image.layout.named(name);
    if (slot?.implemented === true) this.#image.setNumber(slot, value);
  }

  show(name: string, value: number | string): void {
    const slot = this.#image.layout.named(name);
    if (slot === undefined) return;
    if (typeof value === 'string') this.#image.setText(slot, value);
    else this.#image.setNumber(slot, value);
  }
}

function carryOut(rule: Rule, block: Block): void {
  for (const point of rule.points) {
    if ('show' in rule) {
      block.show(point, rule.show);
      continue;
    }
    const value = block.get(point);
    const falseValue = value === null ? null : falseValueOf(value, rule, block);
    if (falseValue !== null) block.set(point, falseValue);
  }
}

function falseValueOf(value: number, rule: Exclude<Rule, { show: unknown }>, block: Block): number | null {
  if ('times' in rule) return value * rule.times;
  if ('share' in rule) {
    const whole = block.get(rule.of);
    return whole === null ? null : whole * rule.share;
  }
  const sign = value < 0 ? -1 : 1;
  return (rule.sign === 'kept' ? sign : -sign) * rule.magnitude;
}

function evenPhases(quantity: 'W' | 'Var', block: Block): void {
  const total = block.get(`701.${quantity}`);
  const implementedPhases = phases.filter((phase) => block.get(`701.${quantity}${phase}`) !== null);
  if (total !== null)
    for (const phase of implementedPhases) block.set(`701.${quantity}${phase}`, total / implementedPhases.length);
}

function apparentPower(block: Block): void {
  for (const phase of totalAndPhases) {
    const [w, q] = [block.get(`701.W${phase}`), block.get(`701.Var${phase}`)];
    if (w !== null && q !== null) block.set(`701.VA${phase}`, Math.hypot(w, q));
  }
}

function powerFactor(block: Block): void {
  const floor = 1e-3 * (block.get('702.WMaxRtg') ?? 0);
  for (const phase of totalAndPhases) {
    const [w, va] = [block.get(`701.W${phase}`), block.get(`701.VA${phase}`)];
    if (w !== null && va !== null) block.set(`701.PF${phase}`, va <= floor ? 1 : w / va);
  }
}

function current(block: Block): void {
  const amps = phases.flatMap((phase) => {
    const [va, v] = [block.get(`701.VA${phase}`), block.get(`701.V${phase}`)];
    if (va === null || v === null) return [];
    // as in the device: a phase below a millivolt has no current
    const a = v > 1e-3 ? va / v : 0;
    block.set(`701.A${phase}`, a);
    return [a];
  });
  if (amps.length > 0)
    block.set(
      '701.A',
      amps.reduce((sum, a) => sum + a, 0),
    );
}

function meanVoltage(block: Block): void {
  const volts = phases.flatMap((phase) => block.get(`701.V${phase}`) ?? []);
  if (volts.length > 0) block.set('701.LNV', volts.reduce((sum, v) => sum + v, 0) / volts.length);
}

/** Ports keep their shares of the power; without power the shares are equal. */
function dcSide(block: Block): void {
  const w = block.get('701.W');
  const ports = Array.from({ length: block.get('714.NPrt') ?? 0 }, (_, i) => `714.Prt[${i}]`);
  if (w === null || ports.length === 0) return;
  const total = w >= 0 ? w / dcEfficiency : w * dcEfficiency;
  const truePowers = ports.map((port) => Math.abs(block.get(`${port}.DCW`) ?? 0));
  const sum = truePowers.reduce((a, b) => a + b, 0);
  let amps = 0;
  ports.forEach((port, i) => {
    const watts = total * (sum > 0 ? (truePowers[i] ?? 0) / sum : 1 / ports.length);
    const volts = block.get(`${port}.DCV`) ?? 0;
    const a = volts > 0 ? watts / volts : 0;
    amps += a;
    block.set(`${port}.DCW`, watts);
    block.set(`${port}.DCA`, a);
  });
  block.set('714.DCW', total);
  block.set('714.DCA', amps);
}

const applyConsequence: Readonly<Record<Consequence, (block: Block) => void>> = {
  phases_of_w: (block) => {
    evenPhases('W', block);
  },
  phases_of_var: (block) => {
    evenPhases('Var', block);
  },
  va: apparentPower,
  pf: powerFactor,
  current,
  mean_ln: meanVoltage,
  dc: dcSide,
};

/** Points that a consequence may change. */
const consequencePoints: Readonly<Record<Consequence, RegExp>> = {
  phases_of_w: /^701\.WL\d$/,
  phases_of_var: /^701\.VarL\d$/,
  va: /^701\.VA(L\d)?$/,
  pf: /^701\.PF(L\d)?$/,
  current: /^701\.A(L\d)?$/,
  mean_ln: /^701\.LNV$/,
  dc: /^714\.(Prt\[\d+\]\.)?DC[WA]$/,
};

function pointsOf(layout: Layout, { rules, consequences = [] }: Falsification): readonly PointSlot[] {
  const named = new Set(rules.flatMap(({ points }) => points));
  return layout.slots.filter(({ modelId, path }) => {
    const name = `${modelId}.${path}`;
    return named.has(name) || consequences.some((consequence) => consequencePoints[consequence].test(name));
  });
}

/** True if a device has points that a switch can falsify. */
export function canFalsify(name: FalsifySwitch, layout: Layout): boolean {
  return falsifications[name].rules.some((rule) =>
    rule.points.some((point) => {
      const slot = layout.named(point);
      return slot !== undefined && (slot.implemented || 'show' in rule);
    }),
  );
}

/** The models whose points the consequences use. */
const sourceModels: readonly number[] = [701, 702, 714];
const sourcesOf = memoPerLayout((layout) => layout.slots.filter(({ modelId }) => sourceModels.includes(modelId)));

/** The effect of a switch: its rule first, then the consequences that keep the block plausible. */
export function falsify(name: FalsifySwitch, layout: Layout): ReadingEffect {
  const falsification = falsifications[name];
  const slots = pointsOf(layout, falsification);
  return {
    slots,
    reads: [...slots, ...sourcesOf(layout)],
    apply(image) {
      const block = new Block(image);
      for (const rule of falsification.rules) carryOut(rule, block);
      for (const consequence of falsification.consequences ?? []) applyConsequence[consequence](block);
    },
  };
}
