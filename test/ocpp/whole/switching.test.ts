/** Charge points that are switched off and on, and restarted for other settings, while the simulator runs. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { settingsOf, Subscriptions } from '../../support/left-behind.ts';
import { startApp } from '../../support/running-app.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { id, Site } from './site.ts';

const idToken = { idToken: 'TAG-2', type: 'ISO14443' };
const subprotocols = ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'];

describe('a charge point that is switched off, on and restarted at run time', () => {
  /** has the lock of the state folder */
  const root = mkdtempSync(join(tmpdir(), 'derbench-switching-'));
  after(() => {
    rmSync(root, { recursive: true });
  });
  let site: Site;
  const open = async (version: string, deviceFlags: readonly string[] = [], isKept = false) => {
    const folder = new TestFolder();
    site = await Site.open({
      flags: ['--ocpp_version', version, ...(isKept ? ['--state_dir', root] : [])],
      app: { deviceFlags, openStateFolder: () => folder },
      central: { subprotocols },
    });
    await accepted();
  };
  const accepted = () =>
    site.until('it is accepted', async () => (await site.get(`ocpp/${id}`)).boot_status === 'accepted');
  const patch = async (body: Json): Promise<Json> => {
    const { status, json, text } = await site.rest('settings', body, 'PATCH');
    expect(status, text).to.equal(200);
    return json;
  };
  const plug = () => {
    site.do({ kind: 'evse.plug', connectorId: 1 });
  };
  const charge = async (action: string, payload: Json) => {
    plug();
    expect(await site.call(action, payload)).to.include({ status: 'Accepted' });
    await site.until('it charges', () => site.connector().session?.state === 'active');
    await site.advance(5);
  };
  const charge16 = () => charge('RemoteStartTransaction', { connectorId: 1, idTag: 'TAG-1' });
  const charge2 = () => charge('RequestStartTransaction', { evseId: 1, idToken, remoteStartId: 1 });
  const unplug = () => {
    site.do({ kind: 'evse.unplug', connectorId: 1 });
  };
  const payloads = (action: string) => site.station.callsOf(action).map(({ payload }) => payload);
  const endsOf2 = () =>
    payloads('TransactionEvent')
      .filter(({ eventType }) => eventType === 'Ended')
      .map(({ triggerReason, transactionInfo: { stoppedReason } }) => [triggerReason, stoppedReason]);
  const limit = () => {
    const { WMaxLimPctEna, WMaxLimPct } = site.app.plant.device(0).bank.map.m704;
    return [WMaxLimPctEna, WMaxLimPct];
  };
  afterEach(() => site.close());

  it('each change of the version ends the session in the words of the former one, before its connection ends', async () => {
    await open('ocpp1.6j');
    await charge16();
    await patch({ ocpp_version: 'ocpp2.0.1j' });
    expect(payloads('StopTransaction').map(({ reason }) => reason)).to.deep.equal(['Reboot']);
    await accepted();
    unplug();
    await charge2();
    await patch({ ocpp_version: ['ocpp2.1'] });
    expect(endsOf2()).to.deep.equal([['AbnormalCondition', 'Reboot']]);
    await accepted();
    expect((await site.get(`ocpp/${id}`)).version).to.equal('ocpp2.1');
    unplug();
    await charge2();
    await patch({ ocpp_version: 'ocpp1.6j' });
    expect(endsOf2()).to.have.length(2);
    await accepted();
    unplug();
    await charge16();
    expect(payloads('StartTransaction')).to.have.length(2);
    expect(payloads('StopTransaction')).to.have.length(1);
  });

  for (const isKept of [false, true])
    it(`DER controls act under their version alone, and return with it, ${isKept ? 'with' : 'without'} a state folder`, async () => {
      await open('ocpp2.1', ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'], isKept);
      const before = settingsOf(site.app, 0);
      const limitMaxDischarge = { priority: 1, pctMaxDischargePower: 40 };
      const control = { isDefault: false, controlId: 'L1', controlType: 'LimitMaxDischarge', limitMaxDischarge };
      expect(await site.call('SetDERControl', control)).to.deep.equal({ status: 'Accepted' });
      expect(limit()).to.deep.equal(['ENABLED', 40]);
      await patch({ ocpp_version: 'ocpp1.6j' });
      expect(settingsOf(site.app, 0)).to.deep.equal(before);
      await patch({ ocpp_version: 'ocpp2.1' });
      expect(limit()).to.deep.equal(['ENABLED', 40]);
      await patch({ ocpp_auto_authorize: true });
      expect(limit()).to.deep.equal(['ENABLED', 40]);
      await patch({ ocpp_enable: false });
      expect(settingsOf(site.app, 0)).to.deep.equal(before);
    });

  it('switched off, the station works as one without OCPP, and nothing waits or listens', async () => {
    await open('ocpp1.6j');
    await patch({ ocpp_enable: false });
    const subscriptions = new Subscriptions(site.app);
    await patch({ ocpp_enable: true });
    await accepted();
    await charge16();
    const chargingSchedule = { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 5000 }] };
    const csChargingProfiles = {
      chargingProfileId: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'ChargePointMaxProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule,
    };
    await site.call('SetChargingProfile', { connectorId: 0, csChargingProfiles });
    await site.call('ChangeAvailability', { connectorId: 1, type: 'Inoperative' });
    expect(site.connector().operative).to.equal(false);
    await patch({ ocpp_enable: false });
    expect(payloads('StopTransaction').map(({ reason }) => reason)).to.deep.equal(['Other']);
    expect(site.station.connected).to.equal(false);
    expect(site.timers.waiting).to.equal(0);
    expect(new Set(Object.values(subscriptions.counts))).to.deep.equal(new Set([0]));
    expect(site.connector().operative).to.equal(true);
    unplug();
    plug();
    await site.rest(`evse/${id}/connectors/1/start`, { id_token: 'TAG-3' }, 'POST');
    await site.until('it charges', () => site.connector().session?.state === 'active');
    await site.advance(20);
    expect(Number(site.app.plant.device(0).bank.map.m701.W)).to.be.lessThan(-10_000);
    await patch({ ocpp_enable: true });
    expect(site.connector().operative).to.equal(false);
  });

  it('a change refused for another adapter: the transaction goes on, and its connection too', async () => {
    await open('ocpp1.6j');
    await charge16();
    const before = settingsOf(site.app, 0);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const enabled of [true, false]) {
      const body = { ocpp_enable: enabled, ocpp_auto_authorize: true, mb_port: port };
      const { status, json } = await site.rest('settings', body, 'PATCH');
      expect([status, json.code], json.detail).to.deep.equal([409, 'conflict']);
    }
    server.close();
    expect(payloads('StopTransaction')).to.deep.equal([]);
    expect(payloads('BootNotification')).to.have.length(1);
    expect(site.connector().session?.state).to.equal('active');
    expect(settingsOf(site.app, 0)).to.deep.equal(before);
  });

  it('a limit and a connector out of operation that local control keeps end with it', async () => {
    await open('ocpp1.6j');
    await site.call('ChangeAvailability', { connectorId: 1, type: 'Inoperative' });
    await site.post('controls/local', { local: true });
    await patch({ ocpp_enable: false });
    expect(site.connector().operative).to.equal(false);
    await site.post('controls/local', { local: false });
    site.timers.pass(1000);
    expect(site.connector().operative).to.equal(true);
    expect(site.timers.waiting).to.equal(0);
  });

  it('a central system that says nothing makes a change wait for 3 s, one that is not there for no time', async () => {
    await open('ocpp1.6j');
    await charge16();
    site.station.silent = true;
    const change = patch({ ocpp_auto_authorize: true });
    await site.settle();
    expect(site.station.connected).to.equal(true);
    site.timers.pass(3000);
    await change;
    await site.central.close();
    await patch({ ocpp_enable: false });
  });

  it('a device that joins while OCPP is off decides by itself', async () => {
    await open('ocpp1.6j');
    await patch({ ocpp_enable: false });
    const { device_index: index } = await site.post('devices', { device_type: 'EVSE' });
    const { detail } = site.app.plant.device(index);
    expect(detail.kind === 'evse' && detail.authority).to.equal('local');
  });
});

describe('a charging station that a start adds while a request has OCPP switched off', () => {
  const root = mkdtempSync(join(tmpdir(), 'derbench-switching-'));
  after(() => {
    rmSync(root, { recursive: true });
  });

  it('decides by itself', async () => {
    const folder = new TestFolder();
    const start = (types: readonly string[]) =>
      startApp(types, ['--state_dir', root, '--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://127.0.0.1:1/'], {
        openStateFolder: () => folder,
      });
    const before = await start(['EVSE']);
    await ask(before.port, '/api/sim/ocpp/disable', { method: 'POST' });
    await before.app.stop();
    const { app } = await start(['EVSE', 'EVSE']);
    const authorities = app.plant.devices.map(({ detail }) => detail.kind === 'evse' && detail.authority);
    await app.stop();
    expect(authorities).to.deep.equal(['local', 'local']);
  });
});
