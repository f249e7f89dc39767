/** Applies the rules of falsify-table.ts to the registers that a request sees. */
import { memoPerLayout } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { slotNamed } from './condition.ts';
import { lies } from './falsify-table.ts';
import type { Consequence, FalsifySwitch, Lie, Rule } from './falsify-table.ts';
import type { MapImage, ReadingEffect } from './reading-image.ts';

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
    const slot = slotNamed(this.#image.layout, name);
    return slot === undefined ? null : this.#image.number(slot);
  }

  set(name: string, value: number): void {
    const slot = slotNamed(this.#image.layout, name);
    if (slot?.implemented === true) this.#image.setNumber(slot, value);
  }

  show(name: string, value: number | string): void {
    const slot = slotNamed(this.#image.layout, name);
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
    const falseValue = value === null ? null : lieAbout(value, rule, block);
    if (falseValue !== null) block.set(point, falseValue);
  }
}

function lieAbout(value: number, rule: Exclude<Rule, { show: unknown }>, block: Block): number | null {
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
  const present = phases.filter((phase) => block.get(`701.${quantity}${phase}`) !== null);
  if (total !== null) for (const phase of present) block.set(`701.${quantity}${phase}`, total / present.length);
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
    const a = v > 0 ? va / v : 0;
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
  const before = ports.map((port) => Math.abs(block.get(`${port}.DCW`) ?? 0));
  const sum = before.reduce((a, b) => a + b, 0);
  let amps = 0;
  ports.forEach((port, i) => {
    const watts = total * (sum > 0 ? (before[i] ?? 0) / sum : 1 / ports.length);
    const volts = block.get(`${port}.DCV`) ?? 0;
    const a = volts > 0 ? watts / volts : 0;
    amps += a;
    block.set(`${port}.DCW`, watts);
    block.set(`${port}.DCA`, a);
  });
  block.set('714.DCW', total);
  block.set('714.DCA', amps);
}

const carriers: Readonly<Record<Consequence, (block: Block) => void>> = {
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
const follows: Readonly<Record<Consequence, RegExp>> = {
  phases_of_w: /^701\.WL\d$/,
  phases_of_var: /^701\.VarL\d$/,
  va: /^701\.VA(L\d)?$/,
  pf: /^701\.PF(L\d)?$/,
  current: /^701\.A(L\d)?$/,
  mean_ln: /^701\.LNV$/,
  dc: /^714\.(Prt\[\d+\]\.)?DC[WA]$/,
};

function pointsOf(layout: Layout, { rules, consequences = [] }: Lie): readonly PointSlot[] {
  const named = new Set(rules.flatMap(({ points }) => points));
  return layout.slots.filter(({ modelId, path }) => {
    const name = `${modelId}.${path}`;
    return named.has(name) || consequences.some((consequence) => follows[consequence].test(name));
  });
}

/** True if a device has points that a switch can falsify. */
export function canFalsify(name: FalsifySwitch, layout: Layout): boolean {
  return lies[name].rules.some((rule) =>
    rule.points.some((point) => {
      const slot = slotNamed(layout, point);
      return slot !== undefined && (slot.implemented || 'show' in rule);
    }),
  );
}

/** The models whose points the consequences use. */
const sourceModels: readonly number[] = [701, 702, 714];
const sourcesOf = memoPerLayout((layout) => layout.slots.filter(({ modelId }) => sourceModels.includes(modelId)));

/** The effect of a switch: its rule first, then the consequences that keep the block plausible. */
export function falsify(name: FalsifySwitch, layout: Layout): ReadingEffect {
  const lie = lies[name];
  const slots = pointsOf(layout, lie);
  return {
    slots,
    reads: [...slots, ...sourcesOf(layout)],
    apply(image) {
      const block = new Block(image);
      for (const rule of lie.rules) carryOut(rule, block);
      for (const consequence of lie.consequences ?? []) carriers[consequence](block);
    },
  };
}
