/** RemoteStartTransaction, RemoteStopTransaction and UnlockConnector on a real device. */
import { expect } from 'chai';
import type { Requests } from '../../../../src/ocpp/v16/messages.ts';
import { SessionRig } from './rig.ts';

type Profile = NonNullable<Requests['RemoteStartTransaction']['chargingProfile']>;

const profile = (more: Partial<Profile> = {}): Profile => ({
  chargingProfileId: 1,
  stackLevel: 0,
  chargingProfilePurpose: 'TxProfile',
  chargingProfileKind: 'Relative',
  chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 3000 }] },
  ...more,
});

const accepted = { status: 'Accepted' };
const rejected = { status: 'Rejected' };

describe('OCPP 1.6 remote start (5.11)', () => {
  it('charges once a vehicle comes, without Authorize by default; the stop has the reason Remote (5.11, 5.12)', async () => {
    const rig = await SessionRig.open();
    expect(await rig.ask('RemoteStartTransaction', { connectorId: 2, idTag: 'R' })).to.deep.equal(accepted);
    expect(rig.connector(2).status).to.equal('preparing');
    await rig.plug(2);
    await rig.run(60);
    expect(rig.connector(2).status).to.equal('charging');
    expect(rig.central.asked).to.deep.equal([]);
    const id = rig.central.starts[0]?.id ?? NaN;
    expect(rig.central.starts[0]).to.include({ connectorId: 2, idTag: 'R' });
    expect(await rig.ask('RemoteStopTransaction', { transactionId: id + 1 })).to.deep.equal(rejected);
    expect(await rig.ask('RemoteStopTransaction', { transactionId: id })).to.deep.equal(accepted);
    expect(rig.central.stops[0]).to.include({ reason: 'Remote', transactionId: id });
    expect(await rig.ask('RemoteStopTransaction', { transactionId: id })).to.deep.equal(rejected);
  });

  it('AuthorizeRemoteTxRequests: asks first, and a refused tag starts nothing (9.1)', async () => {
    const rig = await SessionRig.open({ keys: { AuthorizeRemoteTxRequests: 'true' } });
    rig.central.infos.set('BAD', { status: 'Blocked' });
    await rig.plug();
    const request = { connectorId: 1, idTag: 'BAD', chargingProfile: profile() };
    expect(await rig.ask('RemoteStartTransaction', request)).to.deep.equal(accepted);
    expect(rig.central.asked).to.deep.equal(['BAD']);
    expect(rig.connector().phase).to.equal('connected');
    expect(rig.profiles).to.deep.equal(['install 1', 'forget 1']);
    await rig.ask('RemoteStartTransaction', { connectorId: 1, idTag: 'GOOD' });
    expect(rig.central.starts.map(({ idTag }) => idTag)).to.deep.equal(['GOOD']);
  });

  it('without a connector: the one with a vehicle, else a free one, else Rejected (5.11)', async () => {
    const rig = await SessionRig.open();
    await rig.plug(2);
    for (const tag of ['A', 'B']) await rig.ask('RemoteStartTransaction', { idTag: tag });
    expect([rig.connector(1).phase, rig.connector(2).session?.idToken]).to.deep.equal(['authorised', 'A']);
    expect(await rig.ask('RemoteStartTransaction', { idTag: 'C' })).to.deep.equal(rejected);
  });

  it('without a connector: a vehicle whose token did not come in time is still there to be charged (5.11, 3.2 B6)', async () => {
    const rig = await SessionRig.open({ profile: 'EVSE-AC-22kW-1port' });
    rig.port.command({ kind: 'evse.behaviour', authorizationTimeoutS: 30 });
    await rig.plug();
    await rig.run(60);
    expect(rig.connector().phase).to.equal('finishing');
    expect(await rig.ask('RemoteStartTransaction', { idTag: 'A' })).to.deep.equal(accepted);
    expect(rig.connector().session?.idToken).to.equal('A');
  });

  it('AuthorizeRemoteTxRequests: the group of a tag that is asked about may hold the reservation (9.1, 5.13)', async () => {
    const rig = await SessionRig.open({ keys: { AuthorizeRemoteTxRequests: 'true' } });
    rig.central.infos.set('SON', { status: 'Accepted', parentIdTag: 'FAMILY' });
    const expiryDate = new Date(rig.parts.clock.nowMs() + 3_600_000).toISOString();
    const reservation = { connectorId: 1, idTag: 'FATHER', parentIdTag: 'FAMILY', reservationId: 1, expiryDate };
    await rig.ask('ReserveNow', reservation);
    for (const idTag of ['STRANGER', 'SON'])
      expect(await rig.ask('RemoteStartTransaction', { connectorId: 1, idTag })).to.deep.equal(accepted);
    expect(rig.central.asked).to.deep.equal(['STRANGER', 'SON']);
    expect(rig.connector().phase).to.equal('authorised');
    await rig.plug();
    expect(rig.central.starts.map(({ idTag }) => idTag)).to.deep.equal(['SON']);
  });

  it('Rejected: connector 0, unknown, busy, faulted, unavailable (5.11)', async () => {
    const rig = await SessionRig.open();
    const start = (connectorId: number) => rig.ask('RemoteStartTransaction', { connectorId, idTag: 'A' });
    expect(await start(0)).to.deep.equal(rejected);
    expect(await start(7)).to.deep.equal(rejected);
    await start(1);
    expect(await start(1)).to.deep.equal(rejected);
    await rig.do({ kind: 'evse.fault', connectorId: 2, errorCode: 'OtherError' });
    expect(await start(2)).to.deep.equal(rejected);
    await rig.do({ kind: 'evse.clear_fault', connectorId: 2 });
    await rig.do({ kind: 'evse.availability', connectorId: 2, operative: false });
    expect(await start(2)).to.deep.equal(rejected);
  });

  const refused: readonly (readonly [string, Profile, string | null])[] = [
    ['TxDefaultProfile', profile({ chargingProfilePurpose: 'TxDefaultProfile' }), 'its purpose is TxDefaultProfile'],
    ['a transactionId', profile({ transactionId: 5 }), 'it names a transaction'],
    ['a profile that smart charging refuses', profile({ stackLevel: 99 }), null],
  ];
  for (const [what, chargingProfile, finding] of refused)
    it(`a profile with ${what}: Rejected, and nothing starts (5.11)`, async () => {
      const rig = await SessionRig.open();
      const request = { connectorId: 1, idTag: 'A', chargingProfile };
      expect(await rig.ask('RemoteStartTransaction', request)).to.deep.equal(rejected);
      expect(rig.connector().phase).to.equal('free');
      expect(rig.findings.length).to.equal(finding === null ? 0 : 1);
      if (finding !== null) expect(rig.findings[0]).to.contain(finding);
    });

  it('a reset of the device ends it before a vehicle has come, and its profile is forgotten', async () => {
    const rig = await SessionRig.open();
    await rig.ask('RemoteStartTransaction', { connectorId: 1, idTag: 'A', chargingProfile: profile() });
    expect(rig.connector().phase).to.equal('authorised');
    rig.kind.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.settle();
    expect(rig.connector().phase).to.equal('free');
    expect(rig.profiles).to.include('forget 1');
  });

  it('ConnectionTimeOut ends it, and its profile is forgotten (9.1)', async () => {
    const rig = await SessionRig.open({ connectionTimeoutS: 30 });
    await rig.ask('RemoteStartTransaction', { connectorId: 1, idTag: 'A', chargingProfile: profile() });
    await rig.run(31);
    expect(rig.connector().status).to.equal('available');
    expect(rig.profiles).to.deep.equal(['install 1', 'forget 1']);
    expect(rig.central.starts).to.deep.equal([]);
  });
});

describe('OCPP 1.6 UnlockConnector (5.18)', () => {
  it('ends a running transaction before: UnlockCommand (5.18)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.tap('A');
    await rig.run(30);
    expect(rig.connector().cable.locked).to.equal(true);
    expect(await rig.ask('UnlockConnector', { connectorId: 1 })).to.deep.equal({ status: 'Unlocked' });
    expect(rig.connector().cable.locked).to.equal(false);
    expect(rig.central.stops.map(({ reason }) => reason)).to.deep.equal(['UnlockCommand']);
  });

  it('unlocks a cable that was locked without a session, and is Unlocked where nothing is locked', async () => {
    const rig = await SessionRig.open();
    expect(await rig.ask('UnlockConnector', { connectorId: 2 })).to.deep.equal({ status: 'Unlocked' });
    await rig.plug();
    await rig.do({ kind: 'evse.lock', connectorId: 1 });
    expect(await rig.ask('UnlockConnector', { connectorId: 1 })).to.deep.equal({ status: 'Unlocked' });
    expect(rig.connector().cable.locked).to.equal(false);
  });

  it('a failed lock: UnlockFailed; unknown connector or fixed cable: NotSupported (7.45)', async () => {
    const rig = await SessionRig.open();
    await rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'ConnectorLockFailure' });
    expect(await rig.ask('UnlockConnector', { connectorId: 1 })).to.deep.equal({ status: 'UnlockFailed' });
    expect(await rig.ask('UnlockConnector', { connectorId: 5 })).to.deep.equal({ status: 'NotSupported' });
    const fixed = await SessionRig.open({ profile: 'EVSE-DC-150kW-CCS-1port' });
    await fixed.plug();
    await fixed.tap('A');
    expect(await fixed.ask('UnlockConnector', { connectorId: 1 })).to.deep.equal({ status: 'NotSupported' });
    expect(fixed.central.stops).to.deep.equal([]);
  });
});
