import { once } from 'node:events';
import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { ModbusTCPClient } from 'jsmodbus';
import modbusSerial from 'modbus-serial';
import { createApp } from '../../../src/app/build.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { pick } from '../../support/depth.ts';
import { openHandles, settled } from '../../support/handles.ts';
import { configOf } from '../../support/configured.ts';
import { ask } from '../../support/http.ts';
import type { Json, JsonAnswer } from '../../support/http.ts';
import { closed, occupied } from '../../support/ports.ts';
import { StreamClient } from '../../support/stream.ts';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('Devices of a running simulator', () => {
  let app: App;
  let port: number;

  /** Ticks come from the clock unless it is paused. */
  async function start(...flags: string[]): Promise<void> {
    const given = ['-wp', '0', '-p', '0', '--tick', '0.1'].filter((_, i, all) => !flags.includes(all[i - (i % 2)]!));
    app = createApp(configOf(...given, ...flags), {
      logBook: createLogBook({ write: () => undefined }),
      checkReplies: true,
    });
    ({ port } = (await app.start()).http);
  }

  afterEach(() => app.stop());

  const call = (path: string, body?: unknown): Promise<JsonAnswer> =>
    ask(port, `/api/sim${path}`, body === undefined ? {} : { method: 'POST', body });

  async function add(body: unknown = {}): Promise<Json> {
    const answer = await call('/devices', body);
    expect(answer.status, answer.text).to.equal(201);
    return answer.json;
  }

  async function remove(index: number): Promise<void> {
    const answer = await call(`/devices/${index}/remove`, {});
    expect(answer.status, answer.text).to.equal(200);
  }

  function refused(answer: JsonAnswer, status: number, code: string, words: string): void {
    expect([answer.status, answer.json.code], answer.text).to.deep.equal([status, code]);
    expect(answer.json.detail).to.contain(words);
  }

  it('other programs read and write an added device', async () => {
    await start('--start_paused', 'yes');
    const entry = await add({ device_type: 'Batt-3Phase', profile: 'Batt-LFP-100kW-3Phase' });
    const { layout } = app.plant.device(1).bank;
    const address = (model: number, point: string) => layout.slot(model, point)!.address;

    const master = new modbusSerial.default();
    await master.connectTCP('127.0.0.1', { port: entry.modbus.port });
    master.setID(entry.modbus.unit_id);
    expect((await master.readHoldingRegisters(layout.base, 2)).buffer.toString()).to.equal('SunS');
    const soc = (await master.readHoldingRegisters(address(713, 'SoC'), 1)).data[0]!;
    expect(soc / 10).to.equal(entry.metrics.state_of_charge_pct);
    await master.writeRegisters(address(704, 'WSetEna'), [1]);
    expect(app.plant.device(1).bank.provenance(layout.slot(704, 'WSetEna')!)).to.include({ source: 'modbus' });
    await new Promise<void>((resolve) => {
      master.close(() => {
        resolve();
      });
    });

    const socket = new Socket();
    const other = new ModbusTCPClient(socket, entry.modbus.unit_id);
    socket.connect({ host: '127.0.0.1', port: entry.modbus.port });
    await once(socket, 'connect');
    const { response } = await other.readHoldingRegisters(address(702, 'WMaxRtg'), 1);
    expect(response.body.valuesAsArray[0]).to.equal(
      app.plant.device(1).bank.read(address(702, 'WMaxRtg'), 1).readUInt16BE(0),
    );
    const ended = once(socket, 'close');
    await remove(1);
    await ended;
  });

  it('a stream of all devices includes the new one; a stream of a removed device closes with 1000', async () => {
    await start('-N', '2');
    const url = `ws://127.0.0.1:${port}/api/sim/ws/telemetry`;
    const [all, one] = [new StreamClient(url), new StreamClient(`${url}?device=1`)];
    await Promise.all([all.received(2), one.received(1)]);
    await add();
    const from = all.messages.length;
    await all.received(from + 6);
    expect(all.messages.slice(from).map(({ device_index }) => device_index)).to.include(2);
    await remove(1);
    expect(await one.closed).to.deep.include({ code: 1000 });
    expect((await call('/overview?device=1')).status).to.equal(404);
    const late = new StreamClient(`${url}?device=1`);
    expect((await late.closed).code).to.equal(1006);
    all.socket.terminate();
  });

  it('joins and leaves during accelerated ticks, and every tick contains the devices that are present', async () => {
    await start('-N', '20', '--time_rate', '600');
    const faults: string[] = [];
    app.plant.onTick(({ published, tick }) => {
      const [shown, there] = [
        published.map(({ snapshot }) => snapshot.device_index),
        app.plant.devices.map(({ index }) => index),
      ];
      if (shown.join() !== there.join()) faults.push(`tick ${tick}: ${shown.join()} for ${there.join()}`);
      if (new Set(published.map(({ snapshot }) => snapshot.metrics.timestamp)).size > 1)
        faults.push(`tick ${tick}: several times`);
    });
    for (let round = 0; round < 5; round += 1) {
      const added = await Promise.all([add({ device_type: 'Batt' }), add({ device_type: 'Wind-T4-3Phase' })]);
      await Promise.all(added.map(({ device_index }) => remove(device_index)));
    }
    const { tick } = app.plant.latest;
    await new Promise<void>((resolve) => {
      const end = app.plant.onTick((event) => {
        if (event.tick < tick + 2) return;
        end();
        resolve();
      });
    });
    expect(faults).to.deep.equal([]);
    expect(app.plant.devices).to.have.length(20);
    expect((await add()).device_index).to.equal(30);
  });

  it('devices that join and leave keep no handle open and no memory', async () => {
    await start('--start_paused', 'yes');
    await settled();
    // one of each before, so that what is made once is there
    for (const type of ['PV', 'Batt', 'EVSE']) await remove((await add({ device_type: type })).device_index);
    await settled();
    const before = openHandles();
    const gone: WeakRef<object>[] = [];
    // a rating with scale factors that no bundled profile has: a profile of the program keeps its layout
    const profile = { models: { 702: { WMaxRtg: 40_000_000 } } };
    const comeAndGo = async (i: number) => {
      const { device_index: index } = await add({ device_type: ['PV', 'Batt', 'EVSE'][i % 3], profile });
      const device = app.plant.device(index);
      gone.push(new WeakRef(device), new WeakRef(device.bank.layout));
      app.plant.setGrid({ voltagePu: 0.99 }, index);
      app.plant.commands.submit({ command: 'stop', deviceIndex: index }, { source: 'rest' });
      if (i % 10 === 0) await app.plant.step(1);
      await remove(index);
    };
    const count = pick({ quick: 24, ci: 100 });
    for (let i = 0; i < count; i += 1) await comeAndGo(i);
    await settled();
    expect(openHandles()).to.deep.equal(before);
    await app.plant.step(1);
    for (let i = 0; i < 3; i += 1) {
      await settled();
      collectGarbage();
    }
    expect(gone.flatMap((reference, at) => (reference.deref() === undefined ? [] : at))).to.deep.equal([]);
    expect(app.plant.devices).to.have.length(1);
  }).timeout(60_000);

  it('a Modbus port in use is named and nothing is added; it works once the port is free', async () => {
    const { server, port: taken } = await occupied(2);
    await start('-p', String(taken - 1), '--start_paused', 'yes');
    const handles = openHandles();
    refused(await call('/devices', {}), 409, 'conflict', `127.0.0.1:${taken}: the port is in use`);
    expect((await call('/devices')).json.devices).to.have.length(1);
    expect((await call('/overview')).json.comm_status.modbus_tcp).to.include({ state: 'listening', detail: null });
    await settled();
    expect(openHandles()).to.deep.equal(handles);
    await closed(server);
    expect((await add()).modbus).to.include({ port: taken, unit_id: 1 });
  });

  it('no device is added beyond the highest port, or beyond the unit ids of a shared port', async () => {
    await start('-p', '0', '--mb_shared_port', 'yes', '-N', '246', '--start_paused', 'yes');
    const { modbus } = await add();
    expect(modbus).to.include({ unit_id: 247 });
    refused(await call('/devices', {}), 409, 'conflict', 'device 247 would have unit id 248');
    expect(app.plant.devices).to.have.length(247);
    // removing a device frees no place: unit ids are not reused
    await remove(3);
    refused(await call('/devices', {}), 409, 'conflict', 'unit ids 1 to 247');
  }).timeout(30_000);

  it('the log names each change and its source', async () => {
    await start('--start_paused', 'yes');
    await add({ name: 'Cellar', device_type: 'Batt' });
    await remove(1);
    const lines = app.logBook
      .entries()
      .filter(({ module, deviceIndex }) => module === 'Lab' && deviceIndex === 1)
      .map(({ message }) => message);
    expect(lines[0]).to.match(/^device 1 added \(Cellar, Batt\), asked by rest, 127\.0\.0\.1:\d+$/);
    expect(lines[1]).to.match(/^device 1 removed \(Cellar\), asked by rest, 127\.0\.0\.1:\d+$/);
  });

  it('an empty site works: overview, stream, metrics, stop', async () => {
    await start();
    await remove(0);
    expect((await call('/devices')).json).to.deep.equal({ devices: [] });
    expect((await call('/overview')).status).to.equal(404);
    const stream = new StreamClient(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
    await once(stream.socket, 'open');
    await add();
    await stream.received(1);
    expect(stream.messages[0]).to.include({ device_index: 1 });
    await app.stop();
    expect((await stream.closed).code).to.equal(1001);
  });

  it('differ from the first of their profile by default, added ones too, and are equal with a spread of 0', async () => {
    const powers = async (...flags: string[]) => {
      await start('-N', '2', '--start_paused', 'yes', '--start_clock_time', '08:30:00', ...flags);
      await add();
      return app.plant.latest.published.map(({ snapshot }) => snapshot.metrics.power_kw);
    };
    const spread = await powers();
    expect(new Set(spread).size).to.equal(3);
    await app.stop();
    expect(await powers('--device_spread_pct', '0')).to.deep.equal([spread[0], spread[0], spread[0]]);
  });

  it('a stop during an addition shuts down cleanly', async () => {
    await start('-N', '3');
    await settled();
    const asked = [0, 1, 2, 3].map(() =>
      call('/devices', {}).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    const [, ...statuses] = await Promise.all([app.stop(), ...asked]);
    for (const status of statuses) expect(status).to.be.oneOf([0, 201, 503]);
    const states = app.adapters.map((adapter) => adapter.status().state);
    expect(states).to.not.be.empty;
    expect(states.filter((state) => state !== 'stopped')).to.deep.equal([]);
  });
});
