import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { openStream, StreamClient } from '../../support/stream.ts';
import type { StreamFixture } from '../../support/stream.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
let stream: StreamFixture | undefined;

/** The interface beside a stream whose clock and ticks are moved by hand. */
async function open(devices: number, options: Parameters<typeof openStream>[1] = {}): Promise<StreamFixture> {
  stream = await openStream(devices, options);
  rest = await Rest.open(undefined, { adapters: [stream.telemetry] });
  return stream;
}

async function connected(fixture: StreamFixture, query = ''): Promise<StreamClient> {
  const client = new StreamClient(`ws://127.0.0.1:${fixture.port}/api/sim/ws/telemetry${query}`);
  await client.received(1);
  return client;
}

function withoutPeer(client: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(client).filter(([name]) => name !== 'peer'));
}

/** Until the server has seen something: it notices pongs and ends after the client. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

describe('GET stream/clients', () => {
  afterEach(async () => {
    await rest.api.stop();
    await stream?.close();
    stream = undefined;
  });

  it('is empty without clients, and without a stream', async () => {
    rest = await Rest.open();
    expect(await rest.get('/stream/clients')).to.include({ count: 0, max_clients: 0 });
    await rest.api.stop();
    await open(3);
    expect(await rest.get('/stream/clients')).to.deep.equal({
      count: 0,
      max_clients: 1024,
      max_waiting: 64,
      max_waiting_bytes: 1_048_576,
      sent: 0,
      dropped: 0,
      clients: [],
    });
  });

  it('lists the newest first with device, time, counts and the age of the last pong', async () => {
    const fixture = await open(3);
    fixture.clock.ms = 1000;
    const all = await connected(fixture);
    await all.received(3);
    fixture.clock.ms = 2000;
    const one = await connected(fixture, '?device=2');
    fixture.plant.tick();
    await Promise.all([all.received(6), one.received(2)]);
    fixture.check();
    await until(() => fixture.telemetry.streamReport(10).clients.every(({ pongAgeMs }) => pongAgeMs !== null));
    fixture.clock.ms = 5500;
    const late = await connected(fixture, '?form=fleet&max_rate=2.5');
    const reply = await rest.get('/stream/clients');
    expect(reply).to.include({ count: 3, sent: 9, dropped: 0 });
    const whole = { form: 'snapshots', max_rate: null };
    const idle = { dropped: 0, waiting: 0, waiting_bytes: 0, unsent_bytes: 0 };
    expect(reply.clients.map(withoutPeer)).to.deep.equal([
      {
        id: 3,
        device_index: null,
        form: 'fleet',
        max_rate: 2.5,
        connected_at: '1970-01-01T00:00:05.500Z',
        sent: 1,
        ...idle,
        pong_age_s: null,
      },
      { id: 2, device_index: 2, ...whole, connected_at: '1970-01-01T00:00:02.000Z', sent: 2, ...idle, pong_age_s: 3.5 },
      {
        id: 1,
        device_index: null,
        ...whole,
        connected_at: '1970-01-01T00:00:01.000Z',
        sent: 6,
        ...idle,
        pong_age_s: 3.5,
      },
    ]);
    expect(reply.clients[0].peer).to.match(/^127\.0\.0\.1:\d+$/);
    for (const client of [all, one, late]) client.socket.terminate();
    await until(() => fixture.telemetry.clients === 0);
    const after = await rest.get('/stream/clients');
    expect(after).to.deep.include({ count: 0, sent: 9, clients: [] });
  });

  it('lists at most as many as asked for, and counts all', async () => {
    const fixture = await open(1);
    for (let i = 0; i < 4; i += 1) await connected(fixture);
    const reply = await rest.get('/stream/clients?limit=2');
    expect(reply.count).to.equal(4);
    expect(reply.clients.map(({ id }: { id: number }) => id)).to.deep.equal([4, 3]);
    for (const limit of ['0', '100001', 'x', '1.5'])
      await rest.refused(`/stream/clients?limit=${limit}`, 422, 'validation');
  });

  it('shows what waits for a client that reads nothing, and what it lost', async () => {
    const fixture = await open(1, { queue: 4 });
    const slow = await connected(fixture);
    slow.socket.pause();
    fixture.plant.padding = 'x'.repeat(256 * 1024);
    // the system buffers some megabytes of it
    const ticks = pick({ quick: 60, ci: 200 });
    for (let i = 0; i < ticks; i += 1) fixture.plant.tick();
    const [client] = (await rest.get('/stream/clients')).clients;
    expect(client.waiting).to.be.within(1, 4);
    expect(client.waiting_bytes).to.be.above(client.waiting * 256 * 1024);
    expect(client.unsent_bytes).to.be.above(0);
    expect(client.dropped).to.be.above(0);
    const { sent, dropped, waiting } = client as Record<string, number>;
    expect(sent! + dropped! + waiting!).to.equal(ticks + 1);
    slow.socket.terminate();
  });
});
