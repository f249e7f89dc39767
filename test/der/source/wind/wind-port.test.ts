import { expect } from 'chai';
import { codeOf } from '../../../support/map.ts';
import { goldenRows, needsGolden } from '../../golden.ts';
import { parametersOf, run, settledPort, surroundings } from './support.ts';

const nrel = parametersOf({ turbine: 'nrel-5mw' });
const iea = parametersOf({ turbine: 'iea-15mw' });
const farm = parametersOf({ turbine: 'farm-100kw' });
const machines = [nrel, iea, farm];
const ratedDcW = 5e6 / 0.97;

describe('wind turbine as a DC port: steady states', () => {
  it(`the 5 MW machine follows its curve within 0.5 % of rated ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'wind_nrel5mw_steady.csv')) {
      const v = Number(row['v_hub_m_s']);
      const port = settledPort(nrel, surroundings(v));
      run(port, 120, surroundings(v));
      const { rotorRpm, pitchDeg, cp } = port.detail();
      expect(port.availableDcW * 0.97, `power at ${v}`).to.be.closeTo(1000 * Number(row['p_elec_kw']), 25_000);
      if (v > 25) continue;
      expect(rotorRpm, `speed at ${v}`).to.be.closeTo(Number(row['rotor_rpm']), 0.11);
      expect(pitchDeg, `pitch at ${v}`).to.be.closeTo(Number(row['pitch_deg']), 0.35);
      if (v > 3) expect(cp, `cp at ${v}`).to.be.closeTo(Number(row['cp']), 0.015);
    }
  });

  for (const [v, kw, rpm, pitchDeg] of [
    [8, 1719.6, 9.0946, 0],
    [12, 5000, 12.1, 3.599],
    [20, 5000, 12.1, 17.347],
  ] as const) {
    it(`at ${v} m/s the 5 MW machine gives ${kw} kW`, () => {
      const port = settledPort(nrel, surroundings(v));
      expect(port.availableDcW * 0.97e-3).to.be.closeTo(kw, 5);
      run(port, 300, surroundings(v));
      expect(port.availableDcW * 0.97e-3).to.be.closeTo(kw, 5);
      expect(port.detail().rotorRpm).to.be.closeTo(rpm, 0.01);
      expect(port.detail().pitchDeg).to.be.closeTo(pitchDeg, 0.05);
    });
  }

  it('every machine reaches its rating at its rated wind and not before, and holds it up to cut-out', () => {
    for (const [p, below, above] of [
      [nrel, 11, 11.5],
      [iea, 10.2, 10.8],
      [farm, 10.5, 11.1],
    ] as const) {
      expect(settledPort(p, surroundings(below)).availableDcW * 0.97).to.be.below(0.99 * p.ratedPowerW);
      for (const v of [above, 14, 18, 25]) {
        const port = settledPort(p, surroundings(v));
        run(port, 200, surroundings(v));
        expect(port.availableDcW * 0.97, `${p.turbine} ${v}`).to.be.closeTo(p.ratedPowerW, 0.001 * p.ratedPowerW);
        expect(port.detail().state).to.equal('run_rated');
      }
    }
  });

  it('a scaled machine gives the same share of its rating', () => {
    const small = parametersOf({ turbine: 'nrel-5mw', rated_power_w: 500e3 });
    for (const v of [5, 9, 16]) {
      expect(settledPort(small, surroundings(v)).availableDcW * 10).to.be.closeTo(
        settledPort(nrel, surroundings(v)).availableDcW,
        2000,
      );
    }
  });

  it('shows wind at both heights', () => {
    const p = parametersOf({ turbine: 'nrel-5mw', anemometer_height_m: 5, shear_exponent: 0.14 });
    const detail = settledPort(p, surroundings(6)).detail();
    expect(detail.windSpeedMeasuredMS).to.be.closeTo(6, 1e-9);
    expect(detail.windSpeedMS).to.be.closeTo(6 * 1.49877, 1e-3);
  });
});

describe('wind turbine as a DC port: control', () => {
  it('answers with the available power, a target, or the ceiling', () => {
    const port = settledPort(nrel, surroundings(8));
    const all = port.availableDcW;
    expect(port.answer({ targetW: null, floorW: 0, ceilingW: 1e9 })).to.equal(all);
    expect(port.answer({ targetW: 1e6, floorW: 0, ceilingW: 1e9 })).to.equal(1e6);
    expect(port.answer({ targetW: null, floorW: 0, ceilingW: 5e5 })).to.equal(5e5);
    expect(port.answer({ targetW: -1e6, floorW: -1e6, ceilingW: 0 })).to.equal(0);
    expect(port.answer({ targetW: 1e5, floorW: 2e5, ceilingW: 1e6 })).to.equal(2e5);
    expect(port.answer({ targetW: null, floorW: 1e8, ceilingW: 1e9 })).to.equal(all);
  });

  it('under curtailment it raises the pitch, turns up to 5 % faster, and returns the stored energy afterwards', () => {
    for (const p of machines) {
      const input = surroundings(14);
      const port = settledPort(p, input);
      const rated = port.detail();
      run(port, 300, input, { capW: 0.4 * port.availableDcW });
      const held = port.detail();
      expect(held.pitchDeg, p.turbine).to.be.above(rated.pitchDeg + 2);
      expect(held.rotorRpm / rated.rotorRpm).to.be.closeTo(1.05, 0.005);
      expect(held.mechanicalPowerW / rated.mechanicalPowerW).to.be.closeTo(0.4, 0.01);
      const before = port.energy.kineticJ;
      run(port, 200, input);
      expect(port.energy.kineticJ).to.be.below(before);
      expect(port.availableDcW).to.be.closeTo(p.ratedPowerW / 0.97, 0.002 * p.ratedPowerW);
    }
  });

  it('in weak wind the stored energy comes back slowly, not at rated power', () => {
    const input = surroundings(8);
    const port = settledPort(nrel, input);
    const all = port.availableDcW;
    run(port, 300, input, { capW: 0.3 * all });
    expect(port.detail().rotorRpm).to.be.closeTo(12.1 * 1.05, 0.1);
    run(port, 1, input);
    expect(port.availableDcW).to.be.within(all, 2.2 * all);
    run(port, 300, input);
    expect(port.availableDcW).to.be.closeTo(all, 0.01 * all);
  });

  it('without grid it feathers, coasts to a stop and then costs nothing', () => {
    const input = surroundings(15);
    const port = settledPort(nrel, input);
    run(port, 1, input, { energized: false });
    expect(port.detail().pitchDeg).to.be.closeTo(10.33, 0.1);
    run(port, 1, input, { energized: false });
    expect(port.detail().pitchDeg).to.be.closeTo(20.33, 0.1);
    run(port, 120, input, { energized: false });
    expect(port.detail()).to.include({
      rotorRpm: 0,
      pitchDeg: 90,
      dcPowerW: 0,
      state: 'stopped',
      region: 'parked',
    });
    expect([port.availableDcW, port.starting, port.settled]).to.deep.equal([0, false, true]);
    run(port, 2, input);
    expect(port.starting).to.equal(true);
    run(port, 200, input);
    expect(port.availableDcW).to.be.closeTo(ratedDcW, 1000);
  });

  it('from the instant of a trip it is stopped, and Cp goes with the power that brakes the rotor', () => {
    const input = surroundings(14);
    const port = settledPort(iea, input);
    expect(port.detail()).to.include({ state: 'run_rated', region: '3' });
    const areaM2 = Math.PI * 120 ** 2;
    let lowestW = 0;
    for (let i = 0; i < 40; i += 1) {
      run(port, 1, input, { energized: false });
      const { state, region, cp, mechanicalPowerW } = port.detail();
      expect([state, region], `second ${i + 1}`).to.deep.equal(['stopped', 'parked']);
      expect(cp * 0.5 * 1.225 * areaM2 * 14 ** 3).to.be.closeTo(mechanicalPowerW, 1);
      lowestW = Math.min(lowestW, mechanicalPowerW);
    }
    expect(lowestW).to.be.below(-5e6);
  });

  it('starts when the mean wind has been above cut-in for a minute, and parks when it is gone', () => {
    const port = settledPort(nrel, surroundings(1));
    expect(port.detail().state).to.equal('stopped');
    run(port, 59, surroundings(7));
    expect(port.detail().state).to.equal('stopped');
    run(port, 2, surroundings(7));
    expect(port.detail()).to.include({ state: 'starting', region: '1' });
    run(port, 300, surroundings(7));
    expect(port.detail()).to.include({ state: 'run_mppt', region: '2' });
    run(port, 300, surroundings(1));
    expect(port.detail()).to.include({ state: 'stopped', region: 'parked', rotorRpm: 0 });
  });

  it('stops in a storm over some seconds, and comes back after 5 minutes of less wind', () => {
    const port = settledPort(nrel, surroundings(20));
    run(port, 2, surroundings(26));
    expect(port.detail()).to.include({ state: 'high_wind_stop', region: 'cut_out' });
    expect(port.availableDcW).to.be.within(1, ratedDcW);
    run(port, 200, surroundings(26));
    expect([port.availableDcW, port.detail().rotorRpm]).to.deep.equal([0, 0]);
    run(port, 299, surroundings(21));
    expect(port.detail().state).to.equal('high_wind_stop');
    run(port, 300, surroundings(21));
    expect(port.availableDcW).to.be.closeTo(ratedDcW, 1000);
  });

  it('an override replaces the wind, counts as 0 when negative, and is shown as given', () => {
    const port = settledPort(nrel, surroundings(8));
    port.command({ kind: 'wind.override', speedMS: 15, height: 'hub' });
    run(port, 120, surroundings(8));
    expect(port.detail()).to.include({ source: 'override', overrideSpeedMS: 15, windSpeedMS: 15, state: 'run_rated' });
    port.command({ kind: 'wind.override', speedMS: -4, height: 'anemometer' });
    run(port, 400, surroundings(8));
    expect(port.detail()).to.include({
      overrideSpeedMS: -4,
      windSpeedMS: 0,
      cp: 0,
      tipSpeedRatio: 0,
      state: 'stopped',
    });
    port.command({ kind: 'wind.override', speedMS: null, height: 'hub' });
    run(port, 1, surroundings(8));
    expect(port.detail()).to.include({ source: 'dataset', overrideSpeedMS: null, windSpeedMS: 8 });
    expect(
      codeOf(() => {
        port.command({ kind: 'wind.override', speedMS: NaN, height: 'hub' });
      }),
    ).to.equal('COMMAND_BAD_VALUE');
  });

  it('an override in the place of the anemometer is sheared to the hub', () => {
    const p = parametersOf({ turbine: 'nrel-5mw', anemometer_height_m: 5, shear_exponent: 0.14 });
    const port = settledPort(p, surroundings(3));
    port.command({ kind: 'wind.override', speedMS: 6, height: 'anemometer' });
    run(port, 1, surroundings(3));
    expect(port.detail().windSpeedMS).to.be.closeTo(8.9926, 1e-3);
  });

  it('a restart ends the override and settles again', () => {
    const port = settledPort(nrel, surroundings(8));
    const all = port.availableDcW;
    port.command({ kind: 'wind.override', speedMS: 0, height: 'hub' });
    run(port, 300, surroundings(8));
    port.restart();
    port.prepare(1, surroundings(8));
    expect(port.detail().source).to.equal('dataset');
    expect(port.availableDcW).to.be.closeTo(all, 0.001 * all);
  });

  it('has one port with a voltage, and no curve', () => {
    const port = settledPort(nrel, surroundings(12));
    const [reading] = port.ports;
    expect(reading).to.include({ type: 'INJ', name: 'WIND', powerW: port.availableDcW });
    expect(reading!.voltageV * reading!.currentA).to.be.closeTo(reading!.powerW, 1e-6);
    expect(codeOf(() => port.curve())).to.equal('COMMAND_NOT_APPLICABLE');
  });
});
