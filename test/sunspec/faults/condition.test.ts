import { expect } from 'chai';
import type { FaultCondition } from '../../../src/core/faults/kinds.ts';
import { conditionIssue, holds } from '../../../src/sunspec/faults/targets.ts';
import { createTestBank } from '../../support/map.ts';
import { noiseFault, valueFault } from '../../../src/fault-kinds/modbus-map.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';

describe('conditions of faults', () => {
  const { bank, layout } = createTestBank({
    omit: ['701.TmpAmb'],
    start: ({ m1, m701 }) => {
      Object.assign(m701, { W: 500, InvSt: 'RUNNING', Alrm: 2, TmpCab: null });
      m1.Md = 'test';
    },
  });

  const rows: readonly (readonly [FaultCondition, boolean])[] = [
    [{ point: '701.W', below: 501 }, true],
    [{ point: '701.W', below: 500 }, false],
    [{ point: '701.W', above: 499 }, true],
    [{ point: '701.W', above: 500 }, false],
    [{ point: '701.W', above: 400, below: 600 }, true],
    [{ point: '701.W', above: 400, below: 450 }, false],
    [{ point: '701.W', equals: 500 }, true],
    [{ point: '701.W', equals: 510 }, false],
    [{ point: '701.InvSt', equals: 'RUNNING' }, true],
    [{ point: '701.InvSt', equals: 3 }, true],
    [{ point: '701.InvSt', equals: 'OFF' }, false],
    [{ point: '701.InvSt', equals: 0 }, false],
    [{ point: '701.Alrm', equals: 2 }, true],
    [{ point: '1.Md', equals: 'test' }, true],
    [{ point: '705.Crv[1].ActPt', above: 1 }, true],
    [{ point: '701.TmpCab', below: 1000 }, false],
    [{ point: '701.TmpAmb', below: 1000 }, false],
    [{ point: '701.Nothing', below: 1 }, false],
    [{ point: '999.W', below: 1 }, false],
    [{ point: 'W', below: 1 }, false],
  ];
  for (const [when, expected] of rows) {
    it(`${JSON.stringify(when)} ${expected ? 'holds' : 'does not hold'}`, () => {
      expect(holds(bank, when)).to.equal(expected);
    });
  }

  it('holds where there is none', () => {
    expect(holds(bank, null)).to.equal(true);
  });

  it('finds points by their names', () => {
    expect(layout.named('705.Crv[1].Pt[0].V')?.path).to.equal('Crv[1].Pt[0].V');
    expect(layout.named('705')).to.equal(undefined);
  });

  const refused: readonly (readonly [FaultCondition, string])[] = [
    [{ point: '701.Nothing', below: 1 }, '/when/point'],
    [{ point: '701', below: 1 }, '/when/point'],
    [{ point: '701.TmpAmb', below: 1 }, '/when/point'],
    [{ point: '701.W' }, '/when'],
    [{ point: '701.W', above: 5, below: 5 }, '/when/above'],
    [{ point: '701.W', equals: 'many' }, '/when/equals'],
    [{ point: '701.InvSt', below: 3 }, '/when/below'],
    [{ point: '701.InvSt', above: 3 }, '/when/above'],
    [{ point: '701.InvSt', equals: 'DANCING' }, '/when/equals'],
    [{ point: '701.InvSt', equals: 99 }, '/when/equals'],
    [{ point: '701.InvSt', equals: 'constructor' }, '/when/equals'],
    [{ point: '1.Md', above: 3 }, '/when/above'],
    [{ point: '1.Md', equals: 3 }, '/when/equals'],
  ];
  for (const [when, name] of refused) {
    it(`refuses ${JSON.stringify(when)} at ${name}`, () => {
      expect(conditionIssue(layout, when)?.name).to.equal(name);
    });
  }

  it('has nothing against one that can hold', () => {
    for (const [when] of rows.filter(([, expected]) => expected)) expect(conditionIssue(layout, when)).to.equal(null);
  });

  it('lets a fault rest by what the registers truly hold, not by what other faults show', () => {
    const rig = new FaultyMapRig();
    rig.inject(valueFault, { value: 0 }, { target: { points: ['701.W'] } });
    const fault = rig.inject(
      noiseFault,
      { amplitude: 1000 },
      { target: { points: ['701.Var'] }, when: { point: '701.W', above: 10_000 } },
    );
    expect(rig.shown('701.Var')).to.not.equal(14_000);
    rig.map.bank.measurements.m701.W = 0;
    expect(rig.shown('701.Var')).to.equal(14_000);
    expect(fault.occasions).to.equal(1);
  });
});
