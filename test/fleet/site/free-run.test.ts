import { expect } from 'chai';
import { byTest } from '../../support/rig.ts';
import { limitedFleet } from '../support/limited.ts';

const sun = { irradianceWm2: 1000, cellTemperatureC: 25 };

/** Two shards of PV, one with a load of its own, and one of a load beside a device without sun; a limit of 3 kW. */
async function exporting() {
  const fleet = await limitedFleet();
  const a = await fleet.join('a', ['PV-3Phase']);
  const b = await fleet.join('b', ['PV-3Phase', 'PV-3Phase']);
  const c = await fleet.join('c', ['PV-3Phase']);
  a.setSurroundings(sun, undefined, byTest);
  b.setSurroundings(sun, undefined, byTest);
  b.setSurroundings({ loadKw: 2 }, 1, byTest);
  c.setSurroundings({ irradianceWm2: 0, loadKw: 5 }, undefined, byTest);
  const leader = await fleet.gateway();
  await fleet.pass(6000);
  await leader.site({ export_limit_kw: 3 });
  return { ...fleet, a, b, c, leader };
}

const over3kW = (netW: number) => netW - 3000;

describe('fleet/site: limits over shards in free run', () => {
  it('are met within two seconds, and use what loads of other shards leave', async () => {
    const { ticksBeyond, tick, netNow, pass, a, leader, end } = await exporting();
    expect(netNow(), 'before the limit').to.be.above(10_000);
    const set = tick();
    await pass(9000);
    expect(ticksBeyond(over3kW, set + 1)).to.be.at.most(1);
    // the shares rise with 704.WRmp
    await pass(30_000);
    expect(netNow()).to.be.within(2900, 3001);
    const { mode, export_limit_kw: limit, binding, missing, net_power_kw: net } = await leader.shown();
    expect([mode, limit, binding, missing]).to.deep.equal(['shared', 3, ['export'], []]);
    expect(net).to.be.closeTo(netNow() / 1000, 0.001);
    expect(a.siteCut(0)).to.deep.equal({ devices: null, limit: 'export', limitW: 3000, owner: 'rest' });
    await leader.site({ export_limit_kw: null });
    await pass(9000);
    expect([a.fleetPart.budget, a.siteCut(0), (await leader.shown())['mode']]).to.deep.equal([null, null, undefined]);
    await end();
  });

  it('are in force as the reply to their request says', async () => {
    const { leader, end } = await exporting();
    expect(await leader.site({ export_limit_kw: 2 })).to.deep.include({ mode: 'shared', export_limit_kw: 2 });
    await end();
  });

  it('stay on a server that has lost its store, and are changed by a gateway that never saw them', async () => {
    const { server, shards, pass, leader, gateway, netNow, end } = await exporting();
    await pass(30_000);
    const links = [leader.link, ...[...shards.values()].map(({ link }) => link)];
    for (const link of links) link.set('offline');
    server.lose();
    for (const link of links) link.set('connected');
    await pass(9000);
    expect(JSON.parse(Buffer.from(server.shared.get('site')!.value).toString())).to.have.nested.property(
      'limits.export.limitW',
      3000,
    );
    leader.link.set('offline');
    server.shared.delete('site');
    await pass(6000);
    const next = await gateway();
    await pass(6000);
    await next.site({ export_limit_kw: 1 });
    await pass(30_000);
    const limits = [...shards.values()].map(({ plant }) => plant.fleetPart.budget?.limits.export?.limitW);
    expect(limits).to.deep.equal([1000, 1000, 1000]);
    expect(netNow()).to.be.at.most(1001);
    await end();
  });

  it('hold within two seconds of a step of a load in any shard', async () => {
    const { ticksBeyond, tick, netNow, pass, b, c, end } = await exporting();
    await pass(30_000);
    const from = tick() + 1;
    for (const [plant, device, loadKw] of [
      [c, undefined, 0.1],
      [c, undefined, 5],
      [b, 1, 0],
      [b, 1, 4],
      [c, undefined, 0],
    ] as const) {
      plant.setSurroundings({ loadKw }, device, byTest);
      await pass(10_000);
    }
    expect(ticksBeyond(over3kW, from)).to.equal(1);
    expect(netNow()).to.be.at.most(3001);
    await end();
  });

  for (const beforeMs of [0, 400, 800, 1200])
    it(`hold where a shard is killed whose load others count on, ${beforeMs} ms into a tick`, async () => {
      const { ticksBeyond, tick, netNow, pass, kill, leader, shards, end } = await exporting();
      await pass(30_000 + beforeMs);
      const from = tick() + 1;
      await kill('c');
      await pass(12_000);
      expect(ticksBeyond(over3kW, from)).to.be.at.most(1);
      expect(netNow(), 'the others have all of it').to.be.within(2900, 3001);
      expect((await leader.shown())['missing']).to.have.lengthOf(1);
      expect(shards.get('a')!.plant.fleetPart.budget?.mode).to.equal('shared');
      await end();
    });

  for (const beforeMs of [0, 700, 1300])
    it(`hold where the leader is killed ${beforeMs} ms before a load of another shard ends, until the next one leads`, async () => {
      const { ticksBeyond, tick, netNow, pass, gateway, a, c, shards, leader, join, end } = await exporting();
      await pass(30_000);
      const from = tick() + 1;
      leader.link.set('offline');
      await pass(beforeMs);
      c.setSurroundings({ loadKw: 0 }, undefined, byTest);
      await pass(6000 - beforeMs);
      const modes = () => [...shards.values()].map(({ plant }) => plant.fleetPart.budget?.mode);
      expect(modes(), 'within 6 s').to.deep.equal(['fallback', 'fallback', 'fallback']);
      await pass(6000);
      expect(ticksBeyond(over3kW, from)).to.be.at.most(1);
      // its part by rating, alone
      expect(a.fleetPart.budget?.budgetW.export).to.be.within(1, 3000);
      const late = await join('d', ['PV-3Phase']);
      late.setSurroundings(sun, undefined, byTest);
      await pass(4500);
      expect(late.site.netW, 'a shard that nobody counts yet has nothing').to.be.at.most(1);
      const next = await gateway();
      await pass(30_000);
      expect(modes()).to.deep.equal(['shared', 'shared', 'shared', 'shared']);
      expect(late.site.netW).to.be.above(100);
      expect((await next.shown())['export_limit_kw']).to.equal(3);
      expect(ticksBeyond(over3kW, from)).to.be.at.most(1);
      expect(netNow()).to.be.within(2900, 3001);
      await end();
    });
});
