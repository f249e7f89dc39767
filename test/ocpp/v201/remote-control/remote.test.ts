/** RequestStartTransaction, RequestStopTransaction and UnlockConnector on a real device. */
import { expect } from 'chai';
import type { ChargingProfile } from '../../../../src/ocpp/v201/messages.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { card, SessionRig } from '../authorization/session.ts';

const a = 'A1B2C3D4';
const b = '0A0B0C0D';
const accepted = { status: 'Accepted' };

type Start = Requests['RequestStartTransaction'];

const start = (rig: SessionRig, { evseId = 1, ...more }: Partial<Start> = {}) =>
  rig.ask('RequestStartTransaction', {
    idToken: card(a),
    remoteStartId: 42,
    ...(evseId > 0 && { evseId }),
    ...more,
  });
const startAny = (rig: SessionRig, more: Partial<Start> = {}) => start(rig, { ...more, evseId: 0 });
const unlock = (rig: SessionRig, evseId = 1, connectorId = 1) => rig.ask('UnlockConnector', { evseId, connectorId });

const profile = (more: Partial<ChargingProfile> = {}): ChargingProfile => ({
  id: 1,
  stackLevel: 0,
  chargingProfilePurpose: 'TxProfile',
  chargingProfileKind: 'Relative',
  chargingSchedule: [
    { id: 1, chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 2000, numberPhases: 1 }] },
  ],
  ...more,
});

describe('OCPP 2.x remote start (F01, F02)', () => {
  it('with a vehicle: Authorize by AuthorizeRemoteStart, then energy; events carry remoteStartId (F01)', async () => {
    for (const asks of [true, false]) {
      const rig = await SessionRig.open({ variables: { 'AuthCtrlr.AuthorizeRemoteStart': String(asks) } });
      await rig.plug();
      const running = rig.transactions.at(1);
      expect(await start(rig)).to.deep.include({
        ...accepted,
        ...(running && { transactionId: running.transactionId }),
      });
      await rig.run(10);
      expect(rig.connector().powerW).to.be.above(1000);
      expect(rig.central.asked).to.have.lengthOf(asks ? 1 : 0);
      const event = rig.central.events.find(({ idToken }) => idToken !== undefined);
      expect(event?.transactionInfo.remoteStartId).to.equal(42);
      expect(event?.triggerReason).to.equal('RemoteStart');
      expect(event?.idToken).to.deep.equal(card(a));
    }
  });

  it('before a vehicle: it waits for EVConnectionTimeOut, and begins when one comes (F02)', async () => {
    const rig = await SessionRig.open({ connectionTimeoutS: 30 });
    expect(await start(rig)).to.deep.equal(accepted);
    expect(rig.connector().phase).to.equal('authorised');
    await rig.plug();
    expect(rig.transactions.at(1)?.remoteStartId).to.equal(42);
    expect(await start(rig, { evseId: 2, chargingProfile: profile() })).to.deep.equal(accepted);
    await rig.run(31);
    expect(rig.connector(2).phase).to.equal('free');
    expect(rig.profiles).to.deep.equal(['install 2', 'forget 2']);
  });

  it('its answer has the transaction that the cable has begun (F01.FR.13)', async () => {
    const rig = await SessionRig.open({ variables: { 'TxCtrlr.TxStartPoint': 'EVConnected' } });
    await rig.plug();
    const running = rig.transactions.at(1);
    expect(await start(rig)).to.deep.equal({
      status: 'Accepted',
      transactionId: running?.transactionId,
      statusInfo: { reasonCode: 'TxStarted' },
    });
    expect(rig.transactions.at(1)).to.deep.include({ transactionId: running?.transactionId, idToken: card(a) });
  });

  it('a token that the central system refuses starts nothing, and its profile goes (F01.FR.01)', async () => {
    const rig = await SessionRig.open();
    rig.central.infos.set(a, { status: 'Blocked' });
    await rig.plug();
    expect(await start(rig, { chargingProfile: profile() })).to.deep.include(accepted);
    expect(rig.connector().phase).to.equal('connected');
    expect(rig.profiles).to.deep.equal(['install 1', 'forget 1 with profile 1']);
  });

  it('the group told with it is that of the transaction (F01)', async () => {
    const rig = await SessionRig.open({ variables: { 'AuthCtrlr.AuthorizeRemoteStart': 'false' } });
    await rig.plug();
    await start(rig, { groupIdToken: { idToken: 'FAMILY', type: 'Central' } });
    expect(rig.transactions.at(1)?.groupIdToken?.idToken).to.equal('FAMILY');
  });

  it('without an EVSE: the one reserved for the token, one with a vehicle, a free one (F01.FR.07)', async () => {
    const rig = await SessionRig.open();
    await rig.plug(2);
    await startAny(rig);
    expect([rig.connector(1).authorised, rig.connector(2).authorised]).to.deep.equal([false, true]);
    expect(await startAny(rig, { idToken: card(b) })).to.deep.equal(accepted);
    expect(rig.connector(1).authorised).to.equal(true);
    const reply = await startAny(rig, { idToken: card('12345678') });
    expect(reply).to.deep.include({ status: 'Rejected' });
    const other = await SessionRig.open();
    const expiryDateTime = other.inMs(600);
    await other.ask('ReserveNow', { id: 1, evseId: 2, idToken: card(a), expiryDateTime });
    await startAny(other);
    expect(other.connector(2).authorised).to.equal(true);
    expect(other.reservations.entries()).to.deep.equal([]);
  });

  const busy: readonly (readonly [string, (rig: SessionRig) => Promise<unknown>, string])[] = [
    ['faulted', (rig) => rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'OtherError' }), 'Unspecified'],
    ['unavailable', (rig) => rig.do({ kind: 'evse.availability', connectorId: 1, operative: false }), 'Unspecified'],
    [
      'reserved for another token',
      (rig) => rig.ask('ReserveNow', { id: 1, evseId: 1, idToken: card(b), expiryDateTime: rig.inMs(600) }),
      'Unspecified',
    ],
    ['authorised for another one', (rig) => rig.tap(b), 'TxInProgress'],
  ];
  for (const [state, make, reasonCode] of busy)
    it(`an EVSE that is ${state} rejects: ${reasonCode} (F01.FR.21 to FR.24)`, async () => {
      const rig = await SessionRig.open();
      await make(rig);
      const asked = rig.central.asked.length;
      const { status, statusInfo } = await start(rig);
      expect([status, statusInfo?.reasonCode]).to.deep.equal(['Rejected', reasonCode]);
      expect(rig.central.asked).to.have.lengthOf(asked);
    });

  it('a reserved EVSE takes a start for its group (F01.FR.22)', async () => {
    const rig = await SessionRig.open();
    const groupIdToken = { idToken: 'FAMILY', type: 'Central' };
    const expiryDateTime = rig.inMs(600);
    await rig.ask('ReserveNow', { id: 1, evseId: 1, idToken: card(b), groupIdToken, expiryDateTime });
    await rig.plug();
    expect(await start(rig, { groupIdToken })).to.deep.include(accepted);
    expect(rig.transactions.at(1)?.reservationId).to.equal(1);
  });

  const wrong: readonly (readonly [string, Partial<Start>, string])[] = [
    ['an unknown EVSE', { evseId: 9 }, 'UnknownEvse'],
    ['a token without a text', { idToken: card('') }, 'InvalidIdToken'],
    [
      'a profile of another purpose',
      { chargingProfile: profile({ chargingProfilePurpose: 'TxDefaultProfile' }) },
      'InvalidProfile',
    ],
    ['a profile for a transaction', { chargingProfile: profile({ transactionId: 'T' }) }, 'InvalidProfile'],
    ['a profile that is not valid', { chargingProfile: profile({ stackLevel: 99 }) }, 'InvalidStackLevel'],
  ];
  for (const [what, request, reasonCode] of wrong)
    it(`${what}: Rejected, ${reasonCode} (F01)`, async () => {
      const rig = await SessionRig.open();
      await rig.plug();
      const { status, statusInfo } = await start(rig, request);
      expect([status, statusInfo?.reasonCode]).to.deep.equal(['Rejected', reasonCode]);
      expect(rig.connector().phase).to.equal('connected');
      expect(rig.central.asked).to.deep.equal([]);
    });

  it('before the station is accepted both are Rejected (B02)', async () => {
    const rig = await SessionRig.open();
    await rig.connect(false);
    expect((await start(rig)).statusInfo?.reasonCode).to.equal('CSNotAccepted');
    const stop = await rig.ask('RequestStopTransaction', { transactionId: 'T' });
    expect(stop.statusInfo?.reasonCode).to.equal('CSNotAccepted');
  });

  it('a token of type NoAuthorization needs no text (C02)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    const idToken = { idToken: '', type: 'NoAuthorization' };
    expect(await start(rig, { idToken })).to.deep.include(accepted);
    expect(rig.transactions.at(1)?.idToken).to.deep.equal(idToken);
    expect(rig.central.asked).to.deep.equal([]);
  });
});

describe('OCPP 2.x remote stop and unlocking (F03, F05)', () => {
  it('a remote stop ends the energy: Remote, RemoteStop; an unknown one is Rejected (F03)', async () => {
    const rig = await SessionRig.open({ variables: { 'TxCtrlr.TxStopPoint': 'Authorized' } });
    await rig.plug();
    await rig.present(a);
    await rig.run(10);
    const transactionId = rig.transactions.at(1)?.transactionId ?? '';
    expect(await rig.ask('RequestStopTransaction', { transactionId })).to.deep.equal(accepted);
    expect(rig.connector()).to.deep.include({ phase: 'finishing', powerW: 0 });
    const [ended] = rig.central.of('Ended');
    expect(ended?.triggerReason).to.equal('RemoteStop');
    expect(ended?.transactionInfo.stoppedReason).to.equal('Remote');
    const again = await rig.ask('RequestStopTransaction', { transactionId });
    expect(again).to.deep.equal({ status: 'Rejected', statusInfo: { reasonCode: 'TxNotFound' } });
  });

  it('an authorised transaction keeps its cable (F05.FR.02)', async () => {
    const rig = await SessionRig.open();
    await rig.plug();
    await rig.present(a);
    expect(await unlock(rig)).to.deep.include({ status: 'OngoingAuthorizedTransaction' });
    expect(rig.connector().cable.locked).to.equal(true);
  });

  it('another connector or EVSE is UnknownConnector (F05.FR.03)', async () => {
    const rig = await SessionRig.open();
    expect(await unlock(rig, 9)).to.deep.equal({
      status: 'UnknownConnector',
      statusInfo: { reasonCode: 'UnknownEvse' },
    });
    expect(await unlock(rig, 1, 2)).to.deep.equal({
      status: 'UnknownConnector',
      statusInfo: { reasonCode: 'UnknownConnectorId' },
    });
  });

  it('a cable without a transaction is unlocked, one that is not locked is so already (F05)', async () => {
    const rig = await SessionRig.open({ profile: 'EVSE-AC-22kW-1port' });
    expect(await unlock(rig)).to.deep.equal({ status: 'Unlocked', statusInfo: { reasonCode: 'NoCable' } });
    await rig.plug();
    await rig.do({ kind: 'evse.lock', connectorId: 1 });
    expect(rig.connector().cable.locked).to.equal(true);
    expect(await unlock(rig)).to.deep.equal({ status: 'Unlocked' });
    expect(rig.connector().cable.locked).to.equal(false);
    expect(await unlock(rig)).to.deep.equal({ status: 'Unlocked' });
  });

  it('a fixed cable has no lock, and one that has failed stays: UnlockFailed (F05)', async () => {
    const fixed = await SessionRig.open({ profile: 'EVSE-DC-150kW-CCS-1port' });
    expect(await unlock(fixed)).to.deep.equal({ status: 'UnlockFailed', statusInfo: { reasonCode: 'FixedCable' } });
    const rig = await SessionRig.open({ profile: 'EVSE-AC-22kW-1port' });
    await rig.plug();
    await rig.do({ kind: 'evse.lock', connectorId: 1 });
    await rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'ConnectorLockFailure' });
    expect(await unlock(rig)).to.deep.equal({ status: 'UnlockFailed' });
    expect(rig.connector().cable.locked).to.equal(true);
  });
});
