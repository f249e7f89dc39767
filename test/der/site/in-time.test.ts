import { expect } from 'chai';
import type { SitePatch } from '../../../src/contract/site.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { pick } from '../../support/depth.ts';
import { dumpOf, kindPlant, master } from '../kinds/support.ts';
import { casesOf } from '../../support/random.ts';
import {
  battery,
  binding,
  by,
  decidersOf,
  demand,
  evse,
  exceeded,
  fuelCell,
  hybrid,
  powersOf,
  pv,
  reversible,
  siteOf,
  sleepOf,
} from './support.ts';

describe('Connection point: in time', () => {
  it('null clears: power comes back with 704.WRmp', async () => {
    const plant = await siteOf([pv]);
    plant.device(0).bank.transact(master, ({ m704 }) => {
      m704.WRmp = 10;
    });
    plant.setSite({ export: 2000 });
    await plant.step(1);
    expect(powersOf(plant)).to.deep.equal([2000]);
    plant.setSite({ export: null });
    await plant.step(2);
    expect(plant.site.netW).to.be.closeTo(5000, 150);
    await plant.step(5);
    expect([powersOf(plant), decidersOf(plant), binding(plant)]).to.deep.equal([[10_000], ['source'], []]);
  });

  it('a higher limit ramps as well, a lower one holds at once', async () => {
    const plant = await siteOf([pv]);
    plant.device(0).bank.transact(master, ({ m704 }) => {
      m704.WRmp = 10;
    });
    plant.setSite({ export: 2000 });
    await plant.step(1);
    plant.setSite({ export: 8000 });
    await plant.step(1);
    expect(plant.site.netW).to.be.closeTo(3500, 150);
    plant.setSite({ export: 1000 });
    await plant.step(1);
    expect(plant.site.netW).to.be.closeTo(1000, 1e-3);
  });

  it('a step of load, also one that ends within a tick, is met without a tick beyond the limit', async () => {
    const plant = await siteOf([pv, pv]);
    plant.setSite({ export: 3000 });
    plant.setSurroundings({ loadKw: 4, durationS: 10.3 });
    await plant.step(5);
    expect(plant.site.netW).to.be.closeTo(3000, 1e-3);
    for (let tick = 0; tick < 5; tick += 1) {
      await plant.step(1);
      expect(exceeded(plant)).to.deep.equal([]);
    }
    expect([plant.site.loadW, Math.round(plant.site.generationW)]).to.deep.equal([0, 3000]);
  });

  it('a falling load leaves the limit kept at every tick', async () => {
    const plant = await siteOf([pv, pv]);
    plant.setSite({ export: 1000 });
    plant.setSurroundings({ loadKw: 8 });
    await plant.step(10);
    plant.setSurroundings({ loadKw: 0, rampS: 20 });
    for (let tick = 0; tick < 20; tick += 1) {
      await plant.step(1);
      expect(plant.site.netW).to.be.at.most(1000.001);
    }
  });

  it('the sun comes back beneath a limit', async () => {
    const plant = await siteOf([pv, pv]);
    plant.setSite({ export: 6000 });
    for (const irradianceWm2 of [100, 1000, 0, 700, 1200]) {
      plant.setSurroundings({ irradianceWm2 });
      for (let tick = 0; tick < 4; tick += 1) {
        await plant.step(1);
        expect(plant.site.netW).to.be.at.most(6000.001);
      }
    }
    expect(plant.site.netW).to.be.closeTo(6000, 1e-3);
  });

  it('absorption that ends at once is compensated within a second', async () => {
    const plant = await siteOf([pv, evse]);
    plant.setSite({ export: 0 });
    await plant.step(20);
    expect(plant.site.netW).to.be.at.most(1e-3);
    plant.device(1).command({ kind: 'switch', closed: false }, by);
    await plant.step(6);
    expect(plant.site.netW).to.be.closeTo(0, 1e-3);
    expect(powersOf(plant)).to.deep.equal([0, 0]);
  });

  it('low frequency does not lift the power above a limit', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 4000 });
    plant.setGrid({ frequencyHz: 59 });
    await plant.step(20);
    expect(plant.site.netW).to.be.closeTo(4000, 1e-3);
    expect(decidersOf(plant)).to.deep.equal(['site']);
  });

  it('a device that returns to service meets the limit of the moment', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 3000 });
    await plant.step(1);
    const command = (closed: boolean) => {
      plant.device(0).command({ kind: 'switch', closed }, by);
    };
    plant.device(0).bank.transact(master, ({ m703 }) => {
      Object.assign(m703, { ESDlyTms: 0, ESRndTms: 0, ESRmpTms: 0 });
    });
    command(false);
    await plant.step(20);
    expect(powersOf(plant)).to.deep.equal([0]);
    plant.setSite({ export: null, generation: 6000 });
    command(true);
    await plant.step(20);
    expect([powersOf(plant), binding(plant)]).to.deep.equal([[6000], ['generation']]);
  });

  it('agrees from short ticks to those of a minute', async () => {
    const energies: number[] = [];
    for (const rate of pick({ quick: [3, 60], ci: [0.5, 1, 3, 60] })) {
      const plant = kindPlant([pv, battery, evse, fuelCell], { tickIntervalS: 1, rate });
      plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25, loadKw: 1 });
      demand(plant, 1, -4000);
      plant.setSite({ export: 2500, load: 9000 });
      await plant.step(Math.round(600 / rate));
      expect(plant.site.netW).to.be.closeTo(2500, 2);
      energies.push(plant.device(0).bank.map.m701.TotWhInj ?? NaN);
    }
    for (const energy of energies) expect(energy).to.be.closeTo(energies[0] ?? NaN, 0.01 * (energies[0] ?? NaN));
  });
});

describe('Connection point: whatever happens', () => {
  const specs = [pv, battery, evse, hybrid, pv, reversible];
  const rounds = pick({ quick: 20, ci: 60 });

  /** Random limits, loads, sun and set-points, each followed by time enough to settle. */
  async function scenario(seed: number, after: (plant: SimPlant) => void): Promise<SimPlant> {
    const random = casesOf('site', seed);
    const plant = await siteOf(specs, { seed });
    const limit = () => (random.next() < 0.3 ? null : random.next() * 15_000);
    for (let round = 0; round < rounds; round += 1) {
      if (random.next() < 0.4)
        plant.setSite({
          [['export', 'import', 'generation', 'load'][Math.floor(random.next() * 4)] ?? 'export']: limit(),
        });
      if (random.next() < 0.4)
        plant.setSurroundings({ irradianceWm2: random.next() * 1100, loadKw: random.next() * 2 });
      if (random.next() < 0.5) demand(plant, 1, random.next() < 0.2 ? null : (random.next() - 0.5) * 20_000);
      if (random.next() < 0.3) demand(plant, 5, random.next() < 0.2 ? null : (random.next() - 0.5) * 10_000);
      await plant.step(8);
      after(plant);
    }
    return plant;
  }

  /** limits in force, over all rounds of all seeds */
  let held = 0;
  for (const seed of [1, 2, 3]) {
    it(`in steady conditions no limit is exceeded but by loads alone (seed ${seed})`, async () => {
      await scenario(seed, (plant) => {
        held += binding(plant).length;
        const { limits, consumptionW } = plant.site;
        for (const name of exceeded(plant)) {
          expect(name, JSON.stringify(limits)).to.equal('import');
          expect(consumptionW).to.be.closeTo(sleepOf(plant, null), 1e-3);
        }
      });
    });
  }

  it('and limits hold often enough for that', () => {
    expect(held).to.be.above(rounds / 2);
  });

  it('is the same for the same seed', async () => {
    const dumps = async () => (await scenario(4, () => undefined)).devices.map((device) => dumpOf(device));
    const [once, again] = [await dumps(), await dumps()];
    expect(once.every((dump, i) => dump.equals(again[i] ?? Buffer.alloc(0)))).to.equal(true);
  });

  it('limits that never bind change nothing', async () => {
    const run = async (patch: SitePatch | null) => {
      const plant = await siteOf([pv, battery, hybrid]);
      if (patch) plant.setSite(patch);
      demand(plant, 1, -3000);
      await plant.step(20);
      return plant.devices.map((device) => Math.round(device.siteShare.powerW));
    };
    expect(await run({ export: 1e9, import: 1e9, generation: 1e9, load: 1e9 })).to.deep.equal(await run(null));
  });
});
