/** Charge points among the other parts of the simulator: overview, alarms, metrics, log, limits, devices that come and go. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../../src/app/build.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { configOf } from '../../support/configured.ts';
import type { Json } from '../../support/http.ts';
import { Central } from '../central/central.ts';
import type { CentralStation } from '../central/station.ts';
import { id, Site } from './site.ts';

const second = `${id}-1`;
const actionsOf = ({ calls }: CentralStation) => calls.map(({ action }) => action);
const powerOf = ({ meterValue: [{ sampledValue }] }: Json): number =>
  Number(sampledValue.find((each: Json) => each.measurand === 'Power.Active.Import').value);

/** Lines of the log of module OCPP, with the index of the device that each is about. */
async function logLines(site: Site): Promise<readonly string[]> {
  const { logs } = await site.get('logs?modules=OCPP&limit=1000');
  return (logs as Json[]).map(({ device_index: device, level, message }) => `${device} ${level} ${message}`);
}

/** Counters of OCPP with their values. */
async function metrics(site: Site): Promise<Readonly<Record<string, number>>> {
  const { text } = await site.rest('metrics');
  const lines = [...text.matchAll(/^derbench_((?:ocpp|protocol)_\S+) (\S+)$/gm)];
  return Object.fromEntries(lines.map(([, name = '', value]) => [name, Number(value)]));
}

describe('charge points of OCPP 1.6 as a part of the simulator', () => {
  let site: Site;
  before(async () => {
    site = await Site.open({ types: ['EVSE', 'EVSE'] });
    await site.until('both are connected', () => site.peers === 2);
  });
  after(() => site.close());

  const comm = async (): Promise<Json> => (await site.get('overview')).comm_status.ocpp;
  const alarms = async (): Promise<Json[]> => (await site.get('overview')).alarms.active;
  const sampled = async (seconds: number): Promise<number> => {
    await site.advance(seconds, 5);
    const last = site.station.callsOf('MeterValues').at(-1);
    return powerOf(last?.payload);
  };

  it('comm_status and the log show connections; the alarm stands at the station whose line is broken', async () => {
    expect(await comm()).to.include({ enabled: true, state: 'connected', detail: null, peers: 2, error_count: 0 });
    const told = site.central.stations.reduce((sum, { calls }) => sum + calls.length, 0);
    expect(await comm()).to.include({ rx_count: told, tx_count: told });
    site.central.admit = (identity) => (identity === id ? 503 : null);
    site.station.cut();
    await site.advance(0.1);
    expect(await comm()).to.include({ state: 'retrying', peers: 1, error_count: 1 });
    expect((await comm()).detail).to.match(/^1 of 2: /);
    expect((await comm()).last_error).to.match(new RegExp(`^${id}: .`));
    const [alarm, ...more] = await alarms();
    expect(more).to.deep.equal([]);
    expect(alarm).to.include({ code: 'ocpp_connection_lost', source: 'comm', severity: 'warning', device_index: 0 });
    await site.advance(5);
    expect(await alarms()).to.have.length(1);
    site.central.admit = () => null;
    await site.until('it is connected again', () => site.peers === 2);
    expect(await alarms()).to.deep.equal([]);
    expect(await comm()).to.include({ state: 'connected', peers: 2 });
    const lines = await logLines(site);
    expect(lines).to.include(`0 info ${id}: connected to the central system, ocpp1.6`);
    expect(lines).to.include('1 info the central system answers BootNotification with Accepted');
    expect(lines.filter((line) => line.startsWith(`0 warning ${id}: `)).join()).to.match(/503/);
    expect(lines.filter((line) => line.startsWith('null'))).to.deep.equal([]);
  });

  it('metrics count frames, connections, refusals and findings', async () => {
    const before = await metrics(site);
    await site.post(`ocpp/${id}/call`, { action: 'DataTransfer', payload: { vendorId: 'a' } });
    await site.post(`ocpp/${id}/call`, { action: 'ClearCache', payload: {} });
    site.station.judged = false;
    await site.station.call('Reset', { type: 'Lukewarm' });
    site.station.judged = true;
    const after = await metrics(site);
    const grown = Object.keys(after).filter((name) => after[name] !== before[name]);
    const rise = Object.fromEntries(grown.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
    expect(rise).to.deep.equal({
      'protocol_received_total{protocol="ocpp"}': 3,
      'protocol_sent_total{protocol="ocpp"}': 3,
      'protocol_errors_total{protocol="ocpp"}': 1,
      'ocpp_messages_total{direction="in",type="call"}': 1,
      'ocpp_messages_total{direction="in",type="result"}': 1,
      'ocpp_messages_total{direction="in",type="error"}': 1,
      'ocpp_messages_total{direction="out",type="call"}': 2,
      'ocpp_messages_total{direction="out",type="error"}': 1,
      'ocpp_findings_total{kind="schema"}': 1,
      ocpp_call_errors_total: 1,
    });
    expect(after).to.include({ ocpp_connects_total: 3, ocpp_drops_total: 1 });
  });

  it('limits of Modbus and of REST lower the power that MeterValues tell', async () => {
    const { station } = site;
    await site.call('ChangeConfiguration', { key: 'MeterValueSampleInterval', value: '10' });
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 20, batteryCapacityWh: 200_000 } });
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG-1' });
    await site.until('charging', () => site.connector().status === 'charging');
    await site.advance(5);
    const fullW = await sampled(30);
    expect(fullW).to.be.greaterThan(9000);
    const { bank } = site.app.plant.device(0);
    bank.transact({ source: 'modbus', peer: '127.0.0.1' }, ({ m704 }) => {
      m704.WSetMod = 'WATTS';
      m704.WSet = -5000;
      m704.WSetEna = 'ENABLED';
    });
    expect(await sampled(30)).to.be.within(4900, 5000);
    await site.post(`evse/${id}/connectors/1/limit`, { power_kw: 4.5 });
    expect(await sampled(30)).to.be.within(4450, 4500);
    expect(await site.get(`evse/${id}/connectors/1`)).to.include({ limit_source: 'local', power_kw: 4.5 });
    bank.transact({ source: 'modbus', peer: '127.0.0.1' }, ({ m704 }) => {
      m704.WSetEna = 'DISABLED';
    });
    await site.post(`evse/${id}/connectors/1/limit`, { power_kw: null });
    expect(await sampled(60)).to.be.closeTo(fullW, 50);
    expect(station.callsOf('StopTransaction')).to.have.length(0);
  });

  it('a reset of the device ends the transaction with Reboot and boots again; so does the fault reboot', async () => {
    const { station } = site;
    await station.next('StartTransaction');
    await station.next('BootNotification');
    site.app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest', peer: 'test' });
    await site.until('its end is told', () => station.callsOf('StopTransaction').length === 1);
    expect((await station.next('StopTransaction')).payload.reason).to.equal('Reboot');
    expect(station.callsOf('BootNotification')).to.have.length(2);
    await site.post('faults', { inject: [{ protocol: 'device', kind: 'reboot', device: 0, off_s: 20 }] });
    await site.advance(15);
    expect(site.central.stations.map(({ connected }) => connected)).to.deep.equal([false, true]);
    await site.until('it has booted again', () => site.peers === 2, 30);
    expect(station.callsOf('BootNotification')).to.have.length(3);
  });

  it('stations that join connect, also to a central system of their own, and close when they leave', async () => {
    const other = await Central.open({ nowMs: () => site.nowMs() });
    try {
      await site.post('devices', { device_type: 'EVSE' });
      await site.post('devices', { device_type: 'EVSE', ocpp: { id: 'West', url: other.url } });
      await site.until('four are connected', () => site.peers === 4);
      expect(actionsOf(site.central.station(`${id}-2`))[0]).to.equal('BootNotification');
      const west = other.station('West');
      expect(actionsOf(west)[0]).to.equal('BootNotification');
      expect(await site.get('ocpp/West')).to.include({ device_index: 3, url: other.url, version: 'ocpp1.6j' });
      const { closed } = west.connection;
      expect((await site.rest('devices/3', undefined, 'DELETE')).status).to.equal(200);
      expect((await closed).code).to.equal(1001);
      expect((await site.rest('ocpp/West')).status).to.equal(404);
      await site.advance(10);
      expect(west.connects).to.equal(1);
      expect(await comm()).to.include({ state: 'connected', peers: 3 });
    } finally {
      await other.close();
    }
  });

  it('the end of the simulator closes the sockets and keeps the transaction, which ends with the next start', async () => {
    const station = site.central.station(second);
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 20 } }, 1);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG-2' }, 1);
    await site.until('charging', () => site.connector(1, 1).status === 'charging');
    await site.advance(60, 10);
    const energyWh = Math.round(site.connector(1, 1).energyWh);
    expect(energyWh).to.be.greaterThan(50);
    const { closed } = station.connection;
    await site.stop();
    expect((await closed).code).to.equal(1001);
    expect(station.callsOf('StopTransaction')).to.have.length(0);
    await site.start();
    await site.until('it has been told', () => station.callsOf('StopTransaction').length > 0);
    const { payload } = await station.next('StopTransaction');
    expect(payload).to.include({ transactionId: 1, reason: 'PowerLoss', meterStop: energyWh });
    expect(station.callsOf('StartTransaction')).to.have.length(1);
  });
});

describe('stations of one configuration with identities and central systems of their own', () => {
  it('connect each to its own', async () => {
    const [east, west] = [await Central.open(), await Central.open()];
    const directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-'));
    const file = join(directory, 'stations.yaml');
    const own = `{ id: West 1, url: '${west.url}', version: ocpp1.6j }`;
    writeFileSync(file, `devices:\n  - device_type: EVSE\n  - device_type: EVSE\n    ocpp: ${own}\n`);
    const flags = ['--ocpp_enable', 'yes', '--ocpp_csms_url', east.url, '--ocpp_csid', id, '--start_paused', 'yes'];
    const config = configOf('--config', file, '-wp', '0', '-p', '0', ...flags);
    const app = createApp(config, { logBook: createLogBook({ write: () => undefined }) });
    try {
      await app.start();
      await east.station(id).next('BootNotification');
      await west.station('West 1').next('BootNotification');
      expect(east.stations.map(({ identity }) => identity)).to.deep.equal([id]);
      expect(west.stations.map(({ identity }) => identity)).to.deep.equal(['West 1']);
      expect(west.requests[0]?.url).to.equal('/ocpp/West%201');
    } finally {
      await app.stop();
      await Promise.all([east.close(), west.close()]);
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
