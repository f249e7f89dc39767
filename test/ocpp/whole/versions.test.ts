/** A station that offers 2.0.1 and 1.6 at a central system that chooses, over the whole simulator. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { id, Site } from './site.ts';

describe('a station that offers 2.0.1 before 1.6', () => {
  let site: Site;
  const open = async (chosen: string, versions = 'ocpp2.0.1j,ocpp1.6j', deviceFlags: readonly string[] = []) => {
    site = await Site.open({
      flags: ['--ocpp_version', versions],
      app: { deviceFlags },
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

  describe('at the device', () => {
    const registers = () => {
      const { W, A } = site.app.plant.device(0).bank.map.m701;
      return { W: 0 - (W ?? 0), A: A ?? 0 };
    };
    const profile = (id: number, connectorId: number, purpose: string, limit: number) =>
      site.call('SetChargingProfile', {
        connectorId,
        csChargingProfiles: {
          chargingProfileId: id,
          stackLevel: 0,
          chargingProfilePurpose: purpose,
          chargingProfileKind: 'Absolute',
          chargingSchedule: {
            chargingRateUnit: 'W',
            startSchedule: new Date(site.nowMs() - 1000).toISOString(),
            chargingSchedulePeriod: [{ startPeriod: 0, limit }],
          },
        },
      });
    /** A vehicle comes, and charges. @returns registers of the device */
    const charged = async (action: string, request: Json) => {
      const { evPlugged } = site.connector().cable;
      if (evPlugged) site.do({ kind: 'evse.unplug', connectorId: 1 });
      plug();
      await site.call(action, request);
      await site.until('it charges', () => site.connector().session?.state === 'active');
      await site.advance(20);
      return registers();
    };
    const charged16 = () => charged('RemoteStartTransaction', { connectorId: 1, idTag: 'TAG-1' });
    const idToken = { idToken: 'TAG-2', type: 'ISO14443' };
    const charged2 = () => charged('RequestStartTransaction', { evseId: 1, remoteStartId: 1, idToken });
    const local = (isLocal: boolean) => {
      site.app.plant.device(0).command({ kind: 'local', local: isLocal }, { source: 'rest' });
    };
    const reserve = async () => {
      const expiryDate = new Date(site.nowMs() + 3_600_000).toISOString();
      await site.call('ReserveNow', { connectorId: 1, expiryDate, idTag: 'TAG-1', reservationId: 7 });
      expect(site.connector().reservation).to.deep.include({ reservationId: 7 });
    };

    it('limits of a version do not act under another one, and return with it', async () => {
      await open('ocpp1.6');
      const free = await charged16();
      expect(free.W).to.be.greaterThan(10_000);
      await profile(1, 0, 'ChargePointMaxProfile', 5000);
      await site.advance(20);
      const limited = registers();
      expect(limited.W).to.be.closeTo(5000, 50);
      expect(limited.A / free.A).to.be.closeTo(limited.W / free.W, 0.01);
      await choose('ocpp2.0.1');
      expect((await site.get(`ocpp/${id}/charging-profiles`)).charging_profiles).to.deep.equal([]);
      const under2 = await charged2();
      expect(under2.W).to.be.closeTo(free.W, 20);
      expect(under2.A).to.be.closeTo(free.A, 0.2);
      await choose('ocpp1.6');
      expect((await site.get(`ocpp/${id}/charging-profiles`)).charging_profiles).to.have.lengthOf(1);
      expect((await charged16()).W).to.be.closeTo(5000, 50);
    });

    for (const [purpose, connectorId] of [
      ['ChargePointMaxProfile', 0],
      ['TxDefaultProfile', 1],
    ] as const)
      it(`the limit of a ${purpose} that the device keeps under local control ends with that`, async () => {
        await open('ocpp1.6');
        const free = await charged16();
        await profile(1, connectorId, purpose, 5000);
        await site.advance(20);
        expect(registers().W).to.be.closeTo(5000, 50);
        site.do({ kind: 'evse.stop', connectorId: 1 });
        local(true);
        await choose('ocpp2.0.1');
        local(false);
        await site.advance(2);
        expect((await charged2()).W).to.be.closeTo(free.W, 20);
      });

    it('a reservation of a version is not kept under another one, and returns with it', async () => {
      await open('ocpp1.6');
      await reserve();
      await choose('ocpp2.0.1');
      expect(site.connector().reservation).to.equal(null);
      await choose('ocpp1.6');
      expect(site.connector().reservation).to.deep.include({ reservationId: 7 });
    });

    it('a reservation that the device keeps under local control is shown, and ends with that', async () => {
      await open('ocpp1.6');
      await reserve();
      local(true);
      await choose('ocpp2.0.1');
      const { reservations } = await site.get(`ocpp/${id}/reservations`);
      expect(reservations.map((each: Json) => each.reservation_id)).to.deep.equal([7]);
      local(false);
      await site.advance(2);
      expect(site.connector().reservation).to.equal(null);
    });

    it('a reservation stays where its version returns before the device has given it up', async () => {
      await open('ocpp1.6');
      await reserve();
      local(true);
      await choose('ocpp2.0.1');
      const events: string[] = [];
      site.app.plant.device(0).onEvse(({ event }) => events.push(event));
      await choose('ocpp1.6');
      local(false);
      await site.advance(5);
      expect(site.connector().reservation).to.deep.include({ reservationId: 7 });
      expect(events).not.to.include('reserve_end');
    });

    it('a session that local control keeps goes on as a transaction of the new version', async () => {
      await open('ocpp1.6');
      await charged16();
      local(true);
      await choose('ocpp2.0.1');
      await site.advance(2);
      expect(site.connector().session?.state).to.equal('active');
      const events = site.station.callsOf('TransactionEvent').map(({ payload }) => String(payload.eventType));
      expect(events[0]).to.equal('Started');
      local(false);
      await choose('ocpp1.6');
      expect(site.connector().session?.state).to.equal('ended');
    });

    it('the behaviour of the version at work waits for the end of local control', async () => {
      await open('ocpp1.6');
      await site.call('ChangeConfiguration', { key: 'ConnectionTimeOut', value: '20' });
      local(true);
      await choose('ocpp2.0.1');
      local(false);
      await site.advance(2);
      await site.call('RequestStartTransaction', { evseId: 1, remoteStartId: 1, idToken });
      await site.until('the token is accepted', () => site.connector().authorised);
      // 60 s in 2.0.1
      await site.advance(40);
      expect(site.connector().authorised).to.equal(true);
      await site.advance(25);
      expect(site.connector().authorised).to.equal(false);
    });

    it('DER controls of 2.1 do not act under 1.6, and return with their version', async () => {
      await open('ocpp2.1', 'ocpp2.1,ocpp1.6j', ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir']);
      const limit = () => {
        const { WMaxLimPctEna, WMaxLimPct } = site.app.plant.device(0).bank.map.m704;
        return [WMaxLimPctEna, WMaxLimPct];
      };
      const before = limit();
      const limitMaxDischarge = { priority: 1, pctMaxDischargePower: 40 };
      const request = { isDefault: false, controlId: 'L1', controlType: 'LimitMaxDischarge', limitMaxDischarge };
      expect(await site.call('SetDERControl', request)).to.deep.equal({ status: 'Accepted' });
      expect(limit()).to.deep.equal(['ENABLED', 40]);
      await choose('ocpp1.6');
      expect(limit()).to.deep.equal(before);
      await choose('ocpp2.1');
      expect(limit()).to.deep.equal(['ENABLED', 40]);
      // local control does not keep what ends
      local(true);
      await choose('ocpp1.6');
      expect(limit()).to.deep.equal(before);
    });
  });

  it('the address of the flags is reached, whatever network profile a version has kept', async () => {
    await open('ocpp2.0.1');
    const connectionData = {
      ocppVersion: 'OCPP20',
      ocppInterface: 'Wired0',
      ocppTransport: 'JSON',
      messageTimeout: 20,
      // nobody listens there
      ocppCsmsUrl: 'ws://127.0.0.1:1',
      securityProfile: 0,
    };
    const set = await site.call('SetNetworkProfile', { configurationSlot: 1, connectionData });
    expect(set).to.deep.equal({ status: 'Accepted' });
    const data = { component: { name: 'OCPPCommCtrlr' }, variable: { name: 'NetworkConfigurationPriority' } };
    const { setVariableResult } = await site.call('SetVariables', {
      setVariableData: [{ ...data, attributeValue: '1' }],
    });
    expect(setVariableResult[0].attributeStatus).to.equal('RebootRequired');
    await choose('ocpp1.6');
    await choose('ocpp2.0.1');
    // the priority does not lead the station away from the address in use
    await choose('ocpp2.0.1');
    await site.call('Reset', { type: 'Immediate' });
    await site.until('it is away', async () => (await status()).url === connectionData.ocppCsmsUrl);
    await site.until('it is back', () => speaks('ocpp2.0.1'), 120);
    expect((await status()).url).to.equal(site.central.url);
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
