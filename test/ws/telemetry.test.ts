import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { LogEntry } from '../../src/core/log/log.ts';
import { rawExchange } from '../support/http.ts';
import type { Json, RawAnswer } from '../support/http.ts';
import { Rest } from '../support/rest.ts';
import { openStream, StreamClient } from '../support/stream.ts';
import type { StreamFixture } from '../support/stream.ts';
import { createTelemetry } from '../../src/ws/telemetry.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { systemClock } from '../../src/core/time/clock.ts';

const path = '/api/sim/ws/telemetry';
let stream: StreamFixture;
const close = () => stream.close();

async function client(
  query = '',
  { at = path, headers = {} }: { at?: string; headers?: Record<string, string> } = {},
): Promise<StreamClient> {
  const made = new StreamClient(`ws://127.0.0.1:${stream.port}${at}${query}`, { headers });
  await made.received(1);
  return made;
}

const handshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

function upgrade(target: string, headers: Record<string, string | undefined> = {}, method = 'GET'): Promise<RawAnswer> {
  const all: Record<string, string | undefined> = { Host: `127.0.0.1:${stream.port}`, ...handshake, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
  return rawExchange(stream.port, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

function expectProblem(answer: RawAnswer, status: number, code: string): Json {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/problem+json');
  const problem: Json = JSON.parse(answer.text);
  expect(problem).to.include({ status, code, request_id: answer.headers['x-request-id'] });
  return problem;
}

/** A line of the log that matches, awaited: the server sees the end of a connection after the client. */
async function logged(pattern: RegExp): Promise<LogEntry> {
  for (;;) {
    const found = stream.logBook.entries().find(({ message }) => pattern.test(message));
    if (found) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('telemetry stream: messages', () => {
  afterEach(close);

  it('sends the latest snapshot of every device at once, in index order, as text', async () => {
    stream = await openStream(3);
    stream.plant.tick();
    const all = await client();
    await all.received(3);
    expect(all.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(all.binary).to.deep.equal([false, false, false]);
  });

  it('sends one message per device and tick, without duplicates', async () => {
    stream = await openStream(2);
    const all = await client();
    await all.received(2);
    for (let i = 0; i < 5; i += 1) stream.plant.tick();
    await all.received(12);
    const expected = Array.from({ length: 6 }, (_, tick) => [
      [0, tick],
      [1, tick],
    ]).flat();
    expect(all.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal(expected);
  });

  it('sends a tick once to a client that joins while the tick is worked off', async () => {
    stream = await openStream(2);
    stream.plant.tick();
    const joined = await client('?device=1');
    stream.plant.workOff();
    stream.plant.tick();
    await joined.received(2);
    expect(joined.messages.map(({ tick }) => tick)).to.deep.equal([1, 2]);
  });

  it('filters by device in the server, on both paths', async () => {
    stream = await openStream(3);
    const first = await client('?device=2');
    const second = await client('?device=0', { at: '/api/sim/telemetry/ws' });
    stream.plant.tick();
    await Promise.all([first.received(2), second.received(2)]);
    expect(first.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal([
      [2, 0],
      [2, 1],
    ]);
    expect(second.messages.map(({ device_index }) => device_index)).to.deep.equal([0, 0]);
  });

  it('filters by a range of devices, whose ends belong to it', async () => {
    stream = await openStream(5);
    const some = await client('?devices=1-3');
    const single = await client('?devices=4-9');
    stream.plant.tick();
    await Promise.all([some.received(6), single.received(2)]);
    expect(some.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal([
      [1, 0],
      [2, 0],
      [3, 0],
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(single.messages.map(({ device_index }) => device_index)).to.deep.equal([4, 4]);
  });

  it('is the shared snapshot of the plant', async () => {
    stream = await openStream(1);
    const rest = await Rest.open();
    const telemetry = createTelemetry({
      source: rest.plant,
      columns: rest.plant,
      server: rest.api.server,
      clock: systemClock,
      logger: silentLogger,
      guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] },
    });
    await telemetry.start();
    const reader = new StreamClient(`ws://127.0.0.1:${rest.port}${path}`);
    for (let tick = 0; tick < 20; tick += 1) {
      await reader.received(tick + 1);
      const overview = await rest.get('/overview');
      expect(overview).to.deep.include(reader.messages[tick]);
      expect(reader.messages[tick]).to.deep.equal(rest.plant.latest.published[0]?.snapshot);
      await rest.plant.step(1);
    }
    await telemetry.stop();
    await rest.api.stop();
    expect((await reader.closed).code).to.equal(1001);
  });
});

describe('telemetry stream: refusals before the upgrade', () => {
  afterEach(close);

  it('422 and 404 for device', async () => {
    stream = await openStream(2);
    for (const value of ['x', '-1', '1.5', '', '0x1', '1&device=0', '%31%20']) {
      const problem = expectProblem(await upgrade(`${path}?device=${value}`), 422, 'validation');
      expect(problem.errors[0]).to.include({ in: 'query', name: 'device' });
    }
    expectProblem(await upgrade(`${path}?device=2`), 404, 'unknown-device');
    expectProblem(await upgrade(`${path}?devcie=0`), 422, 'validation');
  });

  it('404 for other paths', async () => {
    stream = await openStream();
    for (const other of [
      '/',
      '/api/sim/ws',
      '/api/sim/ws/telemetry/',
      '/api/sim/ws/telemetry/.websocket',
      '/api/sim/overview',
    ]) {
      expectProblem(await upgrade(other), 404, 'not-found');
    }
  });

  it('421 and 403 for hosts and origins', async () => {
    stream = await openStream();
    expectProblem(await upgrade(path, { Host: 'evil.example' }), 421, 'misdirected-host');
    expectProblem(await upgrade(path, { Host: undefined }), 421, 'misdirected-host');
    for (const origin of ['http://evil.example', 'null', `https://127.0.0.1:${stream.port}`]) {
      expectProblem(await upgrade(path, { Origin: origin }), 403, 'cross-origin');
    }
    expectProblem(await upgrade(path, { 'Sec-Fetch-Site': 'cross-site' }), 403, 'cross-origin');
    await client('', { headers: { Origin: `http://127.0.0.1:${stream.port}` } });
    await client('', { headers: { Origin: 'https://tool.example', 'Sec-Fetch-Site': 'cross-site' } });
  });

  it('400 and 405 for broken handshakes', async () => {
    stream = await openStream();
    const answer = await upgrade(path, { 'Sec-WebSocket-Version': '99' });
    expectProblem(answer, 400, 'malformed-request');
    expect(answer.headers['sec-websocket-version']).to.equal('13');
    expectProblem(await upgrade(path, { 'Sec-WebSocket-Key': 'short' }), 400, 'malformed-request');
    expectProblem(await upgrade(path, { 'Sec-WebSocket-Key': undefined }), 400, 'malformed-request');
    expectProblem(await upgrade(path, {}, 'POST'), 405, 'method-not-allowed');
  });

  it('503 above the cap of clients and while stopping', async () => {
    let stopping = false;
    stream = await openStream(1, { maxClients: () => 1 }, { stopping: () => stopping });
    const only = await client();
    expectProblem(await upgrade(path), 503, 'too-many-clients');
    only.socket.close();
    await logged(/disconnected/);
    await client();
    stopping = true;
    expectProblem(await upgrade(path), 503, 'stopping');
  });

  it('400 for another protocol, where the server does not pass over the offer', async () => {
    stream = await openStream();
    expectProblem(await upgrade('/anything', { Upgrade: 'h2c' }), 400, 'malformed-request');
  });
});

describe('telemetry stream: connections', () => {
  afterEach(close);

  it('reads and ignores up to 4 KiB, closes with 1009 beyond', async () => {
    stream = await openStream();
    const reader = await client();
    reader.socket.send('x'.repeat(4096));
    reader.socket.send('{"anything":1}');
    stream.plant.tick();
    await reader.received(2);
    reader.socket.send('x'.repeat(4097));
    expect((await reader.closed).code).to.equal(1009);
    expect(await logged(/disconnected with code 1009/)).to.include({ module: 'WS', level: 'info' });
  });

  it('closes only the client that breaks the protocol', async () => {
    stream = await openStream();
    const good = await client();
    const raw = connect(stream.port, '127.0.0.1');
    const lines = Object.entries({ Host: 'localhost', ...handshake })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    raw.write(`GET ${path} HTTP/1.1\r\n${lines}\r\n`);
    await once(raw, 'data');
    raw.resume();
    // an unmasked text frame
    raw.write(Buffer.from([0x81, 0x01, 0x78]));
    await once(raw, 'close');
    await logged(/disconnected with code 1002/);
    stream.plant.tick();
    await good.received(2);
    expect(stream.telemetry.status()).to.include({ peers: 1, errorCount: 1 });
  });

  it('logs a disconnect in module WS at info', async () => {
    stream = await openStream();
    const reader = await client();
    reader.socket.close(1000);
    expect((await reader.closed).code).to.equal(1000);
    expect(await logged(/disconnected with code 1000/)).to.include({ module: 'WS', level: 'info' });
    expect(stream.telemetry.clients).to.equal(0);
  });

  it('logs ten disconnects in a second, and then their number', async () => {
    stream = await openStream();
    const readers = await Promise.all(Array.from({ length: 14 }, () => client()));
    for (const { socket } of readers) socket.close(1000);
    while (stream.telemetry.clients > 0) await new Promise((resolve) => setImmediate(resolve));
    await stream.telemetry.stop();
    const messages = stream.logBook.entries().map(({ message }) => message);
    expect(messages.filter((text) => /disconnected/.test(text))).to.have.lengthOf(10);
    expect(messages.at(-1)).to.equal('4 more lines about clients of the stream were left out');
  });

  it('pings, and closes who does not answer for 60 s', async () => {
    stream = await openStream();
    const alive = await client();
    const silent = await client();
    (silent.socket as unknown as { _autoPong: boolean })._autoPong = false;
    for (const ms of [30_000, 59_000]) {
      stream.clock.ms = ms;
      const pinged = [once(alive.socket, 'ping'), once(silent.socket, 'ping')];
      stream.check();
      await Promise.all(pinged);
      // the pong travels before this message does
      alive.socket.send('pong has passed');
      const before = stream.telemetry.status().rxCount;
      while (stream.telemetry.status().rxCount === before) await new Promise((resolve) => setImmediate(resolve));
    }
    stream.clock.ms = 61_000;
    stream.check();
    expect((await silent.closed).code).to.equal(1006);
    expect(alive.socket.readyState).to.equal(WebSocket.OPEN);
    await logged(/does not answer pings/);
  });

  for (const kind of ['ping', 'pong'] as const)
    it(`more than 100 ${kind}s of a client within a second close it with 1008, and it alone`, async () => {
      stream = await openStream(1, { closeTimeoutMs: 20 });
      const quiet = await client();
      const flooding = await client();
      let pongs = 0;
      flooding.socket.on('pong', () => (pongs += 1));
      const send = async (times: number) => {
        const before = stream.telemetry.status().rxCount;
        for (let i = 0; i < times; i += 1) flooding.socket[kind](`${i}`);
        flooding.socket.send('behind them');
        while (stream.telemetry.status().rxCount === before && flooding.socket.readyState === WebSocket.OPEN)
          await new Promise((resolve) => setImmediate(resolve));
      };
      await send(100);
      stream.clock.ms = 1000;
      await send(100);
      expect(flooding.socket.readyState).to.equal(WebSocket.OPEN);
      for (let i = 0; i < 30_000; i += 1) flooding.socket[kind]();
      await send(0);
      expect(flooding.socket.readyState, 'the flood has passed').not.to.equal(WebSocket.OPEN);
      expect(await flooding.closed).to.deep.equal({ code: 1008, reason: 'too many pings' });
      expect(pongs).to.equal(kind === 'ping' ? 200 : 0);
      expect(quiet.socket.readyState).to.equal(WebSocket.OPEN);
      await logged(/sends too many pings and is closed/);
      await logged(/disconnected with code 1008/);
    });

  it('closes who takes nothing for 60 s', async () => {
    stream = await openStream();
    const stuck = await client();
    stuck.pause();
    stream.plant.padding = 'x'.repeat(8 * 1024 * 1024);
    stream.plant.tick();
    stream.plant.tick();
    stream.clock.ms = 60_000;
    stream.check();
    await logged(/reads nothing/);
    await logged(/disconnected/);
    stuck.resume();
    await stuck.closed;
    expect(stream.telemetry.clients).to.equal(0);
  });

  it('stops with 1001, twice, and leaves nothing behind', async () => {
    stream = await openStream();
    const reader = await client();
    await Promise.all([stream.telemetry.stop(), stream.telemetry.stop()]);
    expect(await reader.closed).to.deep.equal({ code: 1001, reason: 'simulator stops' });
    expect(stream.plant.listeners).to.equal(0);
    expect(stream.server.listenerCount('upgrade')).to.equal(0);
    await stream.telemetry.stop();
  });

  it('cuts off clients that do not answer the close', async () => {
    stream = await openStream(1, { closeTimeoutMs: 10 });
    const stuck = await client();
    stuck.pause();
    await stream.telemetry.stop();
    expect(stream.telemetry.clients).to.equal(0);
    stuck.resume();
    await stuck.closed;
  });

  it('tells its status', async () => {
    stream = await openStream(2);
    stream.clock.ms = 5000;
    const reader = await client('?device=0');
    stream.plant.tick();
    await reader.received(2);
    expect(stream.telemetry.status()).to.deep.equal({
      enabled: true,
      state: 'listening',
      detail: null,
      endpoint: `ws://127.0.0.1:${stream.port}${path}`,
      peers: 1,
      lastActivityMs: 5000,
      rxCount: 0,
      txCount: 2,
      errorCount: 0,
      lastError: null,
      droppedCount: 0,
    });
  });
});
