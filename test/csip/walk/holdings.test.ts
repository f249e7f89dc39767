import { expect } from 'chai';
import { WalkBounds, walkMaximum } from '../../../src/csip/walk/bounds.ts';
import { control, WalkRig } from './scripted.ts';

describe('csip/walk: what a walk holds in all', () => {
  it('is 10,000 resources and 16 MiB of one EndDevice, and more of an aggregator', () => {
    expect(walkMaximum(1)).to.deep.equal({ resources: 10_000, octets: 16 * 1024 * 1024 });
    expect(walkMaximum(3)).to.deep.equal({ resources: 30_000, octets: 18 * 1024 * 1024 });
  });

  it('counts a part that is read again once, and none that has left', () => {
    const bounds = new WalkBounds({ resources: 10, octets: 100 });
    const [one, other] = [bounds.part(), bounds.part()];
    one.begin();
    one.add(6, 60);
    one.end(true);
    expect([one.room, other.room]).to.deep.equal([10, 4]);
    one.begin();
    one.add(2, 20);
    expect([one.room, other.room, bounds.resources]).to.deep.equal([8, 4, 6]);
    one.end(false);
    expect(bounds).to.include({ resources: 6, octets: 60 });
    one.begin();
    one.add(2, 20);
    one.end(true);
    expect(bounds).to.include({ resources: 2, octets: 20 });
    other.add(0, 100);
    expect([one.room, other.room]).to.deep.equal([0, 0]);
    other.close();
    one.close();
    expect(bounds).to.include({ resources: 0, octets: 0 });
  });

  const lists = (rig: WalkRig, count: number, length: number) => {
    const paths = Array.from({ length: count }, (_, at) => ({ path: `/derp/${at}`, primacy: 1 }));
    rig.server.programs('/edev/1/fsa/1/derp', paths);
    for (const { path } of paths) {
      const row = Array.from({ length }, (_, at) => control(`${at}`, { href: `${path}/derc/${at}` }));
      rig.server.controls(path, row);
    }
  };
  const remarks = (rig: WalkRig) => rig.walk.remarks.map(({ message }) => message).join('\n');

  it('ends at 10,000 resources over all lists, and says so; less goes through again', async () => {
    const rig = new WalkRig();
    lists(rig, 50, 300);
    await rig.start();
    const counted = () => rig.last.reduce((sum, { listed }) => sum + 1 + (listed.controls?.length ?? 0), 0);
    const asked = rig.server.requests.length;
    expect(asked).to.be.below(300);
    expect(remarks(rig)).to.contain('more than a client holds');
    expect(counted()).to.be.at.most(10_000);
    lists(rig, 10, 300);
    await rig.walk.poll();
    expect(counted()).to.equal(10 + 10 * 300);
    expect(remarks(rig)).not.to.contain('more than a client holds');
  });

  it('ends at 16 MiB of text', async () => {
    const rig = new WalkRig();
    lists(rig, 40, 1);
    const answer = rig.server.request.bind(rig.server);
    rig.server.request = async (request) => ({ ...(await answer(request)), octets: 1024 * 1024 });
    await rig.start();
    expect(remarks(rig)).to.contain('more than a client holds');
    const kept = rig.last.filter(({ listed: { controls } }) => controls !== undefined);
    expect(kept).to.have.property('length').within(5, 14);
  });
});
