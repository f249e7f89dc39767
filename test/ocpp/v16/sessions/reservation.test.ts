/** ReserveNow and CancelReservation on a real device. */
import { expect } from 'chai';
import type { Requests } from '../../../../src/ocpp/v16/messages.ts';
import { SessionRig } from './rig.ts';

type Reserve = Requests['ReserveNow'];

const reserve = (rig: SessionRig, more: Partial<Reserve> = {}) =>
  rig.ask('ReserveNow', { connectorId: 1, reservationId: 7, idTag: 'R', expiryDate: rig.inMs(600), ...more });
const statuses = (rig: SessionRig) => rig.port.detail.connectors.map(({ status }) => status);
const accepted = { status: 'Accepted' };

describe('OCPP 1.6 reservations (3.9, 5.1, 5.13)', () => {
  it('the tag of the reservation uses it up: StartTransaction carries reservationId (4.8, 5.13)', async () => {
    const rig = await SessionRig.open();
    expect(await reserve(rig)).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['reserved', 'available']);
    expect(rig.reservations.entries()).to.have.lengthOf(1);
    expect(await rig.present('X')).to.equal('COMMAND_CONFLICT');
    expect(rig.central.asked).to.deep.equal([]);
    await rig.plug();
    await rig.tap('r');
    expect(rig.central.starts[0]).to.include({ reservationId: 7, idTag: 'r' });
    expect(rig.reservations.entries()).to.deep.equal([]);
    await rig.tap('R');
    await rig.unplug();
    expect(statuses(rig)).to.deep.equal(['available', 'available']);
    expect(await rig.ask('CancelReservation', { reservationId: 7 })).to.deep.equal({ status: 'Rejected' });
  });

  it('a tag of the same group uses it, at once or after plugging in (5.13)', async () => {
    for (const first of ['plug', 'tap']) {
      const rig = await SessionRig.open();
      rig.central.infos.set('SON', { status: 'Accepted', parentIdTag: 'FAMILY' });
      rig.central.infos.set('X', { status: 'Accepted', parentIdTag: 'OTHERS' });
      await reserve(rig, { parentIdTag: 'family' });
      expect(await rig.present('X')).to.equal('COMMAND_CONFLICT');
      if (first === 'plug') await rig.plug();
      await rig.tap('SON');
      if (first === 'tap') await rig.plug();
      expect(rig.central.starts[0], first).to.include({ reservationId: 7, idTag: 'SON' });
      expect(rig.reservations.entries()).to.deep.equal([]);
    }
  });

  it('an authorisation that no vehicle follows leaves the reservation to its tag (9.1)', async () => {
    const rig = await SessionRig.open({ connectionTimeoutS: 30 });
    rig.central.infos.set('SON', { status: 'Accepted', parentIdTag: 'FAMILY' });
    await reserve(rig, { parentIdTag: 'FAMILY' });
    await rig.tap('SON');
    await rig.run(31);
    expect(rig.connector()).to.deep.include({ status: 'reserved' });
    expect(rig.connector().reservation?.idToken).to.equal('R');
  });

  it('expires by the clock of the central system (5.13)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    await rig.run(599);
    expect(rig.connector().status).to.equal('reserved');
    await rig.run(2);
    expect(rig.connector().status).to.equal('available');
    expect(rig.reservations.entries()).to.deep.equal([]);
    expect(rig.findings).to.deep.equal([]);
    expect(await reserve(rig, { expiryDate: rig.inMs(-1) })).to.deep.equal({ status: 'Rejected' });
    expect(rig.findings).to.deep.equal(['OCPP 1.6 5.13: expiryDate is no time to come']);
  });

  it('CancelReservation ends it; an unknown one is Rejected (5.1)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    expect(await rig.ask('CancelReservation', { reservationId: 8 })).to.deep.equal({ status: 'Rejected' });
    expect(await rig.ask('CancelReservation', { reservationId: 7 })).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['available', 'available']);
  });

  it('the same reservationId replaces it, also at another connector; a refused one leaves it (5.13)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    expect(await reserve(rig, { idTag: 'S' })).to.deep.equal(accepted);
    expect(rig.connector().reservation?.idToken).to.equal('S');
    expect(await reserve(rig, { connectorId: 2 })).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['available', 'reserved']);
    await rig.plug(1);
    expect(await reserve(rig, { connectorId: 1 })).to.deep.equal({ status: 'Occupied' });
    expect(statuses(rig)).to.deep.equal(['preparing', 'reserved']);
    expect(rig.reservations.entries()).to.have.lengthOf(1);
  });

  it('Occupied by another reservation, Faulted, Unavailable, Rejected for an unknown connector (5.13, 7.35)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    expect(await reserve(rig, { reservationId: 8 })).to.deep.equal({ status: 'Occupied' });
    expect(await reserve(rig, { reservationId: 8, connectorId: 5 })).to.deep.equal({ status: 'Rejected' });
    await rig.do({ kind: 'evse.fault', connectorId: 2, errorCode: 'OtherError' });
    expect(await reserve(rig, { reservationId: 8, connectorId: 2 })).to.deep.equal({ status: 'Faulted' });
    await rig.do({ kind: 'evse.clear_fault', connectorId: 2 });
    await rig.do({ kind: 'evse.availability', connectorId: 2, operative: false });
    expect(await reserve(rig, { reservationId: 8, connectorId: 2 })).to.deep.equal({ status: 'Unavailable' });
  });

  it('survives a restart of the process and of the device (3.9)', async () => {
    const first = await SessionRig.open();
    await reserve(first);
    await reserve(first, { reservationId: 8, connectorId: 2, expiryDate: first.inMs(5) });
    first.kill();
    const second = await SessionRig.open({ disk: first.disk });
    expect(statuses(second)).to.deep.equal(['reserved', 'reserved']);
    await second.run(6);
    expect(statuses(second)).to.deep.equal(['reserved', 'available']);
    second.kind.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await second.settle();
    expect(statuses(second)).to.deep.equal(['reserved', 'available']);
  });

  it('comes back with a connector that was out of operation; a person ends it for good (3.9)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig);
    await rig.do({ kind: 'evse.availability', connectorId: 1, operative: false });
    await rig.do({ kind: 'evse.availability', connectorId: 1, operative: true });
    expect(rig.connector().status).to.equal('reserved');
    await rig.do({ kind: 'evse.reserve', connectorId: 1, reservation: null });
    expect([statuses(rig), rig.reservations.entries()]).to.deep.equal([['available', 'available'], []]);
  });

  it('one that a person has made is among them, and the central system cancels or replaces it (5.1, 5.13)', async () => {
    const rig = await SessionRig.open();
    const made = { kind: 'evse.reserve', connectorId: 1 } as const;
    await rig.do({ ...made, reservation: { reservationId: 7, idToken: 'P', expiresInS: 60 } });
    await rig.run(20);
    await rig.do({ ...made, connectorId: 2, reservation: { reservationId: 8, idToken: 'Q', expiresInS: null } });
    const [first, second] = rig.reservations.entries();
    expect(first).to.deep.include({ reservationId: 7, connectorId: 1, idToken: 'P' });
    expect(first?.expiresMs).to.be.closeTo(Date.parse(rig.inMs(40)), 50);
    expect(second).to.deep.equal({ reservationId: 8, connectorId: 2, idToken: 'Q', expiresMs: null });
    expect(await rig.ask('CancelReservation', { reservationId: 9 })).to.deep.equal({ status: 'Rejected' });
    expect(await rig.ask('CancelReservation', { reservationId: 7 })).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['available', 'reserved']);
    // the same id at another connector takes its place
    expect(await reserve(rig, { reservationId: 8 })).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['reserved', 'available']);
    expect(rig.reservations.entries()).to.have.lengthOf(1);
  });

  it('remote start: Rejected for another tag, Accepted for its own, chosen without a connector (5.11)', async () => {
    const rig = await SessionRig.open();
    await reserve(rig, { connectorId: 2 });
    const start = (idTag: string, connectorId?: number) =>
      rig.ask('RemoteStartTransaction', { idTag, ...(connectorId !== undefined && { connectorId }) });
    expect(await start('X', 2)).to.deep.equal({ status: 'Rejected' });
    expect(await start('R')).to.deep.equal(accepted);
    expect(rig.connector(2).phase).to.equal('authorised');
    await rig.plug(2);
    expect(rig.central.starts[0]).to.include({ reservationId: 7, connectorId: 2 });
  });
});

describe('OCPP 1.6 reservations of connector 0 (3.9, 9.3.1)', () => {
  const zero = { connectorId: 0 };
  const open = () => SessionRig.open({ keys: { ReserveConnectorZeroSupported: 'true' } });

  it('Rejected without ReserveConnectorZeroSupported', async () => {
    const rig = await SessionRig.open({ keys: { ReserveConnectorZeroSupported: 'false' } });
    expect(await reserve(rig, zero)).to.deep.equal({ status: 'Rejected' });
  });

  it('holds no connector while others are free, then keeps the last one (3.9)', async () => {
    const rig = await open();
    expect(await reserve(rig, zero)).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['available', 'available']);
    await rig.plug(1);
    expect(statuses(rig)).to.deep.equal(['preparing', 'reserved']);
    await rig.tap('X', 1);
    expect(rig.central.starts[0]).to.include({ idTag: 'X', connectorId: 1 });
    expect(rig.central.starts[0]).not.to.have.property('reservationId');
    expect(await rig.present('Y', 2)).to.equal('COMMAND_CONFLICT');
    await rig.plug(2);
    await rig.tap('R', 2);
    expect(rig.central.starts[1]).to.include({ idTag: 'R', connectorId: 2, reservationId: 7 });
    expect(rig.reservations.entries()).to.deep.equal([]);
  });

  it('its tag may use any connector, and the kept one is free again (3.9)', async () => {
    const rig = await open();
    await reserve(rig, zero);
    await rig.plug(1);
    await rig.tap('R', 1);
    expect(rig.central.starts[0]).to.include({ connectorId: 1, reservationId: 7 });
    expect(rig.connector(2).status).to.equal('available');
  });

  it('Occupied without a free connector; a connector cannot be reserved while one must stay free (5.13)', async () => {
    const rig = await open();
    await reserve(rig, zero);
    expect(await reserve(rig, { ...zero, reservationId: 8 })).to.deep.equal(accepted);
    expect(statuses(rig)).to.deep.equal(['reserved', 'reserved']);
    expect(await reserve(rig, { ...zero, reservationId: 9 })).to.deep.equal({ status: 'Occupied' });
    await rig.ask('CancelReservation', { reservationId: 7 });
    await rig.ask('CancelReservation', { reservationId: 8 });
    expect(statuses(rig)).to.deep.equal(['available', 'available']);
  });
});
