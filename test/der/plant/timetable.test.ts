import { expect } from 'chai';
import fc from 'fast-check';
import { addSeconds, secondsBetween } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { codeOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { holdsAsync } from '../../support/property.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall, SlowWall } from '../../support/wall.ts';

/** Calls `act` so many simulated seconds after the end of the last tick. */
function after(plant: SimPlant, seconds: number, act: () => void): () => void {
  return plant.at(addSeconds(plant.latest.sim, seconds), act);
}

/** Seconds of the present instant since the start of the plant. */
function stopwatch(plant: SimPlant): () => number {
  const start = plant.latest.sim;
  return () => secondsBetween(start, plant.time.sim);
}

describe('Plant.at', () => {
  it('runs each act once, at its exact instant, in order of time and then of registration', async () => {
    const plant = testPlant({ types: ['PV', 'Batt'] });
    const elapsed = stopwatch(plant);
    const ran: (string | number)[] = [];
    for (const [name, seconds] of [
      ['c', 2.000001],
      ['a', 0.25],
      ['d', 3.7],
      ['b', 0.25],
    ] as const)
      after(plant, seconds, () => ran.push(name, elapsed()));
    expect(ran, 'never within the call').to.deep.equal([]);
    await plant.step(2);
    expect(ran).to.deep.equal(['a', 0.25, 'b', 0.25, 'c', 2.000001]);
    await plant.step(2);
    expect(ran.slice(6)).to.deep.equal(['d', 3.7]);
  });

  it('in random order, over any ticks', async () => {
    await holdsAsync(
      'acts in random order',
      [fc.array(fc.nat({ max: 12_000 }), { maxLength: 20 }), fc.constantFrom(0.1, 1.5, 5)],
      async (micros, tickIntervalS) => {
        const plant = testPlant({ tickIntervalS });
        const elapsed = stopwatch(plant);
        const ran: [number, number][] = [];
        micros.forEach((each, i) => after(plant, each / 1000, () => ran.push([Math.round(elapsed() * 1e6) / 1000, i])));
        await plant.step(Math.ceil(12 / tickIntervalS));
        const due = micros.map((each, i) => [each, i] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        expect(ran).to.deep.equal(due);
      },
      { runs: 30 },
    );
  });

  it('every device has advanced to it, and what the act writes or starts is stamped with it', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    const [first, second] = plant.devices;
    const t = addSeconds(plant.latest.sim, 1.2);
    plant.at(t, () => {
      first!.bank.transact(byTest, (tx) => {
        Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 30, WMaxLimPctRvrtTms: 5 });
      });
      second!.command({ kind: 'switch', closed: false }, byTest);
      plant.setGrid({ frequencyHz: 60.1 }, 0, byTest);
      plant.setSurroundings({ irradianceWm2: 500 }, 1, byTest);
      plant.setSite({ export: 1e6 }, byTest);
      first!.later(2, () => plant.setGrid({ frequencyHz: 60.2 }, 0));
    });
    await plant.step(2);
    const { bank } = first!;
    expect(bank.provenance(bank.layout.slot(704, 'WMaxLimPct')!)).to.include({ ...byTest, at: t });
    expect(second!.overrides[0]).to.include({ name: 'switch', at: t });

    expect(plant.grid(0).changedBy!.at).to.equal(t);
    expect(plant.surroundings(1).changedBy!.at).to.equal(t);
    expect(plant.site.limits.export.setBy!.at).to.equal(t);
    expect(bank.map.m704.WMaxLimPctRvrtRem).to.equal(4);
    await plant.step(1);
    expect(plant.grid(0).frequencyHz).to.equal(60.2);
    await plant.step(1);
    expect(bank.map.m704.WMaxLimPctRvrtRem, '5 s and no tick longer').to.equal(1);
    await plant.step(1);
    expect(bank.map.m704.WMaxLimPctRvrtRem).to.equal(0);
  });

  it('the instant of an act counts, though the time shown runs ahead of it between ticks', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', rate: 60, wall });
    const elapsed = stopwatch(plant);
    const seen: number[] = [];
    after(plant, 10, () => seen.push(elapsed()));
    wall.advance(1400);
    expect(elapsed()).to.equal(84);
    after(plant, 50, () => seen.push(elapsed()));
    wall.advance(100);
    await plant.tick();
    expect(seen).to.deep.equal([10, 50]);
    expect(elapsed(), 'the time shown does not go back').to.equal(90);
  });

  it('a tick that ends at its instant shows what it wrote; physics follows from there', async () => {
    const plant = testPlant();
    plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await plant.step(20);
    const { bank } = plant.devices[0]!;
    const { m701, m704 } = bank.map;
    const before = m701.W!;
    after(plant, 1.5, () => {
      bank.transact(byTest, (tx) => {
        Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 10, WRmp: 1000 });
      });
    });
    await plant.step(1);
    expect([m704.WMaxLimPct, m701.W]).to.deep.equal([10, before]);
    await plant.step(1);
    expect(m701.W).to.be.below(before / 2);
  });

  it('an instant that has passed runs at the beginning of the next tick, and never within the call', async () => {
    const plant = testPlant();
    await plant.step(2);
    const elapsed = stopwatch(plant);
    const seen: [string, number][] = [];
    after(plant, -2, () => seen.push(['past', elapsed()]));
    after(plant, 0, () => seen.push(['now', elapsed()]));
    expect(seen).to.deep.equal([]);
    await plant.step(1);
    expect(seen).to.deep.equal([
      ['past', 0],
      ['now', 0],
    ]);
  });

  it('an act may add further ones, for its own instant or before it too: these run there, in the same order', async () => {
    const plant = testPlant();
    const elapsed = stopwatch(plant);
    const seen: [string, number][] = [];
    const note = (name: string) => () => seen.push([name, elapsed()]);
    after(plant, 0.5, () => {
      note('first')();
      after(plant, 0.5, note('same'));
      after(plant, 0.1, note('earlier'));
      after(plant, 0.75, note('later'));
      expect(seen).to.have.length(1);
    });
    after(plant, 0.5, note('second'));
    await plant.step(1);
    expect(seen).to.deep.equal([
      ['first', 0.5],
      ['earlier', 0.5],
      ['second', 0.5],
      ['same', 0.5],
      ['later', 0.75],
    ]);
  });

  it('is cancelled by the function it returns, from another act too; again and afterwards that does nothing', async () => {
    const plant = testPlant();
    const ran: string[] = [];
    const cancel = after(plant, 1, () => ran.push('a'));
    after(plant, 1, () => ran.push('b'));
    cancel();
    cancel();
    const cancelLater = after(plant, 2, () => ran.push('c'));
    after(plant, 2, () => ran.push('d'));
    after(plant, 1.9, cancelLater);
    await plant.step(2);
    cancelLater();
    cancel();
    expect(ran).to.deep.equal(['b', 'd']);
  });

  it('a failing act is logged and stops neither the others nor the tick', async () => {
    const lines: string[] = [];
    const plant = testPlant({ log: { ...silentLogger, error: (message: string) => lines.push(message) } });
    const ran: string[] = [];
    after(plant, 1, () => {
      throw new Error('boom');
    });
    after(plant, 1, () => ran.push('same instant'));
    after(plant, 1.4, () => ran.push('later'));
    await plant.step(1);
    expect(lines).to.deep.equal(['a timed act failed: boom']);
    expect([ran, plant.latest.tick]).to.deep.equal([['same instant', 'later'], 1]);
    expect(plant.time.sim).to.equal(plant.latest.sim);
  });

  it('an instant that is no number is refused', () => {
    const plant = testPlant();
    expect(codeOf(() => plant.at(NaN as SimTime, () => undefined))).to.equal('COMMAND_BAD_VALUE');
  });

  it('a tick that ends early leaves what it has not reached to the next one', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ mode: 'accelerated', rate: 3600, wall });
    const elapsed = stopwatch(plant);
    const seen: number[] = [];
    const due = [30.5, 61, 1000.25, 5399];
    for (const seconds of due) after(plant, seconds, () => seen.push(elapsed()));
    wall.cost = 200;
    await plant.tick();
    const reached = secondsBetween(addSeconds(plant.latest.sim, -elapsed()), plant.latest.sim);
    expect(reached).to.be.below(5400);
    wall.cost = 0;
    for (let tick = 0; tick < 40 && seen.length < due.length; tick += 1) {
      wall.advance(1500);
      await plant.tick();
    }
    expect(seen).to.deep.equal(due);
  });

  it('one that is added in mid-tick for an instant already passed runs where the devices stand together next', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ types: ['PV', 'PV', 'PV'], wall });
    plant.setTime({ rate: 60 });
    const elapsed = stopwatch(plant);
    const seen: number[] = [];
    wall.cost = 3;
    const step = plant.step(1);
    after(plant, 10, () => seen.push(elapsed()));
    await step;
    expect(seen).to.deep.equal([90]);
  });

  it('nothing runs after the end of the plant', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    const ran: string[] = [];
    after(plant, 0.5, () => {
      ran.push('first');
      plant.end();
    });
    after(plant, 0.5, () => ran.push('second'));
    wall.advance(1500);
    await plant.tick();
    after(plant, 0.5, () => ran.push('third'))();
    await plant.tick();
    expect(ran).to.deep.equal(['first']);
  });

  it('devices may leave and join while acts wait', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    const elapsed = stopwatch(plant);
    const seen: number[] = [];
    after(plant, 2, () => seen.push(elapsed(), plant.devices.length));
    await plant.step(1);
    await plant.remove(1);
    await plant.step(1);
    expect(seen).to.deep.equal([2, 1]);
  });
});
