import { expect } from 'chai';
import type { CompositePeriod, CompositeSchedule } from '../../../../src/ocpp/charging/composite.ts';
import { compositeOf, isInLocalTime, profileOf } from '../../../../src/ocpp/v201/charging/convert.ts';
import { profile, startSchedule, watts } from './rig.ts';
import type { SentProfile } from './rig.ts';

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

describe('OCPP 2.x composite schedules: members of a period (K08)', () => {
  /** The period that a composite schedule shows. */
  const shown = (
    period: Partial<CompositePeriod>,
    unit: 'W' | 'A' = 'W',
    version: 'ocpp2.0.1' | 'ocpp2.1' = 'ocpp2.1',
  ) =>
    compositeOf(
      1,
      { startMs: 0, durationS: 60, unit, periods: [{ startS: 0, limit: null, numberPhases: null, ...period }] },
      rating,
      version,
    ).chargingSchedulePeriod[0];

  it('where nothing limits, the rating in the unit asked for', () => {
    for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const) {
      expect(shown({}, 'W', version)).to.deep.equal({ startPeriod: 0, limit: 22_000 });
      expect(shown({}, 'A', version)).to.deep.equal({ startPeriod: 0, limit: 32 });
      expect(shown({ limit: 0, numberPhases: 1 }, 'A', version)).to.deep.equal({
        startPeriod: 0,
        limit: 0,
        numberPhases: 1,
      });
    }
  });

  it('2.0.1 knows no power out of the vehicle', () => {
    const period = { limit: 5, setpoint: 4, dischargeLimit: -3, mode: 'CentralSetpoint' } as const;
    expect(shown(period, 'W', 'ocpp2.0.1')).to.deep.equal({ startPeriod: 0, limit: 5 });
    const { mode, ...powers } = period;
    expect(shown(period)).to.deep.equal({ startPeriod: 0, ...powers, operationMode: mode });
  });

  it('a set-point alone has no limit beside it, and Idle has no power at all', () => {
    const alone = { startPeriod: 0, setpoint: 4, operationMode: 'CentralSetpoint' };
    expect(shown({ setpoint: 4, mode: 'CentralSetpoint' })).to.deep.equal(alone);
    expect(shown({ limit: 0, dischargeLimit: 0, mode: 'Idle' })).to.deep.equal({
      startPeriod: 0,
      operationMode: 'Idle',
    });
    expect(shown({ mode: 'Idle' })).to.deep.equal({ startPeriod: 0, operationMode: 'Idle' });
    expect(shown({ mode: 'ChargingOnly' })).to.deep.equal({ startPeriod: 0, limit: 22_000 });
  });

  it('to a tenth towards 0, and 0 has no sign', () => {
    const setpoints = [1.99, -1.99, -0.09, 0.09, 5.3, -5.3].map((setpoint) => shown({ setpoint })?.setpoint);
    expect(setpoints).to.deep.equal([1.9, -1.9, 0, 0, 5.3, -5.3]);
    expect(shown({ limit: 2.999_999_5 })?.limit).to.equal(3);
  });

  it('periods that differ in one member alone are two', () => {
    const twice = (a: Partial<CompositePeriod>, b: Partial<CompositePeriod>) =>
      compositeOf(
        1,
        {
          startMs: 0,
          durationS: 60,
          unit: 'W',
          periods: [a, b].map((each, i) => ({ startS: i * 10, limit: 5, numberPhases: null, ...each })),
        },
        rating,
        'ocpp2.1',
      ).chargingSchedulePeriod.length;
    expect(twice({}, {})).to.equal(1);
    expect(twice({}, { limit: 5.01 })).to.equal(1);
    for (const change of [
      { limit: 6 },
      { numberPhases: 1 },
      { setpoint: 1 },
      { dischargeLimit: -1 },
      { mode: 'Idle' },
    ] as const)
      expect(twice({}, change), JSON.stringify(change)).to.equal(2);
  });
});

describe('OCPP 2.x charging profiles as they act', () => {
  const startMs = Date.parse(startSchedule);
  const noDraw = { next: () => expect.fail('nothing is random here') };
  const received = { evseId: 2, receivedMs: 7, localOffsetMs: 3_600_000, random: noDraw };
  const of = (change: Parameters<typeof profile>[0], random: { next(): number } = noDraw) =>
    profileOf(profile(change), { ...received, random });
  const periodOf = (period: Parameters<typeof watts>[0]) => of({ schedule: watts(period) }).schedule.periods[0];
  const plain = { startS: 0, limit: 5, numberPhases: null };

  it('have the place and the instant at which they came', () => {
    expect(of({ id: 3, stackLevel: 4 })).to.deep.equal({
      profileId: 3,
      connectorId: 2,
      stackLevel: 4,
      purpose: 'tx_default',
      kind: 'absolute',
      validFromMs: null,
      validToMs: null,
      transactionId: null,
      schedule: {
        unit: 'A',
        durationS: null,
        startMs,
        minChargingRate: null,
        periods: [{ startS: 0, limit: 10, numberPhases: null }],
      },
      receivedMs: 7,
    });
    const { maxOfflineS, validFromMs, validToMs, schedule } = of({
      maxOfflineDuration: 0,
      validFrom: '2026-06-21T01:00:00Z',
      validTo: '2026-06-21T02:00:00Z',
      schedule: { duration: 9, minChargingRate: 6, limitAtSoC: { soc: 80, limit: 3 } },
    });
    expect([maxOfflineS, validFromMs, validToMs]).to.deep.equal([0, startMs + 3_600_000, startMs + 7_200_000]);
    expect(schedule).to.deep.include({ durationS: 9, minChargingRate: 6, limitAtSoc: { socPct: 80, limit: 3 } });
  });

  it('each kind is its own; what recurs does so each day unless each week', () => {
    const kinds = (['Absolute', 'Relative', 'Dynamic', 'Recurring'] as const).map(
      (chargingProfileKind) => of({ chargingProfileKind }).kind,
    );
    expect(kinds).to.deep.equal(['absolute', 'relative', 'dynamic', 'recurring_daily']);
    const recurring = (recurrencyKind: 'Daily' | 'Weekly') =>
      of({ chargingProfileKind: 'Recurring', recurrencyKind }).kind;
    expect([recurring('Daily'), recurring('Weekly')]).to.deep.equal(['recurring_daily', 'recurring_weekly']);
  });

  it('only a TxProfile belongs to its transaction', () => {
    const of1 = (chargingProfilePurpose: SentProfile['chargingProfilePurpose']) =>
      of({ chargingProfilePurpose, transactionId: 'T' }).transactionId;
    expect([of1('TxProfile'), of1('TxDefaultProfile')]).to.deep.equal(['T', null]);
    expect(of({ chargingProfilePurpose: 'TxProfile' }).transactionId).to.equal(null);
  });

  it('a period has what was sent, and a mode only where the station carries it out', () => {
    expect(periodOf({ limit: 5 })).to.deep.equal(plain);
    expect(periodOf({ limit: 5, numberPhases: 2, operationMode: 'ChargingOnly' })).to.deep.equal({
      ...plain,
      numberPhases: 2,
      mode: 'ChargingOnly',
    });
    expect(periodOf({ limit: 5, operationMode: 'ExternalLimits' })).to.deep.equal(plain);
    const central = { setpoint: 0, dischargeLimit: 0, limit: 0 };
    expect(periodOf({ ...central, operationMode: 'CentralSetpoint' })).to.deep.equal({
      ...plain,
      ...central,
      mode: 'CentralSetpoint',
    });
    expect(periodOf({})).to.deep.equal({ ...plain, limit: null });
    expect(periodOf({ operationMode: 'Idle' })).to.deep.equal({ ...plain, limit: 0, dischargeLimit: 0, mode: 'Idle' });
  });

  it('LocalFrequency has its curves as pairs, and none of signals unless sent', () => {
    const local = {
      operationMode: 'LocalFrequency',
      v2xBaseline: 3,
      v2xFreqWattCurve: [
        { frequency: 49, power: -1 },
        { frequency: 51, power: 1 },
      ],
    } as const;
    const curve = [
      [49, -1],
      [51, 1],
    ];
    expect(periodOf(local)).to.deep.equal({
      ...plain,
      limit: null,
      mode: 'LocalFrequency',
      frequencyWatt: { baselineW: 3, curve, signalCurve: null },
    });
    const signals = { ...local, v2xSignalWattCurve: [{ signal: 1, power: 2 }] };
    expect(periodOf(signals)?.frequencyWatt).to.deep.equal({ baselineW: 3, curve, signalCurve: [[1, 2]] });
    expect(periodOf({ operationMode: 'LocalFrequency' })?.frequencyWatt).to.deep.equal({
      baselineW: 0,
      curve: [],
      signalCurve: null,
    });
  });

  it('a random delay is a share of the longest for each period, and none overtakes the one before', () => {
    const rows = [0, 10, 100].map((startPeriod) => ({ startPeriod, limit: 5 }));
    const starts = (randomizedDelay: number, ...shares: number[]) =>
      of(
        { schedule: { randomizedDelay, chargingSchedulePeriod: rows } },
        { next: () => shares.shift() ?? expect.fail() },
      ).schedule.periods.map(({ startS }) => startS);
    expect(starts(60, 0.5, 0.1, 0.99)).to.deep.equal([30, 30, 159]);
    expect(starts(60, 0, 0.01, 0)).to.deep.equal([0, 11, 100]);
    expect(starts(0)).to.deep.equal([0, 10, 100]);
  });

  it('in local time the zone of an instant does not count', () => {
    const local = (text: string) => of({ schedule: { startSchedule: text, useLocalTime: true } }).schedule.startMs;
    for (const zone of ['Z', 'z', '+02:00', '-05:30', '-0530', '+14:00'])
      expect(local(`2026-06-21T00:00:00${zone}`), zone).to.equal(startMs - 3_600_000);
    const plainTime = (text: string) => of({ schedule: { startSchedule: text } }).schedule.startMs;
    expect(plainTime('2026-06-21T02:00:00+02:00')).to.equal(startMs);
    const { validFromMs, validToMs } = of({
      validFrom: '2026-06-21T00:00:00+02:00',
      validTo: '2026-06-21T01:00:00Z',
      schedule: { useLocalTime: true },
    });
    expect([validFromMs, validToMs]).to.deep.equal([startMs - 3_600_000, startMs]);
  });

  it('local time is a matter of the first schedule', () => {
    expect(isInLocalTime(profile())).to.equal(false);
    expect(isInLocalTime(profile({ schedule: { useLocalTime: false } }))).to.equal(false);
    expect(isInLocalTime(profile({ schedule: { useLocalTime: true } }))).to.equal(true);
    const empty = { ...profile(), chargingSchedule: [] };
    expect(isInLocalTime(empty)).to.equal(false);
    expect(() => profileOf(empty, received)).to.throw(RangeError, 'a profile has a schedule');
  });
});
