import { expect } from 'chai';
import { defaultPvThermal } from '../../../../src/der/source/pv/array.ts';
import { CellTemperature } from '../../../../src/der/source/pv/cell-temperature.ts';

/** Light over time: a cloud of a few minutes, W/m2. */
const cloud = [
  [0, 1000],
  [600, 1000],
  [1040, 300],
  [1380, 300],
  [1820, 1000],
] as const;

const steadyC = (light: number) => 20 + light / (defaultPvThermal.u0 + defaultPvThermal.u1);

function lightAt(t: number): number {
  const next = cloud.findIndex(([at]) => at > t);
  const [from, to] = [cloud[next - 1]!, cloud[next] ?? cloud[cloud.length - 1]!];
  return to[0] === from[0] ? to[1] : from[1] + ((to[1] - from[1]) * (t - from[0])) / (to[0] - from[0]);
}

/** The lag behind a target on straight lines, written as a sum over its pieces. */
function exactC(t: number): number {
  const tau = defaultPvThermal.timeConstantS;
  let value = steadyC(1000);
  for (let i = 1; i < cloud.length; i++) {
    const [[t0, g0], [t1, g1]] = [cloud[i - 1]!, cloud[i]!];
    if (t <= t0) break;
    const slope = (steadyC(g1) - steadyC(g0)) / (t1 - t0);
    const dt = Math.min(t, t1) - t0;
    // particular solution: the target as it was one time constant ago
    value = steadyC(g0) + slope * (dt - tau) + (value - steadyC(g0) + slope * tau) * Math.exp(-dt / tau);
  }
  return value;
}

function after(seconds: number, stepS: number): number {
  const cell = new CellTemperature(defaultPvThermal);
  cell.jump(steadyC(1000), true);
  const steps = Math.round(seconds / stepS);
  for (let n = 1; n <= steps; n++) cell.advance(stepS, steadyC(lightAt(n * stepS)), false);
  return cell.valueC;
}

describe('PV cell temperature: lag', () => {
  it('is a function of time under a passing cloud, at any step', () => {
    for (const at of [900, 1200, 1380, 1800]) {
      const exact = exactC(at);
      for (const stepS of [0.02, 0.1, 1, 10])
        expect(after(at, stepS), `${at} s by ${stepS} s`).to.be.closeTo(exact, 1e-9 * (1 / stepS));
      expect(after(at, 60)).to.be.closeTo(exact, 0.1);
    }
    // a lag that jumps to its target while the gap of a sub-step is small gives 29.4 C at steps of 0.1 s
    expect(exactC(1380)).to.be.closeTo(35.12, 0.01);
  });

  it('lags behind a slow ramp by slope times time constant', () => {
    const cell = new CellTemperature(defaultPvThermal);
    cell.jump(steadyC(500), true);
    for (let t = 1; t <= 3600; t++) cell.advance(1, steadyC(500 + (500 * t) / 3600), false);
    const slope = (steadyC(1000) - steadyC(500)) / 3600;
    expect(cell.valueC).to.be.closeTo(steadyC(1000) - slope * 400, 1e-3);
    expect(cell.atRest).to.equal(false);
  });

  it('comes to rest on a target at rest only', () => {
    const cell = new CellTemperature(defaultPvThermal);
    cell.jump(50, true);
    for (let n = 1; n <= 100; n++) cell.advance(1, 50 + n * 1e-7, false);
    expect(cell.atRest).to.equal(false);
    cell.advance(1, 50 + 1e-5, false);
    for (let n = 0; n < 2000; n++) cell.advance(1, 50 + 1e-5, false);
    expect(cell.valueC).to.equal(50 + 1e-5);
  });
});
