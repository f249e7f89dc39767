import { expect } from 'chai';
import { latestOf } from '../../../src/api/common/device-replies.ts';
import type { RouteContext } from '../../../src/api/http/context.ts';
import type { Device } from '../../../src/contract/device.ts';
import { codeOf } from '../../support/map.ts';

/** A context whose last tick has the snapshots of these devices, in this order. */
function contextOf(...published: readonly number[]): RouteContext {
  const devices = published.map((index) => ({ index }));
  const latest = { published: published.map((index) => ({ snapshot: { device_index: index } })) };
  return { plant: { devices, latest } } as unknown as RouteContext;
}

const device = (index: number) => ({ index }) as Device;
const found = (ctx: RouteContext, index: number) => latestOf(ctx, device(index)).snapshot.device_index;

describe('snapshot of a device', () => {
  it('is found by position where the indexes are dense', () => {
    expect([5, 6, 7].map((index) => found(contextOf(5, 6, 7), index))).to.deep.equal([5, 6, 7]);
  });

  it('is found by its index where there are gaps', () => {
    expect([2, 4, 9].map((index) => found(contextOf(2, 4, 9), index))).to.deep.equal([2, 4, 9]);
  });

  it('is a failure of ours when it is missing', () => {
    expect(codeOf(() => found(contextOf(2, 4), 3))).to.equal('INTERNAL');
  });
});
