import { expect } from 'chai';
import { at, fallingProfile, steadyEnvironment } from '../../../support/environment.ts';
import type { Environment } from '../../../../src/der/surroundings/environment.ts';

const volts = (env: Environment, seconds: number, device = 0) => env.gridAt(device, at(seconds)).aPu;

describe('Layers: the last command wins, quantity by quantity', () => {
  it('a frequency step leaves a voltage ramp under way', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.8, rampS: 10 }, at(0));
    env.setGrid({ frequencyHz: 59.9 }, at(5));
    expect([env.gridAt(0, at(5)).hz, env.gridAt(0, at(7)).hz]).to.deep.equal([59.9, 59.9]);
    expect(volts(env, 7.5)).to.be.closeTo(0.85, 1e-12);
    expect(volts(env, 10)).to.equal(0.8);
    expect([env.grid(at(6)).rampRemainingS, env.nextEvent(0, at(6))]).to.deep.equal([4, at(10)]);
  });

  it('a lasting change makes no timed value of another quantity lasting', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.9, durationS: 10 }, at(0));
    env.setGrid({ frequencyHz: 59.5 }, at(2));
    expect(env.grid(at(3))).to.include({ voltageAPu: 0.9, frequencyHz: 59.5, durationRemainingS: 7 });
    expect(env.gridAt(0, at(10))).to.deep.include({ aPu: 1, hz: 59.5 });
  });

  it('a lasting change takes its own quantity out of every timed change', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.9, frequencyHz: 59, durationS: 10 }, at(0));
    env.setGrid({ voltageAPu: 0.95 }, at(2));
    expect(env.gridAt(0, at(3))).to.deep.include({ aPu: 0.95, bPu: 0.9, hz: 59 });
    expect(env.gridAt(0, at(10))).to.deep.include({ aPu: 0.95, bPu: 1, hz: 60 });
    env.setGrid({ voltagePu: 0.7, durationS: 10 }, at(20));
    env.setGrid({ voltagePu: 1 }, at(21));
    expect(env.grid(at(22)).durationRemainingS).to.equal(null);
  });

  it('devices that lag behind a command see what stood before it, and stop there', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.9, durationS: 10 }, at(0));
    env.setGrid({ voltagePu: 0.8 }, at(4));
    expect([volts(env, 3.9), volts(env, 4)]).to.deep.equal([0.9, 0.8]);
    expect(env.nextEvent(0, at(3.9))).to.equal(at(4));
  });

  it('gives one object per stretch, also to devices that pass it later', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.9, durationS: 5 }, at(5));
    const [before, during, after] = [1, 6, 11].map((s) => env.gridAt(0, at(s)));
    expect([before?.aPu, during?.aPu, after?.aPu]).to.deep.equal([1, 0.9, 1]);
    expect([1, 4, 6, 9, 11, 50].map((s) => env.gridAt(1, at(s)))).to.satisfy(
      (seen: unknown[]) =>
        seen[0] === before &&
        seen[1] === before &&
        seen[2] === during &&
        seen[3] === during &&
        seen[4] === after &&
        seen[5] === after,
    );
  });

  it('surroundings follow the same rule', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ irradianceWm2: 100, rampS: 10 }, at(0));
    env.setSurroundings({ loadKw: 3 }, at(5));
    expect(env.surroundings(at(5))).to.include({ irradianceWm2: 300, loadKw: 3, rampRemainingS: 5 });
    expect(env.surroundings(at(10)).irradianceWm2).to.equal(100);
    env.setSurroundings({ ambientTemperatureC: 40, durationS: 5 }, at(10));
    env.setSurroundings({ irradianceWm2: null }, at(11));
    expect(env.surroundings(at(12))).to.include({ irradianceWm2: 500, ambientTemperatureC: 40, durationRemainingS: 3 });
    expect(env.surroundings(at(15)).ambientTemperatureC).to.equal(15);
  });

  it('null for a time gives a value back to its source for that time', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ irradianceWm2: 100 }, at(0));
    env.setSurroundings({ irradianceWm2: null, durationS: 5 }, at(1));
    expect([0.5, 2, 6].map((s) => env.surroundings(at(s)).irradianceWm2)).to.deep.equal([100, 500, 100]);
    env.setSurroundings({ source: 'clear_sky', durationS: 5 }, at(10));
    expect(env.surroundings(at(11))).to.include({ irradianceWm2: 900, source: 'clear_sky' });
    expect(env.surroundings(at(15))).to.include({ irradianceWm2: 100, source: 'const' });
  });

  it('a timed voltage leaves the frequency to the profile; a lasting one takes the grid off it', () => {
    const env = steadyEnvironment(fallingProfile);
    env.setGrid({ voltagePu: 0.5, durationS: 2 }, at(2));
    expect(env.gridAt(0, at(3))).to.deep.include({ aPu: 0.5, hz: 59.7 });
    expect([env.grid(at(3)).source, volts(env, 4)]).to.deep.equal(['csv', 0.96]);
    env.setGrid({ source: 'const', durationS: 2 }, at(5));
    expect([volts(env, 6), env.grid(at(6)).source, volts(env, 7)]).to.deep.equal([0.95, 'const', 0.93]);
  });

  it('source csv with a value: that quantity is set, the others follow the profile', () => {
    const env = steadyEnvironment(fallingProfile);
    env.setGrid({ source: 'csv', voltagePu: 0.8 }, at(0));
    expect(env.gridAt(0, at(5))).to.deep.include({ aPu: 0.8, hz: 59.5 });
  });
});

describe('Motion and events of the grid', () => {
  const motion = (env: Environment, seconds: number) => env.gridMotion(0, at(seconds));

  it('is fast in a ramp, slow along a profile, still else', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.9, rampS: 10 }, at(0));
    expect([motion(env, 0), motion(env, 9.9), motion(env, 10)]).to.deep.equal(['fast', 'fast', 'still']);
    env.setGrid({ outage: true, durationS: 5 }, at(0));
    expect([motion(env, 2), motion(env, 6)]).to.deep.equal(['still', 'fast']);
    const recorded = steadyEnvironment(fallingProfile);
    expect([motion(recorded, 1), recorded.gridMotion(0, at(1)) !== 'still']).to.deep.equal(['slow', true]);
    recorded.setGrid({ frequencyHz: 61, rampS: 5, durationS: 8 }, at(1));
    expect([motion(recorded, 2), motion(recorded, 7)]).to.deep.equal(['fast', 'slow']);
  });

  it('the rows of a profile are events', () => {
    const env = steadyEnvironment(fallingProfile);
    expect(env.nextEvent(0, at(2.5))).to.equal(at(10));
    expect(env.nextEvent(0, at(10))).to.equal(Infinity);
  });

  it('an island keeps voltage and frequency, an outage ends both', () => {
    const env = steadyEnvironment();
    env.setGrid({ island: true, durationS: 5 }, at(1));
    expect(env.gridAt(0, at(2))).to.deep.include({ aPu: 1, hz: 60, island: true });
    expect(env.grid(at(2))).to.include({ island: true, outage: false });
    env.setGrid({ outage: true }, at(3));
    expect(env.gridAt(0, at(3))).to.deep.include({ aPu: 0, island: false });
    env.setGrid({ outage: false }, at(4));
    expect([env.gridAt(0, at(4)).island, env.gridAt(0, at(6)).island]).to.deep.equal([true, false]);
  });
});
