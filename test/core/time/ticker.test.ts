import { expect } from 'chai';
import fc from 'fast-check';
import { Ticker } from '../../../src/core/time/timers.ts';
import { holdsAsync } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';

/** setTimeout by hand: one pending call at a time, as the ticker has. */
class FakeTimers {
  readonly wall = new HandWall();
  #pending: { dueMs: number; run: () => void } | null = null;
  readonly #real = { set: globalThis.setTimeout, clear: globalThis.clearTimeout };

  install(): void {
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      this.#pending = { dueMs: this.wall.monotonicMs() + ms, run };
      return this.#pending;
    }) as unknown as typeof setTimeout;
    globalThis.clearTimeout = () => {
      this.#pending = null;
    };
  }

  restore(): void {
    globalThis.setTimeout = this.#real.set;
    globalThis.clearTimeout = this.#real.clear;
  }

  get waitMs(): number | null {
    return this.#pending && this.#pending.dueMs - this.wall.monotonicMs();
  }

  /** Runs the pending call, `lateMs` after it was due, and lets promises settle. */
  async fire(lateMs = 0): Promise<void> {
    const pending = this.#pending;
    if (!pending) throw new Error('no timer is set');
    this.#pending = null;
    this.wall.advance(Math.max(0, pending.dueMs - this.wall.monotonicMs()) + lateMs);
    pending.run();
    await settle();
  }
}

const settle = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

describe('Ticker', () => {
  let timers: FakeTimers;
  let slots: number[];
  let work: () => Promise<void>;
  let ticker: Ticker;

  beforeEach(() => {
    timers = new FakeTimers();
    timers.install();
    slots = [];
    work = () => Promise.resolve();
    ticker = new Ticker({
      intervalMs: 1500,
      wall: timers.wall,
      tick: (n) => {
        slots.push(n);
        return work();
      },
    });
  });

  afterEach(() => {
    timers.restore();
  });

  it('begins with its start, not with its making', async () => {
    timers.wall.advance(60_000);
    ticker.start();
    expect(timers.waitMs).to.equal(1500);
    await timers.fire();
    expect([slots, ticker.skipped]).to.deep.equal([[1], 0]);
  });

  it('aligns its slots to an origin, of the past or of the future', async () => {
    for (const aheadMs of [-4000, 500, 6500]) {
      const originMs = timers.wall.monotonicMs() + aheadMs;
      ticker = new Ticker({ intervalMs: 1500, wall: timers.wall, originMs, tick: () => work() });
      ticker.start();
      expect(timers.waitMs).to.equal(500);
      await timers.fire(7);
      expect(timers.waitMs).to.equal(1493);
      await ticker.stop();
    }
  });

  it('keeps an absolute grid: lateness does not add up', async () => {
    ticker.start();
    const origin = timers.wall.monotonicMs();
    for (let i = 0; i < 1000; i += 1) await timers.fire(7);
    expect(slots.every((n) => n === 1)).to.equal(true);
    expect(timers.wall.monotonicMs() - origin).to.equal(1000 * 1500 + 7);
    expect(timers.waitMs).to.equal(1493);
    expect(ticker.skipped).to.equal(0);
  });

  it('a timer that fires early by a hair still counts one slot', async () => {
    ticker.start();
    timers.wall.advance(0.4);
    await timers.fire(-0.2);
    await timers.fire();
    expect([slots, ticker.skipped]).to.deep.equal([[1, 1], 0]);
  });

  it('a late call takes over the slots it missed, and counts them', async () => {
    ticker.start();
    await timers.fire(1500 * 3 + 100);
    expect([slots, ticker.skipped]).to.deep.equal([[4], 3]);
    expect(timers.waitMs).to.equal(1400);
    await timers.fire();
    expect(slots).to.deep.equal([4, 1]);
  });

  it('never gives more than ten slots at once', async () => {
    ticker.start();
    await timers.fire(1500 * 3600);
    expect([slots, ticker.skipped]).to.deep.equal([[Ticker.maxSlots], 3600]);
    await timers.fire();
    expect(slots).to.deep.equal([10, 1]);
  });

  it('keeps its grid when the wall clock is set', async () => {
    ticker.start();
    await timers.fire();
    for (const byMs of [3_600_000, -3_600_000, -86_400_000]) {
      timers.wall.jump(byMs);
      expect(timers.waitMs).to.equal(1500);
      await timers.fire();
    }
    expect([slots, ticker.skipped]).to.deep.equal([[1, 1, 1, 1], 0]);
  });

  it('accounts for each slot of any course, in ticks of at most ten', async () => {
    await holdsAsync(
      'each slot is ticked or counted',
      [fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { maxLength: 20 })],
      async (delays) => {
        slots = [];
        ticker = new Ticker({
          intervalMs: 1500,
          wall: timers.wall,
          tick: (n) => {
            slots.push(n);
            return Promise.resolve();
          },
        });
        const startMs = timers.wall.monotonicMs();
        ticker.start();
        for (const lateMs of delays) await timers.fire(lateMs);
        const reached = Math.floor((timers.wall.monotonicMs() - startMs) / 1500);
        expect(slots.length + ticker.skipped).to.equal(reached);
        expect(slots.every((n) => n >= 1 && n <= Ticker.maxSlots)).to.equal(true);
        await ticker.stop();
      },
    );
  });

  it('never ticks twice at once: a long tick delays the next', async () => {
    let finish: () => void = () => undefined;
    work = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    ticker.start();
    await timers.fire();
    expect(timers.waitMs).to.equal(null);
    timers.wall.advance(4000);
    finish();
    await settle();
    // due at 3000 already
    expect(timers.waitMs).to.equal(0);
    await timers.fire();
    expect([slots, ticker.skipped]).to.deep.equal([[1, 2], 1]);
  });

  it('stop waits for the tick under way, and none follows', async () => {
    let finish: () => void = () => undefined;
    work = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    ticker.start();
    await timers.fire();
    let stopped = false;
    const stop = ticker.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect(stopped).to.equal(false);
    finish();
    await stop;
    expect(timers.waitMs).to.equal(null);
  });

  it('stop before the first tick, and twice', async () => {
    ticker.start();
    await ticker.stop();
    await ticker.stop();
    expect([timers.waitMs, slots]).to.deep.equal([null, []]);
  });
});
