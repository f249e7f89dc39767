/** Meters in the maps of devices: the flows that they show, and devices that come, go and restart. */
import { expect } from 'chai';
import type { ChainEntry, MeteredFlow } from '../../../src/contract/map-layout.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { yieldToLoop } from '../../../src/core/turns.ts';
import { testPlant } from '../../support/plant.ts';
import { SlowWall } from '../../support/wall.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { configuredDevices } from '../../support/configured.ts';
import { defaultMapShape } from '../../../src/contract/map-layout.ts';
import { by } from './support.ts';

const meter = (model: 201 | 202 | 203 | 211 | 212 | 213, of: MeteredFlow = 'site'): ChainEntry => ({
  meter: model,
  of,
});
const all = [{ model: 103 }, meter(213), meter(213, 'generation'), meter(213, 'load')];

function deviceWith(type: string, chain: readonly ChainEntry[] | null, name = type) {
  const [device] = configuredDevices('--device_type', type);
  const map = { ...defaultMapShape, ...(chain && { chain }) };
  return { ...device!, name, profile: { ...device!.profile, map } };
}

function plantOf(chains: readonly (readonly ChainEntry[] | null)[], options: TestPlantOptions = {}): SimPlant {
  const devices = chains.map((chain, i) => deviceWith('PV-3Phase', chain, `PV ${i}`));
  const plant = testPlant({ devices, ...options });
  plant.setSurroundings({ irradianceWm2: 600, cellTemperatureC: 25 });
  return plant;
}

/** A number of a point by its whole name; a counter that has not counted is 0. */
const read = (plant: SimPlant, name: string, index = 0): number => {
  const { bank } = plant.device(index);
  return Number(bank.value(bank.layout.named(name)!) ?? 0);
};
const image = (plant: SimPlant, index = 0) => Buffer.from(plant.device(index).bank.image());

describe('Meters in the maps of devices', () => {
  it('show the site, positive when drawn, in the map of one device of several', async () => {
    const plant = plantOf([[{ model: 103 }, meter(203)], null]);
    plant.setSurroundings({ loadKw: 1 });
    await plant.step(30);
    expect(plant.meter).to.equal(null);
    expect(plant.site.netW).to.be.greaterThan(8000);
    // ten devices of 10 kW: one count is 10 W
    expect(read(plant, '203.W')).to.be.closeTo(-plant.site.netW, 5.001);
    expect(['A', 'B', 'C'].reduce((sum, phase) => sum + read(plant, `203.Wph${phase}`), 0)).to.be.closeTo(
      -plant.site.netW,
      16,
    );
    plant.setSurroundings({ irradianceWm2: 0, loadKw: 3 });
    await plant.step(30);
    expect(plant.site.netW).to.be.lessThan(-5900);
    expect(read(plant, '203.W')).to.be.closeTo(-plant.site.netW, 5.001);
  });

  it('show generation and loads apart, whose sum is the site', async () => {
    const plant = plantOf([all, null]);
    plant.setSurroundings({ loadKw: 1.5 });
    await plant.step(30);
    const { generationW, loadW, netW } = plant.site;
    const [ofSite, ofDevices, ofLoads] = ['213', '213:2', '213:3'].map((place) => read(plant, `${place}.W`));
    expect(ofDevices).to.be.closeTo(-generationW, 0.01);
    expect(ofLoads).to.be.closeTo(loadW, 0.01);
    expect(ofSite).to.be.closeTo(-netW, 0.01);
    expect(read(plant, '213:3.WphB')).to.be.closeTo(loadW / 3, 0.01);
    expect(read(plant, '213:3.VAR')).to.equal(0);
    expect(read(plant, '213:3.PF')).to.equal(1);
    expect(read(plant, '213:2.PF')).to.be.closeTo(-1, 1e-3);
  });

  it('count the energy of their flows', async () => {
    const plant = plantOf([all]);
    plant.setSurroundings({ loadKw: 2 });
    await plant.step(40);
    const names = ['213.TotWhExp', '213:2.TotWhExp', '213:2.TotWhImp', '213:3.TotWhImp', '213:3.TotWhExp'];
    const counters = () => names.map((name) => read(plant, name));
    const injectedWh = () =>
      plant
        .device(0)
        .siteShare.meterTap()
        .energy.reduce((sum, { whInjected }) => sum + whInjected, 0);
    const [before, injectedBefore] = [counters(), injectedWh()];
    await plant.step(240);
    const [siteWh, generatedWh, generatedBack, loadWh, loadBack] = counters().map((wh, i) => wh - before[i]!) as [
      number,
      number,
      number,
      number,
      number,
    ];
    expect(generatedWh).to.be.closeTo(injectedWh() - injectedBefore, 0.01);
    expect(loadWh).to.be.closeTo(200, 0.01);
    expect(siteWh).to.be.closeTo(generatedWh - loadWh, 0.01);
    expect([generatedBack, loadBack]).to.deep.equal([0, 0]);
  });

  it('show one truth in every map, and at the meter of the connection point', async () => {
    const plant = plantOf([[meter(213)], [{ model: 701 }, meter(213)], null], { meter: { float: true } });
    plant.setSurroundings({ loadKw: 1 });
    await plant.step(60);
    const { bank } = plant.meter!;
    for (const name of ['W', 'WphB', 'VAR', 'A', 'PhVphA', 'Hz', 'TotWhExp', 'TotVAhExpPhA']) {
      const value = bank.value(bank.layout.named(`213.${name}`)!);
      expect([read(plant, `213.${name}`, 0), read(plant, `213.${name}`, 1)], name).to.deep.equal([value, value]);
    }
  });

  it('show narrower models the whole on the phases that they have', async () => {
    const plant = plantOf([[meter(211), meter(212), meter(213)]]);
    await plant.step(30);
    const w = read(plant, '213.W');
    for (const name of ['211.W', '211.WphA', '212.W']) expect(read(plant, name), name).to.be.closeTo(w, 0.01);
    expect(read(plant, '212.WphB')).to.be.closeTo(w / 3, 1);
    expect(read(plant, '212.WphA')).to.be.closeTo((2 * w) / 3, 1);
    const volts = ['211.PhV', '212.PhVphA', '213.PhVphC'].map((name) => read(plant, name));
    for (const each of volts) expect(each).to.be.closeTo(480 / Math.sqrt(3), 0.1);
  });

  it('show a single-phase device on A of a three-phase model', async () => {
    const plant = testPlant({ devices: [deviceWith('PV-1Phase', [meter(213)])] });
    await plant.step(30);
    expect(read(plant, '213.WphA')).to.be.lessThan(-1000);
    expect([read(plant, '213.WphB'), read(plant, '213.WphC')]).to.deep.equal([0, 0]);
    const rated = plant.device(0).bank.map.m702.VNomRtg!;
    expect(read(plant, '213.PhVphB')).to.be.closeTo(rated, 0.01);
  });

  it('are the same for the same seed, whatever the length of ticks', async () => {
    const chain = [meter(203), meter(203, 'generation'), meter(203, 'load')];
    async function run(tickIntervalS: number): Promise<Buffer> {
      const plant = plantOf([chain, chain], { tickIntervalS });
      await plant.step(90 / tickIntervalS);
      plant.setSurroundings({ loadKw: 9 });
      await plant.step(90 / tickIntervalS);
      const { bank } = plant.device(1);
      const places = bank.layout.models.filter(({ def: { id } }) => id === 203);
      return Buffer.concat(places.map(({ address, length }) => Buffer.from(bank.read(address, length + 2))));
    }
    const [once, again, long] = [await run(1.5), await run(1.5), await run(30)];
    expect(again.equals(once)).to.equal(true);
    expect(long.equals(once)).to.equal(true);
  });

  it('change nothing of devices without a list', async () => {
    const [alone, beside] = [plantOf([null, null]), plantOf([null, all])];
    for (const plant of [alone, beside]) await plant.step(60);
    expect(image(beside).equals(image(alone))).to.equal(true);
  });

  it('keep their counters over the reset of their device and of another', async () => {
    const plant = plantOf([[meter(213)], null]);
    await plant.step(100);
    const before = read(plant, '213.TotWhExp');
    expect(before).to.be.greaterThan(100);
    for (const deviceIndex of [0, 1]) plant.commands.submit({ command: 'reset', deviceIndex, scope: 'device' }, by);
    await plant.step(2);
    expect(read(plant, '213.TotWhExp')).to.be.within(before, before + 100);
    plant.device(0).command({ kind: 'reset', scope: 'device' }, by);
    expect(read(plant, '213.TotWhExp'), 'before the next tick').to.be.within(before, before + 100);
    expect(read(plant, '213.W')).to.not.equal(0);
    expect(plant.device(0).bank.value(plant.device(0).bank.layout.named('1:2.Vr')!)).to.equal('0.1.0');
  });

  it('begin with a device that joins, and end with it', async () => {
    const plant = plantOf([null]);
    await plant.step(60);
    const joined = await plant.add(deviceWith('PV-3Phase', [meter(213)], 'late'));
    const name = '213.TotWhExp';
    expect(read(plant, '213.W', joined.index)).to.be.closeTo(-plant.site.netW, 0.01);
    expect(read(plant, name, joined.index)).to.equal(0);
    await plant.step(240);
    const both = plant.devices.reduce((sum, { siteShare }) => sum + siteShare.powerW, 0) / 10;
    expect(read(plant, name, joined.index)).to.be.closeTo(both, 0.1 * both);
    await plant.remove(joined.index);
    await plant.step(10);
    const again = await plant.add(deviceWith('PV-3Phase', [meter(213)], 'later'));
    expect(read(plant, name, again.index)).to.equal(0);
    await plant.step(10);
    expect(read(plant, '213.W', again.index)).to.be.closeTo(-plant.site.netW, 0.01);
  });

  it('go on for devices that stay when another leaves', async () => {
    const plant = plantOf([[meter(213)], [meter(213)]]);
    await plant.step(60);
    const before = read(plant, '213.TotWhExp', 1);
    await plant.remove(0);
    await plant.step(4);
    expect(read(plant, '213.TotWhExp', 1)).to.be.greaterThan(before);
    expect(read(plant, '213.W', 1)).to.be.closeTo(-plant.site.netW, 0.01);
  });

  it('count a device whose model fails as one without power from the same tick on', async () => {
    const plant = plantOf([[meter(213)], null]);
    await plant.step(30);
    plant.setSurroundings({ ambientTemperatureC: NaN }, 1);
    await plant.step(1);
    expect(plant.device(1).bank.map.m701.W).to.equal(0);
    expect(read(plant, '213.W')).to.be.closeTo(-plant.device(0).siteShare.powerW, 0.01);
    expect(read(plant, '213.W')).to.be.closeTo(-plant.site.netW, 0.01);
  });

  describe('have counters of their own', () => {
    /** Net energy of all devices into the grid since each of them joined, Wh. */
    const deliveredWh = ({ devices }: SimPlant) =>
      devices
        .flatMap(({ siteShare }) => siteShare.meterTap().energy)
        .reduce((sum, { whInjected, whAbsorbed }) => sum + whInjected - whAbsorbed, 0);

    it('which begin at 0 with their device, whatever others show', async () => {
      const plant = plantOf([all, null], { meter: { float: true } });
      // within a second: the meters settle at its end
      await plant.step(41);
      const before = deliveredWh(plant);
      const joined = await plant.add(deviceWith('PV-3Phase', [meter(213), meter(213, 'generation')], 'late'));
      const names = ['213.TotWhExp', '213:2.TotWhExp'];
      const counted = () => names.map((name) => read(plant, name, joined.index));
      expect(counted()).to.deep.equal([0, 0]);
      const ofOthers = [read(plant, '213.TotWhExp'), plant.meter!.now.exportedWh];
      await plant.step(1);
      const sinceThen = deliveredWh(plant) - before;
      for (const wh of counted()) expect(wh).to.be.closeTo(sinceThen, 1e-4);
      const after = [read(plant, '213.TotWhExp'), plant.meter!.now.exportedWh];
      for (const [i, wh] of after.entries()) expect(wh - ofOthers[i]!).to.be.greaterThan(sinceThen + 1);
    });

    it('which end with their device: the next one of the same flow begins at 0', async () => {
      const plant = plantOf([null, [meter(213, 'generation')]], { meter: { float: true } });
      await plant.step(40);
      expect(read(plant, '213.TotWhExp', 1)).to.be.greaterThan(50);
      await plant.remove(1);
      await plant.step(4);
      const again = await plant.add(deviceWith('PV-3Phase', [meter(213, 'generation')], 'later'));
      expect(read(plant, '213.TotWhExp', again.index)).to.equal(0);
    });

    it('which lose nothing when a device is reset again and again', async () => {
      const plant = plantOf([[meter(213)]], { tickIntervalS: 1 });
      await plant.step(60);
      const before = read(plant, '213.TotWhExp');
      const perSecondWh = plant.site.netW / 3600;
      for (let i = 0; i < 10; i += 1) {
        plant.device(0).command({ kind: 'reset', scope: 'device' }, by);
        await plant.step(1);
      }
      expect(plant.site.netW / 3600).to.be.closeTo(perSecondWh, 0.01 * perSecondWh);
      expect(read(plant, '213.TotWhExp') - before).to.be.closeTo(10 * perSecondWh, 0.1 * perSecondWh);
    });
  });

  it('show the instant of the values beside them, also while the maps of a fleet are written in turns', async () => {
    const wall = new SlowWall();
    const plant = plantOf(
      Array.from({ length: 6 }, () => [meter(213)]),
      { tickIntervalS: 1, wall },
    );
    await plant.step(40);
    // after each device other work has a turn
    wall.cost = 3;
    const energiesBySecond = new Map<number, Set<number>>();
    let mixed = 0;
    const look = () => {
      const seconds = plant.devices.map(({ index }) => read(plant, '715.DERHb', index));
      if (new Set(seconds).size > 1) mixed += 1;
      for (const [index, second] of seconds.entries())
        energiesBySecond.set(
          second,
          (energiesBySecond.get(second) ?? new Set()).add(read(plant, '213.TotWhExp', index)),
        );
    };
    const watch = { isRunning: true };
    const watched = (async () => {
      while (watch.isRunning) {
        look();
        await yieldToLoop();
      }
    })();
    await plant.step(5);
    watch.isRunning = false;
    await watched;
    expect(mixed).to.be.greaterThan(5);
    expect([...energiesBySecond.values()].map(({ size }) => size)).to.deep.equal(
      Array.from({ length: energiesBySecond.size }, () => 1),
    );
    expect(energiesBySecond.size).to.be.at.least(5);
  });
});
