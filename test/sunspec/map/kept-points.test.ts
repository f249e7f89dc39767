/** Registers that were kept under another map, or under other start values. */
import { expect } from 'chai';
import { Holds } from '../../../src/sunspec/map/holds.ts';
import { PointHolds } from '../../../src/sunspec/map/point-holds.ts';
import {
  keptPoint,
  layoutDigest,
  layoutPlaces,
  layoutTable,
  packTable,
  pointOf,
  unpackTable,
  unscaledPointOf,
} from '../../../src/sunspec/map/layout-table.ts';
import type { KeptPlace } from '../../../src/sunspec/map/layout-table.ts';
import { throughFile } from '../../support/continuation.ts';
import { byModbus, createTestBank, leanSizes } from '../../support/map.ts';
import type { TestBank } from '../../support/map.ts';

const limit = { '704.WMaxLimPct': 40, '704.WMaxLimPctEna': 'ENABLED' };

const leanStart = () => Buffer.from(createTestBank({ sizes: leanSizes }).bank.image());

/** Restores into `into` the registers that `from` kept. @param change of the places as an earlier version had them */
function restored(
  from: TestBank,
  into: TestBank,
  change = (place: KeptPlace): KeptPlace => place,
  start = leanStart(),
) {
  const left: string[] = [];
  const maps = {
    placesOf: () => unpackTable(packTable(layoutTable(from.layout))).map(change),
    sameStart: false,
    left: (points: readonly string[]) => left.push(...points),
  };
  const saved = throughFile(from.bank.kept(Buffer.from(createTestBank().bank.image())).save());
  into.bank.kept(start, maps).restore(saved);
  return left;
}

describe('sunspec/map: kept points in another map', () => {
  let from: TestBank;
  let into: TestBank;
  beforeEach(() => {
    from = createTestBank();
    into = createTestBank({ sizes: leanSizes });
  });

  it('are found by name, with their writers', () => {
    from.set({ ...limit, '706.Crv[1].Pt[0].V': 104 }, byModbus);
    expect(from.slot(706, 'Crv[1].Pt[0].V').address).not.to.equal(into.slot(706, 'Crv[1].Pt[0].V').address);
    expect(restored(from, into)).to.deep.equal([]);
    expect([into.value('704.WMaxLimPct'), into.value('704.WMaxLimPctEna')]).to.deep.equal([40, 'ENABLED']);
    expect(into.value('706.Crv[1].Pt[0].V')).to.equal(104);
    expect(into.bank.provenance(into.slot(704, 'WMaxLimPct'))).to.include(byModbus);
    expect(into.bank.lastWrite?.slot.modelId).to.be.oneOf([704, 706]);
  });

  it('are those that were written, also with their start value', () => {
    from.set({ '704.WMaxLimPct': from.value('704.WMaxLimPct') });
    const start = from.value('704.WMaxLimPct');
    const other = createTestBank({
      sizes: leanSizes,
      start: ({ m704 }) => {
        m704.WMaxLimPct = 33;
        m704.VarSetPct = 5;
      },
    });
    restored(from, other, undefined, Buffer.from(other.bank.image()));
    expect([other.value('704.WMaxLimPct'), other.value('704.VarSetPct')]).to.deep.equal([start, 5]);
  });

  it('are left, and named, where the map has none of their name and meaning', () => {
    from.set({ ...limit, '704.VarSetPct': 12 });
    const left = restored(from, into, (place) => {
      if (place.name === '704.WMaxLimPct') return { ...place, name: '704.Gone' };
      return place.name === '704.VarSetPct' ? { ...place, meaning: `${place.meaning}x` } : place;
    });
    expect(left).to.deep.equal(['704.Gone', '704.VarSetPct']);
    expect([into.value('704.WMaxLimPct'), into.value('704.VarSetPct')]).to.deep.equal([100, 0]);
    expect(into.value('704.WMaxLimPctEna')).to.equal('ENABLED');
  });

  it('keep their value under another scale factor', () => {
    from.set(limit);
    const raw = from.bank.raw(from.slot(704, 'WMaxLimPct'))[0];
    restored(from, into, (place) => (place.name === '704.WMaxLimPct' ? { ...place, sf: place.sf - 1 } : place));
    expect(into.bank.raw(into.slot(704, 'WMaxLimPct'))[0]).to.equal(Math.round(Number(raw) / 10));
  });

  it('are moved into the ranges of the present ratings', () => {
    from.set({ '702.WMax': from.value('702.WMaxRtg') });
    from.set({ '702.WMax': Number(from.value('702.WMax')) / 2 });
    const half = from.value('702.WMax');
    // ten times the value, as if the device had been larger
    restored(from, into, (place) => (place.name === '702.WMax' ? { ...place, sf: place.sf + 1 } : place));
    expect(into.value('702.WMax')).to.equal(into.value('702.WMaxRtg'));
    from.set({ '704.VarSetPct': -12 });
    restored(from, into, (place) => (place.name === '704.VarSetPct' ? { ...place, sf: place.sf + 1 } : place));
    expect(into.value('704.VarSetPct')).to.equal(-100);
    restored(from, into);
    expect(into.value('702.WMax')).to.equal(half);
  });

  it('are moved into ranges that depend on other kept points', () => {
    from.set({ '704.PFWInj.PF': 0.85, '704.PFWInj.Ext': 'UNDER_EXCITED' });
    const rated = (ratings: { readonly PFOvrExtRtg?: number; readonly PFUndExtRtg?: number }) => {
      const other = createTestBank({ sizes: leanSizes, start: ({ m702 }) => Object.assign(m702, ratings) });
      const left = restored(from, other, undefined, Buffer.from(other.bank.image()));
      return [left, other.value('704.PFWInj.PF')];
    };
    expect(rated({ PFOvrExtRtg: 0.9 })).to.deep.equal([[], 0.85]);
    expect(rated({ PFUndExtRtg: 0.9 })).to.deep.equal([[], 0.9]);
  });

  it('are left, and have no writer, where the device refuses them', () => {
    from.set(limit, byModbus);
    const other = createTestBank({
      sizes: leanSizes,
      start: ({ m702 }) => {
        m702.CtrlModes = 0;
      },
    });
    const left = restored(from, other, undefined, Buffer.from(other.bank.image()));
    expect([left, other.value('704.WMaxLimPctEna')]).to.deep.equal([['704.WMaxLimPctEna'], 'DISABLED']);
    expect(other.bank.provenance(other.slot(704, 'WMaxLimPctEna'))).to.equal(undefined);
    expect(other.bank.provenance(other.slot(704, 'WMaxLimPct'))).to.include(byModbus);
  });

  it('stay in the holds that have them', () => {
    const [before, after] = [new Holds(from.bank, 'rest'), new Holds(into.bank, 'rest')];
    const values = [{ slot: from.slot(706, 'Crv[1].Pt[0].V'), value: 104 }];
    before.change({ begin: { id: 'a', source: 'rest', values } });
    restored(from, into);
    after.kept().restore(throughFile(before.kept().save()));
    expect(after.points('a').map(({ slot, overwritten }) => ({ slot, overwritten }))).to.deep.equal([
      { slot: into.slot(706, 'Crv[1].Pt[0].V'), overwritten: false },
    ]);
  });

  /** The state of holds, in a map in which the percentages of model 704 have another step. */
  function rescaled(): TestBank {
    const coarse = createTestBank({ sizes: leanSizes, scale: { '704.WMaxLimPct_SF': 0 } });
    expect(restored(from, coarse, undefined, Buffer.from(coarse.bank.image()))).to.deep.equal([]);
    return coarse;
  }

  it('stay in the holds that have them under another scale factor, and their ends put the bases back', () => {
    from.set({ '704.WMaxLimPct': 80 }, byModbus);
    const before = new Holds(from.bank, 'rest');
    before.change({ begin: { id: 'a', source: 'rest', values: [{ slot: from.slot(704, 'WMaxLimPct'), value: 40 }] } });
    const coarse = rescaled();
    const slot = coarse.slot(704, 'WMaxLimPct');
    const after = new Holds(coarse.bank, 'rest');
    after.kept().restore(throughFile(before.kept().save()));
    expect(after.points('a')).to.deep.include({ slot, value: 40, base: 80, overwritten: false, added: false });
    expect(after.change({ end: ['a'] })[0]?.restored).to.include(slot);
    expect([coarse.value('704.WMaxLimPct'), coarse.bank.provenance(slot)?.source]).to.deep.equal([80, 'modbus']);
  });

  it('stay in the controls that have them under another scale factor', () => {
    const before = new PointHolds(from.bank, 'csip');
    before.follow(new Map([['event', new Map([[from.slot(704, 'WMaxLimPct'), 30]])]]));
    const coarse = rescaled();
    const after = new PointHolds(coarse.bank, 'csip');
    after.kept().restore(throughFile(before.kept().save()));
    const values = new Map([[coarse.slot(704, 'WMaxLimPct'), 30]]);
    expect([...after.follow(new Map([['event', values]]))], 'nothing is written again').to.deep.equal([]);
    after.follow(new Map());
    expect([after.ids, coarse.value('704.WMaxLimPct')]).to.deep.equal([[], 100]);
  });

  it('have bases of the present start values and ratings at the ends of holds', () => {
    from.set({ '702.WMaxOvrExt': 80_000 }, byModbus);
    const before = new Holds(from.bank, 'rest');
    const values = [
      { slot: from.slot(702, 'WMax'), value: 5000 },
      { slot: from.slot(702, 'WMaxOvrExt'), value: 4000 },
    ];
    before.change({ begin: { id: 'a', source: 'rest', values } });
    const small = createTestBank({
      sizes: leanSizes,
      start: ({ m702 }) => Object.assign(m702, { WMaxRtg: 10_000, WMax: 10_000, WOvrExtRtg: 9000, WMaxOvrExt: 9000 }),
    });
    const now = () => [small.value('702.WMax'), small.value('702.WMaxOvrExt')];
    const writers = () => ['WMax', 'WMaxOvrExt'].map((path) => small.bank.provenance(small.slot(702, path))?.source);
    restored(from, small, undefined, Buffer.from(small.bank.image()));
    const after = new Holds(small.bank, 'rest');
    after.kept().restore(throughFile(before.kept().save()));
    expect([now(), writers()]).to.deep.equal([
      [5000, 4000],
      ['rest', 'rest'],
    ]);
    expect(after.points('a').map(({ base }) => base)).to.deep.equal([10_000, 9000]);
    after.change({ end: ['a'] });
    expect([now(), writers()]).to.deep.equal([
      [10_000, 9000],
      [undefined, 'modbus'],
    ]);
  });

  it('have a place for kept registers under the same scale factor alone', () => {
    const [fine, coarse] = [from.slot(704, 'WMaxLimPct'), rescaled().layout];
    expect(pointOf(coarse, keptPoint(fine))?.path).to.equal('WMaxLimPct');
    expect(unscaledPointOf(coarse, keptPoint(fine))).to.equal(undefined);
    expect(unscaledPointOf(from.layout, keptPoint(fine))).to.equal(fine);
    expect(unscaledPointOf(from.layout, fine.index)).to.equal(fine);
  });

  it('begin no control that the registers of a device that starts anew do not have', () => {
    const [before, after] = [new PointHolds(from.bank, 'csip'), new PointHolds(into.bank, 'csip')];
    const follow = (holds: PointHolds, { slot }: TestBank) =>
      holds.follow(new Map([['event', new Map([[slot(704, 'WMaxLimPct'), 30]])]]));
    follow(before, from);
    after.kept().restore(throughFile(before.kept().save()));
    expect(after.isEmpty).to.equal(true);
    expect([...follow(after, into)]).to.deep.equal([['event', 'done']]);
    expect([into.value('704.WMaxLimPct'), after.isOverwritten('event')]).to.deep.equal([30, false]);
  });

  it('have a digest that differs with each name, place and meaning', () => {
    const digests = [createTestBank(), createTestBank({ sizes: leanSizes }), createTestBank({ storage: true })];
    expect(new Set(digests.map(({ layout }) => layoutDigest(layout))).size).to.equal(3);
    expect(unpackTable(packTable(layoutTable(from.layout)))).to.deep.equal(layoutPlaces(from.layout));
    expect(packTable(layoutTable(from.layout)).length).to.be.below(8000);
  });
});
