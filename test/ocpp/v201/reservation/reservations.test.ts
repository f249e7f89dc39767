/** ReserveNow, CancelReservation and ReservationStatusUpdate on a real device. */
import { expect } from 'chai';
import type { IdTokenInfo } from '../../../../src/ocpp/v201/messages.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { card, SessionRig } from '../authorization/session.ts';

const r = 'AAAAAAAA';
const s = 'BBBBBBBB';
const x = 'CCCCCCCC';
const group = (idToken: string) => ({ idToken, type: 'Central' });
const ofFamily: IdTokenInfo = { status: 'Accepted', groupIdToken: group('FAMILY') };
const accepted = { status: 'Accepted' };

type Reserve = Requests['ReserveNow'];

/** of EVSE 1 for `r`, for ten minutes */
const reserve = (rig: SessionRig, { evseId = 1, ...more }: Partial<Reserve> = {}) =>
  rig.ask('ReserveNow', {
    id: 7,
    idToken: card(r),
    expiryDateTime: rig.inMs(600),
    ...(evseId > 0 && { evseId }),
    ...more,
  });
/** of any EVSE */
const reserveAny = (rig: SessionRig, more: Partial<Reserve> = {}) => reserve(rig, { ...more, evseId: 0 });
const cancel = (rig: SessionRig, reservationId = 7) => rig.ask('CancelReservation', { reservationId });
const ids = (rig: SessionRig) => rig.reservations.entries().map(({ reservationId }) => reservationId);

describe('OCPP 2.x reservations (H01 to H04)', () => {
  it('the token of the reservation uses it up: the transaction carries its id (H03)', async () => {
    const rig = await SessionRig.open();
    expect(await reserve(rig)).to.deep.equal(accepted);
    expect(rig.statuses).to.deep.equal(['reserved', 'available']);
    expect(rig.reservations.entries()).to.have.lengthOf(1);
    expect(await rig.present(x)).to.equal('COMMAND_CONFLICT');
    expect(rig.central.asked).to.deep.equal([]);
    await rig.plug();
    await rig.run(30);
    expect(rig.connector().occupancy).to.equal('reserved');
    expect(rig.reservations.reservedS(7)).to.equal(null);
    expect(await rig.present(r.toLowerCase())).to.equal('Accepted');
    expect(rig.reservations.reservedS(7)).to.be.within(29, 31);
    await rig.run(10);
    expect(rig.connector().powerW).to.be.above(1000);
    expect(rig.transactions.at(1)?.reservationId).to.equal(7);
    expect(rig.central.events.some(({ reservationId }) => reservationId === 7)).to.equal(true);
    expect(ids(rig)).to.deep.equal([]);
    expect(rig.central.updates).to.deep.equal([]);
    await rig.unplug();
    expect(rig.statuses).to.deep.equal(['available', 'available']);
  });

  it('the same text of another type is another token (H01)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    expect(await rig.present(r, 1, 'KeyCode')).to.equal('COMMAND_CONFLICT');
  });

  it('a token of its group uses it, at once or after plugging in (H03)', async () => {
    for (const first of ['plug', 'tap']) {
      const rig = await SessionRig.open();
      rig.central.infos.set(s, ofFamily);
      rig.central.infos.set(x, { status: 'Accepted', groupIdToken: group('OTHERS') });
      await reserve(rig, { groupIdToken: group('family') });
      expect(await rig.present(x)).to.equal('COMMAND_CONFLICT');
      if (first === 'plug') await rig.plug();
      await rig.tap(s);
      if (first === 'tap') await rig.plug();
      expect(rig.transactions.at(1), first).to.deep.include({ reservationId: 7, idToken: card(s) });
      expect(ids(rig)).to.deep.equal([]);
    }
  });

  it('a refused token leaves the reservation (H03)', async () => {
    const rig = await SessionRig.open();
    rig.central.infos.set(r, { status: 'Blocked' });
    await reserve(rig);
    expect(await rig.present(r)).to.equal('Blocked');
    expect([...ids(rig), rig.statuses[0]]).to.deep.equal([7, 'reserved']);
  });

  for (const [version, updates] of [
    ['ocpp2.0.1', []],
    ['ocpp2.1', [{ reservationId: 7, reservationUpdateStatus: 'NoTransaction' }]],
  ] as const)
    it(`${version}: a reservation used up without a transaction is told where the version has a word (H03)`, async () => {
      const rig = await SessionRig.open({
        version,
        connectionTimeoutS: 30,
        variables: { 'TxCtrlr.TxStartPoint': 'PowerPathClosed' },
      });
      await reserve(rig);
      await rig.tap(r);
      await rig.run(31);
      expect(rig.statuses[0]).to.equal('available');
      expect(ids(rig)).to.deep.equal([]);
      expect(rig.central.updates).to.deep.equal(updates);
    });

  it('a session that ends before its transaction begins is none, one that began with the cable is (H03)', async () => {
    for (const [start, count] of [
      ['EnergyTransfer', 1],
      ['EVConnected', 0],
    ] as const) {
      const rig = await SessionRig.open({ version: 'ocpp2.1', variables: { 'TxCtrlr.TxStartPoint': start } });
      await reserve(rig);
      await rig.plug();
      await rig.present(r);
      expect(rig.connector().phase).to.equal('starting');
      await rig.unplug();
      expect(rig.central.updates, start).to.have.lengthOf(count);
    }
  });

  it('a transaction that began with the token was one, though no vehicle came (H03, E03)', async () => {
    const rig = await SessionRig.open({
      version: 'ocpp2.1',
      connectionTimeoutS: 30,
      variables: { 'TxCtrlr.TxStartPoint': 'Authorized', 'TxCtrlr.TxStopPoint': 'Authorized' },
    });
    await reserve(rig);
    await rig.tap(r);
    expect(rig.central.of('Started')[0]?.reservationId).to.equal(7);
    await rig.run(31);
    expect(rig.central.of('Ended')).to.have.lengthOf(1);
    expect(rig.central.updates).to.deep.equal([]);
  });

  it('Expired is told and the EVSE is free; offline it is told later (H04)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig, { expiryDateTime: rig.inMs(60) });
    await reserve(rig, { id: 8, evseId: 2, expiryDateTime: rig.inMs(120) });
    await rig.run(61);
    expect(rig.statuses).to.deep.equal(['available', 'reserved']);
    expect(rig.central.updates).to.deep.equal([{ reservationId: 7, reservationUpdateStatus: 'Expired' }]);
    await rig.connect(false);
    await rig.run(60);
    expect(rig.statuses).to.deep.equal(['available', 'available']);
    expect(rig.central.updates).to.have.lengthOf(1);
    await rig.connect(true);
    expect(rig.central.updates[1]).to.deep.equal({ reservationId: 8, reservationUpdateStatus: 'Expired' });
    await rig.connect(true);
    expect(rig.central.updates).to.have.lengthOf(2);
  });

  it('CancelReservation frees the EVSE; an unknown one is Rejected (H02)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    expect(await cancel(rig, 8)).to.deep.include({ status: 'Rejected' });
    expect(await cancel(rig)).to.deep.equal(accepted);
    expect(rig.statuses).to.deep.equal(['available', 'available']);
    expect(await rig.present(x)).to.equal('Accepted');
    expect(rig.central.updates).to.deep.equal([]);
  });

  it('an EVSE that becomes faulted or inoperative loses its reservation: Removed (H01)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    await reserve(rig, { id: 8, evseId: 2 });
    await rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'OtherError' });
    rig.port.command({ kind: 'evse.availability', connectorId: 2, operative: false });
    await rig.settle();
    expect(rig.central.updates).to.deep.equal([
      { reservationId: 7, reservationUpdateStatus: 'Removed' },
      { reservationId: 8, reservationUpdateStatus: 'Removed' },
    ]);
    await rig.do({ kind: 'evse.clear_fault', connectorId: 1 });
    rig.port.command({ kind: 'evse.availability', connectorId: 2, operative: true });
    await rig.settle();
    expect(rig.statuses).to.deep.equal(['available', 'available']);
  });

  it('a person who ends it at the station: Removed (H01)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    await rig.do({ kind: 'evse.reserve', connectorId: 1, reservation: null });
    expect(ids(rig)).to.deep.equal([]);
    expect(rig.central.updates).to.deep.equal([{ reservationId: 7, reservationUpdateStatus: 'Removed' }]);
  });

  it('one that a person has made is among them, and CancelReservation ends it (H02)', async () => {
    const rig = await SessionRig.open();
    await rig.do({
      kind: 'evse.reserve',
      connectorId: 2,
      reservation: { reservationId: 8, idToken: 'P', expiresInS: null },
    });
    expect(rig.reservations.entries()).to.deep.equal([
      { reservationId: 8, connectorId: 2, idToken: 'P', expiresMs: null },
    ]);
    expect(await cancel(rig, 8)).to.deep.equal(accepted);
    expect([rig.statuses, ids(rig)]).to.deep.equal([['available', 'available'], []]);
    expect(await cancel(rig, 8)).to.deep.equal({ status: 'Rejected', statusInfo: { reasonCode: 'NotFound' } });
  });

  it('the same id replaces, also at another EVSE (H01.FR.02)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    expect(await reserve(rig, { idToken: card(s) })).to.deep.equal(accepted);
    expect(await rig.present(r)).to.equal('COMMAND_CONFLICT');
    expect(await reserve(rig, { evseId: 2 })).to.deep.equal(accepted);
    expect(rig.statuses).to.deep.equal(['available', 'reserved']);
    expect(ids(rig)).to.deep.equal([7]);
    expect(rig.central.updates).to.deep.equal([]);
  });

  it('answers by the state of the EVSE, and changes nothing then (H01)', async () => {
    const rig = await SessionRig.open();
    await rig.do({ kind: 'evse.fault', connectorId: 1, errorCode: 'OtherError' });
    expect(await reserve(rig)).to.deep.equal({ status: 'Faulted' });
    await rig.do({ kind: 'evse.clear_fault', connectorId: 1 });
    await rig.do({ kind: 'evse.availability', connectorId: 1, operative: false });
    expect(await reserve(rig)).to.deep.equal({ status: 'Unavailable' });
    await rig.do({ kind: 'evse.availability', connectorId: 1, operative: true });
    await rig.plug();
    expect(await reserve(rig)).to.deep.equal({ status: 'Occupied' });
    await reserve(rig, { id: 8, evseId: 2 });
    expect(await reserve(rig, { id: 9, evseId: 2 })).to.deep.equal({ status: 'Occupied' });
    expect(ids(rig)).to.deep.equal([8]);
  });

  const refused: readonly (readonly [string, Partial<Reserve>, string])[] = [
    ['an unknown EVSE', { evseId: 9 }, 'UnknownEvse'],
    ['a connector type that no EVSE has', { connectorType: 'cTesla' }, 'UnknownConnectorType'],
    ['a time that has passed', { expiryDateTime: '2020-01-01T00:00:00Z' }, 'InvalidValue'],
    ['a token without a text', { idToken: card('') }, 'InvalidIdToken'],
  ];
  for (const [what, request, reasonCode] of refused)
    it(`${what}: Rejected, ${reasonCode} (H01)`, async () => {
      const rig = await SessionRig.open();
      const reply = await reserve(rig, request);
      expect([reply.status, reply.statusInfo?.reasonCode]).to.deep.equal(['Rejected', reasonCode]);
      expect([...ids(rig), ...rig.statuses]).to.deep.equal(['available', 'available']);
    });

  it('ReservationCtrlr.Enabled and NonEvseSpecific decide (H01.FR.01, H01.FR.19)', async () => {
    const rig = await SessionRig.open({ variables: { 'ReservationCtrlr.NonEvseSpecific': 'false' } });
    expect((await reserveAny(rig)).status).to.equal('Rejected');
    expect(await reserve(rig)).to.deep.equal(accepted);
    rig.variables.set('ReservationCtrlr', 'Enabled', 'false');
    expect((await reserve(rig, { id: 8, evseId: 2 })).statusInfo?.reasonCode).to.equal('NotEnabled');
  });

  it('for any EVSE: one stays free for its token, and the last free ones show Reserved (H01.FR.20)', async () => {
    const rig = await SessionRig.open();
    expect(await reserveAny(rig)).to.deep.equal(accepted);
    expect(rig.statuses).to.deep.equal(['available', 'available']);
    expect(rig.reservations.entries()[0]?.connectorId).to.equal(0);
    await rig.plug();
    expect(await rig.present(x)).to.equal('Accepted');
    expect(rig.statuses).to.deep.equal(['preparing', 'reserved']);
    expect(await rig.present(s, 2)).to.equal('COMMAND_CONFLICT');
    expect(await reserve(rig, { id: 8, evseId: 2 })).to.deep.equal({ status: 'Occupied' });
    expect(await reserveAny(rig, { id: 9 })).to.deep.equal({ status: 'Occupied' });
    expect(await rig.present(r, 2)).to.equal('Accepted');
    expect(ids(rig)).to.deep.equal([]);
  });

  it('two for any EVSE: the token of one may take the place that is kept for the other (H03)', async () => {
    const rig = await SessionRig.open();
    await reserveAny(rig);
    expect(await reserveAny(rig, { id: 8, idToken: card(s) })).to.deep.equal(accepted);
    expect(rig.statuses).to.deep.equal(['reserved', 'reserved']);
    await rig.plug();
    expect(await rig.present(s, 1)).to.equal('Accepted');
    expect(rig.statuses).to.deep.equal(['preparing', 'reserved']);
    expect(await rig.present(r, 2)).to.equal('Accepted');
    expect(rig.transactions.at(1)?.reservationId).to.equal(8);
  });

  it('for a type of connector: only an EVSE that has it serves (H01)', async () => {
    const rig = await SessionRig.open({
      variables: { 'Connector.ConnectorType@1': 'cType2', 'Connector.ConnectorType@2': 'cCCS2' },
    });
    expect(await reserveAny(rig, { connectorType: 'sType2' })).to.deep.include({ status: 'Rejected' });
    expect(await reserveAny(rig, { connectorType: 'cCCS2' })).to.deep.equal(accepted);
    // it is the only one of its kind
    expect(rig.statuses).to.deep.equal(['available', 'reserved']);
    expect(await reserveAny(rig, { id: 8, connectorType: 'cCCS2' })).to.deep.equal({ status: 'Occupied' });
    expect(await reserve(rig, { id: 8, connectorType: 'cCCS2' })).to.deep.include({ status: 'Rejected' });
    expect(await rig.present(x, 1)).to.equal('Accepted');
    expect(await rig.present(r, 2)).to.equal('Accepted');
    expect(ids(rig)).to.deep.equal([]);
  });

  it('they survive a restart; one that has expired meanwhile is told (H01, H04)', async () => {
    const first = await SessionRig.open();
    await reserve(first, { groupIdToken: group('FAMILY'), expiryDateTime: first.inMs(1000) });
    await reserve(first, { id: 8, evseId: 2, expiryDateTime: first.inMs(60) });
    await first.settle();
    first.kill();
    const second = await SessionRig.open({
      store: first.store,
      before: (kind) => {
        kind.command({ kind: 'evse.authority', central: true });
      },
    });
    expect(second.statuses).to.deep.equal(['reserved', 'reserved']);
    second.central.infos.set(s, ofFamily);
    expect(await second.present(s)).to.equal('Accepted');
    await second.run(61);
    expect(second.central.updates).to.deep.equal([{ reservationId: 8, reservationUpdateStatus: 'Expired' }]);
  });

  it('a reset of the device puts them back (H01)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    rig.kind.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.settle();
    expect(rig.statuses).to.deep.equal(['reserved', 'available']);
  });
});
