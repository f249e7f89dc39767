import { expect } from 'chai';
import { airTemperature } from '../../../../src/der/surroundings/weather.ts';

const hourMs = 3_600_000;
const at = (month: number, day: number, hour: number) => Date.UTC(2026, month - 1, day, hour);
const dayMean = (startMs: number, latitudeDeg: number): number =>
  Array.from({ length: 24 }, (_, hour) => airTemperature(startMs + hour * hourMs, latitudeDeg, 0)).reduce(
    (sum, value) => sum + value / 24,
    0,
  );

describe('air temperature by date', () => {
  it('is warm in July and cold in January in the north, the other way round in the south, and even at the equator', () => {
    expect(dayMean(at(7, 21, 0), 40)).to.be.closeTo(23.8, 0.1);
    expect(dayMean(at(1, 20, 0), 40)).to.be.closeTo(3.8, 0.1);
    expect(dayMean(at(1, 20, 0), -40) - dayMean(at(7, 21, 0), -40)).to.be.closeTo(20, 0.1);
    expect(dayMean(at(1, 20, 0), 0)).to.be.closeTo(dayMean(at(7, 21, 0), 0), 1e-9);
  });

  it('is highest at three in the afternoon of the place', () => {
    const warmest = (longitudeDeg: number) => {
      const hours = Array.from({ length: 24 }, (_, hour) => airTemperature(at(7, 21, hour), 40, longitudeDeg));
      return hours.indexOf(Math.max(...hours));
    };
    expect([0, 90, -75].map(warmest)).to.deep.equal([15, 9, 20]);
  });

  it('moves without a step, over midnight and new year too', () => {
    for (const start of [at(6, 21, 12), Date.UTC(2026, 11, 31, 12)]) {
      for (let second = 0; second < 86_400; second += 60) {
        const [a, b] = [0, 60_000].map((ms) => airTemperature(start + second * 1000 + ms, 52, 13)) as [number, number];
        expect(Math.abs(b - a)).to.be.below(0.03);
      }
    }
  });
});
