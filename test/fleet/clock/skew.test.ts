import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { machines } from '../support/machines.ts';
import type { Skew } from '../support/machines.ts';

/** Clocks as far apart as those of machines without a time server, which drift as cheap crystals do. */
const skews: readonly Skew[] = [
  { offsetMs: 0, ppm: 0 },
  { offsetMs: 300, ppm: 200 },
  { offsetMs: -300, ppm: -200 },
];
/** drift of two clocks between two questions, and half of the longest way of one */
const boundMs = 2 * 5000 * 200e-6 + 2;

type Machines = Awaited<ReturnType<typeof machines>>;

/** No machine has left out a tick, or has run one twice. */
function expectEachTickOnce({ made }: Machines, atLeast: number): void {
  for (const { ticks, plant } of made) {
    const numbers = ticks.map(({ tick }) => tick);
    const first = numbers[0] ?? 0;
    expect(numbers).to.deep.equal(numbers.map((_, at) => first + at));
    expect(numbers.at(-1)).to.be.at.least(atLeast);
    expect(plant.skippedTicks).to.equal(0);
  }
}

describe('fleet/clock: machines whose clocks differ and drift', () => {
  for (const tickS of [0.1, 1.5])
    it(`keep one grid of ${tickS} s by the time of the leader`, async () => {
      const ticks = pick({ quick: 100, ci: 200, full: 2000 });
      const fleet = await machines({ tickS }, skews);
      await fleet.lead();
      await fleet.open(...fleet.made);
      await fleet.pass(ticks * tickS * 1000);
      await fleet.end();
      expectEachTickOnce(fleet, ticks);
      expect(fleet.spreadMs()).to.be.within(0.1, boundMs);
      expect(fleet.apart.ticks).to.equal(1);
      expect(fleet.apart.shown).to.be.below(1);
    });

  it('come to the time of a leader that begins later, tick by tick', async () => {
    const fleet = await machines({}, skews);
    await fleet.open(...fleet.made);
    await fleet.pass(6000);
    expect(fleet.spreadMs(), 'each by its own clock').to.be.above(500);
    await fleet.lead(-250);
    await fleet.pass(40_000);
    await fleet.end();
    expectEachTickOnce(fleet, 30);
    expect(fleet.apart.ticks).to.equal(1);
    expect(fleet.apart.shown).to.be.below(1);
    expect(fleet.spreadMs(20)).to.be.below(boundMs);
  });

  it('go on as they were while nobody leads', async () => {
    const fleet = await machines({}, skews);
    const stop = await fleet.lead();
    await fleet.open(...fleet.made);
    await fleet.pass(10_000);
    stop();
    await fleet.pass(60_000);
    await fleet.end();
    expectEachTickOnce(fleet, 45);
    expect(fleet.spreadMs()).to.be.below(boundMs + 60_000 * 400e-6);
    expect(fleet.apart.ticks).to.equal(1);
  });

  it('have a shard that begins later at the tick of the others', async () => {
    const fleet = await machines({}, skews);
    const [late, ...others] = [fleet.made[1]!, fleet.made[0]!, fleet.made[2]!];
    await fleet.lead();
    await fleet.open(...others);
    await fleet.pass(20_000);
    fleet.apart.ticks = 0;
    await fleet.open(late);
    await fleet.pass(10_000);
    await fleet.end();
    expect(late.ticks.map(({ tick }) => tick).slice(-3)).to.deep.equal([18, 19, 20]);
    expect(fleet.spreadMs(15)).to.be.below(boundMs);
  });
});
