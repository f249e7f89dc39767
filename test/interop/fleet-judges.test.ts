/** Masters, a central system and a NATS client of other people at a fleet: each talks to a shard of its own. */
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { GatewayProcess } from './support/fleet.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith, PythonPeer } from './support/peers.ts';
import { within } from './support/within.ts';

/** Device of each shard. */
const deviceOf = { roofs: 0, stores: 1000, chargers: 2000 } as const;
type Name = keyof typeof deviceOf;
const firstStation = 'CP';
/** Identity of a station whose device is not the first one of the fleet. */
const station = `${firstStation}-${deviceOf.chargers}`;
/** A change is in the next tick of its shard, which comes late on a busy machine. */
const limitMs = 20_000;

describeWith(['nats', 'nats_py', 'pysunspec2', 'dnp3py', 'ocpp'], 'a fleet with outsiders at each shard', function () {
  this.timeout(60_000);
  let server: NatsServer;
  let gateway: GatewayProcess;
  let central: PythonPeer;
  const shards = new Map<Name, RunningSimulator>();
  const peers: PythonPeer[] = [];

  const peer = (...words: ConstructorParameters<typeof PythonPeer>) => {
    const started = new PythonPeer(...words);
    peers.push(started);
    return started;
  };
  const start = async (name: Name, flags: readonly string[]) => {
    const fleet = ['--fleet', server.url, '--shard', name, '--first_device', String(deviceOf[name])];
    shards.set(name, await startSimulator([...fleet, '--fleet_devices', 'yes', '--tick', '0.2', ...flags]));
  };
  /** A point of the registers of a device by the gateway, with who has written it. */
  const pointOf = async (name: Name, model: number, point: string): Promise<Json> =>
    (await gateway.get(`/registers/${model}?device=${deviceOf[name]}&points=${point}`)).json.points[0];
  const powerW = async (name: Name): Promise<number> => Number((await pointOf(name, 701, 'W')).value);
  const settlesAt = (name: Name, expectedW: number, toleranceW: number) =>
    within(`${expectedW} W`, limitMs, async () => Math.abs((await powerW(name)) - expectedW) <= toleranceW);
  /** Sources of the entries of a device in the timeline of the gateway, which tells the shard of each. */
  const writersIn = async (name: Name): Promise<readonly string[]> => {
    const { entries } = (await gateway.get(`/timeline?device=${deviceOf[name]}`)).json;
    expect([...new Set(entries.map(({ shard }: Json) => shard))]).to.deep.equal([name]);
    return entries.flatMap(({ by }: Json) => by?.source ?? []);
  };

  before(async () => {
    const port = await freePorts(2);
    server = await NatsServer.start();
    central = peer('central_system', port, '{}');
    await central.ask('ready');
    const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csid', firstStation, '--ocpp_csms_url', `ws://127.0.0.1:${port}`];
    [gateway] = await Promise.all([
      GatewayProcess.start(server.url),
      start('roofs', ['--device_type', 'PV-3Phase']),
      start('stores', ['--device_type', 'Batt-3Phase', '--dnp3_enable', 'yes', '--dnp3_port', String(port + 1)]),
      start('chargers', ['--evse_profile', 'EVSE-AC-22kW-1port-EU', ...ocpp, '--ocpp_auto_authorize', 'no']),
    ]);
    await gateway.shards((each) => each.length === 3 && each.every(({ state }) => state === 'live'));
  });
  after(async () => {
    await Promise.all(peers.map((each) => each.stop()));
    gateway.kill();
    await Promise.all([...shards.values()].map((shard) => shard.stop()));
    await server.end();
  });

  it('a limit of pysunspec2 is at the gateway with its writer, and in the power of the device', async () => {
    const master = peer('sunspec_master', shards.get('roofs')?.modbusPort ?? 0);
    await master.ask('scan');
    await master.ask('write_model', { model: 704, values: { WMaxLimPct: 30, WMaxLimPctEna: 1 } });
    expect(await pointOf('roofs', 704, 'WMaxLimPct')).to.include({ value: 30, source: 'modbus' });
    await settlesAt('roofs', 3000, 30);
    expect(await writersIn('roofs')).to.include('modbus');
  });

  it('a command of a DNP3 master discharges the storage of its shard', async () => {
    const master = peer('dnp3_dnp3py', shards.get('stores')?.dnp3Port ?? 0, '1', '4');
    await master.ask('opened');
    const commands = [
      ['AO', 93, 250],
      ['BO', 18, true],
    ];
    await master.ask('operate', { commands });
    expect(await pointOf('stores', 704, 'WSetPct')).to.include({ value: 25, source: 'dnp3' });
    const { value: ratedW } = await pointOf('stores', 702, 'WMax');
    await settlesAt('stores', Number(ratedW) / 4, Number(ratedW) / 100);
    expect(await writersIn('stores')).to.include('dnp3');
    await master.ask('closed');
  });

  it('a central system starts a session at the station of its shard', async () => {
    const plug = { ev: { soc_pct: 20 } };
    const plugged = await gateway.post(`/evse/${station}/connectors/1/plug`, plug);
    expect(plugged.status, plugged.text).to.equal(200);
    const payload = { idTag: 'TAG-1', connectorId: 1 };
    const call = { station, action: 'RemoteStartTransaction', payload, timeout: 30 };
    expect(await central.ask('call', call)).to.include({ status: 'Accepted' });
    const begun = await central.ask('wait', {
      station,
      action: 'StartTransaction',
      where: { idTag: 'TAG-1' },
      after: 0,
    });
    expect(begun.payload.connectorId).to.equal(1);
    await within('power of a vehicle', limitMs, async () => (await powerW('chargers')) < -5000);
    expect(await central.ask('refused')).to.deep.equal([]);
  });

  it('a NATS client lists gateway and shards, and reads the snapshot of each device', async () => {
    const reader = peer('nats_reader', server.port);
    const infos: readonly Json[] = await reader.ask('services', { count: 4 });
    expect(infos.map(({ name, metadata }) => metadata.shard ?? name)).to.have.members([
      'derbench-gateway',
      ...Object.keys(deviceOf),
    ]);
    const newest = await reader.ask('messages', { subject: 'derbench.dev.*', subjects: 3 });
    for (const [name, index] of Object.entries(deviceOf)) {
      const { device_index: read, metrics } = newest[`derbench.dev.${index}`];
      expect(read).to.equal(index);
      // the charger may be a tick further on
      expect(metrics.power_kw * 1000).to.be.closeTo(await powerW(name as Name), 500);
    }
  });
});
