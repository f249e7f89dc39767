import { expect } from 'chai';
import { ClockWatch } from '../../../src/core/time/clock-watch.ts';
import { HandWall } from '../../support/wall.ts';

function make() {
  const wall = new HandWall();
  const lines: string[] = [];
  const running = new Set<() => void>();
  const watch = new ClockWatch({
    wall,
    log: { warning: (line: string) => lines.push(line) },
    every: (ms, run) => {
      expect(ms).to.equal(1000);
      running.add(run);
      return () => running.delete(run);
    },
  });
  const check = () => {
    for (const run of running) run();
  };
  return { wall, lines, running, watch, check };
}

describe('The watch on the wall clock', () => {
  it('reports a jump above one second once, in both directions', () => {
    const { wall, lines, watch, check } = make();
    watch.start();
    for (const [byMs, words] of [
      [3_600_000, 'forward by 3600.0 s'],
      [-3_600_000, 'back by 3600.0 s'],
      [1001, 'forward by 1.0 s'],
      [-1001, 'back by 1.0 s'],
    ] as const) {
      wall.advance(1000);
      wall.jump(byMs);
      check();
      expect(lines.at(-1)).to.contain(`has jumped ${words}`);
      check();
    }
    expect([lines.length, watch.jumps]).to.deep.equal([4, 4]);
  });

  it('says nothing of time that passes, of a late check, and of small corrections that add up', () => {
    const { wall, lines, watch, check } = make();
    wall.jump(7_200_000);
    watch.start();
    wall.advance(86_400_000);
    check();
    for (let i = 0; i < 100; i += 1) {
      wall.advance(1000);
      wall.jump(i % 3 === 0 ? -1000 : 1000);
      check();
    }
    expect([lines, watch.jumps]).to.deep.equal([[], 0]);
  });

  it('starts once and ends', () => {
    const { watch, running } = make();
    watch.stop();
    watch.start();
    watch.start();
    expect(running.size).to.equal(1);
    watch.stop();
    watch.stop();
    expect(running.size).to.equal(0);
  });

  it('keeps no process alive', () => {
    const before = process.getActiveResourcesInfo().length;
    const watch = new ClockWatch({ wall: new HandWall(), log: { warning: () => undefined } });
    watch.start();
    expect(process.getActiveResourcesInfo()).to.have.length(before);
    watch.stop();
  });
});
