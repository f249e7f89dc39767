import { expect } from 'chai';
import { testPlant } from '../../support/plant.ts';
import { HandWall, SlowWall } from '../../support/wall.ts';

describe('Plant under more work than the machine can do', () => {
  it('cuts the simulated time of a tick, says so, and recovers', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ wall });
    plant.setTime({ mode: 'accelerated', rate: 3600 });
    // every look at the clock costs time: a tick of 5,400 s of moving grid takes far more than 1.5 s
    plant.setGrid({ voltagePu: 0.95, rampS: 100_000 });
    // the tick after a change of rate goes where the clock has run to, the next ones are whole
    await plant.tick();
    wall.cost = 20;
    const spans: number[] = [];
    for (let i = 0; i < 12; i += 1) {
      const before = plant.latest.sim;
      await plant.tick();
      spans.push((plant.latest.sim - before) / 1e6);
    }
    // the first dear tick ends early too: it is done in pieces
    for (const span of spans) expect(span).to.be.within(1, 2700);
    expect(plant.time.rateEffective).to.be.below(3600);
    wall.cost = 0;
    plant.setGrid({ voltagePu: 1 });
    for (let i = 0; i < 20; i += 1) await plant.tick();
    const before = plant.latest.sim;
    await plant.tick();
    expect((plant.latest.sim - before) / 1e6).to.equal(5400);
  });

  it('goes on in steps of at least a second where the ticks themselves are too dear', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ wall });
    plant.setTime({ mode: 'accelerated', rate: 1 });
    await plant.tick();
    wall.cost = 5000;
    for (let i = 0; i < 30; i += 1) {
      const before = plant.latest.sim;
      await plant.tick();
      expect((plant.latest.sim - before) / 1e6).to.be.at.least(1);
    }
    expect(plant.health.rateHeld).to.equal(false);
  });

  it('ends in the middle of a tick when told to', async () => {
    const plant = testPlant();
    plant.setTime({ mode: 'paused', rate: 3600 });
    plant.setGrid({ voltagePu: 0.95, rampS: 100_000 });
    const stepping = plant.step(1000).then(
      () => 'done',
      (error: unknown) => (error as { code: string }).code,
    );
    setImmediate(() => {
      plant.end();
    });
    expect(await stepping).to.equal('STOPPING');
    expect(plant.latest.tick, 'not even the first').to.equal(0);
  });
});

describe('Requests while paused between two ticks', () => {
  it('take effect where the devices are, not where the clock shows', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    await plant.tick();
    wall.advance(1400);
    plant.setTime({ mode: 'paused', rate: 0.1 });
    plant.setGrid({ voltagePu: 0.9 });
    const { bank } = plant.devices[0]!;
    bank.transact({ source: 'rest' }, (tx) => {
      tx.m704.WMaxLimPctRvrtTms = 1;
      tx.m704.WMaxLimPctEna = 'ENABLED';
    });
    await plant.step(1);
    expect(plant.grid().voltageAPu).to.equal(0.9);
    expect(bank.map.m701.LNV).to.be.closeTo((0.9 * 480) / Math.sqrt(3), 0.1);
    await plant.step(6);
    expect(bank.map.m704.WMaxLimPctEna).to.equal('DISABLED');
  });
});
