import { expect } from 'chai';
import fc from 'fast-check';
import { SampleRing, firstMetric } from '../../../src/api/history/ring.ts';
import type { Cut } from '../../../src/api/history/ring.ts';
import { spread } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { holds } from '../../support/property.ts';

const width = firstMetric + 2;

function add(ring: SampleRing, depth: number, [simMs, wallMs, tick, first, second]: readonly number[]): void {
  const { values, at } = ring.append(depth, simMs!, wallMs!, tick!);
  values[at] = first!;
  values[at + 1] = second!;
}

function rowsOf({ runs }: Cut): number[][] {
  return runs.flatMap(({ values, from, to }) =>
    Array.from({ length: to - from }, (_, i) => [...values.subarray((from + i) * width, (from + i + 1) * width)]),
  );
}

/** What a ring must hold: a plain array, cut at its front. */
class Model {
  rows: (readonly number[])[] = [];
  gone: number[] = [];

  add(depth: number, row: readonly number[]): void {
    this.rows.push(row);
    const surplus = Math.max(0, this.rows.length - depth);
    this.gone.push(...this.rows.splice(0, surplus).map(([simMs]) => simMs!));
  }

  get span() {
    return this.gone.length === 0 ? null : { fromMs: Math.min(...this.gone), toMs: Math.max(...this.gone) };
  }
}

function expectSame(cut: Cut, model: Model): void {
  expect(rowsOf(cut)).to.deep.equal(model.rows);
  expect(cut.gone).to.deep.equal(model.span);
}

/** So many samples at a depth, with times that may jump; then a cut, or none. */
const stretch = fc.record({
  depth: fc.integer({ min: 1, max: 300 }),
  times: fc.array(fc.integer({ min: -1000, max: 1000 }), { maxLength: 400 }),
  cut: fc.boolean(),
});

describe('ring of samples', () => {
  it('is an array whose front goes, through growth, wrap-around and changes of depth; what was cut stays', () => {
    holds(
      'an array whose front goes',
      [fc.nat(1000), fc.array(stretch, { maxLength: 8 })],
      (stagger, stretches) => {
        const ring = new SampleRing(width, stagger);
        const model = new Model();
        const cuts: { cut: Cut; rows: number[][] }[] = [];
        let tick = 0;
        for (const { depth, times, cut } of stretches) {
          for (const simMs of times) {
            const row = [simMs, 10 * tick, tick, tick / 3, tick % 7 === 0 ? NaN : -tick];
            add(ring, depth, row);
            model.add(depth, row);
            tick += 1;
            expect(ring.count).to.equal(model.rows.length);
          }
          if (!cut) continue;
          const taken = ring.cut();
          expectSame(taken, model);
          cuts.push({ cut: taken, rows: rowsOf(taken) });
        }
        expectSame(ring.cut(), model);
        for (const { cut, rows } of cuts) expect(rowsOf(cut)).to.deep.equal(rows);
      },
      { runs: 200 },
    );
  });

  it('takes memory as it grows, and no more once it is full', () => {
    const ring = new SampleRing(width, 0);
    const held = () => new Set(ring.cut().runs.map(({ values }) => values.buffer));
    const bytes = () => [...held()].reduce((sum, buffer) => sum + buffer.byteLength, 0);
    const fill = (samples: number) => {
      for (let i = 0; i < samples; i += 1) add(ring, 10_000, [i, i, i, i, i]);
    };
    fill(10);
    expect(bytes()).to.be.lessThan((10_000 * width * 8) / 10);
    fill(30_000);
    const full = 10_000 * width * 8;
    expect(bytes()).to.be.within(full, full * 1.11);
  });

  it('goes on with the blocks that it gives away', () => {
    const ring = new SampleRing(width, 0);
    const blocks = new Set<Float64Array>();
    for (let i = 0; i < 5000; i += 1) blocks.add(ring.append(100, i, i, i).values);
    expect(blocks.size).to.be.at.most(Math.ceil(100 / 8) + 2);
  });

  it('leaves the blocks of an answer to it', () => {
    const ring = new SampleRing(width, 0);
    for (let i = 0; i < 200; i += 1) add(ring, 100, [i, i, i, i, i]);
    const cut = ring.cut();
    const full = new Set(cut.runs.slice(0, -1).map(({ values }) => values));
    for (let i = 0; i < 500; i += 1) expect(full.has(ring.append(100, i, i, i).values)).to.equal(false);
  });

  it('lets devices take new blocks in different ticks, whatever the size of a block', () => {
    const firstBlock = (depth: number, stagger: number) => {
      const ring = new SampleRing(width, stagger);
      const { values } = ring.append(depth, 0, 0, 0);
      return values.length / width;
    };
    const [minRows, maxRows] = [8, 512];
    const all = Array.from({ length: maxRows - minRows + 1 }, (_, i) => minRows + i);
    for (const rows of pick({ quick: spread(all, 40), ci: all })) {
      const sizes = Array.from({ length: rows }, (_, index) => firstBlock(rows * 16, index));
      expect(new Set(sizes).size, `${rows} rows`).to.equal(rows);
    }
  });

  it('says of each run between which times it lies', () => {
    holds(
      'each run lies between its times',
      [
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 400 }),
      ],
      (depth, times) => {
        const ring = new SampleRing(width, 3);
        times.forEach((simMs, tick) => {
          add(ring, depth, [simMs, 0, tick, 0, 0]);
        });
        const { runs } = ring.cut();
        for (const { values, from, to, fromMs, toMs } of runs) {
          for (let row = from; row < to; row += 1) expect(values[row * width]).to.be.within(fromMs, toMs);
        }
        // only of the first block rows may be gone
        for (const { values, to, fromMs, toMs } of runs.slice(1)) {
          const all = Array.from({ length: to }, (_, row) => values[row * width]!);
          expect([fromMs, toMs]).to.deep.equal([Math.min(...all), Math.max(...all)]);
        }
      },
      { runs: 50 },
    );
  });
});
