import { expect } from 'chai';
import { FaultRegistry } from '../../../src/core/faults/registry.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { RemoteClockMode } from '../../../src/core/time/remote-clock.ts';
import { MasterClock } from '../../../src/dnp3/clock.ts';
import type { SimClock } from '../../../src/core/time/sim-clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { Stack, spec } from '../rig/stack.ts';

/** Times of events at 1700000000000 ms, as masters write them. */
const writtenMs = 1_700_000_000_000;
const tickS = 1.5;
const quiet = { info: () => undefined, warning: () => undefined, error: () => undefined };

/** Clocks of masters of a plant whose real time passes by hand. */
class Bench {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly plant: SimPlant;
  readonly #make: () => MasterClock;

  constructor(mode: RemoteClockMode, rate = 1) {
    let simClock: SimClock | undefined;
    const { wall, timers } = this;
    const plant = testPlant({
      mode: 'accelerated',
      wall,
      types: ['Batt'],
      rate,
      // the one place that hands the clock of the plant over
      faults: (clock) => {
        simClock = clock;
        const { later } = timers;
        return new FaultRegistry({ wall, later, seed: 1, sim: () => clock.sim(), deviceIndexes: () => [], log: quiet });
      },
    });
    if (simClock === undefined) throw new Error('the plant has no clock');
    const clock = simClock;
    this.plant = plant;
    const make = remoteClocks({
      mode,
      wall: this.wall,
      later: this.timers.later,
      log: { warning: () => undefined },
      timeline: {
        sim: () => clock.sim(),
        dateMs: (t) => clock.dateMs(t),
        rate: () => clock.settings.rate,
        ageMs: (t) => clock.ageMs(t),
        paused: () => clock.paused,
        at: (t, act) => plant.at(t, act),
      },
    });
    this.#make = () =>
      new MasterClock({ clock: make({ error: () => undefined }), monotonicMs: () => this.wall.monotonicMs() });
  }

  clock(): MasterClock {
    return this.#make();
  }

  synced(ms = writtenMs): MasterClock {
    const clock = this.clock();
    clock.sync(ms, this.wall.monotonicMs());
    return clock;
  }

  /** Real time with its ticks. */
  async run(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= tickS) {
      this.timers.pass(Math.min(tickS, left) * 1000);
      if (left >= tickS) await this.plant.tick();
    }
  }

  /** An event that happens now. */
  event(clock: MasterClock) {
    const instant = clock.instantOf(this.plant.time.sim);
    return () => clock.timeOf(instant).ms;
  }
}

describe('the times of DNP3 events', () => {
  for (const mode of ['wall', 'simulated'] as const)
    for (const rate of [1, 60]) {
      it(`${mode}, rate ${rate}: are the same however often they are sent, running, paused and stepped`, async () => {
        const bench = new Bench(mode, rate);
        const clock = bench.synced();
        await bench.run(2 * tickS);
        bench.timers.pass(700);
        const time = bench.event(clock);
        const first = time();
        // at the rate of the clock that carries the time of masters
        expect(first - writtenMs).to.be.closeTo(3700 * (mode === 'wall' ? 1 : rate), 1);
        await bench.run(3 * tickS);
        expect(time()).to.equal(first);
        bench.plant.setTime({ mode: 'paused' });
        bench.timers.pass(2000);
        expect(time()).to.equal(first);
        await bench.plant.step(40);
        expect(time()).to.equal(first);
        bench.plant.setTime({ mode: 'accelerated', rate: 7 });
        await bench.run(2 * tickS);
        expect(time()).to.equal(first);
      });

      it(`${mode}, rate ${rate}: do not lie before the event, nor before earlier ones`, async () => {
        const bench = new Bench(mode, rate);
        await bench.run(tickS);
        bench.timers.pass(700);
        // paused between two ticks: what acts now carries the instant of the last one
        bench.plant.setTime({ mode: 'paused' });
        const clock = bench.synced();
        const times = [bench.event(clock)()];
        expect(times[0]).to.be.at.least(writtenMs);
        const end = bench.plant.onTick(() => times.push(bench.event(clock)()));
        await bench.plant.step(40);
        end();
        expect(times.length).to.be.greaterThan(40);
        expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
        const asRead = clock.nowMs();
        expect(times.at(-1)).to.be.at.most(asRead + 0.001);
        if (mode === 'wall') expect(times.at(-1)! - times[0]!).to.equal(0);
        else expect(times.at(-1)! - times[0]!).to.be.greaterThan(39_000 * rate);
      });
    }

  for (const mode of ['wall', 'simulated'] as const)
    it(`${mode}: follow a new time of their master, and not that of another one`, async () => {
      const bench = new Bench(mode);
      const [one, other] = [bench.synced(), bench.synced(writtenMs + 1000)];
      await bench.run(tickS);
      const [ofOne, ofOther] = [bench.event(one), bench.event(other)];
      expect(ofOther() - ofOne()).to.be.closeTo(1000, 0.001);
      const before = ofOther();
      one.sync(one.nowMs() + 5000, bench.wall.monotonicMs());
      expect(ofOther()).to.equal(before);
      expect(ofOther() - ofOne()).to.be.closeTo(-4000, 0.001);
    });

  for (const mode of ['wall', 'simulated'] as const)
    it(`${mode}: keep the date that they had here while no master has written the time`, async () => {
      const bench = new Bench(mode);
      const clock = bench.clock();
      const time = bench.event(clock);
      const first = time();
      bench.plant.setTime({ clockTime: '23:00:00' });
      await bench.run(tickS);
      expect(time()).to.equal(first);
      expect(clock.timeOf({ localMs: 0, dateMs: 1 })).to.deep.equal({ ms: 1, synchronised: false });
      clock.sync(writtenMs, bench.wall.monotonicMs());
      expect(time()).to.be.closeTo(writtenMs - tickS * 1000, 0.001);
    });

  it('are asked for again a day after the last time write', () => {
    const bench = new Bench('wall');
    const clock = bench.synced();
    bench.wall.advance(24 * 3_600_000 - 1);
    expect(clock.needsTime).to.equal(false);
    bench.wall.advance(1);
    expect(clock.needsTime).to.equal(true);
    // what the master wrote still holds
    expect(clock.timeOf({ localMs: 0, dateMs: 0 }).synchronised).to.equal(true);
    clock.sync(writtenMs, bench.wall.monotonicMs());
    expect(clock.needsTime).to.equal(false);
    clock.forget();
    expect(clock.needsTime).to.equal(true);
  });

  it('an instant ahead of the clock, within a tick, is kept on the simulated clock', () => {
    const bench = new Bench('simulated');
    const clock = bench.synced();
    const { sim } = bench.plant.time;
    const ms = (seconds: number) => clock.timeOf(clock.instantOf(addSeconds(sim, seconds))).ms;
    expect(ms(0.25) - writtenMs).to.be.closeTo(250, 0.001);
    // a consequence of what was told before cannot lie before it
    expect(ms(0.1) - writtenMs).to.be.closeTo(250, 0.001);
  });
});

describe('the times of events on the wire', () => {
  const rig = () => {
    const stack = new Stack({ specs: [0, 1].map((index) => spec('binaryInput', index)) });
    for (const index of [0, 1]) stack.set('binaryInput', index, 0);
    return stack;
  };

  it('8.14 are those of the event in every transmission', () => {
    const stack = rig();
    stack.ask('c0 02 32 01 07 01 00 68 e5 cf 8b 01');
    stack.clock.pass(0x10);
    stack.set('binaryInput', 0, 1);
    const event = '02 02 28 01 00 00 00 81 10 68 e5 cf 8b 01';
    for (const seq of [1, 2, 3]) {
      stack.clock.pass(60_000);
      expect(stack.ask(`c${seq} 01 02 02 06`)).to.deep.equal([`e${seq} 81 80 00 ${event}`]);
    }
  });

  it('8.15 are relative to a common time, g51v1, where the master asks for g2v3', () => {
    const stack = rig();
    stack.ask('c0 02 32 01 07 01 00 68 e5 cf 8b 01');
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0x0102);
    stack.set('binaryInput', 1, 1);
    // beyond 65,535 ms another common time is needed: 0x10102 ms after the first
    stack.clock.pass(0x1_0000);
    stack.set('binaryInput', 1, 0);
    expect(stack.ask('c1 01 02 03 06')).to.deep.equal([
      'e1 81 80 00' +
        ' 33 01 07 01 00 68 e5 cf 8b 01 02 03 28 02 00 00 00 81 00 00 01 00 81 02 01' +
        ' 33 01 07 01 02 69 e6 cf 8b 01 02 03 28 01 00 01 00 01 00 00',
    ]);
  });

  it('TB2017-003: are g2v3 with g51v2 by default before a master has written the time', () => {
    const stack = rig();
    stack.clock.pass(0x1234);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(3);
    stack.set('binaryInput', 1, 1);
    const objects = '33 02 07 01 34 12 00 00 00 00 02 03 28 02 00 00 00 81 00 00 01 00 81 03 00';
    expect(stack.ask('c1 01 3c 02 06')).to.deep.equal([`e1 81 90 00 ${objects}`]);
    const absolute = '02 02 28 02 00 00 00 81 34 12 00 00 00 00 01 00 81 37 12 00 00 00 00';
    expect(stack.ask('c2 01 02 02 06')).to.deep.equal([`e2 81 90 00 ${absolute}`]);
    expect(stack.ask('c4 01 02 00 06')).to.deep.equal([`e4 81 90 00 ${objects}`]);
    expect(stack.ask('c3 01 02 03 06')).to.deep.equal([`e3 81 90 00 ${objects}`]);
  });
});
