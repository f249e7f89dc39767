import { expect } from 'chai';
import { hasBit } from '../../../src/sunspec/map/codec.ts';
import {
  memoPerLayout,
  memoPerLayoutAndKey,
  setsOf,
  adoptionPoints,
  isAdoptionRequest,
  isInSet1,
} from '../../../src/sunspec/map/layout.ts';
import type { Layout } from '../../../src/sunspec/map/layout.ts';
import { mapLayout, named } from '../../support/map.ts';

const layout = mapLayout();

describe('stored sets', () => {
  for (const [modelId, paths] of [
    [705, ['AdptCrvReq', 'AdptCrvRslt', 'RvrtCrv']],
    [707, ['AdptCrvReq', 'AdptCrvRslt', undefined]],
    [711, ['AdptCtlReq', 'AdptCtlRslt', 'RvrtCtl']],
    [704, null],
    [1, null],
  ] as const) {
    it(`${modelId}: ${paths === null ? 'none' : paths.filter(Boolean).join(', ')}`, () => {
      const points = adoptionPoints(layout, modelId);
      expect(points && [points.request.path, points.result.path, points.reversion?.path]).to.deep.equal(paths);
      expect(points === null || isAdoptionRequest(points.request)).to.equal(true);
      const place = layout.models.find(({ def }) => def.id === modelId)!;
      expect(setsOf(place).length > 0).to.equal(paths !== null);
    });
  }

  it('set 1 is the first repetition, whatever lies in it', () => {
    const inside = ['705.Crv[0].ActPt', '705.Crv[0].Pt[3].V', '711.Ctl[0].KOf', '707.Crv[0].MustTrip.Pt[0].Tms'];
    const outside = ['705.Crv[1].ActPt', '705.Crv[2].Pt[0].V', '711.Ctl[1].KOf', '714.Prt[0].DCW', '705.Ena'];
    const inSet1 = (name: string) => isInSet1(named(layout, name));
    expect([inside.every(inSet1), outside.some(inSet1)]).to.deep.equal([true, false]);
  });
});

describe('memory per layout', () => {
  it('makes it once for each layout, also when it is nothing', () => {
    const made: Layout[] = [];
    const of = memoPerLayout((one) => {
      made.push(one);
      return one === layout ? undefined : {};
    });
    const other = mapLayout({ storage: true });
    expect([of(layout), of(layout), of(other) === of(other)]).to.deep.equal([undefined, undefined, true]);
    expect(made).to.deep.equal([layout, other]);
  });

  it('and for each key', () => {
    let made = 0;
    const of = memoPerLayoutAndKey((_, key: { readonly name: string }) => `${key.name}${++made}`);
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    const other = mapLayout({ storage: true });
    expect([of(layout, a), of(layout, b), of(other, a), of(layout, a)]).to.deep.equal(['a1', 'b2', 'a3', 'a1']);
  });
});

it('a bit of a field is found in all 32 places', () => {
  const bits = (field: number) => Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => hasBit(field, 2 ** bit));
  expect([bits(0), bits(0x8000_0001), bits(0b1010)]).to.deep.equal([[], [0, 31], [1, 3]]);
});
