import { expect } from 'chai';
import { createRandom } from '../../../../src/core/random.ts';
import {
  HubWind,
  shearFactor,
  turbulenceSigmaMS,
  turbulenceTimeConstantS,
} from '../../../../src/der/source/wind/hub-wind.ts';
import { goldenRows, needsGolden } from '../../golden.ts';
import { parametersOf } from './support.ts';

const gusty = parametersOf({ turbine: 'nrel-5mw', turbulence_class: 'B' });

function course(stepsS: readonly number[], totalS: number): Map<number, number> {
  const wind = new HubWind(gusty, createRandom(3, 'wind'));
  wind.settle(10);
  const at = new Map<number, number>();
  let ms = 0;
  for (let n = 0; ms < totalS * 1000; n += 1) {
    const stepS = stepsS[n % stepsS.length]!;
    wind.begin(stepS, 10);
    wind.advance(stepS);
    ms += Math.round(stepS * 1000);
    at.set(ms, wind.hubMS);
  }
  return at;
}

describe('wind at the hub', () => {
  it(`turbulence follows IEC 61400-1 ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'wind_turbulence_iec.csv')) {
      const v = Number(row['v_hub_m_s']);
      expect(turbulenceSigmaMS(row['class'] as 'A', v)).to.be.closeTo(Number(row['sigma_m_s']), 1e-5);
      expect(turbulenceTimeConstantS(v)).to.be.closeTo(Number(row['tau_s']), 1e-4);
    }
  });

  it(`shear follows the power law ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'wind_shear.csv')) {
      expect(shearFactor(Number(row['z_hub_m']), Number(row['z_ref_m']), Number(row['alpha']))).to.be.closeTo(
        Number(row['power_law_factor']),
        1e-5,
      );
    }
  });

  it('sigma of class B at 10 m/s is 1.834 m/s; 5 m to 90 m is 1.499 at 0.14', () => {
    expect(turbulenceSigmaMS('B', 10)).to.be.closeTo(1.834, 1e-9);
    expect(shearFactor(90, 5, 0.14)).to.be.closeTo(1.4988, 1e-4);
  });

  it('has the deviation and the memory that it should have', () => {
    const values = [...course([1], 200_000).values()].map((v) => v - 10);
    const variance = values.reduce((sum, u) => sum + u * u, 0) / values.length;
    const lagged = values.slice(34).reduce((sum, u, n) => sum + u * values[n]!, 0) / (values.length - 34);
    expect(Math.sqrt(variance)).to.be.closeTo(1.834, 0.08);
    expect(lagged / variance).to.be.closeTo(Math.exp(-1), 0.05);
  });

  it('takes the same course whatever the steps', () => {
    const whole = course([1], 60);
    const fine = course([0.1], 60);
    const odd = course([0.37, 0.63, 0.02, 0.98], 60);
    for (const [ms, v] of whole) {
      expect(fine.get(ms)).to.be.closeTo(v, 1e-9);
      expect(odd.get(ms)).to.be.closeTo(v, 1e-9);
    }
  });

  it('an override ends turbulence, and its end brings back the course that would have been', () => {
    const [free, held] = [1, 2].map(() => new HubWind(gusty, createRandom(3, 'wind')));
    for (const wind of [free!, held!]) wind.settle(10);
    held!.override = { speedMS: 14, height: 'hub' };
    for (let n = 0; n < 90; n += 1) {
      for (const wind of [free!, held!]) {
        wind.begin(1, 10);
        wind.advance(1);
      }
      expect(held!.hubMS).to.equal(14);
    }
    expect(held!.rotorMS).to.be.closeTo(14, 0.1);
    held!.override = null;
    for (const wind of [free!, held!]) {
      wind.begin(1, 10);
      wind.advance(1);
    }
    // the time constant of the held course was that of 14 m/s: other numbers, same stream
    expect(held!.meanMS).to.equal(10);
    expect(held!.hubMS).not.to.equal(10);
  });

  it('ignores invalid wind values', () => {
    const wind = new HubWind(gusty, createRandom(1));
    wind.settle(8);
    for (const [given, mean] of [
      [NaN, 8],
      [Infinity, 8],
      [-3, 0],
      [1e300, 60],
    ] as const) {
      wind.begin(1, given);
      wind.advance(1);
      expect(wind.meanMS).to.equal(mean);
      wind.settle(8);
    }
  });
});
