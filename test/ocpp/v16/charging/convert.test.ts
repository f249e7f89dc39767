import { expect } from 'chai';
import type { CompositePeriod, CompositeSchedule } from '../../../../src/ocpp/charging/composite.ts';
import { profileOf, replyOf } from '../../../../src/ocpp/v16/charging.ts';
import { profile } from './rig.ts';

const rating = { maxPowerW: 22_000, maxCurrentA: 32 };

/** @param periods start in seconds, and limit in amperes */
function scheduleOf(durationS: number, periods: readonly (readonly [startS: number, limit: number])[]) {
  const composite: CompositeSchedule = {
    startMs: Date.UTC(2026, 5, 21),
    durationS,
    unit: 'A',
    periods: periods.map(([startS, limit]) => ({ startS, limit, numberPhases: null })),
  };
  return replyOf(1, composite, rating).chargingSchedule;
}

const rowsOf = (...periods: readonly (readonly [number, number])[]) =>
  scheduleOf(60, periods)?.chargingSchedulePeriod.map(({ startPeriod, limit }) => [startPeriod, limit]);

describe('OCPP 1.6 composite schedules in whole seconds (7.13, 7.14)', () => {
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
      const { duration, chargingSchedulePeriod } = scheduleOf(durationS, [[0, 10]]) ?? {
        duration: null,
        chargingSchedulePeriod: [],
      };
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

describe('OCPP 1.6 composite schedules: members of a period (7.14)', () => {
  const rows = (unit: 'W' | 'A', ...all: readonly Partial<CompositePeriod>[]) =>
    replyOf(
      1,
      {
        startMs: 0,
        durationS: 60,
        unit,
        periods: all.map((each, i) => ({ startS: i * 10, limit: null, numberPhases: null, ...each })),
      },
      rating,
    ).chargingSchedule?.chargingSchedulePeriod;

  it('where nothing limits, the rating in the unit asked for; down to a tenth', () => {
    expect(rows('W', {})).to.deep.equal([{ startPeriod: 0, limit: 22_000 }]);
    expect(rows('A', {})).to.deep.equal([{ startPeriod: 0, limit: 32 }]);
    expect(rows('A', { limit: 0 }, { limit: 5.99 }, { limit: 2.999_999_5 })?.map(({ limit }) => limit)).to.deep.equal([
      0, 5.9, 3,
    ]);
  });

  it('phases are shown where they are limited, and their change is a period', () => {
    expect(rows('A', { limit: 6 }, { limit: 6, numberPhases: 1 }, { limit: 6, numberPhases: 3 })).to.deep.equal([
      { startPeriod: 0, limit: 6 },
      { startPeriod: 10, limit: 6, numberPhases: 1 },
      { startPeriod: 20, limit: 6, numberPhases: 3 },
    ]);
    expect(rows('A', { limit: 6, numberPhases: 1 }, { limit: 6.01, numberPhases: 1 })).to.have.length(1);
  });
});

describe('OCPP 1.6 charging profiles as they act', () => {
  const startMs = Date.UTC(2026, 5, 21);
  const startSchedule = '2026-06-21T00:00:00Z';
  const max = { chargingProfilePurpose: 'ChargePointMaxProfile' } as const;
  const kind = (change: Parameters<typeof profile>[0]) => profileOf(1, profile(change), 7).kind;

  it('have the place and the instant at which they came', () => {
    const sent = profile({
      chargingProfileId: 3,
      stackLevel: 4,
      validFrom: startSchedule,
      validTo: '2026-06-21T00:00:01Z',
      chargingSchedule: {
        duration: 9,
        minChargingRate: 6,
        startSchedule,
        chargingSchedulePeriod: [{ startPeriod: 0, limit: 0, numberPhases: 2 }],
      },
    });
    expect(profileOf(2, sent, 7)).to.deep.equal({
      profileId: 3,
      connectorId: 2,
      stackLevel: 4,
      purpose: 'tx_default',
      kind: 'absolute',
      validFromMs: startMs,
      validToMs: startMs + 1000,
      transactionId: null,
      receivedMs: 7,
      schedule: {
        unit: 'A',
        durationS: 9,
        startMs,
        minChargingRate: 6,
        periods: [{ startS: 0, limit: 0, numberPhases: 2 }],
      },
    });
    const { validFromMs, validToMs, schedule } = profileOf(2, profile(), 7);
    expect([validFromMs, validToMs]).to.deep.equal([null, null]);
    expect(schedule).to.deep.include({ durationS: null, startMs: null, minChargingRate: null });
    expect(schedule.periods).to.deep.equal([{ startS: 0, limit: 10, numberPhases: null }]);
  });

  it('an absolute one without a start begins with charging, that of the station when it is received (7.13)', () => {
    expect(kind({})).to.equal('relative');
    expect(kind({ chargingSchedule: { startSchedule } })).to.equal('absolute');
    expect(kind(max)).to.equal('absolute');
    expect(kind({ ...max, chargingSchedule: { startSchedule } })).to.equal('absolute');
    expect(kind({ chargingProfileKind: 'Relative', chargingSchedule: { startSchedule } })).to.equal('relative');
  });

  it('what recurs does so each day unless each week', () => {
    const recurring = { chargingProfileKind: 'Recurring' } as const;
    expect(kind({ ...recurring, recurrencyKind: 'Daily' })).to.equal('recurring_daily');
    expect(kind({ ...recurring, recurrencyKind: 'Weekly' })).to.equal('recurring_weekly');
  });

  it('only a TxProfile belongs to its transaction, whose id is a text', () => {
    const transactionOf = (change: Parameters<typeof profile>[0]) => profileOf(1, profile(change), 7).transactionId;
    const tx = { chargingProfilePurpose: 'TxProfile' } as const;
    expect(transactionOf({ ...tx, transactionId: 0 })).to.equal('0');
    expect(transactionOf(tx)).to.equal(null);
    expect(transactionOf({ transactionId: 5 })).to.equal(null);
  });
});
