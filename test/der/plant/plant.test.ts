import { expect } from 'chai';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { LogEntry } from '../../../src/core/log/log.ts';
import { createLogBook, silentLogger } from '../../../src/core/log/log.ts';
import type { TickEvent } from '../../../src/contract/plant.ts';
import { codeOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { HandWall, SlowWall } from '../../support/wall.ts';
import { SimError } from '../../../src/core/errors.ts';

const codeOfPromise = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof SimError ? error.code : error),
  );

describe('Plant', () => {
  it('has a snapshot of tick 0 before anything ran', () => {
    const plant = testPlant({ types: ['PV', 'PV-1Phase'], firstIndex: 4 });
    expect(plant.latest.tick).to.equal(0);
    expect(plant.latest.published.map(({ snapshot }) => [snapshot.device_index, snapshot.tick])).to.deep.equal([
      [4, 0],
      [5, 0],
    ]);
    expect(plant.latest.published.every(({ snapshot }) => snapshot.metrics.power_kw > 3)).to.equal(true);
  });

  it('knows its devices by index', () => {
    const plant = testPlant({ types: ['PV', 'PV'], firstIndex: 10 });
    expect(plant.device(11).index).to.equal(11);
    for (const index of [0, 9, 12, 10.5]) expect(codeOf(() => plant.device(index))).to.equal('UNKNOWN_DEVICE');
    expect(
      codeOf(() => {
        plant.setGrid({ voltagePu: 1 }, 3);
      }),
    ).to.equal('UNKNOWN_DEVICE');
    expect(
      codeOf(() => {
        plant.setSurroundings({ irradianceWm2: 1 }, 3);
      }),
    ).to.equal('UNKNOWN_DEVICE');
  });

  it('one event per tick with one entry per device, in order', async () => {
    const plant = testPlant({ types: ['PV', 'PV-2Phase', 'PV-1Phase'] });
    const events: TickEvent[] = [];
    const end = plant.onTick((event) => {
      events.push(event);
    });
    await plant.step(3);
    expect(events.map((event) => event.tick)).to.deep.equal([1, 2, 3]);
    for (const { published, tick } of events) {
      expect(published.map(({ snapshot }) => snapshot.device_index)).to.deep.equal([0, 1, 2]);
      expect(new Set(published.map(({ snapshot }) => snapshot.tick))).to.deep.equal(new Set([tick]));
      expect(new Set(published).size).to.equal(3);
    }
    expect(plant.latest).to.equal(events.at(-1));
    end();
    await plant.step(1);
    expect(events).to.have.length(3);
  });

  it('gives way between devices, and a listener never sees half a tick', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ types: ['PV', 'PV', 'PV'], wall });
    wall.cost = 6;
    let turns = 0;
    const count = (): void => {
      // between two devices the last whole tick is still the latest, and between two listeners the new one
      if (plant.latest.tick > 0) return;
      turns += 1;
      expect(plant.latest.published.map(({ snapshot }) => snapshot.tick)).to.deep.equal([0, 0, 0]);
      setImmediate(count);
    };
    plant.onTick((event) => {
      expect(event.published.map(({ snapshot }) => snapshot.tick)).to.deep.equal([1, 1, 1]);
    });
    const stepped = plant.step(1);
    setImmediate(count);
    await stepped;
    // not after the last device: registers and snapshots of a tick appear together
    expect(turns).to.be.at.least(1);
  });

  it('gives way between ticks of a long step request, too', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ wall });
    wall.cost = 1;
    let turns = 0;
    const done = plant.step(200).then(() => true);
    const spin = (): void => {
      turns += 1;
      if (plant.latest.tick < 200) setImmediate(spin);
    };
    setImmediate(spin);
    expect(await done).to.equal(true);
    expect(turns).to.be.at.least(20);
  });

  it('runs one step request after the other', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ types: ['PV', 'PV'], wall });
    wall.cost = 6;
    const ticks: number[] = [];
    const begin = plant.time.sim;
    plant.onTick((event) => {
      ticks.push(event.tick);
    });
    await Promise.all([plant.step(3), plant.step(2), plant.step(1), plant.tick()]);
    expect(ticks).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect((plant.time.sim - begin) / 1e6).to.equal(9);
  });

  it('steps while paused only, a whole number of times', async () => {
    const plant = testPlant();
    for (const ticks of [0, -1, 1.5, NaN, 100_001])
      expect(await codeOfPromise(plant.step(ticks))).to.equal('COMMAND_BAD_VALUE');
    plant.setTime({ mode: 'accelerated' });
    expect(await codeOfPromise(plant.step(1))).to.equal('COMMAND_CONFLICT');
    plant.setTime({ mode: 'paused' });
    await plant.step(1);
    expect(plant.latest.tick).to.equal(1);
  });

  it('a step request ends when the clock starts in the middle of it', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ wall });
    plant.onTick(({ tick }) => {
      if (tick === 2) plant.setTime({ mode: 'accelerated' });
    });
    expect(await codeOfPromise(plant.step(5))).to.equal('COMMAND_CONFLICT');
    expect(plant.latest.tick).to.equal(2);
    plant.setTime({ mode: 'paused' });
    await plant.step(1);
    expect(plant.latest.tick).to.equal(3);
  });

  it('a pause between two ticks shows the time of the snapshot, from which the next step goes on', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    wall.advance(1500);
    await plant.tick();
    wall.advance(1000);
    const shown = () => new Date(plant.time.dateMs).toISOString().slice(11, 23);
    expect(shown()).to.equal('12:00:02.500');
    plant.setTime({ mode: 'paused' });
    expect([shown(), plant.time.clockTime]).to.deep.equal(['12:00:01.500', '12:00:01']);
    expect(plant.latest.published[0]?.snapshot.metrics.timestamp).to.contain(shown());
    await plant.step(1);
    expect(shown()).to.equal('12:00:03.000');
    await plant.runTo(addSeconds(plant.time.sim, 0.2));
    expect(shown()).to.equal('12:00:03.200');
    plant.setTime({ clockTime: '08:30:00' });
    expect(shown()).to.equal('08:30:00.000');
  });

  it('a pause during a sliced tick lets no further tick through', async () => {
    const wall = new SlowWall();
    const plant = testPlant({ types: ['PV', 'PV'], mode: 'accelerated', wall });
    wall.cost = 6;
    const first = plant.tick();
    const second = plant.tick();
    plant.setTime({ mode: 'paused' });
    await Promise.all([first, second]);
    expect(plant.latest.tick).to.equal(1);
  });

  it('one failing listener stops neither the tick nor the others', async () => {
    const lines: LogEntry[] = [];
    const log = {
      ...silentLogger,
      error: (message: string) => {
        lines.push({ message } as LogEntry);
      },
    };
    const plant = testPlant({ log });
    let calls = 0;
    plant.onTick(() => {
      throw new Error('boom');
    });
    plant.onTick(() => {
      calls += 1;
    });
    await plant.step(2);
    expect([calls, plant.latest.tick]).to.deep.equal([2, 2]);
    expect(lines.map((line) => line.message)).to.deep.equal(Array(2).fill('a listener of the tick failed: boom'));
  });

  it('a tick of real time advances by rate and slots; nothing while paused', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', rate: 10, wall });
    const begin = plant.time.sim;
    const passed = () => (plant.latest.sim - begin) / 1e6;
    wall.advance(1500);
    await plant.tick();
    expect(passed()).to.equal(15);
    wall.advance(4500);
    await plant.tick(3);
    expect(passed()).to.equal(60);
    plant.setTime({ mode: 'paused' });
    await plant.tick();
    expect([passed(), plant.latest.tick]).to.deep.equal([60, 2]);
  });

  it('after a late tick simulated time does not run past the end of the next', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    wall.advance(15_000);
    await plant.tick(10);
    const begin = plant.latest.sim;
    wall.advance(60_000);
    expect((plant.time.sim - begin) / 1e6).to.equal(1.5);
  });

  for (const [rate, seconds] of [
    [1, 5],
    [10, 5],
    [100, 5],
  ] as const) {
    it(`a reversion timer set between two ticks gets its full length at rate ${rate}`, async () => {
      const wall = new HandWall();
      const plant = testPlant({ mode: 'accelerated', rate, wall });
      const { bank } = plant.devices[0]!;
      const { m704 } = bank.map;
      plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
      const tick = async () => {
        wall.advance(1500);
        await plant.tick();
      };
      for (let i = 0; i < 30; i += 1) await tick();
      const tickEnd = plant.latest.sim;
      const before = bank.map.m701.TotWhInj!;
      wall.advance(300);
      bank.transact({ source: 'modbus' }, (tx) => {
        Object.assign(tx.m704, {
          WRmp: 1000,
          WMaxLimPctEna: 'ENABLED',
          WMaxLimPct: 0,
          WMaxLimPctRvrt: 100,
          WMaxLimPctEnaRvrt: 'ENABLED',
          WMaxLimPctRvrtTms: seconds,
        });
      });
      wall.advance(1200);
      await plant.tick();
      while (m704.WMaxLimPct === 0) await tick();
      const due = 0.3 * rate + seconds;
      const stamp = bank.provenance(bank.layout.slot(704, 'WMaxLimPct')!)!;
      expect(stamp.source).to.equal('reversion');
      expect((stamp.at - tickEnd) / 1e6).to.be.closeTo(due, 1e-6);
      // the device itself was told at the start of its tick
      const runS = (plant.latest.sim - tickEnd) / 1e6 - due;
      expect(bank.map.m701.TotWhInj! - before).to.be.closeTo((10_000 * runS) / 3600, 3);
    });
  }

  it('reports the rate that it reaches', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', rate: 100, wall });
    expect(plant.time.rateEffective).to.equal(100);
    for (let i = 0; i < 50; i += 1) {
      wall.advance(3000);
      await plant.tick();
    }
    expect(plant.time.rateEffective).to.be.closeTo(50, 1);
    for (let i = 0; i < 50; i += 1) {
      wall.advance(1500);
      await plant.tick();
    }
    expect(plant.time.rateEffective).to.be.closeTo(100, 1);
    plant.setTime({ mode: 'paused' });
    expect(plant.time).to.deep.include({
      rateEffective: 0,
      rate: 100,
      mode: 'paused',
      tickIntervalS: 1.5,
      simStepS: 1,
    });
  });

  it('health has the age of the last tick', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    wall.advance(4000);
    expect(plant.health).to.deep.equal({ tick: 0, tickAgeS: 4, skippedTicks: 0, paused: false, rateHeld: true });
    await plant.tick();
    expect(plant.health.tickAgeS).to.equal(0);
  });

  it('only the end of a pause resets the age of the last tick, no other change of the clock', () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    wall.advance(4000);
    for (const patch of [
      {},
      { rate: 2 },
      { clockTime: '10:00:00' },
      { mode: 'wall_clock', rate: 1 },
      { mode: 'paused' },
    ] as const) {
      plant.setTime(patch);
      expect(plant.health.tickAgeS, JSON.stringify(patch)).to.equal(4);
    }
    wall.advance(60_000);
    plant.setTime({ mode: 'accelerated' });
    expect(plant.health.tickAgeS).to.equal(0);
  });

  it('a rate that is new in mid-tick counts as reached after that tick', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    wall.advance(1000);
    plant.setTime({ rate: 100 });
    wall.advance(500);
    await plant.tick();
    expect(plant.time.rateEffective).to.equal(100);
  });

  it('setting the time of day moves the sun and no timer', async () => {
    const plant = testPlant();
    const { bank } = plant.devices[0]!;
    bank.transact({ source: 'rest' }, (tx) => {
      Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 50, WMaxLimPctRvrtTms: 60 });
    });
    await plant.step(2);
    plant.setTime({ clockTime: '02:00:00' });
    await plant.step(2);
    expect(bank.map.m704.WMaxLimPctRvrtRem).to.equal(54);
    expect(plant.latest.published[0]!.snapshot).to.deep.include({ clock_time: '02:00:03' });
    expect(bank.map.m701.InvSt).to.equal('SLEEPING');
  });

  it('an event of the wall_clock mode carries the time of the wall', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'wall_clock', wall });
    wall.advance(1500);
    await plant.tick();
    expect(plant.latest.published[0]!.snapshot.metrics.timestamp).to.equal(new Date(wall.nowMs()).toISOString());
    expect(plant.latest.wallMs).to.equal(wall.nowMs());
  });

  it('and so does the one after a late event', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'wall_clock', wall });
    for (const ms of [1520, 1480, 1500, 1700, 1300]) {
      wall.advance(ms);
      await plant.tick();
      const { metrics, clock_time: clockTime } = plant.latest.published[0]!.snapshot;
      expect(metrics.timestamp).to.equal(new Date(wall.nowMs()).toISOString());
      expect(metrics.timestamp.slice(11, 19)).to.equal(clockTime);
    }
  });
});

describe('Log of the plant', () => {
  it('notes alarms as they come and go, with their device', async () => {
    const book = createLogBook({ write: () => undefined });
    const plant = testPlant({ log: book.logger('AC'), types: ['PV', 'PV'] });
    plant.setGrid({ voltagePu: 1.3 }, 1);
    await plant.step(2);
    plant.setGrid({ voltagePu: 1 }, 1);
    await plant.step(1);
    expect(book.entries().map((entry) => [entry.level, entry.deviceIndex, entry.message])).to.deep.equal([
      ['warning', 1, 'tripped on over-voltage'],
      ['warning', 1, 'alarm: ac_over_volt: tripped on over-voltage'],
      ['info', 1, 'alarm ended: ac_over_volt'],
    ]);
  });

  it('notes alarms of the source as DC, those that only inform at info, with the instant of the simulation', async () => {
    const book = createLogBook({ write: () => undefined });
    const plant = testPlant({ types: ['Batt-3Phase'], log: book.logger('AC'), dcLog: book.logger('DC'), rate: 60 });
    book.follow({ acting: () => plant.time.sim, dateMs: (t) => plant.dateMs(t) });
    plant.device(0).command({ kind: 'battery.control', mode: 'charge', socPct: 90 }, { source: 'rest' });
    await plant.step(1);
    plant.setGrid({ voltagePu: 1.3 });
    await plant.step(1);
    const noon = Date.UTC(2026, 5, 21, 12);
    // a tick is 90 s; the over-voltage trip takes 0.16 s of the second one
    expect(
      book.entries().map((each) => [each.module, each.level, each.message, (each.simMs ?? 0) - noon]),
    ).to.deep.equal([
      ['DC', 'info', 'alarm: soc_high: the state of charge is at its ceiling', 90_000],
      ['AC', 'warning', 'tripped on over-voltage', 90_160],
      ['AC', 'warning', 'alarm: ac_over_volt: tripped on over-voltage', 180_000],
    ]);
  });
});
