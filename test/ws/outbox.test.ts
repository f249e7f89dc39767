import { expect } from 'chai';
import { createOutbox } from '../../src/ws/outbox.ts';
import type { OutboxSocket } from '../../src/ws/outbox.ts';

/** A socket whose kernel takes bytes only when the test says so. */
class FakeSocket implements OutboxSocket {
  bufferedAmount = 0;
  readonly received: string[] = [];
  readonly options: unknown[] = [];
  readonly #waiting: { data: Buffer; done: (error?: Error) => void }[] = [];

  send(data: Buffer, options: { binary: false }, done: (error?: Error) => void): void {
    this.bufferedAmount += data.length;
    this.options.push(options);
    this.#waiting.push({ data, done });
  }

  take(error?: Error): void {
    const next = this.#waiting.shift();
    if (!next) throw new Error('nothing is under way');
    this.bufferedAmount -= next.data.length;
    this.received.push(next.data.toString());
    next.done(error);
  }

  takeAll(): void {
    while (this.#waiting.length > 0) this.take();
  }
}

function fixture(capacity: number, highWaterBytes = 10) {
  const socket = new FakeSocket();
  const clock = { ms: 0 };
  const outbox = createOutbox(socket, { capacity, highWaterBytes, nowMs: () => clock.ms });
  const push = (...texts: string[]) => { for (const text of texts) outbox.push(Buffer.from(text)); };
  return { socket, clock, outbox, push };
}

describe('outbox of a stream client', () => {
  it('hands over at once while the socket takes it, as text frames', () => {
    const { socket, outbox, push } = fixture(4, 1000);
    push('a', 'b', 'c');
    expect(outbox.waiting).to.equal(0);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['a', 'b', 'c']);
    expect(socket.options).to.deep.equal([{ binary: false }, { binary: false }, { binary: false }]);
  });

  it('holds back from the high-water mark on and goes on when the socket has taken something', () => {
    const { socket, outbox, push } = fixture(4);
    push('0123456789', 'b', 'c');
    expect(outbox.waiting).to.equal(2);
    socket.take();
    expect(outbox.waiting).to.equal(0);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['0123456789', 'b', 'c']);
  });

  it('drops the oldest waiting message, never the order', () => {
    const { socket, outbox, push } = fixture(3);
    push('0123456789', '1', '2', '3', '4', '5');
    expect(outbox.waiting).to.equal(3);
    expect(outbox.dropped).to.equal(2);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['0123456789', '3', '4', '5']);
    expect(outbox.sent).to.equal(4);
  });

  it('keeps its bound over many rounds', () => {
    const { socket, outbox, push } = fixture(5);
    for (let i = 0; i < 1000; i += 1) {
      push(`message ${i} is long`);
      expect(outbox.waiting).to.be.at.most(5);
      if (i % 3 === 0) socket.take();
    }
    socket.takeAll();
    const numbers = socket.received.map((text) => Number(text.split(' ')[1]));
    expect(numbers).to.deep.equal([...new Set(numbers)].sort((a, b) => a - b));
    expect(numbers.at(-1)).to.equal(999);
    expect(outbox.sent + outbox.dropped).to.equal(1000);
  });

  it('measures for how long the client takes nothing', () => {
    const { socket, clock, outbox, push } = fixture(2);
    clock.ms = 5000;
    expect(outbox.stalledMs()).to.equal(0);
    push('0123456789', 'b');
    clock.ms = 65_000;
    expect(outbox.stalledMs()).to.equal(60_000);
    socket.take();
    expect(outbox.stalledMs()).to.equal(0);
    socket.takeAll();
    clock.ms = 200_000;
    expect(outbox.stalledMs()).to.equal(0);
  });

  it('hands nothing over after it was closed or the socket failed', () => {
    const { socket, outbox, push } = fixture(4);
    push('0123456789', 'b');
    socket.take(new Error('gone'));
    expect(outbox.waiting).to.equal(1);
    outbox.close();
    push('c');
    expect(outbox.waiting).to.equal(0);
    expect(socket.received).to.deep.equal(['0123456789']);
  });
});
