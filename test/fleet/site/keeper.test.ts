import { expect } from 'chai';
import { fleetSiteRules } from '../../../src/app/fleet-site-rules.ts';
import { SiteKeeper } from '../../../src/fleet/site/keeper.ts';
import { SiteMember } from '../../../src/fleet/site/member.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { handTime, quietLog, startUs } from '../support/clock.ts';
import { MemoryServer } from '../support/memory-link.ts';

describe('fleet/site: limits of a fleet that has ended', () => {
  it('bind no shard that is still there', async () => {
    const { wall, timers, pass } = handTime();
    const server = new MemoryServer(() => wall.monotonicMs());
    let fleet = 'one';
    const common = { prefix: 'lab', later: timers.later, log: quietLog };
    const keeper = new SiteKeeper({
      ...common,
      link: server.link(),
      wall,
      isLeader: () => true,
      fleet: () => fleet,
      shards: () => [],
      rules: fleetSiteRules,
    });
    keeper.start();
    const part = testPlant().fleetPart;
    const member = new SiteMember({ ...common, link: server.link(), shard: 'a', fleet, part });
    await member.open();
    await keeper.change({ export: 5000 }, { ...byTest, at: startUs, wallMs: 0 }, undefined);
    await pass(200);
    expect(part.budget?.limits.export?.limitW).to.equal(5000);
    fleet = 'two';
    await pass(600);
    expect(part.budget).to.equal(null);
    keeper.stop();
    member.close();
  });
});
