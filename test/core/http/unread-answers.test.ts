import { expect } from 'chai';
import { UnreadAnswers } from '../../../src/core/http/connections.ts';
import type { UnreadSocket } from '../../../src/core/http/connections.ts';

const limits = { totalBytes: 1000, minBytesPerS: 10, windowMs: 30_000 };

/** A socket whose client takes bytes by hand. */
class Client implements UnreadSocket {
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort: number;
  bytesWritten = 0;
  writableLength = 0;
  destroyed = false;

  constructor(port: number) {
    this.remotePort = port;
  }

  answer(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
  }

  take(bytes: number): void {
    this.writableLength -= bytes;
  }

  destroy(): never {
    this.destroyed = true;
    return this as never;
  }
}

describe('answers that clients do not read', () => {
  let nowMs = 0;
  let lines: string[] = [];
  let sweeping = 0;
  let answers: UnreadAnswers;
  let clients: [Client, Client, Client];

  beforeEach(() => {
    nowMs = 0;
    lines = [];
    sweeping = 0;
    answers = new UnreadAnswers({
      limits,
      clock: { monotonicMs: () => nowMs },
      log: { info: (line) => lines.push(line) },
      sweeper: {
        add: () => {
          sweeping += 1;
        },
        delete: () => {
          sweeping -= 1;
        },
      },
    });
    clients = [new Client(1), new Client(2), new Client(3)];
  });

  /** An answer of so many bytes for a client. */
  function send(client: Client, bytes: number): void {
    client.answer(bytes);
    answers.watch(client);
  }
  const closed = () => clients.flatMap(({ destroyed, remotePort }) => (destroyed ? [remotePort] : []));

  it('a client that takes too little within a window is closed, also when it takes a byte now and then', () => {
    const [byte, enough, idle] = clients;
    for (const client of [byte, enough]) send(client, 400);
    expect(sweeping).to.equal(1);
    for (let second = 1; second <= 29; second += 1) {
      nowMs = second * 1000;
      byte.take(1);
      enough.take(10);
      answers.sweep();
    }
    expect(closed()).to.deep.equal([]);
    nowMs = 30_000;
    enough.take(10);
    answers.sweep();
    expect(closed()).to.deep.equal([1]);
    expect(answers.closed).to.equal(1);
    expect(lines).to.deep.equal(['127.0.0.1:1 closed: it took 29 bytes of its answer in 30 s']);
    // a window of its own begins
    nowMs = 59_000;
    answers.sweep();
    expect(closed()).to.deep.equal([1]);
    nowMs = 60_000;
    answers.sweep();
    expect(closed()).to.deep.equal([1, 2]);
    expect(idle.destroyed).to.equal(false);
    expect([sweeping, answers.bytes]).to.deep.equal([0, 0]);
  });

  it('a client that has taken all is watched no more, and its next answer has a window of its own', () => {
    const [client] = clients;
    send(client, 100);
    client.take(100);
    nowMs = 500;
    answers.sweep();
    expect(sweeping).to.equal(0);
    nowMs = 100_000;
    send(client, 100);
    answers.sweep();
    expect(closed()).to.deep.equal([]);
  });

  it('beyond the bytes of all, the oldest slow client goes first, then the oldest of all, never the newest', () => {
    const [fast, slow, newest] = clients;
    send(fast, 500);
    nowMs = 1000;
    send(slow, 400);
    nowMs = 3000;
    fast.take(100);
    expect(answers.bytes).to.equal(800);
    send(newest, 500);
    expect(closed(), 'the slow one, though the fast one is older').to.deep.equal([2]);
    expect(lines[0]).to.match(/^127\.0\.0\.1:2 closed: .* MiB of answers that clients have not read$/);
    send(newest, 200);
    expect(closed()).to.deep.equal([1, 2]);
    send(newest, 5000);
    expect(closed(), 'alone').to.deep.equal([1, 2]);
    expect([answers.bytes, answers.closed]).to.deep.equal([5700, 2]);
  });

  it('what a closed connection held does not count', () => {
    const [gone, next] = clients;
    send(gone, 900);
    gone.destroy();
    send(next, 900);
    expect([answers.bytes, answers.closed, closed()]).to.deep.equal([900, 0, [1]]);
  });
});
