import { expect } from 'chai';
import type { ChainEntry } from '../../../src/contract/map-layout.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { byModbus, byRest, errorOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';

const listed = (...models: readonly (number | ChainEntry)[]): readonly ChainEntry[] =>
  models.map((entry) => (typeof entry === 'number' ? { model: entry } : entry));
const site = { meter: 203, of: 'site' } as const;

function deviceOf(chain: readonly ChainEntry[], type = 'PV-3Phase', more: TestPlantOptions = {}): SimDevice {
  return testPlant({ types: [type], ...more, map: { ...more.map, chain } }).devices[0]!;
}

const placesOf = ({ bank: { layout } }: SimDevice, hidden: boolean): readonly string[] =>
  layout.models.filter((place) => place.hidden === hidden).map(({ name }) => name);
const shown = (...given: Parameters<typeof deviceOf>) => placesOf(deviceOf(...given), false).join(' ');

function refusals(chain: readonly ChainEntry[], type = 'PV-3Phase', more: TestPlantOptions = {}): string[] {
  return errorOf(() => deviceOf(chain, type, more)).issues.map(
    ({ name, detail }) => `${name.replace(/^.*: /, '')}: ${detail}`,
  );
}

const current = '701 702 703 704 705 706 707 708 709 710 711 712 713 714 715';

describe('chain of a profile', () => {
  it('shows the models of the list in its order behind model 1, given or not', () => {
    expect(shown(listed(715, 701, 123, 103, 705))).to.equal('1 715 701 123 103 705');
    expect(shown(listed(1, 160, 103))).to.equal('1 160 103');
    expect(shown(listed(1))).to.equal('1');
  });

  it('hides the other models of the device behind the end', () => {
    expect(placesOf(deviceOf(listed(701)), true).join(' ')).to.equal(current.replace('701 ', ''));
    const hybrid = deviceOf(listed(103, 160, 124), 'HybridDC-3Phase');
    expect(placesOf(hybrid, true).join(' ')).to.equal(`120 121 122 123 ${current} 802`);
    const { layout } = hybrid.bank;
    for (const { address, hidden } of layout.models) expect(address >= layout.base + layout.size).to.equal(hidden);
  });

  it('takes whole numbers and floating point side by side, with the same values', async () => {
    const plant = testPlant({ map: { chain: listed(113, 103, 160) } });
    await plant.step(40);
    const { m103, m113, m160, m701 } = plant.devices[0]!.bank.map;
    expect(placesOf(plant.devices[0]!, false).join(' ')).to.equal('1 113 103 160');
    expect(m701.W).to.be.greaterThan(1000);
    expect([m103?.W, m160?.module[0]?.DCW]).to.deep.equal([
      m701.W,
      m701.W === null ? null : plant.devices[0]!.bank.map.m714.Prt[0]?.DCW,
    ]);
    expect(m113?.W).to.be.closeTo(m701.W!, 0.5);
  });

  it('writes both faces of a setting also where the list hides one', () => {
    const { bank } = deviceOf(listed(123, 103));
    bank.transact(byModbus, ({ m123 }) => {
      m123!.WMaxLimPct = 40;
    });
    expect(bank.map.m704.WMaxLimPct).to.equal(40);
    bank.transact(byRest, ({ m704 }) => {
      m704.WMaxLimPct = 60;
    });
    expect(bank.map.m123?.WMaxLimPct).to.equal(60);
  });

  it('measures behind 123 and 160 alone, whose inverter model is hidden', async () => {
    const plant = testPlant({ map: { chain: listed(123, 160) } });
    await plant.step(40);
    const { m103, m113, m160, m701 } = plant.devices[0]!.bank.map;
    expect(m160?.module[0]?.DCW).to.be.greaterThan(1000);
    expect([m103?.W, m113]).to.deep.equal([m701.W, undefined]);
  });

  it('has the simulation models behind its list', () => {
    expect(shown(listed(103, site), 'PV-3Phase', { simModels: true })).to.equal('1 103 1:2 203 64413 64414');
  });

  it('begins at the base of the profile', () => {
    expect(deviceOf(listed(103), 'PV-3Phase', { map: { base: 0 } }).bank.layout.named('103.ID')?.address).to.equal(70);
  });

  it('gives curve models the sets and points of the list', () => {
    const { layout } = deviceOf(
      listed(
        { model: 705, curves: 5, points: 4 },
        { model: 707, points: 20 },
        { model: 711, curves: 2 },
        { model: 706, curves: 2 },
      ),
    ).bank;
    const count = (...names: readonly string[]) =>
      names.map((name) => (layout.named(name) === undefined ? 0 : 1)).join('');
    expect(count('705.Crv[4].Pt[3].V', '705.Crv[5].Pt[0].V', '705.Crv[0].Pt[4].V')).to.equal('100');
    expect(count('707.Crv[2].MustTrip.Pt[19].V', '707.Crv[3].MustTrip.Pt[0].V')).to.equal('10');
    expect(count('711.Ctl[1].DbOf', '711.Ctl[2].DbOf')).to.equal('10');
    expect(count('706.Crv[1].Pt[9].V', '706.Crv[2].Pt[0].V', '706.Crv[0].Pt[10].V')).to.equal('100');
  });

  describe('compares its points with the curves of the profile', () => {
    /** Every set of 705 with a line of two points. */
    const line = (sets: number): Readonly<Record<string, number>> =>
      Object.fromEntries(
        Array.from({ length: sets }, (_, set) => [
          [`Crv[${set}].ActPt`, 2],
          [`Crv[${set}].Pt[0].V`, 95],
          [`Crv[${set}].Pt[0].Var`, 30],
          [`Crv[${set}].Pt[1].V`, 105],
          [`Crv[${set}].Pt[1].Var`, -30],
        ]).flat() as [string, number][],
      );

    it('which may have fewer than those of the category', () => {
      const { bank } = deviceOf(listed({ model: 705, curves: 2, points: 2 }), 'PV-3Phase', {
        models: { 705: line(2) },
      });
      expect([bank.map.m705.NPt, bank.map.m705.Crv.map(({ ActPt }) => ActPt)]).to.deep.equal([2, [2, 2]]);
      expect(bank.map.m705.Crv[1]?.Pt[1]?.Var).to.equal(-30);
    });

    it('of which each set counts, also one that the profile leaves as it is', () => {
      expect(refusals(listed({ model: 705, points: 2 }), 'PV-3Phase', { models: { 705: line(2) } })).to.deep.equal([
        'chain[0].points: given 2; allowed: from 4, as 705.Crv[2].ActPt is at start, to 20',
      ]);
    });

    it('which may have more than those of the category', () => {
      const long = { 'Crv[1].ActPt': 6 };
      const [first, ...others] = refusals(listed({ model: 705, points: 5 }), 'PV-3Phase', { models: { 705: long } });
      expect(first).to.equal('chain[0].points: given 5; allowed: from 6, as 705.Crv[1].ActPt is at start, to 20');
      expect(others.every((issue) => issue.startsWith('models.705.Crv[1].ActPt: '))).to.equal(true);
    });
  });

  it('adopts a set that only its own sizes have', () => {
    const { bank } = deviceOf(listed({ model: 705, curves: 5, points: 4 }));
    expect([bank.map.m705.NPt, bank.map.m705.NCrv, bank.map.m705.Crv.length]).to.deep.equal([4, 5, 5]);
    bank.transact(byModbus, ({ m705 }) => {
      m705.Crv[4]!.Pt[0]!.Var = 33;
      m705.AdptCrvReq = 5;
    });
    expect([bank.map.m705.AdptCrvRslt, bank.map.m705.Crv[0]?.Pt[0]?.Var]).to.deep.equal(['COMPLETED', 33]);
  });

  it('has a common block before each meter, with texts of its own', () => {
    const device = deviceOf(
      listed(
        103,
        site,
        { meter: 211, of: 'generation', maker: 'Maker', modelName: 'M 1', serial: 'S-1' },
        { meter: 203, of: 'load' },
      ),
    );
    expect(placesOf(device, false).join(' ')).to.equal('1 103 1:2 203 1:3 211 1:4 203:2');
    const { bank } = device;
    const texts = (place: string) =>
      ['Mn', 'Md', 'Vr', 'SN'].map((name) => bank.value(bank.layout.named(`${place}.${name}`)!));
    expect(texts('1:2')).to.deep.equal(['derbench', 'Site meter', '0.1.0', 'DB-METER']);
    expect(texts('1:3')).to.deep.equal(['Maker', 'M 1', '0.1.0', 'S-1']);
    expect(texts('1:4')).to.deep.equal(['derbench', 'Load meter', '0.1.0', 'DB-METER-LOAD']);
    expect(texts('1')[3]).to.equal('DB-000000');
  });

  it('has nothing to write in its meters and their common blocks', () => {
    const { layout } = deviceOf(listed(site), 'PV-3Phase', { unitAddressOf: () => 9 }).bank;
    expect(layout.slots.filter(({ writable, modelId }) => writable && modelId < 700).map(pointName)).to.deep.equal([
      '1.DA',
    ]);
  });

  it('has room for ten devices of its rating in a meter, at the voltage of its grid', () => {
    const scale = (type: string, model: 201 | 202 | 203, rating: number) => {
      const chain = listed({ meter: model, of: 'site' });
      const { layout } = deviceOf(chain, type, { models: { 702: { WMaxRtg: rating, VAMaxRtg: rating } } }).bank;
      return ['W', 'PhV', 'TotWhImp'].map((name) => (layout.named(`${model}.${name}`)?.sf ?? NaN) + 0);
    };
    expect(scale('PV-3Phase', 203, 3_276)).to.deep.equal([0, -1, 0]);
    expect(scale('PV-3Phase', 203, 3_277)).to.deep.equal([1, -1, 0]);
    expect(scale('PV-1Phase', 203, 3_277)).to.deep.equal([1, -1, 0]);
    expect(scale('PV-3Phase', 201, 43_000)).to.deep.equal([2, -1, 1]);
  });

  describe('is refused', () => {
    const classic = '103, 113, 120, 121, 122, 123, 160';
    const rows: readonly (readonly [string, readonly ChainEntry[], readonly string[]])[] = [
      [
        'with a model that no device has',
        listed(103, 126),
        [`chain[1]: given 126; allowed for this device: 1, ${classic}, ${current.replaceAll(' ', ', ')}`],
      ],
      [
        'with the inverter model of another wiring',
        listed(101),
        [`chain[0]: given 101; allowed for this device: 1, ${classic}, ${current.replaceAll(' ', ', ')}`],
      ],
      [
        'with a meter by its number alone',
        listed(203),
        [
          `chain[0]: given 203; allowed for this device: 1, ${classic}, ${current.replaceAll(' ', ', ')}; a meter is { meter: 203 }`,
        ],
      ],
      [
        'with a model twice',
        listed(103, 701, 103),
        ['chain[2]: given 103, which chain[0] is already; allowed: each model once'],
      ],
      [
        'with model 1 behind another',
        listed(103, 1),
        ['chain[1]: given 1 behind other models; a meter has its own; allowed: in front'],
      ],
      [
        'with curves of a model that has none',
        listed({ model: 704, curves: 3 }, { model: 1, curves: 2 }),
        [
          'chain[0].curves: given 3, but model 704 has no curves; allowed: on 705, 706, 707, 708, 709, 710, 711, 712',
          'chain[1]: given 1 behind other models; a meter has its own; allowed: in front',
        ],
      ],
      [
        'with points of a model that has none',
        listed({ model: 711, points: 4 }, { model: 103, points: 4 }),
        [
          'chain[0].points: given 4, but model 711 has no curve points; allowed: on 705, 706, 707, 708, 709, 710, 712',
          'chain[1].points: given 4, but model 103 has no curve points; allowed: on 705, 706, 707, 708, 709, 710, 712',
        ],
      ],
      [
        'with fewer points than a curve has at start',
        listed({ model: 705, points: 3 }),
        ['chain[0].points: given 3; allowed: from 4, as 705.Crv[0].ActPt is at start, to 20'],
      ],
    ];
    for (const [title, chain, expected] of rows) {
      it(title, () => {
        expect(refusals(chain)).to.deep.equal(expected);
      });
    }

    it('with 124 on a device without storage', () => {
      expect(refusals(listed(124))[0]).to.match(/^chain\[0\]: given 124; /);
      expect(shown(listed(124), 'Batt-3Phase')).to.equal('1 124');
    });

    it('with sizes of model 1', () => {
      expect(refusals(listed({ model: 1, curves: 2 }))[0]).to.match(
        /^chain\[0\]\.curves: given 2, but model 1 has no curves/,
      );
    });
  });
});
