/** Voltages of DER controls, which have no unit in the standard: percent of nominal, per unit, or volts. */
import type { DerFacts } from '../../station/der-port.ts';
import { rejected } from './model.ts';
import type { DerRefusal } from './model.ts';

/** Below it a voltage is per unit. */
const perUnitBelow = 2;
/** Above it a voltage is in volts. */
const voltsAbove = 200;
/** Volts are this part of 702.VNom, percent. */
const voltsPct = { min: 50, max: 150 } as const;

/** A voltage as percent of 702.VNom: below 2 per unit, above 200 volts near nominal, else percent. */
export function voltagePct(value: number, facts: Pick<DerFacts, 'number'>): number | DerRefusal {
  if (value < perUnitBelow) return rounded(value * 100);
  if (value <= voltsAbove) return value;
  const nominalV = facts.number(702, 'VNom') ?? 0;
  const pct = nominalV > 0 ? (100 * value) / nominalV : Infinity;
  if (pct >= voltsPct.min && pct <= voltsPct.max) return rounded(pct);
  return rejected(
    `${value} is no voltage: percent of nominal, per unit below ${perUnitBelow}, ` +
      `or volts of ${voltsPct.min} to ${voltsPct.max} % of ${nominalV} V`,
    'ValueOutOfRange',
  );
}

/** Without the traces of binary fractions. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}
