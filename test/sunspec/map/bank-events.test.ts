import { expect } from 'chai';
import type { Origin } from '../../../src/core/origin.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import type { Change } from '../../../src/sunspec/map/bank.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { byModbus, byRest, codeOf, createTestBank, HandClock, mapLayout, slotOf, words } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';

describe('bank: change events and provenance', () => {
  it('one event lists every point of the commit, with origin and time', () => {
    const test = createTestBank();
    const at = test.clock.advance(12.5);
    test.bank.write(test.slot(704, 'WMaxLimPctEna').address, words(1, 500, 400), byModbus);
    expect(test.changes).to.have.lengthOf(1);
    const [change] = test.changes;
    expect(change?.points.map(pointName)).to.deep.equal(['704.WMaxLimPctEna', '704.WMaxLimPct', '704.WMaxLimPctRvrt']);
    expect(change?.by).to.deep.equal(byModbus);
    expect(change?.at).to.equal(at);
  });

  it('each point of a transaction is listed once', () => {
    const test = createTestBank();
    test.bank.transact(byRest, (tx) => {
      tx.m704.WRmp = 1;
      tx.m715.ControllerHb = 9;
      tx.m704.WRmp = 2;
    });
    expect(test.changes.map(({ points }) => points.map(pointName))).to.deep.equal([['704.WRmp', '715.ControllerHb']]);
  });

  it('a write of the value that is there already still counts', () => {
    const test = createTestBank();
    test.set({ '704.WMaxLimPct': 100 }, byModbus);
    expect(test.changes.map(({ points }) => points.map(pointName))).to.deep.equal([['704.WMaxLimPct']]);
    expect(test.bank.provenance(test.slot(704, 'WMaxLimPct'))?.source).to.equal('modbus');
  });

  it('a point remembers its last writer', () => {
    const test = createTestBank();
    const slot = test.slot(704, 'WMaxLimPct');
    expect(test.bank.provenance(slot)).to.equal(undefined);
    test.set({ '704.WMaxLimPct': 60 });
    const later: Origin = { source: 'csip', peer: 'mrid-7' };
    const at = test.clock.advance(3);
    test.clock.wallNowMs = 2_000_000;
    test.set({ '704.WMaxLimPct': 50 }, later);
    expect(test.bank.provenance(slot)).to.deep.equal({ source: 'csip', peer: 'mrid-7', at, wallMs: 2_000_000 });
    expect(test.bank.provenance(test.slot(704, 'WMaxLimPctEna'))).to.equal(undefined);
    expect(
      codeOf(() => {
        test.set({ '704.WMaxLimPct': 101 }, byModbus);
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(test.bank.provenance(slot)?.source).to.equal('csip');
  });

  it('measurements make neither events nor provenance', () => {
    const test = createTestBank();
    test.bank.measurements.m701.W = 5000;
    test.bank.publish(test.slot(701, 'Hz'), 60.01);
    expect([test.value('701.W'), test.value('701.Hz')]).to.deep.equal([5000, 60.01]);
    expect(test.changes).to.have.lengthOf(0);
    expect(test.bank.provenance(test.slot(701, 'Hz'))).to.equal(undefined);
  });

  it('a listener may write, and sees the committed state', () => {
    const test = createTestBank();
    const seen: unknown[] = [];
    const end = test.bank.onChange(({ by }: Change) => {
      if (by.source !== 'rest') return;
      seen.push(test.value('704.WRmp'));
      test.set({ '704.VarRmp': 3 }, { source: 'scenario' });
    });
    test.set({ '704.WRmp': 2 });
    expect(seen).to.deep.equal([2]);
    expect(test.value('704.VarRmp')).to.equal(3);
    expect(test.changes.map(({ by }) => by.source)).to.deep.equal(['rest', 'scenario']);
    end();
    test.set({ '704.WRmp': 4 });
    expect(seen).to.have.lengthOf(1);
  });

  it('start values may have a writer of their own, shared between banks and back after a reload', () => {
    const layout = mapLayout();
    const clock = new HandClock();
    const [limit, ramp] = [slotOf(layout, 704, 'WMaxLimPct'), slotOf(layout, 704, 'WRmp')];
    const start = new Map([[limit, { source: 'profile', at: clock.sim(), wallMs: 7 } as const]]);
    const [a, b] = [0, 1].map(() => new RegisterBank(layout, startImage(layout), clock, { startWriters: start })) as [
      RegisterBank,
      RegisterBank,
    ];
    a.assign(byModbus, [{ slot: limit, value: 50 }]);
    const writers = () => [a.provenance(limit)?.source, b.provenance(limit)?.source, a.provenance(ramp)];
    expect(writers()).to.deep.equal(['modbus', 'profile', undefined]);
    a.reload(startImage(layout), byRest);
    expect(writers()).to.deep.equal(['profile', 'profile', undefined]);
  });

  it('remembers the last commit with its first point, until a reload', () => {
    const test = createTestBank();
    expect(test.bank.lastWrite).to.equal(null);
    test.set({ '704.WMaxLimPct': 50, '704.WMaxLimPctEna': 'ENABLED' });
    test.clock.advance(1);
    test.set({ '705.AdptCrvReq': 2 }, byModbus);
    expect(test.bank.lastWrite).to.deep.equal({
      slot: test.slot(705, 'AdptCrvReq'),
      by: { ...byModbus, at: test.clock.sim(), wallMs: test.clock.wallMs() },
    });
    expect(() => {
      test.set({ '704.WMaxLimPct': 500 });
    }).to.throw();
    expect(test.bank.lastWrite?.by.source, 'a refused write is none').to.equal('modbus');
    test.bank.reload(test.dump(), byRest);
    expect(test.bank.lastWrite).to.equal(null);
  });

  it('reload puts the start values back and forgets the writers', () => {
    const test = createTestBank();
    const start = test.dump();
    test.set({ '704.WMaxLimPct': 10 });
    test.bank.reload(start, byRest);
    expect(test.dump().equals(start)).to.equal(true);
    expect(test.bank.provenance(test.slot(704, 'WMaxLimPct'))).to.equal(undefined);
  });
});
