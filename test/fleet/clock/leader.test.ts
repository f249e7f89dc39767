import { expect } from 'chai';
import { decodedLeader, Leadership, leaderKey } from '../../../src/fleet/clock/leader.ts';
import { MemoryServer } from '../support/memory-link.ts';
import { handTime, quietLog } from '../support/clock.ts';

function rig() {
  const { wall, timers, pass } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const gateway = (session: string) => {
    const link = server.link();
    const news: boolean[] = [];
    const leadership = new Leadership({
      link,
      session,
      http: () => `${session}:8111`,
      wall,
      later: timers.later,
      log: quietLog,
      onChange: (isLeader) => news.push(isLeader),
    });
    return { link, leadership, news };
  };
  const leader = () => {
    const lease = server.leases.get(leaderKey);
    return lease && decodedLeader(lease.value);
  };
  return { wall, pass, gateway, leader };
}

describe('fleet/clock: the gateway that leads', () => {
  it('is one: the first, as long as it renews its lease', async () => {
    const { pass, gateway, leader } = rig();
    const [one, two] = [gateway('one'), gateway('two')];
    await one.leadership.start();
    await two.leadership.start();
    await pass(10_000, 500);
    expect(leader()).to.deep.equal({ session: 'one', http: 'one:8111' });
    expect([one.leadership.isLeader, two.leadership.isLeader]).to.deep.equal([true, false]);
    expect([one.news, two.news]).to.deep.equal([[true], []]);
  });

  it('is another within 5 s of the loss of one, which knows by itself that it no longer leads', async () => {
    const { pass, gateway, leader } = rig();
    const [one, two] = [gateway('one'), gateway('two')];
    await one.leadership.start();
    await two.leadership.start();
    one.link.set('offline');
    await pass(3900);
    expect([one.leadership.isLeader, two.leadership.isLeader]).to.deep.equal([true, false]);
    await pass(200);
    expect(one.leadership.isLeader, 'without any news').to.equal(false);
    await pass(900);
    expect([two.leadership.isLeader, leader()?.session]).to.deep.equal([true, 'two']);
    one.link.set('connected');
    await pass(2000, 500);
    expect([one.leadership.isLeader, two.leadership.isLeader]).to.deep.equal([false, true]);
    expect(one.news).to.deep.equal([true, false]);
  });

  it('is another one at once after an orderly end', async () => {
    const { pass, gateway, leader } = rig();
    const [one, two] = [gateway('one'), gateway('two')];
    await one.leadership.start();
    await two.leadership.start();
    await one.leadership.stop();
    expect(leader()).to.equal(null);
    await pass(1000);
    expect([two.leadership.isLeader, one.news]).to.deep.equal([true, [true, false]]);
  });
});
