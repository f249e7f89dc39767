import { expect } from 'chai';
import { battery, run } from './rig.ts';

const whole = { socMinPct: 0, socMaxPct: 100, socReserveMinPct: 0, socReserveMaxPct: 100 };

describe('battery: balancing', () => {
  it('high cells are bled at rest, which a reader of the cells sees, and none in a discharge', () => {
    const port = battery();
    const cells = () => port.tree().strings.flatMap(({ modules }) => modules.flatMap((module) => module.cells));
    const spreadV = () => {
      const volts = cells().map(({ voltageV }) => voltageV);
      return Math.max(...volts) - Math.min(...volts);
    };
    run(port, 60, 5, 0);
    const bled = cells().filter(({ balancing }) => balancing).length;
    expect(bled).to.be.within(10, 110);
    const beforeV = spreadV();
    run(port, 4 * 3600, 5, 0);
    expect(spreadV()).to.be.below(0.75 * beforeV);
    run(port, 20, 5, 5000);
    expect(cells().some(({ balancing }) => balancing)).to.equal(false);
  });
});

describe('battery: drift of the reported state of charge', () => {
  it('grows with throughput and time, and ends when the battery is full', () => {
    const port = battery({ socDrift: { perCyclePct: 2, perDayPct: -1 } });
    const error = () => {
      const { socPct, trueSocPct } = port.detail();
      return socPct - trueSocPct;
    };
    expect(error()).to.be.closeTo(0, 0.051);
    run(port, 12 * 3600, 10, 0);
    expect(error()).to.be.closeTo(-0.5, 0.051);
    const dischargedWh = run(port, 1800, 10, 8000);
    const grownPct = (2 * dischargedWh) / 30_000 - 1 / 48;
    expect(error()).to.be.closeTo(-0.5 + grownPct, 0.051);
    expect(port.detail().energyAvailableWh).to.be.closeTo(150 * (port.detail().trueSocPct + error()), 15);
    for (let i = 0; i < 300 && port.detail().inhibit !== 'soc_ceiling'; i += 1) run(port, 60, 10, -8000);
    expect(port.detail()).to.include({ inhibit: 'soc_ceiling', socPct: 90 });
    run(port, 24 * 3600, 10, 0);
    expect(error()).to.be.closeTo(-1, 0.051);
    port.restart();
    expect(error()).to.be.closeTo(0, 0.051);
  });

  it('is off unless a profile asks for it', () => {
    const port = battery();
    run(port, 3600, 10, 5000);
    const { socPct, trueSocPct } = port.detail();
    expect(socPct).to.be.closeTo(trueSocPct, 0.051);
  });
});

describe('battery: full and empty', () => {
  for (const chemistry of ['nmc', 'lfp'] as const) {
    for (const strings of [1, 2, 5]) {
      it(`${chemistry}, ${strings} strings: both ends lie within 0.1 % of 0 and 100 %`, () => {
        const port = battery({ ...whole, chemistry, strings });
        const ends: number[] = [];
        const until = (inhibit: string, watts: number) => {
          for (let i = 0; i < 600 && port.detail().inhibit !== inhibit; i += 1) run(port, 60, 5, watts);
          expect(port.detail().inhibit).to.equal(inhibit);
          return port.detail().trueSocPct;
        };
        for (let cycle = 0; cycle < 2; cycle += 1) {
          ends.push(100 - until('soc_ceiling', -10_000), until('soc_floor', 10_000));
        }
        for (const distance of ends) expect(distance).to.be.within(-1e-6, 0.1);
      });
    }
  }
});
