import { expect } from 'chai';
import { chargingRig, periods, profile } from './rig.ts';
import type { SentProfile } from './rig.ts';

const max = { chargingProfilePurpose: 'ChargePointMaxProfile' } as const;
const tx = { chargingProfilePurpose: 'TxProfile' } as const;
const recurring = { chargingProfileKind: 'Recurring', recurrencyKind: 'Daily' } as const;
const startSchedule = '2026-06-21T00:00:00Z';

/** What is refused, with the clause of the finding. */
const refused: readonly (readonly [what: string, clause: string, sent: SentProfile, connectorId?: number])[] = [
  ['an unknown connector', '6.43', profile(), 7],
  ['ChargePointMaxProfile at a connector', '3.13.1', profile(max), 1],
  ['TxProfile at connector 0', '3.13.1', profile(tx), 0],
  ['TxProfile without a transaction', '5.16.4', profile(tx), 2],
  ['TxProfile of another transaction', '5.16', profile({ ...tx, transactionId: 7 })],
  ['a negative stackLevel', '9.4', profile({ stackLevel: -1 })],
  ['a stackLevel above ChargeProfileMaxStackLevel', '9.4', profile({ stackLevel: 100 })],
  [
    'more periods than ChargingScheduleMaxPeriods',
    '9.4',
    profile({ chargingSchedule: periods([0, 1], [1, 2], [2, 3], [3, 4], [4, 5]) }),
  ],
  [
    'Recurring without recurrencyKind',
    '7.8',
    profile({ chargingProfileKind: 'Recurring', chargingSchedule: { startSchedule } }),
  ],
  ['Recurring without startSchedule', '7.13', profile(recurring)],
  ['validTo before validFrom', '7.8', profile({ validFrom: '2026-06-22T00:00:00Z', validTo: '2026-06-21T00:00:00Z' })],
  ['a duration of 0', '7.13', profile({ chargingSchedule: { duration: 0 } })],
  ['a first startPeriod above 0', '5.16.4', profile({ chargingSchedule: periods([1, 10]) })],
  ['periods out of order', '7.14', profile({ chargingSchedule: periods([0, 10], [20, 8], [20, 9]) })],
  ['a negative limit', '7.14', profile({ chargingSchedule: periods([0, -1]) })],
  [
    'four phases',
    '7.14',
    profile({ chargingSchedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, numberPhases: 4 }] } }),
  ],
];

describe('OCPP 1.6 smart charging: messages', () => {
  it('SetChargingProfile refuses what breaks a rule, changes nothing, and the finding cites the clause', async () => {
    const { rig, plug, set, findings, charging } = chargingRig('EVSE-AC-7.4kW-2port', {
      ChargingScheduleMaxPeriods: '4',
    });
    await plug(1);
    await set(profile({ chargingProfileId: 9 }));
    const before = charging.chargingProfiles();
    for (const [what, clause, sent, connectorId = 1] of refused) {
      findings.length = 0;
      expect(await set(sent, connectorId), what).to.equal('Rejected');
      expect(
        findings.map((text) => text.split(' ').slice(0, 3).join(' ')),
        what,
      ).to.deep.equal([`OCPP 1.6 ${clause}`]);
    }
    expect(charging.chargingProfiles()).to.deep.equal(before);
    expect(rig.connector(2).limitW).to.equal(7400);
  });

  it('ChargingScheduleAllowedChargingRateUnit and MaxChargingProfilesInstalled bind (9.4)', async () => {
    const { set, call, findings } = chargingRig('EVSE-AC-22kW-1port-EU', {
      ChargingScheduleAllowedChargingRateUnit: 'Current',
      MaxChargingProfilesInstalled: '2',
    });
    expect(await set(profile({ chargingSchedule: { chargingRateUnit: 'W' } }))).to.equal('Rejected');
    const answer = { connectorId: 1, duration: 60 } as const;
    expect(await call('GetCompositeSchedule', { ...answer, chargingRateUnit: 'W' })).to.deep.equal({
      status: 'Rejected',
    });
    for (const stackLevel of [0, 1])
      expect(await set(profile({ chargingProfileId: stackLevel, stackLevel }))).to.equal('Accepted');
    expect(await set(profile({ chargingProfileId: 5, stackLevel: 2 }))).to.equal('Rejected');
    expect(await set(profile({ chargingProfileId: 5, stackLevel: 1 }))).to.equal('Accepted');
    expect(findings).to.have.length(2);
  });

  it('stackLevels reach from 0 to ChargeProfileMaxStackLevel (9.4)', async () => {
    const { set } = chargingRig();
    const answers = [];
    for (const stackLevel of [-1, 0, 99, 100]) answers.push(await set(profile({ stackLevel })));
    expect(answers).to.deep.equal(['Rejected', 'Accepted', 'Accepted', 'Rejected']);
  });

  it('the same id replaces anywhere, the same purpose and stackLevel at the same connector (5.16.3)', async () => {
    const { set, charging } = chargingRig('EVSE-AC-7.4kW-2port');
    const ids = () => charging.chargingProfiles().map(({ profileId, connectorId }) => `${profileId}@${connectorId}`);
    await set(profile({ chargingProfileId: 1 }), 1);
    await set(profile({ chargingProfileId: 2 }), 2);
    await set(profile({ chargingProfileId: 3 }), 0);
    expect(ids()).to.deep.equal(['1@1', '2@2', '3@0']);
    await set(profile({ chargingProfileId: 4 }), 1);
    expect(ids()).to.deep.equal(['2@2', '3@0', '4@1']);
    await set(profile({ chargingProfileId: 2, stackLevel: 3, ...max }), 0);
    expect(ids()).to.deep.equal(['3@0', '4@1', '2@0']);
    expect(charging.chargingProfiles(1).map(({ profileId }) => profileId)).to.deep.equal([4]);
  });

  it('ClearChargingProfile: an id alone, else all given members, else everything (5.5)', async () => {
    const { set, call, charging } = chargingRig('EVSE-AC-7.4kW-2port');
    const fill = async () => {
      await set(profile({ chargingProfileId: 1 }), 1);
      await set(profile({ chargingProfileId: 2, stackLevel: 1 }), 1);
      await set(profile({ chargingProfileId: 3, stackLevel: 1 }), 2);
      await set(profile({ chargingProfileId: 4, stackLevel: 1, ...max }), 0);
    };
    const rows = [
      [{ id: 3, connectorId: 1 }, 'Accepted', [1, 2, 4]],
      [{ connectorId: 1 }, 'Accepted', [3, 4]],
      [{ connectorId: 1, stackLevel: 1 }, 'Accepted', [1, 3, 4]],
      [{ stackLevel: 1, chargingProfilePurpose: 'TxDefaultProfile' }, 'Accepted', [1, 4]],
      [{ connectorId: 0 }, 'Accepted', [1, 2, 3]],
      [{ stackLevel: 0, connectorId: 2 }, 'Unknown', [1, 2, 3, 4]],
      [{ connectorId: 9 }, 'Unknown', [1, 2, 3, 4]],
      [{}, 'Accepted', []],
    ] as const;
    for (const [request, status, left] of rows) {
      await fill();
      expect((await call('ClearChargingProfile', request)).status, JSON.stringify(request)).to.equal(status);
      const ids = charging.chargingProfiles().map(({ profileId }) => profileId);
      expect(ids.sort(), JSON.stringify(request)).to.deep.equal(left);
    }
  });

  it('GetCompositeSchedule merges watts and amperes from now, in the unit asked for (5.7, 3.13.3)', async () => {
    const { plug, rig, set, call, stampIn } = chargingRig();
    await plug();
    const start = stampIn(-10);
    await set(
      profile({ chargingSchedule: { startSchedule: start, ...periods([0, 16], [70, 8], [100, 8], [130, 32]) } }),
    );
    const watts = {
      chargingRateUnit: 'W',
      startSchedule: start,
      duration: 300,
      ...periods([0, 6900], [130, 13_800]),
    } as const;
    await set(profile({ chargingProfileId: 2, ...max, chargingSchedule: watts }), 0);
    const query = { connectorId: 1, duration: 400 } as const;
    const inA = await call('GetCompositeSchedule', { ...query, chargingRateUnit: 'A' });
    expect(inA).to.deep.equal({
      status: 'Accepted',
      connectorId: 1,
      scheduleStart: stampIn(0),
      chargingSchedule: {
        duration: 400,
        startSchedule: stampIn(0),
        chargingRateUnit: 'A',
        ...periods([0, 10], [60, 8], [120, 20], [290, 32]),
      },
    });
    const inW = await call('GetCompositeSchedule', { ...query, chargingRateUnit: 'W' });
    expect(inW.chargingSchedule?.chargingSchedulePeriod).to.deep.equal(
      periods([0, 6900], [60, 5520], [120, 13_800], [290, 22_080]).chargingSchedulePeriod,
    );
    const grid = await call('GetCompositeSchedule', { connectorId: 0, duration: 100 });
    expect(grid.chargingSchedule).to.deep.include({ chargingRateUnit: 'W', ...periods([0, 6900], [60, 5520]) });
    expect(await call('GetCompositeSchedule', { ...query, connectorId: 4 })).to.deep.equal({ status: 'Rejected' });
    expect(await call('GetCompositeSchedule', { ...query, duration: 0 })).to.deep.equal({ status: 'Rejected' });
    await rig.run(30);
    const later = await call('GetCompositeSchedule', { connectorId: 1, duration: 60 });
    expect(later.chargingSchedule?.chargingSchedulePeriod).to.deep.equal(
      periods([0, 10], [30, 8]).chargingSchedulePeriod,
    );
  });

  it('without a profile a composite schedule shows the rating; REST tells that nothing limits (5.7)', async () => {
    const { call, charging } = chargingRig('EVSE-AC-7.4kW-2port');
    const rated = async (connectorId: number, chargingRateUnit: 'A' | 'W') =>
      (await call('GetCompositeSchedule', { connectorId, duration: 60, chargingRateUnit })).chargingSchedule
        ?.chargingSchedulePeriod;
    expect(await rated(1, 'W')).to.deep.equal([{ startPeriod: 0, limit: 7400 }]);
    expect(await rated(1, 'A')).to.deep.equal([{ startPeriod: 0, limit: 32 }]);
    expect(await rated(0, 'W')).to.deep.equal([{ startPeriod: 0, limit: 14_800 }]);
    expect(charging.compositeSchedule(1, 60, 'W').periods).to.deep.equal([
      { startS: 0, limit: null, numberPhases: null },
    ]);
    expect(() => charging.compositeSchedule(5, 60, 'W')).to.throw('there is no connector 5');
  });
});
