import { expect } from 'chai';
import { EventLoopWatch } from '../../src/core/event-loop.ts';
import type { DelayHistogram } from '../../src/core/event-loop.ts';
import { createLogBook } from '../../src/core/log/log.ts';

/** The monitor samples every 20 ms, and that is part of what it records. */
const resolutionMs = 20;

/** Samples by hand, ranked as Node's histogram does. */
class HandHistogram implements DelayHistogram {
  enabled = false;
  #samples: number[] = [];

  get count(): number {
    return this.#samples.length;
  }

  get max(): number {
    return Math.max(...this.#samples);
  }

  percentile(percentile: number): number {
    const rank = Math.min(this.count, Math.max(1, Math.floor((percentile / 100) * this.count + 0.5)));
    return this.#samples.sort((a, b) => a - b)[rank - 1] ?? 511;
  }

  late(ms: number, times = 1): void {
    for (let i = 0; i < times; i += 1) this.#samples.push((ms + resolutionMs) * 1e6);
  }

  reset(): void {
    this.#samples = [];
  }

  enable(): boolean {
    return !this.enabled && (this.enabled = true);
  }

  disable(): boolean {
    return this.enabled && !(this.enabled = false);
  }
}

function make() {
  const histogram = new HandHistogram();
  const book = createLogBook({ write: () => undefined });
  const running = new Set<() => void>();
  const watch = new EventLoopWatch({
    log: book.logger('Lab'),
    histogram,
    every(_ms, run) {
      running.add(run);
      return () => {
        running.delete(run);
      };
    },
  });
  const lines = () => book.entries().map(({ level, message }) => `${level} ${message}`);
  return {
    histogram,
    watch,
    running,
    lines,
    checks: (times = 1) => {
      for (let i = 0; i < times; i += 1) for (const run of running) run();
    },
  };
}

describe('EventLoopWatch', () => {
  it('shows the lateness of the last full period, and of the first one while it runs', () => {
    const { histogram, watch, checks } = make();
    watch.start();
    expect([watch.p50Ms, watch.p99Ms]).to.deep.equal([0, 0]);
    histogram.late(1.5, 98);
    histogram.late(30, 2);
    expect([watch.p50Ms, watch.p99Ms]).to.deep.equal([1.5, 30]);
    checks(10);
    histogram.late(50, 100);
    checks(9);
    expect([watch.p50Ms, watch.p99Ms]).to.deep.equal([1.5, 30]);
    checks();
    expect([watch.p50Ms, watch.p99Ms]).to.deep.equal([50, 50]);
  });

  it('warns of a period whose 99th percentile is above 100 ms, and counts it', () => {
    const { histogram, watch, checks, lines } = make();
    watch.start();
    histogram.late(2, 98);
    histogram.late(101, 2);
    checks(10);
    expect(watch.slowPeriods).to.equal(1);
    expect(lines()).to.have.lengthOf(1);
    expect(lines()[0]).to.match(/^warning .*101 ms late/);
  });

  it('says nothing of one late sample of many, nor of 100 ms', () => {
    const { histogram, watch, checks, lines } = make();
    watch.start();
    histogram.late(2, 499);
    histogram.late(900);
    checks(10);
    histogram.late(100, 100);
    checks(10);
    expect([watch.slowPeriods, watch.stalls, lines()]).to.deep.equal([0, 0, []]);
  });

  it('warns once a minute while it stays slow, and at once when it comes back', () => {
    const { histogram, watch, checks, lines } = make();
    watch.start();
    const period = (ms: number) => {
      histogram.late(ms, 100);
      checks(10);
    };
    for (let i = 0; i < 7; i += 1) period(200);
    expect([watch.slowPeriods, lines().length]).to.deep.equal([7, 2]);
    period(1);
    period(200);
    expect([watch.slowPeriods, lines().length]).to.deep.equal([8, 3]);
  });

  it('reports every stall above 1 s once, at the next check', () => {
    const { histogram, watch, checks, lines } = make();
    watch.start();
    histogram.late(2, 40);
    histogram.late(1600);
    checks();
    expect([watch.stalls, lines().length]).to.deep.equal([1, 1]);
    expect(lines()[0]).to.match(/^error .*1\.6 s/);
    checks(3);
    histogram.late(1100);
    checks();
    expect([watch.stalls, lines().length]).to.deep.equal([2, 2]);
    histogram.late(1300, 2);
    histogram.late(1000);
    checks();
    expect(watch.stalls).to.equal(4);
    checks(10);
    histogram.late(1200);
    checks();
    expect(watch.stalls).to.equal(5);
  });

  it('has stalled for the rest of a period in which a sample was more than 250 ms late, and in the next one', () => {
    const { histogram, watch, checks } = make();
    watch.start();
    expect(watch.hasStalled).to.equal(false);
    histogram.late(250);
    expect(watch.hasStalled).to.equal(false);
    histogram.late(251);
    expect(watch.hasStalled).to.equal(true);
    checks(10);
    expect(watch.hasStalled).to.equal(true);
    histogram.late(0);
    checks(9);
    expect(watch.hasStalled).to.equal(true);
    checks();
    expect(watch.hasStalled).to.equal(false);
    watch.stop();
  });

  it('starts once and ends, timer and measurement', () => {
    const { histogram, watch, running } = make();
    watch.stop();
    watch.start();
    watch.start();
    expect([running.size, histogram.enabled]).to.deep.equal([1, true]);
    watch.stop();
    watch.stop();
    expect([running.size, histogram.enabled]).to.deep.equal([0, false]);
  });

  it('sees a loop that really stood still', async () => {
    const before = process.getActiveResourcesInfo().length;
    const begunMs = performance.now();
    const watch = new EventLoopWatch({ log: createLogBook({ write: () => undefined }).logger('Lab') });
    watch.start();
    expect(process.getActiveResourcesInfo()).to.have.lengthOf(before);
    const turn = () =>
      new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    // the monitor needs a first sample to measure from
    while (watch.p50Ms === 0) await turn();
    const blockedUntil = performance.now() + 120;
    while (performance.now() < blockedUntil);
    while (watch.p99Ms < 50) await turn();
    watch.stop();
    expect(watch.p99Ms).to.be.within(50, performance.now() - begunMs);
  });
});
