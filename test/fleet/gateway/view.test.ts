import { expect } from 'chai';
import { defaultApiLimits } from '../../../src/api/http/context.ts';
import { fleetBody, healthBody, mapBody, oneShardBody, shardsBody } from '../../../src/fleet/gateway/own.ts';
import { FleetLog } from '../../../src/fleet/gateway/logs.ts';
import { GatewayMetrics } from '../../../src/fleet/gateway/metrics.ts';
import { RequestCounts } from '../../../src/fleet/gateway/request-counts.ts';
import { FleetView } from '../../../src/fleet/gateway/view.ts';
import { encoded, leaseKey } from '../../../src/fleet/registry/roster.ts';
import type { Lease } from '../../../src/fleet/registry/roster.ts';
import type { TickDevice } from '../../../src/fleet/messages.ts';
import { yieldToLoop } from '../../../src/core/turns.ts';
import { MemoryServer } from '../support/memory-link.ts';
import { ticksOf } from '../support/ticks.ts';

const lease = (shard: string, first: number, epoch = 1): Lease => ({
  shard,
  first,
  epoch,
  session: `session-${epoch}`,
  room: 10,
  count: 2,
  version: '1.0.0',
  apiVersion: '1.0.0',
  settings: {},
  host: 'machine',
  http: '127.0.0.1:8111',
  ports: {},
  pid: 1,
  tick: 0,
  simUs: 0,
});

/** Lets messages and works of several parts arrive. */
async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await yieldToLoop();
}

/** A view, whose timers a test runs by hand, and a connection of the shards. */
function opened() {
  const server = new MemoryServer();
  const lines: string[] = [];
  const timers = new Set<() => void>();
  const view = new FleetView({
    link: server.link(),
    prefix: 'derbench',
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    later: (_ms, run) => {
      timers.add(run);
      return () => timers.delete(run);
    },
    log: { info: (line) => lines.push(line), warning: (line) => lines.push(line) },
  });
  view.start();
  const shards = server.link();
  const asked: string[] = [];
  const join = async (shard: string, first: number, epoch = 1) => {
    await shards.serve('op', `derbench.op.${shard}`, ({ headers }) => {
      asked.push(`${shard} ${headers['Derbench-Method'] ?? ''}`);
      return Promise.resolve({ headers: {}, body: new Uint8Array(0) });
    });
    const key = leaseKey(shard);
    const present = await shards.leases.get(key);
    const value = encoded(lease(shard, first, epoch));
    await (present ? shards.leases.update(key, value, present.revision) : shards.leases.create(key, value));
    await settled();
  };
  const tick = async (
    shard: string,
    number: number,
    indexes: readonly number[],
    epoch = 1,
    reach: Partial<TickDevice> = {},
  ) => {
    for (const part of ticksOf({ tick: number, epoch, session: `session-${epoch}` }, indexes, undefined, reach))
      shards.publish(`derbench.tick.${shard}`, part);
    await settled();
  };
  const loseAll = () => {
    for (const run of timers) run();
  };
  return { server, view, lines, asked, join, tick, loseAll };
}

const health = (view: FleetView) =>
  healthBody({
    view,
    info: { version: '1.0.0', apiVersion: '1.0.0', buildId: '', startedAtMs: 0 },
    eventLoop: { p50Ms: 0, p99Ms: 0, stalls: 0, slowPeriods: 0 },
    limits: defaultApiLimits,
    nowMs: () => 0,
    isStopping: () => false,
    logs: new FleetLog(),
    metrics: { text: () => Promise.resolve('') },
    stream: () => null,
    beginStop: (delayS) => ({ delayS, afterwards: () => undefined }),
  });

describe('fleet/gateway: the fleet as it is seen', () => {
  it('is degraded until a shard has joined, and while one is lost', async () => {
    const { view, lines, join, loseAll } = opened();
    expect(health(view).status).to.equal('degraded');
    await join('a', 0);
    expect(health(view)).to.include({ status: 'ok', shards_live: 1 });
    loseAll();
    expect(health(view)).to.deep.include({
      status: 'degraded',
      missing: [{ shard: 'a', first: 0, count: 2, code: 'shard-lost' }],
    });
    expect(lines).to.deep.equal(['the shard "a" (devices 0..9) has joined', 'the shard "a" (devices 0..9) is lost']);
  });

  it('asks a new shard for its last tick', async () => {
    const { asked, join } = opened();
    await join('a', 0);
    expect(asked).to.deep.equal(['a TICK']);
  });

  it('has sums of the newest ticks of the shards that live', async () => {
    const { view, join, tick, loseAll } = opened();
    await join('b', 10);
    await join('a', 0);
    await tick('b', 7, [10, 11]);
    await tick('a', 3, [0]);
    expect(fleetBody(view)).to.deep.include({ devices: 3, shards_live: 2, tick_span: { lowest: 3, highest: 7 } });
    expect(shardsBody(view).shards.map(({ shard, tick: newest }) => [shard, newest])).to.deep.equal([
      ['a', 3],
      ['b', 7],
    ]);
    loseAll();
    expect(fleetBody(view)).to.deep.include({ devices: 0, power_kw: 0, tick_span: null, shards_lost: 2 });
    expect(oneShardBody(view, 'a')).to.include({ state: 'lost', first: 0, count: 2 });
    expect(() => oneShardBody(view, 'c')).to.throw('There is no shard "c"');
  });

  it('has the newest ticks as columns, with the share of what each device could have now', async () => {
    const { view, join, tick, loseAll } = opened();
    await join('a', 0);
    await tick('a', 3, [0, 1, 4], 1, { injectW: 4, absorbW: 1 });
    const [shard] = mapBody(view).shards;
    expect(shard).to.deep.include({ shard: 'a', state: 'live', tick: 3, index: [0, 1, 4] });
    expect([shard?.power_kw, shard?.share_pct]).to.deep.equal([
      [0, 0.001, 0.004],
      [0, 25, 100],
    ]);
    loseAll();
    expect(mapBody(view).shards[0]).to.deep.include({ state: 'lost', first: 0, count: 2, index: [], share_pct: [] });
  });

  it('shows a lost shard again once it renews its lease, and not by a late tick', async () => {
    const { view, join, tick, loseAll } = opened();
    await join('a', 0);
    await tick('a', 1, [0]);
    loseAll();
    await tick('a', 2, [0]);
    expect(view.source.latest.published).to.have.length(0);
    await join('a', 0);
    expect(view.source.latest.published).to.have.length(1);
  });

  it('is in metrics by shard, where a lost one has no power', async () => {
    const { view, join, tick, loseAll } = opened();
    await join('b', 10);
    await join('a', 0);
    await tick('b', 7, [10, 11]);
    await tick('b', 9, [10, 11]);
    const counts = new RequestCounts(() => 0);
    await counts.counted('b', () => Promise.resolve({ status: 204 }));
    await counts.counted('gone', () => Promise.resolve({ status: 200 }));
    const info = { version: '1.2.3', apiVersion: '1.0.0', buildId: 'build', startedAtMs: 0 };
    const eventLoop = { p50Ms: 0, p99Ms: 0, stalls: 0, slowPeriods: 0 };
    const metrics = new GatewayMetrics({ view, counts, info, eventLoop });
    const text = await metrics.text();
    for (const line of [
      'derbench_fleet_connected 1',
      'derbench_fleet_shards{state="live"} 2',
      'derbench_fleet_devices{state="live"} 4',
      'derbench_fleet_shard_active_power_watts{shard="b"} 21',
      'derbench_fleet_ticks_total{shard="b"} 2',
      'derbench_fleet_ticks_missed_total{shard="b"} 1',
      'derbench_fleet_requests_total{shard="b",status="2xx"} 1',
      'derbench_fleet_request_seconds_bucket{le="0.001"} 2',
      'derbench_fleet_request_seconds_count 2',
      'derbench_build_info{version="1.2.3",api_version="1.0.0",build_id="build",runtime="node ' +
        `${process.version}"} 1`,
    ])
      expect(text.split('\n')).to.include(line);
    expect(text).not.to.contain('gone');
    loseAll();
    const lost = await metrics.text();
    expect(lost).to.contain('derbench_fleet_devices{state="lost"} 4');
    expect(lost).not.to.match(/^derbench_fleet_(shard_active_power_watts|tick_age_seconds)\{/m);
  });

  it('has series of at most 256 shards', async () => {
    const { view, join } = opened();
    for (let at = 0; at < 257; at += 1) await join(`s${at}`, 10 * at);
    const eventLoop = { p50Ms: 0, p99Ms: 0, stalls: 0, slowPeriods: 0 };
    const info = { version: '', apiVersion: '', buildId: '', startedAtMs: 0 };
    const text = await new GatewayMetrics({ view, counts: new RequestCounts(() => 0), info, eventLoop }).text();
    expect(text.match(/^derbench_fleet_bytes_total\{/gm)).to.have.length(256);
    expect(text).to.contain('derbench_fleet_shards{state="live"} 257');
  });

  it('leaves out the ticks of a former holder of a name', async () => {
    const { view, join, tick } = opened();
    await join('a', 0);
    await join('a', 0, 2);
    await tick('a', 9, [0], 1);
    expect(view.source.latest.published).to.have.length(0);
    await tick('a', 1, [0], 2);
    expect(view.source.latest.published).to.have.length(1);
  });
});
