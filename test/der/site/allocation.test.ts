/** Shares of one piece of time, over devices that only claim: any scopes, owners, demands and loads. */
import { expect } from 'chai';
import type { Provenance } from '../../../src/core/origin.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { siteLimitNames } from '../../../src/contract/site.ts';
import type { SiteLimitName, SiteNow, SitePatch } from '../../../src/contract/site.ts';
import { Site } from '../../../src/der/site/site.ts';
import type { SiteDevice } from '../../../src/der/site/surroundings.ts';
import { pick } from '../../support/depth.ts';
import { expectWithin, same } from '../../support/expect.ts';
import type { RandomStream } from '../../../src/core/random.ts';
import { casesOf } from '../../support/random.ts';
import { randomSets } from './support.ts';

/** rounding of sums, W */
const roundingW = 1e-3;
const by = { source: 'rest', at: 0, wallMs: 0 } as unknown as Provenance;

/** Demand, present power and bounds of a device. */
interface Fake {
  readonly demandW: number;
  readonly reachW: number;
  readonly leastW: number;
  readonly loadW: number;
  readonly sleepW: number;
  floorW: number;
  ceilingW: number;
}

let random: RandomStream;
const upTo = (maxW: number) => random.next() * maxW;
const limit = () => (random.next() < 0.3 ? 0 : upTo(15_000));

function fakeDevice(index: number): { device: SiteDevice; fake: Fake } {
  const [maxInjectW, maxAbsorbW] = [
    random.next() < 0.3 ? 0 : 1000 + upTo(10_000),
    random.next() < 0.4 ? 0 : 1000 + upTo(10_000),
  ];
  const demandW = Math.max(-maxAbsorbW, Math.min(maxInjectW, (random.next() - 0.5) * 20_000));
  const reachW = random.next() < 0.5 ? demandW : (random.next() - 0.2) * demandW;
  const minInjectW = random.next() < 0.5 ? upTo(0.3) * maxInjectW : 0;
  const minAbsorbW = random.next() < 0.5 ? upTo(0.6) * maxAbsorbW : 0;
  const fake: Fake = {
    demandW,
    reachW,
    leastW: demandW > 0 ? minInjectW : minAbsorbW,
    loadW: random.next() < 0.5 ? 0 : upTo(3000),
    sleepW: random.next() < 0.7 ? 0 : upTo(100),
    floorW: -Infinity,
    ceilingW: Infinity,
  };
  const siteShare: SiteDevice['siteShare'] = {
    powerW: demandW,
    loadW: fake.loadW,
    energy: { producedWh: 0, absorbedWh: 0, loadWh: 0 },
    sleepW: fake.sleepW,
    demandW,
    maxInjectW,
    maxAbsorbW,
    reachW: () => reachW,
    minInjectW,
    minAbsorbW,
    meterTap: () => expect.fail('there is no meter'),
    admit(floorW: number, ceilingW: number) {
      Object.assign(fake, { floorW, ceilingW });
    },
  };
  return { device: { index, siteShare }, fake };
}

function randomSite(most: number) {
  const made = Array.from({ length: 1 + Math.floor(upTo(most)) }, (_, i) => fakeDevice(i));
  const fakes = made.map(({ fake }) => fake);
  const devices = made.map(({ device }) => device);
  const site = new Site(() => devices, {
    loadW: (i) => fakes[i]?.loadW ?? 0,
    nextEvent: () => Infinity,
  });
  return { fakes, site };
}

let second = 0;
function share(site: Site): void {
  second += 1;
  site.share((second * 1e6) as SimTime, ((second + 1) * 1e6) as SimTime);
}

const given = ({ demandW, ceilingW }: Fake) => Math.max(0, Math.min(demandW, ceilingW));
const taken = ({ demandW, floorW }: Fake) => Math.max(0, Math.min(-demandW, -floorW));
const surelyGiven = (fake: Fake) => Math.max(0, Math.min(given(fake), fake.reachW));
const surelyTaken = (fake: Fake) => Math.max(0, Math.min(taken(fake), -fake.reachW));
const sumOf = (fakes: readonly Fake[], value: (fake: Fake) => number) =>
  fakes.reduce((sum, fake) => sum + value(fake), 0);

/** Power that the limits of a scope leave in each direction, W. */
function roomsOf({ limits }: Pick<SiteNow, 'limits'>, fakes: readonly Fake[]): { giveW: number; takeW: number } {
  const limitW = (name: SiteLimitName) => limits[name].limitW ?? Infinity;
  const loadW = sumOf(fakes, (fake) => fake.loadW);
  const sleepW = sumOf(fakes, (fake) => fake.sleepW);
  return {
    giveW: Math.min(limitW('generation'), limitW('export') + loadW + sleepW + sumOf(fakes, surelyTaken)),
    takeW: Math.max(0, Math.min(limitW('load'), limitW('import') - loadW + sumOf(fakes, surelyGiven)) - sleepW),
  };
}

const behind = ({ devices }: SiteNow, fakes: readonly Fake[]) =>
  devices ? devices.flatMap((i) => fakes[i] ?? []) : fakes;

function expectKept(site: Site, fakes: readonly Fake[], words: () => string): void {
  for (const scope of site.scopes) {
    const inside = behind(scope, fakes);
    const { giveW, takeW } = roomsOf(scope, inside);
    expectWithin(sumOf(inside, given), 0, giveW + roundingW, words);
    expectWithin(sumOf(inside, taken), 0, takeW + roundingW, words);
  }
}

describe('Connection point: shares of one piece', () => {
  beforeEach(function () {
    random = casesOf('shares', this.currentTest?.title ?? '');
  });

  it('the maximum of one direction and the assured part of the other keep every limit of the site', () => {
    for (let round = 0; round < pick({ quick: 1500, ci: 10_000 }); round += 1) {
      const { fakes, site } = randomSite(8);
      site.set({ export: limit(), import: limit(), generation: limit(), load: limit() }, by);
      share(site);
      expectKept(site, fakes, () => `round ${round}`);
    }
  });

  it('any nested scopes: every limit is kept, and a device is cut only where a scope around it is full', () => {
    let [cuts, wasted] = [0, 0];
    const rounds = pick({ quick: 1000, ci: 6000 });
    for (let round = 0; round < rounds; round += 1) {
      const { fakes, site } = randomSite(8);
      const sets = randomSets(random, [...fakes.keys()]);
      for (const devices of [...sets, undefined])
        for (const name of siteLimitNames)
          if (random.next() < 0.4) site.set({ [name]: limit() }, by, devices && { devices });
      share(site);
      expectKept(site, fakes, () => `round ${round}`);
      const scopes = site.scopes.map((scope) => ({ scope, inside: behind(scope, fakes) }));
      fakes.forEach((fake, i) => {
        const cut = site.cutOf(i);
        if (given(fake) + taken(fake) >= Math.abs(fake.demandW) - roundingW) return;
        cuts += 1;
        const scope = scopes.find(({ scope: { devices } }) => String(devices) === String(cut?.devices));
        expect(scope?.inside, `round ${round}`).to.include(fake);
        if (!cut || !scope) return;
        const limitNow = scope.scope.limits[cut.limit];
        expect([limitNow.binding, limitNow.limitW, limitNow.owner]).to.deep.equal([true, cut.limitW, cut.owner]);
        const full = scopes.some(({ scope: each, inside }) => {
          const { giveW, takeW } = roomsOf(each, inside);
          const freeW = fake.demandW > 0 ? giveW - sumOf(inside, given) : takeW - sumOf(inside, taken);
          // a device that pauses needs its minimum, beside the minimums of those that run
          const runs = given(fake) + taken(fake) > 0 || fake.leastW === 0;
          const least = (other: Fake) =>
            other.demandW > 0 === fake.demandW > 0 && given(other) + taken(other) > 0
              ? Math.min(other.leastW, Math.abs(other.demandW))
              : 0;
          const leftW = (fake.demandW > 0 ? giveW : takeW) - sumOf(inside, least);
          return (
            inside.includes(fake) &&
            (runs ? freeW < 0.01 : leftW < Math.min(fake.leastW, Math.abs(fake.demandW)) + 0.01)
          );
        });
        if (!full) wasted += 1;
      });
    }
    expect(cuts).to.be.above((5 * rounds) / 6);
    // only where injection and absorption wait for each other: 2 of 1,000, with three deviations of that number
    const expected = 0.002 * cuts;
    expect(wasted).to.be.below(expected + 3 * Math.sqrt(expected) + 1);
  });

  it('the tightest owner holds, and the end of its limit restores the next', () => {
    for (let round = 0; round < pick({ quick: 15, ci: 100 }); round += 1) {
      const { fakes, site } = randomSite(6);
      const sets = [null, ...randomSets(random, [...fakes.keys()])];
      const owners = ['rest', 'rest:feeder', 'csip:a', 'scenario'];
      const model = new Map<string, number>();
      for (let change = 0; change < 40; change += 1) {
        const devices = sets[Math.floor(upTo(sets.length))] ?? null;
        const owner = owners[Math.floor(upTo(owners.length))] ?? '';
        const name = siteLimitNames[Math.floor(upTo(4))] ?? 'export';
        const limitW = random.next() < 0.4 ? null : Math.round(limit());
        site.set({ [name]: limitW }, by, { owner, ...(devices && { devices }) });
        const key = [devices?.toSorted((a, b) => a - b).join(), name, owner].join(' ');
        if (limitW === null) model.delete(key);
        else model.set(key, limitW);
        share(site);
        expectKept(site, fakes, () => `round ${round}`);
        for (const set of sets) {
          const scope = set ? site.of(set) : site.now;
          for (const each of siteLimitNames) {
            const own = (who: string) =>
              model.get([set?.toSorted((a, b) => a - b).join(), each, who].join(' ')) ?? Infinity;
            const lowest = Math.min(...owners.map(own));
            const { limitW: inForceW, owner: holder } = scope.limits[each];
            same(inForceW, lowest === Infinity ? null : lowest, () => each);
            same(holder === null ? Infinity : own(holder), lowest, () => each);
          }
        }
      }
      const end: SitePatch = { export: null, import: null, generation: null, load: null };
      for (const devices of sets) for (const owner of owners) site.set(end, by, { owner, ...(devices && { devices }) });
      share(site);
      expect(site.scopes).to.have.lengthOf(1);
      for (const { floorW, ceilingW } of fakes) expect([floorW, ceilingW]).to.deep.equal([-Infinity, Infinity]);
    }
  });

  it('the limit of a device needs no share of others: its bounds are the limit, its load and its sleep', () => {
    const { site, fakes } = randomSite(1);
    const [fake] = fakes;
    site.set({ export: 500, import: 20_000 }, by, { devices: [0] });
    share(site);
    const takenW = (fake?.loadW ?? 0) + (fake?.sleepW ?? 0);
    expect(fake?.ceilingW).to.be.at.most(500 + takenW + roundingW);
    expect(-(fake?.floorW ?? 0)).to.be.at.most(20_000 - takenW + roundingW);
  });
});
