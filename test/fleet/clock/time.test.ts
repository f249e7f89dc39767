import { expect } from 'chai';
import { FleetTime } from '../../../src/fleet/clock/time.ts';
import { FleetError } from '../../../src/fleet/link.ts';
import { handTime } from '../support/clock.ts';

/** A leader whose clock is `aheadMs` ahead; each of its answers takes the next of `tripsMs`. */
function rig({ aheadMs = 0, tripsMs = [0] as readonly number[] } = {}) {
  const { wall, timers, settle, pass } = handTime();
  const leader = { aheadMs, isThere: true };
  let asked = 0;
  const time = new FleetTime({
    wall,
    later: timers.later,
    tickS: 1.5,
    ask() {
      if (!leader.isThere) return Promise.reject(new FleetError('no-responder', 'nobody'));
      const tripMs = tripsMs[asked % tripsMs.length] ?? 0;
      asked += 1;
      // a question that is slow on its way there, so that half of the round trip is a wrong guess
      wall.advance(tripMs);
      return Promise.resolve(wall.nowMs() + leader.aheadMs);
    },
  });
  return { wall, settle, pass, leader, time, aheadOf: () => time.nowMs() - wall.nowMs() };
}

describe('fleet/clock: the time of the fleet', () => {
  it('is that of this machine without a leader', async () => {
    const { time, leader, aheadOf } = rig();
    leader.isThere = false;
    await time.start(true);
    expect([aheadOf(), time.roundTripMs]).to.deep.equal([0, null]);
  });

  it('is that of the leader from the first measurement on, by the question with the shortest way', async () => {
    const { time, aheadOf } = rig({ aheadMs: 7000, tripsMs: [40, 9, 30, 2, 18] });
    await time.start(true);
    expect(time.roundTripMs).to.equal(2);
    expect(aheadOf()).to.equal(7001);
  });

  it('follows small corrections at once, and spreads large ones over ten slots without a jump', async () => {
    const { time, leader, pass, aheadOf } = rig();
    await time.start(true);
    leader.aheadMs = 50;
    await pass(5000);
    expect(aheadOf()).to.equal(50);
    leader.aheadMs = 350;
    await time.measure(false);
    expect(aheadOf()).to.equal(50);
    await pass(4500);
    expect(aheadOf()).to.be.closeTo(50 + 300 * 0.3, 0.01);
  });

  it('ends a large correction after ten slots, also where later measurements move it a little', async () => {
    const { time, leader, pass, aheadOf } = rig();
    await time.start(true);
    leader.aheadMs = 300;
    await time.measure(false);
    await pass(7000);
    leader.aheadMs = 310;
    await pass(8000);
    expect(aheadOf()).to.equal(310);
  });

  it('never goes back where the leader is behind', async () => {
    const { time, leader, pass } = rig();
    await time.start(true);
    leader.aheadMs = -300;
    await time.measure(false);
    for (let last = time.nowMs(), at = 0; at < 20; at += 1, last = time.nowMs()) {
      await pass(100);
      expect(time.nowMs()).to.be.above(last);
    }
  });

  it('goes on as it was while there is no leader, and asks no more after its end', async () => {
    const { time, leader, pass, aheadOf } = rig({ aheadMs: 20 });
    await time.start(true);
    leader.isThere = false;
    await pass(12_000, 1000);
    expect(aheadOf()).to.equal(20);
    leader.isThere = true;
    leader.aheadMs = 40;
    time.stop();
    await pass(6000, 1000);
    expect(aheadOf()).to.equal(20);
  });
});
