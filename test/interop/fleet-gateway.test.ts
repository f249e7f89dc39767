/** Two shards and a gateway as processes, on a real NATS server. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import type { Snapshot } from '../../src/contract/snapshot.ts';
import { ask } from '../support/http.ts';
import { programCommand, startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';

/** A gateway that is ready. */
async function startGateway(url: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const [program, ...args] = programCommand;
  const words = [...args, 'gateway', '--fleet', url, '-wp', '0', '--log_level', 'error'];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout)) {
    const port = /^ *HTTP .*?:(\d+)\//.exec(line)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error('the gateway has ended before it was ready');
}

const indexOf = ({ device_index: index }: { readonly device_index: number }) => index;

describeWith(['nats'], 'gateway of a fleet', function () {
  this.timeout(60_000);
  let server: NatsServer;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  const shards: Record<string, RunningSimulator> = {};
  const start = async (name: string, first: number) => {
    const fleet = ['--fleet', server.url, '--shard', name, '--first_device', String(first), '-N', '2'];
    shards[name] = await startSimulator([...fleet, '--mb_enable', 'no', '--tick', '0.2']);
  };
  const get = (path: string) => ask(gateway.port, `/api/sim${path}`);
  const messages = (count: number, query = '') =>
    new Promise<Snapshot[]>((resolve, reject) => {
      const seen: Snapshot[] = [];
      const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/api/sim/ws/telemetry${query}`);
      socket.on('error', reject);
      socket.on('message', (message: Buffer) => {
        seen.push(JSON.parse(message.toString()) as Snapshot);
        if (seen.length === count) socket.close();
      });
      socket.on('close', () => {
        resolve(seen);
      });
    });
  /** Asks until the health of the fleet is this one. */
  const health = async (wanted: string) => {
    for (;;) {
      const { json: body } = await get('/health');
      if (body.status === wanted) return body;
      // the newest snapshots come at once, the others with the next ticks
      await messages(6);
    }
  };

  before(async () => {
    server = await NatsServer.start();
    await Promise.all([start('b', 1000), start('a', 0), startGateway(server.url).then((ready) => (gateway = ready))]);
    await health('ok');
  });
  after(async () => {
    gateway.child.kill('SIGKILL');
    await Promise.all(Object.values(shards).map((shard) => shard.stop()));
    await server.end();
  });

  it('lists the devices of all shards by their indexes', async () => {
    const { status, json: body } = await get('/devices');
    expect([status, body.devices.map(indexOf), body.missing]).to.deep.equal([200, [0, 1, 1000, 1001], []]);
    const { json: fleet } = await get('/fleet');
    expect(fleet).to.include({ state: 'connected', shards_live: 2, shards_lost: 0, devices: 4 });
  });

  it('has pages of devices, an overview, the dashboard and the description', async () => {
    const page = (await get('/devices?limit=3')).json;
    expect([page.devices.map(indexOf), page.total, page.next_after]).to.deep.equal([[0, 1, 1000], 4, 1000]);
    const last = (await get('/devices?limit=3&after=1000')).json;
    expect([last.devices.map(indexOf), last.next_after]).to.deep.equal([[1001], null]);
    expect((await get('/devices?shard=b')).json.devices.map(indexOf)).to.deep.equal([1000, 1001]);
    const { json: overview } = await get('/overview?device=1001');
    expect(overview).to.include({ device_index: 1001, devices_total: 4, devices_truncated: false });
    expect(overview.devices.map(indexOf)).to.deep.equal([0, 1, 1000, 1001]);
    const dashboard = await ask(gateway.port, '/');
    expect(dashboard.headers['content-type']).to.contain('text/html');
    expect((await ask(gateway.port, '/redoc')).status).to.equal(200);
    expect((await ask(gateway.port, '/docs/')).status).to.equal(200);
    expect((await ask(gateway.port, '/openapi.json')).json.paths).to.include.keys('/api/sim/fleet/shards/{name}');
  });

  it('streams each device and tick once, and counts those that did not come', async () => {
    const seen = await messages(40);
    const { shards: counted } = (await get('/fleet/shards')).json;
    const { stream_ticks_dropped: dropped } = (await get('/fleet')).json;
    for (const index of [0, 1, 1000, 1001]) {
      const ticks = seen.filter((each) => each.device_index === index).map(({ tick }) => tick);
      expect(ticks.length, `device ${index}`).to.be.above(5);
      expect(ticks).to.deep.equal([...new Set(ticks)].sort((x, y) => x - y));
      // a busy machine may leave ticks out: each of them is counted
      const gaps = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0) + 1 - ticks.length;
      const { late_slots: late, ticks_missed: missed } = counted[index < 1000 ? 0 : 1];
      expect(gaps).to.be.at.most(Number(late) + Number(missed) + Number(dropped));
    }
  });

  it('streams the devices of one shard on request', async () => {
    const seen = await messages(6, '?shard=b&max_rate=50');
    expect([...new Set(seen.map(indexOf))]).to.deep.equal([1000, 1001]);
  });

  it('passes a control on to the shard of its device', async () => {
    const body = JSON.stringify({ enabled: true, limit_pct: 37 });
    const sent = await ask(gateway.port, '/api/sim/grid-support/max-power?device=1001', { method: 'POST', body });
    expect(sent.status, sent.text).to.equal(200);
    const path = '/api/sim/registers/704?device=1001&points=WMaxLimPct';
    const texts = await Promise.all([gateway.port, shards['b']?.httpPort ?? 0].map((port) => ask(port, path)));
    for (const { json } of texts) expect(json.points[0]).to.include({ name: 'WMaxLimPct', value: 37 });
    expect((await get('/overview?device=5')).json.code).to.equal('unknown-device');
    expect((await get('/controls?device=5')).json.code).to.equal('unknown-device');
  });

  it('has metrics of each shard', async () => {
    const { text, headers } = await get('/metrics');
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    const lines = text.split('\n');
    expect(lines).to.include.members([
      'derbench_fleet_shards{state="live"} 2',
      'derbench_fleet_devices{state="live"} 4',
    ]);
    expect(lines.some((line) => /^derbench_fleet_requests_total\{shard="b",status="2xx"\} [1-9]/.test(line))).to.equal(
      true,
    );
  });

  it('refuses requests for a killed shard, and names what is missing', async () => {
    await shards['b']?.kill();
    const first = await get('/controls?device=1000');
    expect([first.status, first.json.code]).to.deep.equal([503, 'shard-lost']);
    expect((await health('degraded')).missing).to.deep.equal([
      { shard: 'b', first: 1000, count: 2, code: 'shard-lost' },
    ]);
    const { json: body } = await get('/devices');
    expect(body.devices.map(indexOf)).to.deep.equal([0, 1]);
    expect(body.missing).to.deep.equal([{ shard: 'b', first: 1000, count: 2, code: 'shard-lost' }]);
  });

  it('has a shard again after its restart', async () => {
    await start('b', 1000);
    await health('ok');
    expect((await get('/controls?device=1000')).status).to.equal(200);
    expect((await get('/devices')).json.devices.map(indexOf)).to.deep.equal([0, 1, 1000, 1001]);
  });

  it('ends at SIGTERM with exit code 0', async () => {
    const ended = once(gateway.child, 'exit');
    gateway.child.kill('SIGTERM');
    expect((await ended)[0]).to.equal(0);
  });
});
