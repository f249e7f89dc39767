import { expect } from 'chai';
import { codeOf } from '../../../support/map.ts';
import { battery, run, step, weather, wide } from './rig.ts';

describe('battery control', () => {
  it('a forced mode wins over the request and ends after its time', () => {
    const port = battery();
    port.command({ kind: 'battery.control', mode: 'charge', powerW: 4000, durationS: 10.5 });
    expect(port.detail()).to.include({
      control: 'forced',
      requestedPowerW: 4000,
      clampedPowerW: 4000,
      remainingS: 10.5,
    });
    expect(port.maxStepS).to.equal(10.5);
    expect(run(port, 10.5, 1, 6000) * 3600).to.be.closeTo(-4000 * 10.5, 1e-6);
    expect(port.detail()).to.include({ control: 'auto', requestedPowerW: null, remainingS: null });
    expect(step(port, 1, 6000)).to.equal(6000);
  });

  it('without a power a forced mode requests the rating, and a request above the limits is clamped', () => {
    const port = battery();
    port.command({ kind: 'battery.control', mode: 'discharge' });
    expect(step(port, 1, -5000)).to.equal(10_000);
    port.command({ kind: 'battery.control', powerW: 25_000 });
    expect(step(port, 1, null)).to.equal(10_000);
    expect(port.detail()).to.include({
      requestedPowerW: 25_000,
      clampedPowerW: 10_000,
      mode: 'discharge',
      remainingS: null,
    });
    port.command({ kind: 'battery.control', powerW: 0 });
    expect(step(port, 1, 5000)).to.equal(0);
    port.command({ kind: 'battery.control', mode: 'idle' });
    expect(step(port, 1, 5000)).to.equal(0);
    expect(port.detail()).to.include({ control: 'forced', requestedPowerW: 0, clampedPowerW: 0 });
    port.command({ kind: 'battery.control', mode: 'auto' });
    expect(step(port, 1, 5000)).to.equal(5000);
  });

  it('limits of functions still hold for it', () => {
    const port = battery();
    port.command({ kind: 'battery.control', mode: 'discharge', powerW: 8000 });
    port.prepare(1, weather);
    expect(port.answer({ targetW: null, floorW: 0, ceilingW: 3000 })).to.equal(3000);
    expect(port.answer({ targetW: null, floorW: -5000, ceilingW: -1000 })).to.equal(-1000);
  });

  it('sets the state of charge of every cell at once', () => {
    const port = battery();
    for (const socPct of [0, 5, 50, 97, 100]) {
      port.command({ kind: 'battery.control', socPct });
      expect(port.detail().trueSocPct).to.be.closeTo(socPct, 1e-9);
      for (const soc of port.bank.cells.soc) expect(soc).to.be.within(-1e-12, 1 + 1e-12);
    }
    expect(port.detail()).to.include({ maxChargeW: 0, inhibit: 'soc_ceiling' });
    expect(port.detail().events).to.include('OVER_SOC_MAX_ALARM');
    port.command({ kind: 'battery.control', socPct: 5 });
    step(port, 1, 5000);
    expect(port.ports[0]!.powerW).to.equal(0);
    expect(step(port, 1, -5000)).to.equal(-5000);
  });

  it('refuses an invalid command in full', () => {
    const port = battery();
    const control = (members: object) =>
      codeOf(() => {
        port.command({ kind: 'battery.control', ...members });
      });
    for (const members of [
      {},
      { mode: 'float' },
      { mode: 'charge', powerW: -1 },
      { mode: 'charge', powerW: Infinity },
      { mode: 'charge', durationS: 0 },
      { socPct: 101 },
      { socPct: Number.NaN },
      { socPct: 70, strings: [{ index: 2, contactor: 'open' }] },
      {
        mode: 'charge',
        strings: [
          { index: 0, contactor: 'open' },
          { index: 0, contactor: 'closed' },
        ],
      },
      { mode: 'charge', strings: [{ index: 0, contactor: 'ajar' }] },
    ])
      expect(control(members), JSON.stringify(members)).to.equal('COMMAND_BAD_VALUE');
    for (const members of [
      { powerW: 100 },
      { durationS: 5 },
      { mode: 'auto', powerW: 5 },
      { mode: 'idle', powerW: 5 },
    ]) {
      expect(control(members), JSON.stringify(members)).to.equal('COMMAND_CONFLICT');
    }
    expect(
      codeOf(() => {
        port.command({ kind: 'hybrid.policy', policy: 'manual' });
      }),
    ).to.equal('COMMAND_NOT_APPLICABLE');
    expect(port.detail()).to.include({ socPct: 50, control: 'auto', contactorsClosed: 2 });
  });

  it('one open string leaves half of the bank', () => {
    const port = battery();
    port.command({ kind: 'battery.control', strings: [{ index: 1, contactor: 'open' }] });
    expect(port.detail()).to.include({ contactorsClosed: 1 });
    expect(port.availableDcW).to.equal(5000);
    expect(port.detail().energyAvailableWh).to.be.closeTo(3750, 30);
    run(port, 300, 1, 5000);
    const [closed, open] = port.tree().strings;
    expect(open).to.include({ contactor: 'open', currentA: 0, socPct: 50 });
    expect(closed!.socPct).to.be.below(45);
    // the string comes back only when the voltages fit
    port.command({ kind: 'battery.control', strings: [{ index: 1, contactor: 'closed' }] });
    expect(port.tree().strings[1]!.contactor).to.equal('closing');
    expect(port.settled).to.equal(false);
    expect(port.maxStepS).to.equal(2);
    run(port, 1.9, 0.1, 0);
    expect(port.detail().contactorsClosed).to.equal(1);
    run(port, 0.2, 0.1, 0);
    expect(port.detail().contactorsClosed).to.equal(2);
  });

  it('a string far from the bus waits, is reported, and closes when charging brings the bus up', () => {
    const port = battery({ socPct: 80 });
    port.command({ kind: 'battery.control', strings: [{ index: 0, contactor: 'open' }] });
    run(port, 3000, 10, 5000);
    port.command({ kind: 'battery.control', strings: [{ index: 0, contactor: 'closed' }] });
    run(port, 60, 1, 0);
    expect(port.detail().contactorsClosed).to.equal(1);
    expect(port.detail().events).to.include('CONTACTOR_ERROR');
    run(port, 3600, 1, -5000);
    expect(port.detail().contactorsClosed).to.equal(2);
    expect(port.detail().events).to.not.include('CONTACTOR_ERROR');
  });

  it('opens and closes as a whole: pre-charge of two seconds, the first string onto a dead bus', () => {
    const port = battery();
    step(port, 1, 5000);
    port.command({ kind: 'battery.connect', connect: false });
    expect(port.detail()).to.include({ state: 'disconnected', powerW: 0, dcVoltageV: 0, socPct: 50 });
    expect([port.availableDcW, port.absorbableDcW]).to.deep.equal([0, 0]);
    run(port, 600, 1, 5000);
    expect(port.ports[0]!.powerW).to.equal(0);
    port.command({ kind: 'battery.connect', connect: true });
    expect(port.detail().state).to.equal('initializing');
    run(port, 1.99, 0.02, 5000);
    expect(port.starting).to.equal(true);
    run(port, 0.04, 0.02, 5000);
    expect(port.starting).to.equal(false);
    expect(port.detail()).to.include({ contactorsClosed: 2, state: 'connected' });
  });

  it('a restart ends overrides and brings back the start values', () => {
    const port = battery({}, {}, 5);
    const fresh = { detail: port.detail(), soc: [...port.bank.cells.soc] };
    port.command({ kind: 'battery.reserve', minPct: 20, maxPct: 60 });
    port.command({ kind: 'battery.control', mode: 'discharge', strings: [{ index: 0, contactor: 'open' }] });
    run(port, 100, 1, null);
    port.restart();
    expect([...port.bank.cells.soc]).to.deep.equal(fresh.soc);
    const { temperatureC, ...now } = port.detail();
    const { temperatureC: before, ...then } = fresh.detail;
    expect(temperatureC).to.be.closeTo(before, 1);
    expect(now).to.deep.include({
      socPct: 50,
      energyDischargedWh: 0,
      control: 'auto',
      socReserveMinPct: 10,
      contactorsClosed: 2,
      cycleCount: 0,
    });
    expect(Object.keys(now)).to.deep.equal(Object.keys(then));
    expect(step(port, 1, null)).to.equal(0);
    expect(port.answer({ targetW: 100, ...wide })).to.equal(100);
  });
});
