import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { parseSeries } from '../../../src/der/surroundings/series.ts';
import { CloudTrack } from '../../../src/der/surroundings/sky/clouds.ts';
import { clearSkyIrradiance } from '../../../src/der/surroundings/sky/solar.ts';
import { ClearSky, SeriesWeather, weatherColumns } from '../../../src/der/surroundings/weather.ts';
import type { Sky, Weather } from '../../../src/der/surroundings/weather.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const site = { latitudeDeg: 40, longitudeDeg: 0, tiltDeg: 30, azimuthDeg: 180 };
const dateMs = (t: SimTime) => t / 1000;

const clearSky = (seed: number, preset: 'clear' | 'broken' = 'broken') =>
  new ClearSky(site, new CloudTrack(seed, preset), dateMs);
const sample = (weather: Weather, seconds: number) => {
  const out = { irradianceWm2: -1, ambientTemperatureC: -99, windSpeedMS: -1 };
  weather.at(43_200 + seconds, addSeconds(start, seconds), out);
  return out;
};

const sunAt = (sky: Sky, seconds: number) => sky.irradianceAt(addSeconds(start, seconds));

describe('Weather from a series', () => {
  const series = (text: string) =>
    new SeriesWeather(parseSeries(text, { name: 'w', end: 'loop', columns: weatherColumns }));

  it('interpolates its columns', () => {
    const weather = series('time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s\n0,0,10,1\n86400,864,20,3\n');
    const noon = sample(weather, 0);
    expect(noon.irradianceWm2).to.be.closeTo(432, 1e-9);
    expect(noon.ambientTemperatureC).to.be.closeTo(15, 1e-9);
    expect(noon.windSpeedMS).to.be.closeTo(2, 1e-9);
  });

  it('needs the irradiance alone', () => {
    expect(sample(series('time_s,irradiance_w_m2\n0,100\n'), 0)).to.deep.equal({
      irradianceWm2: 100,
      ambientTemperatureC: 20,
      windSpeedMS: 1,
    });
  });
});

describe('Clear sky with clouds', () => {
  it('without clouds is the clear-sky irradiance itself', () => {
    const weather = clearSky(1, 'clear');
    for (const seconds of [0, 30.5, 600])
      expect(sunAt(weather, seconds)).to.equal(clearSkyIrradiance(dateMs(addSeconds(start, seconds)), site));
  });

  it('depends on the seed only: not on how often, how finely or by how many devices it is read', () => {
    const often = clearSky(5);
    const seldom = clearSky(5);
    for (let i = 0; i < 4000; i += 1) sunAt(often, i * 0.25);
    for (const seconds of [1000, 1000.5, 2000, 2000.75]) expect(sunAt(seldom, seconds)).to.equal(sunAt(often, seconds));
    expect(sunAt(clearSky(6), 1000)).not.to.equal(sunAt(often, 1000));
  });

  it('is continuous between whole seconds', () => {
    const weather = clearSky(5);
    const [a, b, c] = [10, 10.5, 11].map((seconds) => sunAt(weather, seconds)) as [number, number, number];
    // the sun moves on between them, by some 1e-7 W/m2
    expect(b).to.be.closeTo((a + c) / 2, 1e-4);
  });

  it('has no step between hours, in any order of reading, cached or not', () => {
    const forwards = new CloudTrack(5, 'broken');
    const backwards = new CloudTrack(5, 'broken');
    const seconds = Array.from({ length: 400 }, (_, i) => 3400 + i);
    const course = seconds.map((second) => forwards.at(second));
    expect(
      [...seconds]
        .reverse()
        .map((second) => backwards.at(second))
        .reverse(),
    ).to.deep.equal(course);
    for (let i = 1; i < course.length; i += 1)
      expect(Math.abs(course[i]! - course[i - 1]!), `second ${3400 + i}`).to.be.below(0.12);
    forwards.forgetBefore(7300);
    expect(seconds.map((second) => forwards.at(second))).to.deep.equal(course);
  });

  it('is read at once after any pause', () => {
    const track = new CloudTrack(5, 'broken');
    expect(track.at(1e9)).to.be.within(0.05, 1.25);
    expect(track.at(1e9)).to.equal(new CloudTrack(5, 'broken').at(1e9));
  });
});
