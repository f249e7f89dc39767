import { expect } from 'chai';
import fc from 'fast-check';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { codeOf } from '../../support/map.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { holds } from '../../support/property.ts';
import type { RemoteEvent } from '../../support/remote-peer.ts';
import { byTest } from '../../support/rig.ts';
import { Bench } from './remote-clock-bench.ts';

const startS = Date.UTC(2026, 5, 21, 8) / 1000;
const simStartS = Date.UTC(2026, 5, 21, 12) / 1000;

describe('Remote clock on the wall clock', () => {
  it('is the system clock before the first sync, and from then on monotonic: a jump of the system clock moves nothing', () => {
    const bench = new Bench('wall');
    const clock = bench.clock();
    expect([clock.nowMs(), clock.offsetS]).to.deep.equal([bench.wall.nowMs(), null]);
    bench.wall.jumpMs = 5000;
    expect(clock.nowMs(), 'unsynchronised').to.equal(bench.wall.nowMs());
    bench.wall.jumpMs = 0;
    clock.sync(bench.wall.nowMs() + 90_000, bench.mono);
    bench.wall.advance(10_000);
    const now = clock.nowMs();
    expect([now - bench.wall.nowMs(), clock.offsetS]).to.deep.equal([90_000, 90]);
    bench.wall.jumpMs = -3_600_000;
    expect(clock.nowMs()).to.equal(now);
    expect(clock.offsetS, 'to the system clock as it is now').to.equal(3690);
  });

  it('takes the time of the middle of a request, which lies in the past', () => {
    const bench = new Bench('wall');
    const clock = bench.clock();
    const middle = bench.mono;
    bench.wall.advance(400);
    clock.sync(1_000_000_000_000, middle);
    expect(clock.nowMs()).to.equal(1_000_000_000_400);
  });

  it('two peers of different offset: each event starts and ends by the time of its own server', async () => {
    const bench = new Bench('wall');
    const [ahead, behind] = [bench.peer('wall', 7200), bench.peer('wall', -35)];
    for (const { peer } of [ahead, behind]) peer.poll();
    ahead.peer.receive({ mRID: 'A', start: startS + 7200 + 60, duration: 30 });
    behind.peer.receive({ mRID: 'B', start: startS + 60, duration: 30 });
    await bench.pass(200);
    expect(ahead.peer.done).to.deep.equal([
      ['A', 'starts', startS + 7260],
      ['A', 'ends', startS + 7290],
    ]);
    expect(behind.peer.done).to.deep.equal([
      ['B', 'starts', startS + 60],
      ['B', 'ends', startS + 90],
    ]);
    expect([ahead.peer.clock.offsetS, behind.peer.clock.offsetS]).to.deep.equal([7200, -35]);
  });

  it('an event that has begun runs for its remainder, one that is over not at all, a cancelled one neither', async () => {
    const bench = new Bench('wall');
    const { peer } = bench.peer('wall', 0);
    peer.poll();
    peer.receive({ mRID: 'late', start: startS - 10, duration: 20 });
    peer.receive({ mRID: 'over', start: startS - 10, duration: 10 });
    peer.receive({ mRID: 'cancelled', start: startS + 5, duration: 10 });
    expect(peer.done, 'never within the call').to.deep.equal([]);
    await bench.pass(3);
    peer.cancel('cancelled');
    peer.cancel('cancelled');
    await bench.pass(30);
    expect(peer.done).to.deep.equal([
      ['late', 'starts', startS],
      ['late', 'ends', startS + 10],
    ]);
    peer.stop();
    expect(bench.timers.waiting).to.equal(0);
  });

  it('a server that jumps: what waits follows, nothing is lost and nothing happens twice', async () => {
    const bench = new Bench('wall');
    const { peer, at } = bench.peer('wall', 0);
    peer.poll();
    peer.receive({ mRID: 'A', start: startS + 100, duration: 100 });
    peer.receive({ mRID: 'B', start: startS + 1000, duration: 10 });
    await bench.pass(90);
    at.offsetS = 60;
    peer.poll();
    expect(peer.done, 'jumped over, and still never within the call').to.deep.equal([]);
    await bench.pass(1.5);
    at.offsetS = 0;
    peer.poll();
    await bench.pass(60);
    expect(peer.done, 'the start is not repeated when the time comes again').to.deep.equal([
      ['A', 'starts', startS + 150],
    ]);
    at.offsetS = -50;
    peer.poll();
    await bench.pass(1200);
    expect(peer.done.slice(1)).to.deep.equal([
      ['A', 'ends', startS + 200],
      ['B', 'starts', startS + 1000],
      ['B', 'ends', startS + 1010],
    ]);
    expect(bench.wall.ms / 1000 - startS, 'real seconds').to.equal(90 + 1.5 + 60 + 1200);
  });

  it('with any jumps each act runs once, in order, and not before the time of its peer', () => {
    holds(
      'acts run once, in order and in time',
      [
        fc.array(fc.integer({ min: -500, max: 3000 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: -600, max: 600 })), { maxLength: 8 }),
      ],
      (instants, jumps) => {
        const bench = new Bench('wall');
        const clock = bench.clock();
        const ran: number[] = [];
        instants.forEach((seconds, i) => {
          clock.at(bench.wall.ms + seconds * 1000, () => {
            ran.push(i);
            expect(clock.nowMs()).to.be.at.least((startS + seconds) * 1000 - 1);
          });
        });
        for (const [afterS, offsetS] of jumps) {
          bench.timers.pass(afterS * 1000);
          clock.sync(bench.wall.ms + offsetS * 1000, bench.mono);
        }
        bench.timers.pass(10_000_000);
        const due = instants.map((seconds, i) => [seconds, i] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        if (jumps.length === 0) expect(ran).to.deep.equal(due.map(([, i]) => i));
        expect([...ran].sort((a, b) => a - b)).to.deep.equal(instants.map((_, i) => i));
        expect(bench.timers.waiting).to.equal(0);
      },
      { runs: 30 },
    );
  });

  it('waits that a timer cannot hold are split', () => {
    const bench = new Bench('wall');
    const clock = bench.clock();
    let ran = 0;
    const farMs = 90 * 86_400_000;
    clock.at(bench.wall.ms + farMs, () => {
      ran += 1;
    });
    expect(bench.timers.nextMs).to.equal(2 ** 31 - 1);
    bench.timers.pass(farMs - 1);
    expect(ran).to.equal(0);
    bench.timers.pass(1);
    expect(ran).to.equal(1);
  });

  it('one timer per clock, however many acts wait; a failing act is logged and stops no other', () => {
    const bench = new Bench('wall');
    const clock = bench.clock();
    const ran: number[] = [];
    for (let i = 0; i < 100; i += 1) clock.at(bench.wall.ms + 1000 - (i % 10), () => ran.push(i));
    clock.at(bench.wall.ms + 995, () => {
      throw new Error('boom');
    });
    expect(bench.timers.waiting).to.equal(1);
    bench.timers.pass(1000);
    expect([ran.length, bench.errors]).to.deep.equal([100, ['a timed act failed: boom']]);
  });

  it('an act that asks for an instant already reached does not hold up other work', () => {
    const bench = new Bench('wall');
    const clock = bench.clock();
    let [ran, other] = [0, false];
    const again = () => {
      ran += 1;
      if (!other) clock.at(0, again);
    };
    clock.at(0, again);
    bench.timers.later(0, () => {
      other = true;
    });
    bench.timers.pass(0);
    expect(other).to.equal(true);
    expect(ran).to.equal(2);
  });

  it('events of a tick are as old as the simulation takes for them, and never in the future', async () => {
    const bench = new Bench('wall', { rate: 60 });
    const clock = bench.clock();
    clock.sync(0, bench.mono);
    const begin = bench.plant.latest.sim;
    await bench.pass(1.5);
    expect(clock.ofSim(begin)).to.equal(0);
    expect(clock.ofSim(addSeconds(begin, 60))).to.equal(1000);
    expect(clock.ofSim(addSeconds(begin, 90))).to.equal(1500);
    expect(clock.ofSim(addSeconds(begin, 9000))).to.equal(1500);
  });

  it('a local instant keeps its remote time while the simulation is paused and stepped', async () => {
    for (const mode of ['wall', 'simulated'] as const) {
      const bench = new Bench(mode);
      const clock = bench.clock();
      await bench.pass(1.5);
      clock.sync(0, bench.mono);
      bench.timers.pass(1000);
      const local = clock.localOf(bench.plant.time.sim);
      expect(clock.ofLocal(local), mode).to.be.closeTo(1000, 0.001);
      bench.plant.setTime({ mode: 'paused' });
      bench.timers.pass(5000);
      await bench.plant.step(40);
      expect(clock.ofLocal(local), mode).to.be.closeTo(1000, 0.001);
      clock.sync(clock.nowMs() + 500, bench.mono);
      expect(clock.ofLocal(local), mode).to.be.closeTo(1500, 0.001);
    }
  });

  it('a time that is no date is refused, and the clock stays as it is', () => {
    const bench = new Bench('wall');
    const clock = bench.clock();
    for (const remoteMs of [NaN, Infinity, 8.64e15 + 1, -1e300]) {
      expect(codeOf(() => clock.sync(remoteMs, bench.mono))).to.equal('PEER_ERROR');
    }
    expect(codeOf(() => clock.at(NaN, () => undefined))).to.equal('COMMAND_BAD_VALUE');
    expect([clock.offsetS, clock.nowMs()]).to.deep.equal([null, bench.wall.nowMs()]);
  });

  it('one warning per process at another rate, as soon as a peer needs its clock', () => {
    const bench = new Bench('wall');
    const [first, second] = [bench.clock(), bench.clock()];
    first.sync(0, bench.mono);
    expect(bench.warnings).to.deep.equal([]);
    bench.plant.setTime({ rate: 60 });
    second.at(0, () => undefined);
    first.sync(0, bench.mono);
    second.sync(0, bench.mono);
    expect(bench.warnings).to.have.length(1);
    expect(bench.warnings[0]).to.contain('at rate 60').and.contain('--remote_clock simulated');
  });
});

describe('Remote clock on the simulated clock', () => {
  const simulated = (options: TestPlantOptions = {}) => new Bench('simulated', { rate: 60, ...options });

  it('is the simulated date before the first sync, and runs at its rate', async () => {
    const bench = simulated();
    const clock = bench.clock();
    await bench.pass(3);
    expect([clock.nowMs(), clock.offsetS]).to.deep.equal([(simStartS + 180) * 1000, null]);
    expect(clock.ofSim(bench.plant.latest.sim)).to.equal((simStartS + 180) * 1000);
    clock.sync((simStartS + 1000) * 1000, bench.mono);
    await bench.pass(1.5);
    expect(clock.nowMs()).to.equal((simStartS + 1090) * 1000);
    expect(clock.offsetS).to.equal(820);
    bench.plant.setTime({ clockTime: '03:00:00' });
    expect(clock.nowMs(), 'the time of day moves no remote time').to.equal((simStartS + 1090) * 1000);
    expect(bench.warnings).to.deep.equal([]);
  });

  it('the middle of a request lies back by the rate, and not at all while paused', async () => {
    const bench = simulated();
    await bench.pass(1.5);
    bench.wall.advance(500);
    const clock = bench.clock();
    clock.sync(0, bench.mono - 500);
    expect(clock.nowMs()).to.equal(30_000);
    bench.plant.setTime({ mode: 'paused' });
    bench.wall.advance(10_000);
    clock.sync(0, bench.mono - 500);
    expect(clock.nowMs()).to.equal(0);
  });

  it('two peers of different offset: their events act at exact simulated instants, inside ticks of 90 s', async () => {
    const bench = simulated();
    const { bank } = bench.plant.devices[0]!;
    const slot = bank.layout.slot(704, 'WMaxLimPct')!;
    const stamps: number[] = [];
    const apply = (_event: RemoteEvent, active: boolean) => {
      bank.transact(byTest, (tx) => {
        tx.m704.WMaxLimPct = active ? 50 : 100;
      });
      stamps.push(bench.plant.dateMs(bank.provenance(slot)!.at) / 1000 - simStartS);
    };
    const [ahead, behind] = [bench.peer('simulated', 500, apply), bench.peer('simulated', -500, apply)];
    for (const { peer } of [ahead, behind]) peer.poll();
    ahead.peer.receive({ mRID: 'A', start: simStartS + 500 + 100, duration: 130 });
    behind.peer.receive({ mRID: 'B', start: simStartS - 500 + 107, duration: 3 });
    await bench.pass(6);
    expect(stamps).to.deep.equal([100, 107, 110, 230]);
    expect(ahead.peer.done).to.deep.equal([
      ['A', 'starts', simStartS + 600],
      ['A', 'ends', simStartS + 730],
    ]);
    expect(behind.peer.done).to.deep.equal([
      ['B', 'starts', simStartS - 393],
      ['B', 'ends', simStartS - 390],
    ]);
  });

  it('stepped while paused: at the same simulated instants', async () => {
    const bench = simulated({ mode: 'paused', rate: 1 });
    const { peer } = bench.peer('simulated', 0);
    peer.poll();
    peer.receive({ mRID: 'A', start: simStartS + 10, duration: 5 });
    await bench.plant.runTo(addSeconds(bench.plant.latest.sim, 100));
    expect(peer.done).to.deep.equal([
      ['A', 'starts', simStartS + 10],
      ['A', 'ends', simStartS + 15],
    ]);
  });

  it('a server that jumps forth and back: nothing is lost and nothing happens twice', async () => {
    const bench = simulated();
    const { peer, at } = bench.peer('simulated', 0);
    peer.poll();
    peer.receive({ mRID: 'A', start: simStartS + 300, duration: 200 });
    peer.receive({ mRID: 'B', start: simStartS + 2000, duration: 10 });
    await bench.pass(3);
    at.offsetS = 150;
    peer.poll();
    expect(peer.done).to.deep.equal([]);
    await bench.pass(1.5);
    expect(peer.done, 'jumped over: where the devices stood').to.deep.equal([['A', 'starts', simStartS + 330]]);
    at.offsetS = 0;
    peer.poll();
    await bench.pass(60);
    expect(peer.done.slice(1)).to.deep.equal([
      ['A', 'ends', simStartS + 500],
      ['B', 'starts', simStartS + 2000],
      ['B', 'ends', simStartS + 2010],
    ]);
  });

  it('a calendar that is set back before the first sync does not let an act run early', async () => {
    const bench = simulated();
    const clock = bench.clock();
    const seen: number[] = [];
    clock.at((simStartS + 100) * 1000, () => seen.push(clock.nowMs() / 1000 - simStartS));
    bench.plant.setTime({ clockTime: '11:59:00' });
    await bench.pass(6);
    expect(seen).to.deep.equal([100]);
  });

  it('ends with its acts', async () => {
    const bench = simulated();
    const clock = bench.clock();
    const ran: number[] = [];
    const cancel = clock.at((simStartS + 10) * 1000, () => ran.push(1));
    clock.at((simStartS + 20) * 1000, () => ran.push(2));
    cancel();
    cancel();
    clock.at((simStartS + 30) * 1000, () => ran.push(3));
    await bench.pass(1.5);
    clock.at((simStartS + 200) * 1000, () => ran.push(4));
    clock.clear();
    await bench.pass(9);
    expect(ran).to.deep.equal([2, 3]);
  });
});
