import { expect } from 'chai';
import type { CompositeSchedule } from '../../../../src/ocpp/charging/composite.ts';
import { compositeOf } from '../../../../src/ocpp/v201/charging/convert.ts';

const rating = { maxPowerW: 22_000, maxCurrentA: 32 };

/** @param periods start in seconds, and limit in amperes */
function scheduleOf(durationS: number, periods: readonly (readonly [startS: number, limit: number])[]) {
  const composite: CompositeSchedule = {
    startMs: Date.UTC(2026, 5, 21),
    durationS,
    unit: 'A',
    periods: periods.map(([startS, limit]) => ({ startS, limit, numberPhases: null })),
  };
  return compositeOf(1, composite, rating, 'ocpp2.0.1');
}

const rowsOf = (...periods: readonly (readonly [number, number])[]) =>
  scheduleOf(60, periods).chargingSchedulePeriod.map(({ startPeriod, limit }) => [startPeriod, limit]);

describe('OCPP 2.0.1 composite schedules in whole seconds (K08)', () => {
  it('of two changes within a second the later one stands', () => {
    expect(rowsOf([0, 10], [20.6, 12], [21.4, 14], [30, 16])).to.deep.equal([
      [0, 10],
      [21, 14],
      [30, 16],
    ]);
    expect(rowsOf([0, 10], [0.4, 12])).to.deep.equal([[0, 12]]);
  });

  it('a change that is taken back within a second is none', () => {
    expect(rowsOf([0, 10], [20.6, 12], [21.4, 10], [30, 16])).to.deep.equal([
      [0, 10],
      [30, 16],
    ]);
  });

  it('a duration that rounds to 0 is one second, and has its period', () => {
    for (const durationS of [0.1, 0.4, 0.5, 1.4]) {
      const { duration, chargingSchedulePeriod } = scheduleOf(durationS, [[0, 10]]);
      expect([duration, chargingSchedulePeriod.length], `${durationS}`).to.deep.equal([1, 1]);
    }
  });

  it('a change at the end is left out', () => {
    expect(rowsOf([0, 10], [59.4, 12], [59.6, 14])).to.deep.equal([
      [0, 10],
      [59, 12],
    ]);
  });
});
