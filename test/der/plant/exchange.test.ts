import { expect } from 'chai';
import type { OutsideColumns } from '../../../src/contract/exchange.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { failureOf } from '../../support/client.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall, SlowWall } from '../../support/wall.ts';

const kinds = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
const voltVar = { models: { 705: { Ena: 'ENABLED' } } };

function attached(types: readonly string[] = kinds, options = {}): SimPlant {
  const plant = testPlant({ types, ...options });
  plant.exchange.attach(
    plant.devices.map(({ index }) => index),
    'solver',
    byTest,
  );
  return plant;
}

const ahead = (plant: SimPlant, seconds: number) => addSeconds(plant.now, seconds);
const step = (plant: SimPlant, seconds: number, values: OutsideColumns = {}) =>
  plant.exchange.step((now) => addSeconds(now, seconds), values);
const powersOf = (plant: SimPlant) =>
  plant.exchange.states().map((state) => state && [state.powerW, state.reactivePowerVar]);
const refusal = async (act: () => unknown): Promise<string> => {
  const { code, message } = (await failureOf(Promise.resolve().then(act))) as { code: string; message: string };
  return `${code}: ${message}`;
};

describe('the exchange with a grid outside', () => {
  it('gives the same powers whatever the length of a step, each of one tick', async () => {
    const outcomes = [];
    for (const [seconds, count] of [
      [20, 1],
      [1, 20],
      [0.1, 200],
    ] as const) {
      const plant = attached(kinds, voltVar);
      await step(plant, 5, { aPu: 1, bPu: 1, cPu: 1 });
      const { tick } = plant.latest;
      plant.exchange.put({ aPu: 1.05, bPu: 1.04, cPu: 1.06 });
      for (let n = 0; n < count; n += 1) await step(plant, seconds);
      expect(plant.latest.tick - tick).to.equal(count);
      outcomes.push(powersOf(plant));
    }
    const [whole, ...others] = outcomes;
    for (const other of others) expect(other).to.deep.equal(whole);
    expect(new Set(whole?.map((power) => power?.[1])).size, 'they respond').to.be.greaterThan(2);
  });

  /** The second of each change, and its voltage; the tick ends after `tickS`. */
  type Course = readonly (readonly [atS: number, pu: number])[];
  const tickS = 1.5;
  const volts = (pu: number) => ({ aPu: pu, bPu: pu - 0.005, cPu: pu + 0.005 });
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
    plant.exchange.attach(
      plant.devices.map(({ index }) => index),
      'solver',
      byTest,
    );
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

  it('takes a thousand instants within one tick, and counts later values from the last of them', async () => {
    const wall = new HandWall();
    const plant = testPlant({ types: ['PV'], wall, mode: 'accelerated', tickIntervalS: tickS });
    const begin = plant.latest.sim;
    plant.exchange.attach([0], 'solver', byTest);
    for (let n = 0; n < 1000; n += 1) {
      wall.advance(1);
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

  it('acts as the same values by controls/grid do', async () => {
    const [outside, inside] = [attached(kinds, voltVar), testPlant({ types: kinds, tickIntervalS: 7.25, ...voltVar })];
    for (const [n, voltagePu] of [1.02, 0.96, 1.07, 1].entries()) {
      const aPu = outside.devices.map(({ index }) => voltagePu + 0.001 * index);
      for (const { index } of inside.devices)
        inside.setGrid({ voltagePu: voltagePu + 0.001 * index, frequencyHz: 60 + n / 100 }, index);
      await step(outside, 7.25, { aPu, bPu: aPu, cPu: aPu, frequencyHz: 60 + n / 100 });
      await inside.runTo(ahead(inside, 7.25));
      const flows = inside.devices.map(({ flow }) => [flow.powerW, flow.reactivePowerVar]);
      expect(powersOf(outside)).to.deep.equal(flows);
    }
  });

  it('goes along ramps as controls/grid does, through steps', async () => {
    const [outside, inside] = [attached(kinds, voltVar), testPlant({ types: kinds, tickIntervalS: 2, ...voltVar })];
    await Promise.all([step(outside, 2), inside.runTo(ahead(inside, 2))]);
    outside.exchange.put({ aPu: 1.06, bPu: 1.06, cPu: 1.06, frequencyHz: 60.1 }, 4);
    inside.setGrid({ voltagePu: 1.06, frequencyHz: 60.1, rampS: 4 });
    for (const remainingS of [4, 2]) {
      expect(outside.grid(0).rampRemainingS).to.equal(remainingS);
      await Promise.all([step(outside, 2), inside.runTo(ahead(inside, 2))]);
      const flows = inside.devices.map(({ flow }) => [flow.powerW, flow.reactivePowerVar]);
      expect(powersOf(outside)).to.deep.equal(flows);
    }
    expect(outside.grid(0)).to.include({ voltageAPu: 1.06, frequencyHz: 60.1, rampRemainingS: 0 });
  });

  it('has no exact trial on a ramp', async () => {
    const plant = attached(['PV']);
    const isExact = () => plant.exchange.trial({}, 1)[0]?.exact;
    await step(plant, 2);
    expect(isExact()).to.equal(true);
    plant.exchange.put({ aPu: 1.01, bPu: 1.01, cPu: 1.01 }, 4);
    expect(isExact()).to.equal(false);
    await step(plant, 4);
    expect(isExact()).to.equal(true);
  });

  it('begins with the present grid, and returns devices to it', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.setGrid({ voltagePu: 0.97 });
    plant.setGrid({ voltagePu: 1.04 }, 1);
    plant.exchange.attach([1], 'solver', byTest);
    expect(plant.grid(1).voltageAPu).to.equal(1.04);
    await step(plant, 1, { aPu: 1.1 });
    expect([plant.grid(0).voltageAPu, plant.grid(1).voltageAPu]).to.deep.equal([0.97, 1.1]);
    expect(plant.grid().deviatingDevices).to.deep.equal([1]);
    plant.exchange.end();
    expect(plant.grid(1).voltageAPu).to.equal(1.04);
    expect(plant.exchange.now).to.equal(null);
  });

  it('keeps the voltages of an outage for its end', async () => {
    const plant = attached(['PV']);
    await step(plant, 1, { aPu: 1.03 });
    await step(plant, 1, { outage: true });
    expect(plant.grid(0)).to.include({ outage: true, voltageAPu: 0, frequencyHz: 0 });
    expect(plant.exchange.states()[0]).to.include({ powerW: 0 });
    await step(plant, 1, { outage: false });
    expect(plant.grid(0)).to.include({ outage: false, voltageAPu: 1.03, frequencyHz: 60 });
    plant.exchange.end();
    plant.setGrid({ outage: true });
    plant.exchange.attach([0], 'solver', byTest);
    expect(plant.grid(0).outage).to.equal(true);
    await step(plant, 1, { outage: [false] });
    expect(plant.grid(0)).to.include({ voltageAPu: 1, frequencyHz: 60 });
  });

  it('acts as an outage where no phase has a voltage', async () => {
    const [dead, out] = [attached(kinds), attached(kinds)];
    for (const plant of [dead, out]) await step(plant, 10);
    await step(dead, 3, { aPu: 0, bPu: 0, cPu: 0 });
    await step(out, 3, { outage: true });
    expect(powersOf(dead)).to.deep.equal(powersOf(out));
    expect(dead.exchange.events).to.deep.equal(out.exchange.events);
    expect(dead.grid(0)).to.deep.include({ outage: true, voltageAPu: 0, frequencyHz: 0 });
    await step(dead, 1, { cPu: 0.5 });
    expect(dead.grid(0)).to.include({ outage: false, voltageCPu: 0.5, frequencyHz: 60 });
  });

  it('belongs to one owner, and keeps others from the grid of its devices alone', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.exchange.attach([1], 'solver', byTest);
    const owned = 'COMMAND_CONFLICT: "solver" gives the grid of ';
    expect(await refusal(() => plant.setGrid({ voltagePu: 1 }))).to.contain(`${owned}attached devices`);
    expect(await refusal(() => plant.setGrid({ voltagePu: 1 }, 1))).to.contain(`${owned}device 1`);
    expect(await refusal(() => plant.startGridEvent('sag', {}, 1))).to.contain(`${owned}device 1`);
    expect(await refusal(() => plant.stopGridEvent())).to.contain(owned);
    plant.setGrid({ voltagePu: 0.98 }, 0);
    expect(await refusal(() => plant.exchange.attach([0], 'other', byTest))).to.contain('"solver" has an exchange');
    plant.exchange.end();
    for (const act of [() => plant.exchange.put({}), () => plant.exchange.end(), () => plant.exchange.states()])
      expect(await refusal(act)).to.contain('COMMAND_CONFLICT: no devices are attached');
  });

  it('is refused where the simulator has a feeder of its own, for unknown devices, and backwards', async () => {
    const behind = testPlant({ types: ['PV'], feeder: { scr: 5, xOverR: 2 } });
    expect(await refusal(() => behind.exchange.attach([0], 'solver', byTest))).to.contain('grid.feeder');
    const plant = testPlant({ types: ['PV'] });
    expect(await refusal(() => plant.exchange.attach([0, 7], 'solver', byTest))).to.contain('UNKNOWN_DEVICE');
    expect(plant.exchange.now).to.equal(null);
    plant.setGrid({ voltagePu: 0.99 }, 0);
    plant.exchange.attach([0], 'solver', byTest);
    expect(await refusal(() => plant.exchange.step((now) => now, { aPu: 0.9 }))).to.contain('COMMAND_BAD_VALUE');
    expect(await refusal(() => plant.exchange.step((now) => (now - 1) as SimTime, { aPu: 0.9 }))).to.contain(
      'must end after',
    );
    expect(plant.grid(0).voltageAPu, 'nothing is applied').to.equal(0.99);
    plant.setTime({ mode: 'accelerated' });
    expect(await refusal(() => step(plant, 1, { aPu: 0.9 }))).to.contain('needs the clock paused');
    expect(plant.grid(0).voltageAPu).to.equal(0.99);
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
    const plant = testPlant({ types: ['PV'], wall: new HandWall() });
    plant.setTime({ mode: 'accelerated' });
    plant.exchange.attach([0], 'solver', byTest);
    plant.setTime({ mode: 'paused' });
    const pass = async (pu: number) => {
      plant.exchange.put({ aPu: pu, bPu: pu, cPu: pu });
      await plant.step(1);
    };
    for (let n = 0; n < 35; n += 1) for (const pu of [0.4, 1]) await pass(pu);
    plant.exchange.collect();
    const { events, lost } = plant.exchange.events;
    expect([events.length, lost]).to.deep.equal([64, 6]);
    plant.exchange.collect();
    expect(plant.exchange.events).to.deep.equal({ events: [], lost: 0 });
    await pass(0.4);
    await plant.remove(0);
    plant.exchange.collect();
    expect(plant.exchange.events.events.map(({ event }) => event)).to.deep.equal(['momentary_cessation', 'removed']);
  });

  it('keeps the place of a device that is removed, with its event', async () => {
    const plant = attached(['PV', 'PV', 'PV']);
    await step(plant, 1);
    await plant.remove(1);
    await step(plant, 1, { aPu: [1.01, 1.02, 1.03] });
    expect(plant.exchange.states().map((state) => state === null)).to.deep.equal([false, true, false]);
    expect(plant.grid(2).voltageAPu).to.equal(1.03);
    expect(plant.exchange.events.events.map(({ place, event }) => [place, event])).to.deep.equal([[1, 'removed']]);
  });

  it('keeps a device that is reset attached with its voltages', async () => {
    const plant = attached(['PV']);
    await step(plant, 1, { aPu: 1.04 });
    plant.device(0).command({ kind: 'reset', scope: 'device' }, byTest);
    expect(plant.grid(0).voltageAPu).to.equal(1.04);
  });

  it('says wiring, base voltage and powers of each device, and phases whose sums are the whole', async () => {
    const plant = attached(['PV-1Phase', 'Batt-3Phase', 'EVSE']);
    const [pv, battery, charger] = plant.exchange.now?.devices ?? [];
    expect(pv).to.include({ index: 0, kind: 'pv', wiring: 'single', minW: 0 });
    expect(battery?.wiring).to.equal('three');
    expect(battery?.minW).to.be.lessThan(0);
    expect(charger).to.include({ maxW: 0 });
    await step(plant, 10, { aPu: 1.02, bPu: 0.99, cPu: 1.01 });
    for (const [place, state] of plant.exchange.states().entries()) {
      const sum = state?.phases.reduce((total, { w }) => total + w, 0) ?? NaN;
      expect(sum).to.be.closeTo(state?.powerW ?? 0, 1e-9);
      expect(state?.phases).to.have.length(plant.exchange.now?.devices[place]?.wiring === 'three' ? 3 : 1);
    }
  });

  it('has the mean power since the last answer where other ticks have passed time', async () => {
    const plant = testPlant({ types: ['PV-3Phase'], wall: new HandWall(), time: '00:00:00' });
    plant.setTime({ mode: 'accelerated' });
    plant.exchange.attach([0], 'solver', byTest);
    plant.setTime({ mode: 'paused' });
    await plant.step(100);
    const { powerW = NaN } = plant.exchange.states()[0] ?? {};
    await step(plant, 1);
    // the consumption of a night
    expect(powerW).to.equal(-2);
    expect(plant.exchange.states()[0]?.meanW).to.be.closeTo(powerW, 0.1);
  });

  it('is refused while a request of ticks passes time', async () => {
    const plant = testPlant({ types: ['PV-3Phase'] });
    const ticks = plant.step(2);
    expect(await refusal(() => plant.exchange.attach([0], 'solver', byTest))).to.contain(
      'a step of the clock is under way',
    );
    await ticks;
    expect(plant.exchange.attach([0], 'solver', byTest).pace).to.equal('stepped');
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

  it('has the mean power of a step, from its energy', async () => {
    const plant = attached(['PV']);
    await step(plant, 10);
    await step(plant, 4, { outage: true });
    await step(plant, 4);
    expect(plant.exchange.states()[0]).to.include({ powerW: 0, meanW: 0 });
    const other = attached(['PV']);
    await step(other, 10);
    const before = other.exchange.states()[0]?.powerW ?? 0;
    await step(other, 10);
    expect(other.exchange.states()[0]?.meanW).to.be.closeTo(before, 0.01 * before);
  });
});
