import { expect } from 'chai';
import { createReplyCache } from '../../../src/api/http/reply.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { HandWall } from '../../support/wall.ts';

function fixture() {
  const plant = { latest: {}, devices: [] as object[] };
  const wall = new HandWall();
  const fresh = createReplyCache(plant as unknown as Plant, wall);
  let built = 0;
  const ask = (key = 'overview') =>
    fresh.of(key, () => {
      built += 1;
      return `${key} ${built}`;
    });
  return { plant, wall, fresh, ask, built: () => built };
}

describe('values that replies share', () => {
  it('are built when the first one asks, once per key', () => {
    const { ask, built } = fixture();
    expect(built()).to.equal(0);
    expect([ask(), ask(), ask('devices'), ask()]).to.deep.equal([
      'overview 1',
      'overview 1',
      'devices 2',
      'overview 1',
    ]);
  });

  it('are built anew after a tick, a change of the devices, a request that changes something, and 100 ms', () => {
    const { plant, wall, fresh, ask, built } = fixture();
    ask();
    const changes: (() => void)[] = [
      () => {
        plant.latest = {};
      },
      () => {
        plant.devices = [];
      },
      () => {
        fresh.changed();
      },
      () => {
        wall.advance(100);
      },
    ];
    for (const [i, change] of changes.entries()) {
      wall.advance(99);
      ask();
      expect(built()).to.equal(i + 1);
      change();
      ask();
      expect(built()).to.equal(i + 2);
    }
  });

  it('are not kept when building failed', () => {
    const { fresh, ask } = fixture();
    expect(() =>
      fresh.of('overview', () => {
        throw new Error('no device');
      }),
    ).to.throw('no device');
    expect(ask()).to.equal('overview 1');
  });

  it('are bounded in number', () => {
    const { ask, built } = fixture();
    for (let device = 0; device < 100; device += 1) ask(`?device=${device}`);
    for (let device = 0; device < 100; device += 1) ask(`?device=${device}`);
    expect(built()).to.equal(100 + 84);
  });
});
