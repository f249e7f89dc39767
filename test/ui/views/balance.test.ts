import { expect } from 'chai';
import { balanceOf } from '../../../src/ui/views/overview/balance';
import type { Site } from '../../../src/ui/views/overview/balance';
import { Daemon } from '../support/daemon.ts';
import { kinds } from '../support/site.ts';

/** Numbers from 0 to 1, the same at each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const sum = (parts: readonly { readonly value: number }[]) => parts.reduce((total, { value }) => total + value, 0);

describe('bars of the site', () => {
  const example = new Daemon().exampleOf('GET', 'site') as Site;
  const random = randomOf(20_260_621);
  const some = (maxKw: number) => (random() < 0.3 ? 0 : random() * maxKw);

  /** A site whose figures agree but for a reading of another instant. */
  function siteOf(errorKw: number): Site {
    const powers = kinds.map((kind) => [kind, { delivered_kw: some(5000), absorbed_kw: some(3000) }] as const);
    const loadKw = some(800);
    const net = powers.reduce(
      (total, [, { delivered_kw, absorbed_kw }]) => total + delivered_kw - absorbed_kw,
      -loadKw,
    );
    return { ...example, by_kind: Object.fromEntries(powers), load_kw: loadKw, net_power_kw: net + errorKw };
  }

  it('have one scale, show each figure as it is, and say when they differ', () => {
    for (let number = 0; number < 1000; number += 1) {
      const errorKw = number % 2 === 0 ? 0 : (random() - 0.5) * 400;
      const site = siteOf(errorKw);
      const { in: ins, out: outs, inKw, outKw, scale } = balanceOf(site);
      expect(scale).to.equal(Math.max(inKw, outKw));
      const delivered = Object.values(site.by_kind).reduce((total, { delivered_kw: kw }) => total + kw, 0);
      const absorbed = Object.values(site.by_kind).reduce((total, { absorbed_kw: kw }) => total + kw, 0);
      expect(inKw).to.be.closeTo(delivered + Math.max(0, -site.net_power_kw), 1e-6);
      expect(outKw).to.be.closeTo(absorbed + site.load_kw + Math.max(0, site.net_power_kw), 1e-6);
      const values = [...ins, ...outs].filter(({ name }) => name !== 'Difference').map(({ value }) => value);
      const figures = Object.values(site.by_kind).flatMap((each) => [each.delivered_kw, each.absorbed_kw]);
      for (const figure of [...figures, site.load_kw]) expect(values).to.include(figure);
      const difference = [...ins, ...outs].filter(({ name }) => name === 'Difference');
      if (Math.abs(inKw - outKw) <= scale * 0.005) expect(difference).to.deep.equal([]);
      else {
        expect(difference).to.have.lengthOf(1);
        expect(difference[0]?.look).to.equal('difference');
        expect(sum(ins)).to.be.closeTo(sum(outs), 1e-6);
      }
    }
  });

  it('have the parts of each bar in one order, whatever their values', () => {
    const names = (site: Site) =>
      [balanceOf(site).in, balanceOf(site).out].map((parts) => parts.map(({ name }) => name));
    const [first, second] = [names(siteOf(0)), names(siteOf(0))];
    expect(first).to.deep.equal(second);
    expect(first[1]?.[0]).to.equal('Grid');
  });
});
