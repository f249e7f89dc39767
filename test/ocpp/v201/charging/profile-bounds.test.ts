/** Rules of K01 and block Q at their bounds: the last value that is permitted and the first that is not. */
import { expect } from 'chai';
import type { EvseFacts, RuleFacts } from '../../../../src/ocpp/v201/charging/rules.ts';
import { profileIssue } from '../../../../src/ocpp/v201/charging/rules.ts';
import { profile, schedule, watts } from './rig.ts';
import type { SentProfile } from './rig.ts';

type SentSchedule = SentProfile['chargingSchedule'][number];
type Period = Omit<SentSchedule['chargingSchedulePeriod'][number], 'startPeriod'>;

const three: EvseFacts = {
  type: 'ac',
  phases: 3,
  modes: ['ChargingOnly', 'CentralSetpoint', 'CentralFrequency', 'LocalFrequency', 'Idle'],
};
const single: EvseFacts = { type: 'ac', phases: 1, modes: ['ChargingOnly'] };
const dc: EvseFacts = { ...three, type: 'dc', phases: 1 };
const plainFacts: RuleFacts = {
  version: 'ocpp2.1',
  maxStackLevel: 100,
  maxPeriods: 3,
  rateUnits: ['A', 'W'],
  maxExternalId: -1,
  evses: [three],
};

/** Reason code and requirement of the refusal; null: accepted. */
function found(sent: SentProfile, facts: Partial<RuleFacts> = {}) {
  const issue = profileIssue(sent, { ...plainFacts, ...facts });
  return issue && [issue.reason, issue.rule];
}
/** The text of the refusal. */
const textOf = (sent: SentProfile) => profileIssue(sent, plainFacts)?.text;
const ofSchedule = (change: Partial<SentSchedule>, facts: Partial<RuleFacts> = {}) =>
  found(profile({ schedule: change }), facts);
const ofPeriod = (period: Period, facts: Partial<RuleFacts> = {}) => ofSchedule(watts(period), facts);
const rows = (...starts: readonly number[]) => ({
  chargingSchedulePeriod: starts.map((startPeriod) => ({ startPeriod, limit: 6 })),
});
const schedules = (...all: readonly SentSchedule[]): SentProfile => ({
  ...profile({ chargingProfileKind: 'Dynamic' }),
  chargingSchedule: all,
});
const noStart: SentSchedule = { id: 1, chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: 10 }] };
const broken = ['InvalidProfile', 'K01'];

describe('OCPP 2.x rules of a profile, at their bounds', () => {
  it('ids begin above those of external constraints, each version with its reason', () => {
    expect(found(profile({ id: 0 }))).to.equal(null);
    expect(found(profile({ id: -1 }))).to.deep.equal(['InvalidProfileId', 'K01.FR.81']);
    expect(found(profile({ id: -1 }), { version: 'ocpp2.0.1' })).to.deep.equal(['InvalidProfile', 'K01.FR.05']);
  });

  it('stackLevels reach from 0 to the highest', () => {
    const levels = [-1, 0, 100, 101].map((stackLevel) => found(profile({ stackLevel })));
    const outside = ['InvalidStackLevel', 'K01'];
    expect(levels).to.deep.equal([outside, null, null, outside]);
  });

  it('what recurs has its recurrency and its start, and others need none', () => {
    const recurring = { chargingProfileKind: 'Recurring', recurrencyKind: 'Daily' } as const;
    expect(found(profile(recurring))).to.equal(null);
    expect(found(profile({ chargingProfileKind: 'Recurring' }))).to.deep.equal(broken);
    expect(found({ ...profile(recurring), chargingSchedule: [noStart] })).to.deep.equal([
      'InvalidProfile',
      'K01.FR.40',
    ]);
    expect(found({ ...profile({ chargingProfileKind: 'Relative' }), chargingSchedule: [noStart] })).to.equal(null);
    expect(found(schedules(noStart))).to.equal(null);
    expect(found(schedules(schedule()))).to.equal(null);
  });

  it('only the maximum of the station has no start to be relative to', () => {
    const relative = (chargingProfilePurpose: SentProfile['chargingProfilePurpose']) =>
      found({
        ...profile({ chargingProfilePurpose, chargingProfileKind: 'Relative' }),
        chargingSchedule: [noStart],
      });
    expect(relative('ChargingStationMaxProfile')).to.deep.equal(['InvalidProfile', 'K01.FR.38']);
    expect(relative('TxDefaultProfile')).to.equal(null);
    expect(found(profile({ chargingProfilePurpose: 'ChargingStationMaxProfile' }))).to.equal(null);
  });

  it('the validity ends after it begins, and each instant is a date', () => {
    const [early, late] = ['2026-06-21T00:00:00Z', '2026-06-21T00:00:00.001Z'];
    expect(found(profile({ validFrom: early, validTo: late }))).to.equal(null);
    expect(found(profile({ validFrom: early, validTo: early }))).to.deep.equal(broken);
    expect(found(profile({ validFrom: late, validTo: early }))).to.deep.equal(broken);
    expect(found(profile({ validFrom: early }))).to.equal(null);
    expect(found(profile({ validTo: early }))).to.equal(null);
    expect(found(profile({ validFrom: 'noon' }))).to.deep.equal(broken);
    expect(found(profile({ validTo: 'noon' }))).to.deep.equal(broken);
    expect(ofSchedule({ startSchedule: 'noon' })).to.deep.equal(['InvalidSchedule', 'K01']);
    expect(found(profile({ chargingProfileKind: 'Dynamic', dynUpdateTime: 'noon' }))).to.deep.equal([
      'InvalidProfile',
      'K28',
    ]);
  });

  it('a Dynamic profile has one schedule of one period, and it alone is updated (K28)', () => {
    const shape = ['InvalidSchedule', 'K28.FR.03'];
    expect(found(schedules(schedule(), schedule({ id: 2 })))).to.deep.equal(shape);
    expect(found(schedules(schedule(rows(0, 5))))).to.deep.equal(shape);
    expect(found(schedules())).to.deep.equal(shape);
    const own = ['InvalidProfile', 'K28.FR.04'];
    expect(found(profile({ dynUpdateInterval: 0 }))).to.deep.equal(own);
    expect(found(profile({ dynUpdateTime: '2026-06-21T00:00:00Z' }))).to.deep.equal(own);
    const dynamic = (dynUpdateInterval: number) =>
      found(profile({ chargingProfileKind: 'Dynamic', dynUpdateInterval, dynUpdateTime: '2026-06-21T00:00:00Z' }));
    expect([-1, 0, 1].map(dynamic)).to.deep.equal([['InvalidProfile', 'K28'], null, null]);
  });

  it('a maxOfflineDuration of 0 is one, and a negative one is none', () => {
    expect([-1, 0, 1].map((maxOfflineDuration) => found(profile({ maxOfflineDuration })))).to.deep.equal([
      broken,
      null,
      null,
    ]);
  });

  it('null is no number that is too large', () => {
    const withData = (data: object) => found({ ...profile(), customData: { vendorId: 'V', ...data } } as SentProfile);
    expect(withData({ value: null })).to.equal(null);
    expect(withData({ values: [1, [Infinity]] })).to.deep.equal(broken);
    expect(withData({ value: NaN })).to.deep.equal(broken);
  });
});

describe('OCPP 2.x rules of a schedule, at their bounds', () => {
  it('as many periods as PeriodsPerSchedule, in a unit of RateUnit', () => {
    expect(ofSchedule(rows(0, 1, 2))).to.equal(null);
    expect(ofSchedule(rows(0, 1, 2, 3))).to.deep.equal(['TooManyElements', 'K01']);
    expect(ofSchedule({}, { rateUnits: ['A'] })).to.equal(null);
    expect(ofSchedule({}, { rateUnits: ['W'] })).to.deep.equal(['UnsupportedRateUnit', 'K01.FR.26']);
  });

  it('periods begin at 0 and ascend, each by a second at least', () => {
    expect(ofSchedule(rows(0, 1, 2))).to.equal(null);
    expect(ofSchedule(rows(0, 5, 5))).to.deep.equal(['InvalidSchedule', 'K01.FR.35']);
    expect(ofSchedule(rows(0, 5, 4))).to.deep.equal(['InvalidSchedule', 'K01.FR.35']);
    expect(ofSchedule(rows(0, 0))).to.deep.equal(['InvalidSchedule', 'K01.FR.35']);
    expect(ofSchedule(rows(1))).to.deep.equal(['InvalidSchedule', 'K01.FR.31']);
    expect(ofSchedule(rows())).to.deep.equal(['InvalidSchedule', 'K01.FR.31']);
    expect(textOf(profile({ schedule: rows(0, 5, 4) }))).to.match(/startPeriod 4 must be later/);
  });

  it('a duration is above 0, and none of priority charging', () => {
    expect([-1, 0, 1].map((duration) => ofSchedule({ duration }))).to.deep.equal([
      ['InvalidSchedule', 'K01'],
      ['InvalidSchedule', 'K01'],
      null,
    ]);
    const priority = { chargingProfilePurpose: 'PriorityCharging' } as const;
    expect(found(profile({ ...priority, schedule: { duration: 5 } }))).to.deep.equal(['InvalidSchedule', 'K01.FR.70']);
    expect(found(profile(priority))).to.equal(null);
  });

  it('a random delay is of transactions, and one of 0 is none', () => {
    const delay = (chargingProfilePurpose: SentProfile['chargingProfilePurpose'], randomizedDelay: number) =>
      found(profile({ chargingProfilePurpose, schedule: { randomizedDelay } }));
    expect(delay('TxDefaultProfile', 1)).to.equal(null);
    expect(delay('TxProfile', 1)).to.equal(null);
    expect(delay('ChargingStationMaxProfile', 0)).to.equal(null);
    for (const purpose of ['ChargingStationMaxProfile', 'PriorityCharging', 'LocalGeneration'] as const)
      expect(delay(purpose, 1), purpose).to.deep.equal(['InvalidSchedule', 'K01.FR.95']);
  });

  it('limitAtSoC limits to 0 at least', () => {
    const soc = (limit: number) => ofSchedule({ limitAtSoC: { soc: 80, limit } });
    expect([-0.1, 0, 5].map(soc)).to.deep.equal([['InvalidSchedule', 'K01'], null, null]);
  });

  it('prices and proofs of any kind have no effect', () => {
    const members = ['salesTariff', 'absolutePriceSchedule', 'priceLevelSchedule', 'signatureId', 'powerTolerance'];
    for (const name of [...members, 'digestValue']) {
      const sent = profile({ schedule: { [name]: 1 } });
      expect(found(sent), name).to.deep.equal(['UnsupportedParam', null]);
      expect(textOf(sent)).to.match(new RegExp(`^schedule 1: ${name}: `));
    }
  });
});

describe('OCPP 2.x rules of a period, at their bounds', () => {
  const invalid = ['InvalidSchedule', 'Q01'];
  const setpoint = { operationMode: 'CentralSetpoint' } as const;
  const droop = {
    operationMode: 'LocalFrequency',
    v2xBaseline: 0,
    v2xFreqWattCurve: [
      { frequency: 49, power: 0 },
      { frequency: 51, power: 5 },
    ],
  } as const;

  it('limits reach from 0 upwards, discharge limits from 0 downwards', () => {
    expect([-0.1, 0].map((limit) => ofPeriod({ limit }))).to.deep.equal([['InvalidSchedule', 'K01'], null]);
    expect([0.1, 0, -1].map((dischargeLimit) => ofPeriod({ ...setpoint, setpoint: 1, dischargeLimit }))).to.deep.equal([
      invalid,
      null,
      null,
    ]);
  });

  it('a set-point lies within both limits, each included', () => {
    const at = (value: number) => ofPeriod({ ...setpoint, setpoint: value, limit: 5, dischargeLimit: -3 });
    expect([-3.1, -3, 0, 5, 5.1].map(at)).to.deep.equal([invalid, null, null, null, invalid]);
    expect(ofPeriod({ ...setpoint, setpoint: 5.1, limit: 5 })).to.deep.equal(invalid);
    expect(ofPeriod({ ...setpoint, setpoint: -1e6, limit: 5 })).to.equal(null);
    expect(ofPeriod({ ...setpoint, setpoint: 1e6, dischargeLimit: -3 })).to.equal(null);
    expect(ofPeriod({ ...setpoint, setpoint: -3.1, dischargeLimit: -3 })).to.deep.equal(invalid);
  });

  it('each mode has its own members', () => {
    for (const operationMode of ['CentralSetpoint', 'CentralFrequency'] as const) {
      expect(ofPeriod({ operationMode, setpoint: 1 }), operationMode).to.equal(null);
      expect(ofPeriod({ operationMode, limit: 1, dischargeLimit: -1 }), operationMode).to.deep.equal(invalid);
    }
    expect(ofPeriod({ limit: 1 })).to.equal(null);
    expect(ofPeriod({ operationMode: 'ChargingOnly', limit: 1 })).to.equal(null);
    expect(ofPeriod({ limit: 1, dischargeLimit: -1 })).to.deep.equal(invalid);
    expect(ofPeriod({ operationMode: 'Idle' })).to.equal(null);
    expect(ofPeriod({ operationMode: 'Idle', limit: 0 })).to.deep.equal(invalid);
    expect(ofPeriod(droop)).to.equal(null);
    expect(ofPeriod({ ...droop, limit: 5 })).to.deep.equal(invalid);
  });

  it('the grid connection alone has a discharge limit beside its limit', () => {
    const ofStation = (period: Period) =>
      found(profile({ chargingProfilePurpose: 'ChargingStationMaxProfile', schedule: watts(period) }));
    expect(ofStation({ limit: 1, dischargeLimit: -1 })).to.equal(null);
    expect(ofStation({ limit: 1, setpoint: 1 })).to.deep.equal(invalid);
    expect(
      found(profile({ chargingProfilePurpose: 'LocalGeneration', schedule: watts({ limit: 1, dischargeLimit: -1 }) })),
    ).to.deep.equal(invalid);
  });

  it('modes are of transactions, and of every EVSE that the profile concerns', () => {
    const purposes = ['TxProfile', 'PriorityCharging', 'ChargingStationMaxProfile'] as const;
    expect(
      purposes.map((chargingProfilePurpose) =>
        found(profile({ chargingProfilePurpose, schedule: watts({ ...setpoint, setpoint: 1 }) })),
      ),
    ).to.deep.equal([null, ['InvalidSchedule', 'K01.FR.71'], ['InvalidSchedule', 'K01']]);
    expect(ofPeriod({ ...setpoint, setpoint: 1 }, { evses: [three, single] })).to.deep.equal(['InvalidSchedule', null]);
    expect(ofPeriod({ ...setpoint, setpoint: 1 }, { evses: [three, dc] })).to.equal(null);
  });

  it('a mode that no EVSE carries out is refused with its own reason', () => {
    const text = (operationMode: 'ExternalLimits' | 'Idle') =>
      profileIssue(profile({ schedule: watts({ operationMode }) }), { ...plainFacts, evses: [single] })?.text;
    expect(text('ExternalLimits')).to.match(/external limits apply/);
    expect(text('Idle')).to.match(/not in SupportedOperationModes/);
  });

  it('phases are 1 to those of the EVSE with most, and none of DC', () => {
    const phases = (numberPhases: number, ...evses: readonly EvseFacts[]) =>
      ofPeriod({ limit: 6, numberPhases }, { evses });
    const outside = ['InvalidSchedule', 'K01.FR.45'];
    expect([0, 1, 3, 4].map((count) => phases(count, three))).to.deep.equal([outside, null, null, outside]);
    expect([1, 2].map((count) => phases(count, single))).to.deep.equal([null, outside]);
    expect(phases(3, single, three)).to.equal(null);
    expect(phases(3, dc, three)).to.equal(null);
    expect(phases(1, dc, dc)).to.deep.equal(['NoPhaseForDC', 'K01.FR.44']);
    expect(ofPeriod({ limit: 6, phaseToUse: 1 }, { evses: [dc] })).to.deep.equal(['NoPhaseForDC', 'K01.FR.44']);
    expect(ofPeriod({ limit: 6 }, { evses: [dc] })).to.equal(null);
  });

  it('phaseToUse needs one phase, and a station that can choose it', () => {
    const phase = (period: Partial<Period>) => ofPeriod({ limit: 6, phaseToUse: 2, ...period });
    expect(phase({ numberPhases: 1 })).to.deep.equal(['InvalidSchedule', 'K01.FR.20']);
    expect(phase({ numberPhases: 3 })).to.deep.equal(['InvalidSchedule', 'K01.FR.19']);
    expect(phase({})).to.deep.equal(['InvalidSchedule', 'K01.FR.19']);
  });

  it('what the station has no physics for is refused by its name', () => {
    const text = (period: Period) => textOf(profile({ schedule: watts({ limit: 6, ...period }) }));
    for (const name of ['setpointReactive', 'setpointReactive_L2', 'setpointReactive_L3'])
      expect(text({ [name]: 0 })).to.match(new RegExp(`${name}: the station supports no set-points of reactive power`));
    for (const name of ['limit', 'dischargeLimit', 'setpoint'].flatMap((each) => [`${each}_L2`, `${each}_L3`]))
      expect(text({ [name]: 0 })).to.match(new RegExp(`${name}: the station supports no values per phase`));
    expect(ofPeriod({ limit: 6, preconditioningRequest: true })).to.deep.equal(['UnsupportedParam', null]);
    expect(ofPeriod({ limit: 6, preconditioningRequest: false })).to.equal(null);
    expect(ofPeriod({ limit: 6, evseSleep: true })).to.deep.equal(['InvalidSchedule', 'K01.FR.126']);
    expect(ofPeriod({ limit: 6, evseSleep: false })).to.equal(null);
  });

  it('LocalFrequency has watts, a baseline and a curve of two points (Q08)', () => {
    const [a, b] = droop.v2xFreqWattCurve;
    const noCurve = ['NoFreqWattCurve', 'Q08.FR.02'];
    expect(ofPeriod({ operationMode: 'LocalFrequency', v2xFreqWattCurve: [a, b] })).to.deep.equal(noCurve);
    expect(ofPeriod({ ...droop, v2xFreqWattCurve: [a] })).to.deep.equal(noCurve);
    expect(ofPeriod({ operationMode: 'LocalFrequency', v2xBaseline: 0 })).to.deep.equal(noCurve);
    expect(ofPeriod({ ...droop, v2xFreqWattCurve: [a, b, { frequency: 52, power: 0 }] })).to.equal(null);
    const inAmperes = { chargingSchedulePeriod: [{ startPeriod: 0, ...droop }] } as const;
    expect(ofSchedule({ ...inAmperes, chargingRateUnit: 'A' })).to.deep.equal(['UnsupportedRateUnit', 'Q08.FR.05']);
  });

  it('the points of both curves ascend (Q08)', () => {
    const curve = (...frequencies: readonly number[]) =>
      ofPeriod({ ...droop, v2xFreqWattCurve: frequencies.map((frequency) => ({ frequency, power: 0 })) });
    const signals = (...values: readonly number[]) =>
      ofPeriod({ ...droop, v2xSignalWattCurve: values.map((signal) => ({ signal, power: 0 })) });
    const order = ['InvalidSchedule', 'Q08'];
    for (const each of [curve, signals]) {
      expect(each(1, 2, 3)).to.equal(null);
      expect(each(1, 2, 2)).to.deep.equal(order);
      expect(each(1, 3, 2)).to.deep.equal(order);
      expect(each(-5, -4, 4)).to.equal(null);
    }
  });
});
