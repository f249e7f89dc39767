import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { simTimeFromMs, systemClock } from '../../src/core/time/clock.ts';
import { Timeline } from '../../src/core/timeline/timeline.ts';
import { TimelineStream } from '../../src/ws/timeline-stream.ts';
import { rawExchange } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { StreamClient } from '../support/stream.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

describe('ws/timeline', () => {
  let server: Server;
  let port: number;
  let wall: HandWall;
  let timers: HandTimers;
  let timeline: Timeline;
  let stream: TimelineStream;
  let otherClients: number;

  beforeEach(async () => {
    server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    wall = new HandWall();
    timers = new HandTimers(wall);
    timeline = new Timeline({ wall, sim: () => simTimeFromMs(0) });
    otherClients = 0;
    stream = new TimelineStream({
      timeline,
      dateMs: () => 0,
      server,
      guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] },
      clock: systemClock,
      otherClients: () => otherClients,
      maxClients: () => 2,
      stopping: () => false,
      later: timers.later,
      every: () => () => undefined,
    });
    stream.open();
  });

  afterEach(async () => {
    stream.close();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  async function client(): Promise<StreamClient> {
    const before = stream.clients;
    const opened = new StreamClient(`ws://127.0.0.1:${port}/api/sim/ws/timeline`);
    while (stream.clients === before) await new Promise((resolve) => setImmediate(resolve));
    return opened;
  }

  const messages = ({ messages: all }: StreamClient) => all as unknown as readonly Json[];

  const upgrade = (target: string) =>
    rawExchange(
      port,
      `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );

  const add = (text: string, deviceIndex: number) => timeline.add({ kind: 'peer', title: 't', text, deviceIndex });

  it('sends a broadcast as one message, and an entry that has grown again', async () => {
    const a = await client();
    add('before', 0);
    for (let i = 0; i < 1000; i += 1) add('broadcast', i);
    timers.pass(100);
    await a.received(2);
    expect(messages(a).map(({ id, count }) => [id, count])).to.deep.equal([
      [1, 1],
      [2, 1000],
    ]);
    add('broadcast', 3);
    timers.pass(100);
    await a.received(3);
    expect(messages(a)[2]).to.include({ id: 2, count: 1001 });
  });

  it('sends nothing that came before, and makes nothing without clients', async () => {
    add('early', 0);
    expect(timers.waiting).to.equal(0);
    const a = await client();
    add('late', 0);
    timers.pass(100);
    await a.received(1);
    expect(messages(a).map(({ text }) => text)).to.deep.equal(['late']);
  });

  it('refuses parameters, and clients above the limit of all streams', async () => {
    expect((await upgrade('/api/sim/ws/timeline?device=1')).status).to.equal(422);
    otherClients = 2;
    expect((await upgrade('/api/sim/ws/timeline')).status).to.equal(503);
  });

  it('closes with 1001 at its end', async () => {
    const a = await client();
    stream.close();
    expect((await a.closed).code).to.be.oneOf([1001, 1006]);
    expect(stream.clients).to.equal(0);
  });
});
