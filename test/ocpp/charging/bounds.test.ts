/** Composite schedules of profiles and durations that no person would send. */
import { expect } from 'chai';
import { compositeSchedule } from '../../../src/ocpp/charging/composite.ts';
import type { ChargingProfile, SchedulePeriod } from '../../../src/ocpp/charging/model.ts';
import { noonMs } from './arbitrary.ts';

const dayS = 86_400;
const yearS = 365 * dayS;
const station = {
  connectorId: 0,
  type: 'ac',
  phases: 3,
  nominalVoltageV: 230,
  maxPowerW: 22_000,
  maxCurrentA: 32,
  supplyPhases: [1, 2, 3],
} as const;

function profile(profileId: number, limitOf: (i: number) => number): ChargingProfile {
  const periods = Array.from(
    { length: 1000 },
    (_, i): SchedulePeriod => ({ startS: i * 80, limit: limitOf(i), numberPhases: null }),
  );
  return {
    profileId,
    connectorId: 1,
    stackLevel: profileId,
    purpose: 'tx_default',
    kind: 'recurring_daily',
    validFromMs: null,
    validToMs: null,
    transactionId: null,
    schedule: { unit: 'W', durationS: null, startMs: noonMs, minChargingRate: null, periods },
    receivedMs: noonMs,
  };
}

const composite = (profiles: readonly ChargingProfile[], durationS: number, maxPeriods = 1000) =>
  compositeSchedule(
    { profiles, transactions: [], precedence: 'connector_first', station },
    {
      connectorId: 1,
      startMs: noonMs,
      durationS,
      unit: 'W',
      connectors: [{ ...station, connectorId: 1 }],
      station,
      maxPeriods,
    },
  ) ?? expect.fail('no such connector');

describe('Composite schedules: bounds', () => {
  it('a thousand equal periods are one, over a year of days', () => {
    expect(composite([profile(1, () => 6000)], yearS)).to.deep.include({
      durationS: yearS,
      periods: [{ startS: 0, limit: 6000, numberPhases: null }],
    });
  });

  it('a hundred profiles of a thousand periods over 68 years: right as far as it goes, and it ends', () => {
    const profiles = Array.from({ length: 100 }, (_, i) => profile(i, (period) => 1000 + i + period));
    const { periods, durationS } = composite(profiles, 2 ** 31, 100_000);
    expect(durationS).to.be.within(80 * 400, 2 ** 31);
    expect(periods.length).to.equal(Math.round(durationS / 80));
    for (const [i, { startS, limit }] of periods.entries()) expect([startS, limit]).to.deep.equal([80 * i, 1099 + i]);
  });

  it('a limit that no unit can show is shown as the highest one, not as none', () => {
    expect(composite([profile(1, () => 1e308)], 60).periods[0]?.limit).to.equal(1e9);
  });
});
