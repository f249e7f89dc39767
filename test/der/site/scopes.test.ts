/** Limits of devices and groups behind the connection point of the site, through a real plant. */
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { maxSiteGroups, maxSiteOwners, siteLimitNames } from '../../../src/contract/site.ts';
import type { SiteNow } from '../../../src/contract/site.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { pick } from '../../support/depth.ts';
import { casesOf } from '../../support/random.ts';
import { dumpOf, kindPlant } from '../kinds/support.ts';
import { battery, by, decidersOf, demand, evse, fuelCell, powersOf, pv, siteOf, sleepOf } from './support.ts';

const csip = { source: 'csip', peer: 'A1' } as const;
const rounding = 1e-3;

function refusal(plant: SimPlant, ...args: Parameters<SimPlant['setSite']>): string {
  try {
    plant.setSite(...args);
  } catch (error) {
    if (error instanceof SimError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'taken';
}

describe('Connection points of devices and groups: limits', () => {
  it('of one device hold its own net power, with its local load, and leave the others alone', async () => {
    const plant = await siteOf([pv, pv]);
    plant.setSurroundings({ loadKw: 1 }, 0);
    plant.setSite({ export: 2000 }, by, { devices: [0] });
    await plant.step(1);
    expect(powersOf(plant)).to.deep.equal([3000, 10_000]);
    expect(plant.siteOf([0])).to.include({ netW: 2000, loadW: 1000 });
    expect(decidersOf(plant)).to.deep.equal(['site', 'source']);
    expect(plant.siteCut(0)).to.deep.equal({ devices: [0], limit: 'export', limitW: 2000, owner: 'rest' });
    expect(plant.siteCut(1)).to.equal(null);
    expect(plant.site.limits.export).to.include({ limitW: null, binding: false });
  });

  it('of generation and load concern the devices alone', async () => {
    const plant = await siteOf([pv, battery]);
    plant.setSurroundings({ loadKw: 1 });
    demand(plant, 1, -6000);
    plant.setSite({ generation: 2000 }, by, { devices: [0] });
    plant.setSite({ load: 1500 }, by, { devices: [1] });
    await plant.step(4);
    expect(powersOf(plant)).to.deep.equal([2000, -1500]);
  });

  it('bind before the limit of the site, and what they leave goes to the others', async () => {
    const plant = await siteOf([pv, pv, pv]);
    plant.setSite({ export: 12_000 });
    plant.setSite({ export: 2000 }, csip, { devices: [0], owner: 'csip:a' });
    await plant.step(1);
    expect(powersOf(plant)).to.deep.equal([2000, 5000, 5000]);
    expect(plant.siteCut(0)).to.include({ owner: 'csip:a' });
    expect(plant.siteCut(1)).to.deep.equal({ devices: null, limit: 'export', limitW: 12_000, owner: 'default' });
    plant.setSite({ export: 3000 });
    await plant.step(1);
    expect(powersOf(plant)).to.deep.equal([1000, 1000, 1000]);
    expect(plant.siteCut(0)?.devices).to.equal(null);
  });

  it('of a group hold the sum of its devices; one of them exchanges power with another', async () => {
    const plant = await siteOf([pv, battery, pv]);
    demand(plant, 1, -3000);
    plant.setSite({ export: 1000 }, by, { devices: [1, 0] });
    await plant.step(20);
    expect(powersOf(plant)).to.deep.equal([4000, -3000, 10_000]);
    const { devices, generationW, consumptionW } = plant.siteOf([0, 1]);
    expect([devices, consumptionW]).to.deep.equal([[0, 1], 3000]);
    expect(generationW).to.be.closeTo(4000, rounding);
    expect(plant.siteOf([0, 1]).limits.export).to.include({ binding: true, exceeded: false });
  });

  it('below the minimum of a station pause it, and the site gives its part to the others', async () => {
    const plant = await siteOf([evse, evse]);
    plant.setSite({ import: 9000 });
    plant.setSite({ load: 3000 }, by, { devices: [1] });
    await plant.step(6);
    expect(powersOf(plant)).to.deep.equal([-9000, 0]);
    expect(plant.siteCut(1)).to.include({ limit: 'load', limitW: 3000 });
  });
});

describe('Connection points of devices and groups: owners', () => {
  it('REST and dashboard are one owner, every other source is its own', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 5000 }, by);
    plant.setSite({ export: 4000 }, { source: 'dashboard' });
    plant.setSite({ export: 6000, load: 1 }, { source: 'scenario' });
    expect(plant.site.owners.map(({ owner, limitsW }) => [owner, limitsW.export, limitsW.load])).to.deep.equal([
      ['rest', 4000, null],
      ['scenario', 6000, 1],
    ]);
    expect(plant.site.limits.export).to.include({ limitW: 4000, owner: 'rest' });
    expect(plant.site.limits.export.setBy).to.include({ source: 'dashboard' });
  });

  it('a tighter or wider limit is behind the power of a device from the next tick on', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 5000 }, by);
    await plant.step(1);
    plant.setSite({ export: 2000 }, csip, { owner: 'csip:a' });
    expect([powersOf(plant), plant.siteCut(0)]).to.deep.equal([
      [5000],
      { devices: null, limit: 'export', limitW: 5000, owner: 'rest' },
    ]);
    await plant.step(1);
    plant.setSite({ export: null }, csip, { owner: 'csip:a' });
    expect([powersOf(plant), plant.siteCut(0)]).to.deep.equal([
      [2000],
      { devices: null, limit: 'export', limitW: 2000, owner: 'csip:a' },
    ]);
    await plant.step(10);
    expect(plant.siteCut(0)).to.include({ limitW: 5000, owner: 'rest' });
    plant.setSite({ export: null }, by);
    expect(plant.siteCut(0)).to.equal(null);
    await plant.step(1);
    // the former limit acts no more, and the new one not yet
    plant.setSite({ export: 1000 }, by);
    expect(plant.siteCut(0)).to.equal(null);
  });

  it('the tightest holds; null ends the own one alone, and the next comes into force', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 5000 }, by);
    plant.setSite({ export: 2000 }, csip, { owner: 'csip:a' });
    plant.setSite({ export: 3000 }, csip, { owner: 'csip:b' });
    const seen: unknown[] = [];
    for (const owner of ['rest', 'csip:a', 'csip:b']) {
      await plant.step(2);
      seen.push([plant.site.limits.export.owner, powersOf(plant)[0]]);
      plant.setSite({ export: null }, csip, { owner });
    }
    expect(seen).to.deep.equal([
      ['csip:a', 2000],
      ['csip:a', 2000],
      ['csip:b', 3000],
    ]);
    await plant.step(10);
    expect([plant.site.owners, powersOf(plant)]).to.deep.equal([[], [10_000]]);
    expect(plant.site.limits.export.setBy).to.include({ source: 'csip', at: plant.site.limits.export.setBy?.at });
  });

  it('of two that are equal the first one is named', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ import: 100 }, by);
    plant.setSite({ import: 100 }, csip);
    expect(plant.site.limits.import.owner).to.equal('rest');
  });
});

describe('Connection points of devices and groups: refusals', () => {
  it('groups are nested or disjoint; the answer names the other one', () => {
    const plant = kindPlant([pv, pv, pv, pv]);
    plant.setSite({ export: 1 }, by, { devices: [0, 1, 2] });
    plant.setSite({ export: 1 }, by, { devices: [1, 2] });
    plant.setSite({ export: 1 }, by, { devices: [2] });
    plant.setSite({ export: 1 }, by, { devices: [3, 2, 1, 0] });
    expect(refusal(plant, { export: 1 }, by, { devices: [2, 3] })).to.match(
      /^COMMAND_CONFLICT: devices 2, 3 cross the group (0, 1, 2|1, 2)/,
    );
    expect(plant.siteScopes.map(({ devices }) => devices)).to.deep.equal([null, [2], [1, 2], [0, 1, 2], [0, 1, 2, 3]]);
    plant.setSite({ export: null }, by, { devices: [0, 1, 2] });
    plant.setSite({ export: null }, by, { devices: [1, 2] });
    expect(refusal(plant, { export: 1 }, by, { devices: [2, 3] })).to.equal('taken');
  });

  it('unknown devices, no devices, a bad owner; nothing changes', () => {
    const plant = kindPlant([pv]);
    const attempts = [
      refusal(plant, { export: 1 }, by, { devices: [0, 7] }),
      refusal(plant, { export: 1 }, by, { devices: [] }),
      refusal(plant, { export: 1 }, by, { owner: '' }),
      refusal(plant, { export: 1 }, by, { owner: 'x'.repeat(129) }),
      refusal(plant, { export: -1 }, by, { devices: [0] }),
    ];
    expect(attempts.map((words) => words.split(':')[0])).to.deep.equal([
      'UNKNOWN_DEVICE',
      ...Array<string>(4).fill('COMMAND_BAD_VALUE'),
    ]);
    expect(plant.siteScopes).to.have.lengthOf(1);
    expect(plant.siteOf([0]).limits.export.setBy).to.equal(null);
  });

  it('too many groups, too many owners', () => {
    const plant = kindPlant(Array.from({ length: maxSiteGroups + 2 }, () => pv));
    for (let i = 0; i < maxSiteGroups; i += 1)
      plant.setSite({ load: 1 }, by, { devices: Array.from({ length: i + 2 }, (_, k) => k) });
    const all = plant.devices.map(({ index }) => index);
    expect(refusal(plant, { load: 1 }, by, { devices: all })).to.match(/^COMMAND_CONFLICT: 100 groups/);
    expect(refusal(plant, { load: 1 }, by, { devices: [5] })).to.equal('taken');
    plant.setSite({ load: null }, by, { devices: [0, 1] });
    expect(refusal(plant, { load: 1 }, by, { devices: all })).to.equal('taken');
    for (let i = 0; i < maxSiteOwners; i += 1) plant.setSite({ load: 1 }, csip, { owner: `csip:${i}` });
    expect(refusal(plant, { load: 1 }, by)).to.match(/^COMMAND_CONFLICT: 32 owners/);
    expect(refusal(plant, { load: 2 }, csip, { owner: 'csip:3' })).to.equal('taken');
    expect(refusal(plant, { load: null }, by)).to.equal('taken');
  });
});

describe('Connection points of devices and groups: devices that leave, resets', () => {
  it('a device takes its limits along; a group loses it and merges with its equal', async () => {
    const plant = await siteOf([pv, pv, pv]);
    plant.setSite({ export: 900 }, by, { devices: [0] });
    plant.setSite({ export: 800 }, by, { devices: [1] });
    plant.setSite({ export: 700, load: 5 }, by, { devices: [0, 1] });
    plant.setSite({ export: 600 }, csip, { devices: [0, 1, 2] });
    await plant.step(1);
    await plant.remove(0);
    const shown = () =>
      plant.siteScopes.slice(1).map(({ devices, owners }) => [devices, owners.map(({ limitsW }) => limitsW.export)]);
    expect(shown()).to.deep.equal([
      [[1], [700]],
      [[1, 2], [600]],
    ]);
    expect(plant.siteOf([1]).limits.load.limitW).to.equal(5);
    await plant.step(2);
    expect(powersOf(plant)).to.deep.equal([300, 300]);
    await plant.remove(2);
    expect(shown()).to.deep.equal([[[1], [700, 600]]]);
    await plant.remove(1);
    expect(shown()).to.deep.equal([]);
  });

  it('the reset of a device keeps the limits of its connection point', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 2000 }, by, { devices: [0] });
    plant.device(0).command({ kind: 'reset', scope: 'device' }, by);
    await plant.step(3);
    expect(plant.siteOf([0]).limits.export.limitW).to.equal(2000);
    expect(plant.site.netW).to.be.at.most(2000 + rounding);
  });
});

describe('Two devices with limits of their own behind one site limit', () => {
  /** The scope whose limit cuts a device is at that limit. @returns 1 */
  function expectTight(plant: SimPlant, index: number): number {
    const cut = plant.siteCut(index);
    if (!cut) return 0;
    const scope: SiteNow = cut.devices ? plant.siteOf(cut.devices) : plant.site;
    const presentW = {
      export: scope.netW,
      import: -scope.netW,
      generation: scope.generationW,
      load: scope.consumptionW,
    }[cut.limit];
    expect(scope.limits[cut.limit]).to.include({ limitW: cut.limitW, owner: cut.owner, binding: true });
    // a local load beyond an import limit is left alone
    if (cut.limit !== 'import' || scope.consumptionW > sleepOf(plant, scope.devices) + rounding)
      expect(presentW, `${cut.limit} of device ${index}`).to.be.closeTo(cut.limitW, 0.01);
    return 1;
  }

  it('sums, bounds and deciders are right in random steps', async () => {
    const random = casesOf('scopes');
    const upTo = (max: number) => random.next() * max;
    const plant = kindPlant([pv, battery], { tickIntervalS: 1 });
    for (const device of plant.devices)
      device.bank.transact(by, ({ m704 }) => {
        m704.WRmp = 100;
      });
    const targets = [undefined, [0], [1], [0, 1]] as const;
    const owners = ['rest', 'csip:a', 'scenario'];
    const decided = new Map<string, number>();
    let tight = 0;
    const steps = pick({ quick: 200, ci: 1000 });
    for (let step = 0; step < steps; step += 1) {
      const devices = targets[Math.floor(upTo(4))];
      const name = siteLimitNames[Math.floor(upTo(4))] ?? 'export';
      const limitW = random.next() < 0.45 ? null : upTo(10_000);
      plant.setSite({ [name]: limitW }, by, {
        owner: owners[Math.floor(upTo(3))] ?? '',
        ...(devices && { devices: [...devices] }),
      });
      plant.setSurroundings(
        { irradianceWm2: upTo(1100), cellTemperatureC: 25, loadKw: upTo(3) },
        random.next() < 0.5 ? 0 : 1,
      );
      demand(plant, 1, random.next() < 0.1 ? null : (random.next() - 0.5) * 18_000);
      if (random.next() < 0.05) plant.device(1).command({ kind: 'battery.control', socPct: 5 + upTo(90) }, by);
      await plant.step(3);
      const demandsW = plant.devices.map(({ siteShare }) => siteShare.demandW);
      await plant.step(1);
      // while a tracker or a ramp is under way, a share keeps room for what may grow
      const steady = plant.devices.every(
        ({ siteShare }, i) => Math.abs(siteShare.demandW - (demandsW[i] ?? 0)) < rounding,
      );
      for (const scope of plant.siteScopes)
        for (const each of siteLimitNames)
          if (scope.limits[each].exceeded) {
            // a limit below the consumption of sleeping devices is exceeded by it
            expect(each, `step ${step}`).to.be.oneOf(['import', 'load']);
            const asleepW = sleepOf(plant, scope.devices);
            expect(scope.consumptionW, `step ${step}`).to.be.closeTo(asleepW, rounding);
          }
      plant.devices.forEach(({ index, siteShare, trace }) => {
        const { activeDecidedBy } = trace.now;
        decided.set(activeDecidedBy, (decided.get(activeDecidedBy) ?? 0) + 1);
        const words = `step ${step}, device ${index}`;
        if (activeDecidedBy === 'site') expect(plant.siteCut(index), words).to.not.equal(null);
        if (activeDecidedBy === 'site' && steady) tight += expectTight(plant, index);
        if (activeDecidedBy === 'site') return;
        expect(siteShare.powerW, words).to.be.closeTo(siteShare.demandW - siteShare.sleepW, rounding);
      });
    }
    expect(tight).to.be.above(0.6 * steps);
    expect(decided.get('site')).to.be.above(steps);
    expect(decided.get('source')).to.be.above(0.05 * steps);
  });
});

describe('Connection points: ticks', () => {
  it('results do not depend on the length of ticks', async () => {
    const dumps: Buffer[][] = [];
    for (const [tickIntervalS, rate] of [
      [0.3, 1],
      [1.5, 1],
      [1, 60],
    ] as const) {
      const plant = kindPlant([pv, battery, evse, fuelCell], { tickIntervalS, rate });
      const steps = Math.round(60 / (tickIntervalS * rate));
      plant.device(2).command({ kind: 'evse.plug', connectorId: 1 }, by);
      demand(plant, 1, -4000);
      plant.setSurroundings({ irradianceWm2: 900, cellTemperatureC: 25, loadKw: 1 });
      plant.setSite({ export: 2500, load: 9000 }, by);
      plant.setSite({ export: 1500 }, csip, { devices: [0, 1] });
      plant.setSite({ generation: 300, import: 20_000 }, csip, { devices: [3] });
      await plant.step(steps);
      plant.setSurroundings({ irradianceWm2: 200, loadKw: 3, rampS: 33.3 });
      plant.setSite({ export: 700 }, csip, { devices: [0] });
      demand(plant, 1, 3000);
      await plant.step(steps);
      plant.setSite({ export: null, import: 4000 }, by);
      await plant.step(steps);
      dumps.push(plant.devices.map((device) => dumpOf(device)));
    }
    const [first = []] = dumps;
    for (const others of dumps)
      others.forEach((dump, i) => {
        expect(dump.equals(first[i] ?? Buffer.alloc(0)), `device ${i}`).to.equal(true);
      });
  });
});
