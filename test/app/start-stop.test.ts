import { once } from 'node:events';
import { expect } from 'chai';
import modbusSerial from 'modbus-serial';
import { WebSocket } from 'ws';
import { createApp } from '../../src/app/build.ts';
import { packageVersion } from '../../src/core/package-files.ts';
import type { App, Endpoints } from '../../src/app/start-stop.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { SimError } from '../../src/core/errors.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import type { Snapshot } from '../../src/contract/snapshot.ts';
import { openHandles, settled } from '../support/handles.ts';
import { ask } from '../support/http.ts';
import { closed, occupied } from '../support/ports.ts';
import { modbusEndpoint } from '../support/running-app.ts';

function appOf(...flags: string[]): App {
  const given = ['--website_port', '0', '--mb_port', '0', '--tick', '0.1'].filter(
    (_, i, all) => !flags.includes(all[i - (i % 2)]!),
  );
  const loaded = loadConfig([...given, ...flags], {});
  if (loaded.kind !== 'run') throw new Error('no configuration');
  return createApp(loaded.config, { logBook: createLogBook({ write: () => undefined }), checkReplies: true });
}

const failure = (promise: Promise<unknown>): Promise<SimError> =>
  promise.then(
    () => {
      throw new Error('expected a failure');
    },
    (error: unknown) => error as SimError,
  );

/** Waits for a tick that satisfies a condition. */
function tickWhere({ plant }: App, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = plant.onTick(() => {
      if (!condition()) return;
      end();
      resolve();
    });
  });
}

describe('The simulator as a whole', () => {
  let app: App | undefined;

  afterEach(async () => {
    await app?.stop();
  });

  async function start(...flags: string[]): Promise<{ app: App; endpoints: Endpoints }> {
    app = appOf(...flags);
    return { app, endpoints: await app.start() };
  }

  it('a Modbus write, the power, REST and the stream agree', async () => {
    const running = await start('--device_type', 'PV-3Phase');
    const { plant } = running.app;
    const { port } = running.endpoints.http;
    const endpoint = modbusEndpoint(running.app, 0);
    const master = new modbusSerial.default();
    await master.connectTCP('127.0.0.1', { port: endpoint.port });
    master.setID(endpoint.unitId);
    const { layout } = plant.devices[0]!.bank;
    const address = (model: number, path: string) => layout.slot(model, path)!.address;
    const register = async (model: number, path: string) =>
      (await master.readHoldingRegisters(address(model, path), 1)).data[0]!;
    expect(await register(701, 'W')).to.be.above(8000);

    // WMaxLimPct_SF is -2: 30 %; a fast ramp lets the limit be there within a few ticks
    await master.writeRegisters(address(704, 'WRmp'), [1000]);
    await master.writeRegisters(address(704, 'WMaxLimPctEna'), [1, 3000]);
    expect(plant.devices[0]!.bank.provenance(layout.slot(704, 'WMaxLimPct')!)).to.include({ source: 'modbus' });
    await tickWhere(running.app, () => plant.devices[0]!.bank.map.m701.W === 3000);

    const stream = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
    const [message] = (await once(stream, 'message')) as [Buffer];
    const streamed = JSON.parse(message.toString()) as Snapshot;
    const overview = await ask(port, '/api/sim/overview');
    const word = await register(701, 'W');
    expect([streamed.metrics.power_kw, overview.json.metrics.power_kw, word]).to.deep.equal([3, 3, 3000]);
    expect(overview.json.status.inverter_state).to.equal('throttled');
    expect(overview.json.comm_status.modbus_tcp).to.include({ state: 'listening', peers: 1 });
    const { json } = await ask(port, '/api/sim/server-info');
    // sources run here: the commit of a build that may lie in dist/ is not theirs
    expect([json.version, json.build_id]).to.deep.equal([packageVersion(), `npm-${packageVersion()}`]);
    stream.terminate();
    await new Promise<void>((resolve) => {
      master.close(() => {
        resolve();
      });
    });
  });

  it('ticks by itself, on its grid', async () => {
    const { app: running } = await start();
    const ticks: number[] = [];
    running.plant.onTick((event) => {
      ticks.push(event.tick);
    });
    await tickWhere(running, () => ticks.length >= 3);
    expect(ticks.slice(0, 3)).to.deep.equal([1, 2, 3]);
    expect(running.plant.health.paused).to.equal(false);
  });

  it('prints its listeners', async () => {
    const { endpoints } = await start('-N', '2');
    expect(endpoints.http.port).to.be.above(0);
    const text = endpoints.lines.join('\n');
    expect(text).to.contain(`http://127.0.0.1:${endpoints.http.port}/`);
    expect(text).to.contain(`ws://127.0.0.1:${endpoints.http.port}/api/sim/ws/telemetry`);
    expect(text).to.match(/Modbus {4}127\.0\.0\.1:\d+(\.\.\d+|, \d+) \(unit 1/);
    expect(text).to.contain('2 devices, tick 0.1 s');
  });

  it('starts and stops again and again with nothing left open', async () => {
    await settled();
    const before = openHandles();
    for (let i = 0; i < 2; i += 1) {
      const { app: running, endpoints } = await start('-N', '3');
      const stream = new WebSocket(`ws://127.0.0.1:${endpoints.http.port}/api/sim/ws/telemetry`);
      await once(stream, 'message');
      const closed = once(stream, 'close');
      await running.stop();
      expect((await closed)[0]).to.equal(1001);
      await running.stop();
      await settled();
      expect(openHandles()).to.deep.equal(before);
    }
  });

  it('stops before it ever started', async () => {
    await settled();
    const before = openHandles();
    app = appOf();
    await app.stop();
    await settled();
    expect(openHandles()).to.deep.equal(before);
  });

  it('cancels commands that have not ended', async () => {
    const { app: running } = await start();
    running.plant.setTime({ mode: 'paused' });
    const { id } = running.plant.commands.submit({ command: 'stop', deviceIndex: 0 }, { source: 'rest' });
    await running.stop();
    expect(running.plant.commands.get(id)?.state).to.equal('canceled');
  });

  for (const [name, flag, ...more] of [
    ['HTTP', '--website_port'],
    ['Modbus of device 0', '--mb_port'],
    ['Modbus of the meter', '--meter_port'],
    ['Modbus proxy', '--proxy_port', '--proxy', 'string-inverter-basic'],
    ['DNP3 of device 0', '--dnp3_port', '--dnp3_enable', 'yes'],
  ] as const) {
    it(`${name}: a port in use is named with its flag, and nothing stays open`, async () => {
      const { server, port } = await occupied();
      await settled();
      const before = openHandles();
      const broken = appOf(flag, String(port), ...more);
      const error = await failure(broken.start());
      await settled();
      const after = openHandles();
      await broken.stop();
      await closed(server);
      expect(error).to.be.instanceOf(SimError);
      expect(error.code).to.equal('LISTEN_FAILED');
      expect(error.message).to.equal(
        `${name}: cannot listen on 127.0.0.1:${port}: the port is in use; ${flag} takes another port, or 0 for any free one`,
      );
      expect(after).to.deep.equal(before);
    });
  }

  it('a Modbus port in use in the middle of a row of devices is named', async () => {
    const { server, port } = await occupied(2);
    await settled();
    const before = openHandles();
    const error = await failure(appOf('-N', '3', '--mb_port', String(port - 1)).start());
    expect(error.code).to.equal('LISTEN_FAILED');
    await settled();
    expect(openHandles()).to.deep.equal(before);
    await closed(server);
  });

  it('a DNP3 port in use in the middle of a row of devices is named with its device', async () => {
    const { server, port } = await occupied(2);
    await settled();
    const before = openHandles();
    const error = await failure(appOf('-N', '3', '-d3', 'yes', '--dnp3_port', String(port - 1)).start());
    await settled();
    const after = openHandles();
    await closed(server);
    expect(error.message).to.match(new RegExp(`^DNP3 of device 1: cannot listen on 127.0.0.1:${port}: `));
    expect(after).to.deep.equal(before);
  });

  it('a connection that cannot be accepted is a line of the log', async () => {
    const { app: running, endpoints } = await start();
    running.api.server.emit('error', new Error('accept EMFILE'));
    expect(running.logBook.entries().map(({ message }) => message)).to.include(
      'HTTP: cannot accept a connection: accept EMFILE',
    );
    expect((await ask(endpoints.http.port, '/api/sim/health')).status).to.equal(200);
  });

  it('300 devices start, tick and answer, each on its own port', async () => {
    const { app: running, endpoints } = await start('-N', '300', '--tick', '0.5');
    const ports = new Set(running.plant.devices.map((device) => modbusEndpoint(running, device.index).port));
    expect(ports.size).to.equal(300);
    await tickWhere(running, () => true);
    expect(running.plant.latest.published).to.have.length(300);
    const { json } = await ask(endpoints.http.port, '/api/sim/overview?device=299');
    expect([json.device_index, json.devices.length]).to.deep.equal([299, 300]);
  }).timeout(30_000);

  it('warns when it listens beyond this machine', async () => {
    const { app: running } = await start('-wi', '0.0.0.0');
    expect(
      running.logBook.entries().some((entry) => entry.level === 'warning' && entry.message.includes('0.0.0.0')),
    ).to.equal(true);
  });

  it('serves no Modbus when the settings switch it off', async () => {
    const { app: running } = await start('-mb', 'no');
    expect(running.adapters.map((adapter) => adapter.comm)).to.deep.equal(['sunspec_client', 'websocket']);
  });
});
