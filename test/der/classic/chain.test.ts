import { expect } from 'chai';
import type { MapShape } from '../../../src/contract/map-layout.ts';
import { facesOf } from '../../../src/der/classic/faces.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { codeOf, errorOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';

const types = [
  ...['PV-3Phase', 'PV-2Phase', 'PV-1Phase', 'Batt-3Phase', 'Batt-2Phase', 'Batt-1Phase'],
  ...['Wind-T3-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'],
];

function deviceOf(type: string, map: Partial<MapShape>) {
  const [device] = testPlant({ types: [type], map }).devices;
  return device!;
}

/** Model numbers as a master finds them, from the marker to the end model. */
function walked(type: string, map: Partial<MapShape>): number[] {
  const { bank } = deviceOf(type, map);
  const { base } = bank.layout;
  expect(bank.read(base, 2).toString('latin1')).to.equal('SunS');
  const ids: number[] = [];
  for (let at = base + 2; ; ) {
    const id = bank.read(at, 1).readUInt16BE();
    const length = bank.read(at + 1, 1).readUInt16BE();
    at += 2 + length;
    if (id === 0xffff) {
      expect(length).to.equal(0);
      expect(codeOf(() => bank.read(at, 1))).to.equal('MAP_ILLEGAL_ADDRESS');
      return ids;
    }
    ids.push(id);
  }
}

const current = [701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715];

describe('map layouts', () => {
  for (const [type, map, ids] of [
    ['PV-3Phase', { layout: 'current' }, [1, ...current]],
    ['PV-3Phase', { layout: 'classic' }, [1, 103, 120, 121, 122, 123, 160]],
    ['PV-2Phase', { layout: 'classic' }, [1, 102, 120, 121, 122, 123, 160]],
    ['PV-1Phase', { layout: 'classic', float: true, base: 0 }, [1, 111, 120, 121, 122, 123, 160]],
    ['Batt-3Phase', { layout: 'classic' }, [1, 103, 120, 121, 122, 123, 124, 160, 802]],
    ['Batt-3Phase', { layout: 'both', base: 50_000 }, [1, 103, 120, 121, 122, 123, 124, 160, ...current, 802]],
    [
      'PV-3Phase',
      { layout: 'mixed', hiddenModels: [703, 715] },
      [1, 123, ...current.filter((id) => id !== 703 && id !== 715)],
    ],
  ] as const) {
    it(`${type} ${JSON.stringify(map)}: ${ids.join(', ')}`, () => {
      expect(walked(type, map)).to.deep.equal(ids);
    });
  }

  it('a hidden model that the layout does not have is refused by name', () => {
    const { issues } = errorOf(() => testPlant({ map: { layout: 'mixed', hiddenModels: [701, 120] } }));
    expect(issues.map(({ name, detail }) => `${name}: ${detail}`).join()).to.match(
      /hidden_models\[1\]: given 120; allowed with this layout: 123, 701/,
    );
  });

  for (const type of types) {
    it(`${type}: every classic point that can be written has an effect`, () => {
      const { layout } = deviceOf(type, { layout: 'both' }).bank;
      const bound = new Set(facesOf(layout).flatMap(({ classic }) => [...classic]));
      const others = layout.slots
        .filter((slot) => slot.modelId > 100 && slot.modelId < 200 && slot.writable && !bound.has(slot))
        .map(pointName);
      // windows and ramps act with their settings, the switch has no register of its own; an offset other than 0 is
      // refused; physics reads the bounds of a storage in 124 itself
      const known = /^12[34]\.\w+_(WinTms|RmpTms)$|^123\.Conn(_RvrtTms)?$|^121\.VRefOfs$/;
      const bounds = /^124\.(StorCtl_Mod|OutWRte|InWRte|InOutWRte_RvrtTms|ChaGriSet)$/;
      expect(others.filter((name) => bounds.test(name))).to.have.lengthOf(/^(Hybrid|Batt)/.test(type) ? 5 : 0);
      expect(others.filter((name) => !known.test(name) && !bounds.test(name))).to.deep.equal([]);
    });
  }
});
