import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeSeries } from '../../../scripts/make-series.ts';
import { parseSeries } from '../../../src/der/surroundings/series.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'config', 'series');
const weather = {
  columns: [
    { name: 'irradiance_w_m2', required: true, min: 0, max: 1500 },
    { name: 'ambient_temperature_c', required: false, min: -50, max: 90 },
    { name: 'wind_speed_m_s', required: false, min: 0, max: 60 },
  ],
  end: 'loop',
} as const;

describe('bundled weather series', () => {
  for (const { file, text } of makeSeries()) {
    it(`${file} is what scripts/make-series.ts makes`, () => {
      expect(readdirSync(folder)).to.include(file);
      expect(readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n')).to.equal(text);
    });

    it(`${file} is one day of minutes that can be looped`, () => {
      const series = parseSeries(text, { ...weather, name: file });
      expect([series.rows, series.startS, series.endS]).to.deep.equal([1441, 0, 86_400]);
      expect(series.at('irradiance_w_m2', 0)).to.equal(0);
      for (const { name } of weather.columns)
        expect(series.at(name, 86_399.999)).to.be.closeTo(series.at(name, 0), 0.3);
    });
  }

  it('has a clear day with about 950 W/m2 at noon, and a cloudy one with less energy and large swings', () => {
    const days = new Map(makeSeries().map(({ file, text }) => [file, parseSeries(text, { ...weather, name: file })]));
    const minutes = (file: string): number[] => {
      const series = days.get(file)!;
      return Array.from({ length: 1440 }, (_, n) => series.at('irradiance_w_m2', n * 60));
    };
    const energy = (values: readonly number[]): number => values.reduce((sum, value) => sum + value / 60, 0);
    const clear = minutes('pv-clear-day.csv');
    const broken = minutes('pv-broken-clouds-day.csv');
    for (const value of clear.slice(690, 750)) expect(value).to.be.within(900, 1000);
    expect(energy(clear)).to.be.within(7500, 8500);
    expect(energy(broken) / energy(clear)).to.be.within(0.5, 0.8);
    const largest = (values: readonly number[]): number =>
      Math.max(...values.slice(1).map((value, n) => Math.abs(value - values[n]!)));
    expect(largest(broken)).to.be.above(200);
    expect(largest(clear)).to.be.below(100);
  });
});
