/** Two shards as processes, and a client of NATS that is no part of derbench. */
import { expect } from 'chai';
import { connect, headers } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectFleet } from '../../src/fleet/connect.ts';
import { decodeTick } from '../../src/fleet/messages.ts';
import { decodedLease, encoded } from '../../src/fleet/registry/roster.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';

describeWith(['nats'], 'shards of a fleet', function () {
  this.timeout(60_000);
  let server: NatsServer;
  let client: NatsConnection;
  const shards: RunningSimulator[] = [];
  const start = (name: string, ...more: string[]) =>
    startSimulator(['--fleet', server.url, '--shard', name, '--mb_enable', 'no', '--tick', '0.2', '-N', '2', ...more]);

  /** A connection to the buckets of the fleet. */
  const other = () => {
    const log = { info: () => undefined, warning: () => undefined };
    return connectFleet({ servers: [server.url], prefix: 'derbench', name: 'test', log, waitMs: 0 });
  };

  before(async () => {
    server = await NatsServer.start();
    client = await connect({ servers: server.url });
    shards.push(...(await Promise.all([start('a'), start('b', '--first_device', '1000')])));
  });
  after(async () => {
    await Promise.all(shards.map((shard) => shard.stop()));
    await client.close();
    await server.end();
  });

  /** Parts on a subject until `enough` says so. */
  async function ticks(subject: string, count: number) {
    const seen = [];
    for await (const { data } of client.subscribe(subject, { max: count })) seen.push(decodeTick(data));
    return seen;
  }

  it('send each tick once, with the devices of their range', async () => {
    const [a, b] = await Promise.all([ticks('derbench.tick.a', 3), ticks('derbench.tick.b', 3)]);
    for (const [parts, indexes] of [
      [a, [0, 1]],
      [b, [1000, 1001]],
    ] as const) {
      // a late tick covers several slots, whose numbers no tick has
      const numbers = parts.map(({ head }) => head.tick - head.unused);
      const [first = 0] = numbers;
      expect(numbers).to.deep.equal([first, first + 1, first + 2]);
      for (const { index } of parts) expect([...index]).to.deep.equal(indexes);
    }
  });

  it('answer requests of REST', async () => {
    const head = headers();
    for (const [name, value] of [
      ['Method', 'GET'],
      ['Path', '/api/sim/overview?device=1001'],
      ['By', 'rest;client'],
    ] as const)
      head.set(`Derbench-${name}`, value);
    const answer = await client.request('derbench.op.b', '', { headers: head, timeout: 5000 });
    expect([answer.headers?.get('Derbench-Status'), answer.headers?.get('Content-Type')]).to.deep.equal([
      '200',
      'application/json',
    ]);
    const overview = answer.json<{
      readonly device_index: number;
      readonly comm_status: { readonly fleet: { readonly state: string } };
    }>();
    expect(overview.device_index).to.equal(1001);
    expect(overview.comm_status.fleet.state).to.equal('connected');
  });

  it('keep their name: a second process of it is refused with the holder', async () => {
    const [a] = shards;
    const refusal = await start('a', '--fleet_wait_s', '1', '--first_device', '50').catch((error: unknown) => error);
    expect(String(refusal)).to.match(new RegExp(`the devices 0..1 belong to the shard "a" on .*pid ${a?.pid}`));
    expect(String(refusal)).to.contain('exit code 3');
  });

  it('keep their devices: a range that overlaps is refused at once', async () => {
    const refusal = await start('c', '--first_device', '1001').catch((error: unknown) => error);
    expect(String(refusal)).to.contain('the devices 1000..1001 belong to the shard "b"');
    expect(String(refusal)).to.contain('exit code 3');
  });

  it('have the settings of the fleet: others are refused by name', async () => {
    const refusal = await start('d', '--first_device', '5000', '--seed', '9', '--clouds', 'broken').catch(String);
    expect(refusal).to.match(
      /does not fit the fleet: seed: the fleet has \d+, this shard 9; clouds: .* this shard broken/,
    );
    expect(refusal).to.contain('exit code 2');
  });

  it('let go of their name first at SIGTERM', async () => {
    const [a] = shards;
    const link = await other();
    const order: string[] = [];
    const stop = link.leases.watch('shard.a', ({ value }) => order.push(value === null ? 'left' : 'lease'));
    const code = await a?.stop();
    await link.flush();
    expect([code, order.at(-1), await link.leases.get('shard.a')]).to.deep.equal([0, 'left', null]);
    stop();
    await link.close();
    const again = await start('a', '--fleet_wait_s', '10');
    shards.push(again);
    expect(again.output).to.contain('shard "a" of derbench');
  });

  it('end with exit code 7 where another process has their name', async () => {
    const b = shards[1];
    const link = await other();
    // the shard renews its lease each second, and may come first
    for (let isTaken = false; !isTaken; ) {
      const lease = await link.leases.get('shard.b');
      if (lease === null) throw new Error('the shard has no lease');
      const taken = { ...decodedLease(lease.value), session: 'another' };
      isTaken = await link.leases.update('shard.b', encoded(taken), lease.revision).then(
        () => true,
        () => false,
      );
    }
    expect(await b?.ended).to.equal(7);
    expect(b?.output).to.contain('another process has taken the shard "b"');
    // what the other process has written stays
    const left = await link.leases.get('shard.b');
    if (left !== null) expect(decodedLease(left.value).session).to.equal('another');
    await link.close();
  });
});
