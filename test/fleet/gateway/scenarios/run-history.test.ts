import { expect } from 'chai';
import { fittingRuns } from '../../../../src/fleet/gateway/scenarios/run-history.ts';

describe('fleet/gateway: the ended runs in the bucket', () => {
  it('are the newest 20', () => {
    const runs = Array.from({ length: 25 }, (_, at) => at);
    expect(fittingRuns(runs)).to.deep.equal(runs.slice(5));
  });

  it('have 512 KiB at most', () => {
    const long = 'x'.repeat(200 * 1024);
    expect(fittingRuns([long, `a${long}`, `b${long}`])).to.deep.equal([`a${long}`, `b${long}`]);
  });
});
