import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { LogEntry } from '../../src/core/log/log.ts';
import { openStream, StreamClient } from '../support/stream.ts';
import type { StreamFixture } from '../support/stream.ts';

const path = '/api/sim/ws/telemetry';
const handshake =
  'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

let stream: StreamFixture;
const url = (query = '') => `ws://127.0.0.1:${stream.port}${path}${query}`;

/** A client that keeps nothing: it checks that each message is the one that has to follow. */
class Checker {
  readonly socket: WebSocket;
  readonly faults: string[] = [];
  readonly #devices: readonly number[];
  #count = 0;
  #firstTick: number | null = null;
  #waiting: { count: number; done: () => void } | null = null;

  constructor(devices: readonly number[], query = '') {
    this.#devices = devices;
    this.socket = new WebSocket(url(query));
    this.socket.on('message', (data: Buffer) => {
      const { device_index: device, tick } = JSON.parse(data.toString()) as { device_index: number; tick: number };
      this.#firstTick ??= tick;
      const expectedTick = this.#firstTick + Math.floor(this.#count / this.#devices.length);
      const expectedDevice = this.#devices[this.#count % this.#devices.length];
      if (tick !== expectedTick || device !== expectedDevice)
        this.faults.push(`device ${device} tick ${tick} as message ${this.#count}`);
      this.#count += 1;
      if (this.#waiting && this.#count >= this.#waiting.count) this.#waiting.done();
    });
  }

  /** Resolves when all messages up to this tick have come. */
  tick(tick: number): Promise<void> {
    return new Promise((done) => {
      const first = this.#firstTick ?? tick;
      const count = (tick - first + 1) * this.#devices.length;
      if (this.#firstTick !== null && this.#count >= count) done();
      else this.#waiting = { count, done };
    });
  }

  get tcp(): Socket {
    return (this.socket as unknown as { _socket: Socket })._socket;
  }
}

async function logged(pattern: RegExp): Promise<LogEntry> {
  for (;;) {
    const found = stream.logBook.entries().find(({ message }) => pattern.test(message));
    if (found) return found;
    await turn();
  }
}

/** Heap and buffers after a full collection, bytes. */
async function memory(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 2; i += 1) {
    await turn();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Devices tick; the next tick begins when these clients have all of the last. */
async function run(ticks: number, clients: readonly Checker[]): Promise<void> {
  for (let i = 0; i < ticks; i += 1) {
    stream.plant.tick();
    await Promise.all(clients.map((client) => client.tick(stream.plant.latest.tick)));
  }
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('telemetry stream under load', function () {
  // megabytes for a hundred clients: on a machine with other work they take more than a unit test may
  this.timeout(60_000);

  afterEach(() => stream.close());

  it('makes each text once per device and tick, however many clients take it', async () => {
    stream = await openStream(5);
    const clients = range(100).map((i) =>
      i % 2 === 0 ? new Checker(range(5)) : new Checker([i % 5], `?device=${i % 5}`),
    );
    await Promise.all(clients.map((client) => client.tick(0)));
    await run(20, clients);
    expect(clients.flatMap(({ faults }) => faults)).to.deep.equal([]);
    expect(stream.plant.serialized).to.equal(21 * 5);
  });

  it('makes no text that nobody takes', async () => {
    stream = await openStream(5);
    const one = new Checker([3], '?device=3');
    await one.tick(0);
    await run(10, [one]);
    expect(stream.plant.serialized).to.equal(11);
  });

  it('gives a client that comes amid ticks each tick once, from the one that it finds', async () => {
    stream = await openStream(3);
    const clients: Checker[] = [];
    for (let i = 0; i < 60; i += 1) {
      clients.push(new Checker(range(3)));
      stream.plant.tick();
      await turn();
    }
    while (clients.some(({ socket }) => socket.readyState !== WebSocket.OPEN)) await turn();
    stream.plant.tick();
    await Promise.all(clients.map((client) => client.tick(stream.plant.latest.tick)));
    expect(clients.flatMap(({ faults }) => faults)).to.deep.equal([]);
  });

  it('ten of twenty clients that never read cost the others nothing and no memory that grows', async () => {
    stream = await openStream(10);
    stream.plant.padding = 'x'.repeat(5000);
    const accepted: Socket[] = [];
    stream.server.on('connection', (socket) => accepted.push(socket));
    const clients = range(20).map(() => new Checker(range(10)));
    await Promise.all(clients.map((client) => client.tick(0)));
    const readers = clients.slice(10);
    for (const { tcp } of clients.slice(0, 10)) tcp.pause();
    // what the kernel takes
    await run(150, readers);
    const before = await memory();
    await run(100, readers);
    const grown = (await memory()) - before;
    expect(grown / 1e6).to.be.below(8);
    expect(readers.flatMap(({ faults }) => faults)).to.deep.equal([]);
    const unsent = accepted.map(({ writableLength }) => writableLength).filter((length) => length > 0);
    expect(unsent.length).to.equal(10);
    // a piece is handed over while less than 64 KiB waits
    for (const length of unsent) expect(length).to.be.within(64 * 1024, 128 * 1024);
    for (const { socket } of clients) socket.terminate();
  });

  it('a slow client misses the oldest, keeps the order and gets nothing twice', async () => {
    stream = await openStream(1);
    const [slow, fast] = [new StreamClient(url()), new Checker([0])];
    await Promise.all([slow.received(1), fast.tick(0)]);
    // beyond what kernel buffers of the loopback take
    stream.plant.padding = 'x'.repeat(12 * 1024);
    slow.pause();
    const ticks = 1500;
    await run(ticks, [fast]);
    expect(fast.faults).to.deep.equal([]);
    slow.resume();
    await slow.receivedTick(ticks);
    slow.socket.close();
    await slow.closed;
    const { message } = await logged(/disconnected with code 1005: .* [1-9]\d* dropped/);
    const dropped = Number(/(\d+) dropped/.exec(message)?.[1]);
    const seen = slow.messages.map(({ tick }) => tick);
    expect(seen).to.deep.equal([...new Set(seen)].sort((a, b) => a - b));
    expect(seen.length + dropped).to.equal(ticks + 1);
    // the newest 64 of the queue, without a gap
    expect(seen.slice(-64)).to.deep.equal(range(64).map((i) => ticks - 63 + i));
  });

  it('sends nothing after its close frame', async () => {
    stream = await openStream(1);
    const raw = connect(stream.port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const closeAt = () => Buffer.concat(chunks).indexOf(Buffer.from([0x88, 0x02, 0x03, 0xe8]));
    // a masked close frame with 1000 right behind the handshake
    raw.write(
      Buffer.concat([
        Buffer.from(`GET ${path} HTTP/1.1\r\n${handshake}`),
        Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]),
      ]),
    );
    raw.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      stream.plant.tick();
    });
    const ended = once(raw, 'close');
    while (closeAt() < 0) {
      stream.plant.tick();
      await turn();
    }
    for (let i = 0; i < 10; i += 1) stream.plant.tick();
    await ended;
    expect(closeAt()).to.equal(Buffer.concat(chunks).length - 4);
  });

  it('closes with 1011 who asked for a message that cannot be made, and nobody else', async () => {
    stream = await openStream(2);
    const [all, one] = [new StreamClient(url()), new StreamClient(url('?device=0'))];
    await Promise.all([all.received(2), one.received(1)]);
    stream.plant.broken = 1;
    stream.plant.tick();
    expect((await all.closed).code).to.equal(1011);
    await one.received(2);
    expect(await logged(/no text/)).to.include({ module: 'WS', level: 'error' });
  });
});

describe('telemetry stream while devices come and go', () => {
  afterEach(() => stream.close());

  it('gives a new device from the next tick on, to a new client at once', async () => {
    stream = await openStream(2);
    const early = new StreamClient(url());
    await early.received(2);
    stream.plant.add();
    const late = new StreamClient(url('?device=2'));
    await late.received(1);
    stream.plant.tick();
    await Promise.all([early.received(5), late.received(2)]);
    expect(early.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal([
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(late.messages.map(({ device_index, tick }) => [device_index, tick])).to.deep.equal([
      [2, 0],
      [2, 1],
    ]);
  });

  it('closes with 1000 and a reason who takes only a device that goes', async () => {
    stream = await openStream(3);
    const [gone, other, all] = [
      new StreamClient(url('?device=1')),
      new StreamClient(url('?device=2')),
      new StreamClient(url()),
    ];
    await Promise.all([gone.received(1), other.received(1), all.received(3)]);
    stream.plant.remove(1);
    stream.plant.tick();
    expect(await gone.closed).to.deep.equal({ code: 1000, reason: 'device 1 was removed' });
    await Promise.all([other.received(2), all.received(5)]);
    expect(gone.messages.length).to.equal(1);
    expect(all.messages.slice(3).map(({ device_index }) => device_index)).to.deep.equal([0, 2]);
    await logged(/disconnected with code 1000/);
    expect(stream.telemetry.clients).to.equal(2);
  });
});
