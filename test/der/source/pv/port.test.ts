import { expect } from 'chai';
import { PvPort } from '../../../../src/der/source/pv/port.ts';
import { pvModules } from '../../../../src/der/source/pv/module.ts';
import { codeOf } from '../../../support/map.ts';

const config = {
  module: pvModules['CS5P-220M'],
  seriesCount: 13,
  parallelCount: 4,
  minDcVoltageV: 200,
  maxDcVoltageV: 1000,
};
const weather = (irradianceWm2: number) => ({
  irradianceWm2,
  ambientTemperatureC: 20,
  cellTemperatureC: 25,
  windSpeedMS: 1,
  terminalPu: 1,
  phaseLnV: [230, 230, 230] as [number, number, number],
  loadW: 0,
  frequencySupport: false,
  rate: 1,
});

function settled(irradianceWm2: number): PvPort {
  const port = new PvPort(config);
  port.settle(weather(irradianceWm2));
  return port;
}

describe('PV array as a DC port', () => {
  it('settles on its maximum power point', () => {
    const port = settled(1000);
    expect(port.settled).to.equal(true);
    // 52 modules of 220 W
    expect(port.availableDcW).to.be.closeTo(52 * 220, 60);
    port.draw(port.availableDcW, true);
    const [reading] = port.ports;
    expect(reading!.powerW).to.equal(port.availableDcW);
    expect(reading!.voltageV * reading!.currentA).to.be.closeTo(reading!.powerW, 1e-6);
    expect(port.detail()).to.deep.include({
      kind: 'pv',
      irradianceWm2: 1000,
      cellTemperatureC: 25,
      mpptState: 'track',
    });
    expect(port.detail().operatingPoint).to.deep.equal({
      v: reading!.voltageV,
      i: reading!.currentA,
      p: reading!.powerW,
    });
  });

  it('less power means more voltage; open means open circuit', () => {
    const port = settled(1000);
    const volts = [1, 0.7, 0.3, 0].map((part) => {
      port.draw(part * port.availableDcW, true);
      return port.ports[0]!.voltageV;
    });
    expect(volts).to.deep.equal([...volts].sort((a, b) => a - b));
    port.draw(port.availableDcW, false);
    expect(port.ports[0]!.powerW).to.equal(0);
    expect(port.ports[0]!.voltageV).to.be.closeTo(port.curve(undefined, 20).vOcV!, 1e-6);
  });

  it('has one port with a curve', () => {
    const port = settled(800);
    const curve = port.curve(0, 100);
    expect([curve.curve.length, curve.kind, curve.port, curve.irradianceWm2]).to.deep.equal([100, 'pv', 0, 800]);
    expect(curve.mpp!.p).to.be.closeTo(port.availableDcW, 1e-6);
    expect(Math.max(...curve.curve.map((sample) => sample.p))).to.be.at.most(curve.mpp!.p + 1e-9);
    expect(codeOf(() => port.curve(1, 100))).to.equal('UNKNOWN_RESOURCE');
  });

  it('in darkness there is nothing, and no curve', () => {
    const port = settled(0);
    expect([port.availableDcW, port.settled, port.ports[0]!.voltageV]).to.deep.equal([0, true, 0]);
    expect(port.curve(undefined, 50)).to.deep.include({ mpp: null, vOcV: 0, iScA: 0 });
  });

  it('wakes through its start sequence', () => {
    const port = settled(0);
    port.prepare(1, weather(500));
    expect([port.settled, port.availableDcW]).to.deep.equal([false, 0]);
    for (let i = 0; i < 5; i += 1) port.prepare(1, weather(500));
    expect(port.availableDcW).to.be.above(0);
    port.draw(0, true);
    expect(port.detail().mpptState).to.equal('start');
    for (let i = 0; i < 20; i += 1) port.prepare(1, weather(500));
    expect(port.settled).to.equal(true);
  });
});
