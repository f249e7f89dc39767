import { expect } from 'chai';
import { underConditions, wattsAt, whileOffline } from '../../../src/ocpp/charging/conditions.ts';
import { followsConditions, limitAt } from '../../../src/ocpp/charging/limits.ts';
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
