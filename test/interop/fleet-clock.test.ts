/** One clock for the processes of a fleet, on a real NATS server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { GatewayProcess } from './support/fleet.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';

const time = '/controls/time';
/** Device types by index; in each shard are two. */
const types = ['PV-3Phase', 'Batt-3Phase', 'EVSE', 'Wind-T4-3Phase', 'PV-3Phase', 'HybridDC-3Phase'];
const names = ['a', 'b', 'c'];

describeWith(['nats'], 'the clock of a fleet', function () {
  this.timeout(90_000);
  let server: NatsServer;
  let gateway: GatewayProcess;
  let whole: RunningSimulator;
  const shards = new Map<string, RunningSimulator>();
  const folder = mkdtempSync(join(tmpdir(), 'derbench-fleet-'));

  const flags = (first: number, count: number) => {
    const file = join(folder, `${first}-${count}.yaml`);
    const devices = types.slice(first, first + count).map((type) => `\n  - device_type: ${type}`);
    writeFileSync(file, `devices:${devices.join('')}\n`);
    return ['--config', file, '--mb_enable', 'no', '--start_paused', 'yes', '--first_device', String(first)];
  };
  const start = async (name: string) => {
    const fleet = ['--fleet', server.url, '--shard', name, '--fleet_wait_s', '10'];
    shards.set(name, await startSimulator([...fleet, ...flags(2 * names.indexOf(name), 2)]));
  };
  const areLive = (list: readonly Json[]) => list.filter(({ state }) => state === 'live').length === names.length;
  /** Device by device what its registers and its snapshot show. */
  async function shown(port: number) {
    return Promise.all(
      types.map(async (_, index) => {
        const get = async (path: string) => (await ask(port, `/api/sim${path}device=${index}`)).json;
        const { models } = await get('/registers?');
        const maps = models.map(async ({ id }: Json) => (await get(`/registers/${id}?raw=true&`)).points);
        const { metrics } = await get('/overview?');
        return { metrics, registers: await Promise.all(maps) };
      }),
    );
  }

  before(async () => {
    server = await NatsServer.start();
    await Promise.all([
      startSimulator(flags(0, types.length)).then((simulator) => (whole = simulator)),
      // the first device of a profile in the fleet has its values: its shard comes first
      start('a').then(() => Promise.all([start('b'), start('c')])),
      GatewayProcess.start(server.url).then((ready) => (gateway = ready)),
    ]);
    await gateway.shards(areLive);
  });
  after(async () => {
    gateway.kill();
    await Promise.all([whole, ...shards.values()].map((simulator) => simulator.stop()));
    await server.end();
    rmSync(folder, { recursive: true });
  });

  it('steps three shards to the registers and snapshots of one process', async () => {
    const step = { ticks: 150 };
    const { json: alone } = await ask(whole.httpPort, `/api/sim${time}/step`, { body: step });
    const { status, json: stepped } = await gateway.post(`${time}/step`, step);
    expect(status).to.equal(200);
    const ofFleet = ['wall_time', 'stepped_by'];
    const expected = Object.entries<unknown>(alone.time).filter(([member]) => !ofFleet.includes(member));
    expect(stepped.time).to.deep.include(Object.fromEntries(expected));
    expect(stepped.snapshot.metrics).to.deep.equal(alone.snapshot.metrics);
    expect(await shown(gateway.port)).to.deep.equal(await shown(whole.httpPort));
  });

  it('is refused by a shard that is asked itself, with the address of the gateway', async () => {
    const port = shards.get('b')?.httpPort ?? 0;
    for (const [path, body] of [
      [time, { mode: 'accelerated' }],
      [`${time}/step`, {}],
    ] as const) {
      const { status, json } = await ask(port, `/api/sim${path}`, { body });
      expect([status, json.code]).to.deep.equal([409, 'fleet-member']);
      expect(json.detail).to.contain(`ask the gateway at 127.0.0.1:${gateway.port}`);
    }
  });

  it('names a shard that is killed in a step, which comes back at the time of the others', async () => {
    const step = gateway.post(`${time}/step`, { ticks: 100_000 });
    const [before] = (await gateway.get('/fleet/shards')).json.shards;
    await gateway.shards(([first]) => first.tick > before.tick);
    await shards.get('c')?.kill();
    const { status, json } = await step;
    expect([status, json.applied]).to.deep.equal([207, ['a', 'b']]);
    expect(json.failed).to.have.length(1);
    expect(json.failed[0]).to.deep.include({ shard: 'c', first: 4, count: 2, status: 503, code: 'shard-lost' });
    await start('c');
    await gateway.shards(areLive);
    const { json: next, status: whole } = await gateway.post(`${time}/step`, { ticks: 1 });
    expect(whole).to.equal(200);
    expect(next.time.tick - json.reply.time.tick).to.equal(1);
    const after = (await gateway.get('/fleet/shards')).json.shards;
    expect(after.map(({ tick }: Json) => tick)).to.deep.equal(names.map(() => next.time.tick));
  });

  it('runs at one rate on one grid, and pauses all shards at one instant', async () => {
    const { json: started } = await gateway.post(time, { mode: 'accelerated', rate: 60 });
    expect(started).to.include({ mode: 'accelerated', rate: 60 });
    await gateway.shards((list) => list.every(({ tick }) => tick - started.tick >= 2));
    const { status, json: paused } = await gateway.post(time, { mode: 'paused' });
    expect([status, paused.mode]).to.deep.equal([200, 'paused']);
    const times = await Promise.all(
      [...shards.values()].map(async ({ httpPort }) => (await ask(httpPort, `/api/sim${time}`)).json),
    );
    for (const { sim_time, tick, rate } of times)
      expect([sim_time, tick, rate]).to.deep.equal([paused.sim_time, paused.tick, 60]);
    const advancedS = (Date.parse(paused.sim_time) - Date.parse(started.sim_time)) / 1000;
    expect(advancedS).to.equal(60 * 1.5 * (paused.tick - started.tick));
  });
});
