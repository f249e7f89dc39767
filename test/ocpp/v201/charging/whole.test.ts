import { expect } from 'chai';
import { settled } from '../../v16/fakes.ts';
import { chargingRig, profile, startSchedule, watts } from './rig.ts';

const tx = { chargingProfilePurpose: 'TxProfile' } as const;
const large = { maxChargeW: 22_000 };

describe('OCPP 2.x smart charging: its parts together', () => {
  it('an ended station does nothing more', async () => {
    const { rig, plug, charging, set, of, offline, online, variables, kw } = chargingRig();
    await set(profile({ id: 1, stackLevel: 1, maxOfflineDuration: 0, invalidAfterOfflineDuration: true }));
    await set(
      profile({ id: 2, chargingProfileKind: 'Dynamic', dynUpdateInterval: 30, schedule: watts({ limit: 6000 }) }),
    );
    expect(charging.install(1, profile({ id: 3, ...tx }))).to.equal(null);
    charging.stop();
    await plug(1, large);
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: 15_000 });
    offline();
    await rig.run(60);
    online();
    await settled();
    variables.set('SmartChargingCtrlr', 'Enabled', 'false');
    await rig.run(30);
    const ofCentral = charging.chargingProfiles().filter(({ profileId }) => profileId > 0);
    expect(ofCentral.map(({ profileId, transactionId }) => [profileId, transactionId])).to.deep.equal([
      [1, null],
      [2, null],
      [3, null],
    ]);
    expect(of('PullDynamicScheduleUpdate')).to.deep.equal([]);
    expect(of('NotifyChargingLimit')).to.deep.equal([]);
    expect(kw()).to.be.above(14);
  });

  it('a limit from outside that is there at the start is told', async () => {
    const { rig, charging, make, of } = chargingRig();
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: 7000 });
    charging.stop();
    const before = of('NotifyChargingLimit').length;
    const next = make().charging;
    await next.load();
    expect(of('NotifyChargingLimit')).to.have.length(before + 1);
    next.stop();
  });

  it('a start that is refused takes back its own profile alone', async () => {
    const { plug, charging, set } = chargingRig('EVSE-AC-7.4kW-2port');
    const ids = () => charging.chargingProfiles().map(({ profileId }) => profileId);
    await plug(1);
    await plug(2);
    await set(profile({ id: 1 }), 1);
    expect(charging.install(1, profile({ id: 2, ...tx }))).to.equal(null);
    expect(charging.install(1, profile({ id: 3, stackLevel: 1, ...tx }))).to.equal(null);
    expect(charging.install(2, profile({ id: 4, ...tx }))).to.equal(null);
    charging.forget(1);
    charging.forget(1, 1);
    charging.forget(1, 4);
    charging.forget(1, 9);
    expect(ids()).to.deep.equal([1, 2, 3, 4]);
    charging.forget(1, 2);
    expect(ids()).to.deep.equal([1, 3, 4]);
  });

  it('the profile of a start obeys the rules, and its refusal is found', () => {
    const { charging, findings } = chargingRig();
    expect(charging.install(1, profile({ ...tx, stackLevel: 101 }))).to.equal('InvalidStackLevel');
    expect(findings).to.have.length(1);
    expect(findings[0]).to.match(/^OCPP 2\.1 K01 profile 1: stackLevel 101/);
    expect(charging.chargingProfiles()).to.deep.equal([]);
  });

  it('a TxProfile waits for the needs of the vehicle where block Q says so, and is told to it', async () => {
    const { plug, charging, set } = chargingRig();
    const transactionId = await plug(1, large);
    const told: unknown[] = [];
    const end = charging.vehicles.onTxProfile(({ evseId, profile: { id } }) => told.push([evseId, id]));
    let awaits = true;
    charging.vehicles.expectNeeds((transaction) => awaits && transaction.transactionId === transactionId);
    expect(await set(profile({ id: 5, ...tx, transactionId }))).to.equal('InvalidMessageSeq');
    expect(told).to.deep.equal([]);
    awaits = false;
    expect(await set(profile({ id: 5, ...tx, transactionId }))).to.equal('Accepted');
    expect(told).to.deep.equal([[1, 5]]);
    end();
  });

  it('a priority ends with its transaction', async () => {
    const { rig, plug, set, call, charging } = chargingRig();
    const transactionId = await plug(1, large);
    await set(profile({ id: 2, chargingProfilePurpose: 'PriorityCharging' }));
    const use = async (id: string) => (await call('UsePriorityCharging', { transactionId: id, activate: true })).status;
    expect(await use(transactionId)).to.equal('Accepted');
    const inForce = () => charging.chargingProfiles().map(({ effective }) => effective);
    expect(inForce()).to.deep.equal([true]);
    rig.command({ kind: 'evse.stop', connectorId: 1 });
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    await settled();
    expect(inForce()).to.deep.equal([false]);
    await plug(1, large);
    expect(inForce()).to.deep.equal([false]);
  });

  it('relative periods count from the whole millisecond in which the transaction has begun', async () => {
    const { plug, set, running, charging } = chargingRig();
    await plug(1, large);
    const [transaction = expect.fail('no transaction')] = running;
    running[0] = { ...transaction, startedMs: transaction.startedMs + 0.75 };
    const chargingSchedulePeriod = [
      { startPeriod: 0, limit: 10 },
      { startPeriod: 1000, limit: 8 },
    ];
    const relative = profile({ chargingProfileKind: 'Relative' });
    await set({ ...relative, chargingSchedule: [{ id: 1, chargingRateUnit: 'A', chargingSchedulePeriod }] });
    const { state, nowMs } = charging.vehicles.control;
    expect(state.transactions[0]).to.include({ startedMs: Math.floor(transaction.startedMs + 0.75), priority: false });
    const startS = charging.compositeSchedule(1, 2000, 'A').periods[1]?.startS;
    expect(startS).to.equal((Math.floor(transaction.startedMs + 0.75) + 1_000_000 - nowMs) / 1000);
  });

  it('without smart charging each of its calls is refused', async () => {
    const { charging, variables } = chargingRig();
    variables.set('SmartChargingCtrlr', 'Enabled', 'false');
    for (const handler of Object.values(charging.handlers)) {
      const answer = async () => handler({} as never, () => undefined);
      expect(await answer().catch((error: unknown) => error)).to.include({ code: 'NotSupported' });
    }
    expect(Object.keys(charging.handlers)).to.have.length(6);
  });

  it('a vehicle that may no longer discharge is kept from it while its profile stays the same', async () => {
    const { rig, plug, set, kw, variables } = chargingRig('EVSE-V2G-DC-50kW-bidir');
    await plug(1, { socPct: 60, maxChargeW: 50_000 });
    await set(
      profile({ schedule: { ...watts({ operationMode: 'CentralSetpoint', setpoint: -10_000 }), startSchedule } }),
    );
    await rig.run(30);
    expect(kw()).to.equal(-10);
    variables.set('V2XChargingCtrlr', 'Enabled', 'false', { evseId: 1 });
    await rig.run(30);
    expect(kw()).to.equal(0);
  });

  it('a limit by the state of charge at one EVSE of two is in force at once', async () => {
    const { rig, plug, set } = chargingRig('EVSE-AC-7.4kW-2port');
    await plug(2, { socPct: 60 });
    const limitAtSoC = { soc: 50, limit: 3000 };
    expect(await set(profile({ schedule: { ...watts({ limit: 7000 }), limitAtSoC } }), 2)).to.equal('Accepted');
    await rig.run(0.1);
    expect(rig.connector(2).limitW).to.equal(3000);
  });

  it('what a transaction permitted its vehicle ends with it', async () => {
    const { rig, plug, charging } = chargingRig('EVSE-V2G-DC-50kW-bidir');
    await plug(1, { socPct: 60 });
    const { conditions } = charging.vehicles;
    const mayDischarge = () => conditions.at(false).get(1)?.mayDischarge;
    conditions.permitDischarge(1, false);
    expect(mayDischarge()).to.equal(false);
    rig.command({ kind: 'evse.stop', connectorId: 1 });
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    expect(mayDischarge()).to.equal(true);
  });

  it('an update of a Dynamic profile draws its random delay anew', async () => {
    const { set, call } = chargingRig();
    const schedule = { ...watts({ limit: 6000 }), randomizedDelay: 60 };
    expect(await set(profile({ chargingProfileKind: 'Dynamic', schedule }))).to.equal('Accepted');
    const { status } = await call('UpdateDynamicSchedule', { chargingProfileId: 1, scheduleUpdate: { limit: 5000 } });
    expect(status).to.equal('Accepted');
  });
});
