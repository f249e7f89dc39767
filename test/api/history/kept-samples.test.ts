import { expect } from 'chai';
import fc from 'fast-check';
import { batchOf, BatchReader, KeptSamples } from '../../../src/api/history/kept-samples.ts';
import { firstMetric, SampleRing, tickColumn } from '../../../src/api/history/ring.ts';
import { Series } from '../../../src/api/history/series.ts';
import { holds } from '../../support/property.ts';

const metricsOf = (...names: string[]) => names.map((name) => ({ name }));

function rowsOf(ring: SampleRing): number[][] {
  const { runs, width } = ring.cut();
  return runs.flatMap(({ values, from, to }) =>
    Array.from({ length: to - from }, (_, i) => [...values.subarray((from + i) * width, (from + i + 1) * width)]),
  );
}

const batch = (metrics: readonly string[], rows: readonly number[][], begins = true): Buffer =>
  batchOf(
    new Map([
      [3, { metrics: metricsOf(...metrics), life: 'first life', samples: rows.map((row) => Float64Array.from(row)) }],
    ]),
    () => begins,
  );

describe('samples in batches', () => {
  it('come back as they were, null too', () => {
    holds('a batch read is the batch written', [fc.array(fc.tuple(fc.double(), fc.double()))], (values) => {
      const kept = new KeptSamples(new Series(3, metricsOf('a', 'b')), () => 1000);
      const rows = values.map(([a, b], i) => [1000 * i, 2000 * i, i, a, b]);
      new BatchReader(() => kept).take(batch(['a', 'b'], rows));
      expect(rowsOf(kept.ring)).to.deep.equal(rows);
    });
  });

  it('go by the names of metrics: those of another version have their columns, or null', () => {
    const kept = new KeptSamples(new Series(3, metricsOf('a', 'new', 'b')), () => 1000);
    const reader = new BatchReader(() => kept);
    reader.take(batch(['b', 'old', 'a'], [[0, 0, 7, 1, 2, 3]]));
    reader.take(batch(['b', 'old', 'a'], [[0, 0, 8, 4, 5, 6]], false));
    reader.take(batch(['a', 'new', 'b'], [[0, 0, 9, 7, 8, 9]]));
    expect(rowsOf(kept.ring)).to.deep.equal([
      [0, 0, 7, 3, NaN, 1],
      [0, 0, 8, 6, NaN, 4],
      [0, 0, 9, 7, 8, 9],
    ]);
  });

  it('files of earlier versions, which name the key `device`, are read', () => {
    const kept = new KeptSamples(new Series(3, metricsOf('a')), () => 1000);
    // as many octets
    const text = batch(['aa'], [[0, 0, 7, 1]]).toString('latin1');
    const head = text.replace('"key":3', '"device":3').replace('["aa"]', '["a"]');
    const octets = Buffer.from(head, 'latin1');
    octets.writeUInt32LE(octets.readUInt32LE(0) + 2);
    new BatchReader(() => kept).take(octets);
    expect(rowsOf(kept.ring)).to.deep.equal([[0, 0, 7, 1]]);
  });

  it('samples without columns, and a batch that is cut, are errors', () => {
    const kept = new KeptSamples(new Series(3, metricsOf('a')), () => 1000);
    expect(() => {
      new BatchReader(() => kept).take(batch(['a'], [[0, 0, 7, 1]], false));
    }).to.throw('series 3 has samples without columns');
    expect(() => {
      new BatchReader(() => kept).take(batch(['a'], [[0, 0, 7, 1]]).subarray(0, -1));
    }).to.throw('a batch has fewer samples than it says');
    expect(kept.ring.count).to.equal(0);
  });

  it('ticks that are run again replace the samples from there on', () => {
    const stretch = fc.record({ back: fc.nat(60), count: fc.nat(80) });
    holds(
      'an array that is cut at its end',
      [fc.array(stretch), fc.integer({ min: 1, max: 200 })],
      (stretches, depth) => {
        const ring = new SampleRing(firstMetric + 1, 5);
        let model: number[][] = [];
        let tick = 100;
        for (const { back, count } of stretches) {
          tick = Math.max(0, tick - back);
          ring.dropFrom(tick);
          model = model.filter((row) => row[tickColumn]! < tick);
          for (let i = 0; i < count; i += 1, tick += 1) {
            const row = [tick, tick, tick, Math.sqrt(tick + back)];
            const { values, at } = ring.append(depth, tick, tick, tick);
            values[at] = row[firstMetric]!;
            model = [...model, row].slice(-depth);
          }
          expect(ring.count).to.equal(model.length);
          expect(ring.newestTick).to.equal(model.at(-1)?.[tickColumn] ?? -Infinity);
        }
        expect(rowsOf(ring)).to.deep.equal(model);
      },
    );
  });
});
