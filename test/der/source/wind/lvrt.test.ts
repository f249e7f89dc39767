import { expect } from 'chai';
import { parametersOf, run, settledPort, surroundings } from './support.ts';

const nrel = parametersOf({ turbine: 'nrel-5mw' });
const iea = parametersOf({ turbine: 'iea-15mw' });
const wind = surroundings(14);
const dip = (terminalPu: number) => surroundings(14, { terminalPu });

describe('physics 4.5: wind turbine in a voltage dip', () => {
  it('injects 2 pu/pu of reactive current and leaves the rest to active power', () => {
    const port = settledPort(iea, wind);
    run(port, 0.02, dip(0.5), { dtS: 0.02 });
    expect(port.detail().lvrtState).to.equal('active');
    expect([...port.conditions]).to.include('lvrt_active');
    expect(port.reactiveCurrentPu).to.be.closeTo(0.8, 1e-9);
    expect(port.availableDcW).to.be.closeTo((0.5 * Math.sqrt(1.21 - 0.64) * 15e6) / 0.97, 1);
    expect(port.maxStepS).to.be.at.most(0.1);
    run(port, 0.1, dip(0.2), { dtS: 0.02 });
    expect(port.reactiveCurrentPu).to.equal(1.1);
    expect(port.availableDcW).to.equal(0);
  });

  it('the chopper takes the surplus for 2 s of rated power, then the rotor does', () => {
    const port = settledPort(iea, wind);
    const start = port.energy.kineticJ;
    run(port, 1.8, dip(0.25), { dtS: 0.02 });
    expect(port.detail().chopperPowerW).to.be.above(0.99 * 15e6);
    expect(port.energy.kineticJ).to.be.closeTo(start, 0.01 * start);
    run(port, 2, dip(0.25), { dtS: 0.02 });
    expect(port.detail().chopperPowerW).to.equal(0);
    expect(port.energy.chopperJ).to.be.closeTo((2 * 15e6) / 0.97, 1e5);
    expect(port.energy.kineticJ).to.be.above(1.05 * start);
  });

  it('the chopper of a curtailed turbine dissipates no more than its power before the dip', () => {
    for (const p of [nrel, iea]) {
      const capW = 0.2 * p.ratedPowerW;
      const port = settledPort(p, wind);
      run(port, 400, wind, { capW });
      const { rotorRpm } = port.detail();
      run(port, 3, dip(0.6), { dtS: 0.02, capW });
      expect(port.detail()).to.include({ lvrtState: 'active', chopperPowerW: 0, dcPowerW: capW });
      expect(port.detail().rotorRpm, p.turbine).to.be.closeTo(rotorRpm, 1e-3 * rotorRpm);
      // deep enough, nothing goes into the grid and all that went before into the chopper
      run(port, 3, wind, { dtS: 0.02, capW });
      run(port, 0.2, dip(0.31), { dtS: 0.02, capW });
      expect(port.detail()).to.include({ dcPowerW: 0, chopperPowerW: capW });
    }
  });

  it('ramps active power back within its recovery time', () => {
    const port = settledPort(iea, wind);
    run(port, 0.2, dip(0.2), { dtS: 0.02 });
    run(port, 0.26, wind, { dtS: 0.02 });
    expect(port.detail().lvrtState).to.equal('recovering');
    expect([...port.conditions]).not.to.include('lvrt_active');
    expect(port.availableDcW * 0.97).to.be.closeTo(0.5 * 15e6, 0.01 * 15e6);
    run(port, 0.26, wind, { dtS: 0.02 });
    expect(port.detail().lvrtState).to.equal('normal');
    expect(port.availableDcW * 0.97).to.be.closeTo(15e6, 1e4);
  });

  it('a doubly fed machine has its crowbar in for 100 ms below 0.3 pu', () => {
    const port = settledPort(nrel, wind);
    port.prepare(0.02, dip(0.25));
    expect([port.reactiveCurrentPu, port.availableDcW]).to.deep.equal([-0.2, 0]);
    port.draw(0, true);
    run(port, 0.08, dip(0.25), { dtS: 0.02 });
    expect(port.reactiveCurrentPu).to.equal(-0.2);
    run(port, 0.02, dip(0.25), { dtS: 0.02 });
    expect(port.reactiveCurrentPu).to.equal(1.1);
    const full = settledPort(iea, wind);
    full.prepare(0.02, dip(0.25));
    expect(full.reactiveCurrentPu).to.equal(1.1);
  });

  it('shows that the device has tripped in the dip', () => {
    const port = settledPort(nrel, wind);
    run(port, 0.1, dip(0.4), { dtS: 0.02 });
    run(port, 0.1, dip(0.4), { dtS: 0.02, energized: false });
    expect(port.detail()).to.include({ lvrtState: 'tripped', dcPowerW: 0 });
    expect(port.reactiveCurrentPu).to.equal(0);
    run(port, 1, wind, { energized: true });
    expect(port.detail().lvrtState).to.equal('normal');
  });

  it('a shallow sag and a parked turbine change nothing', () => {
    const port = settledPort(nrel, wind);
    run(port, 0.1, dip(0.885), { dtS: 0.02 });
    expect(port.detail().lvrtState).to.equal('normal');
    const parked = settledPort(nrel, surroundings(0));
    run(parked, 0.1, surroundings(0, { terminalPu: 0.3 }), { dtS: 0.02 });
    expect([parked.detail().lvrtState, parked.reactiveCurrentPu]).to.deep.equal(['normal', 0]);
  });
});
