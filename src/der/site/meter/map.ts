/** The register map of the meter: its layout by wiring and number format, and the points of each quantity. */
import { buildLayout } from '../../../sunspec/map/layout.ts';
import type { Layout, ModelChoice } from '../../../sunspec/map/layout.ts';
import { m1 } from '../../../sunspec/models/m001.ts';
import { m201 } from '../../../sunspec/models/m201.ts';
import { m202 } from '../../../sunspec/models/m202.ts';
import { m203 } from '../../../sunspec/models/m203.ts';
import { m211 } from '../../../sunspec/models/m211.ts';
import { m212 } from '../../../sunspec/models/m212.ts';
import { m213 } from '../../../sunspec/models/m213.ts';
import type { ModelDef } from '../../../sunspec/map/types.ts';
import { nominalLnV, phaseCount } from '../../inverter/ac.ts';
import type { Wiring } from '../../inverter/ac.ts';
import { scaleFor } from '../../inverter/ratings.ts';

const whole: Readonly<Record<Wiring, ModelDef>> = { single: m201, split: m202, three: m203 };
const float: Readonly<Record<Wiring, ModelDef>> = { single: m211, split: m212, three: m213 };

export interface MeterShape {
  readonly wiring: Wiring;
  /** values in floating point */
  readonly float: boolean;
  /** as `Ratings.vNomV` */
  readonly vNomV: number;
  /** sum of the ratings of the devices, or their local loads at the start where these are more, VA */
  readonly ratedVa: number;
}

const int16Max = 32_767;
const acc32Max = 2 ** 32 - 1;
/** Powers may be this multiple of the rated one: loads are no part of the ratings. */
const powerRoom = 2;
/** A counter goes round after so many hours at the rated power, at the earliest. */
const counterHours = 20_000;

export function meterModel({ wiring, float: isFloat }: Pick<MeterShape, 'wiring' | 'float'>): ModelDef {
  return (isFloat ? float : whole)[wiring];
}

function scaleOf({ wiring, vNomV, ratedVa }: MeterShape): Readonly<Record<string, number>> {
  const lnV = nominalLnV(wiring, vNomV);
  const power = scaleFor(powerRoom * ratedVa, int16Max, -1);
  const energy = scaleFor(ratedVa * counterHours, acc32Max, 0);
  return {
    A_SF: scaleFor((powerRoom * ratedVa) / lnV, int16Max, -2),
    V_SF: scaleFor(2 * Math.max(vNomV, lnV), int16Max, -1),
    Hz_SF: -2,
    W_SF: power,
    VA_SF: power,
    VAR_SF: power,
    PF_SF: -2,
    TotWh_SF: energy,
    TotVAh_SF: energy,
    TotVArh_SF: energy,
  };
}

/** Points of phases that the wiring does not have, where the definition does not demand them. */
function omitted(def: ModelDef, wiring: Wiring): ReadonlySet<string> {
  const count = phaseCount(wiring);
  const absent = {
    1: /^(PPV|.*(ph(AB|BC|CA|B|C)|Ph[BC]))$/,
    2: /^(.*(ph(BC|CA|C)|PhC))$/,
    3: null,
  }[count];
  const names = def.points.filter(({ name, mandatory }) => mandatory !== true && absent?.test(name) === true);
  return new Set(names.map(({ name }) => name));
}

export function meterLayout(shape: MeterShape): Layout {
  const def = meterModel(shape);
  const choice: ModelChoice = {
    def,
    omit: omitted(def, shape.wiring),
    ...(!shape.float && { scale: scaleOf(shape) }),
  };
  return buildLayout([{ def: m1, omit: new Set(['DA']) }, choice]);
}

/** Names of a quantity: of the whole, and by phase. */
export interface QuantityNames {
  readonly total: string;
  readonly phases: readonly string[];
}

const letters = ['A', 'B', 'C'];
const quantity = (total: string, ph: string): QuantityNames => ({
  total,
  phases: letters.map((letter) => `${total}${ph}${letter}`),
});

/** Names of every quantity; the floating-point models write some of them otherwise. */
export function quantityNames(isFloat: boolean) {
  const lines = isFloat ? 'PPVph' : 'PhVph';
  return {
    a: quantity('A', 'ph'),
    lnV: quantity('PhV', 'ph'),
    llV: { total: 'PPV', phases: ['AB', 'BC', 'CA'].map((pair) => `${lines}${pair}`) },
    w: quantity('W', 'ph'),
    va: quantity('VA', 'ph'),
    var: quantity('VAR', 'ph'),
    pf: quantity('PF', 'ph'),
    exportedWh: quantity('TotWhExp', 'Ph'),
    importedWh: quantity('TotWhImp', 'Ph'),
    exportedVAh: quantity('TotVAhExp', 'Ph'),
    importedVAh: quantity('TotVAhImp', 'Ph'),
    varh: ['TotVArhImpQ1', 'TotVArhImpQ2', 'TotVArhExpQ3', 'TotVArhExpQ4'].map((name) =>
      quantity(name, isFloat ? 'ph' : 'Ph'),
    ),
  };
}

export type MeterNames = ReturnType<typeof quantityNames>;
