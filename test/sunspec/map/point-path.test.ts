import { expect } from 'chai';
import type { PathIn, PointPath } from '../../../src/sunspec/map/point-path.ts';
import type { ReadPoint } from '../../../src/sunspec/map/rules.ts';
import { servedModels } from '../../../src/sunspec/models/served.ts';
import { mapLayout } from '../../support/map.ts';

type Table = Readonly<Partial<Record<PointPath, number>>>;

describe('names of points as types', () => {
  it('a point of a model, of a group and of a group inside a group compiles', () => {
    const table = {
      '1.DA': 1,
      '704.PFWInj.PF': 2,
      '706.Crv.Pt.V': 3,
      '707.Crv.MustTrip.Pt.Tms': 4,
      '64414.Irradiance': 5,
    } satisfies Table;
    const inside: readonly PathIn<711>[] = ['Ena', 'Ctl.KOf'];
    expect([Object.keys(table).length, inside.length]).to.deep.equal([5, 2]);
  });

  it('a point that no model has does not compile', () => {
    // @ts-expect-error the last letter is missing
    const missing = { '704.WMaxLimPt': 1 } satisfies Table;
    // @ts-expect-error 705 is volt-var
    const ofAnother = { '705.Crv.Pt.W': 1 } satisfies Table;
    // @ts-expect-error paths of rules have no set or point numbers
    const numbered = { '706.Crv[0].Pt[0].V': 1 } satisfies Table;
    // @ts-expect-error devices do not serve 125
    const notServed = { '125.NPrc': 1 } satisfies Table;
    // @ts-expect-error a bound is read by the name of a point
    const bound = (read: ReadPoint) => read('702.WMaxRated');
    const id: 709 | 710 = 709;
    // @ts-expect-error frequency trips have no voltages
    const built: PointPath = `${id}.Crv.MustTrip.Pt.V`;
    expect([missing, ofAnother, numbered, notServed, bound, built]).to.have.lengthOf(6);
  });

  it('the served models are those of a full map, in its order', () => {
    const { models } = mapLayout({ storage: true, simModels: true });
    expect(servedModels.map(({ id }) => id)).to.deep.equal(models.map(({ def }) => def.id));
  });
});
