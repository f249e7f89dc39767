import { expect } from 'chai';
import fc from 'fast-check';
import type { TickEvent } from '../../../src/contract/plant.ts';
import { addSeconds, secondsBetween } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { failureOf } from '../../support/client.ts';
import { testPlant } from '../../support/plant.ts';
import { holdsAsync } from '../../support/property.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall } from '../../support/wall.ts';

/** Runs to so many simulated seconds after the end of the last tick. */
function run(plant: SimPlant, seconds: number): Promise<TickEvent> {
  return plant.runTo(addSeconds(plant.latest.sim, seconds), byTest);
}

/** Lengths of the ticks from now on, s. */
function tickLengths(plant: SimPlant): number[] {
  const lengths: number[] = [];
  let before = plant.latest.sim;
  plant.onTick(({ sim }) => {
    lengths.push(secondsBetween(before, sim));
    before = sim;
  });
  return lengths;
}

describe('Plant.runTo', () => {
  it('runs whole ticks and a shorter last one that ends exactly there; the writer is noted once', async () => {
    const plant = testPlant();
    const lengths = tickLengths(plant);
    const begin = plant.time.sim;
    const event = await run(plant, 4.000001);
    expect(lengths).to.deep.equal([1.5, 1.5, 1.000001]);
    expect(event).to.equal(plant.latest);
    expect(secondsBetween(begin, event.sim)).to.equal(4.000001);
    expect(plant.time.steppedBy).to.include({ ...byTest, at: begin });
    await run(plant, 3);
    expect(lengths.slice(3), 'no shorter one where whole ones fit').to.deep.equal([1.5, 1.5]);
  });

  it('ends exactly at any instant, at any rate', async () => {
    await holdsAsync(
      'any instant at any rate',
      [
        fc.array(fc.integer({ min: 1, max: 400_000_000 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(1, 7.3, 60, 3600),
      ],
      async (spans, rate) => {
        const plant = testPlant({ types: ['Batt'], tickIntervalS: 1.5, rate });
        for (const micros of spans) {
          const t = (plant.latest.sim + micros) as SimTime;
          expect((await plant.runTo(t)).sim).to.equal(t);
          expect(plant.time.sim).to.equal(t);
        }
      },
      { runs: 10 },
    );
  });

  it('to the present instant runs no tick', async () => {
    const plant = testPlant();
    await plant.step(1);
    expect((await plant.runTo(plant.time.sim)).tick).to.equal(1);
  });

  it('refuses the past, what is too far, and no number; nothing has run then', async () => {
    const plant = testPlant({ tickIntervalS: 0.1, rate: 0.01 });
    for (const [seconds, text] of [
      [-0.5, 'lies 0.5 s in the past'],
      [100.000001, 'lies 100.000001 s ahead, at 0.001 s per tick; allowed: up to 100000 ticks'],
      [NaN, 'is no number'],
    ] as const) {
      const error = await failureOf(run(plant, seconds));
      expect([error.code, error.message], text).to.deep.equal(['COMMAND_BAD_VALUE', `the instant ${text}`]);
    }
    expect([plant.latest.tick, plant.time.steppedBy]).to.deep.equal([0, null]);
  });

  it('needs the clock paused, and ends when it no longer is', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    expect((await failureOf(run(plant, 0))).code).to.equal('COMMAND_CONFLICT');
    plant.setTime({ mode: 'paused' });
    plant.onTick(() => {
      if (plant.latest.tick === 2) plant.setTime({ mode: 'accelerated' });
    });
    expect((await failureOf(run(plant, 100))).code).to.equal('COMMAND_CONFLICT');
    expect(plant.latest.tick).to.equal(2);
  });

  it('ends also when the clock is paused again before its next tick', async () => {
    const plant = testPlant();
    plant.onTick(() => {
      if (plant.latest.tick !== 2) return;
      plant.setTime({ mode: 'accelerated' });
      plant.setTime({ mode: 'paused' });
    });
    const failure = await failureOf(plant.step(100));
    expect([failure.code, failure.message, plant.latest.tick]).to.deep.equal([
      'COMMAND_CONFLICT',
      'the clock left the mode paused; 2 ticks of the request have run',
      2,
    ]);
    await plant.step(1);
    expect(plant.latest.tick).to.equal(3);
  });

  it('where the clock was paused between two ticks, the end of the last tick is shown, and is the earliest', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    const begin = plant.latest.sim;
    wall.advance(600);
    plant.setTime({ mode: 'paused' });
    expect(plant.time.sim).to.equal(begin);
    expect((await failureOf(plant.runTo(addSeconds(begin, -0.1)))).code).to.equal('COMMAND_BAD_VALUE');
    await plant.runTo(addSeconds(begin, 0.5));
    expect([plant.latest.tick, secondsBetween(begin, plant.latest.sim)]).to.deep.equal([1, 0.5]);
  });

  it('follows a rate that changes on the way; one that puts the instant out of reach ends it', async () => {
    const plant = testPlant({ tickIntervalS: 0.1, rate: 10 });
    const lengths = tickLengths(plant);
    plant.onTick(({ tick }) => {
      if (tick === 1) plant.setTime({ rate: 20 });
      if (tick === 4) plant.setTime({ rate: 0.01 });
    });
    await run(plant, 4.5);
    expect(lengths).to.deep.equal([1, 2, 1.5]);
    expect((await failureOf(run(plant, 200))).code).to.equal('COMMAND_BAD_VALUE');
    expect(plant.latest.tick).to.equal(4);
  });

  it('acts at its end run before it is done', async () => {
    const plant = testPlant();
    const ran: string[] = [];
    plant.at(addSeconds(plant.latest.sim, 2), () => ran.push('at the end'));
    plant.at(addSeconds(plant.latest.sim, 2.000001), () => ran.push('after it'));
    await run(plant, 2);
    expect(ran).to.deep.equal(['at the end']);
  });

  it('takes its turn after other steps, and the present instant is the one of then', async () => {
    const plant = testPlant();
    const begin = plant.latest.sim;
    const [, second] = await Promise.allSettled([plant.step(2), plant.runTo(addSeconds(begin, 1))]);
    expect(second.status).to.equal('rejected');
    expect(plant.latest.tick).to.equal(2);
  });

  it('ends with the plant', async () => {
    const plant = testPlant();
    plant.onTick(() => {
      plant.end();
    });
    expect((await failureOf(run(plant, 100))).code).to.equal('STOPPING');
  });

  it('simAt is the other way round of dateMs, also after the time of day was set', async () => {
    const plant = testPlant();
    await plant.step(1);
    for (const clockTime of ['07:00:00', '23:59:59']) {
      plant.setTime({ clockTime });
      const { sim, dateMs } = plant.time;
      expect(plant.simAt(dateMs)).to.equal(sim);
      expect(plant.simAt(dateMs + 1234.567)).to.equal(addSeconds(sim, 1.234567));
    }
  });
});
