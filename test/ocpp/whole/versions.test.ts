/** A station that offers 2.0.1 and 1.6 at a central system that chooses, over the whole simulator. */
import { expect } from 'chai';
import { id, Site } from './site.ts';

describe('a station that offers 2.0.1 before 1.6', () => {
  let site: Site;
  const open = async (chosen: string, versions = 'ocpp2.0.1j,ocpp1.6j') => {
    site = await Site.open({
      flags: ['--ocpp_version', versions],
      central: { subprotocols: [chosen] },
    });
    await site.until('it is accepted', accepted);
  };
  const accepted = async () => (await status()).boot_status === 'accepted';
  const status = () => site.get(`ocpp/${id}`);
  const speaks = async (subprotocol: string) => (await status()).subprotocol === subprotocol && (await accepted());
  /** The central system ends the connection and chooses another version for the next one. */
  const choose = async (chosen: string) => {
    site.central.subprotocols = [chosen];
    site.station.cut();
    await site.settle();
    await site.until('it is accepted again', () => speaks(chosen));
  };
  const plug = () => {
    site.do({ kind: 'evse.plug', connectorId: 1 });
  };
  afterEach(() => site.close());

  it('speaks what is chosen: BootNotification, status and configuration are those of the version', async () => {
    await open('ocpp1.6');
    expect(await status()).to.deep.include({
      version: 'ocpp1.6j',
      versions: ['ocpp2.0.1j', 'ocpp1.6j'],
      subprotocol: 'ocpp1.6',
    });
    expect(site.station.calls[0]?.payload).to.have.property('chargePointModel');
    expect(await site.get(`ocpp/${id}/configuration`)).to.have.property('keys');
    await choose('ocpp2.0.1');
    expect(await status()).to.deep.include({ version: 'ocpp2.0.1j', subprotocol: 'ocpp2.0.1' });
    const boots = site.station.callsOf('BootNotification');
    expect(boots.map(({ payload }) => 'chargingStation' in payload)).to.deep.equal([false, true]);
    expect(await site.get(`ocpp/${id}/configuration`)).to.have.property('variables');
  });

  it('a session ends when another version is chosen, and its end waits until that version is spoken again', async () => {
    await open('ocpp1.6');
    plug();
    await site.call('RemoteStartTransaction', { connectorId: 1, idTag: 'TAG-1' });
    await site.until('it charges', () => site.connector().session?.state === 'active');
    await site.advance(10);
    await choose('ocpp2.0.1');
    expect(site.connector().session?.state).to.equal('ended');
    expect(site.station.callsOf('StopTransaction')).to.deep.equal([]);
    expect(site.station.callsOf('TransactionEvent')).to.deep.equal([]);
    // the device obeys the new version
    site.do({ kind: 'evse.unplug', connectorId: 1 });
    plug();
    const idToken = { idToken: 'TAG-2', type: 'ISO14443' };
    await site.call('RequestStartTransaction', { evseId: 1, remoteStartId: 1, idToken });
    await site.until('it charges again', () => site.connector().session?.state === 'active');
    expect(site.connector().session?.idToken).to.equal('TAG-2');
    await choose('ocpp1.6');
    await site.until('the end is sent', () => site.station.callsOf('StopTransaction').length > 0);
    expect(site.station.callsOf('StopTransaction').map(({ payload }) => String(payload.reason))).to.deep.equal([
      'Other',
    ]);
  });

  it('nothing of a version goes out on a connection of another one, though both have the message', async () => {
    await open('ocpp2.1', 'ocpp2.1,ocpp2.0.1j');
    plug();
    const idToken = { idToken: 'TAG-1', type: 'ISO14443' };
    await site.call('RequestStartTransaction', { evseId: 1, remoteStartId: 1, idToken });
    await site.until('it charges', () => site.connector().session?.state === 'active');
    // the end of the session changes the status, which the version that gives way would report
    const scheduled = await site.call('ChangeAvailability', { operationalStatus: 'Inoperative', evse: { id: 1 } });
    expect(scheduled).to.include({ status: 'Scheduled' });
    const before = site.station.calls.length;
    await choose('ocpp2.0.1');
    expect(site.connector().session?.state).to.equal('ended');
    const actions = site.station.calls.slice(before).map(({ action }) => action);
    expect(actions[0]).to.equal('BootNotification');
    expect(actions).not.to.include('TransactionEvent');
  });

  it('limits and reservations of a version do not act under another one, and return with it', async () => {
    await open('ocpp1.6');
    await site.call('SetChargingProfile', {
      connectorId: 0,
      csChargingProfiles: {
        chargingProfileId: 1,
        stackLevel: 0,
        chargingProfilePurpose: 'ChargePointMaxProfile',
        chargingProfileKind: 'Absolute',
        chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 2000 }] },
      },
    });
    const expiryDate = new Date(site.nowMs() + 3_600_000).toISOString();
    await site.call('ReserveNow', { connectorId: 1, expiryDate, idTag: 'TAG-1', reservationId: 7 });
    expect(site.connector().reservation).to.deep.include({ reservationId: 7 });
    await choose('ocpp2.0.1');
    expect(site.connector().reservation).to.equal(null);
    expect((await site.get(`ocpp/${id}/charging-profiles`)).charging_profiles).to.deep.equal([]);
    await choose('ocpp1.6');
    expect(site.connector().reservation).to.deep.include({ reservationId: 7 });
    expect((await site.get(`ocpp/${id}/charging-profiles`)).charging_profiles).to.have.lengthOf(1);
  });

  it('a connector stays out of operation, and the next version can set it in operation again', async () => {
    await open('ocpp1.6');
    await site.call('ChangeAvailability', { connectorId: 1, type: 'Inoperative' });
    await choose('ocpp2.0.1');
    expect(site.connector().operative).to.equal(false);
    const getVariableData = [{ component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Enabled' } }];
    const { getVariableResult } = await site.call('GetVariables', { getVariableData });
    expect(getVariableResult[0].attributeValue).to.equal('false');
    await site.call('ChangeAvailability', { operationalStatus: 'Operative', evse: { id: 1 } });
    expect(site.connector().operative).to.equal(true);
  });

  it('with no choice, or another one, it says so and tries again', async () => {
    await open('ocpp2.0.1');
    for (const chosen of [[], ['ocpp2.1']]) {
      site.central.subprotocols = chosen;
      if (site.station.connected) site.station.cut();
      await site.settle();
      await site.advance(3);
      expect((await status()).last_error).to.equal(
        'the central system has chosen no version of OCPP, offered: ocpp2.0.1, ocpp1.6',
      );
    }
    site.central.subprotocols = ['ocpp1.6'];
    await site.until('it is accepted', () => speaks('ocpp1.6'), 600);
  });

  describe('REST', () => {
    it('connect changes what is offered', async () => {
      await open('ocpp2.0.1');
      site.central.subprotocols = ['ocpp1.6', 'ocpp2.1'];
      expect(await site.post(`ocpp/${id}/connect`, { version: ['ocpp2.1', 'ocpp1.6j'] })).to.deep.include({
        versions: ['ocpp2.1', 'ocpp1.6j'],
      });
      await site.until('1.6 is accepted', () => speaks('ocpp1.6'));
      expect(await status()).to.deep.include({ version: 'ocpp1.6j', subprotocol: 'ocpp1.6' });
      await site.post(`ocpp/${id}/connect`, { version: 'ocpp2.1' });
      await site.until('2.1 is accepted', () => speaks('ocpp2.1'));
      expect(await status()).to.deep.include({ versions: ['ocpp2.1'], subprotocol: 'ocpp2.1' });
    });

    it('refuses a list with a version twice, an unknown one and an empty list; nothing changes', async () => {
      await open('ocpp2.0.1');
      const before = site.central.requests.length;
      for (const version of [['ocpp1.6j', 'ocpp1.6j'], ['ocpp1.6j', 'ocpp1.5'], [], 'ocpp1.6', null]) {
        const answer = await site.rest(`ocpp/${id}/connect`, { version });
        expect([answer.status, answer.json.code], JSON.stringify(version)).to.deep.equal([422, 'validation']);
        expect(answer.text).to.contain('/version');
        const added = await site.rest('devices', { device_type: 'EVSE', ocpp: { version } });
        expect(added.status, JSON.stringify(version)).to.equal(422);
        expect(added.text).to.contain('/ocpp/version');
      }
      await site.settle();
      expect(site.central.requests).to.have.lengthOf(before);
      expect((await status()).versions).to.deep.equal(['ocpp2.0.1j', 'ocpp1.6j']);
    });

    it('a device of its own list', async () => {
      await open('ocpp2.0.1');
      site.central.subprotocols = ['ocpp1.6'];
      await site.post('devices', { device_type: 'EVSE', ocpp: { id: 'B', version: ['ocpp2.1', 'ocpp1.6j'] } });
      await site.until('B is accepted', async () => (await site.get('ocpp/B')).boot_status === 'accepted');
      expect(await site.get('ocpp/B')).to.deep.include({
        version: 'ocpp1.6j',
        versions: ['ocpp2.1', 'ocpp1.6j'],
        subprotocol: 'ocpp1.6',
      });
    });
  });
});
