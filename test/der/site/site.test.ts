import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { SitePatch } from '../../../src/contract/site.ts';
import { deviceSeriesReader } from '../../../src/app/devices/plant.ts';
import { configOf } from '../../support/configured.ts';
import { kindPlant, master } from '../kinds/support.ts';
import {
  battery,
  binding,
  by,
  decidersOf,
  demand,
  evse,
  exceeded,
  hybrid,
  leastEvseW,
  powersOf,
  pv,
  reversible,
  siteOf,
} from './support.ts';

describe('Connection point: powers', () => {
  it('sums injection, absorption and the loads beside the devices', async () => {
    const plant = await siteOf([pv, battery, evse]);
    demand(plant, 1, -2000);
    plant.setSurroundings({ loadKw: 1 });
    plant.setSurroundings({ loadKw: 3 }, 2);
    await plant.step(10);
    const [fromPv, fromBattery, fromEvse] = powersOf(plant) as [number, number, number];
    const { netW, generationW, consumptionW, loadW } = plant.site;
    expect([fromPv, fromBattery]).to.deep.equal([10_000, -2000]);
    expect(generationW).to.be.closeTo(10_000, 1e-6);
    expect(consumptionW).to.be.closeTo(2000 - fromEvse, 1);
    expect(loadW).to.equal(5000);
    expect(netW).to.be.closeTo(generationW - consumptionW - loadW, 1e-6);
  });

  it('are those of the last tick, before the first one those of the start', async () => {
    const plant = kindPlant([pv], { tickIntervalS: 1.5 });
    expect(plant.site.netW).to.equal(plant.device(0).siteShare.powerW);
    plant.setSurroundings({ loadKw: 4 });
    expect(plant.site.loadW).to.equal(0);
    await plant.step(1);
    expect(plant.site.loadW).to.equal(4000);
  });

  it('follow a device that leaves', async () => {
    const plant = await siteOf([pv, pv]);
    expect(plant.site.generationW).to.be.closeTo(20_000, 1e-6);
    await plant.remove(0);
    expect(plant.site.generationW).to.be.closeTo(10_000, 1e-6);
  });
});

describe('Connection point: each limit', () => {
  it('export: injection falls to limit and loads within a tick, shared by rating', async () => {
    const plant = await siteOf([pv, battery, pv]);
    plant.setSite({ export: 5000 });
    await plant.step(1);
    expect(powersOf(plant)).to.deep.equal([2500, 0, 2500]);
    expect(plant.site.netW).to.be.closeTo(5000, 1e-3);
    expect([binding(plant), exceeded(plant)]).to.deep.equal([['export'], []]);
    expect(decidersOf(plant)).to.deep.equal(['site', 'idle', 'site']);
  });

  it('export: loads and what devices absorb make room', async () => {
    const plant = await siteOf([pv, battery]);
    plant.setSite({ export: 0 });
    demand(plant, 1, -3000);
    plant.setSurroundings({ loadKw: 0.5 });
    await plant.step(20);
    expect(powersOf(plant)).to.deep.equal([4000, -3000]);
    expect([binding(plant), exceeded(plant)]).to.deep.equal([['export'], []]);
  });

  it('export: what the shaded device does not use goes to the other', async () => {
    const plant = await siteOf([pv, pv]);
    plant.setSurroundings({ irradianceWm2: 100, cellTemperatureC: 25 }, 0);
    plant.setSite({ export: 9000 });
    // until the tracker rests: a rising power has its share of the former second
    await plant.step(40);
    const [shaded, sunny] = powersOf(plant) as [number, number];
    expect(shaded).to.be.within(800, 1200);
    expect(sunny).to.be.closeTo(9000 - shaded, 2);
    expect(decidersOf(plant)).to.deep.equal(['source', 'site']);
  });

  it('import: charging falls to what is left beside loads', async () => {
    const plant = await siteOf([battery, evse]);
    demand(plant, 0, -10_000);
    plant.setSurroundings({ loadKw: 1 });
    await plant.step(20);
    plant.setSite({ import: 12_000 });
    await plant.step(1);
    expect(plant.site.netW).to.be.closeTo(-12_000, 1e-3);
    expect(binding(plant)).to.deep.equal(['import']);
    expect(decidersOf(plant)).to.include('site');
  });

  it('import: the local load alone exceeds it, and `exceeded` shows it', async () => {
    const plant = await siteOf([evse]);
    plant.setSurroundings({ loadKw: 8 });
    plant.setSite({ import: 5000 });
    await plant.step(2);
    expect(powersOf(plant)).to.deep.equal([0]);
    expect(plant.site.netW).to.equal(-8000);
    expect([binding(plant), exceeded(plant)]).to.deep.equal([['import'], ['import']]);
    expect(plant.device(0).alarms).to.deep.equal([]);
  });

  it('generation: the sum of injection, whatever is absorbed beside it', async () => {
    const plant = await siteOf([pv, pv, battery]);
    demand(plant, 2, -5000);
    plant.setSite({ generation: 7000 });
    await plant.step(20);
    expect(powersOf(plant)).to.deep.equal([3500, 3500, -5000]);
    expect(binding(plant)).to.deep.equal(['generation']);
  });

  it('load: the sum of absorption, whatever is injected beside it', async () => {
    const plant = await siteOf([pv, battery, reversible]);
    demand(plant, 1, -5000);
    demand(plant, 2, -4000);
    await plant.step(20);
    expect(plant.site.consumptionW).to.be.closeTo(9000, 1);
    plant.setSite({ load: 3000 });
    await plant.step(20);
    expect(plant.site.consumptionW).to.be.within(2900, 3000.001);
    expect(binding(plant)).to.deep.equal(['load']);
    expect(plant.device(0).siteShare.powerW).to.be.closeTo(10_000, 1e-6);
  });

  it('a discharging battery and a hybrid are held back like a generator', async () => {
    const plant = await siteOf([battery, hybrid]);
    plant.device(1).command({ kind: 'hybrid.policy', policy: 'pv_priority' }, by);
    demand(plant, 0, 6000);
    await plant.step(20);
    const freeW = plant.site.generationW;
    expect(freeW).to.be.above(9000);
    plant.setSite({ export: 4000 });
    await plant.step(2);
    expect(plant.site.netW).to.be.closeTo(4000, 1e-3);
    plant.setSite({ export: null });
    await plant.step(20);
    expect(plant.site.generationW).to.be.closeTo(freeW, 50);
  });

  it('zero export and import: devices exchange power, and none flows through the connection point', async () => {
    const plant = await siteOf([pv, battery]);
    plant.setSite({ export: 0, import: 0 });
    demand(plant, 1, -6000);
    for (let tick = 0; tick < 20; tick += 1) {
      await plant.step(1);
      expect(plant.site.netW).to.be.closeTo(0, 1e-3);
    }
    expect(powersOf(plant)).to.deep.equal([6000, -6000]);
  });
});

describe('Connection point: charging stations', () => {
  it('share equally, and below the minimum current of both one pauses', async () => {
    const plant = await siteOf([evse, evse]);
    plant.setSite({ import: 10_000 });
    await plant.step(6);
    expect(powersOf(plant)).to.deep.equal([-5000, -5000]);
    plant.setSite({ import: 6000 });
    await plant.step(6);
    expect(powersOf(plant)).to.deep.equal([-6000, 0]);
    plant.setSite({ import: leastEvseW - 100 });
    await plant.step(6);
    expect(powersOf(plant)).to.deep.equal([0, 0]);
    plant.setSite({ import: 10_000 });
    await plant.step(10);
    expect(powersOf(plant)).to.deep.equal([-5000, -5000]);
  });

  it('a limit shows at the connector as one of the site', async () => {
    const plant = await siteOf([evse]);
    plant.setSite({ load: 6000 });
    await plant.step(4);
    const { detail } = plant.device(0);
    expect(detail.kind === 'evse' && detail.connectors[0]?.limitSource).to.equal('site');
    expect(detail.kind === 'evse' && detail.externalLimit).to.deep.equal({
      limitW: 6000,
      decidedBy: 'site',
      writer: null,
    });
  });
});

describe('Connection point: registers, throttling', () => {
  it('shows in 701 and leaves 704 alone', async () => {
    const plant = await siteOf([pv]);
    const before = plant.device(0).bank.map.m704.WMaxLimPct;
    plant.setSite({ generation: 2500 });
    await plant.step(2);
    const { m701, m704 } = plant.device(0).bank.map;
    expect([m701.W, m701.InvSt, m701.ThrotPct, m701.ThrotSrc]).to.deep.equal([2500, 'THROTTLED', 25, 1 << 14]);
    expect([m704.WMaxLimPct, m704.WMaxLimPctEna]).to.deep.equal([before, 'DISABLED']);
  });

  it('a tighter function of the device has priority', async () => {
    const plant = await siteOf([pv, pv]);
    plant.device(0).bank.transact(master, ({ m704 }) => {
      Object.assign(m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 10 });
    });
    plant.setSite({ export: 6000 });
    await plant.step(10);
    expect(powersOf(plant)).to.deep.equal([1000, 5000]);
    expect(decidersOf(plant)).to.deep.equal(['max_power', 'site']);
  });

  it('the reset of a device does not end a limit of the site', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 2000 });
    plant.device(0).command({ kind: 'reset', scope: 'device' }, by);
    await plant.step(3);
    expect(plant.site.netW).to.be.at.most(2000.001);
  });
});

describe('Connection point: setting limits', () => {
  it('keeps the writer of each limit, and the other limits', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 5000, load: 100 }, { source: 'csip', peer: 'A1' });
    await plant.step(2);
    plant.setSite({ load: null, import: 0 }, { source: 'csip', peer: 'A2' });
    const { limits } = plant.site;
    expect(limits.export).to.deep.include({ limitW: 5000 });
    expect(limits.export.setBy).to.include({ source: 'csip', peer: 'A1' });
    expect(limits.load).to.deep.include({ limitW: null, binding: false });
    expect(limits.load.setBy).to.include({ source: 'csip', peer: 'A2', at: plant.latest.sim });
    expect(limits.import.limitW).to.equal(0);
    expect(limits.generation).to.deep.equal({
      limitW: null,
      owner: null,
      setBy: null,
      binding: false,
      exceeded: false,
    });
  });

  it('rounds limits to milliwatts, the last decimal shown', async () => {
    const plant = await siteOf([pv]);
    plant.setSite({ export: 4e-4, import: 1e9, generation: 1234.5678, load: 6e-4 });
    const { limits } = plant.site;
    expect(Object.values(limits).map(({ limitW }) => limitW)).to.deep.equal([0, 1e9, 1234.568, 1e-3]);
  });

  const refused: readonly (readonly [string, SitePatch, readonly string[]])[] = [
    ['nothing', {}, []],
    ['a negative limit', { export: 1, load: -1 }, ['load']],
    ['numbers that are none', { import: NaN, generation: Infinity }, ['import', 'generation']],
    ['too much', { export: 1.1e9 }, ['export']],
  ];
  for (const [name, patch, faults] of refused) {
    it(`refuses ${name} whole`, () => {
      const plant = kindPlant([pv]);
      const attempt = () => {
        plant.setSite(patch);
      };
      expect(attempt).to.throw(SimError).with.property('code', 'COMMAND_BAD_VALUE');
      try {
        attempt();
      } catch (error) {
        expect((error as SimError).issues.map((issue) => issue.name)).to.deep.equal(faults);
      }
      expect(Object.values(plant.site.limits).every(({ limitW, setBy }) => limitW === null && setBy === null)).to.equal(
        true,
      );
    });
  }
});

describe('Connection point: devices that join and leave', () => {
  it('the others take over the share of a removed device, and share with an added one', async () => {
    const plant = await siteOf([pv, pv, pv]);
    plant.setSite({ export: 6000 });
    await plant.step(2);
    expect(powersOf(plant)).to.deep.equal([2000, 2000, 2000]);
    await plant.remove(1);
    await plant.step(2);
    expect(powersOf(plant)).to.deep.equal([3000, 3000]);
    const config = configOf();
    const device = config.deviceOf({ device_type: 'PV-3Phase' }, 3);
    await plant.add({ ...device, series: deviceSeriesReader(config)(device) });
    expect(plant.site.generationW).to.be.above(10_000);
    await plant.step(2);
    expect(powersOf(plant)).to.deep.equal([2000, 2000, 2000]);
  });
});
