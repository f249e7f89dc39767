import { expect } from 'chai';
import fc from 'fast-check';
import { SampleRing } from '../../../src/api/history/ring.ts';
import { select } from '../../../src/api/history/answer.ts';
import type { Selection } from '../../../src/api/history/answer.ts';
import { holds } from '../../support/property.ts';

interface Sample {
  readonly simMs: number;
  readonly tick: number;
}

function ringOf(samples: readonly Sample[], depth: number): SampleRing {
  const ring = new SampleRing(3, 0);
  for (const { simMs, tick } of samples) ring.append(depth, simMs, 0, tick);
  return ring;
}

function ticksOf({ runs, width }: Selection): number[] {
  return runs.flatMap(({ values, from, to }) =>
    Array.from({ length: to - from }, (_, i) => values[(from + i) * width + 2]!),
  );
}

/** The clock runs, and somebody sets it now and then. */
const samplesArb = fc
  .array(fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, fc.integer({ min: -60, max: 60 })), { maxLength: 200 })
  .map((steps) => {
    let simMs = 0;
    return steps.map((step, tick) => {
      simMs += step * 1500;
      return { simMs, tick };
    });
  });
const boundArb = fc.option(fc.integer({ min: -50, max: 250 }).map((n) => n * 1500));

describe('choice of samples', () => {
  it('is the newest of those within the window, in the order of recording', () => {
    holds(
      'the newest of those within the window',
      [samplesArb, fc.integer({ min: 1, max: 250 }), boundArb, boundArb, fc.integer({ min: 1, max: 250 })],
      (samples, depth, sinceMs, untilMs, limit) => {
        const within = ({ simMs }: Sample) => simMs >= (sinceMs ?? -Infinity) && simMs < (untilMs ?? Infinity);
        const kept = samples.slice(Math.max(0, samples.length - depth)).filter(within);
        const selection = select(ringOf(samples, depth).cut(), { sinceMs, untilMs }, limit);
        expect(ticksOf(selection)).to.deep.equal(kept.slice(Math.max(0, kept.length - limit)).map(({ tick }) => tick));
        expect(selection.count).to.equal(Math.min(kept.length, limit));
        if (kept.length > limit) expect(selection.truncated).to.equal(true);
        // nothing that would belong to the answer is missing in silence
        const lost = samples.slice(0, Math.max(0, samples.length - depth)).filter(within);
        if (lost.length > 0) expect(selection.truncated).to.equal(true);
      },
      { runs: 300 },
    );
  });

  it('is not truncated while all that was recorded in the window is there', () => {
    const samples = Array.from({ length: 100 }, (_, tick) => ({ simMs: tick * 1500, tick }));
    const cut = ringOf(samples, 60).cut();
    const choose = (sinceMs: number | null, untilMs: number | null, limit = 1000) =>
      select(cut, { sinceMs, untilMs }, limit);
    expect(choose(40 * 1500, null)).to.include({ count: 60, truncated: false });
    expect(choose(40 * 1500, 41 * 1500)).to.include({ count: 1, truncated: false });
    expect(choose(40 * 1500, null, 60).truncated).to.equal(false);
    expect(choose(40 * 1500, null, 59)).to.include({ count: 59, truncated: true });
    expect(choose(39 * 1500, null)).to.include({ count: 60, truncated: true });
    expect(choose(null, null)).to.include({ count: 60, truncated: true });
    expect(choose(0, 10 * 1500)).to.include({ count: 0, truncated: true });
    expect(choose(200 * 1500, null)).to.include({ count: 0, truncated: false });
  });

  it('reads no row of a run that is wholly inside or outside of the window', () => {
    // rows of these would be read as outside of any window
    const run = (fromMs: number, toMs: number) => ({ values: new Float64Array(0), from: 0, to: 10, fromMs, toMs });
    const cut = { width: 3, runs: [run(0, 999), run(1000, 1999), run(2000, 2999), run(1500, 1800)], gone: null };
    expect(select(cut, { sinceMs: null, untilMs: null }, 100).count).to.equal(40);
    expect(select(cut, { sinceMs: 1000, untilMs: 2000 }, 100).count).to.equal(20);
    expect(select(cut, { sinceMs: 3000, untilMs: null }, 100).count).to.equal(0);
    expect(select(cut, { sinceMs: 1000, untilMs: 2999 }, 100).count, 'only in part: row by row').to.equal(20);
  });

  it('keeps both courses when the clock was set back over them', () => {
    const samples = [0, 1, 2, 3, 1, 2, 3, 4].map((second, tick) => ({ simMs: second * 1000, tick }));
    expect(ticksOf(select(ringOf(samples, 100).cut(), { sinceMs: 2000, untilMs: 4000 }, 100))).to.deep.equal([
      2, 3, 5, 6,
    ]);
  });
});
