/** Stations of 2.x among the other parts of the simulator, and beside stations of other versions. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import type { Json } from '../../support/http.ts';
import type { CentralStation } from '../central/station.ts';
import { id, Site } from './site.ts';

const second = `${id}-1`;
const versions = ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'] as const;
const actionsOf = ({ calls }: CentralStation) => calls.map(({ action }) => action);
const eventsOf = (station: CentralStation): Json[] => station.callsOf('TransactionEvent').map(({ payload }) => payload);
const powerOf = ({ meterValue: [{ sampledValue }] }: Json): number =>
  Number(sampledValue.find((each: Json) => each.measurand === 'Power.Active.Import').value);

/** The heap in use, without what nothing refers to. */
function heapKib(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1024;
}

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

describe('charging stations of OCPP 2.1 as a part of the simulator', () => {
  let site: Site;
  before(async () => {
    site = await Site.open({
      types: ['EVSE', 'EVSE'],
      flags: ['--ocpp_version', 'ocpp2.1'],
      central: { subprotocols: ['ocpp2.1'] },
    });
    await site.until('both are connected', () => site.peers === 2);
  });
  after(() => site.close());

  const comm = async (): Promise<Json> => (await site.get('overview')).comm_status.ocpp;
  const alarms = async (): Promise<Json[]> => (await site.get('overview')).alarms.active;
  const sampled = async (seconds: number): Promise<number> => {
    await site.advance(seconds, 5);
    return powerOf(eventsOf(site.station).findLast(({ triggerReason }) => triggerReason === 'MeterValuePeriodic'));
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
    await site.until('it has been refused', () => site.central.requests.length > 2, 200);
    expect(await alarms()).to.have.length(1);
    site.central.admit = () => null;
    await site.until('it is connected again', () => site.peers === 2, 200);
    expect(await alarms()).to.deep.equal([]);
    const lines = await logLines(site);
    expect(lines).to.include(`0 info ${id}: connected to the central system, ocpp2.1`);
    expect(lines).to.include('1 info the central system answers BootNotification with Accepted');
    expect(lines.filter((line) => line.startsWith(`0 warning ${id}: `)).join()).to.match(/503/);
    expect(lines.filter((line) => line.startsWith('null'))).to.deep.equal([]);
  });

  it('metrics count frames, connections, refusals and findings', async () => {
    const before = await metrics(site);
    await site.post(`ocpp/${id}/call`, { action: 'DataTransfer', payload: { vendorId: 'a' } });
    site.station.judged = false;
    await site.station.call('Reset', { type: 'Lukewarm' });
    site.station.judged = true;
    const after = await metrics(site);
    const grown = Object.keys(after).filter((name) => after[name] !== before[name]);
    const rise = Object.fromEntries(grown.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
    expect(rise).to.deep.equal({
      'protocol_received_total{protocol="ocpp"}': 2,
      'protocol_sent_total{protocol="ocpp"}': 2,
      'ocpp_messages_total{direction="in",type="call"}': 1,
      'ocpp_messages_total{direction="in",type="result"}': 1,
      'ocpp_messages_total{direction="out",type="call"}': 1,
      'ocpp_messages_total{direction="out",type="error"}': 1,
      'ocpp_findings_total{kind="schema"}': 1,
    });
  });

  it('limits of Modbus and of REST lower the power that TransactionEvents tell', async () => {
    const data = { component: { name: 'SampledDataCtrlr' }, variable: { name: 'TxUpdatedInterval' } };
    await site.call('SetVariables', { setVariableData: [{ ...data, attributeValue: '10' }] });
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 20, batteryCapacityWh: 200_000 } });
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG-1' });
    await site.until('charging', () => site.connector().status === 'charging');
    const fullW = await sampled(35);
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
    bank.transact({ source: 'modbus', peer: '127.0.0.1' }, ({ m704 }) => {
      m704.WSetEna = 'DISABLED';
    });
    await site.post(`evse/${id}/connectors/1/limit`, { power_kw: null });
    expect(await sampled(60)).to.be.closeTo(fullW, 50);
    // what an outside limit does is told to the central system
    expect(site.station.callsOf('NotifyChargingLimit').length).to.be.greaterThan(0);
    expect(site.station.callsOf('ClearedChargingLimit').length).to.be.greaterThan(0);
  });

  it('a reset of the device ends the transaction and boots again; so does the fault reboot', async () => {
    const { station } = site;
    await station.next('BootNotification');
    site.app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest', peer: 'test' });
    await site.until('its end is told', () => station.books.transactions.every(({ ended }) => ended));
    expect(eventsOf(station).at(-1)?.transactionInfo.stoppedReason).to.equal('Reboot');
    await site.until('it has booted again', () => station.callsOf('BootNotification').length === 2);
    await site.post('faults', { inject: [{ protocol: 'device', kind: 'reboot', device: 0, off_s: 20 }] });
    await site.advance(15);
    expect(site.central.stations.map(({ connected }) => connected)).to.deep.equal([false, true]);
    await site.until('it has booted again', () => site.peers === 2, 30);
    expect(station.callsOf('BootNotification')).to.have.length(3);
  });

  it('a station that joins and leaves while transactions run: its own ends with Other before the line closes', async () => {
    const other = site.central.station(second);
    site.do({ kind: 'evse.plug', connectorId: 1 }, 1);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG-2' }, 1);
    await site.until('charging', () => site.connector(1, 1).status === 'charging');
    await site.post('devices', { device_type: 'EVSE' });
    const third = site.central.station(`${id}-2`);
    await site.until('three are connected', () => site.peers === 3);
    expect(actionsOf(third)[0]).to.equal('BootNotification');
    site.do({ kind: 'evse.plug', connectorId: 1 }, 2);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG-3' }, 2);
    await site.until('charging', () => site.connector(1, 2).status === 'charging');
    const { closed } = third.connection;
    expect((await site.rest('devices/2', undefined, 'DELETE')).status).to.equal(200);
    expect((await closed).code).to.equal(1001);
    const last = eventsOf(third).at(-1);
    expect(last).to.deep.include({ eventType: 'Ended' });
    expect(last?.transactionInfo.stoppedReason).to.equal('Other');
    expect((await site.rest(`ocpp/${id}-2`)).status).to.equal(404);
    await site.advance(30, 10);
    expect(third.connects).to.equal(1);
    expect(other.books.transactions.map(({ ended }) => ended)).to.deep.equal([false]);
    expect(await comm()).to.include({ state: 'connected', peers: 2 });
  });

  it('the end of the simulator closes the sockets and keeps the transaction, which ends with the next start', async () => {
    const station = site.central.station(second);
    await site.advance(60, 10);
    const energyWh = Math.round(site.connector(1, 1).energyWh);
    expect(energyWh).to.be.greaterThan(50);
    const { closed } = station.connection;
    await site.stop();
    expect((await closed).code).to.equal(1001);
    expect(station.books.transactions[0]?.ended).to.equal(false);
    await site.start();
    await site.until('it has been told', () => station.books.transactions[0]?.ended === true);
    const last = eventsOf(station).at(-1);
    expect(last?.transactionInfo).to.include({ stoppedReason: 'PowerLoss' });
    expect(last?.meterValue.at(-1).sampledValue[0].value).to.equal(energyWh);
    expect(station.books.transactions).to.have.length(1);
  });
});

describe('stations of 1.6, 2.0.1 and 2.1 in one process', () => {
  it('charge at one central system, each in its own words, and one of them leaves', async () => {
    const site = await Site.open({
      types: ['EVSE'],
      flags: ['--ocpp_version', 'ocpp2.1'],
      central: { subprotocols: versions },
    });
    try {
      await site.post('devices', { device_type: 'EVSE', ocpp: { id: 'B', version: 'ocpp2.0.1j' } });
      await site.post('devices', { device_type: 'EVSE', ocpp: { id: 'C', version: 'ocpp1.6j' } });
      await site.until('all are connected', () => site.peers === 3);
      const shown = (await site.get('ocpp')).charge_points as Json[];
      expect(shown.map(({ subprotocol }) => String(subprotocol))).to.deep.equal([...versions]);
      for (const device of [0, 1, 2]) {
        site.do({ kind: 'evse.plug', connectorId: 1 }, device);
        site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG' }, device);
      }
      await site.until('all charge', () => [0, 1, 2].every((each) => site.connector(1, each).status === 'charging'));
      await site.advance(10);
      const sets = (station: string) => site.call('GetLocalListVersion', {}, site.central.station(station));
      expect(await sets(id)).to.deep.equal({ versionNumber: 0 });
      expect(await sets('B')).to.deep.equal({ versionNumber: 0 });
      expect(await sets('C')).to.deep.equal({ listVersion: 0 });
      expect((await site.call('GetDERControl', { requestId: 1 })).code).to.equal(undefined);
      expect((await site.central.station('B').brokenCall('GetDERControl', { requestId: 1 })).kind).to.equal('error');
      expect((await site.get('ocpp')).charge_points).to.have.length(3);
      expect((await site.rest('devices/1', undefined, 'DELETE')).status).to.equal(200);
      const b = site.central.station('B');
      expect(b.connected).to.equal(false);
      expect(b.books.transactions.map(({ ended }) => ended)).to.deep.equal([true]);
      await site.advance(5);
      expect(site.station.books.transactions.map(({ ended }) => ended)).to.deep.equal([false]);
      expect(site.central.station('C').callsOf('StartTransaction')).to.have.length(1);
      expect(site.central.station('C').callsOf('StopTransaction')).to.have.length(0);
      expect(site.peers).to.equal(2);
    } finally {
      await site.close();
    }
  });
});

describe('many stations of OCPP 2.1 in one process', () => {
  const count = pick({ quick: 20, ci: 100 });
  const devices = Array.from({ length: count }, (_, device) => device);
  /** KiB of the heap that a station may hold with its device, and that another transaction may add */
  const [maxKib, maxMoreKib] = [1000, 60];

  it('charge, tell it, and hold a bounded memory', async () => {
    const before = heapKib();
    const site = await Site.open({
      types: devices.map(() => 'EVSE'),
      flags: ['--ocpp_version', 'ocpp2.1'],
      central: { subprotocols: ['ocpp2.1'] },
    });
    const all = () => site.central.stations;
    const stop = async (station: CentralStation) => {
      const { transactionId } = station.books.transactions.at(-1) ?? {};
      expect(await site.call('RequestStopTransaction', { transactionId }, station), station.identity).to.deep.equal({
        status: 'Accepted',
      });
    };
    const round = async () => {
      for (const device of devices) {
        site.do({ kind: 'evse.plug', connectorId: 1 }, device);
        site.do({ kind: 'evse.authorize', connectorId: 1, idToken: `TAG-${device}` }, device);
      }
      await site.advance(30, 15);
      await Promise.all(all().map(stop));
      await site.settle();
      for (const device of devices) site.do({ kind: 'evse.unplug', connectorId: 1 }, device);
      await site.advance(1);
    };
    /** of the stations: what the central system of the test keeps is no part of it */
    const held = () => {
      for (const { frames, calls } of all()) for (const list of [frames, calls]) list.splice(0);
      return (heapKib() - before) / count;
    };
    try {
      await site.until('all are connected', () => site.peers === count, 120);
      expect(all()).to.have.length(count);
      await round();
      const one = held();
      expect(one).to.be.lessThan(maxKib);
      await round();
      expect(held() - one).to.be.lessThan(maxMoreKib);
      for (const { books, identity } of all())
        expect(
          books.transactions.map(({ ended }) => ended),
          identity,
        ).to.deep.equal([true, true]);
      expect((await logLines(site)).filter((line) => /^\S+ error/.test(line))).to.deep.equal([]);
    } finally {
      await site.close();
    }
  }).timeout(120_000);
});
