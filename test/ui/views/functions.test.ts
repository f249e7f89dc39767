import { expect } from 'chai';
import { functionTable } from '../../../src/sunspec/map/grid-support/functions.ts';
import type { FunctionRow } from '../../../src/sunspec/map/grid-support/functions.ts';
import { modelChoices } from '../../../src/der/inverter/ratings.ts';
import { m713 } from '../../../src/sunspec/models/m713.ts';
import { functions } from '../../../src/ui/views/devices/grid-support/functions';

const rows = functionTable as Readonly<Record<string, FunctionRow>>;

const ratings = {
  wiring: 'three',
  wMaxW: 10_000,
  vaMaxVa: 10_000,
  vNomV: 480,
  category: 'CAT_B',
  nominalHz: 60,
  abnormal: 'CAT_3',
  varInjectVar: 4400,
  varAbsorbVar: 4400,
  chargeMaxW: null,
  dischargeMaxW: null,
  aMaxA: 15,
} as const;

/** Exponents of the scale factors of each model, as devices have them. */
const scales = new Map(modelChoices(ratings, 1, [{ def: m713 }]).map(({ def, scale }) => [def.id, scale ?? {}]));

/** Scale factors of input and output: outputs are a share of the reference, or a time. */
const scaleNames = ([x, y]: readonly string[]) => [`${x}_SF`, y === 'Tms' ? 'Tms_SF' : 'DeptRef_SF'];

describe('grid-support functions of the dashboard', () => {
  it('have the models of the register map', () => {
    const inMap = functions.flatMap(({ name, mode, model }) => {
      const row = rows[mode] ?? rows[name];
      return row === undefined ? [] : [{ name, model, expected: row.model }];
    });
    expect(inMap.length).to.be.at.least(12);
    for (const { name, model, expected } of inMap) expect(model, name).to.equal(expected);
  });

  it('draw every curve of the register map by its coordinates and with the decimals of its registers', () => {
    const curves = functions.flatMap(({ mode, model, curve }) => (curve ? [{ mode, model, curve }] : []));
    const withAxes = Object.entries(rows).flatMap(([name, { axes }]) => (axes ? [name] : []));
    expect(curves.map(({ mode }) => mode)).to.have.members(withAxes);
    for (const { mode, model, curve } of curves) {
      expect(curve.registers, mode).to.deep.equal(rows[mode]?.axes);
      const decimals = scaleNames(curve.registers).map((name) => -(scales.get(model)?.[name] ?? NaN));
      expect(curve.decimals, mode).to.deep.equal(decimals);
    }
  });
});
