import { expect } from 'chai';
import { fleetSiteRules } from '../../../src/app/fleet-site-rules.ts';
import type { ClaimSums, FleetLimits } from '../../../src/contract/fleet-site.ts';
import { budgetsOf } from '../../../src/fleet/site/budgets.ts';

const noPower: ClaimSums = {
  maxInjectW: 0,
  maxAbsorbW: 0,
  injectW: 0,
  absorbW: 0,
  reachInjectW: 0,
  reachAbsorbW: 0,
  sleepW: 0,
  minLoadW: 0,
  maxLoadW: 0,
};
const importing = (limitW: number): FleetLimits => ({
  export: null,
  import: { limitW, owner: 'rest' },
  generation: null,
  load: null,
});

/** A renewed shard with the ratings of its claims. */
function claiming(shard: string, claims: Partial<ClaimSums>) {
  const whole = { ...noPower, ...claims };
  const { maxInjectW, maxAbsorbW } = whole;
  return { shard, ratings: { maxInjectW, maxAbsorbW }, claims: whole, isRenewed: true };
}

function safeImports(limitW: number, shards: readonly ReturnType<typeof claiming>[]) {
  const { of } = budgetsOf(importing(limitW), shards, new Map(), fleetSiteRules);
  return shards.map(({ shard }) => of.get(shard)?.safe.import);
}

describe('fleet/site: parts without a leader', () => {
  it('of an import limit leave the loads of each shard to it, and divide the rest by rating', () => {
    const pv = claiming('a', { maxInjectW: 20_000, maxLoadW: 6000, minLoadW: 6000 });
    const chargers = claiming('b', { maxAbsorbW: 22_000 });
    const more = claiming('c', { maxAbsorbW: 11_000, sleepW: 100 });
    expect(safeImports(10_000, [pv, chargers])).to.deep.equal([6000, 4000]);
    expect(safeImports(9100, [pv, chargers, more])).to.deep.equal([6000, 2000, 1100]);
  });

  it('of an import limit below the loads are shares of the loads', () => {
    const [a, b] = [3000, 9000].map((loadW, at) => claiming(`s${at}`, { maxLoadW: loadW, maxAbsorbW: 5000 }));
    expect(safeImports(6000, [a!, b!])).to.deep.equal([1500, 4500]);
  });
});
