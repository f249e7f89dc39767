import { expect } from 'chai';
import { chargingRig, profile, schedule, watts } from './rig.ts';

/** kW of amperes on three phases of 400 V at the power factor of the profile. */
const kwOf = (amperes: number, phases = 3) => Math.round((amperes * phases * (400 / Math.sqrt(3)) * 0.99) / 10) / 100;
const large = { maxChargeW: 22_000 };

describe('OCPP 2.x smart charging: the power follows the profiles', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`${version}: a TxProfile comes before the TxDefaultProfile, lowers 701.W and ends with its transaction (K01)`, async () => {
      const { rig, plug, set, kw, charging, call } = chargingRig('EVSE-AC-22kW-1port-EU', { version });
      expect(await set(profile({ schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 16 }] } }), 0)).to.equal(
        'Accepted',
      );
      const transactionId = await plug(1, large);
      expect(kw()).to.equal(kwOf(16));
      const tx = profile({ id: 2, chargingProfilePurpose: 'TxProfile', transactionId });
      expect(await set(tx)).to.equal('Accepted');
      await rig.run(30);
      expect(kw()).to.equal(kwOf(10));
      expect(-rig.w / 1000).to.be.closeTo(kwOf(10), 0.05);
      expect(rig.connector().limitSource).to.equal('charging_profile');
      expect(charging.chargingProfiles().map(({ effective, transactionId: id }) => [effective, id])).to.deep.equal([
        [false, null],
        [true, transactionId],
      ]);
      rig.command({ kind: 'evse.stop', connectorId: 1 });
      rig.command({ kind: 'evse.unplug', connectorId: 1 });
      expect(charging.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([1]);
      expect((await call('ClearChargingProfile', { chargingProfileId: 2 })).status).to.equal('Unknown');
    });

  it('of several schedules the first applies; three phases change to one during the transaction (Phases3to1)', async () => {
    const { rig, plug, set, kw } = chargingRig();
    const transactionId = await plug(1, large);
    const one = schedule({ chargingSchedulePeriod: [{ startPeriod: 0, limit: 10, numberPhases: 1 }] });
    const sent = {
      ...profile({ chargingProfilePurpose: 'TxProfile', transactionId }),
      chargingSchedule: [one, schedule({ id: 2 }), schedule({ id: 3 })],
    };
    expect(await set(sent)).to.equal('Accepted');
    await rig.run(40);
    expect(kw()).to.equal(kwOf(10, 1));
    expect(rig.connector().supplyPhases).to.deep.equal([1]);
  });

  it('the profile of a remote start waits for its transaction and is told with its id; a wrong one is refused (F01, K05)', async () => {
    const { rig, plug, charging, kw, findings, variables } = chargingRig();
    expect(charging.install(1, profile())).to.equal('InvalidProfile');
    expect(charging.install(1, profile({ chargingProfilePurpose: 'TxProfile', transactionId: 'tx' }))).to.equal(
      'InvalidProfile',
    );
    expect(findings).to.have.length(2);
    const tx = profile({ chargingProfilePurpose: 'TxProfile' });
    expect(charging.install(1, tx)).to.equal(null);
    charging.forget(1);
    expect(charging.chargingProfiles()).to.deep.equal([]);
    expect(charging.install(1, tx)).to.equal(null);
    const transactionId = await plug(1, large);
    await rig.run(20);
    expect(kw()).to.equal(kwOf(10));
    expect(charging.chargingProfiles()[0]?.profile).to.include({ transactionId });
    // a transaction that runs already
    expect(charging.install(1, { ...tx, id: 2, stackLevel: 1 })).to.equal(null);
    expect(charging.chargingProfiles().at(-1)?.profile).to.include({ id: 2, transactionId });
    // the start that has brought it is refused
    charging.forget(1, 2);
    expect(charging.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([1]);
    variables.set('SmartChargingCtrlr', 'Enabled', 'false');
    expect(charging.install(1, { ...tx, id: 3, stackLevel: 2 })).to.equal('NotEnabled');
  });

  it('profiles but those of ended transactions outlive a restart (ChargingProfilePersistence)', async () => {
    const { rig, plug, set, kw, charging, make, running } = chargingRig();
    const transactionId = await plug(1, large);
    await set(profile());
    await set(profile({ id: 3, chargingProfilePurpose: 'PriorityCharging' }));
    await set(profile({ id: 4, chargingProfilePurpose: 'LocalGeneration' }), 0);
    await set(profile({ id: 2, chargingProfilePurpose: 'TxProfile', transactionId }));
    charging.stop();
    await rig.run(30);
    expect(kw()).to.be.above(20);
    const { charging: resumed } = make();
    await resumed.load();
    expect(resumed.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([1, 3, 4, 2]);
    resumed.stop();
    running.splice(0);
    const { charging: next } = make();
    await next.load();
    await rig.run(30);
    expect(next.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([1, 3, 4]);
    expect(kw()).to.equal(kwOf(10));
    next.stop();
  });

  it('priority charging replaces the other profiles of its transaction while it is on (K21)', async () => {
    const { rig, plug, set, kw, call, of } = chargingRig();
    const transactionId = await plug(1, large);
    await set(profile());
    const use = async (activate: boolean, id = transactionId) =>
      (await call('UsePriorityCharging', { transactionId: id, activate })).status;
    expect(await use(true)).to.equal('NoProfile');
    expect(await use(true, 'other')).to.equal('Rejected');
    const most = { chargingSchedulePeriod: [{ startPeriod: 0, limit: 30 }] };
    await set(profile({ id: 2, chargingProfilePurpose: 'PriorityCharging', schedule: most }));
    await rig.run(30);
    expect(kw()).to.equal(kwOf(10));
    expect(await use(true)).to.equal('Accepted');
    await rig.run(40);
    expect(kw()).to.equal(kwOf(30));
    expect(await use(false)).to.equal('Accepted');
    await rig.run(30);
    expect(kw()).to.equal(kwOf(10));
    await use(true);
    await call('ClearChargingProfile', { chargingProfileId: 2 });
    expect(of('NotifyPriorityCharging').map((each) => each.activated)).to.deep.equal([true, false, true, false]);
  });

  it('local generation is there on top of the maximum of the station (K27)', async () => {
    const { rig, plug, set, kw } = chargingRig();
    await plug(1, large);
    await set(profile({ chargingProfilePurpose: 'ChargingStationMaxProfile', schedule: watts({ limit: 6000 }) }), 0);
    await rig.run(30);
    expect(kw()).to.be.within(5.8, 6);
    await set(profile({ id: 2, chargingProfilePurpose: 'LocalGeneration', schedule: watts({ limit: 3000 }) }), 0);
    await rig.run(30);
    expect(kw()).to.be.within(8.8, 9);
  });

  it('a Dynamic profile takes pushed values at once, and its duration begins again (K28)', async () => {
    const { rig, plug, set, kw, call, charging } = chargingRig();
    await plug(1, large);
    await set(profile());
    const { chargingRateUnit = 'W', chargingSchedulePeriod = [] } = watts({ limit: 6000 });
    const noStart = { id: 1, duration: 100, chargingRateUnit, chargingSchedulePeriod };
    const dynamic = {
      ...profile({ id: 2, stackLevel: 1, chargingProfileKind: 'Dynamic' }),
      chargingSchedule: [noStart],
    };
    expect(await set(dynamic)).to.equal('Accepted');
    await rig.run(60);
    expect(kw()).to.equal(6);
    const update = async (chargingProfileId: number, limit: number) => {
      const reply = await call('UpdateDynamicSchedule', { chargingProfileId, scheduleUpdate: { limit } });
      return reply.status === 'Accepted' ? reply.status : reply.statusInfo?.reasonCode;
    };
    expect(await update(2, 5000)).to.equal('Accepted');
    expect(await update(1, 5000)).to.equal('InvalidProfile');
    expect(await update(9, 5000)).to.equal('InvalidProfile');
    expect(await update(2, -1)).to.equal('InvalidSchedule');
    await rig.run(80);
    expect(kw()).to.equal(5);
    expect(charging.chargingProfiles(1).at(-1)?.profile).to.have.property('dynUpdateTime');
    await rig.run(60);
    expect(kw()).to.equal(kwOf(10));
  });

  it('dynUpdateInterval: the station pulls new values while it is online, one call for each interval (K29)', async () => {
    const { rig, plug, set, kw, of, answers, offline, online, call } = chargingRig();
    await plug(1, large);
    const dynamic = profile({
      chargingProfileKind: 'Dynamic',
      dynUpdateInterval: 30,
      schedule: watts({ limit: 6000 }),
    });
    await set(dynamic);
    await rig.run(45);
    expect(of('PullDynamicScheduleUpdate')).to.deep.equal([{ chargingProfileId: 1 }]);
    expect(kw()).to.equal(6);
    answers.set('PullDynamicScheduleUpdate', () => ({ status: 'Accepted', scheduleUpdate: { limit: 7000 } }));
    await rig.run(30);
    expect(of('PullDynamicScheduleUpdate')).to.have.length(2);
    await rig.run(10);
    expect(kw()).to.equal(7);
    offline();
    await rig.run(100);
    online();
    expect(of('PullDynamicScheduleUpdate')).to.have.length(2);
    await rig.run(30);
    expect(of('PullDynamicScheduleUpdate')).to.have.length(3);
    await call('ClearChargingProfile', { chargingProfileId: 1 });
    await rig.run(100);
    expect(of('PullDynamicScheduleUpdate')).to.have.length(3);
  });

  it('maxOfflineDuration: offline for longer, a profile is not in force; invalidAfterOfflineDuration removes it (K01)', async () => {
    const { rig, plug, set, kw, offline, online, charging } = chargingRig();
    await plug(1, large);
    await set(profile({ id: 1, maxOfflineDuration: 60, stackLevel: 1 }));
    await set(profile({ id: 2, schedule: { chargingSchedulePeriod: [{ startPeriod: 0, limit: 16 }] } }));
    offline();
    await rig.run(50);
    expect(kw()).to.equal(kwOf(10));
    await rig.run(40);
    expect(kw()).to.equal(kwOf(16));
    online();
    await rig.run(30);
    expect(kw()).to.equal(kwOf(10));
    await set(profile({ id: 1, maxOfflineDuration: 60, stackLevel: 1, invalidAfterOfflineDuration: true }));
    offline();
    await rig.run(30);
    online();
    expect(charging.chargingProfiles()).to.have.length(2);
    offline();
    await rig.run(90);
    online();
    await rig.run(30);
    expect(charging.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([2]);
    expect(kw()).to.equal(kwOf(16));
  });

  it('limitAtSoC caps the power once the vehicle is as full as that', async () => {
    const { rig, plug, set, kw } = chargingRig();
    await plug(1, { maxChargeW: 22_000, socPct: 49.9 });
    await set(profile({ schedule: { ...watts({ limit: 20_000 }), limitAtSoC: { soc: 50, limit: 7000 } } }));
    await rig.run(1);
    expect(kw()).to.be.above(15);
    await rig.run(120);
    expect(rig.connector().ev?.socPct).to.be.above(50);
    expect(kw()).to.equal(7);
  });

  it('randomizedDelay moves each period by at most so much; useLocalTime reads instants by TimeOffset', async () => {
    const { rig, plug, set, kw, stampIn, variables } = chargingRig();
    await plug(1, large);
    const rows = [
      { startPeriod: 0, limit: 10 },
      { startPeriod: 200, limit: 16 },
    ];
    await set(profile({ schedule: { startSchedule: stampIn(0), randomizedDelay: 60, chargingSchedulePeriod: rows } }));
    expect(kw()).to.be.above(20);
    await rig.run(90);
    expect(kw()).to.equal(kwOf(10));
    await rig.run(90);
    expect(kw()).to.equal(kwOf(10));
    await rig.run(110);
    expect(kw()).to.equal(kwOf(16));
    const inHours = stampIn(7200);
    await set(profile({ schedule: { startSchedule: inHours, useLocalTime: true } }));
    await rig.run(30);
    expect(kw()).to.be.above(20);
    variables.override('ClockCtrlr', 'TimeOffset', '+02:00');
    await rig.run(30);
    expect(kw()).to.equal(kwOf(10));
  });

  it('a new limit is told as ChargingRateChanged, a change below LimitChangeSignificance is not (E02, K01)', async () => {
    const { rig, plug, set, updates, variables } = chargingRig();
    variables.set('SmartChargingCtrlr', 'LimitChangeSignificance', '10');
    await plug(1, large);
    expect(updates).to.deep.equal([]);
    const to = async (limit: number) => {
      await set(profile({ schedule: watts({ limit }) }));
      await rig.run(5);
      return updates.map(({ trigger, extras }) => [trigger, extras.operationMode]);
    };
    const told = ['ChargingRateChanged', 'ChargingOnly'];
    expect(await to(10_000)).to.deep.equal([told]);
    expect(await to(9_500)).to.deep.equal([told]);
    expect(await to(8_900)).to.deep.equal([told, told]);
    const old = chargingRig('EVSE-AC-22kW-1port-EU', { version: 'ocpp2.0.1' });
    await old.plug(1, large);
    await old.set(profile());
    expect(old.updates).to.deep.equal([{ evseId: 1, trigger: 'ChargingRateChanged', extras: {} }]);
  });
});
