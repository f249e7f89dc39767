import { expect } from 'chai';
import { connect } from '@nats-io/transport-node';
import { Svcm } from '@nats-io/services';
import { connectFleet } from '../../src/fleet/connect.ts';
import type { LinkOptions } from '../../src/fleet/link-options.ts';
import { FleetError } from '../../src/fleet/link.ts';
import type { FleetLink, LinkState } from '../../src/fleet/link.ts';
import { depth } from '../support/depth.ts';
import { NatsServer } from './support/nats-server.ts';
import { describeWith } from './support/peers.ts';

const text = (value: string) => new TextEncoder().encode(value);
const quiet = { info: () => undefined, warning: () => undefined };
const service = { name: 'derbench-shard', version: '0.3.0', description: 'a shard', metadata: { shard: 'a' } };

const open = (server: NatsServer, more: Partial<LinkOptions> = {}) =>
  connectFleet({ servers: [server.url], prefix: 'derbench', name: 'test', log: quiet, waitMs: 0, ...more });

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return error instanceof FleetError ? error.code : String(error);
  }
}

const reached = (link: FleetLink, state: LinkState) =>
  new Promise<void>((resolve) => {
    if (link.state === state) {
      resolve();
      return;
    }
    const stop = link.onState((now) => {
      if (now !== state) return;
      stop();
      resolve();
    });
  });

const ask = (body = '') => ({ headers: {}, body: text(body) });

describeWith(['nats'], 'the link of a fleet', () => {
  let server: NatsServer;
  let shard: FleetLink;
  let gateway: FleetLink;

  before(async () => {
    server = await NatsServer.start();
    shard = await open(server, { service });
    gateway = await open(server);
  });
  after(async () => {
    await gateway.close();
    await shard.close();
    await server.end();
  });

  it('puts an answer together from its parts, with the headers of the first', async () => {
    const sizes = [0, 1, 524_288, 524_289, 5_000_000];
    const stop = await shard.serve('op', 'derbench.op.a', ({ body }) =>
      Promise.resolve({
        headers: { 'Derbench-Status': '200' },
        body: new Uint8Array(Number(new TextDecoder().decode(body))).fill(7),
      }),
    );
    for (const size of sizes) {
      const { headers, body } = await gateway.request('derbench.op.a', ask(String(size)), 5000);
      expect([body.length, body.every((octet) => octet === 7), headers]).to.deep.equal([
        size,
        true,
        { 'Derbench-Status': '200' },
      ]);
    }
    expect(await codeOf(gateway.request('derbench.op.a', ask(String(64 * 524_288 + 1)), 5000))).to.equal('too-large');
    stop();
    await shard.flush();
    expect(await codeOf(gateway.request('derbench.op.a', ask(), 5000))).to.equal('no-responder');
  });

  it('refuses with the text of the other side, and asks all that serve a subject', async () => {
    const stops = [
      await shard.serve('one', 'derbench.clock.set', () => Promise.reject(new Error('not\nnow'))),
      await gateway.serve('two', 'derbench.clock.set', () => Promise.resolve(ask('ready'))),
    ];
    const answers = await gateway.requestAll('derbench.clock.set', ask(), 2, 5000);
    const words = answers.map((answer) =>
      answer instanceof FleetError ? `${answer.code}: ${answer.message}` : new TextDecoder().decode(answer.body),
    );
    expect(words.toSorted()).to.deep.equal(['ready', 'refused: not now']);
    for (const stop of stops) stop();
  });

  it('ends a request by its signal with the reason', async () => {
    const stop = await shard.serve('op', 'derbench.op.b', () => new Promise(() => undefined));
    const controller = new AbortController();
    const code = codeOf(gateway.request('derbench.op.b', ask(), 5000, { signal: controller.signal }));
    controller.abort(new FleetError('no-responder', 'the shard is lost'));
    expect(await code).to.equal('no-responder');
    stop();
  });

  it('is listed by the client of the service protocol, without a queue group', async () => {
    const stop = await shard.serve('op', 'derbench.op.c', () => Promise.resolve(ask()));
    const connection = await connect({ servers: server.url });
    const found = [];
    const client = new Svcm(connection).client({ strategy: 'stall', maxWait: 1000 });
    for await (const info of await client.info('derbench-shard')) found.push(info);
    expect(found.map(({ name, metadata, endpoints }) => ({ name, metadata, endpoints }))).to.deep.equal([
      {
        name: 'derbench-shard',
        metadata: { shard: 'a' },
        endpoints: [{ name: 'op', subject: 'derbench.op.c', queue_group: '', metadata: {} }],
      },
    ]);
    await connection.close();
    stop();
  });

  it('compares revisions of keys, and knows the age of a bucket', async () => {
    const first = await shard.leases.create('shard.a', text('1'));
    expect(await codeOf(gateway.leases.create('shard.a', text('2')))).to.equal('conflict');
    const second = await shard.leases.update('shard.a', text('3'), first);
    expect(await codeOf(gateway.leases.update('shard.a', text('4'), first))).to.equal('conflict');
    expect((await gateway.leases.get('shard.a'))?.revision).to.equal(second);
    await shard.leases.delete('shard.a');
    expect(await gateway.leases.get('shard.a')).to.equal(null);
    expect(await shard.leases.ageMs()).to.be.within(0, 60_000);
  });

  it('is back after the server was killed: keys that stay, leases anew, watches go on', async () => {
    const kept = await shard.shared.create('roster', text('kept'));
    const seen: string[] = [];
    let told: () => void = () => undefined;
    const again = new Promise<void>((resolve) => (told = resolve));
    const stop = gateway.leases.watch('shard.*', ({ value }) => {
      seen.push(value === null ? 'gone' : new TextDecoder().decode(value));
      if (seen.includes('after')) told();
    });
    await shard.leases.create('shard.z', text('before'));
    const open = shard.request('derbench.op.none', ask(), 5000);
    expect(await codeOf(open)).to.equal('no-responder');
    server.halt();
    const waiting = codeOf(shard.shared.get('roster'));
    const killedMs = performance.now();
    await server.kill();
    await Promise.all([reached(shard, 'offline'), reached(gateway, 'offline')]);
    expect(await waiting).to.equal('offline');
    expect(performance.now() - killedMs, 'it does not wait for its time limit').to.be.below(1000);
    expect([shard.publish('derbench.tick.a', text('')), await codeOf(shard.shared.get('roster'))]).to.deep.equal([
      false,
      'offline',
    ]);
    expect(await codeOf(gateway.request('derbench.op.a', ask(), 5000))).to.equal('offline');
    await server.start();
    await Promise.all([reached(shard, 'connected'), reached(gateway, 'connected')]);
    const began = performance.now();
    expect((await shard.shared.get('roster'))?.revision).to.equal(kept);
    await shard.leases.create('shard.z', text('after'));
    await again;
    expect(performance.now() - began).to.be.below(2000);
    stop();
  });
});

describeWith(['nats'], 'a link that is refused', () => {
  it('names a wrong password, a server that is away, and clear text to another machine', async () => {
    const server = await NatsServer.start('nats', 'authorization { user: a, password: b }');
    const wrong = open(server, { credentials: { user: 'a', password: 'c' }, waitMs: 9000 });
    expect(await codeOf(wrong)).to.equal('denied');
    await server.kill();
    expect(await codeOf(open(server))).to.equal('offline');
    expect(await codeOf(open(server, { servers: ['nats://192.0.2.1:4222'] }))).to.equal('denied');
    await server.end();
  });
});

if (depth === 'full')
  describeWith(['nats_new'], 'the link of a fleet on the newest server', () => {
    it('has the two buckets with their times, and compares revisions', async () => {
      const server = await NatsServer.start('nats_new');
      const link = await open(server);
      const first = await link.leases.create('shard.a', text('1'));
      await link.leases.update('shard.a', text('2'), first);
      expect(await codeOf(link.leases.update('shard.a', text('3'), first))).to.equal('conflict');
      await link.leases.delete('shard.a');
      expect([await link.leases.get('shard.a'), link.server.includes('(2.15')]).to.deep.equal([null, true]);
      await link.close();
      await server.end();
    });
  });
