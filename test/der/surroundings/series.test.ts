import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../src/core/errors.ts';
import { parseSeries } from '../../../src/der/surroundings/series.ts';
import type { Series, SeriesFormat } from '../../../src/der/surroundings/series.ts';
import { holds } from '../../support/property.ts';

const format: SeriesFormat = {
  name: 'weather.csv',
  columns: [
    { name: 'irradiance_w_m2', required: true, min: 0, max: 1500 },
    { name: 'wind_speed_m_s', required: false, min: 0, max: 60 },
  ],
};

function fault(text: string): SimError {
  try {
    parseSeries(text, format);
  } catch (error) {
    expect(error).to.be.instanceOf(SimError).with.property('code', 'CONFIG_INVALID');
    return error as SimError;
  }
  throw new Error('the text was accepted');
}

function details(text: string): string[] {
  return fault(text).issues.map((found) => found.detail);
}

function table(rows: readonly (readonly [number, number])[], changes: Partial<SeriesFormat> = {}): Series {
  const lines = rows.map(([time, value]) => `${time},${value}`);
  return parseSeries(['time_s,irradiance_w_m2', ...lines].join('\n'), { ...format, ...changes });
}

const header = 'time_s,irradiance_w_m2';

describe('time series: reading', () => {
  it('takes comments, blank lines, spaces, Windows line ends and a byte order mark', () => {
    const series = parseSeries(
      '\uFEFF# a comment, with a comma\r\ntime_s, wind_speed_m_s ,irradiance_w_m2\r\n\r\n0,1,2\r\n# note\r\n10, 3 ,4e2\r\n',
      format,
    );
    expect([series.rows, series.startS, series.endS]).to.deep.equal([2, 0, 10]);
    expect([series.at('wind_speed_m_s', 0), series.at('irradiance_w_m2', 10)]).to.deep.equal([1, 400]);
  });

  it('knows which optional columns are there', () => {
    const series = table([[0, 1]]);
    expect(series.has('wind_speed_m_s')).to.equal(false);
    expect(series.has('irradiance_w_m2')).to.equal(true);
    expect(() => series.at('wind_speed_m_s', 0))
      .to.throw(SimError)
      .with.property('code', 'INTERNAL');
  });

  it('names the line of every fault, comments counted', () => {
    const error = fault(`# one\n${header}\n0,5\n10,abc\n\n5,2000\n10,1,1\n20\n30,\n40,0x10\n`);
    expect(error.message).to.equal(
      'The time series weather.csv cannot be used: ' + 'line 4: irradiance_w_m2 is "abc", not a number (and 6 more)',
    );
    expect(error.issues.map((found) => found.detail)).to.deep.equal([
      'line 4: irradiance_w_m2 is "abc", not a number',
      'line 6: time_s is 5 after 10, it must rise',
      'line 6: irradiance_w_m2 is 2000, outside 0 to 1500',
      'line 7: 3 values for 2 columns',
      'line 8: 1 values for 2 columns',
      'line 9: irradiance_w_m2 is "", not a number',
      'line 10: irradiance_w_m2 is "0x10", not a number',
    ]);
  });

  it('stops after twenty faults', () => {
    const rows = Array.from({ length: 50 }, (_, n) => `${n},x`);
    expect(details([header, ...rows].join('\n'))).to.have.length(20);
  });

  it('refuses a time that does not rise or is not finite', () => {
    expect(details(`${header}\n0,1\n0,1`)).to.deep.equal(['line 3: time_s is 0 after 0, it must rise']);
    expect(details(`${header}\n1e999,1`)).to.deep.equal(['line 2: time_s is "1e999", not a number']);
    expect(details(`${header}\nNaN,Infinity`)).to.have.length(2);
  });

  it('refuses headers that it cannot use, and then reads no rows', () => {
    expect(details('0,5\n10,6')[0]).to.equal('line 1: the first column is "0", not time_s');
    expect(details('time_s;irradiance_w_m2\n0;1')).to.include('line 1: column irradiance_w_m2 is missing');
    expect(details(`${header},gust\n0,x,x`)).to.deep.equal(['line 1: there is no column "gust"']);
    expect(details(`${header},irradiance_w_m2\n0,x,x`)).to.deep.equal(['line 1: column irradiance_w_m2 occurs twice']);
    expect(fault(`${header},gust\n0,1,1`).issues[0]?.allowed).to.deep.equal([
      'time_s',
      'irradiance_w_m2',
      'wind_speed_m_s',
    ]);
  });

  it('refuses files without header or rows', () => {
    expect(details('')).to.deep.equal(['line 1: there is no header row']);
    expect(details('# only\n# comments\n')).to.deep.equal(['line 2: there is no header row']);
    expect(details(`${header}\n`)).to.deep.equal(['line 1: there is no row of values']);
  });

  it('reads 100,000 rows and no more', () => {
    const rows = Array.from({ length: 100_000 }, (_, n) => `${n},${n % 1000}`);
    const text = [header, ...rows].join('\n');
    expect(parseSeries(text, format).rows).to.equal(100_000);
    expect(details(`${text}\n100000,1`)).to.deep.equal(['line 100002: more than 100000 rows']);
  });

  it('cuts long texts of the user in messages', () => {
    expect(fault(`${'x'.repeat(10_000)}\n`).message.length).to.be.below(200);
    expect(fault(`${header}\n0,${'9x'.repeat(10_000)}\n`).message.length).to.be.below(200);
  });

  it('answers any text with a series or CONFIG_INVALID', () => {
    const word = fc.constantFrom(
      'time_s',
      'irradiance_w_m2',
      '1',
      '2',
      '-1',
      ',',
      '\n',
      '\r\n',
      '#',
      ' ',
      '1e5',
      '.',
      '"',
    );
    holds(
      'any text of a series',
      fc.array(word, { maxLength: 30 }),
      (words) => {
        for (const text of [words.join(''), `${header}\n${words.join('')}`]) {
          try {
            expect(parseSeries(text, format).rows).to.be.above(0);
          } catch (error) {
            expect(error).to.be.instanceOf(SimError).with.property('code', 'CONFIG_INVALID');
          }
        }
      },
      { runs: 500 },
    );
  });
});

describe('time series: values over time', () => {
  const rows = [
    [10, 100],
    [20, 200],
    [40, 0],
  ] as const;

  it('interpolates between rows and holds both ends', () => {
    const series = table(rows);
    const at = (t: number): number => series.at('irradiance_w_m2', t);
    expect([-5, 10, 15, 20, 30, 40, 1e9].map(at)).to.deep.equal([100, 100, 150, 200, 100, 0, 0]);
  });

  it('holds the earlier row when told so', () => {
    const series = table(rows, { between: 'hold' });
    expect([9, 10, 19.9, 20, 39, 40].map((t) => series.at('irradiance_w_m2', t))).to.deep.equal([
      100, 100, 100, 200, 200, 0,
    ]);
  });

  it('loops over the time from the first to the last row, backwards too', () => {
    const series = table(rows, { end: 'loop' });
    const at = (t: number): number => series.at('irradiance_w_m2', t);
    expect([40, 45, 70, 75, 3_000_015, -15].map(at)).to.deep.equal([100, 150, 100, 150, 150, 150]);
  });

  it('names the next row, where a step has to be split', () => {
    const series = table(rows);
    expect([0, 10, 15, 20, 40, 50].map((t) => series.nextRowS(t))).to.deep.equal([10, 20, 20, 40, Infinity, Infinity]);
    const loop = table(rows, { end: 'loop' });
    expect([10, 39, 40, 55, 75].map((t) => loop.nextRowS(t))).to.deep.equal([20, 40, 50, 70, 80]);
  });

  it('has one value all the time with one row, looped or not', () => {
    for (const end of ['hold', 'loop'] as const) {
      const series = table([[5, 7]], { end });
      expect([0, 5, 99].map((t) => series.at('irradiance_w_m2', t))).to.deep.equal([7, 7, 7]);
      expect(series.nextRowS(9)).to.equal(Infinity);
    }
  });

  it('gives a number for a time that is none', () => {
    for (const end of ['hold', 'loop'] as const) {
      const series = table(rows, { end });
      for (const t of [NaN, Infinity, -Infinity]) expect(series.at('irradiance_w_m2', t)).to.satisfy(Number.isFinite);
    }
  });

  it('answers in any order of times as a fresh reader does', () => {
    const times = fc.array(fc.double({ min: -100, max: 1300, noNaN: true }), { minLength: 1, maxLength: 50 });
    const random = Array.from({ length: 200 }, (_, n) => [n * 5 + (n % 3), (n * 37) % 1000] as const);
    const shared = table(random);
    holds(
      'any order of times',
      times,
      (order) => {
        for (const t of order) {
          const value = shared.at('irradiance_w_m2', t);
          expect(value).to.equal(table(random).at('irradiance_w_m2', t));
        }
      },
      { runs: 20 },
    );
  });
});
