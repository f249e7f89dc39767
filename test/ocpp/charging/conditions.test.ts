import { expect } from 'chai';
import {
  followsConditions,
  limitAt,
  underConditions,
  wattsAt,
  whileOffline,
} from '../../../src/ocpp/charging/limits.ts';
import type { ChargingProfile, ChargingState, Conditions, SchedulePeriod } from '../../../src/ocpp/charging/model.ts';

const nowMs = Date.UTC(2026, 5, 21, 12);
const unknown: Conditions = { frequencyHz: null, signal: null, socPct: null, mayDischarge: true };
const schedule = { unit: 'W', durationS: null, startMs: null, minChargingRate: null } as const;

function profile(period: Partial<SchedulePeriod>, limitAtSoc?: { socPct: number; limit: number }): ChargingProfile {
  return {
    profileId: 1,
    connectorId: 1,
    stackLevel: 0,
    purpose: 'tx_default',
    kind: 'absolute',
    validFromMs: null,
    validToMs: null,
    transactionId: null,
    schedule: {
      ...schedule,
      ...(limitAtSoc && { limitAtSoc }),
      periods: [{ startS: 0, limit: null, numberPhases: null, ...period }],
    },
    receivedMs: nowMs,
  };
}

const state = (made: ChargingProfile, conditions: Partial<Conditions>): ChargingState => ({
  profiles: [made],
  transactions: [],
  precedence: 'stack_level',
  station: { type: 'ac', phases: 3, nominalVoltageV: 230 },
  conditions: new Map([[1, { ...unknown, ...conditions }]]),
});

const frequencyWatt = {
  baselineW: 500,
  curve: [
    [49, -1000],
    [50, 0],
    [51, 3000],
  ],
  signalCurve: [
    [-1, -100],
    [1, 100],
  ],
} as const;

describe('Charging profiles: conditions of OCPP 2.1', () => {
  it('a curve is linear between its points and level outside of them', () => {
    const at = [48, 49, 49.5, 50, 50.1, 51, 99].map((hz) => wattsAt(frequencyWatt.curve, hz));
    expect(at.map((watts) => Math.round(watts))).to.deep.equal([-1000, -1000, -500, 0, 300, 3000, 3000]);
    expect(wattsAt([], 50)).to.equal(0);
  });

  it('a set-point is the baseline, the curve at the frequency, and the curve at the last signal, in whole watts', () => {
    const period = profile({ mode: 'LocalFrequency', frequencyWatt });
    const setpoint = (conditions: Partial<Conditions>) => limitAt(state(period, conditions), 1, nowMs).setpointW;
    expect(setpoint({})).to.equal(undefined);
    expect(setpoint({ frequencyHz: 49.5 })).to.equal(0);
    expect(setpoint({ frequencyHz: 50.0001, signal: 0.5 })).to.equal(550);
    expect(followsConditions(state(period, {}), 1, nowMs)).to.equal(true);
    expect(followsConditions(state(profile({ limit: 5 }), {}), 1, nowMs)).to.equal(false);
  });

  it('limitAtSoc caps limit and set-point from its state of charge on', () => {
    const capped = profile({ limit: 9000, setpoint: 8000 }, { socPct: 80, limit: 3000 });
    expect(limitAt(state(capped, { socPct: 79.9 }), 1, nowMs)).to.include({ limitW: 9000, setpointW: 8000 });
    expect(limitAt(state(capped, { socPct: 80 }), 1, nowMs)).to.include({ limitW: 3000, setpointW: 3000 });
    const discharging = profile({ setpoint: -8000 }, { socPct: 80, limit: 3000 });
    expect(limitAt(state(discharging, { socPct: 90 }), 1, nowMs)).to.include({ setpointW: -8000 });
  });

  it('a vehicle that may not discharge keeps the charging part of a period', () => {
    const period = { startS: 0, limit: 5, numberPhases: null, setpoint: -3, dischargeLimit: -4 };
    const made = { ...schedule, periods: [period] };
    const never = { ...unknown, mayDischarge: false };
    expect(underConditions(period, made, never)).to.deep.equal({ ...period, setpoint: 0, dischargeLimit: 0 });
    expect(underConditions(period, made, undefined)).to.equal(period);
  });

  it('offline a profile ends by its maxOfflineS, never later than its own validity', () => {
    const made = { ...profile({ limit: 5 }), maxOfflineS: 60 };
    expect(whileOffline(made, null)).to.equal(made);
    expect(whileOffline(made, nowMs).validToMs).to.equal(nowMs + 60_000);
    expect(whileOffline({ ...made, validToMs: nowMs }, nowMs).validToMs).to.equal(nowMs);
  });
});

describe('Charging profiles: conditions at their bounds (2.1)', () => {
  const never = { ...unknown, mayDischarge: false };
  const plain = { startS: 0, limit: 5, numberPhases: null };
  const made = { ...schedule, periods: [plain] };
  const withCurve = { ...plain, frequencyWatt };

  it('a signal counts where it is known and followed', () => {
    const rising = [
      [-1, 20],
      [1, 100],
    ] as const;
    const setpoint = (signal: number | null, signalCurve: typeof rising | null) =>
      underConditions({ ...plain, frequencyWatt: { ...frequencyWatt, signalCurve } }, made, {
        ...unknown,
        frequencyHz: 50,
        signal,
      }).setpoint;
    expect(setpoint(1, rising)).to.equal(600);
    expect(setpoint(0, rising)).to.equal(560);
    expect(setpoint(0.5, null)).to.equal(500);
    expect(setpoint(null, rising)).to.equal(500);
    expect(setpoint(null, null)).to.equal(500);
  });

  it('a curve between two points is that of these points', () => {
    const bent = [
      [0, 0],
      [10, 100],
      [20, 0],
      [40, -100],
    ] as const;
    expect([-1, 0, 1, 9, 10, 11, 19, 20, 30, 40, 41].map((at) => wattsAt(bent, at))).to.deep.equal([
      0, 0, 10, 90, 100, 90, 10, 0, -50, -100, -100,
    ]);
  });

  it('without a frequency the set-point of the period stands, and without a curve the frequency moves nothing', () => {
    expect(underConditions({ ...withCurve, setpoint: 7 }, made, unknown).setpoint).to.equal(7);
    expect(underConditions({ ...plain, setpoint: 7 }, made, { ...unknown, frequencyHz: 50 }).setpoint).to.equal(7);
  });

  it('adds no member that the period lacks', () => {
    const capped = { ...made, limitAtSoc: { socPct: 80, limit: 3 } };
    expect(underConditions(plain, capped, { ...never, socPct: 90 })).to.deep.equal({ ...plain, limit: 3 });
    expect(underConditions(plain, made, { ...never, socPct: 90 })).to.deep.equal(plain);
    expect(underConditions(plain, capped, unknown)).to.deep.equal(plain);
  });

  it('limitAtSoc is the limit of a period without one, and raises none', () => {
    const capped = { ...made, limitAtSoc: { socPct: 80, limit: 30 } };
    const full = { ...unknown, socPct: 80 };
    expect(underConditions({ ...plain, limit: null }, capped, full).limit).to.equal(30);
    expect(underConditions({ ...plain, setpoint: 4 }, capped, full)).to.include({ limit: 5, setpoint: 4 });
    expect(underConditions(plain, capped, { ...unknown, socPct: 0 }).limit).to.equal(5);
    const always = { ...made, limitAtSoc: { socPct: 0, limit: 3 } };
    expect(underConditions(plain, always, { ...unknown, socPct: 0 }).limit).to.equal(3);
    expect(underConditions(plain, always, unknown).limit).to.equal(5);
  });

  it('a vehicle that may not discharge still follows a positive set-point', () => {
    expect(underConditions({ ...plain, setpoint: 4, dischargeLimit: -3 }, made, never)).to.include({
      setpoint: 4,
      dischargeLimit: 0,
    });
    expect(underConditions({ ...plain, setpoint: -4, dischargeLimit: -3 }, made, unknown)).to.include({
      setpoint: -4,
      dischargeLimit: -3,
    });
  });

  it('a profile without maxOfflineDuration, or online, is as it was', () => {
    const always = profile({ limit: 5 });
    expect(whileOffline(always, nowMs)).to.equal(always);
    const ends = { ...always, maxOfflineS: 0 };
    expect(whileOffline(ends, null)).to.equal(ends);
    expect(whileOffline(ends, nowMs).validToMs).to.equal(nowMs);
    expect(whileOffline({ ...ends, maxOfflineS: 60, validToMs: nowMs + 90_000 }, nowMs).validToMs).to.equal(
      nowMs + 60_000,
    );
  });
});
