import { expect } from 'chai';
import { chargingRig, periods, profile } from './rig.ts';

/** kW of amperes on three phases of 400 V at the power factor of the profile. */
const kwOf = (amperes: number, phases = 3) => Math.round((amperes * phases * (400 / Math.sqrt(3)) * 0.99) / 10) / 100;
const atStation = { chargingProfilePurpose: 'ChargePointMaxProfile' } as const;
const ofTransaction = { chargingProfilePurpose: 'TxProfile', chargingProfileKind: 'Relative' } as const;

describe('OCPP 1.6 smart charging: the power follows the profiles', () => {
  it('SetChargingProfile lowers the power at the connector and in 701.W; ClearChargingProfile gives it back (5.5, 5.16)', async () => {
    const { rig, plug, set, kw, call } = chargingRig();
    await plug();
    const full = kw();
    expect(full).to.be.above(20);
    expect(await set(profile())).to.equal('Accepted');
    await rig.run(30);
    expect(kw()).to.equal(kwOf(10));
    expect(rig.connector().limitSource).to.equal('charging_profile');
    expect(-rig.w / 1000).to.be.closeTo(kwOf(10), 0.05);
    expect((await call('ClearChargingProfile', { id: 1 })).status).to.equal('Accepted');
    await rig.run(30);
    expect(kw()).to.equal(full);
    expect((await call('ClearChargingProfile', { id: 1 })).status).to.equal('Unknown');
  });

  it('each period begins at its exact instant, inside of a tick too; watts are of all phases (7.14)', async () => {
    const { rig, plug, set, kw, stampIn, commands, nowS } = chargingRig();
    await plug();
    const startS = nowS();
    const schedule = { chargingRateUnit: 'W', startSchedule: stampIn(10.25), duration: 200 } as const;
    await set(profile({ chargingSchedule: { ...schedule, ...periods([0, 9000], [33, 6000], [77, 0]) } }));
    await rig.run(40);
    expect(kw()).to.equal(9);
    await rig.run(40);
    expect(kw()).to.equal(6);
    await rig.run(10);
    expect(rig.connector()).to.deep.include({ powerW: 0, status: 'suspended_evse', limitSource: 'charging_profile' });
    await rig.run(150);
    expect(kw()).to.be.above(20);
    const offsets = commands.map(({ atS }) => Math.round((atS - startS) * 1e4) / 1e4);
    expect(offsets).to.deep.equal([10.25, 43.25, 87.25, 210.25]);
  });

  it('a TxProfile comes before the TxDefaultProfile and ends with its transaction (3.13.1)', async () => {
    const { rig, plug, set, kw, charging, running } = chargingRig();
    await set(profile({ chargingSchedule: periods([0, 16]) }), 0);
    await plug();
    expect(kw()).to.equal(kwOf(16));
    const transactionId = running[0]?.transactionId ?? 0;
    expect(await set(profile({ chargingProfileId: 2, ...ofTransaction, transactionId }))).to.equal('Accepted');
    await rig.run(30);
    expect(kw()).to.equal(kwOf(10));
    expect(charging.chargingProfiles().map(({ effective, transactionId: id }) => [effective, id])).to.deep.equal([
      [false, null],
      [true, String(transactionId)],
    ]);
    rig.command({ kind: 'evse.stop', connectorId: 1 });
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    expect(charging.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([1]);
    await plug();
    expect(kw()).to.equal(kwOf(16));
  });

  it('the profile of a remote start waits for its transaction, and relative periods count from it (5.16.2)', async () => {
    const { rig, plug, charging, kw, commands, running, clock } = chargingRig();
    const sent = profile({ ...ofTransaction, chargingSchedule: periods([0, 8], [60, 12]) });
    expect(charging.install(1, sent)).to.equal(true);
    charging.forget(1);
    expect(charging.chargingProfiles()).to.deep.equal([]);
    // a later one with its id takes its place
    expect(
      charging.install(1, { ...sent, chargingSchedule: { ...sent.chargingSchedule, ...periods([0, 6]) } }),
    ).to.equal(true);
    expect(charging.install(1, sent)).to.equal(true);
    const waiting = charging.chargingProfiles();
    expect(
      waiting.map(({ profileId, effective, transactionId }) => [profileId, effective, transactionId]),
    ).to.deep.equal([[1, false, null]]);
    await rig.run(100);
    await plug();
    expect(kw()).to.equal(kwOf(8));
    await rig.run(60);
    expect(kw()).to.equal(kwOf(12));
    const startedMs = running[0]?.startedMs ?? NaN;
    expect(commands.at(-1)?.atS).to.be.closeTo(commands[0]?.atS ?? NaN, 60.001);
    expect(clock.nowMs() - startedMs).to.be.above(60_000);
  });

  it('a Relative ChargePointMaxProfile counts from its reception, in the middle of a session (7.9)', async () => {
    const { rig, plug, set, kw } = chargingRig();
    await plug();
    await rig.run(300);
    const chargingSchedule = periods([0, 10], [60, 16]);
    expect(await set(profile({ ...atStation, chargingProfileKind: 'Relative', chargingSchedule }), 0)).to.equal(
      'Accepted',
    );
    await rig.run(50);
    const first = kw();
    await rig.run(30);
    // standby of the station belongs to the limit
    expect(first).to.be.within(kwOf(10) - 0.05, kwOf(10));
    expect(kw()).to.be.within(kwOf(16) - 0.05, kwOf(16));
  });

  it('a ChargePointMaxProfile limits the sum of two connectors (3.13.3)', async () => {
    const { rig, plug, set, kw } = chargingRig('EVSE-AC-7.4kW-2port');
    await plug(1);
    await plug(2);
    expect(kw(1) + kw(2)).to.be.above(14);
    const chargingSchedule = { chargingRateUnit: 'W', ...periods([0, 8000]) } as const;
    expect(await set(profile({ ...atStation, chargingSchedule }), 0)).to.equal('Accepted');
    await rig.run(30);
    expect(kw(1) + kw(2)).to.be.within(7.8, 8);
    expect(kw(1)).to.be.above(3.5);
    expect(-rig.w / 1000).to.be.within(7.8, 8.05);
  });

  it('a TxDefaultProfile of a connector replaces that of connector 0 there, whatever its stackLevel (3.13.1)', async () => {
    const { rig, plug, set, kw } = chargingRig('EVSE-AC-7.4kW-2port');
    await plug(1);
    await plug(2);
    await set(profile({ stackLevel: 9, chargingSchedule: periods([0, 20]) }), 0);
    await set(profile({ chargingProfileId: 2, chargingSchedule: periods([0, 8]) }), 2);
    await rig.run(30);
    expect([kw(1), kw(2)]).to.deep.equal([kwOf(20, 1), kwOf(8, 1)]);
  });

  it('watts of a single-phase vehicle all flow through L1, which GetCompositeSchedule of connector 0 in amperes shows', async () => {
    const { rig, plug, set, call } = chargingRig();
    await plug();
    rig.command({ kind: 'evse.ev', connectorId: 1, ev: { phases: 1 } });
    const station = { chargingProfileId: 2, ...atStation };
    for (const [sent, connectorId] of [
      [profile(), 1],
      [profile(station), 0],
    ] as const) {
      for (const numberPhases of [{}, { numberPhases: 3 }]) {
        const chargingSchedulePeriod = [{ startPeriod: 0, limit: 4600, ...numberPhases }];
        await set({ ...sent, chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod } }, connectorId);
        await rig.run(40);
        const { currentA } = rig.connector();
        // the power factor, and the standby of the station, are not in the conversion
        expect(currentA[0]).to.be.within(19.9, 20.2);
        const query = { connectorId: 0, duration: 60, chargingRateUnit: 'A' } as const;
        const shown = (await call('GetCompositeSchedule', query)).chargingSchedule?.chargingSchedulePeriod[0]?.limit;
        expect(shown).to.equal(20);
      }
      await call('ClearChargingProfile', {});
    }
  });

  it('6 A on one phase; below the minimum of three phases watts suspend, on one they charge (7.14)', async () => {
    const { rig, plug, set, kw } = chargingRig();
    await plug();
    const one = { chargingSchedulePeriod: [{ startPeriod: 0, limit: 6, numberPhases: 1 }] };
    await set(profile({ chargingSchedule: one }));
    await rig.run(40);
    expect(kw()).to.equal(kwOf(6, 1));
    expect(rig.connector().supplyPhases).to.deep.equal([1]);
    await set(profile({ chargingSchedule: { chargingRateUnit: 'W', ...periods([0, 2000]) } }));
    await rig.run(40);
    expect(rig.connector().status).to.equal('suspended_evse');
    const watts = [{ startPeriod: 0, limit: 2000, numberPhases: 1 }];
    await set(profile({ chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: watts } }));
    await rig.run(40);
    expect(kw()).to.equal(2);
  });

  it('a reset of the device keeps the limits; under local control they wait for its end', async () => {
    const { rig, plug, set, kw } = chargingRig();
    await plug();
    await set(profile());
    await rig.run(20);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await plug();
    expect(kw()).to.equal(kwOf(10));
    rig.device.command({ kind: 'local', local: true }, { source: 'rest' });
    await set(profile({ chargingSchedule: periods([0, 16]) }));
    await rig.run(60);
    expect(kw()).to.equal(kwOf(10));
    rig.device.command({ kind: 'local', local: false }, { source: 'rest' });
    await rig.run(20);
    expect(kw()).to.equal(kwOf(16));
  });

  it('the clock of the central system jumps back: the limit of that time is in force again', async () => {
    const { rig, plug, set, kw, stampIn, clock, wall, charging } = chargingRig();
    await plug();
    await set(profile({ chargingSchedule: { startSchedule: stampIn(0), ...periods([0, 8], [100, 12]) } }));
    await rig.run(130);
    expect(kw()).to.equal(kwOf(12));
    clock.sync(clock.nowMs() - 80_000, wall.monotonicMs());
    charging.refresh();
    await rig.run(20);
    expect(kw()).to.equal(kwOf(8));
    await rig.run(60);
    expect(kw()).to.equal(kwOf(12));
  });

  it('profiles outlive a restart of the process but those of transactions; the end of the station frees the device', async () => {
    const { rig, plug, set, kw, charging, make } = chargingRig();
    await plug();
    await set(profile());
    await set(profile({ chargingProfileId: 2, stackLevel: 1, ...ofTransaction, chargingSchedule: periods([0, 6]) }));
    await rig.run(30);
    expect(kw()).to.equal(kwOf(6));
    charging.stop();
    await rig.run(30);
    expect(kw()).to.be.above(20);
    const next = make();
    await next.load();
    await rig.run(30);
    expect(next.chargingProfiles().map(({ profileId }) => profileId)).to.deep.equal([1]);
    expect(kw()).to.equal(kwOf(10));
    next.stop();
  });
});
