/** Shards, a gateway and their server as processes, which are killed, stand still and come back. */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../../src/core/exit-codes.ts';
import { decodedRecord } from '../../src/fleet/clock/record.ts';
import { connectFleet } from '../../src/fleet/connect.ts';
import type { FleetLink } from '../../src/fleet/link.ts';
import { decodeTick } from '../../src/fleet/messages.ts';
import { depth, pick } from '../support/depth.ts';
import { ask } from '../support/http.ts';
import type { Json, JsonAnswer } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { GatewayProcess } from './support/fleet.ts';
import { SteadyMaster, StreamReader } from './support/fleet-masters.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';
import { within } from './support/within.ts';

/** First device of each shard. */
const firsts = { a: 0, b: 1000 } as const;
type Name = keyof typeof firsts;
const controlsOf = (name: Name) => `/controls?device=${firsts[name]}`;
/** An answer of a fleet that lacks a part does not wait for it, ms. */
const atOnceMs = 1000;
/** The time after which a shard that stands still goes on: beyond its loss. */
const standsMs = pick({ quick: 0, ci: 0, full: 10_000 });

async function timed<T>(work: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const beganMs = performance.now();
  return { value: await work, ms: performance.now() - beganMs };
}

const codeOf = ({ status, json }: JsonAnswer): readonly [number, unknown] => [status, json.code];

describeWith(['nats'], 'a fleet whose parts fail', function () {
  this.timeout(90_000);
  let server: NatsServer;
  let gateway: GatewayProcess;
  let link: FleetLink;
  const masters = new Map<Name, SteadyMaster>();
  let stream: StreamReader;
  const shards = new Map<Name, RunningSimulator>();

  const ports = new Map<Name, number>();
  const start = async (name: Name, type = 'PV-3Phase') => {
    const port = await freePorts(2);
    ports.set(name, port);
    const fleet = ['--fleet', server.url, '--shard', name, '--first_device', String(firsts[name])];
    const devices = ['-N', '2', '--device_type', type, '--tick', '0.2', '--fleet_wait_s', '10'];
    shards.set(name, await startSimulator([...fleet, ...devices, '-p', String(port)]));
  };
  const shardOf = (name: Name): RunningSimulator => {
    const shard = shards.get(name);
    if (shard === undefined) throw new Error(`no shard ${name}`);
    return shard;
  };
  const signal = (name: Name, word: 'SIGSTOP' | 'SIGCONT') => process.kill(shardOf(name).pid, word);
  const fleet = async () => (await gateway.get('/fleet')).json;
  const missing = async () => (await fleet()).missing.map(({ shard }: Json) => shard);
  /** Waits until the shards answer, and their ticks come. @returns ms */
  const back = (limitMs: number, ...names: readonly Name[]) => {
    const from = stream.seen.length;
    return within(`${names.join(', ')} back`, limitMs, async () => {
      const answers = await Promise.all(names.map((name) => gateway.get(controlsOf(name))));
      return (
        answers.every(({ status }) => status === 200) &&
        names.every((name) => stream.ticksOf(firsts[name], from).length > 0) &&
        (await missing()).length === 0
      );
    });
  };
  /** Waits for the next renewal of a lease. */
  const renewed = (name: Name) =>
    new Promise<void>((resolve) => {
      let seen = 0;
      const stop = link.leases.watch(`shard.${name}`, () => {
        seen += 1;
        // the first one is the present lease
        if (seen < 2) return;
        stop();
        resolve();
      });
    });
  const countsOf = async (name: Name) => {
    const { late_slots: late, ticks_missed: missed } = (await gateway.get(`/fleet/shards/${name}`)).json;
    return Number(late) + Number(missed) + Number((await fleet()).stream_ticks_dropped);
  };
  /** The stream of a shard has each tick once; those that a busy machine leaves out are counted. */
  const expectWhole = async (name: Name, from: number, countsBefore: number) => {
    const ticks = stream.ticksOf(firsts[name], from);
    expect(ticks).to.deep.equal([...new Set(ticks)].sort((x, y) => x - y));
    const gaps = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0) + 1 - ticks.length;
    expect(gaps, `of ${ticks.length} ticks`).to.be.at.most((await countsOf(name)) - countsBefore);
  };

  before(async () => {
    server = await NatsServer.start();
    await Promise.all([start('a'), start('b'), GatewayProcess.start(server.url).then((ready) => (gateway = ready))]);
    const log = { info: () => undefined, warning: () => undefined };
    link = await connectFleet({ servers: [server.url], prefix: 'derbench', name: 'test', log, waitMs: 0 });
    stream = await StreamReader.open(gateway.port);
    await back(10_000, 'a', 'b');
  });
  beforeEach(async () => {
    for (const [name, port] of ports) masters.set(name, await SteadyMaster.open(port));
  });
  afterEach(async () => {
    for (const master of masters.values()) await master.close();
  });
  after(async () => {
    stream.close();
    gateway.kill();
    await link.close();
    await Promise.all([...shards.values()].map((shard) => shard.kill()));
    await server.end();
  });

  /** Masters of shards that run notice nothing. */
  const expectUnnoticed = (...names: readonly Name[]) => {
    for (const name of names) {
      expect(masters.get(name)?.failure).to.equal(null);
      expect(masters.get(name)?.slowestMs).to.be.below(atOnceMs);
    }
  };

  it('answers for a killed shard at once, ends its open requests, and has it again without any act', async () => {
    const [from, counts] = [stream.seen.length, await countsOf('a')];
    signal('b', 'SIGSTOP');
    const open = timed(gateway.get(controlsOf('b')));
    expect((await gateway.get(controlsOf('a'))).status).to.equal(200);
    const killedMs = performance.now();
    await shardOf('b').kill();
    const afterwards = stream.seen.length;
    await within('half a second of the others', 5000, () => stream.ticksOf(0, afterwards).length > 3);
    const first = await timed(gateway.get(controlsOf('b')));
    expect(codeOf(first.value)).to.deep.equal([503, 'shard-lost']);
    expect(first.ms).to.be.below(atOnceMs);
    const { value: ended } = await open;
    expect(codeOf(ended)).to.deep.equal([503, 'shard-lost']);
    await within('missing', 5000, async () => (await missing()).includes('b'));
    expect(performance.now() - killedMs).to.be.below(5500);
    await start('b');
    await back(5000, 'a', 'b');
    await expectWhole('a', from, counts);
    expectUnnoticed('a');
  });

  it('does not lose a shard that stands still for 3 s, and has its answer then', async () => {
    await renewed('b');
    const beganMs = performance.now();
    signal('b', 'SIGSTOP');
    const open = gateway.get(controlsOf('b'));
    const seen = new Set<string>();
    await within('3 s', 10_000, async () => {
      for (const name of await missing()) seen.add(name);
      return performance.now() - beganMs >= 3000;
    });
    const stoodMs = performance.now() - beganMs;
    signal('b', 'SIGCONT');
    expect((await open).status).to.equal(200);
    // a machine that is busy for another second cannot tell
    if (stoodMs < 3700) expect([...seen]).to.deep.equal([]);
    await back(5000, 'a', 'b');
    expectUnnoticed('a');
  });

  it('has a shard again that stood still beyond its loss', async () => {
    const [from, counts, { pid }] = [stream.seen.length, await countsOf('a'), shardOf('b')];
    const beganMs = performance.now();
    signal('b', 'SIGSTOP');
    await within('missing', 5500, async () => (await missing()).includes('b'));
    await within('its time', 15_000, () => performance.now() - beganMs >= standsMs);
    const returned = stream.seen.length;
    signal('b', 'SIGCONT');
    // the others do not wait until it has caught up
    await within('ticks of the others', 2500, () => stream.ticksOf(0, returned).length > 5);
    await back(5000, 'a', 'b');
    expect((await gateway.get('/fleet/shards/b')).json.pid).to.equal(pid);
    await expectWhole('a', from, counts);
    const ticks = stream.ticksOf(firsts.b, from);
    expect(ticks).to.deep.equal([...new Set(ticks)].sort((x, y) => x - y));
  });

  it('ends a shard that was replaced while it stood still, and shows none of its ticks', async () => {
    const old = shardOf('b');
    const sessions: string[] = [];
    const stop = link.subscribe('derbench.tick.b', (body) => sessions.push(decodeTick(body).head.session));
    process.kill(old.pid, 'SIGSTOP');
    await within('missing', 5500, async () => (await missing()).includes('b'));
    await start('b', 'Batt-3Phase');
    await back(5000, 'a', 'b');
    const from = stream.seen.length;
    process.kill(old.pid, 'SIGCONT');
    expect(await old.ended).to.equal(exitCodes.leaseLost);
    expect(old.output).to.contain('another process has taken the shard "b"');
    await within('ticks of its successor', 5000, () => stream.ticksOf(firsts.b, from).length > 3);
    const kinds = stream.seen
      .slice(from)
      .flatMap(({ device_index: index, device_type: type }) => (index === firsts.b ? [type] : []));
    expect([...new Set(kinds)]).to.deep.equal(['Batt-3Phase']);
    const { session } = (await gateway.get('/fleet/shards/b')).json;
    expect(sessions.at(-1)).to.equal(session);
    stop();
  });

  const outages: readonly (readonly [string, boolean, number])[] = [
    ['1 s', true, 1000],
    ['1 s, and comes back without its store', false, 1000],
    ...(depth === 'full' ? [['10 s', true, 10_000] as const] : []),
  ];
  for (const [words, keepsStore, awayMs] of outages)
    it(`goes on while its server is killed for ${words}`, async () => {
      const clock = async () => {
        const entry = await link.shared.get('clock');
        return entry && decodedRecord(entry.value);
      };
      const former = await clock();
      const [tick = 0] = stream.ticksOf(0).slice(-1);
      const reads = new Map([...masters].map(([name, master]) => [name, master.reads]));
      await server.kill();
      await within('offline', atOnceMs, async () => (await fleet()).state === 'offline');
      const beganMs = performance.now();
      const refused = await timed(gateway.get(controlsOf('a')));
      expect(codeOf(refused.value)).to.deep.equal([503, 'fleet-offline']);
      expect(refused.ms).to.be.below(atOnceMs);
      await within(words, 2 * awayMs + 2000, () => performance.now() - beganMs >= awayMs);
      await server.start(keepsStore);
      await back(2000, 'a', 'b');
      await within('the link of the test', 2000, () => link.state === 'connected');
      expectUnnoticed('a', 'b');
      for (const [name, master] of masters) expect(master.reads).to.be.above((reads.get(name) ?? 0) + awayMs / 200);
      // the devices have ticked meanwhile, on the same grid
      const [after = 0] = stream.ticksOf(0).slice(-1);
      expect(after - tick).to.be.at.least(awayMs / 200);
      const record = await clock();
      expect([record?.fleet, record?.sim0Us]).to.deep.equal([former?.fleet, former?.sim0Us]);
      await within('a leader', 5000, async () => (await gateway.post('/controls/time', { rate: 1 })).status === 200);
    });

  it('goes on at the instant of its kept states where all of it starts again on an empty store', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-kept-fleet-'));
    const begin = (prefix: string) => {
      const kept = ['--state_dir', join(folder, 'state'), '--time_rate', '600', '--tick', '0.2', '--mb_enable', 'no'];
      return startSimulator(['--fleet', server.url, '--shard', 'k', '--fleet_prefix', prefix, ...kept]);
    };
    const timeOf = async ({ httpPort }: RunningSimulator) => (await ask(httpPort, '/api/sim/controls/time')).json;
    const first = await begin('kept');
    await within('ticks', 5000, async () => (await timeOf(first)).tick > 5);
    await first.stop();
    // another prefix has buckets of its own, which are empty
    const second = await begin('again');
    const at = await timeOf(second);
    expect(at.tick).to.be.above(5);
    const others = await timeOf(shardOf('a'));
    expect(Date.parse(at.sim_time) - Date.parse(others.sim_time)).to.be.above(300_000);
    await within('further ticks', 2000, async () => (await timeOf(second)).tick > Number(at.tick) + 1);
    expect(second.output).to.not.contain('ahead of its fleet');
    await second.kill();
    rmSync(folder, { recursive: true });
  });

  it('notices within 5 s that its server stands still', async () => {
    server.halt();
    const { ms } = await timed(within('offline', 6000, async () => (await fleet()).state === 'offline'));
    expect(ms).to.be.below(5000);
    expect(codeOf(await gateway.get(controlsOf('a')))).to.deep.equal([503, 'fleet-offline']);
    server.goOn();
    await back(2000, 'a', 'b');
    expectUnnoticed('a', 'b');
  });
});
