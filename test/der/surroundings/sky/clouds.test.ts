import { expect } from 'chai';
import { CloudProcess, cloudPresets } from '../../../../src/der/surroundings/sky/clouds.ts';
import type { CloudPreset } from '../../../../src/der/surroundings/sky/clouds.ts';

function run(preset: CloudPreset, seconds: number, seed = 11): Float64Array {
  const clouds = new CloudProcess(seed, preset);
  return Float64Array.from({ length: seconds }, () => clouds.step());
}

function statistics(values: Float64Array): { mean: number; deviation: number; min: number; max: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return { mean, deviation, min: Math.min(...values), max: Math.max(...values) };
}

const day = 86_400;

describe('cloud process', () => {
  const wanted: Record<CloudPreset, { mean: [number, number]; deviation: [number, number] }> = {
    clear: { mean: [1, 1], deviation: [0, 0] },
    scattered: { mean: [0.78, 0.9], deviation: [0.22, 0.32] },
    broken: { mean: [0.56, 0.68], deviation: [0.27, 0.37] },
    overcast: { mean: [0.24, 0.26], deviation: [0.05, 0.07] },
  };

  for (const preset of cloudPresets) {
    it(`has the mean and the spread of a sky that is ${preset}`, () => {
      const { mean, deviation, min, max } = statistics(run(preset, day));
      expect(mean).to.be.within(...wanted[preset].mean);
      expect(deviation).to.be.within(...wanted[preset].deviation);
      expect(min).to.be.at.least(0.05);
      expect(max).to.be.at.most(1.25);
    });

    it(`repeats itself with the same seed and differs with another: ${preset}`, () => {
      expect(run(preset, 10_000)).to.deep.equal(run(preset, 10_000));
      // a clear sky has nothing random
      if (preset !== 'clear') expect(run(preset, 100, 12)).to.not.deep.equal(run(preset, 100, 11));
    });
  }

  it('overshoots at the rim of leaving clouds, and only there', () => {
    const brightPart = (preset: CloudPreset): number => run(preset, day).filter((value) => value > 1.15).length / day;
    expect(brightPart('broken')).to.be.within(0.002, 0.05);
    expect(brightPart('clear')).to.equal(0);
    expect(brightPart('overcast')).to.equal(0);
  });

  it('moves no faster than an array lets a shadow pass', () => {
    const values = run('broken', day);
    const steps = values.subarray(1).map((value, at) => Math.abs(value - (values[at] ?? value)));
    expect(Math.max(...steps)).to.be.below(0.2);
  });

  it('changes between sun and shade as often as the stays say', () => {
    const values = run('scattered', 10 * day);
    let changes = 0;
    let shaded = false;
    for (const value of values) {
      if (shaded ? value > 0.9 : value < 0.55) {
        shaded = !shaded;
        changes++;
      }
    }
    // One cloud per 1200 s; short shadows vanish in the smoothing.
    expect(changes / 2).to.be.within(450, 800);
  });
});
