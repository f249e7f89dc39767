import { expect } from 'chai';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { yieldToLoop } from '../../../src/core/turns.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall, SlowWall } from '../../support/wall.ts';
import { attach, attached, kinds, powersOf, refusal, step, voltVar, volts } from './exchange-plant.ts';

describe('an exchange within ticks', () => {
  /** The second of each change, and its voltage; the tick ends after `tickS`. */
  type Course = readonly (readonly [atS: number, pu: number])[];
  const tickS = 1.5;
  const outcomeOf = (plant: SimPlant, begin: SimTime) => ({
    powers: powersOf(plant),
    means: plant.exchange.states().map((state) => [state?.meanW ?? NaN, state?.meanVar ?? NaN]),
    events: plant.exchange.events.events.map(({ place, at, event }) => [place, at - begin, event]),
  });

  /** A clock that runs, and one tick over all changes. */
  async function inOneTick(course: Course) {
    const wall = new HandWall();
    const plant = testPlant({ types: kinds, wall, mode: 'accelerated', tickIntervalS: tickS, ...voltVar });
    const begin = plant.latest.sim;
    attach(plant);
    let passedS = 0;
    for (const [atS, pu] of course) {
      wall.advance(1000 * (atS - passedS));
      plant.exchange.put(volts(pu));
      passedS = atS;
    }
    wall.advance(1000 * (tickS - passedS));
    await plant.tick();
    plant.exchange.collect();
    return outcomeOf(plant, begin);
  }

  /** The same course in steps from change to change. */
  async function inSteps(course: Course) {
    const plant = attached(kinds, voltVar);
    const begin = plant.now;
    const energies = () => plant.exchange.states().map((state) => [state?.energyWh ?? NaN, state?.energyVarh ?? NaN]);
    const before = energies();
    const events = [];
    const changes: Course = [[0, NaN], ...course];
    for (const [n, [atS, pu]] of changes.entries()) {
      await step(plant, (changes[n + 1]?.[0] ?? tickS) - atS, Number.isNaN(pu) ? {} : volts(pu));
      events.push(...outcomeOf(plant, begin).events);
    }
    const means = energies().map((each, place) =>
      each.map((energy, n) => ((energy - (before[place]?.[n] ?? NaN)) * 3600) / tickS),
    );
    return { powers: powersOf(plant), means, events };
  }

  for (const course of [
    [
      [0.3, 0.4],
      [0.9, 1.02],
    ],
    [
      [0.2, 1.08],
      [0.5, 0.3],
      [1.1, 0.97],
    ],
  ] as const)
    it(`takes ${course.length} puts within one tick as steps from one to the next do`, async () => {
      const [whole, steps] = [await inOneTick(course), await inSteps(course)];
      expect(whole.powers).to.deep.equal(steps.powers);
      expect(whole.events).to.deep.equal(steps.events);
      expect(whole.events.length, 'they cease').to.be.greaterThan(2);
      for (const [place, means] of whole.means.entries())
        for (const [n, mean] of means.entries()) expect(mean).to.be.closeTo(steps.means[place]?.[n] ?? NaN, 1e-6);
    });

  it('begins and ends within a tick at its instant', async () => {
    const wall = new HandWall();
    const plant = testPlant({ types: ['PV'], wall, mode: 'accelerated', tickIntervalS: tickS });
    const begin = plant.latest.sim;
    const pass = (ms: number) => {
      wall.advance(ms);
    };
    plant.setGrid({ voltagePu: 0.4 });
    pass(300);
    plant.exchange.attach([0], 'solver', byTest);
    plant.exchange.put(volts(1));
    pass(400);
    plant.exchange.put(volts(0.4));
    pass(400);
    plant.exchange.end();
    pass(200);
    plant.setGrid({ voltagePu: 1 });
    pass(200);
    await plant.tick();
    const changes = plant.device(0).trace.transitions.map(({ at, to }) => [(at - begin) / 1e6, to]);
    expect(changes).to.deep.equal([
      [0.083, 'momentary_cessation'],
      [0.3, 'in_service'],
      [0.783, 'momentary_cessation'],
      [1.3, 'in_service'],
    ]);
  });

  it('takes a hundred instants within one tick, and counts later values from the last of them', async () => {
    const wall = new HandWall();
    const plant = testPlant({ types: ['PV'], wall, mode: 'accelerated', tickIntervalS: tickS });
    const begin = plant.latest.sim;
    plant.exchange.attach([0], 'solver', byTest);
    for (let n = 0; n < 100; n += 1) {
      wall.advance(10);
      plant.exchange.put(volts(1 + (n % 2) / 100));
    }
    wall.advance(200);
    plant.exchange.put(volts(0.3));
    wall.advance(300);
    await plant.tick();
    plant.exchange.collect();
    const { events } = plant.exchange.events;
    expect(events.map(({ at, event }) => [(at - begin) / 1e6, event])).to.deep.equal([[1.083, 'momentary_cessation']]);
    wall.advance(100);
    plant.exchange.put(volts(1));
    expect(plant.grid(0)).to.include({ voltageAPu: 1 });
  });

  it('tells what happened within a step at its instant, and once', async () => {
    const plant = attached(['PV', 'PV']);
    const begin = plant.now;
    await step(plant, 5);
    await step(plant, 5, { aPu: [1, 0.3], frequencyHz: 60 });
    const { events, lost } = plant.exchange.events;
    expect(lost).to.equal(0);
    expect(events.map(({ place, event }) => [place, event])).to.deep.equal([
      [1, 'momentary_cessation'],
      [1, 'tripped'],
    ]);
    expect(events[0]?.at).to.equal(addSeconds(begin, 5.083));
    await step(plant, 1);
    expect(plant.exchange.events.events).to.deep.equal([]);
  });

  it('has each change of service once, counts those that a device no longer keeps, and has those before its removal', async () => {
    const wall = new HandWall();
    const plant = attach(testPlant({ types: ['PV'], wall, mode: 'accelerated', tickIntervalS: 8 }));
    const pass = (pu: number) => {
      plant.exchange.put(volts(pu));
      wall.advance(100);
    };
    const tick = async () => {
      wall.advance(1000);
      await plant.tick();
      plant.exchange.collect();
      const { events, lost } = plant.exchange.events;
      return [events.length, lost];
    };
    for (let n = 0; n < 35; n += 1) for (const pu of [0.4, 1]) pass(pu);
    expect(await tick()).to.deep.equal([64, 6]);
    expect(await tick()).to.deep.equal([0, 0]);
    pass(0.4);
    await plant.tick();
    await plant.remove(0);
    plant.exchange.collect();
    expect(plant.exchange.events.events.map(({ event }) => event)).to.deep.equal([
      'momentary_cessation',
      'tripped',
      'removed',
    ]);
  });

  it('shows the last tick while the next one has passed some devices, and tries none before its end', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ types: ['PV', 'PV'], wall, mode: 'accelerated', tickIntervalS: 2, rate: 100 });
    plant.exchange.attach([0, 1], 'solver', byTest);
    wall.advance(2000);
    await plant.tick();
    const energies = () => plant.exchange.states().map((state) => state?.energyWh ?? NaN);
    const shown = energies();
    wall.cost = 5;
    const ticking = plant.tick();
    let trial: unknown;
    const trying = plant.exchange.betweenTicks(() => (trial = plant.exchange.trial({}, 1)));
    expect(plant.device(0).flow.energyWh).to.be.greaterThan(shown[0] ?? NaN);
    plant.exchange.collect();
    expect([energies(), trial]).to.deep.equal([shown, undefined]);
    const [first, second] = plant.exchange.states();
    expect([first?.meanW, second?.meanW].map((mean) => Math.round((mean ?? NaN) / 1000))).to.deep.equal([9, 9]);
    await ticking;
    expect(await trying).to.have.length(2);
  });

  /** A clock that runs so slowly that work goes on between the devices of a tick; the first tick has ended. */
  async function slowPlant(count: number) {
    const wall = new SlowWall();
    const types = Array.from({ length: count }, () => 'PV');
    const plant = attach(testPlant({ types, wall, mode: 'accelerated', tickIntervalS: tickS }));
    const tick = (slots = 1) => {
      wall.advance(1000 * tickS * slots);
      return plant.tick(slots);
    };
    await tick();
    return { plant, wall, tick };
  }

  it('has the changes of service up to the last tick while the next one has passed some devices', async () => {
    const { plant, wall, tick } = await slowPlant(2);
    plant.exchange.put(volts(0.3));
    wall.cost = 5;
    const ticking = tick();
    expect(plant.device(0).trace.service, 'has passed').to.equal('momentary_cessation');
    const events = () => {
      plant.exchange.collect();
      return plant.exchange.events.events.map(({ place, event }) => [place, event]);
    };
    expect(events()).to.deep.equal([]);
    await ticking;
    expect(events()).to.deep.equal([
      [0, 'momentary_cessation'],
      [1, 'momentary_cessation'],
    ]);
  });

  for (const [what, change] of [
    ['values of the exchange', (plant: SimPlant) => plant.exchange.put(volts(0.4))],
    ['an end of the exchange', (plant: SimPlant) => plant.exchange.end()],
    ['controls/grid', (plant: SimPlant) => plant.setGrid({ voltagePu: 0.4 })],
  ] as const)
    it(`takes ${what} during a late tick from the end of that tick on, for every device`, async () => {
      const { plant, wall, tick } = await slowPlant(2);
      if (what !== 'values of the exchange') plant.exchange.end();
      if (what === 'an end of the exchange') {
        plant.setGrid({ voltagePu: 0.4 });
        attach(plant);
        plant.exchange.put(volts(1));
      }
      await tick();
      const lateEnd = addSeconds(plant.latest.sim, 3 * tickS);
      const changesBefore = plant.devices.map(({ trace }) => trace.transitions.length);
      wall.cost = 5;
      const ticking = tick(3);
      change(plant);
      expect(plant.grid(0).voltageAPu, 'shown at once').to.equal(0.4);
      await ticking;
      wall.cost = 0;
      expect(plant.latest.sim).to.equal(lateEnd);
      await tick();
      const changes = plant.devices.map(({ trace }, n) =>
        trace.transitions.slice(changesBefore[n]).map(({ at }) => at),
      );
      const each = [addSeconds(lateEnd, 0.083)];
      expect(changes).to.deep.equal([each, each]);
    });

  it('takes the states of many devices in parts, and shows them at once', async () => {
    const { plant, wall, tick } = await slowPlant(50);
    wall.cost = 5;
    const { exchange } = plant;
    const shown = () => JSON.stringify([exchange.shown?.tick, exchange.states().map((state) => state?.energyWh)]);
    const views = new Set([shown()]);
    const progress = { isOver: false };
    const ticking = tick().then(() => (progress.isOver = true));
    let turnsBetween = 0;
    while (!progress.isOver) {
      await yieldToLoop();
      views.add(shown());
      if (exchange.shown?.tick !== plant.latest.tick) turnsBetween += 1;
    }
    await ticking;
    expect(views.size).to.equal(2);
    expect(turnsBetween).to.be.greaterThan(1);
  });

  it('has no result of a step that the end of the plant cuts short', async () => {
    const wall = new SlowWall();
    const plant = attached(['PV', 'PV'], { wall });
    wall.cost = 5;
    const pending = step(plant, 10);
    plant.end();
    expect(await refusal(() => pending)).to.equal('STOPPING: the simulator is stopping');
    const ticking = testPlant({ types: ['PV', 'PV'], wall });
    const ticks = ticking.step(1);
    ticking.end();
    expect(await refusal(() => ticks)).to.equal('STOPPING: the simulator is stopping');
  });
});
