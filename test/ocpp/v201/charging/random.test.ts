import { expect } from 'chai';
import fc from 'fast-check';
import { holdsAsync } from '../../../support/property.ts';
import { chargingRig, profile } from './rig.ts';
import type { SentProfile } from './rig.ts';

type Period = SentProfile['chargingSchedule'][number]['chargingSchedulePeriod'][number];

const power = fc.integer({ min: -60_000, max: 60_000 });
const upTo = (max: number) => fc.integer({ min: 0, max });

/** Periods of any mode, many of which break a rule. */
const period: fc.Arbitrary<Omit<Period, 'startPeriod'>> = fc.oneof(
  { arbitrary: fc.record({ limit: upTo(60_000) }), weight: 2 },
  {
    arbitrary: fc.tuple(power, upTo(60_000), upTo(60_000)).map(([setpoint, limit, discharge]) => ({
      operationMode: 'CentralSetpoint' as const,
      setpoint: Math.max(-discharge, Math.min(limit, setpoint)),
      limit,
      dischargeLimit: 0 - discharge,
    })),
    weight: 2,
  },
  fc.record(
    {
      operationMode: fc.constantFrom('CentralSetpoint', 'CentralFrequency', 'ChargingOnly', 'Idle', 'LocalFrequency'),
      setpoint: power,
      limit: upTo(60_000),
      dischargeLimit: upTo(60_000).map((value) => 0 - value),
    },
    { requiredKeys: ['operationMode'] },
  ),
  fc.record({
    operationMode: fc.constant('LocalFrequency' as const),
    v2xBaseline: power,
    v2xFreqWattCurve: fc
      .tuple(power, power)
      .map(([a, b]) => [59, 61].map((frequency, i) => ({ frequency, power: i === 0 ? a : b }))),
  }),
);

const sent: fc.Arbitrary<SentProfile> = fc
  .record({
    chargingProfilePurpose: fc.constantFrom(
      'TxDefaultProfile',
      'ChargingStationMaxProfile',
      'PriorityCharging',
      'LocalGeneration',
    ),
    chargingProfileKind: fc.constantFrom('Absolute', 'Dynamic'),
    stackLevel: upTo(9),
    rows: fc.array(fc.tuple(upTo(20), period), { minLength: 1, maxLength: 2 }),
    limitAtSoC: fc.option(fc.record({ soc: upTo(100), limit: upTo(30_000) }), { nil: undefined, freq: 2 }),
  })
  .map(({ rows, limitAtSoC, ...rest }) =>
    profile({
      ...rest,
      schedule: {
        chargingRateUnit: 'W',
        chargingSchedulePeriod: rows.map(([gap, each], i) => ({
          startPeriod: i === 0 ? 0 : 43_200 + i * 5 + gap,
          ...each,
        })),
        ...(limitAtSoC !== undefined && { limitAtSoC }),
      },
    }),
  );

type Station = ReturnType<typeof chargingRig>;

/** Sends a profile, lets 20 s pass, and checks the device. @returns whether the station accepted it */
async function sendOne({ rig, set, charging, errors, device, call }: Station, one: SentProfile, id: number) {
  const before = JSON.stringify(charging.chargingProfiles());
  const { chargingProfilePurpose: purpose } = one;
  const ofStation = purpose === 'ChargingStationMaxProfile' || purpose === 'LocalGeneration';
  const answer = await set({ ...one, id }, ofStation ? 0 : 1);
  if (answer !== 'Accepted') expect(JSON.stringify(charging.chargingProfiles()), answer).to.equal(before);
  await rig.watch(20, 1, () => undefined);
  expect(errors.join('\n')).to.equal('');
  expect(Math.abs(device.sample(1).powerW)).to.be.at.most(50_000);
  const { chargingSchedulePeriod: [now] = [] } =
    (await call('GetCompositeSchedule', { evseId: 1, duration: 30, chargingRateUnit: 'W' })).schedule ?? {};
  // what the station as a whole permits is shared with its own consumption
  if (now?.operationMode === undefined && now?.limit !== undefined)
    expect(device.sample(1).powerW).to.be.at.most(now.limit + 1);
  return answer === 'Accepted';
}

describe('OCPP 2.1 smart charging: random profiles on a real bidirectional station', () => {
  it('the device takes the limits of every accepted profile, and a refused one changes nothing', async () => {
    let [accepted, sentInAll] = [0, 0];
    await holdsAsync(
      'limits of accepted profiles',
      fc.array(sent, { minLength: 1, maxLength: 10, size: 'max' }),
      async (profiles) => {
        const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
        await station.plug(1, { socPct: 60, maxChargeW: 50_000 });
        for (const [i, one] of profiles.entries()) if (await sendOne(station, one, (i % 5) + 1)) accepted += 1;
        sentInAll += profiles.length;
      },
      { runs: 12 },
    );
    expect(accepted / sentInAll).to.be.above(0.1);
  });
});
