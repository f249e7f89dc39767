import { expect } from 'chai';
import { pvModules } from '../../../../src/der/source/pv/module.ts';
import { PvSource } from '../../../../src/der/source/pv/array.ts';
import type { PvConfig } from '../../../../src/der/source/pv/array.ts';
import { codeOf } from '../../../support/map.ts';

const config: PvConfig = {
  module: pvModules['CS5P-220M'],
  seriesCount: 13,
  parallelCount: 4,
  minDcVoltageV: 200,
  maxDcVoltageV: 1000,
  shading: { shadedShare: 0.3, irradianceShare: 0.4 },
};
const sunny = { irradianceWm2: 1000, ambientTemperatureC: 20, windSpeedMS: 1, cellTemperatureC: 25 };

function settled(changes: Partial<PvConfig> = {}): PvSource {
  const source = new PvSource({ ...config, ...changes });
  source.settle(sunny);
  source.draw(Infinity, true);
  return source;
}

describe('PV source: partial shading', () => {
  it('operates at the global maximum', () => {
    const source = settled();
    expect(source.powerW).to.be.closeTo(4 * 1992.531, 0.05);
    expect(source.voltageV).to.be.closeTo(424.99, 0.01);
    expect(source.state).to.equal('track');
    expect(source.mppW).to.equal(source.availableDcW);
  });

  it('a simple tracker stays on the first maximum from open circuit', () => {
    const source = settled({ tracker: 'local' });
    expect(source.powerW).to.be.closeTo(4 * 1338.538, 0.05);
    expect(source.mppW).to.be.closeTo(4 * 1992.531, 0.05);
    expect([source.settled, source.trackingGap, source.state]).to.deep.equal([true, 0, 'track']);
  });

  it('the window leaves the second maximum, or its edge', () => {
    expect(settled({ minDcVoltageV: 500 }).voltageV).to.be.closeTo(679.97, 0.01);
    const edge = settled({ minDcVoltageV: 690 });
    expect([edge.voltageV, edge.state]).to.deep.equal([690, 'dc_low']);
  });

  it('curtails upwards', () => {
    const source = settled();
    source.draw(4000, true);
    expect(source.voltageV).to.be.above(680);
    expect(source.voltageV * source.currentA).to.be.closeTo(4000, 1e-6);
    source.draw(0, false);
    expect(source.voltageV).to.equal(source.openCircuitVoltageV);
  });

  it('shows its curve with both maxima', () => {
    const { curve, mpp, vOcV, iScA } = settled().curve(128);
    expect(mpp!.p).to.be.closeTo(4 * 1992.531, 0.05);
    expect(curve).to.have.length(128);
    expect(curve).to.deep.include(mpp);
    expect(curve.some((sample) => Math.abs(sample.p - 4 * 1338.538) < 0.05)).to.equal(true);
    expect([curve.at(-1)!.v, curve[0]!.i]).to.deep.equal([vOcV, iScA]);
  });

  it('comes and goes at run time, and needs the sun', () => {
    const source = settled({ shading: null });
    const clear = source.availableDcW;
    source.shading = { shadedShare: 0.3, irradianceShare: 0.4 };
    expect(source.trackingGap).to.equal(1);
    for (let n = 0; n < 60; n++) source.prepare(1, sunny);
    expect(source.availableDcW).to.be.closeTo(4 * 1992.531, 0.05);
    source.shading = null;
    for (let n = 0; n < 60; n++) source.prepare(1, sunny);
    expect(source.availableDcW).to.be.closeTo(clear, 1e-6);
    source.shading = config.shading ?? null;
    source.settle({ ...sunny, irradianceWm2: 0 });
    source.draw(100, true);
    expect([source.availableDcW, source.voltageV, source.curve(20).mpp]).to.deep.equal([0, 0, null]);
  });

  it('refuses shares outside of 0 to 1', () => {
    expect(codeOf(() => new PvSource({ ...config, shading: { shadedShare: 1.2, irradianceShare: 0.4 } }))).to.equal(
      'CONFIG_INVALID',
    );
  });
});
