import { expect } from 'chai';
import { Contests } from '../../../src/csip/control/composition.ts';
import type { Contribution } from '../../../src/csip/control/composition.ts';
import type { ModeName } from '../../../src/csip/control/model.ts';
import { testPlant } from '../../support/plant.ts';
import { apply, control, event, groupTarget } from '../../support/csip-controls.ts';

/** A control with one mode of reactive power that would give so many var. */
function contender(id: string, mode: ModeName, magnitudeVar: number): Contribution {
  const contest = { group: 'reactive', magnitude: () => magnitudeVar } as const;
  return { id, rank: 'event 1 0', wishes: new Map([[mode, { points: [], contest }]]), settings: [] };
}

/** Ids of the controls whose modes have lost. */
const losersOf = (...contributions: readonly Contribution[]) => [...new Contests().losers(contributions).keys()];

describe('Several DERControls at a time: ties and limits', () => {
  it('the least magnitude takes precedence; of equal ones the control of higher priority', () => {
    const fixed = (magnitudeVar: number) => contender('HIGH', 'opModFixedVar', magnitudeVar);
    const low = contender('LOW', 'opModTargetVar', 500);
    expect(losersOf(fixed(499), low)).to.deep.equal(['LOW']);
    expect(losersOf(fixed(500), low)).to.deep.equal(['LOW']);
    expect(losersOf(fixed(501), low)).to.deep.equal(['HIGH']);
  });

  it('the winner is chosen anew when a control changes its rank', () => {
    const contests = new Contests();
    const a = contender('A', 'opModFixedVar', 500);
    const b = contender('B', 'opModTargetVar', 400);
    expect([...contests.losers([a, b]).keys()]).to.deep.equal(['A']);
    expect([...contests.losers([a, { ...b, rank: 'event 9 0' }]).keys()]).to.deep.equal(['B']);
  });

  it('of several operating envelopes the tightest one holds, whatever their order', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'] });
    await plant.step(1);
    const bridge = groupTarget(plant);
    const limited = (id: string, kw: number) => event(id, control({ opModExpLimW: { multiplier: 3, value: kw } }));
    const inForceW = () => plant.siteOf([0, 1]).limits.export.limitW;
    const [wide, tight] = [limited('WIDE', 6), limited('TIGHT', 4)];
    for (const order of [
      [wide, tight],
      [tight, wide],
    ]) {
      expect(apply(bridge, ...order).map(({ state }) => state)).to.deep.equal(['applied', 'applied']);
      expect(inForceW()).to.equal(4000);
    }
    apply(bridge, wide);
    expect(inForceW()).to.equal(6000);
    bridge.close();
  });
});
