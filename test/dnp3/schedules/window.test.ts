import { expect } from 'chai';
import { builtInRows } from '../../../src/dnp3/profile/binding.ts';
import { PointRig } from '../rig/points.ts';
import { begin, limitOf, off, schedule } from './orders.ts';
import type { SettingWrite } from './orders.ts';

describe('the window on schedules', () => {
  it('SCHED: shows what was written to each of ten, and is valid with the number of points', () => {
    const rig = new PointRig('PV-3Phase');
    expect(rig.value('AI24')).to.equal(10);
    const orders = schedule(rig, 3, {
      priority: 7,
      inS: 60,
      interval: 2,
      unit: 4,
      points: [
        [0, 400],
        [60, 0],
      ],
    });
    rig.done(...orders.slice(0, -1));
    expect([rig.value('AI578'), rig.value('BI109'), rig.value('AI579')]).to.deep.equal([0, 0, 1]);
    rig.done(...orders.slice(-1));
    expect([rig.value('AI578'), rig.value('BI109'), rig.value('AI579')]).to.deep.equal([1, 1, 2]);
    const shown = ([570, 571, 572, 573, 576, 577, 580, 581, 582, 583] as const).map((i) => rig.value(`AI${i}`));
    expect(shown).to.deep.equal([3, 103, 7, 13, 2, 4, 2, 0, 400, 60]);
    rig.done(['AO461', 4]);
    expect([rig.value('AI571'), rig.value('AI572'), rig.value('AI580')]).to.deep.equal([0, 1, 0]);
    rig.done(['AO461', 3], ['AO471', 500]);
    expect([rig.value('AI578'), rig.value('BI109')]).to.deep.equal([0, 0]);
  });

  it('refuses selectors beyond 10, priorities of 0 and fractions', () => {
    const rig = new PointRig('PV-3Phase');
    expect(rig.operate('AO461', 0)).to.equal(12);
    expect(rig.operate('AO461', 11)).to.equal(12);
    expect(rig.operate('AO463', 0)).to.equal(12);
    const [selector] = rig.points.views({ type: 'AO', from: 461, to: 461 });
    expect([selector?.min, selector?.max]).to.deep.equal([1, 10]);
    expect(rig.operate('AO469', 1.5)).to.equal(12);
    expect(rig.operate('AO469', 101)).to.equal(12);
  });

  it('tells types, values and times that cannot run apart, and makes none of them ready', () => {
    const rig = new PointRig('PV-3Phase');
    const end = [60, 0] as const;
    const cases: readonly (readonly [code: number, wanted: SettingWrite])[] = [
      ...[0, 1, 11, 12, 22, 30].map((type) => [2, { type, points: [[0, 100], end] }] as const),
      [3, { points: [[0, 1001], end] }],
      [3, { points: [[0, -1], end] }],
      [3, { type: 27, points: [[0, 5], end] }],
      [3, { type: 27, points: [[0, 0], end] }],
      [4, { points: [[0, 100]] }],
      [4, { points: [] }],
      [4, { points: [[60, 100], end] }],
      [4, { unit: 4, points: [[0, 100], end] }],
      [4, { unit: 7, interval: 1, points: [[0, 100], end] }],
    ];
    for (const [code, wanted] of cases) {
      rig.done(...schedule(rig, 1, wanted));
      expect(rig.value('AI578'), JSON.stringify(wanted)).to.equal(code);
      expect(rig.operate('BO42', true, true)).to.equal(15);
      expect(rig.operate('BO42', true)).to.equal(15);
    }
    expect(limitOf(rig)).to.deep.equal(off);
  });

  it('a ready schedule is locked but for its weekdays; one that is over cannot get ready', () => {
    const rig = new PointRig('PV-3Phase');
    begin(rig, 1, {
      inS: 600,
      points: [
        [0, 400],
        [60, 0],
      ],
    });
    expect([rig.value('BI108'), rig.value('AI579')]).to.deep.equal([1, 3]);
    for (const name of ['AO463', 'AO469', 'AO470'] as const) expect(rig.operate(name, 1), name).to.equal(10);
    rig.done(['BO44', true]);
    expect(rig.value('BI111')).to.equal(1);
    rig.done(['BO42', false], ['AO463', 2]);
    rig.done(
      ...schedule(rig, 2, {
        inS: -600,
        points: [
          [0, 400],
          [60, 0],
        ],
      }),
    );
    expect(rig.operate('BO42', true)).to.equal(15);
  });

  it('SELECT moves nothing', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(
      ...schedule(rig, 1, {
        points: [
          [0, 400],
          [60, 0],
        ],
      }),
    );
    expect(rig.operate('BO42', true, true)).to.equal(0);
    expect([rig.value('BI108'), ...limitOf(rig)]).to.deep.equal([0, ...off]);
  });

  it('IEEE 1815.2 has no schedules', () => {
    const rig = new PointRig('PV-3Phase', { profile: 'ieee1815.2' });
    expect([rig.operate('AO461', 1), rig.operate('BO42', true), rig.value('AI24')]).to.deep.equal([4, 4, 0]);
    expect(builtInRows('ieee1815.2').some(({ name }) => /^Schedule/.test(name))).to.equal(false);
  });
});
