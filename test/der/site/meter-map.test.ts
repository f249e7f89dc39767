import { expect } from 'chai';
import type { Wiring } from '../../../src/der/inverter/ac.ts';
import { meterLayout, meterModel } from '../../../src/der/site/meter-registers.ts';
import type { MeterShape } from '../../../src/der/site/meter-registers.ts';

describe('Meter of the connection point: its map', () => {
  const shape = (over: Partial<MeterShape> = {}): MeterShape => ({
    wiring: 'three',
    float: false,
    vNomV: 400,
    ratedVa: 10_000,
    ...over,
  });
  const scaleOf = (over: Partial<MeterShape>, ...points: readonly string[]) => {
    const layout = meterLayout(shape(over));
    return points.map((name) => layout.slot(meterModel(shape(over)).id, name)?.sf ?? NaN).map((sf) => sf + 0);
  };

  it('powers have room for twice the rating in 16 bits', () => {
    for (const name of ['W', 'VA', 'VAR'])
      expect(
        [16_383, 16_384, 163_835, 163_840].map((ratedVa) => scaleOf({ ratedVa }, name)[0]),
        name,
      ).to.deep.equal([0, 1, 1, 2]);
    expect(scaleOf({ ratedVa: 10 }, 'W', 'VA', 'VAR')).to.deep.equal([-1, -1, -1]);
  });

  it('currents for twice the rating at the nominal voltage to neutral, voltages for twice the higher one', () => {
    // 327.67 A to two decimals
    const ratedA = (wiring: Wiring, va: number, vNomV: number) => scaleOf({ wiring, vNomV, ratedVa: va / 2 }, 'A')[0];
    expect([ratedA('single', 32_766, 100), ratedA('single', 32_768, 100)]).to.deep.equal([-2, -1]);
    expect([ratedA('split', 32_766, 200), ratedA('split', 32_768, 200)]).to.deep.equal([-2, -1]);
    expect([ratedA('three', 32_766, 173.2), ratedA('three', 32_769, 173.2)]).to.deep.equal([-2, -1]);
    expect(scaleOf({ vNomV: 1638 }, 'PhV')[0]).to.equal(-1);
    expect(scaleOf({ vNomV: 1639 }, 'PhV')[0]).to.equal(0);
  });

  it('counters go round after 20,000 hours at the rating', () => {
    expect([214_748, 214_749].map((ratedVa) => scaleOf({ ratedVa }, 'TotWhExp')[0])).to.deep.equal([0, 1]);
    expect(scaleOf({ ratedVa: 214_749 }, 'TotVAhExp', 'TotVArhImpQ1')).to.deep.equal([1, 1]);
    expect(scaleOf({ ratedVa: 1 }, 'TotWhExp', 'Hz', 'PF')).to.deep.equal([0, -2, -2]);
  });

  it('has the common model without a device address', () => {
    const [common] = meterLayout(shape()).models;
    expect(common?.slots.flatMap(({ def, implemented }) => (implemented ? [] : [def.name]))).to.include('DA');
  });

  it('leaves out the phases that the wiring does not have, where the definition lets it', () => {
    const absent = (wiring: Wiring, float: boolean) =>
      meterLayout(shape({ wiring, float })).models[1]!.slots.flatMap(({ def, implemented }) =>
        implemented ? [] : [def.name],
      );
    const energies = ['TotWhExp', 'TotWhImp', 'TotVAhExp', 'TotVAhImp'];
    const quadrants = ['TotVArhImpQ1', 'TotVArhImpQ2', 'TotVArhExpQ3', 'TotVArhExpQ4'];
    const lines = ['PPV', 'PPVphAB', 'PPVphBC', 'PPVphCA'];
    const powersOf = (letter: string) => ['A', 'PhV', 'W', 'VA', 'VAR', 'PF'].map((name) => `${name}ph${letter}`);
    const energyOf = (letter: string, ph: string) => [
      ...energies.map((name) => `${name}Ph${letter}`),
      ...quadrants.map((name) => `${name}${ph}${letter}`),
    ];
    for (const [isFloat, ph] of [
      [false, 'Ph'],
      [true, 'ph'],
    ] as const) {
      expect(absent('single', isFloat)).to.have.members([
        ...lines,
        ...['B', 'C'].flatMap((letter) => [...powersOf(letter), ...energyOf(letter, ph)]),
      ]);
      const between = isFloat ? ['PPVphBC', 'PPVphCA', 'AphC'] : ['PhVphBC', 'PhVphCA'];
      expect(absent('split', isFloat)).to.have.members([
        ...between,
        ...powersOf('C').filter((name) => name !== 'AphC'),
        ...energyOf('C', ph),
      ]);
      expect(absent('three', isFloat)).to.deep.equal([]);
    }
  });
});
