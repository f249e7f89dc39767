import { expect } from 'chai';
import { callLater } from '../../../src/core/time/timers.ts';
import { createRemoteClocks } from '../../../src/app/devices/plant.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import { SimClock } from '../../../src/core/time/sim-clock.ts';
import { Timetable } from '../../../src/der/plant/stepping.ts';
import { HandWall } from '../../support/wall.ts';

describe('Remote clocks of a configuration', () => {
  const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));

  function setup(remoteClock: 'wall' | 'simulated') {
    const wall = new HandWall();
    const clock = new SimClock(wall, { mode: 'paused', rate: 60, timezone: 'UTC' }, start);
    const plant = new Timetable(clock, silentLogger);
    const warnings: string[] = [];
    const log = { ...silentLogger, warning: (message: string) => warnings.push(message) };
    return {
      wall,
      plant,
      warnings,
      make: createRemoteClocks({ remoteClock }, { clock, plant, wall, later: callLater, log }),
    };
  }

  it('wall: real time, with the warning about the rate', () => {
    const { wall, make, warnings } = setup('wall');
    const clock = make(silentLogger);
    expect(clock.nowMs()).to.equal(wall.nowMs());
    clock.sync(0, wall.monotonicMs());
    expect([clock.nowMs(), warnings.length]).to.deep.equal([0, 1]);
  });

  it('simulated: the simulated date, acts at exact instants of the plant', () => {
    const { wall, plant, make, warnings } = setup('simulated');
    const clock = make(silentLogger);
    expect(clock.nowMs()).to.equal(Date.UTC(2026, 5, 21, 12));
    clock.sync(0, wall.monotonicMs());
    const seen: number[] = [];
    clock.at(2500, () => seen.push(clock.nowMs()));
    expect(plant.nextDue).to.equal(addSeconds(start, 2.5));
    plant.run(addSeconds(start, 2.5));
    expect([seen, warnings]).to.deep.equal([[2500], []]);
  });
});
