import { expect } from 'chai';
import fc from 'fast-check';
import { Outbox } from '../../src/ws/outbox.ts';
import type { OutboxBounds, OutboxSocket } from '../../src/ws/outbox.ts';
import { holds } from '../support/property.ts';

/** A socket whose kernel takes bytes only when the test says so. */
class FakeSocket implements OutboxSocket {
  writableLength = 0;
  /** how often the kernel was given something */
  handed = 0;
  readonly received: string[] = [];
  readonly #waiting: Buffer[] = [];
  readonly #drained: (() => void)[] = [];
  #corks = 0;

  write(data: Buffer): boolean {
    this.writableLength += data.length;
    this.#waiting.push(data);
    if (this.#corks === 0) this.handed += 1;
    return false;
  }

  cork(): void {
    this.#corks += 1;
  }

  uncork(): void {
    this.#corks -= 1;
    this.handed += 1;
  }

  on(_event: 'drain', listener: () => void): void {
    this.#drained.push(listener);
  }

  take(): void {
    const next = this.#waiting.shift();
    if (!next) throw new Error('nothing is under way');
    this.writableLength -= next.length;
    this.received.push(
      ...next
        .toString()
        .split(';')
        .filter((text) => text !== ''),
    );
    if (this.writableLength === 0) for (const drained of this.#drained) drained();
  }

  takeAll(): void {
    while (this.#waiting.length > 0) this.take();
  }
}

function fixture(given: Partial<OutboxBounds> = {}, highWaterBytes = 10) {
  const socket = new FakeSocket();
  const clock = { ms: 0 };
  const channel = { readyState: 1 };
  const tally = { sent: 0, dropped: 0 };
  const bounds = { messages: 4, bytes: 1_000_000, minMessages: 1, ...given };
  const outbox = new Outbox({ socket, channel, bounds, tally, highWaterBytes, nowMs: () => clock.ms });
  const push = (...texts: string[]) => {
    for (const text of texts) outbox.push(Buffer.from(`${text};`));
  };
  const pushAll = (...groups: string[][]) => {
    outbox.pushAll(
      groups.map((texts) => {
        const frames = texts.map((text) => Buffer.from(`${text};`));
        return { frames, joined: Buffer.concat(frames) };
      }),
    );
  };
  return { socket, clock, channel, tally, bounds, outbox, push, pushAll };
}

describe('outbox of a stream client', () => {
  it('hands over at once while the socket takes it', () => {
    const { socket, outbox, push } = fixture({}, 1000);
    push('a', 'b', 'c');
    expect(outbox.waiting).to.equal(0);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['a', 'b', 'c']);
  });

  it('hands over a tick of many devices in one write', () => {
    const { socket, outbox, pushAll } = fixture({}, 1000);
    pushAll(['a', 'b', 'c']);
    expect([socket.handed, outbox.sent]).to.deep.equal([1, 3]);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['a', 'b', 'c']);
  });

  it('holds back from the high-water mark on and goes on when the socket has taken all', () => {
    const { socket, outbox, push } = fixture();
    push('0123456789', 'b', 'c');
    expect(outbox.waiting).to.equal(2);
    socket.take();
    expect(outbox.waiting).to.equal(0);
    expect(socket.handed).to.equal(2);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['0123456789', 'b', 'c']);
  });

  it('keeps what does not fit of a tick message by message', () => {
    const { socket, outbox, pushAll } = fixture({ messages: 3 });
    pushAll(['0123456789'], ['b', 'c'], ['d', 'e']);
    expect([outbox.waiting, outbox.dropped]).to.deep.equal([3, 1]);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['0123456789', 'c', 'd', 'e']);
  });

  it('drops the oldest waiting message, never the order', () => {
    const { socket, outbox, tally, push } = fixture({ messages: 3 });
    push('0123456789', '1', '2', '3', '4', '5');
    expect([outbox.waiting, outbox.dropped]).to.deep.equal([3, 2]);
    socket.takeAll();
    expect(socket.received).to.deep.equal(['0123456789', '3', '4', '5']);
    expect(outbox.sent).to.equal(4);
    expect(tally).to.deep.equal({ sent: 4, dropped: 2 });
  });

  it('has a bound in bytes, and keeps the newest message of each device beyond it', () => {
    const { outbox, push } = fixture({ messages: 100, bytes: 30, minMessages: 2 });
    push('0123456789', 'nine bytes', 'nine bytes', 'nine bytes');
    expect([outbox.waiting, outbox.dropped]).to.deep.equal([2, 1]);
    push('so long that it alone is more than the bound', 'and so is this one, which follows it');
    expect([outbox.waiting, outbox.dropped]).to.deep.equal([2, 3]);
  });

  it('follows bounds that change', () => {
    const { outbox, bounds, push } = fixture({ messages: 2 });
    push('0123456789', '1', '2', '3');
    bounds.messages = 4;
    push('4', '5', '6');
    expect([outbox.waiting, outbox.dropped]).to.deep.equal([4, 2]);
    bounds.messages = 1;
    push('7');
    expect([outbox.waiting, outbox.dropped]).to.deep.equal([1, 6]);
  });

  it('loses only what it counts and keeps the order, whatever comes when', () => {
    const step = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 40 }) }),
      fc.record({
        tick: fc.array(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
      }),
      fc.constant({ take: true }),
    );
    holds(
      'loses only what it counts',
      [fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 9 })],
      (steps, messages) => {
        const { socket, outbox, push, pushAll } = fixture({ messages, bytes: 120, minMessages: 3 }, 64);
        let made = 0;
        const text = (length: number) => `${String(made++)} ${'x'.repeat(length)}`;
        for (const one of steps) {
          if ('push' in one) push(text(one.push));
          else if ('tick' in one) pushAll(...one.tick.map((lengths) => lengths.map(text)));
          else if (socket.writableLength > 0) socket.take();
          expect(outbox.waiting).to.be.at.most(messages);
          expect(outbox.sent + outbox.dropped + outbox.waiting).to.equal(made);
        }
        socket.takeAll();
        const numbers = socket.received.map((received) => Number(received.split(' ')[0]));
        expect(numbers).to.deep.equal([...new Set(numbers)].sort((a, b) => a - b));
        expect(outbox.sent + outbox.dropped).to.equal(made);
        expect(numbers.length).to.equal(outbox.sent);
        if (made > 0) expect(numbers.at(-1)).to.equal(made - 1);
      },
      { runs: 300 },
    );
  });

  it('measures for how long the client takes nothing', () => {
    const { socket, clock, outbox, push } = fixture({ messages: 2 });
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

  it('counts from the first message that stays, also after a long silence', () => {
    const { socket, clock, outbox, push } = fixture();
    push('0123456789', 'b');
    socket.takeAll();
    clock.ms = 600_000;
    push('0123456789');
    expect(outbox.stalledMs()).to.equal(0);
    clock.ms = 630_000;
    expect(outbox.stalledMs()).to.equal(30_000);
  });

  it('sees that a client takes a part of what is under way', () => {
    const { socket, clock, outbox, push } = fixture({}, 1000);
    push('first', 'second', 'third');
    clock.ms = 50_000;
    socket.take();
    expect(outbox.stalledMs()).to.equal(0);
    // a ping waits behind the messages
    socket.writableLength += 2;
    clock.ms = 70_000;
    expect(outbox.stalledMs()).to.equal(20_000);
  });

  it('hands nothing over after a close frame', () => {
    const { socket, channel, outbox, push, pushAll } = fixture();
    push('0123456789', 'b');
    channel.readyState = 2;
    socket.takeAll();
    push('c');
    pushAll(['d']);
    expect(outbox.waiting).to.equal(1);
    expect(socket.received).to.deep.equal(['0123456789']);
  });

  it('forgets what waits when it is closed', () => {
    const { socket, outbox, push, pushAll } = fixture();
    push('0123456789', 'b');
    outbox.close();
    push('c');
    pushAll(['d']);
    socket.takeAll();
    expect(outbox.waiting).to.equal(0);
    expect(socket.received).to.deep.equal(['0123456789']);
  });
});
