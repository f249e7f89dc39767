import { expect } from 'chai';
import { Recovery } from '../../../src/core/net/recovery.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** A port whose opening a test decides. */
class Bench {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly changes: (string | null)[] = [];
  /** seconds since the start at which it was tried */
  readonly attempts: number[] = [];
  /** the outcome of the next attempts */
  open: () => Promise<void> = () => Promise.reject(new Error('in use'));
  readonly #startMs = this.wall.monotonicMs();
  readonly recovery = new Recovery({
    clock: this.wall,
    later: this.timers.later,
    onChange: (reason) => {
      this.changes.push(reason);
    },
    attempt: () => {
      this.attempts.push((this.wall.monotonicMs() - this.#startMs) / 1000);
      return this.open();
    },
  });

  async pass(seconds: number): Promise<void> {
    for (let s = 0; s < seconds; s += 1) {
      this.timers.pass(1000);
      await turn();
    }
  }
}

describe('The recovery of a port', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  it('is tried after 1 s, then at intervals that double up to 60 s', async () => {
    bench.recovery.begin('closed');
    await bench.pass(300);
    expect(bench.attempts).to.deep.equal([1, 3, 7, 15, 31, 63, 123, 183, 243]);
  });

  it('shows the latest reason and the time to the next attempt', async () => {
    expect([bench.recovery.reason, bench.recovery.words]).to.deep.equal([null, null]);
    bench.recovery.begin('closed');
    expect(bench.recovery.words).to.equal('closed; tries again in 1 s');
    await bench.pass(1);
    expect([bench.recovery.reason, bench.recovery.words]).to.deep.equal(['in use', 'in use; tries again in 2 s']);
    bench.timers.pass(500);
    expect(bench.recovery.words).to.equal('in use; tries again in 2 s');
    bench.timers.pass(500);
    expect(bench.recovery.words).to.equal('in use; tries again in 1 s');
    await bench.pass(1);
    expect(bench.changes).to.deep.equal(['closed', 'in use']);
  });

  it('ends with an attempt that succeeds, and begins anew with 1 s', async () => {
    bench.recovery.begin('closed');
    await bench.pass(3);
    bench.open = () => Promise.resolve();
    await bench.pass(10);
    expect([bench.attempts, bench.changes]).to.deep.equal([
      [1, 3, 7],
      ['closed', 'in use', null],
    ]);
    bench.recovery.begin('closed again');
    expect(bench.recovery.words).to.equal('closed again; tries again in 1 s');
    await bench.pass(1);
    expect([bench.attempts.at(-1), bench.changes.at(-1), bench.timers.waiting]).to.deep.equal([14, null, 0]);
  });

  it('a failure while it is tried lets the success not count', async () => {
    bench.recovery.begin('closed');
    bench.open = () => {
      bench.recovery.begin('failed meanwhile');
      return Promise.resolve();
    };
    await bench.pass(1);
    expect(bench.recovery.words).to.equal('failed meanwhile; tries again in 2 s');
    bench.open = () => Promise.resolve();
    await bench.pass(2);
    expect(bench.changes).to.deep.equal(['closed', 'failed meanwhile', null]);
  });

  it('a second failure changes the reason and adds no attempts', async () => {
    bench.recovery.begin('closed');
    bench.recovery.begin('closed twice');
    await bench.pass(3);
    expect([bench.attempts, bench.changes]).to.deep.equal([
      [1, 3],
      ['closed', 'closed twice', 'in use'],
    ]);
  });

  it('an end waits for the attempt under way, whose outcome counts no more', async () => {
    for (const settle of ['resolve', 'reject'] as const) {
      bench = new Bench();
      let finish: () => void = () => undefined;
      bench.open = () =>
        new Promise((resolve, reject) => {
          finish = settle === 'resolve' ? resolve : () => reject(new Error('late'));
        });
      bench.recovery.begin('closed');
      await bench.pass(1);
      let ended = false;
      const end = bench.recovery.end().then(() => {
        ended = true;
      });
      await turn();
      expect([ended, bench.recovery.reason]).to.deep.equal([false, null]);
      finish();
      await end;
      await bench.pass(100);
      expect([bench.attempts, bench.changes, bench.timers.waiting]).to.deep.equal([[1], ['closed'], 0]);
    }
  });

  it('an end while it waits leaves no timer, and a later failure begins anew', async () => {
    bench.recovery.begin('closed');
    await bench.pass(1);
    await bench.recovery.end();
    expect([bench.timers.waiting, bench.recovery.words]).to.deep.equal([0, null]);
    bench.recovery.begin('closed');
    expect(bench.recovery.words).to.equal('closed; tries again in 1 s');
  });
});
