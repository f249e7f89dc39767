import { expect } from 'chai';
import fc from 'fast-check';
import { columnsJson, samplesCsv, samplesJson, select } from '../../../src/api/history/answer.ts';
import type { Metric } from '../../../src/api/history/metrics.ts';
import { firstMetric, SampleRing } from '../../../src/api/history/ring.ts';
import type { Selection } from '../../../src/api/history/answer.ts';
import { holds } from '../../support/property.ts';

const words = ['off', 'sleeping', 'on'];
const metrics: readonly Metric[] = [{ name: 'power_kw' }, { name: 'state', words }, { name: 'soc_pct' }];
const [power, state, soc] = metrics as readonly [Metric, Metric, Metric];

interface Sample {
  simMs: number;
  wallMs: number;
  tick: number;
  power: number;
  state: number;
  soc: number | null;
}

function selectionOf(samples: readonly Sample[]): Selection {
  const ring = new SampleRing(firstMetric + 3, 5);
  for (const sample of samples) {
    const { values, at } = ring.append(10_000, sample.simMs, sample.wallMs, sample.tick);
    values.set([sample.power, sample.state, sample.soc ?? NaN], at);
  }
  return select(ring.cut(), { sinceMs: null, untilMs: null }, 10_000);
}

const iso = (ms: number) => new Date(ms).toISOString();

function asObject({ simMs, wallMs, tick, ...sample }: Sample, chosen: readonly Metric[]): Record<string, unknown> {
  const values: Record<string, unknown> = { power_kw: sample.power, state: words[sample.state], soc_pct: sample.soc };
  return {
    timestamp: iso(simMs),
    wall_time: iso(wallMs),
    tick,
    ...Object.fromEntries(chosen.map(({ name }) => [name, values[name]])),
  };
}

const textOf = (pieces: Iterable<string>) => [...pieces].join('');

// all that `Date` can show, before 1970 and beyond 9999 as well
const instant = fc.oneof(
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
  fc.integer({ min: 1.7e12, max: 1.7e12 + 200_000 }),
);
const finite = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -99_999, max: 99_999 }).map((n) => n / 1000),
);
const samplesArb = fc.array(
  fc.record({
    simMs: instant,
    wallMs: instant,
    tick: fc.nat(),
    power: finite,
    state: fc.nat(2),
    soc: fc.option(finite),
  }),
  { maxLength: 300 },
);
const chosenArb = fc.shuffledSubarray([...metrics]);

describe('samples as text', () => {
  it('json is what JSON.stringify would give', () => {
    holds(
      'rows as JSON.stringify writes them',
      [samplesArb, chosenArb],
      (samples, chosen) => {
        const head = { device_index: 3, count: samples.length };
        const expected = JSON.stringify({ ...head, samples: samples.map((sample) => asObject(sample, chosen)) });
        expect(textOf(samplesJson(head, selectionOf(samples), metrics, chosen))).to.equal(expected);
      },
      { runs: 60 },
    );
  });

  it('columns hold the same', () => {
    holds(
      'columns hold the same as rows',
      [samplesArb, chosenArb],
      (samples, chosen) => {
        const head = { device_index: 3 };
        const objects = samples.map((sample) => asObject(sample, chosen));
        const names = ['timestamp', 'wall_time', 'tick', ...chosen.map(({ name }) => name)];
        const columns = Object.fromEntries(names.map((name) => [name, objects.map((object) => object[name])]));
        expect(textOf(columnsJson(head, selectionOf(samples), metrics, chosen))).to.equal(
          JSON.stringify({ ...head, columns }),
        );
      },
      { runs: 60 },
    );
  });

  it('csv has a line of names, an empty field for null, and CRLF behind every line (RFC 4180)', () => {
    const samples = [
      { simMs: 0, wallMs: 1500, tick: 1, power: -0.5, state: 1, soc: null },
      { simMs: 61_001, wallMs: 3000, tick: 2, power: 1e-7, state: 2, soc: 50.5 },
    ];
    expect(textOf(samplesCsv(selectionOf(samples), metrics, [soc, state, power]))).to.equal(
      [
        'timestamp,wall_time,tick,soc_pct,state,power_kw',
        '1970-01-01T00:00:00.000Z,1970-01-01T00:00:01.500Z,1,,sleeping,-0.5',
        '1970-01-01T00:01:01.001Z,1970-01-01T00:00:03.000Z,2,50.5,on,1e-7',
        '',
      ].join('\r\n'),
    );
  });

  it('has brackets and names without samples', () => {
    const none = selectionOf([]);
    expect(JSON.parse(textOf(samplesJson({ count: 0 }, none, metrics, metrics)))).to.deep.equal({
      count: 0,
      samples: [],
    });
    expect(JSON.parse(textOf(columnsJson({ count: 0 }, none, metrics, [power])))).to.deep.equal({
      count: 0,
      columns: { timestamp: [], wall_time: [], tick: [], power_kw: [] },
    });
    expect(textOf(samplesCsv(none, metrics, []))).to.equal('timestamp,wall_time,tick\r\n');
  });

  it('comes in pieces of bounded length, and shows the samples as they were when it began', () => {
    const ring = new SampleRing(firstMetric + 3, 5);
    const add = (tick: number) => {
      const { values, at } = ring.append(10_000, tick * 1000, 0, tick);
      values.fill(tick, at, at + 3);
    };
    for (let tick = 0; tick < 15_000; tick += 1) add(tick);
    let text = '';
    let tick = 15_000;
    for (const piece of columnsJson(
      { count: 10_000 },
      select(ring.cut(), { sinceMs: null, untilMs: null }, 10_000),
      metrics,
      [power],
    )) {
      expect(piece.length).to.be.below(128 * 1024);
      text += piece;
      for (const end = tick + 3000; tick < end; tick += 1) add(tick);
    }
    const { columns } = JSON.parse(text) as { columns: Record<string, number[]> };
    expect(columns['tick']).to.deep.equal(Array.from({ length: 10_000 }, (_, i) => 5000 + i));
    expect(columns['power_kw']).to.deep.equal(columns['tick']);
  });
});
