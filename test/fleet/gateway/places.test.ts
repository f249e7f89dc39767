import { expect } from 'chai';
import { placesOf } from '../../../src/fleet/gateway/places.ts';
import type { ObservedShard } from '../../../src/fleet/registry/observer.ts';

const observed = (first: number, isLive: boolean) =>
  ({ lease: { first, room: 5, count: 3, epoch: first + 1 }, isLive, seenMs: 1000 }) as unknown as ObservedShard;

describe('fleet/gateway: shards of the registry', () => {
  it('stand in the order of their devices, with those that are lost', () => {
    const shards = new Map([
      ['z', observed(0, true)],
      ['a', observed(5, false)],
    ]);
    const lastSeen = 'it was seen 1.5 s ago';
    expect(placesOf(shards, 2500)).to.deep.equal([
      { name: 'z', first: 0, room: 5, count: 3, epoch: 1, isLost: false, lastSeen },
      { name: 'a', first: 5, room: 5, count: 3, epoch: 6, isLost: true, lastSeen },
    ]);
  });
});
