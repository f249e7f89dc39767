import { expect } from 'chai';
import type { CurveFunction } from '../../../../src/sunspec/map/grid-support/functions.ts';
import { boundsOf, ranges } from '../../../../src/sunspec/map/rules.ts';
import {
  apply,
  capacity,
  checkApply,
  factsOf,
  hasCurve,
  inRegisters,
  isInForce,
  place,
  switching,
} from '../../../../src/sunspec/map/grid-support/wish.ts';
import type { CurveWish, FunctionWish, PointFacts, XY } from '../../../../src/sunspec/map/grid-support/wish.ts';
import { pointValue } from '../../../../src/sunspec/map/bank.ts';
import { codeOf, createTestBank, leanSizes } from '../../../support/map.ts';

const xy = (...points: readonly (readonly [x: number, y: number])[]): readonly XY[] =>
  points.map(([x, y]) => ({ x, y }));

/** Values by name of their points, or why there are none. */
function placed(facts: PointFacts, ...wishes: readonly FunctionWish[]): unknown {
  const values = place(facts, wishes);
  if ('refused' in values) return [values.refused, values.reason];
  return Object.fromEntries(values.map(({ model, path, value }) => [`${model}.${path}`, value]));
}

const curveOf = (name: CurveFunction, curve: CurveWish): FunctionWish => ({ name, curve });

describe('a wish for grid-support functions', () => {
  const { bank } = createTestBank();
  const facts = factsOf(bank);

  it('is placed in the enable, the timer, the curve and the settings of its function', () => {
    expect(
      placed(facts, {
        name: 'volt_watt',
        on: true,
        reversionS: 60,
        curve: { points: xy([103, 100], [110, 0]) },
        values: { 'Crv.DeptRef': 'W_MAX_PCT' },
        ifPresent: { 'Crv.RspTms': 5, 'Crv.VRef': 100 },
      }),
    ).to.deep.equal({
      '706.Ena': 'ENABLED',
      '706.RvrtTms': 60,
      '706.Crv[0].Pt[0].V': 103,
      '706.Crv[0].Pt[0].W': 100,
      '706.Crv[0].Pt[1].V': 110,
      '706.Crv[0].Pt[1].W': 0,
      '706.Crv[0].ActPt': 2,
      '706.Crv[0].DeptRef': 'W_MAX_PCT',
      '706.Crv[0].RspTms': 5,
    });
    expect(
      placed(facts, { name: 'freq_droop', on: false, values: { 'Ctl.PMin': -20, 'Ctl.DbOf': null } }),
    ).to.deep.equal({
      '711.Ena': 'DISABLED',
      '711.Ctl[0].PMin': -20,
    });
  });

  it('has trip curves by time, the farthest threshold first, and refuses one that turns back', () => {
    const points = xy([88, 21], [50, 0.16], [45, 0.16]);
    const curve = { points, region: 'MayTrip', inAnyOrder: true } as const;
    const values = placed(facts, curveOf('lv_trip', curve)) as Record<string, number>;
    expect([0, 1, 2].map((i) => values[`707.Crv[0].MayTrip.Pt[${i}].V`])).to.deep.equal([45, 50, 88]);
    expect([0, 1, 2].map((i) => values[`707.Crv[0].MayTrip.Pt[${i}].Tms`])).to.deep.equal([0.16, 0.16, 21]);
    expect(placed(facts, curveOf('hv_trip', curve))).to.deep.equal(['invalid', 'turns_back']);
    const asItStands = placed(facts, curveOf('hv_trip', { points, region: 'MustTrip' }));
    expect(asItStands).to.include({ '708.Crv[0].MustTrip.Pt[0].V': 88, '708.Crv[0].MustTrip.ActPt': 3 });
    expect(hasCurve(facts, 'lf_trip', 'MomCess')).to.equal(true);
  });

  it('may have x in volts or watts, of the settings of the device', () => {
    const rated: PointFacts = { ...facts, number: (_, path) => (path === 'NPt' ? 4 : 8000) };
    const inUnit = (name: CurveFunction, xUnit: 'V' | 'W') => curveOf(name, { points: xy([4000, 1]), xUnit });
    expect(placed(rated, inUnit('volt_var', 'V'))).to.include({ '705.Crv[0].Pt[0].V': 50 });
    expect(placed(rated, inUnit('watt_var', 'W'))).to.include({ '712.Crv[0].Pt[0].W': 50 });
    const unrated: PointFacts = { ...facts, number: (_, path) => (path === 'NPt' ? 4 : null) };
    expect(placed(unrated, inUnit('volt_watt', 'V'))).to.deep.equal(['unsupported', 'no_rating']);
  });

  it('multiplies the voltages of a volt-var curve with their reference, to which the device shifts the curve', () => {
    const reference = { pct: 98, autonomous: true, timeS: 300 };
    const wish = curveOf('volt_var', { points: xy([100, 0]), reference });
    expect(placed(facts, wish)).to.include({
      '705.Crv[0].Pt[0].V': 100,
      '705.Crv[0].VRef': 98,
      '705.Crv[0].VRefAutoEna': 'ENABLED',
      '705.Crv[0].VRefAutoTms': 300,
    });
    const plain = { ...facts, hasPoint: (_: number, path: string) => !path.includes('VRefAuto') };
    expect(placed(plain, wish)).to.deep.equal(['unsupported', 'no_reference']);
  });

  it('is refused where its curve has more points than the model', () => {
    const lean = factsOf(createTestBank({ sizes: leanSizes }).bank);
    expect(capacity(lean, 'volt_watt')).to.equal(2);
    const long = xy([1, 1], [2, 2], [3, 3]);
    expect(place(lean, [curveOf('volt_watt', { points: long })])).to.deep.equal({
      refused: 'unsupported',
      reason: 'too_many_points',
      max: 2,
      detail: 'the curve has 3 points, and the device accepts 2',
    });
  });

  it('is in force once it is applied, to the last digit of the registers', () => {
    const test = createTestBank();
    const wish = curveOf('volt_var', { points: xy([92.001, 44.004], [108, -44]) });
    const values = place(factsOf(test.bank), [wish, { name: 'volt_var', on: true }]);
    if ('refused' in values) return expect.fail(values.detail);
    const held = inRegisters(test.bank, values);
    expect(isInForce(test.bank, held)).to.equal(false);
    checkApply(test.bank, { source: 'rest' }, held);
    expect(isInForce(test.bank, held)).to.equal(false);
    apply(test.bank, { source: 'rest' }, held);
    expect(isInForce(test.bank, held)).to.equal(true);
    expect(codeOf(() => inRegisters(test.bank, [{ model: 705, path: 'Crv[0].Pt[99].V', value: 1 }]))).to.equal(
      'MAP_NOT_IMPLEMENTED',
    );
  });

  it('switches the other functions of reactive power off with the one that it switches on', () => {
    const test = createTestBank();
    const turn = (name: 'volt_var' | 'watt_var' | 'volt_watt', on: boolean) => switching(test.bank, name, on);
    const values = place(factsOf(test.bank), turn('volt_var', true));
    if ('refused' in values) return expect.fail(values.detail);
    apply(test.bank, { source: 'rest' }, inRegisters(test.bank, values));
    expect(pointValue(test.bank, 705, 'Ena')).to.equal('ENABLED');
    expect(turn('watt_var', true)).to.deep.equal([
      { name: 'volt_var', on: false },
      { name: 'watt_var', on: true },
    ]);
    expect(turn('watt_var', false)).to.deep.equal([{ name: 'watt_var', on: false }]);
    expect(turn('volt_watt', true)).to.deep.equal([{ name: 'volt_watt', on: true }]);
  });
});

describe('bounds of a point', () => {
  const of = (point: string, ratings: Readonly<Record<string, number>>) => {
    const rule = ranges[point];
    return rule && boundsOf(rule, (name) => ratings[name] ?? null);
  };

  it('follow the settings of the device', () => {
    expect(of('704.VarSet', { '702.VarMaxAbs': 300, '702.VarMaxInj': 400 })).to.deep.equal({ min: -300, max: 400 });
    expect(of('705.Crv.VRef', {})).to.deep.equal({ min: 80, max: 120, orZero: true });
  });

  it('are 0 below where the device lacks the rating, and open above', () => {
    expect(of('704.WSet', { '702.WMax': 10_000 })).to.deep.equal({ min: 0, max: 10_000 });
    expect(of('704.VarSet', {})).to.deep.equal({ min: 0 });
    expect(of('702.VAMax', {})).to.deep.equal({ min: 1 });
  });
});
